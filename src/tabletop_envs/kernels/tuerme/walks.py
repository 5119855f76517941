"""The walks of tuerme: where stacks may move, for all stacks and distances at once (rules T6, T7).

One row of stacks `A` and `B` (their symbols) and empty streets `.`, drawn at the distances 0 to 7.
At distance d every square shows what lies d squares to its right::

    square       0  1  2  3  4  5  6  7  8  9 10 11 12 13
    distance 0   A  B  .  .  A  B  B  .  A  .  .  .  .  .
    distance 1   B  .  .  A  B  B  .  A  .  .  .  .  .
    distance 2   .  .  A  B  B  .  A  .  .  .  .  .
    distance 3   .  A  B  B  .  A  .  .  .  .  .
    distance 4   A  B  B  .  A  .  .  .  .  .
    distance 5   B  B  .  A  .  .  .  .  .
    distance 6   B  .  A  .  .  .  .  .
    distance 7   .  A  .  .  .  .  .

Read downwards, a square's column is the walk of its stack to the right: that of the first `A` jumps
`B`, passes two empty squares and lands on `A` at distance 4, or on the empty square at distance 2,
right behind the neighbour it jumped. So a *vector* (`llvm.py`) holds the board at every distance,
and T7 is said once, of two squares and what lies between them:

- A walk *passes* the square ahead if that is empty, or if it is a street with a stack of another
  symbol and the square before it is empty or the start. It gets to a distance if it passes all
  squares before.
- A stack *joins* the one ahead if their symbols are the same, their heights sum to at most 5, and
  the square before that one is empty or the start.
- A stack *enters* the square ahead if it is an empty street, or a vacant lot with its symbol.

The same two squares are a walk to the left as well: from the square ahead *back* to this one. What
is found of it at this square is then moved to the square where that walk starts. Walks along
columns are the same, with rows for squares. Distances are 0 … 15; at 0, and beyond the board,
nothing is seen and nobody goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tabletop_envs.kernels.bits import jit_inline
from tabletop_envs.kernels.llvm import Vector, all_before, shuffle
from tabletop_envs.kernels.tuerme.plan import COLUMNS, HALF, ROWS, STREETS, Board, columns, rows

# A vector of the boards at all distances: entry 2 · distance + half.
Boards = Any
DISTANCES = range(16)


def by_distance(entry: Callable[[int, int], int]) -> Vector:
    """The vector whose entries are a function of distance and half."""
    return Vector([entry(distance, half) for distance in DISTANCES for half in range(2)], HALF)


# All squares, at one distance.
START = by_distance(lambda d, half: -(d == 0))
NEXT = by_distance(lambda d, half: -(d == 1))
NEXT_BUT_ONE = by_distance(lambda d, half: -(d == 2))
# From each distance to the one after, and from distance 1 to all.
farther = shuffle(0, 1, *range(2 * len(DISTANCES) - 2))
nearest = shuffle(2, 3)
# Distance −d modulo 16 goes to d; the distances move up by 1, 2, 4, 8, modulo 16.
negated = shuffle(*(-2 * d % 32 + half for d in DISTANCES for half in range(2)))
plus_1, plus_2, plus_4, plus_8 = (
    shuffle(*((place - 2 * d) % 32 for place in range(32))) for d in (1, 2, 4, 8)
)


def with_room(squares_left: Callable[[int], Vector], length: int) -> Vector:
    """The squares that have one d ahead."""
    return by_distance(lambda d, half: squares_left(d).words[half] if 0 < d < length else 0)


# Along rows.
ROW_SHIFT = by_distance(lambda d, half: d)
ROW_ROOM = with_room(lambda d: columns("#" * (COLUMNS - d) + "." * d), COLUMNS)
COLUMNS_1, COLUMNS_2 = columns(".#.#.#.#.#.#.#"), columns("..##..##..##..")
COLUMNS_4, COLUMNS_8 = columns("....####....##"), columns("........######")
# Along columns. Four rows are a half: so many halves on, d rows are a shift by the rows left over,
# and what this shifts out of a half goes on to the next.
HALF_ROWS = ROWS // 2
OUT = by_distance(lambda d, half: d % HALF_ROWS * COLUMNS)
ON = by_distance(lambda d, half: HALF - d % HALF_ROWS * COLUMNS)
COLUMN_ROOM = with_room(lambda d: rows("#" * (ROWS - d) + "." * d), ROWS)
ROWS_1, ROWS_2, ROWS_4 = rows(".#.#.#.#"), rows("..##..##"), rows("....####")
NO_ROW = rows("........")


def from_half(half_of: Callable[[int, int], int]) -> Any:
    """The half `half_of(distance, half)` of each distance; nothing where there is no such half."""
    order = []
    for d in DISTANCES:
        for half in (half_of(d, 0), half_of(d, 1)):
            order.append(2 * d + half if d < ROWS and 0 <= half < 2 else 2 * len(DISTANCES))
    return shuffle(*order)


everywhere = shuffle(*(half for d in DISTANCES for half in range(2)))
seen = from_half(lambda d, half: half + d // HALF_ROWS)
seen_on = from_half(lambda d, half: half + d // HALF_ROWS + 1)
moved = from_half(lambda d, half: half - d // HALF_ROWS)
moved_on = from_half(lambda d, half: half - d // HALF_ROWS - 1)


@jit_inline
def seen_right(board: Board) -> Boards:
    """What lies d squares to the right of each square, if there is room."""
    return board >> ROW_SHIFT


@jit_inline
def moved_right(boards: Boards) -> Boards:
    """Each square moved d to the right."""
    return boards << ROW_SHIFT


@jit_inline
def seen_below(board: Board) -> Boards:
    """What lies d rows below each square; bits beyond the halves mean nothing."""
    boards = everywhere(board)
    return (seen(boards) >> OUT) | (seen_on(boards) << ON)


@jit_inline
def moved_down(boards: Boards) -> Boards:
    """Each square moved d rows down."""
    return (moved(boards) << OUT) | (moved_on(boards) >> ON)


class Position(NamedTuple):
    """What a walk heeds: boards, or what lies each distance ahead."""

    empty: Any  # streets without a stack
    vacant: Any  # lots without a stack
    symbol_ones: Any  # the bits of the symbols of stacks and lots
    symbol_twos: Any
    more_ones: Any  # the bits of height − 1
    more_twos: Any
    low: Any  # stacks on streets of height 1 … 4


@jit_inline
def walked(passes: Boards) -> Boards:
    """Whether a walk gets to each distance, from whether it passes the squares at each."""
    return all_before(passes | START, 2)


@jit_inline
def short_walk(jumps: Boards) -> Boards:
    """The same without `slide`: to the neighbour, or right behind it, if it `jumps` that."""
    return NEXT | (NEXT_BUT_ONE & farther(jumps))


@jit_inline
def moves(here: Position, look: Any, move: Any, room: Boards, slide: bool) -> Boards:
    """The squares that can be moved from by d squares ahead; d back counts as 16 − d ahead (T7).

    `look` sees what lies ahead of a board, `move` moves squares ahead, within `room`.
    """
    ahead = Position(
        look(here.empty),
        look(here.vacant),
        look(here.symbol_ones),
        look(here.symbol_twos),
        look(here.more_ones),
        look(here.more_twos),
        look(here.low),
    )
    differ = (here.symbol_ones ^ ahead.symbol_ones) | (here.symbol_twos ^ ahead.symbol_twos)
    # Two heights sum to more than 5 if the sum of height − 1 carries into a third bit.
    carry = here.more_ones & ahead.more_ones
    carry = (here.more_twos & ahead.more_twos) | (carry & (here.more_twos | ahead.more_twos))
    fit = here.low & ahead.low & ~differ & ~carry
    # Whether the square before the one ahead, or on the way back before this one, is free to pass.
    before, before_back = farther(ahead.empty | START), nearest(ahead.empty) | NEXT
    passes = ahead.empty | (before & differ & look(STREETS))
    passes_back = here.empty | (before_back & differ & STREETS)
    walk = walked(passes)
    if slide:
        way, way_back = walk, walked(move(passes_back))
    else:
        way = short_walk(passes & ~ahead.empty)
        way_back = short_walk(move(passes_back & ~here.empty))
    joins, joins_back = fit & before & walk, fit & before_back & walk & room
    enters = (ahead.empty | (ahead.vacant & ~differ)) & way
    enters_back = (here.empty | (here.vacant & ~differ)) & room
    back = move(joins_back) | (move(enters_back) & way_back)
    return ((joins | enters) & room) | negated(back)


@jit_inline
def chosen(mask: Board, there: Boards, here: Boards) -> Boards:
    """The squares of `mask` from `there`, the other ones from `here`."""
    return (there & mask) | (here & ~mask)


@jit_inline
def by_target(moves: Boards, ones: Board, twos: Board, fours: Board, eights: Board) -> Boards:
    """Moves by the number of the row or column moved to: that of each square and the distance.

    The arguments are the squares whose own number has each bit.
    """
    moves = chosen(ones, plus_1(moves), moves)
    moves = chosen(twos, plus_2(moves), moves)
    moves = chosen(fours, plus_4(moves), moves)
    return chosen(eights, plus_8(moves), moves)


@jit_inline
def moves_to_columns(here: Position, slide: bool) -> Boards:
    """The squares that can be moved from to each column of their row."""
    by_row = moves(here, seen_right, moved_right, ROW_ROOM, slide)
    return by_target(by_row, COLUMNS_1, COLUMNS_2, COLUMNS_4, COLUMNS_8)


@jit_inline
def moves_to_rows(here: Position, slide: bool) -> Boards:
    """The squares that can be moved from to each row of their column."""
    by_column = moves(here, seen_below, moved_down, COLUMN_ROOM, slide)
    return by_target(by_column, ROWS_1, ROWS_2, ROWS_4, NO_ROW)
