"""kirche as SVG: a village of wood seen from above; a ridge shows which way its building can go."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.kirche import SIZE as SIDE
from tabletop_envs.render.svg.canvas import FIELD, Canvas, num
from tabletop_envs.render.svg.squares import MARGIN, Squares
from tabletop_envs.render.svg.themes import Paint

if TYPE_CHECKING:
    from tabletop_envs.game import Game, Move

STRIP = 40
SIZE = (SIDE * FIELD + 2 * MARGIN, SIDE * FIELD + MARGIN + STRIP + 8)
BOARD = Squares(range(SIDE), range(SIDE), SIDE)


def draw(
    canvas: Canvas,
    game: Game,
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None,
    legal: Mapping[int, Move],
    previous: Mapping[str, Any] | None,
) -> Squares:
    """The board, and below it who is to move, houses left and the result.

    Nothing is hidden from a `viewer`.
    """
    canvas.title = _title(game, snapshot)
    _draw_board(canvas)
    things = _things(snapshot)
    if previous is not None:
        BOARD.mark_last(canvas, things, _things(previous))
    for square, thing in sorted(things.items()):
        _draw_thing(canvas, game, thing, *BOARD.middle(square))
    BOARD.mark_legal(canvas, legal, taken=things)
    _draw_strip(canvas, game, snapshot)
    return BOARD


def _things(snapshot: Mapping[str, Any]) -> dict[int, tuple[int, str, str]]:
    """What stands on the squares: player, kind and ridge."""
    things = {int(snapshot["pastor"]): (-1, "pastor", "h")}
    for player, pieces in enumerate(snapshot["pieces"]):
        for piece in pieces:
            things[int(piece["square"])] = (player, piece["kind"], piece["ridge"])
    return things


def _title(game: Game, snapshot: Mapping[str, Any]) -> str:
    start = f"kirche, ply {int(snapshot['ply'])}"
    if snapshot["outcome"] is None:
        return f"{start}, {game.player_names[snapshot['to_move']]} to move"
    rewards = snapshot["outcome"]["rewards"]
    if rewards[0] == rewards[1]:
        return f"{start}, drawn"
    return f"{start}, {game.player_names[rewards.index(max(rewards))]} wins"


def _draw_board(canvas: Canvas) -> None:
    theme, side = canvas.theme, SIDE * FIELD
    canvas.rect(MARGIN, MARGIN, side, side, theme.board)
    # A church on the edge wins nothing: the village is inside.
    canvas.rect(MARGIN + FIELD, MARGIN + FIELD, side - 2 * FIELD, side - 2 * FIELD, theme.inner)
    BOARD.draw_lines(canvas)
    style: dict[str, Any] = {"stroke_width": 1.5, "stroke_linejoin": "round"}
    canvas.rect(MARGIN, MARGIN, side, side, stroke=theme.muted, **style)
    BOARD.draw_coordinates(canvas)


def _draw_thing(
    canvas: Canvas,
    game: Game,
    thing: tuple[int, str, str],
    x: float,
    y: float,
    scale: float = 1,
) -> None:
    player, kind, ridge = thing
    if kind == "pastor":
        canvas.use("pastor", _pastor, x, y, scale=scale)
        return
    piece = {"spire": _spire, "nave": _nave, "house": _house}[kind]
    draw = partial(piece, wood=canvas.theme.woods[player])
    # Turned to the left the bright side stays where the light comes from.
    turn = {"h": 0, "v": -90}[ridge]
    canvas.use(f"{kind}-{game.player_names[player]}", draw, x, y, turn=turn, scale=scale)
    if kind == "spire":
        canvas.use("cross", _cross, x, y, scale=scale)


# Buildings from above, their ridges from left to right


def _roof(canvas: Canvas, wood: Paint, length: float, depth: float) -> None:
    """A gabled roof about the origin, without its ridge."""
    outline = f"M{num(-length)} {num(-depth)}H{num(length)}V{num(depth)}H{num(-length)}z"
    canvas.shadow(outline)
    canvas.path(outline, wood.face)
    canvas.path(f"M{num(-length)} 0H{num(length)}V{num(depth)}H{num(-length)}z", wood.side)
    grain = "".join(
        f"M{num(-length)} {num(depth * part)}H{num(length)}" for part in (-0.66, -0.33, 0.33, 0.66)
    )
    canvas.path(grain, stroke=wood.outline, stroke_width=0.7, stroke_opacity=0.35)
    canvas.path(outline, stroke=wood.outline, stroke_width=1.6, stroke_linejoin="round")


def _ridge(canvas: Canvas, wood: Paint, length: float) -> None:
    canvas.path(
        f"M{num(-length)} 0H{num(length)}",
        stroke=wood.ink,
        stroke_width=3,
    )


def _house(canvas: Canvas, wood: Paint) -> None:
    _roof(canvas, wood, 17, 12)
    _ridge(canvas, wood, 17)
    canvas.rect(6.5, -8.5, 5, 5, wood.side, stroke=wood.outline, stroke_width=1.3)


def _nave(canvas: Canvas, wood: Paint) -> None:
    """The long body of a church with transept and apse: a cross on the ground."""
    apse = "M12 -10A10 10 0 0 1 12 10z"
    outline = "M-22 -10H-3V-19H10V-10H12A10 10 0 0 1 12 10H10V19H-3V10H-22z"
    canvas.shadow(outline)
    canvas.path("M-22 -10H12V0H-22z", wood.face)
    canvas.path("M-22 0H12V10H-22z", wood.side)
    canvas.path(apse, wood.side)
    canvas.path("M12 -10A10 10 0 0 1 22 0H12z", wood.face)
    canvas.path("M-3 -19H10V19H-3z", wood.face)
    canvas.path("M3.5 -10L10 -10V-19H3.5zM3.5 10L10 10V19H3.5zM-3 10L3.5 0L10 10z", wood.side)
    canvas.path(
        "M3.5 -19V19M-3 -10L3.5 0L-3 10M10 -10L3.5 0L10 10M12 0L19 -7M12 0L19 7",
        stroke=wood.outline,
        stroke_width=0.9,
        stroke_opacity=0.6,
    )
    canvas.path(outline, stroke=wood.outline, stroke_width=1.6, stroke_linejoin="round")
    canvas.path("M-22 0H13", stroke=wood.ink, stroke_width=3)


def _spire(canvas: Canvas, wood: Paint) -> None:
    """A tower with a pyramid, astride a short ridge."""
    _roof(canvas, wood, 22, 8)
    _ridge(canvas, wood, 22)
    tower = "M-15 -15H15V15H-15z"
    canvas.path(tower, wood.face)
    canvas.path("M15 -15L0 0L15 15zM-15 15L0 0L15 15z", wood.side)
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


# Below the board


def _draw_strip(canvas: Canvas, game: Game, snapshot: Mapping[str, Any]) -> None:
    theme, outcome = canvas.theme, snapshot["outcome"]
    y = SIZE[1] - STRIP / 2 - 1
    word = snapshot["phase"].upper()
    if outcome is not None:
        word = "DRAWN" if outcome["rewards"][0] == outcome["rewards"][1] else "OVER"
    canvas.text(word, SIZE[0] / 2, y - 8, 9, theme.ink)
    canvas.text(f"PLY {int(snapshot['ply'])}", SIZE[0] / 2, y + 8, 8, theme.muted)
    for player, name in enumerate(game.player_names):
        edge, away = (MARGIN, 1) if player == 0 else (SIZE[0] - MARGIN, -1)
        _draw_thing(canvas, game, (player, "house", "h"), edge + away * 32, y, 0.8)
        length = canvas.text(name.upper(), edge + away * 54, y, 11, theme.ink, anchor=player)
        if outcome is None and snapshot["to_move"] == player:
            canvas.to_move(edge + away * 6, y, 6 * away)
        if outcome is not None and outcome["rewards"][player] > 0:
            canvas.winner(edge + away * 4, y)
        houses = int(snapshot["options"]["num_houses"])
        left = houses - sum(piece["kind"] == "house" for piece in snapshot["pieces"][player])
        if left:
            x = edge + away * (64 + length)
            canvas.text(f"+{left}", x, y, 9, theme.muted, anchor=player)
