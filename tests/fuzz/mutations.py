"""Mutations of nested data: structure and values, by one generator of random numbers."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np

Path = tuple[Any, ...]
# Integers beyond every field, and at the edges of the types that states have.
EXTREMES = (-1, 0, 1, 127, 128, 255, 256, 2**15, 2**31, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30)


class Hostile:
    """An object that no comparison, no text and no truth can be had of."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __bool__(self) -> bool:
        raise RuntimeError("asked for its truth")

    def __repr__(self) -> str:
        raise RuntimeError("shown")

    __hash__ = None  # type: ignore[assignment]


def nested(depth: int) -> list[Any]:
    """A list in a list in a list …."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


# What no snapshot holds, each made anew: restoring must not depend on anybody leaving it alone.
JUNK: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: 0.5,
    lambda: -0.0,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: 10**5000,
    lambda: "",
    lambda: "a" * 100_000,
    lambda: "\ud800\x00",
    lambda: b"h",
    lambda: [],
    lambda: {},
    lambda: [None],
    lambda: [["a"]],
    lambda: [[[[]]]],
    lambda: [100],
    lambda: {"a": 1, 2: 3, None: ()},
    lambda: {1, 2},
    lambda: range(3),
    lambda: 1j,
    lambda: object(),
    lambda: int,
    lambda: Hostile(),
    lambda: [Hostile()],
    lambda: nested(20_000),
    lambda: np.arange(3),
    lambda: np.zeros((2, 2)),
    lambda: np.array(1),
    lambda: np.float32("nan"),
    lambda: np.int8(1),
    lambda: np.uint64(2**64 - 1),
    lambda: np.bool_(True),
    lambda: np.str_("h"),
    lambda: np.datetime64("2020-01-01"),
)


def retyped(value: Any, rng: random.Random) -> Any:
    """A value of about the same meaning in another type."""
    if isinstance(value, bool):
        return rng.choice([int(value), np.bool_(value), str(value)])
    if isinstance(value, int):
        kinds: list[Callable[[], Any]] = [
            lambda: float(value),
            lambda: str(value),
            lambda: bool(value),
            lambda: np.float64(value),
            lambda: [value],
        ]
        if -(2**63) <= value < 2**63:
            kinds += [lambda: np.int64(value), lambda: np.array(value), lambda: np.array([value])]
        return rng.choice(kinds)()
    if isinstance(value, list):
        return rng.choice([tuple, dict.fromkeys, np.array, repr])(
            value if all(isinstance(one, int | str) for one in value) else [len(value)]
        )
    if isinstance(value, dict):
        return rng.choice([list(value.items()), list(value.values()), list(value)])
    if isinstance(value, str):
        return rng.choice([value.encode(), value.upper(), list(value), np.str_(value), value + " "])
    return rng.choice([0, "None", [], False])


def random_path(value: Any, rng: random.Random) -> Path:
    """The path to a part of nested data; the parts of large and of small parts are equally likely."""
    path: Path = ()
    while isinstance(value, dict | list) and value and (not path or rng.random() < 0.8):
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        path, value = (*path, key), value[key]
    return path


def at(value: Any, path: Path) -> Any:
    """The part of nested data at a path; KeyError, IndexError or TypeError if there is none."""
    for key in path:
        value = value[key]
    return value


def set_at(value: Any, path: Path, part: Any) -> None:
    """Replace the part at a path that is not empty."""
    at(value, path[:-1])[path[-1]] = part


def mutate(value: dict[str, Any], others: list[dict[str, Any]], rng: random.Random) -> Any:
    """A copy with one to four mutations, most often one; `others` are borrowed from."""
    mutant: Any = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if not isinstance(mutant, dict) or not mutant:
            break
        for _ in range(20):  # most kinds fit some places alone
            try:
                kind = rng.choices(tuple(KINDS), tuple(KINDS.values()))[0]
                kind(mutant, random_path(mutant, rng), others, rng)
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
                continue
            except RecursionError:  # what has been nested before is not copied
                continue
            break
    return mutant


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("this mutation does not fit here")


def change_number(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    number = at(mutant, path)
    _require(isinstance(number, int) and not isinstance(number, bool))
    set_at(mutant, path, number + rng.choice((-2, -1, 1, 2, 7, -7)))


def change_extremely(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    _require(isinstance(at(mutant, path), int))
    set_at(mutant, path, rng.choice(EXTREMES))


def flip(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    flag = at(mutant, path)
    _require(isinstance(flag, bool) or flag is None)
    set_at(mutant, path, rng.choice((0, 1, 5, 100)) if flag is None else not flag)


def borrow(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    """What another snapshot has in this place."""
    set_at(mutant, path, copy.deepcopy(at(rng.choice(others), path)))


def borrow_from_elsewhere(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    source = rng.choice(others)
    set_at(mutant, path, copy.deepcopy(at(source, random_path(source, rng))))


def swap_places(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    """Swap two parts, wherever they are, neither within the other."""
    other = random_path(mutant, rng)
    shorter = min(len(path), len(other))
    _require(path[:shorter] != other[:shorter])
    one, two = at(mutant, path), at(mutant, other)
    set_at(mutant, path, two)
    set_at(mutant, other, one)


def swap_values(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    """Swap the values of one key between two entries of a list: two stacks change squares."""
    _require(len(path) >= 2)
    entries, key = at(mutant, path[:-2]), path[-1]
    _require(isinstance(entries, list) and len(entries) > 1)
    one, two = rng.sample(entries, 2)
    one[key], two[key] = two[key], one[key]


def move_entry(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    """Move an entry of a list to another list: a stone to another hand."""
    entries = at(mutant, path[:-1])
    other = at(mutant, random_path(mutant, rng)[:-1])
    _require(isinstance(entries, list) and isinstance(other, list) and entries is not other)
    other.append(entries.pop(path[-1]))


def shuffle(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    rng.shuffle(at(mutant, path))


def duplicate(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    entries = at(mutant, path[:-1])
    _require(isinstance(entries, list))
    entries.append(copy.deepcopy(entries[path[-1]]))


def drop(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    del at(mutant, path[:-1])[path[-1]]


def rename(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    inner, key = at(mutant, path[:-1]), path[-1]
    _require(isinstance(inner, dict))
    new = rng.choice((key.upper(), key[:-1], key + "s", 0, None, (key,), key.encode(), "\ud800"))
    inner[new] = inner.pop(key)


def add_key(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    inner = at(mutant, path)
    _require(isinstance(inner, dict))
    inner[rng.choice(("extra", "rng", "outcome", 3, None, 2.5, (1, 2), b"x"))] = rng.choice(JUNK)()


def retype(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    set_at(mutant, path, retyped(at(mutant, path), rng))


def replace_by_junk(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    set_at(mutant, path, rng.choice(JUNK)())


def insert_junk(mutant: Any, path: Path, others: Any, rng: random.Random) -> None:
    entries = at(mutant, path)
    _require(isinstance(entries, list))
    entries.insert(rng.randrange(len(entries) + 1), rng.choice(JUNK)())


# How often each is drawn: more often those that may leave a position that can be played.
KINDS: dict[Callable[..., None], int] = {
    change_number: 6,
    swap_values: 6,
    borrow: 5,
    move_entry: 2,
    flip: 2,
    swap_places: 2,
    shuffle: 1,
    borrow_from_elsewhere: 1,
    change_extremely: 1,
    duplicate: 1,
    drop: 1,
    rename: 1,
    add_key: 1,
    retype: 1,
    replace_by_junk: 1,
    insert_junk: 1,
}
