"""PufferLib 3: many games as one native `PufferEnv`, written into its shared buffers.

The shortest complete training script, by PufferLib's own trainer on the CPU::

    import torch
    from pufferlib import pufferl, vector
    from tabletop_envs.adapters.pufferlib import TabletopEnv, split, train_config

    class MaskedPolicy(torch.nn.Module):
        def __init__(self, env, hidden_size=128):
            super().__init__()
            self.hidden_size, self.num_actions = hidden_size, int(env.single_action_space.n)
            size = env.single_observation_space.shape[0] - self.num_actions
            self.encoder = torch.nn.Linear(size, hidden_size)
            self.actor = torch.nn.Linear(hidden_size, self.num_actions)
            self.critic = torch.nn.Linear(hidden_size, 1)

        def forward(self, observations, state=None):
            seen, mask = split(observations, self.num_actions)
            hidden = torch.relu(self.encoder(seen.float()))
            return self.actor(hidden).masked_fill(mask == 0, -torch.inf), self.critic(hidden)

        forward_eval = forward  # called while playing

    if __name__ == "__main__":  # the workers of vector.Multiprocessing also import this file
        games = vector.make(TabletopEnv, env_args=["kirche", 256], env_kwargs={"num_houses": 1})
        config = train_config(total_timesteps=2_000_000)
        trainer = pufferl.PuffeRL(config, games, MaskedPolicy(games.driver_env))
        while trainer.global_step < config["total_timesteps"]:
            trainer.evaluate()
            trainer.train()
        trainer.close()

A native environment has one array of observations, and PufferLib's own policies know no masks of
actions. So the last `n` numbers of an observation are the mask, which the policy must use: `split`
takes them apart.

PufferLib writes into the current folder: on import a link `resources`, its trainer a folder
`experiments`. docs/stacks.md tells how to install it.
"""

from __future__ import annotations

import ast
import configparser
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tabletop_envs import checks
from tabletop_envs.adapters.masks import IllegalActionWarning
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.learner import OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.extras import require
from tabletop_envs.game import UINT64_MAX, Game, find_game, lane_seeds
from tabletop_envs.kernels import BY_LIMIT

try:
    require("pufferlib", "pufferlib")
    require("torch", "pufferlib")
except ImportError as error:
    # PufferLib demands older versions than this library, so no extra can bring it.
    raise ImportError(
        f"{error}, and then PufferLib itself: pip install --no-deps --no-build-isolation "
        "pufferlib==3.0.0 (docs/stacks.md)"
    ) from error

import pufferlib

__all__ = ["TabletopEnv", "split", "train_config"]


