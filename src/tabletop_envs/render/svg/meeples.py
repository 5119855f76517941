"""meeples as SVG: the table with dominoes, blocks and meeples (`meeples_panel.py`: the panel)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.meeples.table import SIDE
from tabletop_envs.render.meeples import sees
from tabletop_envs.render.svg.canvas import FIELD, Canvas
from tabletop_envs.render.svg.meeples_panel import PANEL_WIDTH, draw_panel
from tabletop_envs.render.svg.meeples_pieces import block, ghost, half, joint, meeple
from tabletop_envs.render.svg.squares import MARGIN, Squares

if TYPE_CHECKING:
    from tabletop_envs.game import Game, Move

TABLE = 10 * FIELD
SIZE = (TABLE + 2 * MARGIN + PANEL_WIDTH, TABLE + 2 * MARGIN)
# Between the table and the panel.
CUT = MARGIN + TABLE + 10
# The part of the table that is shown has one of these sides, so that a video's frames rarely jump.
SIDES = range(10, SIDE + 1, 2)
# How far from the others a first half can lie.
AROUND = 2


def draw(
    canvas: Canvas,
    game: Game,
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None,
    legal: Mapping[int, Move],
    previous: Mapping[str, Any] | None,
) -> Squares:
    """The stones laid and their surroundings, and the panel.

    What a `viewer` may not see lies face down.
    """
    canvas.title = _title(snapshot)
    window = choose_window(snapshot)
    style = {"stroke": canvas.theme.muted, "stroke_width": 1.5}
    canvas.rect(MARGIN, MARGIN, TABLE, TABLE, canvas.theme.board, **style)
    window.draw_lines(canvas)
    window.draw_coordinates(canvas, 8)
    _draw_stones(canvas, window, snapshot)
    _draw_pieces(canvas, game, window, snapshot)
    if previous is not None:
        _mark_last(canvas, window, snapshot, previous)
    # While a stone of a hidden hand is chosen and laid, the legal actions tell which it is.
    laying = snapshot["phase"] in ("setup", "stones")
    hidden = laying and not sees(game, snapshot, viewer, snapshot["to_move"])
    _mark_decision(canvas, window, snapshot, hidden)
    shown = {} if hidden else legal
    _mark_legal(canvas, window, snapshot, shown)
    draw_panel(canvas, game, snapshot, MARGIN + TABLE, viewer=viewer, legal=shown)
    return window


def choose_window(snapshot: Mapping[str, Any]) -> Squares:
    """The smallest part of the table with all stones and all fields where a stone can be laid.

    It lies as near to the table's middle as it can, so that it moves only where a new stone makes
    it.
    """
    laid = [int(field) for stone in snapshot["stones"] for field in stone["fields"]]
    laid = laid or [12 * SIDE + 11, 12 * SIDE + 12]
    around = AROUND if snapshot["outcome"] is None else 1
    bounds = [
        (max(0, min(lines) - around), min(SIDE, max(lines) + 1 + around))
        for lines in ([field // SIDE for field in laid], [field % SIDE for field in laid])
    ]
    longer = max(stop - start for start, stop in bounds)
    side = next(side for side in SIDES if side >= longer)
    rows, columns = (
        range(first, first + side)
        for start, stop in bounds
        for first in (min(max((SIDE - side) // 2, stop - side), start),)
    )
    return Squares(rows, columns, SIDE, TABLE / side)


def _title(snapshot: Mapping[str, Any]) -> str:
    start = f"meeples, round {int(snapshot['round'])}, ply {int(snapshot['ply'])}"
    outcome = snapshot["outcome"]
    if outcome is None:
        return f"{start}, player {int(snapshot['to_move'])} to act"
    return f"{start}, over, scores {' : '.join(str(int(score)) for score in outcome['scores'])}"


# The table


def _laid(snapshot: Mapping[str, Any]) -> dict[tuple[int, int], tuple[int, int]]:
    """The values of the stones' halves by their fields, the upper or left one first."""
    stones = {}
    for entry in snapshot["stones"]:
        (first, second), (a, b) = entry["fields"], entry["stone"]
        if first > second:
            first, second, a, b = second, first, b, a
        stones[int(first), int(second)] = (int(a), int(b))
    return stones


