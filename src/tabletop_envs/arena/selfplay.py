"""Random self-play with its speed: what the command line measures, apart from how it is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tabletop_envs
from tabletop_envs.threads import next_size

if TYPE_CHECKING:
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
    """What random play of one game has come to.

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


def play(plan: Plan, batch: BatchEnv, length: Length) -> Iterator[Result]:
    """Play random games in a batch, slice by slice; yields the sum of all slices after each.

    With `Length.steps` the last sum is the same as that of one `batch.rollout(steps)`.
    """
    counts: RolloutCounts | None = None
    played, seconds, size = 0, 0.0, 1
    while seconds < length.seconds if length.steps is None else played < length.steps:
        if length.steps is not None:
            size = min(size, length.steps - played)
        begin = time.perf_counter()
        new = batch.rollout(size)
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
) -> Iterator[Result]:
    """Play the games one after the other; yields what each has come to after every slice.

    `compiling` is told of each game before it is compiled, or loaded from Numba's cache. ValueError
    for an invalid number of lanes or threads, MemoryError for too many lanes.
    """
    for plan in plans:
        compiling(plan)
        # A batch of its own, so that the one that counts starts with the first action of its seed.
        tabletop_envs.make_batch(plan.id, 1, seed=0, **plan.options).rollout(1)
        with tabletop_envs.make_batch(
            plan.id, num_envs, seed, num_threads, **plan.options
        ) as batch:
            yield from play(plan, batch, length)
