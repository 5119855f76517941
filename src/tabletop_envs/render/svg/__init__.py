"""Drawings of positions as SVG, for papers, notebooks, videos and pages alike.

A drawing is made from a snapshot alone. What other pages can rely on:

- Every square of a board has an invisible element on top of the drawing, of the class `field`, with
  its number in `data-field` (`fields=False` leaves them out); a stone of a visible hand in meeples
  is a group of the class `stone` with `data-stone="a-b"`. Both take clicks.
- Marks of legal actions have the class `legal` and in `data-action` the numbers of their actions,
  separated by spaces; marks of the last action have the class `last`, the arrow at the player to
  move `to-move`, a winner's crown `winner`.
- Pieces are drawn once, in `<defs>`, and placed by `<use>`. Their ids are `<game>-<theme>-<piece>`
  and mean the same in every drawing, so that a page can hold those of many drawings once
  (`symbols=False`, `draw_symbols`).
- There is neither a style sheet nor a font: drawings do not change by what is around them, and
  several fit into one page.

A game that is registered without a drawing is drawn as its text, in the reader's monospace font: on
pages and in notebooks, but not in pixels, since the rasteriser has no fonts. A drawing, such as
`tabletop_envs.render.svg.kirche`, has `SIZE`, width and height in units, and a function::

    draw(canvas, game, snapshot, *, viewer, legal, previous) -> Squares

that draws on a `canvas.Canvas` what `draw` below is given (`legal`: each action with its `Move`)
and returns where the squares lie; and perhaps `CUT` (`cut_of`).
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tabletop_envs import checks, registry
from tabletop_envs.render.svg.canvas import Canvas
from tabletop_envs.render.svg.squares import Squares
from tabletop_envs.render.svg.themes import THEMES, get_theme

if TYPE_CHECKING:
    from tabletop_envs.game import Game

__all__ = [
    "THEMES",
    "cut_of",
    "draw",
    "draw_symbols",
    "draw_text",
    "get_theme",
    "has_drawing",
]

# The size of a text's letters, the height of its lines and the margin around them, in units (a
# field has 48).
LETTER, LINE, MARGIN = 20, 26, 24


def draw(
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None = None,
    theme: str = "light",
    size: float | None = None,
    legal: Iterable[int] = (),
    previous: Mapping[str, Any] | None = None,
    fields: bool = True,
    symbols: bool = True,
) -> str:
    """A position as an SVG document.

    Args:
        snapshot: The position (`env.snapshot()`).
        viewer: The player whose drawing it is: what this player may not see is not in it. None: a
            spectator, who sees everything.
        theme: `"light"` or `"dark"`.
        size: The longer side in pixels; None: 48 for each square.
        legal: Legal actions to mark. What would tell the viewer of hidden things is left out.
        previous: The position before the last action: what that action has changed is marked.
        fields: Whether the elements of the class `field` are there.
        symbols: Whether the pieces used are in the document.

    Raises:
        TypeError, ValueError: For an unknown game or theme, and a viewer, size or action out of
            range.
        ImportError: Without svg.py (extra `render`).
    """
    game = registry.get_game(snapshot["game"])
    if viewer is not None:
        players = game.num_players(snapshot["options"])
        viewer = checks.integer("viewer", viewer, 0, players - 1)
    if size is not None:
        size = checks.number("size", size, above=0)
    fields, symbols = checks.boolean("fields", fields), checks.boolean("symbols", symbols)
    if not has_drawing(game):
        return draw_text(game.name, game.text({**snapshot}, viewer, False), theme, size)
    actions = [checks.integer("legal", each, 0, game.kernel.num_actions - 1) for each in legal]
    canvas = _draw(game, snapshot, viewer, theme, actions, previous, fields)
    return canvas.to_svg(size, symbols)


def draw_symbols(
    snapshots: Iterable[Mapping[str, Any]], *, viewer: int | None = None, theme: str = "light"
) -> str:
    """All pieces that the drawings of these positions use, each once: the content of a `<defs>`."""
    pieces: dict[str, str] = {}
    for snapshot in snapshots:
        game = registry.get_game(snapshot["game"])
        if has_drawing(game):
            pieces |= _draw(game, snapshot, viewer, theme).pieces
    return "".join(pieces.values())


def _draw(
    game: Game,
    snapshot: Mapping[str, Any],
    viewer: int | None,
    theme: str,
    actions: Iterable[int] = (),
    previous: Mapping[str, Any] | None = None,
    fields: bool = False,
) -> Canvas:
    drawing = registry.drawing_of(game)
    canvas = Canvas(game.name, theme, *drawing.SIZE)
    over = snapshot["outcome"] is not None
    legal = {} if over else {action: game.decode(action, snapshot) for action in actions}
    squares: Squares = drawing.draw(
        canvas, game, snapshot, viewer=viewer, legal=legal, previous=previous
    )
    if fields:
        squares.draw_fields(canvas)
    return canvas


def draw_text(game: str, text: str, theme: str = "light", size: float | None = None) -> str:
    """A text as an SVG document; `game` is its title, the rest as in `draw`."""
    if size is not None:
        size = checks.number("size", size, above=0)
    lines = text.split("\n")
    width = 2 * MARGIN + 0.62 * LETTER * max(map(len, lines))
    canvas = Canvas(game, theme, width, 2 * MARGIN + LINE * len(lines), game)
    for number, line in enumerate(lines):
        # Runs of plain spaces would be one.
        words = html.escape(line).replace(" ", "\N{NO-BREAK SPACE}")
        canvas.line(words, MARGIN, MARGIN + LINE * (number + 0.75), LETTER)
    return canvas.to_svg(size, symbols=True)


def cut_of(game: Game) -> int | None:
    """Where a game's drawing can be cut from top to bottom into two for a narrow page, in units."""
    cut: int | None = getattr(registry.drawing_of(game), "CUT", None)
    return cut


def has_drawing(game: Game) -> bool:
    """Whether a game is registered with a drawing."""
    known = registry.registration_of(game)
    return known is not None and known.drawing is not None
