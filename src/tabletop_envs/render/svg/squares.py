"""The squares of a board that a drawing shows: where they are, and the marks upon them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from tabletop_envs.game import Move
from tabletop_envs.render.svg.canvas import FIELD, Canvas

# From the left and upper edges of a drawing to its board.
MARGIN = 26


class Squares(NamedTuple):
    """The squares of some rows and columns of a board, numbered row by row.

    Attributes:
        rows: The rows shown.
        columns: The columns shown.
        width: How many squares a whole row of the board has.
        unit: The side of a square in the drawing.
    """

    rows: range
    columns: range
    width: int
    unit: float = FIELD

    @property
    def scale(self) -> float:
        """The side of a square in parts of the usual one."""
        return self.unit / FIELD

    def corner(self, square: int) -> tuple[float, float]:
        """The top left corner of a square."""
        row, column = divmod(square, self.width)
        x, y = column - self.columns.start, row - self.rows.start
        return MARGIN + x * self.unit, MARGIN + y * self.unit

    def middle(self, square: int) -> tuple[float, float]:
        """The middle of a square."""
        x, y = self.corner(square)
        return x + self.unit / 2, y + self.unit / 2

    def frame(
        self, squares: Collection[int], wider: float = 0
    ) -> tuple[float, float, float, float]:
        """The corner and the size of the frame around some squares, `wider` on every side."""
        x, y = self.corner(min(squares))
        right, bottom = self.corner(max(squares))
        size = self.unit + 2 * wider
        return x - wider, y - wider, right - x + size, bottom - y + size

    def numbers(self) -> list[int]:
        """The numbers of the squares shown."""
        return [row * self.width + column for row in self.rows for column in self.columns]

    def draw_lines(self, canvas: Canvas) -> None:
        """The lines between the squares."""
        width, height = len(self.columns) * self.unit, len(self.rows) * self.unit
        lines = ""
        for at in range(1, max(len(self.rows), len(self.columns))):
            place = f"{MARGIN + at * self.unit:.5g}"
            lines += f"M{place} {MARGIN}v{height:g}" if at < len(self.columns) else ""
            lines += f"M{MARGIN} {place}h{width:g}" if at < len(self.rows) else ""
        canvas.path(lines, stroke=canvas.theme.line, stroke_width=1)

    def draw_coordinates(self, canvas: Canvas, size: float = 9) -> None:
        """The numbers of the rows and columns, as high as `size`, beside the board."""
        for at in range(max(len(self.rows), len(self.columns))):
            middle = MARGIN + (at + 0.5) * self.unit
            if at < len(self.columns):
                canvas.text(self.columns[at], middle, MARGIN / 2, size, canvas.theme.muted)
            if at < len(self.rows):
                canvas.text(self.rows[at], MARGIN / 2, middle, size, canvas.theme.muted)

    def mark_last(self, canvas: Canvas, now: Mapping[int, Any], before: Mapping[int, Any]) -> None:
        """Mark the squares on which something else stands than before the last action."""
        for square in self.numbers():
            if now.get(square) != before.get(square):
                canvas.last(*self.corner(square))

    def mark_legal(self, canvas: Canvas, legal: Mapping[int, Move], taken: Collection[int]) -> None:
        """Mark where legal actions begin and where they lead to; things stand on `taken`."""
        origins, targets = defaultdict(list), defaultdict(list)
        for action, move in legal.items():
            for square in move.origin:
                origins[square].append(action)
            if move.target is not None:
                targets[move.target].append(action)
        for square, actions in origins.items():
            canvas.origin(*self.corner(square), actions)
        for square, actions in targets.items():
            canvas.target(*self.middle(square), actions, taken=square in taken)

    def draw_fields(self, canvas: Canvas) -> None:
        """The invisible elements of all squares, which take clicks."""
        for square in self.numbers():
            x, y = self.corner(square)
            style: dict[str, Any] = {"class_": ["field"], "data": {"field": square}}
            canvas.rect(x, y, self.unit, self.unit, **style, pointer_events="all")