class TabletopEnv(pufferlib.PufferEnv):
    """`num_envs` games as one native PufferLib environment: a learner against opponents in each.

    Args:
        game: The game: `"kirche"`, `"kirche-v0"`, …
        num_envs: N, how many games: PufferLib's `num_agents`, one learner each.
        opponents: Who plays the others: a name of `agents.make_agent`, an agent (for self-play: a
            `GameAgent` that asks your network), or a list of `num_players − 1` of these in turn
            order after the learner.
        seat: The learner's player index, None: drawn at every start.
        on_illegal: What an illegal action does: `"lose"` (the learner loses the game) or `"raise"`
            (a ValueError, no game has changed).
        buf: PufferLib's shared buffers, None: its own.
        seed: As of `reset`, until that is called with one.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or impossible argument or option, naming it and what
            it must be.

    Buffers, written in place (`num_agents` rows): `observations` `int8 (N, L + n)`, what the
    learner sees and its mask; `rewards` `float32`, losses on an opponent's turn included;
    `terminals` `bool`, every end of a game, one by `max_plies` included; `truncations` `bool`,
    always False; `masks`, PufferLib's mask of agents, always True. A game that is over restarts in
    the same step, as PufferLib expects.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 256,
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        on_illegal: str = "lose",
        buf: Any = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
        self.game = find_game(game)
        self._lanes = OpponentLanes(
            self.game, count, options, opponents=opponents, seat=seat, on_illegal=on_illegal
        )
        self._seed(secrets.randbits(64) if seed is None else seed)
        low, high = self.game.bounds()
        ones = np.ones(self._lanes.num_actions, np.int8)
        self.observation_size = low.size
        self.single_observation_space = spaces.Box(
            np.concatenate([low, 0 * ones]), np.concatenate([high, ones]), dtype=np.int8
        )
        self.single_action_space = spaces.Discrete(self._lanes.num_actions)
        self.num_agents = count
        self.render_mode = None
        self._warn = IllegalActionWarning("Use a policy that heeds `split`'s mask.")
        # The engine writes whole rows, which are then copied into the two parts of the buffer.
        self._seen = np.zeros((count, low.size), np.int8)
        self._mask = np.zeros((count, self._lanes.num_actions), np.int8)
        super().__init__(buf)

    def _seed(self, seed: Any) -> None:
        lanes, count = self._lanes.all_lanes, self._lanes.num_lanes
        # Vectors give their environments consecutive seeds: lanes must not share them.
        self._lanes.seed(lanes, lane_seeds(checks.seed("seed", seed) * count & UINT64_MAX, count))

    @property
    def action_mask(self) -> npt.NDArray[np.bool_]:
        """The learners' legal actions `(N, n)`: the end of `observations`, not to be written to."""
        return self._mask.view(np.bool_)

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[np.int8], list[dict[str, Any]]]:
        """Start new games in all lanes.

        Args:
            seed: A number `s`: lane i is the game of the other environments'
                `reset(seed=N * s + i)`, modulo 2^64. None: streams continue.

        Raises:
            TypeError, ValueError: For an impossible seed; nothing is changed then.
        """
        if seed is not None:
            self._seed(seed)
        self._lanes.start(self._lanes.all_lanes)
        self.rewards[:] = 0.0
        self.terminals[:] = False
        self.truncations[:] = False
        self.masks[:] = True
        self._look()
        return self.observations, []

    def step(self, actions: npt.ArrayLike) -> tuple[Any, ...]:
        """Play every learner's action (integers `(N,)`) and the opponents' replies.

        Returns:
            The five buffers' arrays and a list of infos: where games have ended one dict with
            `episode_return`, `episode_length` (actions of all players), `won`, `lost`, `by_limit`
            (ended by `max_plies`) and `illegal_action` (lost by one) of 0 or 1, each a list with
            one number a game.

        Raises:
            TypeError: Where the actions are not integers.
            ValueError: For a wrong shape, and for an illegal action with `on_illegal="raise"`; no
                game has changed then.
        """
        lanes, chosen = self._lanes, checks.integers("actions", actions, (self.num_agents,))
        with lanes.rollback_on_error():
            lanes.step(lanes.all_lanes, chosen)
        over = lanes.over()
        self.rewards[:] = lanes.seat_rewards()
        self.terminals[:] = over
        ended = np.flatnonzero(over)
        infos = [self._results(ended)] if ended.size else []
        if ended.size:
            self._warn(lanes.offended[ended])
            lanes.start(ended)
        self._look()
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def _results(self, ended: npt.NDArray[np.int64]) -> dict[str, list[float]]:
        rewards, states = self.rewards[ended], self._lanes.states[ended]
        return {
            "episode_return": rewards.tolist(),
            "episode_length": states["ply"].astype(float).tolist(),
            "won": (rewards > 0).astype(float).tolist(),
            "lost": (rewards < 0).astype(float).tolist(),
            "by_limit": (states["status"] == BY_LIMIT).astype(float).tolist(),
            "illegal_action": self._lanes.offended[ended].astype(float).tolist(),
        }

    def _look(self) -> None:
        self._lanes.observe(out=(self._seen, self._mask))
        self.observations[:, : self.observation_size] = self._seen
        self.observations[:, self.observation_size :] = self._mask

    def render(self) -> str:
        """The first game's position as text."""
        position = Board(self._lanes, None).to_aec(0).snapshot()
        return self.game.text(position, None, False)

    def close(self) -> None:
        """Release what the environment holds; any number of times."""


def split(observations: Any, num_actions: int) -> tuple[Any, Any]:
    """What the learner sees `(…, L)` and its mask `(…, n)`, of observations `(…, L + n)`."""
    return observations[..., :-num_actions], observations[..., -num_actions:]


def train_config(**changes: Any) -> dict[str, Any]:
    """PufferLib's default training settings (`train` in its `config/default.ini`), with changes.

    They are for the CPU and Adam, which needs no further package, with a learning rate to suit.

    Raises:
        TypeError: For a setting that PufferLib does not know.
    """
    reader = configparser.ConfigParser()
    reader.read(Path(pufferlib.__file__).parent / "config" / "default.ini", encoding="utf-8")
    settings: dict[str, Any] = {}
    for name, text in reader["train"].items():
        try:
            settings[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            settings[name] = text
    settings |= {
        "env": "tabletop_envs",
        "use_rnn": False,
        "device": "cpu",
        "optimizer": "adam",
        "learning_rate": 0.001,
    }
    unknown = [name for name in changes if name not in settings]
    if unknown:
        raise TypeError(
            f"PufferLib has no setting {unknown[0]!r}: its settings are {', '.join(settings)}"
        )
    return settings | changes
