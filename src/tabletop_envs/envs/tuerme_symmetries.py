"""The symmetries of tuerme: a mirror from left to right, and the neutral colours among themselves.

- *The board.* Stacks move along rows and columns to neighbours and over them (T6, T7), so squares
  can go nowhere but where the 8×14 board's own symmetries take them. A lot takes one symbol only
  (T7), and its city's lots show four (T2): from left to right the plan comes to lie on itself with
  the symbols 1 and 3 exchanged; from top to bottom, and by half a turn, it does with no exchange of
  symbols. The stones are the same in number for every symbol and shuffled (T3), so that the image
  of a start is as likely as the start.
- *Colours.* Neutral colours (T4) are treated alike by T5, T8 and T11, so with two players the
  colours 2 and 3 may be exchanged; with three or four there are no two neutral ones.
- *Players* may not: player 0 begins.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_envs.kernels import tuerme as kernel
from tabletop_envs.kernels.tuerme.plan import CITIES, CITY_AT, COLUMNS, FIELDS, ROWS, SQUARES
from tabletop_envs.symmetries import Indexes, Symmetry

STREET = "."


class BoardAndColours(Symmetry):
    """A symmetry of the board, with an exchange of colours."""

    def __init__(self, name: str, squares: Indexes, colours: tuple[int, ...]) -> None:
        goes = squares.ravel()
        fields = [(field, FIELDS[image]) for field, image in zip(FIELDS, goes, strict=True)]
        symbols = dict(sorted((int(a), int(b)) for a, b in fields if a != STREET))
        self.symbols = tuple(symbols.values())
        self.colours = colours
        lots = [int(np.flatnonzero(city == CITY_AT)[0]) for city in range(CITIES)]
        self.cities = CITY_AT[goes[lots]].astype(np.int64)
        columns, rows = np.arange(COLUMNS), np.arange(ROWS)
        planes = np.concatenate(
            (squares[0, columns] % COLUMNS, COLUMNS + squares[rows, 0] // COLUMNS)
        )
        moves = planes[:, np.newaxis] * SQUARES + goes
        super().__init__(
            name,
            kernel.KERNEL,
            squares=squares,
            parts={
                "colours": colours,
                "symbols": self.symbols,
                "vacant_lots": self.symbols,
                "ending_city": self.cities,
            },
            actions=np.append(moves, kernel.PASS),
        )

    def position(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """See `Symmetry`."""
        stacks = [
            {
                "square": int(self.squares[stack["square"]]),
                "colour": self.colours[stack["colour"]],
                "symbol": self.symbols[stack["symbol"]],
                "height": stack["height"],
            }
            for stack in snapshot["stacks"]
        ]
        city = snapshot["ending_city"]
        return {
            "stacks": sorted(stacks, key=lambda stack: int(stack["square"])),
            "ending_city": None if city is None else int(self.cities[city]),
        }


@functools.cache
def symmetries(num_players: int) -> tuple[Symmetry, ...]:
    """All of them with so many players, the identity first."""
    board = np.arange(SQUARES).reshape(ROWS, COLUMNS)
    boards = {"identity": board, "flip_left_right": board[:, ::-1]}
    colours: dict[str, tuple[int, ...]] = {"": (0, 1, 2, 3)}
    if num_players == 2:
        colours["swap_neutral_colours"] = (0, 1, 3, 2)
    return tuple(
        BoardAndColours(_name(board, swap), boards[board], colours[swap])
        for swap, board in itertools.product(colours, boards)
    )


def _name(board: str, swap: str) -> str:
    """Of both together; the identity is left out beside another one."""
    return swap if swap and board == "identity" else f"{board}, {swap}" if swap else board
