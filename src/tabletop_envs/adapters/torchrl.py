"""TorchRL: many games as one batched `EnvBase`, against opponents or in self-play.

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

Self-play with the same networks, of 2 to 4 players: `own_turns` pairs each player's turns with that
player's next one, so that GAE works as it is::

    from tabletop_envs.adapters.torchrl import own_turns

    env = TabletopEnv("tuerme", 64, opponents="self", num_players=3, seed=1)
    ...  # policy, critic, gae, loss and optimizer as above
    for data in Collector(env, policy, frames_per_batch=64 * 32, total_frames=64 * 32 * 20):
        turns = own_turns(data)
        gae(turns)
        for minibatch in turns[torch.randperm(len(turns))].split(512):
            ...  # as above

Random actions are legal ones (`rand_action`, a rollout or collector without a policy, also in a
`TransformedEnv`). In a `SerialEnv` or `ParallelEnv` TorchRL knows no masks but by its own
transform: `TransformedEnv(ParallelEnv(2, make), ActionMask())`.

Also possible: one AEC environment through TorchRL's own wrapper (one group of keys an agent, one
game at a time; masks and rewards are honoured there too)::

    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from tabletop_envs import kirche_v0

    env = PettingZooWrapper(kirche_v0.env(), use_mask=True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.adapters.masks import IllegalActionWarning
from tabletop_envs.adapters.self_play import SELF, make_lanes
from tabletop_envs.envs.learner import OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.extras import require
from tabletop_envs.game import Game, lane_seeds
from tabletop_envs.kernels import BY_LIMIT
from tabletop_envs.lanes import Indices

require("torchrl", "torchrl")

import torch  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from torchrl.data import Bounded, Categorical, Composite, OneHot  # noqa: E402
from torchrl.data.utils import ACTION_SPACE_MAP  # noqa: E402
from torchrl.envs import EnvBase  # noqa: E402

__all__ = ["SELF", "TabletopEnv", "own_turns"]


class _SharedMask:
    """An action spec that shares its mask with its copies (in a `TransformedEnv`, a policy)."""

    def __init__(self, *arguments: Any, **others: Any) -> None:
        self._shared: list[Any] = [None]
        super().__init__(*arguments, **others)

    @property
    def mask(self) -> Any:
        return self._shared[0]

    @mask.setter
    def mask(self, mask: Any) -> None:
        self._shared[0] = mask

    def clone(self) -> Any:
        twin = super().clone()  # type: ignore[misc]
        twin._shared = self._shared
        return twin


class _Actions(_SharedMask, Categorical):
    """Actions as integers."""


class _OneHotActions(_SharedMask, OneHot):
    """Actions as one-hot vectors."""


# Value modules look up what a spec's actions are by its very type.
ACTION_SPACE_MAP.update(
    {_Actions: ACTION_SPACE_MAP[Categorical], _OneHotActions: ACTION_SPACE_MAP[OneHot]}
)


class TabletopEnv(EnvBase):
    """`num_envs` games of one kind as a batched TorchRL environment with `batch_size [num_envs]`.

    Args:
        game: The game: `"kirche"`, `"kirche-v0"`, …
        num_envs: N, how many games.
        opponents: Who plays the others: a name of `agents.make_agent`, an agent, or a list of
            `num_players − 1` of these in turn order after the learner. `"self"`: self-play, every
            ply is a step of the policy.
        seat: The learner's player index, None: drawn at every reset. Has no meaning in self-play.
        on_illegal: What an illegal action does: `"lose"` (who played it loses) or `"raise"` (a
            ValueError, no game has changed).
        categorical_actions: Whether actions are numbers `(N,)` or one-hot vectors `(N, n)`.
        seed: A number `s` (lane i plays what the other environments play after
            `reset(seed=s + i)`), a list of one for each lane, or None: fresh entropy.
        device: Where the tensors are; the games are always played on the CPU.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or impossible argument or option, naming it and what
            it must be.

    Keys:
        observation: `float32 (N, L)`, what the player named by `player` sees.
        action_mask: `bool (N, n)`, that player's legal actions; all ones once the game is over. It
            is also the action spec's mask.
        player: `int64 (N, 1)`, the index of the player who is to act: the learner's seat.
        action: `int64 (N,)`, or `bool (N, n)`.
        reward: `float32 (N, 1)`, the learner's, losses on an opponent's turn included; in self-play
            `float32 (N, P)`, those of players 0 … P − 1. Zero before the end.
        done, terminated: `bool (N, 1)`, whether the game is over.
        truncated: `bool (N, 1)`, always False: it is for limits from outside, such as
            `StepCounter`'s.
        by_limit: `bool (N, 1)`, whether `max_plies` ended the game.
        illegal_action: `bool (N, 1)`, whether an illegal action ended it. The first one warns.

    Where an opponent raises, all games are as they were. Partial resets (`_reset`) and partial
    steps (`_step`) are honoured: other lanes stay as they are.
    """

    batch_locked = True

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        on_illegal: str = "lose",
        categorical_actions: bool = True,
        seed: Any = None,
        device: Any = None,
        **options: Any,
    ) -> None:
        lanes = make_lanes(game, num_envs, opponents, seat, on_illegal, options)
        count = lanes.num_lanes
        seeds = lane_seeds(seed, count)
        super().__init__(device=device, batch_size=torch.Size([count]))
        self.game = lanes.game
        self.num_actions = lanes.num_actions
        self.num_players = lanes.num_players
        self.self_play = not isinstance(lanes, OpponentLanes)
        self.categorical_actions = checks.boolean("categorical_actions", categorical_actions)
        self._lanes = lanes
        self._lanes.seed(lanes.all_lanes, seeds)
        self._started = np.zeros(count, np.bool_)
        self._warn = IllegalActionWarning(
            "Use MaskedCategorical, and ActionMask around a SerialEnv or ParallelEnv."
        )
        # What was returned last: lanes that stay as they are need not be looked at again.
        self._observation = np.zeros((count, lanes.game.kernel.observation_size), np.float32)
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
            by_limit=flag.clone(),
            illegal_action=flag.clone(),
            shape=(count,),
        ).to(self.device)
        if self.categorical_actions:
            action = _Actions(self.num_actions, shape=(count,))
        else:
            action = _OneHotActions(
                self.num_actions, shape=(count, self.num_actions), dtype=torch.bool
            )
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
            with self._lanes.rollback_on_error():
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
        with self._lanes.rollback_on_error():
            self._lanes.step(lanes, actions)
        self._warn(self._lanes.offended[lanes])
        result = self._show(lanes)
        played = np.zeros((self.batch_size[0], 1), np.bool_)
        played[lanes] = True
        rewards = self._lanes.rewards
        if not self.self_play:
            rewards = self._lanes.seat_rewards()[:, np.newaxis]
        result["reward"] = self._tensor(np.where(played, rewards, 0.0).astype(np.float32))
        return result

    def _chosen(self, tensordict: Any, key: str) -> Indices:
        """The lanes that a key chooses, all without it."""
        chosen = None if tensordict is None else tensordict.get(key, None)
        if chosen is None:
            return self._lanes.all_lanes
        return np.flatnonzero(chosen.cpu().numpy().reshape(self.batch_size[0]))

    def _show(self, lanes: Indices) -> Any:
        """Fresh tensors of all lanes' observations, masks and flags; only `lanes` are observed."""
        of, seats = self._lanes, self._lanes.seats
        observation, mask = of.observe(lanes)
        if lanes.size < self.batch_size[0]:
            # Tensors handed out share their memory with these arrays, so each call needs its own.
            self._observation, self._mask = self._observation.copy(), self._mask.copy()
            self._observation[lanes], self._mask[lanes] = observation, mask
        else:
            self._observation, self._mask = observation, mask
        over = of.over()[:, np.newaxis]
        mask = self._tensor(self._mask.view(np.bool_))
        self.action_spec.update_mask(mask)
        return TensorDict(
            {
                "observation": self._tensor(self._observation),
                "action_mask": mask,
                "player": self._tensor(seats[:, np.newaxis].copy()),
                "by_limit": self._tensor(of.states["status"][:, np.newaxis] == BY_LIMIT),
                "illegal_action": self._tensor(of.offended[:, np.newaxis].copy()),
                "done": self._tensor(over),
                "terminated": self._tensor(over.copy()),
                "truncated": self._tensor(np.zeros_like(over)),
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


def own_turns(data: Any) -> Any:
    """The turns of self-play, each paired with the same player's next one, as GAE needs them.

    In the data of self-play the next view is mostly another player's, and each step has all
    players' rewards.

    Args:
        data: What a collector or a rollout of `TabletopEnv(…, opponents="self")` gives, `(…, T)`,
            the last axis being time.

    Returns:
        A TensorDict `(M,)` of turns, ordered by lane, player and time, with the keys of `data`. Its
        `next` has the same player's view and mask at the next turn, `reward` `float32 (M, 1)`, that
        player's until then, and `done`, `terminated`, `truncated`. What comes after a player's last
        turn in `data` is not known unless the game ends: such a turn is left out, and the one
        before it `truncated`, its next view being that of the turn left out.

    Raises:
        ValueError: For data with one reward a step, that of a learner against opponents.
    """
    data = data.reshape(-1, data.shape[-1])
    players, rewards = data["player"][..., 0], data["next", "reward"]
    done, terminated = data["next", "done"][..., 0], data["next", "terminated"][..., 0]
    if rewards.shape[-1] == 1:
        raise ValueError(
            "own_turns is for self-play: data of opponents='self' has a reward for each player"
        )
    lanes, plies, count = rewards.shape
    rows = torch.arange(lanes, device=players.device)
    # For every step, of its player: the rewards up to the next turn, whether the game ends
    # before, and when that turn is.
    reward = torch.zeros_like(rewards[..., 0])
    ended, turn = torch.zeros_like(done), torch.full_like(players, -1)
    # The same, of every player after the step being looked at, from the last one backwards.
    gained = torch.zeros_like(rewards[:, 0])
    over, upcoming = gained.bool(), gained.long()
    for ply in range(plies - 1, -1, -1):
        end = done[:, ply, None]
        gained = torch.where(end, 0.0, gained) + rewards[:, ply]
        over = torch.where(end, terminated[:, ply, None], over)
        upcoming = torch.where(end, 0, upcoming)
        mover = players[:, ply]
        reward[:, ply], ended[:, ply] = gained[rows, mover], over[rows, mover]
        turn[:, ply] = upcoming[rows, mover] - 1
        gained[rows, mover], over[rows, mover], upcoming[rows, mover] = 0.0, False, ply + 1
    lane, ply = (ended | (turn >= 0)).nonzero(as_tuple=True)
    order = (lane * count + players[lane, ply]).argsort(stable=True)
    lane, ply = lane[order], ply[order]
    ended, turn = ended[lane, ply], turn[lane, ply]
    # The next row is the next turn, but at a game's end and where that turn is left out.
    follows = torch.zeros_like(ended)
    follows[:-1] = (lane[1:] == lane[:-1]) & (ply[1:] == turn[:-1])
    turns = data[lane, ply]
    both = set(data.keys()) & set(turns["next"].keys())
    after = data.select(*both)[lane, torch.where(ended, ply, turn)]
    finished = ended | ~follows
    after["reward"] = reward[lane, ply].unsqueeze(-1)
    for key, flag in (("terminated", ended), ("truncated", finished & ~ended), ("done", finished)):
        after[key] = flag.unsqueeze(-1)
    return turns.set("next", after)
