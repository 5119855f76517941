"""meeples as SVG: the table with its dominoes, blocks and meeples; the panel beside it is `meeples_panel.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from tabletop_envs.render.svg.canvas import FIELD, Canvas
from tabletop_envs.render.svg.meeples_panel import PANEL_WIDTH, draw_panel, sees
from tabletop_envs.render.svg.meeples_pieces import block, ghost, half, joint, meeple

SIDE = 24
MARGIN = 26
TABLE = 10 * FIELD
SIZE = (TABLE + 2 * MARGIN + PANEL_WIDTH, TABLE + 2 * MARGIN)
# The part of the table that is shown is one of these sides, so that the frames of a video rarely jump.
WINDOWS = range(10, SIDE + 1, 2)
# How far from the others a first half can lie.
AROUND = 2
FIRST_STONE, FIRST_DIRECTION, PASS, REROLL = 576, 604, 608, 609
DIRECTIONS = (-SIDE, 1, SIDE, -1)
STONES = [(a, b) for a in range(7) for b in range(a, 7)]


class Window(NamedTuple):
    """The part of the table that is shown: its first row and column, its side, and how large its fields are."""

    row: int
    column: int
    side: int

    @property
    def scale(self) -> float:
        """The size of a field in parts of the usual one."""
        return TABLE / FIELD / self.side

    def corner(self, field: int) -> tuple[float, float]:
        """The top left corner of a field."""
        unit = FIELD * self.scale
        return (
            MARGIN + (field % SIDE - self.column) * unit,
            MARGIN + (field // SIDE - self.row) * unit,
        )

    def middle(self, field: int) -> tuple[float, float]:
        """The middle of a field."""
        x, y = self.corner(field)
        return x + FIELD * self.scale / 2, y + FIELD * self.scale / 2

    def fields(self) -> list[int]:
        """The fields shown."""
        return [
            row * SIDE + column
            for row in range(self.row, self.row + self.side)
            for column in range(self.column, self.column + self.side)
        ]


def draw(
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None,
    theme: str,
    legal: Sequence[int],
    previous: Mapping[str, Any] | None,
    fields: bool,
) -> Canvas:
    """The stones laid and their surroundings, and the panel; what a `viewer` may not see lies face down."""
    canvas = Canvas("meeples", theme, *SIZE, title=_title(snapshot))
    window = choose_window(snapshot)
    _draw_ground(canvas, window)
    _draw_stones(canvas, window, snapshot)
    _draw_pieces(canvas, window, snapshot)
    if previous is not None:
        _mark_last(canvas, window, snapshot, previous)
    _mark_decision(canvas, window, snapshot, viewer)
    running = snapshot["outcome"] is None
    shown = legal if running and _may_see_actions(snapshot, viewer) else ()
    _mark_legal(canvas, window, snapshot, shown)
    draw_panel(
        canvas,
        snapshot,
        MARGIN + TABLE,
        viewer=viewer,
        stones={STONES[a - FIRST_STONE] for a in shown if FIRST_STONE <= a < FIRST_DIRECTION}
        if snapshot["phase"] in ("setup", "stones")
        else set(),
        commands={PASS, REROLL} & set(shown),
    )
    if fields:
        for field in window.fields():
            canvas.field(field, *window.corner(field), FIELD * window.scale)
    return canvas


def choose_window(snapshot: Mapping[str, Any]) -> Window:
    """The smallest part of the table with all stones, and around them all fields where a stone can be laid.

    It lies as near to the table's middle as it can, so that it moves only where a new stone makes it.
    """
    laid = [int(field) for stone in snapshot["stones"] for field in stone["fields"]]
    laid = laid or [12 * SIDE + 11, 12 * SIDE + 12]
    around = AROUND if snapshot["outcome"] is None else 1
    bounds = [
        (max(0, min(lines) - around), min(SIDE, max(lines) + 1 + around))
        for lines in ([field // SIDE for field in laid], [field % SIDE for field in laid])
    ]
    longer = max(stop - start for start, stop in bounds)
    side = next(side for side in WINDOWS if side >= longer)
    row, column = (min(max((SIDE - side) // 2, stop - side), start) for start, stop in bounds)
    return Window(row, column, side)


def _title(snapshot: Mapping[str, Any]) -> str:
    start = f"meeples, round {int(snapshot['round'])}, ply {int(snapshot['ply'])}"
    outcome = snapshot["outcome"]
    if outcome is None:
        return f"{start}, player {int(snapshot['to_move'])} to act"
    return f"{start}, over, scores {' : '.join(str(int(score)) for score in outcome['scores'])}"


def _may_see_actions(snapshot: Mapping[str, Any], viewer: int | None) -> bool:
    """While a stone is chosen from a hidden hand and laid, the legal actions tell which it is."""
    if snapshot["phase"] not in ("setup", "stones"):
        return True
    return sees(snapshot, viewer, snapshot["to_move"])


# The table


def _draw_ground(canvas: Canvas, window: Window) -> None:
    theme, unit = canvas.theme, FIELD * window.scale
    canvas.rect(MARGIN, MARGIN, TABLE, TABLE, theme.board, stroke=theme.muted, stroke_width=1.5)
    lines = "".join(
        f"M{MARGIN + at * unit:.5g} {MARGIN}v{TABLE}M{MARGIN} {MARGIN + at * unit:.5g}h{TABLE}"
        for at in range(1, window.side)
    )
    canvas.path(lines, stroke=theme.line, stroke_width=1)
    for place in range(window.side):
        middle = MARGIN + (place + 0.5) * unit
        canvas.text(window.column + place, middle, MARGIN / 2, 8, theme.muted)
        canvas.text(window.row + place, MARGIN / 2, middle, 8, theme.muted)


def _laid(snapshot: Mapping[str, Any]) -> dict[tuple[int, int], tuple[int, int]]:
    """The stones on the table: the values of the halves by their fields, the upper or left one first."""
    stones = {}
    for entry in snapshot["stones"]:
        (first, second), (a, b) = entry["fields"], entry["stone"]
        if first > second:
            first, second, a, b = second, first, b, a
        stones[int(first), int(second)] = (int(a), int(b))
    return stones


def _draw_stones(canvas: Canvas, window: Window, snapshot: Mapping[str, Any]) -> None:
    # Blocks and meeples hide the pips and show the value instead.
    taken = {int(entry["field"]) for kind in ("blocks", "meeples") for entry in snapshot[kind]}
    for (first, second), values in sorted(_laid(snapshot).items()):
        turn = -90 if second == first + 1 else 0
        canvas.use("joint", joint, *window.middle(first), turn=turn, scale=window.scale)
        for field, value in zip((first, second), values, strict=True):
            if field in taken:
                continue
            canvas.use(
                f"half-{value}",
                partial(half, value=value),
                *window.middle(field),
                turn=turn,
                scale=window.scale,
            )


def _draw_pieces(canvas: Canvas, window: Window, snapshot: Mapping[str, Any]) -> None:
    """Blocks and meeples, with the value of the field in a corner."""
    values = {
        field: value
        for fields, pair in _laid(snapshot).items()
        for field, value in zip(fields, pair, strict=True)
    }
    theme, scale = canvas.theme, window.scale
    for kind, piece in (("blocks", block), ("meeples", meeple)):
        for entry in snapshot[kind]:
            field, player = int(entry["field"]), int(entry["player"])
            x, y = window.middle(field)
            canvas.use(
                f"{kind[:-1]}-{player}",
                partial(piece, player=player),
                x + 3 * scale,
                y + 2 * scale,
                scale=scale,
            )
            canvas.circle(
                x - 14 * scale,
                y - 14 * scale,
                7.5 * scale,
                theme.stone,
                stroke=theme.stone_line,
                stroke_width=1,
            )
            canvas.text(values[field], x - 14 * scale, y - 14 * scale, 8.5 * scale, theme.pip)


# Marks


def _mark_last(
    canvas: Canvas, window: Window, snapshot: Mapping[str, Any], previous: Mapping[str, Any]
) -> None:
    """What the last action has changed on the table; the new round's clearing of all blocks is not of it."""
    shown, before = set(window.fields()), _laid(previous)
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
    size = FIELD * window.scale
    for first, second in [*new, *((field, field) for field in sorted(changed & shown))]:
        x, y = window.corner(first)
        right, bottom = window.corner(second)
        canvas.last_frame(x, y, right - x + size, bottom - y + size)


