"""A sheet to draw on: shapes, shared pieces, text without fonts, marks of actions.

svg.py builds the elements. It writes texts as they are: nothing but numbers and words of this
package may reach it, and the title, the only free text, is escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tabletop_envs.extras import require
from tabletop_envs.render.svg import glyphs
from tabletop_envs.render.svg.themes import Theme, get_theme

if TYPE_CHECKING:
    import svg

# The side of a square: the same in all games, so that drawings stand well beside each other.
FIELD = 48
# The pieces drawn so far in this process, as SVG, by their ids: what an id means never changes.
_PIECES: dict[str, str] = {}


def num(value: float) -> float | int:
    """A coordinate as short as it can be written."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


class Canvas:
    """A drawing that grows shape by shape, in the order in which they lie upon each other.

    Args:
        game: The game's name, the first part of all ids.
        theme: The theme's name, the second part: drawings of both themes can stand in one page.
        width, height: The size in units; a square is `FIELD` units wide.
        title: What the drawing shows, for readers who cannot see it.
    """

    def __init__(self, game: str, theme: str, width: float, height: float, title: str = "") -> None:
        self.theme: Theme = get_theme(theme)
        self.width, self.height, self.title = width, height, title
        self._svg = require("svg", "render")
        self._prefix = f"{game}-{theme}-"
        # The shared pieces used so far, as SVG, by their ids.
        self.pieces: dict[str, str] = {}
        self._elements: list[svg.Element] = []
        # Beyond the border: whole pixels do not have quite the shape of the drawing.
        self.rect(-8, -8, width + 16, height + 16, self.theme.page)

    # Shapes; `style` has svg.py's names (`rx`, `stroke`, `stroke_width`, `class_`, `data`, …)

    def _add(self, kind: str, **attributes: Any) -> None:
        for name, value in attributes.items():
            if isinstance(value, float):
                attributes[name] = num(value)
        self._elements.append(getattr(self._svg, kind)(**attributes))

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str = "none", **style: Any
    ) -> None:
        """A rectangle."""
        self._add("Rect", x=x, y=y, width=width, height=height, fill=fill, **style)

    def circle(self, x: float, y: float, radius: float, fill: str = "none", **style: Any) -> None:
        """A circle."""
        self._add("Circle", cx=x, cy=y, r=radius, fill=fill, **style)

    def path(self, d: str, fill: str = "none", **style: Any) -> None:
        """A path, given as SVG writes it."""
        self._add("Path", d=d, fill=fill, **style)

    def move(self, x: float, y: float) -> list[svg.Translate]:
        """The `transform` that moves a shape."""
        return [self._svg.Translate(num(x), num(y))]

    def shadow(self, d: str) -> None:
        """The shadow of what has this outline, for buildings and pieces on a board."""
        self.path(d, self.theme.shadow, fill_opacity=0.22, transform=self.move(1.6, 2))

    def text(
        self,
        text: str | int,
        x: float,
        y: float,
        size: float,
        fill: str,
        *,
        anchor: float = 0.5,
        weight: float = 0.15,
    ) -> float:
        """A line of digits and capitals; returns its width.

        Args:
            text: What to write; ValueError for a sign without a glyph.
            x: Where its left end (`anchor` 0), its middle (0.5) or its right end (1) is.
            y: Where its vertical middle is.
            size: The height of capitals.
            fill: The colour.
            anchor: Which part of the text `x` means.
            weight: The strokes' width as a part of the height.
        """
        line = str(text)
        length = glyphs.width(line, size)
        self.path(
            glyphs.strokes(line, size),
            stroke=fill,
            stroke_width=size * weight,
            stroke_linecap="round",
            stroke_linejoin="round",
            transform=self.move(x - anchor * length, y - size / 2),
        )
        return length

    def line(self, words: str, x: float, y: float, size: float) -> None:
        """A line of escaped text from `x` on the baseline `y`, in the reader's monospace font."""
        style = {"font_size": size, "font_family": "monospace", "fill": self.theme.ink}
        self._add("Text", text=words, x=x, y=y, **style)

    # Pieces that are drawn once and used often

    def use(
        self,
        name: str,
        draw: Callable[[Canvas], None],
        x: float,
        y: float,
        *,
        turn: float = 0,
        scale: float = 1,
        **style: Any,
    ) -> None:
        """A piece at (`x`, `y`), which `draw` draws about the origin where it is used first."""
        identity = self._prefix + name
        if identity not in _PIECES:
            outer, self._elements = self._elements, []
            draw(self)
            _PIECES[identity] = str(self._svg.G(id=identity, elements=self._elements))
            self._elements = outer
        self.pieces[identity] = _PIECES[identity]
        transform: list[svg.Transform] = [*self.move(x, y)]
        if turn:
            transform.append(self._svg.Rotate(turn))
        if scale != 1:
            transform.append(self._svg.Scale(num(scale)))
        self._add("Use", href=f"#{identity}", transform=transform, **style)

    # Marks

    def last(self, x: float, y: float) -> None:
        """The ground of a square that the last action has changed."""
        self.rect(
            x + 1.5,
            y + 1.5,
            FIELD - 3,
            FIELD - 3,
            self.theme.last,
            stroke=self.theme.last_line,
            stroke_width=2,
            stroke_dasharray=[7, 4],
            class_=["last"],
        )

    def last_frame(self, x: float, y: float, width: float, height: float) -> None:
        """A frame around what the last action has changed, where things hide the ground."""
        frame: dict[str, Any] = {"x": x, "y": y, "width": width, "height": height}
        frame |= {"rx": 5, "stroke_width": 3.4}
        self.rect(**frame, stroke=self.theme.page)
        line = self.theme.last_line
        self.rect(**frame, stroke=line, stroke_dasharray=[7, 4], class_=["last"])

    def target(
        self, x: float, y: float, actions: Iterable[int], *, scale: float = 1, taken: bool = False
    ) -> None:
        """A square that actions lead to: a dot, or where something stands a ring."""
        style: dict[str, Any]
        if taken:
            self.circle(x, y, 20 * scale, stroke=self.theme.page, stroke_width=6.4 * scale)
            style = {"stroke": self.theme.legal, "stroke_width": 3.4 * scale}
            self.circle(x, y, 20 * scale, **style, **_legal(actions))
        else:
            style = {"stroke": self.theme.page, "stroke_width": 1.5 * scale}
            self.circle(x, y, 6 * scale, self.theme.legal, **style, **_legal(actions))

    def origin(
        self,
        x: float,
        y: float,
        actions: Iterable[int],
        width: float = FIELD,
        height: float = FIELD,
    ) -> None:
        """Something that actions begin with, its top left corner given: marked in its corners."""
        reach = min(width, height) / 4
        left, top, right, bottom = x + 2.5, y + 2.5, x + width - 2.5, y + height - 2.5
        self.path(
            "".join(
                f"M{num(across)} {num(down + dy)}V{num(down)}H{num(across + dx)}"
                for across, dx in ((left, reach), (right, -reach))
                for down, dy in ((top, reach), (bottom, -reach))
            ),
            stroke=self.theme.legal,
            stroke_width=2.5,
            stroke_linecap="round",
            **_legal(actions),
        )

    def button(self, word: str, right: float, y: float, action: int) -> None:
        """A legal action that is neither a square nor a thing, 46 units wide, ending at `right`."""
        style: dict[str, Any] = {"rx": 9, "stroke": self.theme.legal, "stroke_width": 1.8}
        self.rect(right - 46, y - 9, 46, 18, **style, pointer_events="all", **_legal([action]))
        self.text(word, right - 23, y, 8, self.theme.legal)

    def to_move(self, x: float, y: float, size: float = 6) -> None:
        """The arrow beside the player to move."""
        back = num(x - size)
        self.path(
            f"M{back} {num(y - size)}L{num(x + size * 0.8)} {num(y)}L{back} {num(y + size)}z",
            self.theme.ink,
            class_=["to-move"],
        )

    def winner(self, x: float, y: float) -> None:
        """The crown beside a winner."""
        self.use("crown", _crown, x, y, class_=["winner"])

    # The result

    def to_svg(self, size: float | None, symbols: bool) -> str:
        """The drawing as SVG; without `symbols` it uses those of its page.

        Its longer side has `size` pixels (None: as many as units); both sides are even numbers, as
        videos want them.
        """
        scale = 1 if size is None else size / max(self.width, self.height)
        head = [self._svg.Title(text=html.escape(self.title))]
        if symbols and self.pieces:
            head.append(self._svg.Defs(text="".join(self.pieces.values())))
        drawing = self._svg.SVG(
            viewBox=self._svg.ViewBoxSpec(0, 0, num(self.width), num(self.height)),
            width=2 * max(1, round(self.width * scale / 2)),
            height=2 * max(1, round(self.height * scale / 2)),
            elements=[*head, *self._elements],
            extra={"role": "img", "xmlns:xlink": "http://www.w3.org/1999/xlink"},
        )
        return str(drawing)


def _legal(actions: Iterable[int]) -> dict[str, Any]:
    return {
        "class_": ["legal"],
        "data": {"action": " ".join(str(int(action)) for action in actions)},
    }


def _crown(canvas: Canvas) -> None:
    canvas.path(
        "M-9 6L-10 -5L-4.5 0L0 -8L4.5 0L10 -5L9 6z",
        canvas.theme.gold,
        stroke=canvas.theme.ink,
        stroke_width=1.2,
        stroke_linejoin="round",
    )
