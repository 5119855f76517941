"""A board of squares, numbered row by row: where they are, and the marks that look the same on every such board."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from tabletop_envs.render.svg.canvas import FIELD, Canvas


class Squares(NamedTuple):
    """The squares of a board: how many rows and columns, and how far it is from the drawing's left and upper edges."""

    rows: int
    columns: int
    margin: int

    def corner(self, square: int) -> tuple[int, int]:
        """The top left corner of a square."""
        row, column = divmod(square, self.columns)
        return self.margin + column * FIELD, self.margin + row * FIELD

    def middle(self, square: int) -> tuple[int, int]:
        """The middle of a square."""
        x, y = self.corner(square)
        return x + FIELD // 2, y + FIELD // 2

    def mark_last(self, canvas: Canvas, now: Mapping[int, Any], before: Mapping[int, Any]) -> None:
        """Mark the squares on which something else stands than before the last action."""
        for square in range(self.rows * self.columns):
            if now.get(square) != before.get(square):
                canvas.last(*self.corner(square))

    def mark_legal(
        self,
        canvas: Canvas,
        origins: Mapping[int, Sequence[int]],
        targets: Mapping[int, Sequence[int]],
        taken: Container[int],
    ) -> None:
        """Mark the legal actions: by the squares they begin on and those they lead to, some of which are `taken`."""
        for square, actions in origins.items():
            canvas.origin(*self.corner(square), actions)
        for square, actions in targets.items():
            canvas.target(*self.middle(square), actions, taken=square in taken)

    def add_fields(self, canvas: Canvas) -> None:
        """The invisible elements of all squares, which take clicks."""
        for square in range(self.rows * self.columns):
            canvas.field(square, *self.corner(square))
