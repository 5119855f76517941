"""Inputs of every dtype and shape to many games: taken where legal, else refused unchanged."""

from __future__ import annotations

import array
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tabletop_envs import registry
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tests.fuzz.values import JUNK, SEED, as_integer, random_value, report, show
from tests.games import each_game

pytestmark = pytest.mark.fuzz

LANES = 4
ROUNDS = 400  # for each game and function
DTYPES = [
    *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8", ">u8", "f2", "f4"),
    *("f8", "g", "c8", "c16", "S4", "U4", "O", "m8[s]", "M8[s]", "V8", [("a", "i8")]),
]


class Buffer:
    """An object that NumPy reads by its own protocol."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.numbers, dtype)


# The same numbers in other clothes; integers remain integers.
CLOTHES: list[Callable[[list[int]], Any]] = [
    list,
    tuple,
    lambda numbers: [np.int64(n) for n in numbers],
    lambda numbers: [np.array(n) for n in numbers],
    lambda numbers: np.array(numbers),
    lambda numbers: np.array(numbers)[::-1].copy()[::-1],
    lambda numbers: np.repeat(numbers, 3)[::3],
    lambda numbers: np.frombuffer(struct.pack(f"<{len(numbers)}q", *numbers), "<i8"),
    lambda numbers: array.array("q", numbers),
    lambda numbers: memoryview(array.array("q", numbers)),
    lambda numbers: np.ma.masked_array(numbers, False),
    Buffer,
]
# Not any more.
DISGUISES: list[Callable[[list[int]], Any]] = [
    set,
    iter,
    lambda numbers: (n for n in numbers),
    lambda numbers: dict.fromkeys(numbers),
    lambda numbers: ",".join(map(str, numbers)),
    lambda numbers: bytes(n % 256 for n in numbers),
    lambda numbers: [float(n) for n in numbers],
    lambda numbers: [*numbers[:-1], None],
    lambda numbers: [*numbers[:-1], True],
    lambda numbers: [*numbers[:-1], np.True_],
    lambda numbers: [*numbers[:-1], np.array(False)],
    lambda numbers: [*numbers[:-1], float(numbers[-1])],
    lambda numbers: [*numbers[:-1], str(numbers[-1])],
    lambda numbers: [*numbers[:-1], [numbers[-1]]],
    lambda numbers: [*numbers[:-1], 10**5000],
    lambda numbers: [[n] for n in numbers],
    lambda numbers: [numbers],
    lambda numbers: numbers[0],
    lambda numbers: numbers[:-1],
    lambda numbers: [*numbers, numbers[-1]],
    lambda numbers: np.array(numbers)[:, np.newaxis],
    lambda numbers: np.array(numbers)[np.newaxis],
    lambda numbers: np.matrix(numbers),
    lambda numbers: np.zeros(0, np.int64),
    lambda numbers: np.zeros((0, len(numbers)), np.int64),
    lambda numbers: np.zeros((1,) * 20, np.int64),
]


def _inputs(right: list[int], rng: random.Random) -> Any:
    """Something made of right numbers, or of others."""
    numbers = list(right)
    if rng.random() < 0.3:
        place = rng.randrange(len(numbers))
        numbers[place] = rng.choice((-1, -(2**63), 2**63 - 1, 9999, rng.randrange(3000)))
    draw = rng.random()
    if draw < 0.45:
        return rng.choice(CLOTHES)(numbers)
    if draw < 0.6:
        return rng.choice(DISGUISES)(numbers)
    if draw < 0.95:
        dtype = rng.choice(DTYPES)
        try:
            with np.errstate(all="ignore"):
                return np.array(numbers).astype(dtype)
        except (TypeError, ValueError):
            return np.zeros(len(numbers), dtype)
    return rng.choice(JUNK)()


def _integers(value: Any) -> list[int] | None:
    """The integers `(LANES,)` that an input stands for; None for everything else."""
    try:
        found = np.asarray(value)
    except Exception:
        return None
    if found.dtype.kind not in "iu" or found.shape != (LANES,):
        return None
    if isinstance(value, list | tuple) and any(as_integer(one) is None for one in value):
        return None
    return [int(number) for number in found]


def _arrays(batch: BatchEnv) -> list[bytes]:
    shown = (batch.observation, batch.action_mask, batch.current_player, batch.rewards)
    counted = (batch.terminated, batch.by_limit, batch.scores, batch.episode_length)
    own = (batch.states, batch.legal_bits, batch._lanes.rngs)
    return [one.tobytes() for one in (*shown, *counted, *own)]


def _walk(
    capsys: Any,
    title: str,
    make: Callable[[random.Random], Any],
    right: Callable[[Any], bool],
    take: Callable[[Any], object],
    state: Callable[[], list[bytes]],
    named: str,
) -> Iterator[Any]:
    """Give inputs to `take`; yields those taken, rightly. The others leave the state as it is."""
    rng, counts = random.Random(f"{SEED} {title}"), Counter[str]()
    for _ in range(ROUNDS):
        value = make(rng)
        before, fits = state(), right(value)
        try:
            take(value)
        except (TypeError, ValueError) as error:
            assert not fits, f"{show(value)} is right, but: {error}"
            assert named in str(error), f"{show(value)}: {error}"
            assert len(str(error)) < 500, show(value)
            assert state() == before, show(value)
            counts["refused"] += 1
            continue
        except BaseException as error:
            pytest.fail(f"{show(value)}: {type(error).__name__}: {error}")
        assert fits, f"{show(value)} is taken"
        counts["taken"] += 1
        yield value
    assert min(counts["taken"], counts["refused"]) > ROUNDS / 20, counts
    report(capsys, title, counts)


@each_game
def test_actions_are_taken_where_they_are_legal_integers(name, capsys):
    game = registry.get_game(name)
    batch, twin = (BatchEnv(game, LANES, seed=SEED) for _ in range(2))
    masks = lambda: batch.action_mask  # noqa: E731

    def right(value: Any) -> bool:
        numbers = _integers(value)
        return numbers is not None and all(
            0 <= number < game.kernel.num_actions and masks()[lane, number]
            for lane, number in enumerate(numbers)
        )

    def make(rng: random.Random) -> Any:
        return _inputs([rng.choice(np.flatnonzero(row).tolist()) for row in masks()], rng)

    for value in _walk(
        capsys, f"actions of {name}", make, right, batch.step, lambda: _arrays(batch), "action"
    ):
        twin.step(np.array(_integers(value)))
        assert _arrays(batch) == _arrays(twin), show(value)


@each_game
def test_actions_of_learners_are_taken_where_they_are_legal_integers(name, capsys):
    game = registry.get_game(name)
    env = TabletopVectorEnv(game, LANES, on_illegal="raise", autoreset_mode="SameStep")
    env.reset(seed=SEED)

    def right(value: Any) -> bool:
        numbers, masks = _integers(value), env.action_masks()
        return numbers is not None and all(
            0 <= number < game.kernel.num_actions and masks[lane, number]
            for lane, number in enumerate(numbers)
        )

    def make(rng: random.Random) -> Any:
        return _inputs(
            [rng.choice(np.flatnonzero(row).tolist()) for row in env.action_masks()], rng
        )

    def state() -> list[bytes]:
        lanes = env._lanes
        return [one.tobytes() for one in (lanes.states, lanes.legal_bits, lanes.rngs, lanes.seats)]

    title = f"learners' actions of {name}"
    for _ in _walk(capsys, title, make, right, env.step, state, "action"):
        pass


def _seeds(value: Any) -> list[int] | None:
    """The seeds of the lanes that an input stands for; None for what is none."""
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        each = [as_integer(one) for one in value]
        if len(each) != LANES:
            return None
    else:
        first = as_integer(value)
        each = [None if first is None else first + lane for lane in range(LANES)]
        if first is not None and not 0 <= first < 2**64:
            return None
        each = [None if one is None else one % 2**64 for one in each]
    seeds = [one for one in each if one is not None and 0 <= one < 2**64]
    return seeds if len(seeds) == LANES else None


@each_game
@pytest.mark.parametrize("kind", ["batch", "vector"])
def test_seeds_are_taken_where_they_are_integers(name, kind, capsys):
    game = registry.get_game(name)
    batch, twin = (BatchEnv(game, LANES, seed=SEED) for _ in range(2))
    env = TabletopVectorEnv(game, LANES)
    env.reset(seed=SEED)

    def make(rng: random.Random) -> Any:
        while True:
            draw = rng.random()
            value = _inputs([rng.randrange(2**10) for _ in range(LANES)], rng)
            value = random_value(rng) if draw < 0.3 else value
            # None is fresh entropy, and in a list of a vector environment the lane's own stream.
            # What only NumPy reads as a list is no list of seeds.
            nothing = isinstance(value, list | tuple | np.ndarray) and any(
                one is None for one in np.ravel(np.array(value, object))
            )
            if value is not None and not nothing:
                return value

    def right(value: Any) -> bool:
        return _seeds(value) is not None

    if kind == "batch":
        take: Callable[[Any], object] = lambda value: batch.reset(value)  # noqa: E731
    else:
        take = lambda value: env.reset(seed=value)  # noqa: E731

    def state() -> list[bytes]:
        return [*_arrays(batch), env._lanes.states.tobytes(), env._lanes.rngs.tobytes()]

    for value in _walk(capsys, f"seeds of {name}, {kind}", make, right, take, state, "seed"):
        if kind == "batch":
            twin.reset(_seeds(value))
            assert _arrays(batch) == _arrays(twin), show(value)


@each_game
def test_steps_are_taken_where_they_are_an_integer(name, capsys):
    batch = BatchEnv(registry.get_game(name), LANES, seed=SEED)

    def make(rng: random.Random) -> Any:
        while True:
            value = random_value(rng)
            if (as_integer(value) or 0) < 100 or (as_integer(value) or 0) > 2**62:
                return value

    def right(value: Any) -> bool:
        return 1 <= (as_integer(value) or 0) <= 2**62

    title = f"steps of {name}"
    for _ in _walk(capsys, title, make, right, batch.rollout, lambda: _arrays(batch), "steps"):
        pass