def _draw_stones(canvas: Canvas, window: Squares, snapshot: Mapping[str, Any]) -> None:
    # Blocks and meeples hide the pips and show the value instead.
    taken = {int(entry["field"]) for kind in ("blocks", "meeples") for entry in snapshot[kind]}
    for fields, values in sorted(_laid(snapshot).items()):
        style = {"turn": -90 if fields[1] == fields[0] + 1 else 0, "scale": window.scale}
        canvas.use("joint", joint, *window.middle(fields[0]), **style)
        for field, value in zip(fields, values, strict=True):
            if field not in taken:
                pips = partial(half, value=value)
                canvas.use(f"half-{value}", pips, *window.middle(field), **style)


def _draw_pieces(canvas: Canvas, game: Game, window: Squares, snapshot: Mapping[str, Any]) -> None:
    """Blocks and meeples, with the value of the field in a corner."""
    values = {
        field: value
        for fields, pair in _laid(snapshot).items()
        for field, value in zip(fields, pair, strict=True)
    }
    theme, scale = canvas.theme, window.scale
    style = {"stroke": theme.stone_line, "stroke_width": 1}
    for kind, piece in (("blocks", block), ("meeples", meeple)):
        for entry in snapshot[kind]:
            field, player = int(entry["field"]), int(entry["player"])
            x, y = window.middle(field)
            draw = partial(piece, player=player, letter=game.player_names[player])
            canvas.use(f"{kind[:-1]}-{player}", draw, x + 3 * scale, y + 2 * scale, scale=scale)
            x, y = x - 14 * scale, y - 14 * scale
            canvas.circle(x, y, 7.5 * scale, theme.stone, **style)
            canvas.text(values[field], x, y, 8.5 * scale, theme.pip)


# Marks


def _mark_last(
    canvas: Canvas, window: Squares, snapshot: Mapping[str, Any], previous: Mapping[str, Any]
) -> None:
    """What the last action has changed on the table, but for blocks that a new round clears."""
    shown, before = set(window.numbers()), _laid(previous)
    new = [fields for fields, values in _laid(snapshot).items() if before.get(fields) != values]
    changed: set[int] = set()
    kinds = ("meeples",) if snapshot["round"] != previous["round"] else ("meeples", "blocks")
    for kind in kinds:
        now, then = (
            {(int(entry["field"]), int(entry["player"])) for entry in position[kind]}
            for position in (snapshot, previous)
        )
        changed.update(field for field, _ in now ^ then)
    changed -= {field for fields in new for field in fields}
    for fields in [*new, *((field,) for field in sorted(changed & shown))]:
        canvas.last_frame(*window.frame(fields))


def _mark_decision(
    canvas: Canvas, window: Squares, snapshot: Mapping[str, Any], hidden: bool
) -> None:
    """The field that set off the running special action, and what has been chosen so far."""
    theme = canvas.theme
    if snapshot["source"] is not None:
        x, y = window.middle(int(snapshot["source"]))
        radius = window.unit * 0.56
        canvas.circle(x, y, radius, stroke=theme.gold, stroke_width=4, class_=["source"])
        canvas.circle(x, y, radius + 3, stroke=theme.ink, stroke_width=1)
    if hidden:
        return
    field, stone = snapshot["chosen"]["field"], snapshot["chosen"]["stone"]
    if stone is not None and field is not None:
        value = int(stone[0])
        first = partial(ghost, value=value)
        canvas.use(f"ghost-{value}", first, *window.middle(int(field)), scale=window.scale)
    elif stone is not None and snapshot["phase"] == "land":
        # From where the stone will be picked up.
        laid = next(each for each in snapshot["stones"] if sorted(each["stone"]) == sorted(stone))
        _mark_chosen(canvas, window, laid["fields"])
    if field is not None:
        _mark_chosen(canvas, window, [int(field)])


def _mark_chosen(canvas: Canvas, window: Squares, fields: Sequence[int]) -> None:
    """A frame around a field or a stone that has been chosen."""
    style: dict[str, Any] = {"rx": 6 * window.scale, "stroke": canvas.theme.legal}
    canvas.rect(*window.frame(fields, 1), **style, stroke_width=3.5, class_=["chosen"])


def _mark_legal(
    canvas: Canvas, window: Squares, snapshot: Mapping[str, Any], legal: Mapping[int, Move]
) -> None:
    taken = {int(field) for stone in snapshot["stones"] for field in stone["fields"]}
    shown = set(window.numbers())
    for action, move in legal.items():
        fields = move.origin if move.target is None else (move.target,)
        if len(fields) == 2:
            # A stone on the table that can be picked up.
            x, y, width, height = window.frame(fields)
            canvas.origin(x, y, (action,), width, height)
        elif shown.issuperset(fields) and fields:
            middle, there = window.middle(fields[0]), fields[0] in taken
            canvas.target(*middle, (action,), scale=window.scale, taken=there)
