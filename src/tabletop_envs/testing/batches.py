"""A batch beside single games of a kernel or an environment, lane for lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import Game, State, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, rng
from tabletop_envs.testing.compiled import Rules, actions_of
from tabletop_envs.testing.contract import MakeEnv, Played, is_over, seed_of

LANES = 3
MIN_STEPS, MAX_STEPS = 20, 2000


class _Single(Protocol):
    """A game beside a lane. What it shows is named and shaped as in the batch."""

    played: Played

    def start(self) -> None:
        """Start the next game."""

    def shown(self) -> dict[str, Any]:
        """What is shown of the running game."""

    def step(self, action: int) -> None:
        """Play an action."""

    def result(self) -> dict[str, Any]:
        """What the last step has led to, `terminated` among it."""


def check_engine(game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a batch beside a kernel's functions called one by one; then the same by `rollout`."""
    played = [Played(game.name, options, seed_of(seed, lane)) for lane in range(LANES)]
    batch, rolled = (BatchEnv(game, LANES, seed=seed, **dict(options)) for _ in range(2))
    singles = [_KernelGame(game, options, one) for one in played]
    promise = "engine: {} of a batch is that of the single game"
    tally = _lockstep(batch, singles, promise)
    counts = rolled.rollout(tally.steps // 2) + rolled.rollout(tally.steps - tally.steps // 2)
    rolls = "engine: BatchEnv.rollout plays what step and sample_actions play"
    expected = (tally.games, tally.by_limit, tally.plies, tally.longest, tuple(tally.scores))
    given = (counts.games, counts.by_limit, counts.plies, counts.longest, counts.scores)
    played[0].require(
        given == expected and counts.actions == tally.steps * LANES,
        rolls,
        f"games, games by the limit, actions, longest game, scores {given}, not {expected}",
    )
    played[0].require(
        np.allclose(counts.mean_rewards, tally.rewards / max(tally.games, 1), atol=1e-5)
        and counts.mean_length == tally.plies / tally.games,
        rolls,
        f"the means {counts.mean_rewards} and {counts.mean_length}",
    )
    played[0].require(
        not (rolled.rewards.any() or rolled.terminated.any() or rolled.by_limit.any())
        and np.array_equal(rolled.episode_length, rolled.states["ply"]),
        "engine: after BatchEnv.rollout the arrays show the running games",
        f"episode_length {rolled.episode_length}, terminated {rolled.terminated}",
    )
    for step in range(2):
        for name in ("observation", "action_mask", "current_player"):
            one, other = getattr(batch, name), getattr(rolled, name)
            played[0].require(np.array_equal(one, other), rolls, f"{name}, {step} steps later")
        for one in (batch, rolled):
            one.step(one.sample_actions())


def check_batch(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a batch, every lane beside an AEC environment of its seed."""
    batch = BatchEnv(game, LANES, seed=seed, **dict(options))
    singles = [
        _EnvGame(make(**options), Played(game.name, options, seed_of(seed, lane)))
        for lane in range(LANES)
    ]
    held = _check_arrays(batch, singles[0].played)
    _lockstep(batch, singles, "batch: {} of a lane is that of the AEC environment of its seed")
    batch.rollout(3)
    batch.reset()
    replaced = [name for name, array in held.items() if getattr(batch, name) is not array]
    singles[0].played.require(
        not replaced, "batch: its arrays are the same objects for ever", f"others are {replaced}"
    )


def _check_arrays(batch: BatchEnv, played: Played) -> dict[str, Any]:
    """Check the shapes and dtypes of what a batch shows; the arrays by name."""
    lanes, players, kernel = batch.num_envs, batch.num_players, batch.game.kernel
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "observation": ((lanes, kernel.observation_size), np.int8),
        "action_mask": ((lanes, kernel.num_actions), np.bool_),
        "rewards": ((lanes, players), np.float32),
        "scores": ((lanes, players), None),
        "terminated": ((lanes,), np.bool_),
        "by_limit": ((lanes,), np.bool_),
        "current_player": ((lanes,), None),
        "episode_length": ((lanes,), None),
    }
    for name, (shape, dtype) in shapes.items():
        array = getattr(batch, name)
        right = array.dtype == dtype if dtype else array.dtype.kind == "i"
        played.require(
            array.shape == shape and right,
            f"batch: {name} has the shape {shape} and the dtype {np.dtype(dtype or int).name}",
            f"{array.shape} and {array.dtype}",
        )
    return {name: getattr(batch, name) for name in shapes}


@dataclass
class _Tally:
    """What has been played, as `RolloutCounts` has it."""

    rewards: npt.NDArray[np.float64]
    scores: npt.NDArray[np.int64]
    steps: int = 0
    games: int = 0
    by_limit: int = 0
    plies: int = 0
    longest: int = 0


def _lockstep(batch: BatchEnv, singles: Sequence[_Single], promise: str) -> _Tally:
    """Play until each lane has ended about two games."""
    players = batch.num_players
    tally = _Tally(np.zeros(players), np.zeros(players, np.int64))
    while tally.steps < MIN_STEPS or (tally.games < 2 * LANES and tally.steps < MAX_STEPS):
        for lane, single in enumerate(singles):
            _compare(batch, lane, single.played, single.shown(), promise)
        actions = batch.sample_actions().copy()
        batch.step(actions)
        tally.steps += 1
        for lane, single in enumerate(singles):
            single.step(int(actions[lane]))
            single.played.actions.append(int(actions[lane]))
            result = single.result()
            _compare(batch, lane, single.played, result, promise)
            if result["terminated"]:
                tally.games += 1
                tally.by_limit += int(result["by_limit"])
                tally.plies += len(single.played.actions)
                tally.longest = max(tally.longest, len(single.played.actions))
                tally.rewards += result["rewards"]
                tally.scores += result["scores"]
                single.played.actions.clear()
                single.start()
    return tally


def _compare(
    batch: BatchEnv, lane: int, played: Played, expected: dict[str, Any], promise: str
) -> None:
    for name, value in expected.items():
        given = getattr(batch, name)[lane]
        single = np.asarray(value, given.dtype if given.dtype.kind == "f" else None)
        if not np.array_equal(given, single):  # Words for arrays take their time.
            played.fail(promise.format(name), f"{given}, not {value}")


class _KernelGame:
    """A game played by the kernel's functions alone."""

    def __init__(self, game: Game, options: Mapping[str, Any], played: Played) -> None:
        self.kernel = game.kernel
        self.played = played
        self.players = game.num_players(options)
        self.rules = Rules(game.kernel, played, allow_floats=True)
        self.kept = ("rng", *dict.fromkeys(("num_players", "max_plies", *options)))
        self.state: State = game.new_states(1, options)
        self.state["rng"] = rng.from_seed(np.uint64(played.seed))
        self.start()

    def start(self) -> None:
        self.state = self.rules.start(self.state, self.kept)

    def shown(self) -> dict[str, Any]:
        player = int(self.state["to_move"][0])
        mask = np.zeros(self.kernel.num_actions, np.bool_)
        mask[actions_of(self.kernel, self.rules.legal_actions(self.state))] = True
        observation = self.rules.observe(self.state, player)
        return {"current_player": player, "action_mask": mask, "observation": observation}

    def step(self, action: int) -> None:
        self.state = self.rules.step(self.state, action)

    def result(self) -> dict[str, Any]:
        state = self.state[0]
        scores = state["scores"][: self.players].tolist()
        over = bool(state["status"] != RUNNING)
        return {
            "terminated": over,
            "by_limit": state["status"] == BY_LIMIT,
            "scores": scores,
            "episode_length": state["ply"],
            "rewards": rewards_of_scores(scores) if over else [0.0] * self.players,
        }


class _EnvGame:
    """A game of an AEC environment."""

    def __init__(self, env: TabletopEnv, played: Played) -> None:
        self.env = env
        self.played = played
        env.reset(seed=played.seed)

    def start(self) -> None:
        self.env.reset()

    def shown(self) -> dict[str, Any]:
        agent = self.env.agent_selection
        player = self.env.possible_agents.index(agent)
        return {"current_player": player, **self.env.observe(agent)}

    def step(self, action: int) -> None:
        self.env.step(action)

    def result(self) -> dict[str, Any]:
        env, agents = self.env, self.env.possible_agents
        return {
            "terminated": is_over(env),
            "by_limit": is_over(env) and env.snapshot()["outcome"]["by_limit"],
            "scores": [env.infos[agent]["score"] for agent in agents],
            "episode_length": env.infos[agents[0]]["ply"],
            "rewards": [env.rewards[agent] for agent in agents],
        }
