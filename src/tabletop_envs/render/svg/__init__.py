"""Drawings of positions as SVG, for papers, notebooks, videos and pages alike.

A drawing is made from a snapshot alone and never touches a game. What other pages can rely on:

- Every field of a board has an invisible element on top of the drawing, of the class `field`, with its number in `data-field`
  (`fields=False` leaves them out); a stone of a visible hand in meeples is a group of the class `stone` with
  `data-stone="a-b"`. Both take clicks.
- Marks of legal actions have the class `legal` and in `data-action` the numbers of their actions, separated by
  spaces; marks of the last action have the class `last`, the arrow at the player in turn `to-move`, a
  winner's crown `winner`.
- Pieces are drawn once, in `<defs>`, and placed by `<use>`. Their ids are `<game>-<theme>-<piece>` and mean the same in every
  drawing, so that a page can hold those of many drawings once (`symbols=False`, `draw_symbols`).
- There is neither a style sheet nor a font: drawings do not change by what is around them, and several fit into one page.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from tabletop_envs import checks, registry
from tabletop_envs.render.svg.canvas import Canvas
from tabletop_envs.render.svg.themes import THEMES, get_theme

__all__ = ["THEMES", "draw", "draw_symbols", "get_theme", "natural_size"]


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
        viewer: The player for whose eyes it is: what this player may not see is not in the drawing. None: a
            spectator, who sees everything.
        theme: `"light"` or `"dark"`.
        size: The longer side in pixels; None: 48 for each field.
        legal: Legal actions to mark. What would tell the viewer of hidden things is left out.
        previous: The position before the last action: what that action has changed is marked.
        fields: Whether the elements of the class `field` are there.
        symbols: Whether the pieces used are in the document.

    Raises:
        TypeError, ValueError: For a game without a drawing, and for an impossible theme, viewer, size or legal action.
        ImportError: Without svg.py (extra `render`).
    """
    game = _module(snapshot["game"])
    players = int(snapshot["options"].get("num_players", 2))
    if viewer is not None:
        viewer = checks.integer("viewer", viewer, 0, players - 1)
    if size is not None:
        size = checks.number("size", size, above=0)
    fields, symbols = checks.boolean("fields", fields), checks.boolean("symbols", symbols)
    canvas: Canvas = game.draw(
        snapshot,
        viewer=viewer,
        theme=theme,
        legal=[int(action) for action in legal],
        previous=previous,
        fields=fields,
    )
    return canvas.to_svg(size, symbols)


def draw_symbols(
    snapshots: Iterable[Mapping[str, Any]], *, viewer: int | None = None, theme: str = "light"
) -> str:
    """All pieces that the drawings of these positions use, each once: the content of a `<defs>`."""
    pieces: dict[str, str] = {}
    for snapshot in snapshots:
        canvas = _module(snapshot["game"]).draw(
            snapshot, viewer=viewer, theme=theme, legal=(), previous=None, fields=False
        )
        pieces |= canvas.pieces()
    return "".join(pieces.values())


def natural_size(game: str) -> tuple[int, int]:
    """Width and height of a game's drawings in units, of which a field has 48: the same for all its positions."""
    width, height = _module(game).SIZE
    return width, height


def _module(game: str) -> Any:
    if game not in registry.game_names():
        raise ValueError(
            f"there is no drawing of {game!r}: there are drawings of {', '.join(registry.game_names())}"
        )
    return importlib.import_module(f"tabletop_envs.render.svg.{game}")
