"""Checks of what a snapshot or a record says: each raises ValueError with words that name the fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def require(condition: bool, fault: str) -> None:
    """ValueError saying `fault` unless the condition holds."""
    if not condition:
        raise ValueError(fault)


def require_equal(given: Any, expected: Any, name: str) -> None:
    """The value that a snapshot gives for `name` must be the position's."""
    require(given == expected, f"{name} is {given!r}, but in this position it is {expected!r}")


def require_int(value: Any, name: str, minimum: int, maximum: int) -> int:
    """A whole number (not a truth value) from `minimum` to `maximum`."""
    require(
        isinstance(value, int | np.integer) and not isinstance(value, bool),
        f"{name} is {value!r}, not a whole number",
    )
    require(minimum <= value <= maximum, f"{name} is {value!r}, not from {minimum} to {maximum}")
    return int(value)


def require_bool(value: Any, name: str) -> bool:
    """A truth value."""
    require(isinstance(value, bool | np.bool_), f"{name} is {value!r}, not True or False")
    return bool(value)


def require_choice(value: Any, name: str, choices: Sequence[str]) -> int:
    """The place of a word among `choices`."""
    require(
        isinstance(value, str) and value in choices,
        f"{name} is {value!r}, not one of {', '.join(choices)}",
    )
    return choices.index(value)


def require_list(value: Any, name: str, length: int | None = None) -> list[Any]:
    """A list or tuple, of a given length."""
    require(isinstance(value, list | tuple), f"{name} is {value!r}, not a list")
    if length is not None:
        require(len(value) == length, f"{name} has {len(value)} entries, not {length}")
    return list(value)


def require_mapping(value: Any, name: str, keys: Sequence[str] = ()) -> Mapping[str, Any]:
    """A dict; with `keys`, one with exactly these."""
    require(isinstance(value, Mapping), f"{name} is {value!r}, not a dict")
    if keys:
        require(
            set(value) == set(keys), f"{name} has the keys {sorted(value)}, not {', '.join(keys)}"
        )
    result: Mapping[str, Any] = value
    return result
