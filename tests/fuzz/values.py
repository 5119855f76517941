"""What options and arguments can be given: right values, and values of every kind that are wrong."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tabletop_envs.checks import shown

SEED = int(os.environ.get("FUZZ_SEED", "0"))

INTEGERS = (-(2**63), -1, 0, 1, 2, 3, 4, 5, 7, 8, 60, 2**21 - 1, 2**21, 2**31, 2**63, 2**64, 10**30)
INTEGER_TYPES: tuple[Callable[[int], Any], ...] = (int, int, int, np.int64, np.uint8, np.array)


class Strange:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("shown")


# Made anew each time.
JUNK: tuple[Callable[[], Any], ...] = (
    *(lambda: None, lambda: 0.5, lambda: 2.0, lambda: float("nan"), lambda: np.float32(3)),
    *(lambda: "", lambda: "3", lambda: "true", lambda: "a" * 10**5, lambda: "\ud800\x00\n"),
    *(lambda: b"3", lambda: [], lambda: [3], lambda: {}, lambda: {"a": 1}, lambda: (), lambda: 1j),
    *(lambda: np.array([3]), lambda: np.array([True, False]), lambda: np.array("3"), lambda: int),
    *(
        lambda: object(),
        Strange,
        lambda: 10**5000,
        lambda: -(10**5000),
        lambda: np.datetime64(3, "s"),
        lambda: np.timedelta64(3, "s"),
    ),
)


def random_value(rng: random.Random) -> Any:
    """A value of any kind."""
    draw = rng.random()
    if draw < 0.5:
        number = rng.choice(INTEGERS)
        make = rng.choice(INTEGER_TYPES)
        try:
            return make(number)
        except OverflowError:
            return number
    if draw < 0.7:
        return rng.choice((True, False, np.True_, np.False_, np.array(True), np.array(False)))
    return rng.choice(JUNK)()


def as_integer(value: Any) -> int | None:
    """The integer that a value stands for, by rules of its own: None for everything else."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value.item() if value.dtype.kind in "iub" else None
    if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        value = int(value)
    return value if type(value) is int else None


def as_bool(value: Any) -> bool | None:
    """The bool that a value stands for; None for everything else."""
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype == np.bool_:
        value = value.item()
    return bool(value) if type(value) in (bool, np.bool_) else None


def show(given: Any) -> str:
    """What was given, for messages."""
    if isinstance(given, dict):
        return (
            "{" + ", ".join(f"{shown(key)}: {shown(value)}" for key, value in given.items()) + "}"
        )
    return shown(given)


def report(capsys: Any, name: str, counts: Counter[str]) -> None:
    """Print what a fuzz test has counted, whatever pytest captures."""
    with capsys.disabled():
        each = ", ".join(f"{what} {count:,}" for what, count in sorted(counts.items()))
        print(f"\nfuzz, {name}: {sum(counts.values()):,} inputs ({each})")
