"""tuerme as SVG: streets and cities from above, towers of as many layers as they have stones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.tuerme.plan import CITIES, CITY_AT, COLUMNS, FIELDS, ROWS
from tabletop_envs.render.svg.canvas import FIELD, Canvas, num
from tabletop_envs.render.svg.squares import MARGIN, Squares
from tabletop_envs.render.tuerme import standing

if TYPE_CHECKING:
    from tabletop_envs.game import Game, Move

STRIP = 44
BOARD = Squares(range(ROWS), range(COLUMNS), COLUMNS)
SIZE = (COLUMNS * FIELD + 2 * MARGIN, ROWS * FIELD + MARGIN + STRIP + 4)
# The top left lots of the cities.
CITY_CORNERS = [CITY_AT.tolist().index(city) for city in range(CITIES)]
# Triangle, circle, square, diamond, within 9 units about the origin.
SYMBOLS = (
    "M0 -8.5L9 7.5H-9z",
    "M-8.3 0A8.3 8.3 0 0 1 8.3 0A8.3 8.3 0 0 1 -8.3 0z",
    "M-7.5 -7.5H7.5V7.5H-7.5z",
    "M0 -9.8L8.6 0L0 9.8L-8.6 0z",
)
# A stack: half the width and depth of a stone, the height of a layer, and how far below the field's
# middle it stands.
HALF_WIDTH, DEPTH, LAYER, FOOT = 19.5, 26.0, 3.5, 20.0
CORNER, EDGE = 5, 0.7


def draw(
    canvas: Canvas,
    game: Game,
    snapshot: Mapping[str, Any],
    *,
    viewer: int | None,
    legal: Mapping[int, Move],
    previous: Mapping[str, Any] | None,
) -> Squares:
    """The board, and below it the colours' scores and who is to move.

    Nothing is hidden from a `viewer`.
    """
    theme, stacks = canvas.theme, _stacks(snapshot)
    canvas.title = _title(game, snapshot)
    style = {"stroke": theme.muted, "stroke_width": 1.5}
    canvas.rect(MARGIN, MARGIN, COLUMNS * FIELD, ROWS * FIELD, theme.board, **style)
    BOARD.draw_lines(canvas)
    BOARD.draw_coordinates(canvas)
    _draw_cities(canvas, stacks)
    if previous is not None:
        BOARD.mark_last(canvas, stacks, _stacks(previous))
    for square, (colour, symbol, height) in sorted(stacks.items()):
        owner = game.player_names[colour]
        piece = partial(
            _stack, colour=colour, letter=owner[0].upper(), symbol=symbol, height=height
        )
        canvas.use(f"stack-{owner}-{symbol}-{height}", piece, *BOARD.middle(square))
    _draw_ending(canvas, snapshot)
    _draw_strip(canvas, game, snapshot)
    for action, move in legal.items():
        if move.kind == "pass":
            canvas.button("PASS", SIZE[0] - MARGIN - 34, SIZE[1] - STRIP / 2 - 1, action)
    BOARD.mark_legal(canvas, legal, taken=stacks)
    return BOARD


def _stacks(snapshot: Mapping[str, Any]) -> dict[int, tuple[int, int, int]]:
    """Colour, symbol and height of the stacks by their squares."""
    return {
        int(stack["square"]): (int(stack["colour"]), int(stack["symbol"]), int(stack["height"]))
        for stack in snapshot["stacks"]
    }


def _title(game: Game, snapshot: Mapping[str, Any]) -> str:
    start = f"tuerme, ply {int(snapshot['ply'])}"
    outcome = snapshot["outcome"]
    if outcome is None:
        return f"{start}, {game.player_names[snapshot['to_move']]} to move"
    return f"{start}, over, scores {' : '.join(str(int(score)) for score in outcome['scores'])}"


# The board


def _draw_cities(canvas: Canvas, stacks: Mapping[int, tuple[int, int, int]]) -> None:
    """The cities with their vacant lots; stacks of a single colour give their city its wall."""
    theme = canvas.theme
    for corner in CITY_CORNERS:
        x, y = BOARD.corner(corner)
        lots = (corner, corner + 1, corner + COLUMNS, corner + COLUMNS + 1)
        built = [stacks[lot] for lot in lots if lot in stacks]
        colours = {colour for colour, _, _ in built}
        wall = theme.tints[colours.pop()].face if len(colours) == 1 else theme.muted
        style: dict[str, Any] = {"stroke": wall, "stroke_width": 2}
        if built and wall != theme.muted:
            style["stroke_width"] = 2 + len(built)
        canvas.rect(x + 2, y + 2, 2 * FIELD - 4, 2 * FIELD - 4, theme.inner, rx=7, **style)
        cross = (
            f"M{x + FIELD:g} {y + 6:g}v{2 * FIELD - 12}M{x + 6:g} {y + FIELD:g}h{2 * FIELD - 12}"
        )
        canvas.path(cross, stroke=theme.line, stroke_width=1.2)
        for lot in lots:
            if lot not in stacks:
                symbol = int(FIELDS[lot])
                canvas.use(f"lot-{symbol}", partial(_lot, symbol=symbol), *BOARD.middle(lot))


def _lot(canvas: Canvas, symbol: int) -> None:
    style: dict[str, Any] = {"stroke_width": 2.2, "stroke_linejoin": "round"}
    canvas.path(SYMBOLS[symbol], stroke=canvas.theme.muted, **style)


def _stack(canvas: Canvas, colour: int, letter: str, symbol: int, height: int) -> None:
    """A stack: layers in front; on its top the symbol, the owner's letter and the height."""
    tint = canvas.theme.tints[colour]
    top = FOOT - LAYER * height - DEPTH
    front = top + DEPTH
    # Filled shapes within each other are faster to rasterise than outlined ones.
    _plate(canvas, top - EDGE, FOOT + EDGE, tint.outline, HALF_WIDTH + EDGE)
    _plate(canvas, top, FOOT, tint.side, HALF_WIDTH)
    joints = "".join(
        f"M{-HALF_WIDTH} {num(front + LAYER * layer - EDGE)}"
        f"h{2 * HALF_WIDTH}v{2 * EDGE}h{-2 * HALF_WIDTH}z"
        for layer in range(height)
    )
    canvas.path(joints, tint.outline)
    _plate(canvas, top, front, tint.face, HALF_WIDTH)
    canvas.path(SYMBOLS[symbol], tint.ink, transform=canvas.move(-7, top + DEPTH / 2))
    canvas.text(letter, 10.5, top + 6.6, 6, tint.ink)
    canvas.text(height, 10.5, top + 17.2, 10.5, tint.ink)


