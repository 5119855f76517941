"""Games side by side for adapters: a learner against opponents, or self-play, by one name."""

from __future__ import annotations

from typing import Any

from tabletop_envs import checks
from tabletop_envs.envs.learner import OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.game import Game
from tabletop_envs.lanes import Lanes

# What `opponents` is for self-play.
SELF = "self"


def make_lanes(
    game: Game | str,
    num_envs: int,
    opponents: OpponentsLike,
    seat: int | None,
    on_illegal: str,
    options: dict[str, Any],
    *,
    remember: bool = False,
) -> Lanes:
    """Games of a learner against opponents, or with `"self"` as opponents, of self-play.

    Raises:
        TypeError, ValueError: For an impossible argument, naming it and what it must be.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    if not isinstance(opponents, str) or opponents != SELF:
        return OpponentLanes(
            game,
            count,
            options,
            opponents=opponents,
            seat=seat,
            on_illegal=on_illegal,
            remember=remember,
        )
    if seat is not None:
        raise ValueError(f"seat={checks.shown(seat)} must be None with opponents='self'")
    return Lanes(game, count, options, on_illegal=on_illegal, remember=remember)
