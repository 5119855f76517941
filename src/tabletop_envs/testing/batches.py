"""A batch beside single games of a kernel or an environment, lane for lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import Game, State, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, rng
from tabletop_envs.testing.compiled import Rules, actions_of
from tabletop_envs.testing.contract import MakeEnv, Played, is_over

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
    played = [Played(game.name, options, seed + lane) for lane in range(LANES)]
    batch, rolled = (BatchEnv(game, LANES, seed=seed, **dict(options)) for _ in range(2))
    singles = [_KernelGame(game, options, one) for one in played]
    promise = "engine: {} of a batch is that of the single game"
    steps, games, plies = _lockstep(batch, singles, promise)
    counts = rolled.rollout(steps)
    played[0].require(
        (counts.games, counts.plies) == (games, plies)
        and np.array_equal(rolled.observation, batch.observation)
        and np.array_equal(rolled.action_mask, batch.action_mask),
        "engine: BatchEnv.rollout plays what step and sample_actions play",
        f"{counts.games} games of {counts.plies} actions, not {games} of {plies}, "
        "or other positions",
    )


def check_batch(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a batch, every lane beside an AEC environment of its seed."""
    batch = BatchEnv(game, LANES, seed=seed, **dict(options))
    singles = [
        _EnvGame(make(**options), Played(game.name, options, seed + lane)) for lane in range(LANES)
    ]
    _lockstep(batch, singles, "batch: {} of a lane is that of the AEC environment of its seed")


def _lockstep(batch: BatchEnv, singles: Sequence[_Single], promise: str) -> tuple[int, int, int]:
    """Play until each lane has ended about two games: the steps, the games, their actions."""
    steps = games = plies = 0
    while steps < MIN_STEPS or (games < 2 * LANES and steps < MAX_STEPS):
        for lane, single in enumerate(singles):
            _compare(batch, lane, single.played, single.shown(), promise)
        actions = batch.sample_actions().copy()
        batch.step(actions)
        steps += 1
        for lane, single in enumerate(singles):
            single.step(int(actions[lane]))
            single.played.actions.append(int(actions[lane]))
            result = single.result()
            _compare(batch, lane, single.played, result, promise)
            if result["terminated"]:
                games += 1
                plies += len(single.played.actions)
                single.played.actions.clear()
                single.start()
    return steps, games, plies


def _compare(
    batch: BatchEnv, lane: int, played: Played, expected: dict[str, Any], promise: str
) -> None:
    for name, value in expected.items():
        given = getattr(batch, name)[lane]
        single = np.asarray(value, given.dtype if given.dtype.kind == "f" else None)
        played.require(np.array_equal(given, single), promise.format(name), f"{given}, not {value}")


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
            "scores": [env.infos[agent]["score"] for agent in agents],
            "episode_length": env.infos[agents[0]]["ply"],
            "rewards": [env.rewards[agent] for agent in agents],
        }
