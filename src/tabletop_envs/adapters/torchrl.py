"""TorchRL: many games as one batched `EnvBase` on the compiled loops, against opponents or in self-play.

The shortest complete training script, masked PPO against a random opponent::

    import torch
    from torch.nn import LazyLinear, ReLU, Sequential
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE
    from tabletop_envs.adapters.torchrl import TabletopEnv

    env = TabletopEnv("kirche", 64, num_houses=1, seed=1)
    network = lambda size: Sequential(LazyLinear(128), ReLU(), LazyLinear(size))
    policy = ProbabilisticActor(
        TensorDictModule(network(env.num_actions), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(network(1), ["observation"])
    policy(env.reset()), critic(env.reset())  # gives the lazy layers their sizes
    gae = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(policy, critic)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for data in Collector(env, policy, frames_per_batch=64 * 32, total_frames=64 * 32 * 20):
        gae(data)
        for minibatch in data.reshape(-1)[torch.randperm(data.numel())].split(512):
            losses = loss(minibatch)
            sum(value for key, value in losses.items() if key.startswith("loss_")).backward()
            optimizer.step()
            optimizer.zero_grad()
        print(f"mean result {data['next', 'reward'][data['next', 'done']].mean():+.2f}")

Random play in a collector is `Collector(env, env.rand_action, …)`: without a policy it draws from a copy of the action spec, which
does not know the masks.

The other way, one AEC environment through TorchRL's own wrapper (one group of keys an agent, one game at a time; its
actions are masked and its rewards seen all the same)::

    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from tabletop_envs import kirche_v0

    env = PettingZooWrapper(kirche_v0.env(), use_mask=True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks, registry
from tabletop_envs.adapters.self_play import SelfPlayLanes
from tabletop_envs.envs.game import Game, lane_seeds
from tabletop_envs.envs.learner import Lanes, LearnerLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.extras import require
from tabletop_envs.kernels import engine

require("torchrl", "torchrl")

import torch  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from torchrl.data import Bounded, Categorical, Composite, OneHot  # noqa: E402
from torchrl.envs import EnvBase  # noqa: E402

__all__ = ["SELF", "TabletopEnv"]

# What `opponents` is for self-play.
SELF = "self"


class TabletopEnv(EnvBase):
    """`num_envs` games of one kind as a batched TorchRL environment with `batch_size [num_envs]`.

    Args:
        game: The game: `"kirche"`, `"kirche-v0"`, …
        num_envs: N, how many games.
        opponents: Who plays the others: a name of `agents.make_agent`, an agent, or a list of `num_players − 1` of these in turn
            order after the learner. `"self"`: self-play, every ply is a step of the policy.
        seat: The learner's player index, None: drawn at every reset. Has no meaning in self-play.
        on_illegal: What an illegal action does: `"raise"` (a ValueError, no game has changed) or `"lose"` (who played it
            loses).
        categorical_actions: Whether actions are numbers `(N,)` or one-hot vectors `(N, n)`.
        seed: A number `s` (lane i plays what the other environments play after `reset(seed=s + i)`), a list of one for each
            lane, or None: fresh entropy.
        device: Where the tensors are; the games are always played on the CPU.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or impossible argument or option, naming it and what is allowed.

    Keys:
        observation: `float32 (N, L)`, what the player named by `player` sees.
        action_mask: `bool (N, n)`, that player's legal actions; all ones once the game is over. The action spec has it as its
            mask, too, so that random policies play legally.
        player: `int64 (N, 1)`, the index of the player who is to act: the learner's seat.
        action: `int64 (N,)`, or `bool (N, n)`.
        reward: `float32 (N, 1)`, the learner's, losses on an opponent's turn included; in self-play `float32 (N, P)`, those
            of players 0 … P − 1. Zero before the end.
        done, terminated, truncated: `bool (N, 1)`; `truncated` by `max_plies`.

    Partial resets (`_reset`) and partial steps (`_step`) are honoured: other lanes stay as they are.
    """

    batch_locked = True

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        on_illegal: str = "raise",
        categorical_actions: bool = True,
        seed: Any = None,
        device: Any = None,
        **options: Any,
    ) -> None:
        count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
        described = registry.get_game(game) if isinstance(game, str) else game
        lanes: LearnerLanes
        if isinstance(opponents, str) and opponents == SELF:
            if seat is not None:
                raise ValueError(f"seat={checks.shown(seat)} must be None with opponents='self'")
            lanes = SelfPlayLanes(described, count, on_illegal, None, options)
        else:
            lanes = LearnerLanes(described, count, opponents, seat, on_illegal, None, options)
        seeds = lane_seeds(seed, count)
        super().__init__(device=device, batch_size=torch.Size([count]))
        self.game = described
        self.num_actions = lanes.num_actions
        self.num_players = lanes.num_players
        self.self_play = isinstance(lanes, SelfPlayLanes)
        self.categorical_actions = checks.boolean("categorical_actions", categorical_actions)
        self._lanes = lanes
        self._lanes.seed(lanes.all_lanes, seeds)
        self._started = np.zeros(count, np.bool_)
        # What was returned last: lanes that stay as they are need not be looked at again.
        self._observation = np.zeros((count, described.kernel.observation_size), np.float32)
        self._mask = np.ones((count, self.num_actions), np.int8)
        self._make_specs(count)

    def _make_specs(self, count: int) -> None:
        low, high = (torch.tensor(bound, dtype=torch.float32) for bound in self.game.bounds())
        flag = Categorical(2, shape=(count, 1), dtype=torch.bool)
        rewards = self.num_players if self.self_play else 1
        self.observation_spec = Composite(
            observation=Bounded(low, high).expand(count, low.numel()),
            action_mask=Categorical(2, shape=(count, self.num_actions), dtype=torch.bool),
            player=Categorical(self.num_players, shape=(count, 1)),
            shape=(count,),
        ).to(self.device)
        if self.categorical_actions:
            action = Categorical(self.num_actions, shape=(count,))
        else:
            action = OneHot(self.num_actions, shape=(count, self.num_actions), dtype=torch.bool)
        self.action_spec = action.to(self.device)
        self.reward_spec = Bounded(-1.0, 1.0, shape=(count, rewards)).to(self.device)
        self.done_spec = Composite(
            done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=(count,)
        ).to(self.device)

    # Playing

    def _set_seed(self, seed: Any) -> None:
        self._lanes.seed(self._lanes.all_lanes, lane_seeds(seed, self.batch_size[0]))

    def _reset(self, tensordict: Any = None, **_: Any) -> Any:
        lanes = self._chosen(tensordict, "_reset")
        # All lanes are shown, so all must have a game.
        lanes = np.union1d(lanes, np.flatnonzero(~self._started))
        if lanes.size:
            self._lanes.start(lanes)
            self._started[lanes] = True
        return self._show(lanes)

    def _step(self, tensordict: Any) -> Any:
        lanes = self._chosen(tensordict, "_step")
        over = self._lanes.over()[lanes]
        if over.any():
            raise RuntimeError(f"the games of lanes {lanes[over].tolist()} are over: reset them")
        action = tensordict["action"]
        if not self.categorical_actions:
            action = action.long().argmax(-1)
        numbers = action.cpu().numpy().reshape(self.batch_size[0])
        actions = checks.integers("action", numbers, numbers.shape)
        self._lanes.play(lanes, actions)
        result = self._show(lanes)
        played = np.zeros((self.batch_size[0], 1), np.bool_)
        played[lanes] = True
        rewards = self._lanes.rewards
        if not self.self_play:
            rewards = rewards[self._lanes.all_lanes, self._lanes.seats][:, np.newaxis]
        result["reward"] = self._tensor(np.where(played, rewards, 0.0).astype(np.float32))
        return result

    def _chosen(self, tensordict: Any, key: str) -> Lanes:
        """The lanes that a key chooses, all without it."""
        chosen = None if tensordict is None else tensordict.get(key, None)
        if chosen is None:
            return self._lanes.all_lanes
        return np.flatnonzero(chosen.cpu().numpy().reshape(self.batch_size[0]))

    def _show(self, lanes: Lanes) -> Any:
        """Observations, masks and flags of all lanes in fresh tensors, those of `lanes` looked at anew."""
        of, seats = self._lanes, self._lanes.seats
        everybody = lanes.size == self.batch_size[0]
        # Tensors handed out share their memory with these arrays, so each call needs its own.
        fresh = np.empty_like if everybody else np.copy
        self._observation, self._mask = fresh(self._observation), fresh(self._mask)
        engine.look_some(of.states, of.legal, lanes, seats, self._observation, self._mask)
        over, truncated = of.over()[:, np.newaxis], of.truncated()[:, np.newaxis]
        mask = self._tensor(self._mask.view(np.bool_))
        self.action_spec.update_mask(mask)
        return TensorDict(
            {
                "observation": self._tensor(self._observation),
                "action_mask": mask,
                "player": self._tensor(seats[:, np.newaxis].copy()),
                "done": self._tensor(over),
                "terminated": self._tensor(over & ~truncated),
                "truncated": self._tensor(truncated),
            },
            self.batch_size,
            device=self.device,
        )

    def _tensor(self, array: npt.NDArray[Any]) -> Any:
        tensor = torch.from_numpy(array)
        return tensor if self.device is None else tensor.to(self.device)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the environment (`EnvBase.close`)."""
        super().close(raise_if_closed=raise_if_closed)
        self._lanes.close()
