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

A game without a drawing of its own (a module of its name in this package) is drawn as its text, in
the reader's monospace font: on pages and in notebooks, but not in pixels, since the rasteriser has
no fonts.
"""

from __future__ import annotations

import functools
import html
import importlib
import importlib.util
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
    if not has_drawing(game.name):
        return draw_text(game.name, game.text({**snapshot}, viewer, False), theme, size)
    actions = [checks.integer("legal", each, 0, game.kernel.num_actions - 1) for each in legal]
    canvas = _draw(game, snapshot, viewer, theme, actions, previous, fields)
    return canvas.to_svg(size, symbols)


def draw_symbols(
    snapshots: Iterable[Mapping[str, Any]], *, viewer: int | None = None, theme: str = "light"
) -> str:
    """All pieces that the drawings of these positions use, each once: the content of a `<defs>`."""
    pieces: dict[str, str] = {}
    for snapshot in filter(lambda each: has_drawing(each["game"]), snapshots):
        game = registry.get_game(snapshot["game"])
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
    module = _module(game.name)
    canvas = Canvas(game.name, theme, *module.SIZE)
    over = snapshot["outcome"] is not None
    legal = {} if over else {action: game.decode(action, snapshot) for action in actions}
    squares: Squares = module.draw(
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


def cut_of(game: str) -> int | None:
    """Where a game's drawing can be cut from top to bottom into two for a narrow page, in units."""
    cut: int | None = getattr(_module(game), "CUT", None) if has_drawing(game) else None
    return cut


@functools.cache
def has_drawing(game: str) -> bool:
    """Whether a game has a drawing of its own."""
    return (
        game in registry.game_names() and importlib.util.find_spec(f"{__name__}.{game}") is not None
    )


def _module(game: str) -> Any:
    return importlib.import_module(f"{__name__}.{game}")
