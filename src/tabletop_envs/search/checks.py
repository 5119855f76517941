"""Checks of what the searches are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def require_number(name: str, value: Any, minimum: float, maximum: float = math.inf) -> float:
    """A finite number from `minimum` to `maximum`; TypeError or ValueError naming it otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name}={value!r} is not a number")
    if not (math.isfinite(value) and minimum <= value <= maximum):
        allowed = f"at least {minimum}" if maximum == math.inf else f"from {minimum} to {maximum}"
        raise ValueError(f"{name}={value!r} is impossible: allowed is a number {allowed}")
    return float(value)


def require_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of some words; ValueError naming them otherwise."""
    if value not in choices:
        allowed = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={value!r} is impossible: allowed are {allowed}")
    return str(value)
