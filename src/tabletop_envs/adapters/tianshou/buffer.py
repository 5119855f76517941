"""A replay buffer of self-play for Tianshou: each player's view paired with that player's next one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from tianshou.data import Batch, VectorReplayBuffer

from tabletop_envs.adapters.tianshou.environment import TabletopVenv


class SelfPlayReplayBuffer(VectorReplayBuffer):
    """A replay buffer of self-play in which each player's transitions follow each other, as if that player were alone.

    A transition is kept back until its player is to move again or the game is over. `obs_next` is then that player's own next
    view, `rew` `(players,)` what all got in between, and who did not act last has an end (`terminated`) and a result, too. So
    returns of any number of steps and advantages are right, for 2 to 4 players and where a player acts several times in a row;
    a discount counts a player's own actions. At the end of a game nothing follows, and `obs_next` is what the environment showed
    last, as seen by who would be to move.

    There is a part for each player of each game, `player` of game `lane` has `buffers[lane * players + player]`. Where games are
    started anew before their end, their transitions that are kept back are dropped.

    Args:
        total_size: How many transitions in all.
        env: What `make_self_play_vector_env` has made.
        **options: Of `VectorReplayBuffer`.
    """

    def __init__(self, total_size: int, env: TabletopVenv, **options: Any) -> None:
        self._agent_idx = env.agent_idx
        self._shape = len(env), len(env.agents)
        super().__init__(total_size, len(env) * len(env.agents), **options)
        self._kept: Any = None  # one place for each player of each game
        self._is_kept = np.zeros(self._shape, np.bool_)
        self._rewards = np.zeros((*self._shape, len(env.agents)))
        self._shown = np.zeros((len(env), env.state_shape), np.float32)

    def reset(self, keep_statistics: bool = False) -> None:
        """Clear the buffer; with `keep_statistics`, as between on-policy updates, games go on and so does what is kept back."""
        super().reset(keep_statistics)
        if not keep_statistics:
            self._is_kept[:] = False

    def _players(self, observations: Any) -> npt.NDArray[np.int64]:
        return np.array([self._agent_idx[agent] for agent in observations.agent_id])

    def add(
        self, batch: Any, buffer_ids: npt.NDArray[np.int64] | list[int] | None = None
    ) -> tuple[npt.NDArray[Any], ...]:
        """Take a transition `(R, …)` of each game in `buffer_ids`, all by default, as collectors have them.

        Returns:
            For each game where the last transition of who acted stands, all players' returns `(R, players)` and the player's own
            actions where the game is over, and where the player's episode starts.
        """
        count, players = self._shape
        lanes = np.arange(count) if buffer_ids is None else np.asarray(buffer_ids)
        actors, over = self._players(batch.obs), batch.terminated | batch.truncated
        # A game that was started anew does not show what it showed last.
        self._is_kept[lanes[(self._shown[lanes] != batch.obs.obs).any(axis=1)]] = False
        self._shown[lanes] = batch.obs_next.obs
        kept = Batch(obs=batch.obs, act=batch.act)
        if self._kept is None:
            self._kept = Batch.cat([kept[:1]] * (count * players))
        self._kept[lanes * players + actors] = kept
        self._is_kept[lanes, actors] = True
        self._rewards[lanes, actors] = 0.0
        self._rewards[lanes] += batch.rew[:, None]

        to_move = np.arange(players) == self._players(batch.obs_next)[:, None]
        places, of = np.nonzero(self._is_kept[lanes] & (to_move | over[:, None]))
        self._is_kept[lanes[places], of] = False
        parts = lanes[places] * players + of
        after = batch[places]
        complete = Batch(
            **{key: after[key] for key in ("terminated", "truncated", "obs_next", "info")},
            obs=self._kept[parts].obs,
            act=self._kept[parts].act,
            rew=self._rewards[lanes[places], of],
        )
        found: list[Any] = [np.zeros(lanes.size, np.int64) for _ in range(4)]
        found[1] = np.zeros((lanes.size, players))
        if parts.size:
            own = of == actors[places]
            for array, added in zip(found, super().add(complete, parts), strict=True):
                array[places[own]] = added[own]
        return tuple(found)
