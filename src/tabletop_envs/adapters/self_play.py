"""Games side by side in which every ply is a step: for adapters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.envs.learner import Lanes, OpponentLanes
from tabletop_envs.envs.opponents import OpponentsLike
from tabletop_envs.game import Game

# What `opponents` is for self-play.
SELF = "self"


def make_lanes(
    game: Game | str,
    num_envs: int,
    opponents: OpponentsLike,
    seat: int | None,
    on_illegal: str,
    render_mode: str | None,
    options: dict[str, Any],
) -> OpponentLanes:
    """Games of a learner against opponents, or with `"self"` as opponents, of self-play.

    Raises:
        TypeError, ValueError: For an impossible argument, naming it and what it must be.
    """
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    if not isinstance(opponents, str) or opponents != SELF:
        return OpponentLanes(game, count, opponents, seat, on_illegal, render_mode, options)
    if seat is not None:
        raise ValueError(f"seat={checks.shown(seat)} must be None with opponents='self'")
    return SelfPlayLanes(game, count, on_illegal, render_mode, options)


class SelfPlayLanes(OpponentLanes):
    """Games in lanes in which nobody replies: the learner is whoever is to move."""

    def __init__(
        self,
        game: Game | str,
        num_lanes: int,
        on_illegal: str,
        render_mode: str | None,
        options: dict[str, Any],
    ) -> None:
        super().__init__(game, num_lanes, "random", 0, on_illegal, render_mode, options)
        self._opponents.random[:] = False

    def start(self, lanes: Lanes) -> None:
        """Start new games in lanes."""
        super().start(lanes)
        self._follow(lanes)

    def play(self, lanes: Lanes, actions: npt.NDArray[np.int64]) -> None:
        """Play the actions of the players to move."""
        super().play(lanes, actions)
        self._follow(lanes)

    def _follow(self, lanes: Lanes) -> None:
        self.seats[lanes] = self.states["to_move"][lanes]
