"""Games side by side in which every ply is a step: for adapters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.envs.learner import Lanes, OpponentLanes
from tabletop_envs.game import Game


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
