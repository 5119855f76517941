"""Tianshou: vector environments on the batch engine, self-play, and a masked actor for its policy-gradient algorithms.

The shortest complete script (`DQN` honours masks by itself; its observations are `Batch(agent_id, obs, mask)`)::

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

Tianshou's policy-gradient algorithms ignore masks. `MaskedActor` honours them, and `ObservationNet` gives critics the
observation without the mask::

    policy = DiscreteActorPolicy(actor=tianshou.MaskedActor(net), action_space=env.action_space[0])
    critic = DiscreteCritic(preprocess_net=tianshou.ObservationNet(other_net))
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4))

Self-play by Tianshou's `MultiAgentOffPolicyAlgorithm` is on `make_self_play_vector_env`; see there how losses reach the loser.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces

from tabletop_envs import checks
from tabletop_envs.adapters.masks import LegalActions
from tabletop_envs.adapters.self_play import SelfPlayLanes
from tabletop_envs.envs.drawing import RENDER_MODES
from tabletop_envs.envs.game import lane_seeds
from tabletop_envs.envs.learner import Lanes, LearnerLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.extras import require

require("tianshou", "tianshou")

import torch  # noqa: E402
from tianshou.data import Batch  # noqa: E402
from tianshou.env import BaseVectorEnv  # noqa: E402
from tianshou.utils.net.common import (  # noqa: E402
    AbstractDiscreteActor,
    ModuleWithVectorOutput,
)

__all__ = [
    "MaskedActor",
    "ObservationNet",
    "TabletopVenv",
    "make_self_play_vector_env",
    "make_vector_env",
]

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
        opponents: Who plays the other seats: a name (`"random"`, `"greedy"`, `"mcts:200"`), a game agent, a callable
            `(observation, action_mask, rng) -> action`, or a list of `num_players − 1` of these.
        seat: The learner's player index, or None: drawn anew in every game.
        seed: A number `s` (game i gets `s + i`); None: fresh entropy.
        on_illegal: `"lose"`: an illegal action of the learner loses the game. `"raise"`: it raises `ValueError`.
        render_mode: None or one of `envs.drawing.RENDER_MODES`.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it and what is allowed.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    env = TabletopVenv(LearnerLanes(game, count, opponents, seat, on_illegal, render_mode, options))
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

    A step is an action of the player in turn (`obs.agent_id`), rewards are all players', `(R, players)`:

        env = tianshou.make_self_play_vector_env("kirche-v0", 16, num_houses=1)
        algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[make_dqn(), make_dqn()], env=env)

    Tianshou's buffer has one player's action a step, and the loser has not played the last one. So give the algorithms
    `n_step_return_horizon` = the number of players: their returns then reach from a player's action to that player's next
    one, and have the reward of a game that another player ends in between. That is exact where players take turns; in
    meeples a player may act several times in a row, and Tianshou's on-policy algorithms look at own steps alone. There,
    train a learner against opponents (`make_vector_env`; an opponent may be a callable that asks a copy of the learner).

    Args, Raises:
        As `make_vector_env`.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    env = TabletopVenv(SelfPlayLanes(game, count, on_illegal, render_mode, options))
    if seed is not None:
        env.seed(seed)
    return env


class TabletopVenv(BaseVectorEnv):
    """Games in lanes as a Tianshou vector environment; made by `make_vector_env` and `make_self_play_vector_env`.

    Observations are `Batch(agent_id, obs, mask)`: `player_0`, … (the learner's seat), `float32 (R, L)` and `bool (R, n)`, R
    being the number of games asked about. Rewards are the learner's, `(R,)`, in self-play all players', `(R, players)`:
    zero before the end, losses among them. Games that are over wait for `reset`, as collectors do it. `action_space` and `observation_space` are lists with an entry for each
    game, as Tianshou has them; samples of an action space are legal in its game.

    Attributes:
        state_shape, action_shape: L and n, for networks.
        agents, agent_idx: All players' names, and their indices: what Tianshou's multi-agent algorithms ask for.
    """

    def __init__(self, lanes: LearnerLanes) -> None:
        # Not the base's constructor, which makes a worker for every game.
        self._lanes = lanes
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
        self._self_play = isinstance(lanes, SelfPlayLanes)
        self._actions = np.zeros(self.env_num, np.int64)

    def _mask_of(self, lane: int) -> Any:
        return lambda: self._lanes.look_at(np.array([lane]))[1][0]

    def _ids(self, ids: Ids) -> Lanes:
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
        """Start new games: observations and infos (`score`, `ply`, `seat`) of those that `env_id` names, of all by default.

        A seed is as in `seed`; `options` has no meaning here.
        """
        lanes = self._ids(env_id)
        if seed is not None:
            self.seed(seed)
        with self._lanes.undone_on_error():
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
            Observations, rewards, terminated, truncated, and infos: `env_id`, `score` (the learner's), `ply`, `seat`.

        Raises:
            gymnasium.error.ResetNeeded: Where a game is over, or was never started.
            TypeError, ValueError: For what are no actions, and with `on_illegal="raise"` for illegal ones. No game has
                changed then.
        """
        lanes = self._ids(id)
        array = checks.integers("actions", action, lanes.shape)
        if not ((array >= 0) & (array < self.action_shape)).all():
            raise ValueError(f"actions {array.tolist()} are not from 0 to {self.action_shape - 1}")
        over = lanes[self._lanes.over()[lanes]]
        if over.size:
            raise error.ResetNeeded(f"games {over.tolist()} are over: call reset first")
        self._actions[lanes] = array
        with self._lanes.undone_on_error():
            self._lanes.play(lanes, self._actions)
        truncated = self._lanes.truncated()[lanes]
        terminated = self._lanes.over()[lanes] & ~truncated
        rewards = self._lanes.rewards if self._self_play else self._lanes.learner_rewards()
        return self._look(lanes), rewards[lanes], terminated, truncated, self._infos(lanes)

    def get_masks(self, id: Ids = None) -> npt.NDArray[np.bool_]:
        """The present masks of the games that `id` names, `bool (R, n)`: those of the last observations."""
        masks: npt.NDArray[np.bool_] = self._lanes.look_at(self._ids(id))[1].astype(np.bool_)
        return masks

    def _look(self, lanes: Lanes) -> Any:
        observation, mask = self._lanes.look_at(lanes)
        agents = np.array(self.agents)[self._lanes.seats[lanes]]
        # Some of Tianshou's policies invert the mask, so it must be of truth values.
        return Batch(agent_id=agents, obs=observation, mask=mask.astype(np.bool_))

    def _infos(self, lanes: Lanes) -> npt.NDArray[Any]:
        infos = np.empty(lanes.size, object)
        numbers = (
            lanes.tolist(),
            self._lanes.learner_scores()[lanes].tolist(),
            self._lanes.states["ply"][lanes].tolist(),
            self._lanes.seats[lanes].tolist(),
        )
        for place, (lane, score, ply, seat) in enumerate(zip(*numbers, strict=True)):
            infos[place] = {"env_id": lane, "score": score, "ply": ply, "seat": seat}
        return infos

    def render(self, **_: Any) -> list[Any]:
        """What the AEC environment's `render` gives, for every game; with `"human"` the window shows game 0."""
        self._assert_is_not_closed()
        if self._lanes.render_mode == "human":
            return [self._lanes.render(0)]
        return [self._lanes.render(lane) for lane in range(self.env_num)]

    def close(self) -> None:
        """Release what rendering holds; any number of times. No other method may be called afterwards."""
        self._lanes.close()
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

        ValueError for another attribute, and where `id` leaves games out, since they share it; nothing is set then.
        """
        if key != "opponents" or self._ids(id).size != self.env_num:
            raise ValueError(
                f"only 'opponents' can be set, and for all games at once: not {key!r} for {id}"
            )
        self._lanes.opponents = value


class MaskedActor(AbstractDiscreteActor):
    """An actor whose logits are lowered where the mask is 0, so that illegal actions have the probability 0.

    Args:
        net: A network from observations `float32 (B, L)` to logits `(B, n)`, such as `tianshou.utils.net.common.Net`.
    """

    def __init__(self, net: ModuleWithVectorOutput) -> None:
        super().__init__(net.get_output_dim())
        self.net = net

    def get_preprocess_net(self) -> ModuleWithVectorOutput:
        """The network."""
        return self.net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Any, Any]:
        """Masked logits `(B, n)` of `Batch(obs, mask)`, and the network's state."""
        logits, state = self.net(obs.obs, state=state, info=info)
        mask = torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~mask, torch.finfo(logits.dtype).min), state


class ObservationNet(ModuleWithVectorOutput):
    """A network that is given the observations alone, without masks: what critics need.

    Args:
        net: A network from observations `float32 (B, L)` to features, such as `tianshou.utils.net.common.Net`.
    """

    def __init__(self, net: ModuleWithVectorOutput) -> None:
        super().__init__(net.get_output_dim())
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Any, Any]:
        """The network's output for `Batch(obs, mask)`."""
        features: tuple[Any, Any] = self.net(obs.obs, state=state, info=info)
        return features
