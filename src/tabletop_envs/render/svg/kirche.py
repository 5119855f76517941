"""kirche as SVG: a village of wood seen from above, every ridge showing which way its building can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tabletop_envs.render.svg.canvas import FIELD, Canvas, num
from tabletop_envs.render.svg.squares import Squares

SIDE = 7
MARGIN, STRIP = 26, 40
SIZE = (SIDE * FIELD + 2 * MARGIN, SIDE * FIELD + MARGIN + STRIP + 8)
PLAYERS = ("light", "dark")
PHASES = {"churches": "CHURCHES", "houses": "HOUSES", "moves": "MOVES"}
FIRST_MOVE_PLANE, SWAP_PLANE = 2, 26
SQUARES = SIDE * SIDE
BOARD = Squares(SIDE, SIDE, MARGIN)


def draw(
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None,
    theme: str,
    legal: Sequence[int],
    previous: Mapping[str, Any] | None,
    fields: bool,
) -> Canvas:
    """The board, and below it who is to move, houses left and the result. Nothing is hidden from a `viewer`."""
    canvas = Canvas("kirche", theme, *SIZE, title=_title(snapshot))
    _draw_board(canvas)
    things = _things(snapshot)
    if previous is not None:
        BOARD.mark_last(canvas, things, _things(previous))
    for square, (player, kind, ridge) in sorted(things.items()):
        _draw_thing(canvas, player, kind, ridge, *BOARD.middle(square))
    if snapshot["outcome"] is None:
        _mark_legal(canvas, things, legal)
    _draw_strip(canvas, snapshot)
    if fields:
        BOARD.add_fields(canvas)
    return canvas


def _things(snapshot: Mapping[str, Any]) -> dict[int, tuple[int, str, str]]:
    """What stands on the squares: player, kind and ridge."""
    things = {int(snapshot["pastor"]): (-1, "pastor", "h")}
    for player, pieces in enumerate(snapshot["pieces"]):
        for piece in pieces:
            things[int(piece["square"])] = (player, piece["kind"], piece["ridge"])
    return things


def _title(snapshot: Mapping[str, Any]) -> str:
    start = f"kirche, ply {int(snapshot['ply'])}"
    if snapshot["outcome"] is None:
        return f"{start}, {PLAYERS[snapshot['to_move']]} to move"
    scores = snapshot["outcome"]["rewards"]
    if scores[0] == scores[1]:
        return f"{start}, drawn"
    return f"{start}, {PLAYERS[scores.index(max(scores))]} wins"


def _draw_board(canvas: Canvas) -> None:
    theme = canvas.theme
    side = SIDE * FIELD
    canvas.rect(MARGIN, MARGIN, side, side, theme.board)
    # A church on the edge wins nothing: the village is inside.
    canvas.rect(MARGIN + FIELD, MARGIN + FIELD, side - 2 * FIELD, side - 2 * FIELD, theme.inner)
    lines = "".join(
        f"M{MARGIN + at} {MARGIN}v{side}M{MARGIN} {MARGIN + at}h{side}"
        for at in range(FIELD, side, FIELD)
    )
    canvas.path(lines, stroke=theme.line, stroke_width=1)
    canvas.rect(
        MARGIN, MARGIN, side, side, stroke=theme.muted, stroke_width=1.5, stroke_linejoin="round"
    )
    for place in range(SIDE):
        middle = MARGIN + place * FIELD + FIELD / 2
        for x, y in ((middle, MARGIN / 2), (MARGIN / 2, middle)):
            canvas.text(place, x, y, 9, theme.muted)


def _draw_thing(
    canvas: Canvas, player: int, kind: str, ridge: str, x: float, y: float, scale: float = 1
) -> None:
    if kind == "pastor":
        canvas.use("pastor", _pastor, x, y, scale=scale)
        return
    piece = {"spire": _spire, "nave": _nave, "house": _house}[kind]
    # Turned to the left the bright side stays where the light comes from.
    canvas.use(
        f"{kind}-{PLAYERS[player]}",
        partial(piece, player=player),
        x,
        y,
        turn={"h": 0, "v": -90}[ridge],
        scale=scale,
    )
    if kind == "spire":
        canvas.use("cross", _cross, x, y, scale=scale)


# Buildings from above, their ridges from left to right


def _roof(canvas: Canvas, player: int, length: float, depth: float) -> None:
    """A gabled roof about the origin, without its ridge."""
    wood = canvas.theme.woods[player]
    outline = f"M{num(-length)} {num(-depth)}H{num(length)}V{num(depth)}H{num(-length)}z"
    canvas.shadow(outline)
    canvas.path(outline, wood.bright)
    canvas.path(f"M{num(-length)} 0H{num(length)}V{num(depth)}H{num(-length)}z", wood.shade)
    grain = "".join(
        f"M{num(-length)} {num(depth * part)}H{num(length)}" for part in (-0.66, -0.33, 0.33, 0.66)
    )
    canvas.path(grain, stroke=wood.outline, stroke_width=0.7, stroke_opacity=0.35)
    canvas.path(outline, stroke=wood.outline, stroke_width=1.6, stroke_linejoin="round")


def _ridge(canvas: Canvas, player: int, length: float) -> None:
    canvas.path(
        f"M{num(-length)} 0H{num(length)}",
        stroke=canvas.theme.woods[player].ridge,
        stroke_width=3,
    )


def _house(canvas: Canvas, player: int) -> None:
    _roof(canvas, player, 17, 12)
    _ridge(canvas, player, 17)
    wood = canvas.theme.woods[player]
    canvas.rect(6.5, -8.5, 5, 5, wood.shade, stroke=wood.outline, stroke_width=1.3)


def _nave(canvas: Canvas, player: int) -> None:
    """The long body of a church with transept and apse: a cross on the ground."""
    wood = canvas.theme.woods[player]
    apse = "M12 -10A10 10 0 0 1 12 10z"
    transept = "M-3 -19H10V19H-3z"
    outline = "M-22 -10H-3V-19H10V-10H12A10 10 0 0 1 12 10H10V19H-3V10H-22z"
    canvas.shadow(outline)
    canvas.path("M-22 -10H12V0H-22z", wood.bright)
    canvas.path("M-22 0H12V10H-22z", wood.shade)
    canvas.path(apse, wood.shade)
    canvas.path("M12 -10A10 10 0 0 1 22 0H12z", wood.bright)
    canvas.path(f"{transept}", wood.bright)
    canvas.path("M3.5 -10L10 -10V-19H3.5zM3.5 10L10 10V19H3.5zM-3 10L3.5 0L10 10z", wood.shade)
    canvas.path(
        "M3.5 -19V19M-3 -10L3.5 0L-3 10M10 -10L3.5 0L10 10M12 0L19 -7M12 0L19 7",
        stroke=wood.outline,
        stroke_width=0.9,
        stroke_opacity=0.6,
    )
    canvas.path(outline, stroke=wood.outline, stroke_width=1.6, stroke_linejoin="round")
    canvas.path("M-22 0H13", stroke=wood.ridge, stroke_width=3)


def _spire(canvas: Canvas, player: int) -> None:
    """A tower with a pyramid, astride a short ridge."""
    wood = canvas.theme.woods[player]
    _roof(canvas, player, 22, 8)
    _ridge(canvas, player, 22)
    tower = "M-15 -15H15V15H-15z"
    canvas.path(tower, wood.bright)
    canvas.path("M15 -15L0 0L15 15zM-15 15L0 0L15 15z", wood.shade)
    canvas.path("M-15 15L0 0L15 15z", wood.outline, fill_opacity=0.28)
    canvas.path("M-15 -15L15 15M15 -15L-15 15", stroke=wood.outline, stroke_width=1.2)
    canvas.path(tower, stroke=wood.outline, stroke_width=1.8, stroke_linejoin="round")


def _cross(canvas: Canvas) -> None:
    """The golden cross on a spire, upright whatever the ridge."""
    cross = "M0 -8.5V9M-6 -2.5H6"
    canvas.path(cross, stroke="#3b2406", stroke_width=5.4, stroke_linecap="round")
    canvas.path(cross, stroke=canvas.theme.gold, stroke_width=2.8, stroke_linecap="round")


def _pastor(canvas: Canvas) -> None:
    """In a black gown with white bands, belonging to nobody."""
    theme = canvas.theme
    canvas.path(
        "M-13 19C-13 6 -8 0 0 0C8 0 13 6 13 19z",
        theme.robe,
        stroke=theme.robe_line,
        stroke_width=1.6,
        stroke_linejoin="round",
    )
    canvas.path("M0 1L-4.5 10H-0.6L0 3L0.6 10H4.5z", "#ffffff")
    canvas.circle(0, -7, 7, "#e8b796", stroke=theme.robe_line, stroke_width=1.2)
    canvas.path(
        "M-6.2 -10.5C-6.2 -20 6.2 -20 6.2 -10.5z",
        theme.robe,
        stroke=theme.robe_line,
        stroke_width=1.2,
        stroke_linejoin="round",
    )
    canvas.path("M-11 -10.5H11", stroke=theme.robe_line, stroke_width=3.4, stroke_linecap="round")
    canvas.path("M-11 -10.5H11", stroke=theme.robe, stroke_width=2, stroke_linecap="round")


# Legal actions


def _mark_legal(
    canvas: Canvas, things: Mapping[int, tuple[int, str, str]], legal: Sequence[int]
) -> None:
    origins: dict[int, list[int]] = {}
    targets: dict[int, list[int]] = {}
    pastor = next(square for square, thing in things.items() if thing[1] == "pastor")
    for action in legal:
        plane, square = divmod(action, SQUARES)
        if plane < FIRST_MOVE_PLANE:
            targets.setdefault(square, []).append(action)
            continue
        origins.setdefault(square, []).append(action)
        if plane == SWAP_PLANE:
            goal = pastor
        else:
            way, distance = divmod((plane - FIRST_MOVE_PLANE) // 2, 6)
            stride = 1 if things[square][2] == "h" else SIDE
            goal = square + (1 - 2 * way) * stride * (distance + 1)
        targets.setdefault(goal, []).append(action)
    BOARD.mark_legal(canvas, origins, targets, taken=things)


# Below the board


def _draw_strip(canvas: Canvas, snapshot: Mapping[str, Any]) -> None:
    theme, outcome = canvas.theme, snapshot["outcome"]
    y = SIZE[1] - STRIP / 2 - 1
    ply = f"PLY {int(snapshot['ply'])}"
    word = PHASES[snapshot["phase"]]
    if outcome is not None:
        rewards = outcome["rewards"]
        word = "DRAWN" if rewards[0] == rewards[1] else "OVER"
    canvas.text(word, SIZE[0] / 2, y - 8, 9, theme.ink)
    canvas.text(ply, SIZE[0] / 2, y + 8, 8, theme.muted)
    for player, anchor in enumerate((0, 1)):
        away = 1 - 2 * anchor
        edge = MARGIN if player == 0 else SIZE[0] - MARGIN
        _draw_thing(canvas, player, "house", "h", edge + away * 32, y, 0.8)
        length = canvas.text(
            PLAYERS[player].upper(), edge + away * 54, y, 11, theme.ink, anchor=anchor
        )
        if outcome is None and snapshot["to_move"] == player:
            canvas.to_move(edge + 6 if player == 0 else edge - 6, y, 6 * away)
        if outcome is not None and outcome["rewards"][player] > 0:
            canvas.winner(edge + away * 4, y)
        houses = int(snapshot["options"]["num_houses"])
        left = houses - sum(piece["kind"] == "house" for piece in snapshot["pieces"][player])
        if left:
            canvas.text(f"+{left}", edge + away * (64 + length), y, 9, theme.muted, anchor=anchor)