def _mark_decision(
    canvas: Canvas, window: Window, snapshot: Mapping[str, Any], viewer: int | None
) -> None:
    """The field that set off the running special action, and the stone or field chosen so far."""
    theme, size = canvas.theme, FIELD * window.scale
    if snapshot["source"] is not None:
        x, y = window.middle(int(snapshot["source"]))
        canvas.circle(x, y, size * 0.56, stroke=theme.gold, stroke_width=4, class_=["source"])
        canvas.circle(x, y, size * 0.56 + 3, stroke=theme.ink, stroke_width=1)
    if not _may_see_actions(snapshot, viewer):
        return
    chosen, stone = snapshot["chosen"]["field"], snapshot["chosen"]["stone"]
    if stone is not None and chosen is not None:
        canvas.use(
            f"ghost-{int(stone[0])}",
            partial(ghost, value=int(stone[0])),
            *window.middle(int(chosen)),
            scale=window.scale,
        )
    elif stone is not None and snapshot["phase"] == "land":
        _frame(
            canvas, window, next(f for f, s in _laid(snapshot).items() if s == _sorted(s, stone))
        )
    if chosen is not None:
        _frame(canvas, window, (int(chosen),))


def _sorted(like: tuple[int, int], stone: Sequence[int]) -> tuple[int, int]:
    """A stone's values in the order that `like` has them in."""
    a, b = int(stone[0]), int(stone[1])
    return (a, b) if like[0] <= like[1] else (b, a)


