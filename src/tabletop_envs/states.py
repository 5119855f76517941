"""Raw states from elsewhere: whether compiled code, which checks nothing, may run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_envs.game import Game
from tabletop_envs.kernels import BY_LIMIT, RUNNING

__all__ = ["require_states"]


def require_states(
    game: Game, states: Any, options: Mapping[str, Any] | None = None, name: str = "states"
) -> None:
    """Raise unless compiled code can run on states: what it indexes by must be in range.

    Args:
        game: The game.
        states: Records of `game.kernel.state`, at least one, in an array of any shape.
        options: The options that they must have; None: any that are allowed, with one number
            of players.
        name: What messages call them.

    Raises:
        TypeError: For what is no array of such records.
        ValueError: For an empty array, and for a field out of its range, naming it.
    """
    if not isinstance(states, np.ndarray) or states.dtype != game.kernel.state:
        raise TypeError(f"{name} must be an array of states of {game.name}")
    if not states.size:
        raise ValueError(f"{name} must be at least one game")
    ranges = {option.name: (option.minimum, option.maximum) for option in game.options}
    ranges.setdefault("num_players", (2, 2))
    if options is None:
        # One is in range if the first is, and then all must be like it.
        first, (fewest, most) = int(states["num_players"].flat[0]), ranges["num_players"]
        players = min(max(first, fewest), most)
    else:
        players = game.num_players(options)
        ranges.update((option, (int(value), int(value))) for option, value in options.items())
    ranges["num_players"] = (players, players)
    ranges["status"] = (RUNNING, BY_LIMIT)
    ranges["to_move"] = (0, players - 1)
    ranges["ply"] = (0, ranges["max_plies"][1])
    fields = [(field, states[field], low, high) for field, (low, high) in ranges.items()]
    for field, values, low, high in [*fields, *game.indexes(states)]:
        if values.min() < low or values.max() > high:
            wrong = values[(values < low) | (values > high)][0]
            allowed = str(low) if low == high else f"from {low} to {high}"
            raise ValueError(f"{name} of {game.name}: {field}={wrong} must be {allowed}")
