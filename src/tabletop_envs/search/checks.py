"""Checks of what the searches are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_envs.envs.game import require_count
from tabletop_envs.search.nodes import MAX_EDGES, edges_for

if TYPE_CHECKING:
    from tabletop_envs.envs.game import Game


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


def require_edges(game: Game, max_edges: Any, max_nodes: int) -> int:
    """The room for edges of a tree; None: what so many nodes need.

    TypeError or ValueError where the root might find no room.
    """
    if max_edges is None:
        return edges_for(game.kernel, max_nodes)
    least = game.kernel.num_actions
    if require_count("max_edges", max_edges, MAX_EDGES) < least:
        raise ValueError(
            f"max_edges={max_edges!r} must be an integer from {least} (every action of {game.name} "
            f"may be legal in the position to be searched) to {MAX_EDGES}"
        )
    return int(max_edges)