def _frame(canvas: Canvas, window: Window, fields: Sequence[int]) -> None:
    """A frame around a field or a stone that has been chosen."""
    x, y = window.corner(fields[0])
    right, bottom = window.corner(fields[-1])
    size = FIELD * window.scale
    canvas.rect(
        x - 1,
        y - 1,
        right - x + size + 2,
        bottom - y + size + 2,
        rx=6 * window.scale,
        stroke=canvas.theme.legal,
        stroke_width=3.5,
        class_=["chosen"],
    )


def _mark_legal(
    canvas: Canvas, window: Window, snapshot: Mapping[str, Any], legal: Sequence[int]
) -> None:
    taken = {int(field) for stone in snapshot["stones"] for field in stone["fields"]}
    shown = set(window.fields())
    chosen = snapshot["chosen"]["field"]
    for action in legal:
        field = action
        if FIRST_DIRECTION <= action < PASS:
            field = int(chosen) + DIRECTIONS[action - FIRST_DIRECTION]
        elif action >= FIRST_STONE:
            if snapshot["phase"] == "land" and action < FIRST_DIRECTION:
                _mark_stone(canvas, window, snapshot, action)
            continue
        if field in shown:
            canvas.target(
                *window.middle(field), (action,), scale=window.scale, taken=field in taken
            )


def _mark_stone(canvas: Canvas, window: Window, snapshot: Mapping[str, Any], action: int) -> None:
    """A stone on the table that can be picked up."""
    stone = STONES[action - FIRST_STONE]
    for (first, second), values in _laid(snapshot).items():
        if values == _sorted(values, stone):
            x, y = window.corner(first)
            right, bottom = window.corner(second)
            size = FIELD * window.scale
            canvas.origin(x, y, (action,), right - x + size, bottom - y + size)
