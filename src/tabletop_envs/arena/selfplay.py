"""Self-play in a batch with its speed: what the command line measures, but not how it is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tabletop_envs
from tabletop_envs.threads import next_size

if TYPE_CHECKING:
    from tabletop_envs.agents import GameAgent
    from tabletop_envs.envs.batch import BatchEnv, RolloutCounts

# Compiled code answers to Ctrl-C and to the display only between slices of about this length.
SLICE_SECONDS = 0.03


@dataclass(frozen=True)
class Plan:
    """A game to be played.

    Attributes:
        id: The game's id in `make_batch`.
        options: All options of the game with their values.
        changed: Those that differ from their defaults.
    """

    id: str
    options: dict[str, Any]
    changed: dict[str, Any]


@dataclass(frozen=True)
class Length:
    """How long each game is played: a number of actions in every lane, or else of seconds."""

    seconds: float
    steps: int | None = None


@dataclass(frozen=True)
class Result:
    """What self-play of one game has come to.

    Attributes:
        plan: The game and its options.
        counts: What was played.
        steps: Actions in every lane.
        seconds: The time that compiled code took for it, compiling and drawing left out.
    """

    plan: Plan
    counts: RolloutCounts
    steps: int
    seconds: float

    @property
    def actions_per_second(self) -> float:
        """The speed, all threads together."""
        return self.counts.actions / self.seconds

    @property
    def wins(self) -> list[int]:
        """How many games each player won alone."""
        return [row[0] for row in self.counts.shared]


class AgentRollout:
    """`BatchEnv.rollout` with an agent in all seats instead of random play.

    Args:
        batch: The games.
        agent: Who plays.
        seed: Of the agent's chance.
    """

    def __init__(self, batch: BatchEnv, agent: GameAgent, seed: int) -> None:
        self._batch, self._agent = batch, agent
        # Not the seeds of the games themselves.
        self._rngs = np.random.default_rng([seed, 1]).integers(
            2**64, size=batch.num_envs, dtype=np.uint64
        )
        self._lanes = np.arange(batch.num_envs)
        self._actions = np.zeros(batch.num_envs, np.int64)

    def __call__(self, steps: int) -> RolloutCounts:
        """Play actions in every lane; RuntimeError, naming the agent, for an illegal one."""
        # Not before it is needed: `--help` imports no Numba.
        from tabletop_envs.envs.batch import RolloutCounts

        batch, players = self._batch, self._batch.num_players
        games = by_limit = plies = longest = 0
        shared = np.zeros((players, players), np.int64)
        totals = np.zeros(players, np.int64)
        for _ in range(steps):
            self._agent.choose_lanes(
                batch.game,
                batch.states,
                batch.legal_bits,
                self._rngs,
                self._lanes,
                self._actions,
            )
            try:
                batch.step(self._actions)
            except ValueError as error:
                raise RuntimeError(f"agent {self._agent.name!r}: {error}") from None
            ended = np.flatnonzero(batch.terminated)
            if not ended.size:
                continue
            lengths, scores = batch.episode_length[ended], batch.scores[ended]
            first = scores == scores.max(axis=1, keepdims=True)
            for player, others in zip(range(players), first.T, strict=True):
                sharers = first.sum(axis=1)[others] - 1
                shared[player] += np.bincount(sharers, minlength=players)
            games, plies = games + ended.size, plies + int(lengths.sum())
            by_limit += int(batch.by_limit[ended].sum())
            longest = max(longest, int(lengths.max()))
            totals += scores.sum(axis=0)
        counted = tuple(tuple(row) for row in shared.tolist())
        actions = steps * batch.num_envs
        return RolloutCounts(
            actions, games, by_limit, plies, longest, counted, tuple(totals.tolist())
        )


def play(
    plan: Plan,
    batch: BatchEnv,
    length: Length,
    rollout: Callable[[int], RolloutCounts] | None = None,
) -> Iterator[Result]:
    """Play games in a batch, slice by slice; yields the sum of all slices after each.

    With `Length.steps` the last sum is the same as that of one `rollout(steps)`, by default the
    batch's own random play.
    """
    rollout = batch.rollout if rollout is None else rollout
    counts: RolloutCounts | None = None
    played, seconds, size = 0, 0.0, 1
    while seconds < length.seconds if length.steps is None else played < length.steps:
        if length.steps is not None:
            size = min(size, length.steps - played)
        begin = time.perf_counter()
        new = rollout(size)
        taken = time.perf_counter() - begin
        counts = new if counts is None else counts + new
        played, seconds = played + size, seconds + taken
        yield Result(plan, counts, played, seconds)
        # The first slices are short and say little of the speed: grow step by step.
        size = next_size(size, size, taken, SLICE_SECONDS)


def play_all(
    plans: Sequence[Plan],
    length: Length,
    *,
    num_envs: int,
    num_threads: int,
    seed: int,
    compiling: Callable[[Plan], None],
    agent: GameAgent | None = None,
) -> Iterator[Result]:
    """Play the games one after the other; yields what each has come to after every slice.

    `agent` plays all seats; None: random play in compiled code. `compiling` is told of each game
    before it is compiled, or loaded from Numba's cache. ValueError for an invalid number of lanes
    or threads, MemoryError for too many lanes; RuntimeError for an agent's illegal action.
    """
    for plan in plans:
        compiling(plan)
        # A batch of its own, so that the one that counts starts with the first action of its seed.
        first = tabletop_envs.make_batch(plan.id, 1, seed=0, **plan.options)
        first.rollout(1) if agent is None else AgentRollout(first, agent, 0)(1)
        with tabletop_envs.make_batch(
            plan.id, num_envs, seed, num_threads, **plan.options
        ) as batch:
            rollout = None if agent is None else AgentRollout(batch, agent, seed)
            yield from play(plan, batch, length, rollout)
