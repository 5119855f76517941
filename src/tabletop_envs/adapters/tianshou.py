"""Tianshou 2: vector environments on the batch engine, against opponents and in self-play.

The shortest complete script (`DQN` honours masks by itself; its observations are
`Batch(agent_id, obs, mask)`)::

    from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.trainer import OffPolicyTrainerParams
    from tianshou.utils.net.common import Net
    from tabletop_envs.adapters import tianshou

    env = tianshou.make_vector_env("kirche-v0", 16, opponents="random", seed=1, num_houses=1)
    net = Net(state_shape=env.state_shape, action_shape=env.action_shape, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space[0], eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=200)
    buffer = VectorReplayBuffer(20_000, 16)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=5,
            epoch_num_steps=5_000,
            collection_step_num_env_steps=160,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=256,
        )
    )

Tianshou's policy-gradient algorithms ignore masks, so their networks must heed them::

    import torch
    from tianshou.algorithm.modelfree.ppo import PPO
    from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteCritic

    class ObservationNet(Net):  # for critics
        def forward(self, obs, **others):
            return super().forward(obs.obs, **others)

    class MaskedActor(ObservationNet):
        def forward(self, obs, **others):
            logits, state = super().forward(obs, **others)
            mask = torch.as_tensor(obs.mask, device=logits.device)
            return logits.masked_fill(~mask, torch.finfo(logits.dtype).min), state

    sizes = {"state_shape": env.state_shape, "hidden_sizes": [128, 128]}
    actor = MaskedActor(action_shape=env.action_shape, **sizes)
    critic = DiscreteCritic(preprocess_net=ObservationNet(**sizes))
    policy = DiscreteActorPolicy(actor=actor, action_space=env.action_space[0])
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4))

In self-play all players learn, by Tianshou's multi-agent algorithms. Its own buffers pair what a
player saw with what the next player sees, and have no reward for a loser who did not act last;
`SelfPlayReplayBuffer` pairs each player's view with that player's next one::

    env = tianshou.make_vector_env("kirche-v0", 16, opponents="self", seed=1, num_houses=1)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[make_dqn(), make_dqn()], env=env)
    buffer = tianshou.SelfPlayReplayBuffer(20_000, env)
    collector = Collector(algorithm, env, buffer, exploration_noise=True)

`VectorEnvNormObs` is Tianshou's normalization of observations, which leaves mask and agent alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces

from tabletop_envs import checks
from tabletop_envs.adapters.masks import IllegalActionWarning, LegalActions
from tabletop_envs.adapters.self_play import make_lanes
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.drawing import RENDER_MODES, draws_pictures
from tabletop_envs.envs.learner import OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.extras import require
from tabletop_envs.game import Game, lane_seeds
from tabletop_envs.kernels import BY_LIMIT
from tabletop_envs.lanes import Indices, Lanes

_tianshou = require("tianshou", "tianshou")
if str(_tianshou.__version__).startswith(("0.", "1.")):
    raise ImportError(
        f"this needs Tianshou 2.0 or newer, not {_tianshou.__version__}: "
        'pip install "tabletop-envs[tianshou]"'
    )

from tianshou.data import Batch, VectorReplayBuffer  # noqa: E402
from tianshou.env import BaseVectorEnv  # noqa: E402
from tianshou.env import VectorEnvNormObs as PlainVectorEnvNormObs  # noqa: E402
from tianshou.utils import RunningMeanStd  # noqa: E402

__all__ = ["SelfPlayReplayBuffer", "TabletopVenv", "VectorEnvNormObs", "make_vector_env"]

Ids = None | int | Iterable[int]
ADVICE = (
    "Tianshou's policy-gradient algorithms ignore masks: use DQN or heed the mask in the networks."
)


def make_vector_env(
    game: Game | str,
    num_envs: int,
    opponents: OpponentsLike = "random",
    seat: int | None = None,
    seed: int | None = None,
    on_illegal: str = "lose",
    render_mode: str | None = None,
    **options: Any,
) -> TabletopVenv:
    """`num_envs` games as one of Tianshou's vector environments.

    Args:
        game: The game, or its name or id.
        num_envs: How many games.
        opponents: Who plays the other seats: a name (`agents.naming` has all: `"greedy"`,
            `"mcts:200"`, `"mine.py:policy"`, `"runs/kirche/checkpoint.pt"`), a game agent, a
            callable `(observation, action_mask, rng) -> action`, or a list of `num_players − 1` of
            these. `"self"`: self-play, a step is an action of the player to move (`obs.agent_id`).
        seat: The learner's player index, or None: drawn in every game. Must be None in self-play.
        seed: A number `s` (game i gets `s + i`); None: fresh entropy.
        on_illegal: `"lose"`: an illegal action of the learner loses the game. `"raise"`: it raises
            `ValueError`.
        render_mode: None or one of `envs.drawing.RENDER_MODES`.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what it must be.
    """
    lanes = make_lanes(
        game,
        num_envs,
        opponents,
        seat,
        on_illegal,
        options,
        remember=draws_pictures(render_mode),
    )
    env = TabletopVenv(lanes, render_mode)
    if seed is not None:
        env.seed(seed)
    return env


class TabletopVenv(BaseVectorEnv):
    """Games in lanes as a Tianshou vector environment; made by `make_vector_env`.

    Observations are `Batch(agent_id, obs, mask)`: `player_0`, … (the learner's seat),
    `float32 (R, L)` and `bool (R, n)`, R being the number of games asked about. Rewards are the
    learner's, `(R,)`, in self-play all players', `(R, players)`: zero before the end, losses
    included. Every end of a game is a termination, one by `max_plies` included. Games that are over
    wait for `reset`, which collectors call. `action_space` and `observation_space` are lists with
    an entry for each game, as Tianshou has them; samples of an action space are legal in its game.

    Attributes:
        state_shape, action_shape: L and n, for networks.
        agents, agent_idx: All players' names, and their indices: what Tianshou's multi-agent
            algorithms ask for.
    """

    def __init__(self, lanes: Lanes, render_mode: str | None) -> None:
        # Not the base's constructor, which makes a worker for every game.
        self._lanes = lanes
        self._board = Board(lanes, render_mode)
        self.env_num = lanes.num_lanes
        self.is_async = False
        self.is_closed = False
        box, _ = lanes.spaces()
        self.state_shape, self.action_shape = lanes.game.kernel.observation_size, lanes.num_actions
        self._space = spaces.Dict({"obs": box, "mask": spaces.MultiBinary(lanes.num_actions)})
        self._legal_actions = [
            LegalActions(self.action_shape, self._mask_of(lane)) for lane in range(self.env_num)
        ]
        self.agents = [f"player_{player}" for player in range(lanes.num_players)]
        self.agent_idx = {agent: player for player, agent in enumerate(self.agents)}
        self._self_play = not isinstance(lanes, OpponentLanes)
        self._actions = np.zeros(self.env_num, np.int64)
        self._warn = IllegalActionWarning(ADVICE)

    def _mask_of(self, lane: int) -> Any:
        return lambda: self._lanes.observe(np.array([lane]))[1][0]

    def _ids(self, ids: Ids) -> Indices:
        """The lanes that `ids` names; ValueError for others than there are, and for doubles."""
        self._assert_is_not_closed()
        lanes = self._lanes.all_lanes
        if ids is not None:
            given = np.atleast_1d(np.asarray(ids))
            # An empty list has no type of its own.
            given = given if given.size else given.astype(np.int64)
            lanes = checks.integers("id", given, given.shape)
        if np.unique(lanes).size != lanes.size or not ((lanes >= 0) & (lanes < self.env_num)).all():
            raise ValueError(
                f"ids {lanes.tolist()} are not different ones from 0 to {self.env_num - 1}"
            )
        return lanes

    # Playing

    def reset(
        self, env_id: Ids = None, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, npt.NDArray[Any]]:
        """Start new games in those that `env_id` names, in all by default.

        A seed is as in `seed`; `options` has no meaning here. Returns observations and infos as
        `step` does.
        """
        lanes = self._ids(env_id)
        if seed is not None:
            self.seed(seed)
        with self._lanes.rollback_on_error():
            self._lanes.start(lanes)
        return self._look(lanes), self._infos(lanes)

    def seed(self, seed: Any = None) -> list[list[int] | None]:
        """Give the games new streams: a number `s` (game i gets `s + i`), or one for each.

        None changes nothing. TypeError or ValueError for an impossible seed, with nothing changed.
        """
        self._assert_is_not_closed()
        if seed is None:
            return [None] * self.env_num
        seeds = lane_seeds(seed, self.env_num)
        self._lanes.seed(self._lanes.all_lanes, seeds)
        return [[one] for one in seeds.tolist()]

    def step(
        self, action: Any, id: Ids = None
    ) -> tuple[
        Any, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[Any]
    ]:
        """Play the actions, integers `(R,)`, and the opponents' replies in the games of `id`.

        Returns:
            Observations, rewards, terminated, truncated (always False), and infos: `env_id`,
            `score` (the learner's), `ply`, `seat`, and the bools `by_limit` (`max_plies` has ended
            the game) and `illegal_action` (the last action has lost it).

        Raises:
            gymnasium.error.ResetNeeded: Where a game is over, or was never started.
            TypeError, ValueError: For what are no actions, and with `on_illegal="raise"` for
                illegal ones. No game has changed then.
        """
        lanes = self._ids(id)
        array = checks.integers("actions", action, lanes.shape)
        if not ((array >= 0) & (array < self.action_shape)).all():
            raise ValueError(f"actions {array.tolist()} are not from 0 to {self.action_shape - 1}")
        over = lanes[self._lanes.over()[lanes]]
        if over.size:
            raise error.ResetNeeded(f"games {over.tolist()} are over: call reset first")
        self._actions[lanes] = array
        with self._lanes.rollback_on_error():
            self._lanes.step(lanes, self._actions)
        self._warn(self._lanes.offended[lanes])
        terminated = self._lanes.over()[lanes]
        truncated = np.zeros_like(terminated)
        rewards = self._lanes.rewards if self._self_play else self._lanes.seat_rewards()
        return self._look(lanes), rewards[lanes], terminated, truncated, self._infos(lanes)

    def get_masks(self, id: Ids = None) -> npt.NDArray[np.bool_]:
        """The legal actions of the games that `id` names, `bool (R, n)`."""
        masks: npt.NDArray[np.bool_] = self._lanes.observe(self._ids(id))[1].astype(np.bool_)
        return masks

    def _look(self, lanes: Indices) -> Any:
        observation, mask = self._lanes.observe(lanes)
        agents = np.array(self.agents)[self._lanes.seats[lanes]]
        # Some of Tianshou's policies invert the mask, so it must be of bools.
        return Batch(agent_id=agents, obs=observation, mask=mask.astype(np.bool_))

    def _infos(self, lanes: Indices) -> npt.NDArray[Any]:
        states = self._lanes.states[lanes]
        columns = {
            "env_id": lanes,
            "score": self._lanes.seat_scores()[lanes],
            "ply": states["ply"],
            "seat": self._lanes.seats[lanes],
            "by_limit": states["status"] == BY_LIMIT,
            "illegal_action": self._lanes.offended[lanes],
        }
        infos = np.empty(lanes.size, object)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        for place, row in enumerate(rows):
            infos[place] = dict(zip(columns, row, strict=True))
        return infos

    def render(self, **_: Any) -> list[Any]:
        """As the AEC environment's `render`, of every game; a window shows game 0."""
        self._assert_is_not_closed()
        if self._board.render_mode == "human":
            return [self._board.render(0)]
        return [self._board.render(lane) for lane in range(self.env_num)]

    def close(self) -> None:
        """Release what rendering holds; any number of times. No other method may follow."""
        self._board.close()
        self.is_closed = True

    # Attributes of the games

    def get_env_attr(self, key: str, id: Ids = None) -> list[Any]:
        """An attribute of the games that `id` names: a space, `opponents`, `options`, …

        AttributeError if there is none.
        """
        lanes = self._ids(id).tolist()
        if key == "action_space":
            return [self._legal_actions[lane] for lane in lanes]
        own = {
            "observation_space": self._space,
            "metadata": {"render_modes": list(RENDER_MODES)},
            # What Gymnasium has and these games have not.
            "spec": None,
            "reward_range": None,
        }
        return [own[key] if key in own else getattr(self._lanes, key)] * len(lanes)

    def set_env_attr(self, key: str, value: Any, id: Ids = None) -> None:
        """Set `opponents` (who plays the other seats from the next action on) of all games.

        ValueError for another attribute, in self-play, and where `id` leaves games out, since they
        share it; nothing is set then.
        """
        lanes, all_of_them = self._lanes, self._ids(id).size == self.env_num
        if key != "opponents" or not all_of_them or not isinstance(lanes, OpponentLanes):
            raise ValueError(
                f"only 'opponents' can be set, and for all games at once: not {key!r} for {id}"
            )
        lanes.opponents = value


class _ObservationStatistics(RunningMeanStd):
    """The running mean and deviation of `obs` in `Batch(agent_id, obs, mask)`."""

    def norm(self, data_array: Any) -> Any:
        seen = np.float32(super().norm(data_array.obs))
        return Batch(agent_id=data_array.agent_id, obs=seen, mask=data_array.mask)

    def update(self, data_array: Any) -> None:
        super().update(data_array.obs)


class VectorEnvNormObs(PlainVectorEnvNormObs):
    """Tianshou's wrapper of the same name: `obs` is normalized, `agent_id` and `mask` stay.

    Args:
        venv: The environment.
        update_obs_rms: Whether observations change the mean and deviation.
    """

    def __init__(self, venv: TabletopVenv, update_obs_rms: bool = True) -> None:
        super().__init__(venv, update_obs_rms)
        self.obs_rms = _ObservationStatistics()


class SelfPlayReplayBuffer(VectorReplayBuffer):
    """A replay buffer of self-play in which each player's transitions follow each other.

    A transition is kept back until its player is to move again or the game is over. `obs_next` is
    then that player's own next view, `rew` `(players,)` what all got in between, and who did not
    act last also has an end (`terminated`) and a result. So returns of any number of steps and
    advantages are right, for 2 to 4 players and where a player acts several times in a row; a
    discount counts a player's own actions. At the end of a game nothing follows, and `obs_next` is
    what the environment showed last, as seen by who would be to move.

    Each player of each game has a part of its own, `buffers[lane * players + player]`. Where games
    are restarted before their end, their transitions that are kept back are dropped.

    Args:
        total_size: How many transitions in all.
        env: What `make_vector_env(…, opponents="self")` has made.
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
        """Clear the buffer; with `keep_statistics` games continue: what is kept back stays.

        Tianshou keeps statistics between on-policy updates.
        """
        super().reset(keep_statistics)
        if not keep_statistics:
            self._is_kept[:] = False

    def _players(self, observations: Any) -> npt.NDArray[np.int64]:
        return np.array([self._agent_idx[agent] for agent in observations.agent_id])

    def add(
        self, batch: Any, buffer_ids: npt.NDArray[np.int64] | list[int] | None = None
    ) -> tuple[npt.NDArray[Any], ...]:
        """Take a transition `(R, …)` of each game in `buffer_ids`, all by default.

        Returns:
            For each game where the last transition of who acted stands; where the game is over, all
            players' returns `(R, players)` and the number of the player's own actions; and where
            the player's episode starts.
        """
        count, players = self._shape
        lanes = np.arange(count) if buffer_ids is None else np.asarray(buffer_ids)
        actors, over = self._players(batch.obs), batch.terminated | batch.truncated
        # A restarted game does not show what it showed last.
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
