"""The deal of tuerme, stone by stone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabletop_envs.adapters.open_spiel.chance import Chance, Outcomes
from tabletop_envs.game import State
from tabletop_envs.kernels.tuerme import COLOURS, COPIES, SYMBOLS
from tabletop_envs.kernels.tuerme.plan import HALF, LOT_SYMBOLS, STREET_SQUARES
from tabletop_envs.render.tuerme import NAMES

STREETS = [int(square) for square in STREET_SQUARES]
SYMBOL_NAMES = ("triangle", "circle", "square", "diamond")


class TuermeChance(Chance):
    """The stones of tuerme, street by street: outcome = 4 · colour + symbol."""

    deal_length = len(STREETS)
    max_outcomes = COLOURS * SYMBOLS

    def clear(self, states: State) -> None:
        """See `Chance`."""
        states["colours"] = states["heights"] = 0
        states["symbols"] = [board.words for board in LOT_SYMBOLS]

    def deal_outcomes(self, deal: Sequence[int | None]) -> Outcomes:
        """See `Chance`."""
        laid = Counter(deal)
        left = self.deal_length - len(deal)
        return [
            (kind, (COPIES - laid[kind]) / left)
            for kind in range(self.max_outcomes)
            if laid[kind] < COPIES
        ]

    def put(self, states: State, place: int, outcome: int) -> None:
        """See `Chance`."""
        colour, symbol = divmod(outcome, SYMBOLS)
        half, bit = divmod(STREETS[place], HALF)
        stone = np.uint64(1 << bit)
        state = states[0]
        state["colours"][colour, half] |= stone
        state["heights"][0, half] |= stone
        for digit in range(2):
            if symbol >> digit & 1:
                state["symbols"][digit, half] |= stone

    def deal_name(self, place: int, outcome: int) -> str:
        """See `Chance`."""
        colour, symbol = divmod(outcome, SYMBOLS)
        return f"deal {NAMES[colour]} {SYMBOL_NAMES[symbol]} to {STREETS[place]}"

    def deal_shape(self) -> tuple[int, ...]:
        """A row for each street, with a 1 in the column of its stone."""
        return (self.deal_length, self.max_outcomes)

    def write_deal(
        self, deal: Sequence[int | None], player: int, planes: npt.NDArray[np.float32]
    ) -> None:
        """See `Chance`."""
        for street, kind in enumerate(deal):
            if kind is not None:
                planes[street, kind] = 1
