"""The symmetries of kirche: the 8 of the square board.

Whatever K1–K12 name, a side, a corner, the centre, a neighbour, a line, has the same name in a
mirror, but for ridges: where rows and columns change places, horizontal ridges become vertical ones
and the other way round. Players may not be exchanged: light places its whole church first (K3). Nor
may spire and nave: the first action places the spire, and the nave's ridge is not known yet.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.kernels import kirche as kernel
from tabletop_envs.symmetries import Indexes, Symmetry, square_board

SIZE, SQUARES, CENTRE = kernel.SIZE, kernel.SQUARES, 24
PLANES = kernel.NUM_ACTIONS // SQUARES
# The reaches of a move: as many right or down as left or up.
REACHES = 2 * (SIZE - 1)
HORIZONTAL = kernel.AT.ridges


class BoardSymmetry(Symmetry):
    """A symmetry of the board."""

    def __init__(self, name: str, squares: Indexes) -> None:
        # Where the steps right and down lead in the mirror.
        right, down = squares.ravel()[[CENTRE + 1, CENTRE + SIZE]] - squares.ravel()[CENTRE]
        self.turned = abs(int(right)) == SIZE
        ridges = (1, 0) if self.turned else (0, 1)
        # Of pieces with a horizontal ridge, and of all others.
        self._along_row = _actions(squares.ravel(), ridges, bool(right < 0))
        along_column = _actions(squares.ravel(), ridges, bool(down < 0))
        super().__init__(
            name,
            kernel.KERNEL,
            squares=squares,
            parts={"ridges": ridges},
            actions=along_column,
        )
        self._alike = np.array_equal(along_column, self._along_row)

    def action_images(self, observation: npt.NDArray[Any]) -> Indexes:
        """See `Symmetry`: an action says how far along the ridge a piece goes, not which way."""
        if self._alike:
            return self.actions
        horizontal = observation[..., HORIZONTAL : HORIZONTAL + SQUARES] != 0
        by_plane = np.broadcast_to(
            horizontal[..., np.newaxis, :], (*horizontal.shape[:-1], PLANES, SQUARES)
        )
        along_row = by_plane.reshape(*horizontal.shape[:-1], kernel.NUM_ACTIONS)
        return np.where(along_row, self._along_row, self.actions)

    def position(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """See `Symmetry`."""
        ridges = {"h": "v", "v": "h"} if self.turned else {"h": "h", "v": "v"}
        kinds = ("spire", "nave", "house")

        def image(piece: Mapping[str, Any]) -> dict[str, Any]:
            square, ridge = int(self.squares[piece["square"]]), ridges[piece["ridge"]]
            return {"kind": piece["kind"], "square": square, "ridge": ridge}

        def place(piece: Mapping[str, Any]) -> tuple[int, int]:
            return kinds.index(piece["kind"]), piece["square"]

        pieces = [sorted(map(image, own), key=place) for own in snapshot["pieces"]]
        return {"pastor": int(self.squares[snapshot["pastor"]]), "pieces": pieces}


def _actions(squares: Indexes, ridges: tuple[int, int], reverses: bool) -> Indexes:
    """Where actions go; `reverses`: what led right or down leads left or up."""
    reaches = np.roll(np.arange(REACHES), REACHES // 2 if reverses else 0)
    first = int(kernel.FIRST_MOVE_PLANE)
    moves = first + 2 * reaches[:, np.newaxis] + np.arange(2)
    planes = np.concatenate((ridges, moves.ravel(), [int(kernel.SWAP_PLANE)]))
    actions: Indexes = (planes[:, np.newaxis] * SQUARES + squares).ravel()
    return actions


@functools.cache
def symmetries() -> tuple[Symmetry, ...]:
    """All of them, the identity first."""
    return tuple(BoardSymmetry(name, board) for name, board in square_board(SIZE).items())