def _plate(canvas: Canvas, top: float, bottom: float, fill: str, half_width: float) -> None:
    canvas.rect(-half_width, top, 2 * half_width, bottom - top, fill, rx=CORNER)


def _draw_ending(canvas: Canvas, snapshot: Mapping[str, Any]) -> None:
    """The city that has ended the game counts double."""
    if snapshot["ending_city"] is None:
        return
    theme = canvas.theme
    x, y = BOARD.corner(CITY_CORNERS[snapshot["ending_city"]])
    canvas.rect(
        x, y, 2 * FIELD, 2 * FIELD, rx=9, stroke=theme.gold, stroke_width=5, class_=["ending-city"]
    )
    canvas.circle(x + FIELD, y + FIELD, 13, theme.gold, stroke=theme.page, stroke_width=2)
    canvas.text("×2", x + FIELD, y + FIELD, 10, "#1d1d1f")


# Below the board


def _draw_strip(canvas: Canvas, game: Game, snapshot: Mapping[str, Any]) -> None:
    theme, outcome = canvas.theme, snapshot["outcome"]
    y, scores = SIZE[1] - STRIP / 2 - 1, standing(snapshot)
    width = (SIZE[0] - 2 * MARGIN - 60) / len(game.player_names)
    for colour, name in enumerate(game.player_names):
        x, tint = MARGIN + colour * width, theme.tints[colour]
        canvas.rect(x + 16, y - 11, 22, 22, tint.face, rx=4, stroke=tint.outline, stroke_width=1.4)
        canvas.text(name[0].upper(), x + 27, y, 11, tint.ink)
        if colour >= len(scores):
            canvas.text("NEUTRAL", x + 46, y, 8.5, theme.muted, anchor=0)
            continue
        length = canvas.text(scores[colour], x + 46, y, 15, theme.ink, anchor=0)
        if outcome is None and snapshot["to_move"] == colour:
            canvas.to_move(x + 6, y, 6)
        elif outcome is not None and outcome["rewards"][colour] == max(outcome["rewards"]):
            canvas.winner(x + 62 + length, y)
    right, word = SIZE[0] - MARGIN, "PLY" if outcome is None else "OVER"
    canvas.text(word, right, y - 8, 8, theme.muted, anchor=1)
    canvas.text(int(snapshot["ply"]), right, y + 8, 10, theme.ink, anchor=1)
