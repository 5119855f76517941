"""The pieces of meeples, each about the origin: halves of dominoes, dice, blocks, meeples."""

from __future__ import annotations

from functools import partial

from tabletop_envs.render.svg.canvas import FIELD, Canvas, num

# Where the pips of each value lie on an upright half, in thirds of its side from the middle.
PIPS: tuple[tuple[tuple[int, int], ...], ...] = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
)
GAP = 2.2  # between a stone and the border of its fields


def _pips(value: int, reach: float, radius: float) -> str:
    return "".join(
        f"M{num(x * reach - radius)} {num(y * reach)}a{radius} {radius} 0 1 1 {2 * radius} 0"
        f"a{radius} {radius} 0 1 1 {-2 * radius} 0z"
        for x, y in PIPS[value]
    )


def joint(canvas: Canvas) -> None:
    """The body of an upright stone whose upper half is at the origin."""
    theme, side = canvas.theme, FIELD / 2 - GAP
    height = FIELD + 2 * side
    canvas.rect(
        -side, -side, 2 * side, height, theme.stone, rx=7, stroke=theme.stone_line, stroke_width=1.8
    )
    canvas.path(
        f"M{num(-side + 6)} {FIELD // 2}H{num(side - 6)}",
        stroke=theme.stone_line,
        stroke_width=1.8,
        stroke_linecap="round",
    )


def half(canvas: Canvas, value: int) -> None:
    """The pips of an upright half; a half without pips, a field as well, shows a ring."""
    if value:
        canvas.path(_pips(value, 12, 4.1), canvas.theme.pip)
    else:
        canvas.circle(0, 0, 5, stroke=canvas.theme.stone_line, stroke_width=1.4, opacity=0.55)


def ghost(canvas: Canvas, value: int) -> None:
    """A first half whose stone is still to be laid."""
    side = FIELD / 2 - GAP
    canvas.rect(-side, -side, 2 * side, 2 * side, canvas.theme.stone, rx=7, fill_opacity=0.7)
    half(canvas, value)


def die(canvas: Canvas, value: int) -> None:
    """A die, 20 units wide."""
    theme = canvas.theme
    canvas.rect(-10, -10, 20, 20, theme.stone, rx=4.5, stroke=theme.ink, stroke_width=1.4)
    canvas.path(_pips(value, 5.2, 1.9), theme.pip)


def whole(canvas: Canvas, a: int, b: int) -> None:
    """A stone in a hand, upright, 22 by 42 units."""
    theme = canvas.theme
    canvas.rect(-11, -21, 22, 42, theme.stone, rx=4, stroke=theme.stone_line, stroke_width=1.3)
    canvas.path("M-7.5 0H7.5", stroke=theme.stone_line, stroke_width=1.3)
    for value, y in ((a, -10.5), (b, 10.5)):
        if value:
            canvas.path(_pips(value, 5.6, 2), theme.pip, transform=canvas.move(0, y))


def back(canvas: Canvas) -> None:
    """A stone in a hidden hand."""
    theme = canvas.theme
    canvas.rect(-11, -21, 22, 42, theme.stone_back, rx=4, stroke=theme.stone_line, stroke_width=1.3)
    canvas.path("M0 -10L6 0L0 10L-6 0z", stroke=theme.page, stroke_width=1.3, stroke_opacity=0.7)


def meeple(canvas: Canvas, player: int, letter: str) -> None:
    """A standing figure with its player's letter."""
    tint = canvas.theme.tints[player]
    canvas.path(
        "M0 -17A6.6 6.6 0 0 1 5.2 -6.4C11 -4.6 16.6 -1.4 16.6 2.4C16.6 5.4 13 6 9.6 5.6"
        "L13.4 13.6Q14.6 17 11 17H4.4Q2.6 17 1.6 15L0 11.8L-1.6 15Q-2.6 17 -4.4 17H-11"
        "Q-14.6 17 -13.4 13.6L-9.6 5.6C-13 6 -16.6 5.4 -16.6 2.4C-16.6 -1.4 -11 -4.6 -5.2 -6.4"
        "A6.6 6.6 0 0 1 0 -17z",
        tint.face,
        stroke=tint.outline,
        stroke_width=1.8,
        stroke_linejoin="round",
    )
    canvas.text(letter, 0, 2.8, 9.5, tint.ink, weight=0.18)


def block(canvas: Canvas, player: int, letter: str) -> None:
    """A cube with its player's letter in front."""
    tint = canvas.theme.tints[player]
    style = {"stroke": tint.outline, "stroke_width": 1.6, "stroke_linejoin": "round"}
    canvas.path("M-13 -7L-6 -14H15L8 -7z", tint.ink, fill_opacity=0.35)
    canvas.path("M-13 -7L-6 -14H15L8 -7z", tint.face, fill_opacity=0.65, **style)
    canvas.path("M8 -7L15 -14V7L8 14z", tint.side, **style)
    canvas.path("M-13 -7H8V14H-13z", tint.face, **style)
    canvas.text(letter, -2.5, 3.5, 10, tint.ink, weight=0.18)


def stone_of_hand(canvas: Canvas, stone: tuple[int, int], x: float, y: float) -> None:
    """Put a stone of a hand, seen from its face."""
    a, b = stone
    canvas.use(
        f"stone-{a}-{b}",
        partial(whole, a=a, b=b),
        x,
        y,
        class_=["stone"],
        data={"stone": f"{a}-{b}"},
    )
