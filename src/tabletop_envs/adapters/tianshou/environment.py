"""Games in lanes as Tianshou's vector environments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces
from tianshou.data import Batch
from tianshou.env import BaseVectorEnv
from tianshou.env import VectorEnvNormObs as PlainVectorEnvNormObs
from tianshou.utils import RunningMeanStd

from tabletop_envs import checks
from tabletop_envs.adapters.masks import IllegalActionWarning, LegalActions
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.drawing import RENDER_MODES
from tabletop_envs.envs.learner import OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.game import lane_seeds
from tabletop_envs.kernels import BY_LIMIT
from tabletop_envs.lanes import Indices, Lanes

Ids = None | int | Iterable[int]


def make_vector_env(
    game: str,
    num_envs: int,
    opponents: OpponentsLike = "random",
    seat: int | None = None,
    seed: int | None = None,
    on_illegal: str = "lose",
    render_mode: str | None = None,
    **options: Any,
) -> TabletopVenv:
    """`num_envs` games, in each a learner against opponents, as one of Tianshou's vector environments.

    Args:
        game: A game's name or id.
        num_envs: How many games.
        opponents: Who plays the other seats: a name (`"random"`, `"greedy"`, `"mcts:200"`), a game
            agent, a callable `(observation, action_mask, rng) -> action`, or a list of
            `num_players − 1` of these.
        seat: The learner's player index, or None: drawn anew in every game.
        seed: A number `s` (game i gets `s + i`); None: fresh entropy.
        on_illegal: `"lose"`: an illegal action of the learner loses the game. `"raise"`: it raises
            `ValueError`.
        render_mode: None or one of `envs.drawing.RENDER_MODES`.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what is allowed.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    lanes = OpponentLanes(
        game,
        count,
        options,
        opponents=opponents,
        seat=seat,
        on_illegal=on_illegal,
        remember=render_mode in ("rgb_array", "human"),
    )
    env = TabletopVenv(lanes, render_mode)
    if seed is not None:
        env.seed(seed)
    return env


def make_self_play_vector_env(
    game: str,
    num_envs: int,
    seed: int | None = None,
    on_illegal: str = "lose",
    render_mode: str | None = None,
    **options: Any,
) -> TabletopVenv:
    """`num_envs` games in which all players learn, for Tianshou's `MultiAgentOffPolicyAlgorithm`.

    A step is an action of the player to move (`obs.agent_id`), rewards are all players',
    `(R, players)`. Tianshou's own buffers pair what a player saw with what the next player sees,
    and have no reward for a loser who did not act last: collect into a `SelfPlayReplayBuffer`.

    Args, Raises:
        As `make_vector_env`.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    remember = render_mode in ("rgb_array", "human")
    lanes = Lanes(game, count, options, on_illegal=on_illegal, remember=remember)
    env = TabletopVenv(lanes, render_mode)
    if seed is not None:
        env.seed(seed)
    return env


class TabletopVenv(BaseVectorEnv):
    """Games in lanes as a Tianshou vector environment; made by `make_vector_env` and `make_self_play_vector_env`.

    Observations are `Batch(agent_id, obs, mask)`: `player_0`, … (the learner's seat),
    `float32 (R, L)` and `bool (R, n)`, R being the number of games asked about. Rewards are the learner's,
    `(R,)`, in self-play all players', `(R, players)`: zero before the end, losses among them. Every
    end of a game is a termination, one by `max_plies`, too. Games that are over wait for `reset`,
    as collectors do it. `action_space` and `observation_space` are lists with an entry for each
    game, as Tianshou has them; samples of an action space are legal in its game.

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
        self._warn = IllegalActionWarning("Use DQN or MaskedActor.")

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
        """Start new games: observations and infos (as of `step`) of those that `env_id` names, of all by default.

        A seed is as in `seed`; `options` has no meaning here.
        """
        lanes = self._ids(env_id)
        if seed is not None:
            self.seed(seed)
        with self._lanes.rollback_on_error():
            self._lanes.start(lanes)
        return self._look(lanes), self._infos(lanes)

    def seed(self, seed: Any = None) -> list[list[int] | None]:
        """Give the games new streams from here on: a number `s` (game i gets `s + i`), or one for each; None: nothing changes.

        TypeError or ValueError for an impossible seed, with nothing changed.
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
        """Play the learners' actions, integers `(R,)`, and the opponents' replies in the games that `id` names.

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
        """The present masks of the games that `id` names, `bool (R, n)`: those of the last observations."""
        masks: npt.NDArray[np.bool_] = self._lanes.observe(self._ids(id))[1].astype(np.bool_)
        return masks

    def _look(self, lanes: Indices) -> Any:
        observation, mask = self._lanes.observe(lanes)
        agents = np.array(self.agents)[self._lanes.seats[lanes]]
        # Some of Tianshou's policies invert the mask, so it must be of truth values.
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
        """What the AEC environment's `render` gives, for every game; with `"human"` the window shows game 0."""
        self._assert_is_not_closed()
        if self._board.render_mode == "human":
            return [self._board.render(0)]
        return [self._board.render(lane) for lane in range(self.env_num)]

    def close(self) -> None:
        """Release what rendering holds; any number of times. No other method may be called afterwards."""
        self._board.close()
        self.is_closed = True

    # Attributes of the games

    def get_env_attr(self, key: str, id: Ids = None) -> list[Any]:
        """An attribute of the games that `id` names: a space, `opponents`, `options`, …; AttributeError if there is none."""
        lanes = self._ids(id).tolist()
        if key == "action_space":
            return [self._legal_actions[lane] for lane in lanes]
        if key == "observation_space":
            return [self._space for _ in lanes]
        if key == "metadata":
            return [{"render_modes": list(RENDER_MODES)} for _ in lanes]
        if key in ("spec", "reward_range"):  # what Gymnasium has and these games have not
            return [None for _ in lanes]
        return [getattr(self._lanes, key) for _ in lanes]

    def set_env_attr(self, key: str, value: Any, id: Ids = None) -> None:
        """Set `opponents` (who plays the other seats from the next action on) of all games.

        ValueError for another attribute, in self-play, and where `id` leaves games out, since they share it;
        nothing is set then.
        """
        lanes = self._lanes
        everybody = self._ids(id).size == self.env_num
        if key != "opponents" or not everybody or not isinstance(lanes, OpponentLanes):
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
    """Tianshou's wrapper of the same name for these environments: `obs` is normalized, `agent_id` and `mask` stay.

    Args:
        venv: The environment.
        update_obs_rms: Whether observations go on to change the mean and deviation.
    """

    def __init__(self, venv: TabletopVenv, update_obs_rms: bool = True) -> None:
        super().__init__(venv, update_obs_rms)
        self.obs_rms = _ObservationStatistics()
