"""The board of tuerme and the walks on it, for all stacks at once (rules T1, T2, T6, T7).

A bitboard takes two words of 56 bits, one for each half of the board: rows 0 … 3 are the upper half, rows 4 … 7 the
lower. Bit s of a half is its square s, row by row::

     0  1  2  3  4  5  6  7  8  9 10 11 12 13
    14 15 16 17 18 19 20 21 22 23 24 25 26 27
    28 29 30 31 32 33 34 35 36 37 38 39 40 41
    42 43 44 45 46 47 48 49 50 51 52 53 54 55

Walks are followed at all distances at once: a vector (`vectors.py`) holds one bitboard for each of the distances
0 … 7, and a second one, for walks along rows, those for 8 … 15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tabletop_envs.kernels.bits import ONE, ZERO, board, jit_inline
from tabletop_envs.kernels.vectors import VectorType, all_before, constant, shuffle

# T1, T2: dots are streets; a lot shows its symbol. Cities are numbered row by row.
PLAN = """
    . . . . . . . . . . . . . .
    . 0 1 . 1 2 . . 2 3 . 3 0 .
    . 3 2 . 0 3 . . 1 0 . 2 1 .
    . . . . . . . . . . . . . .
    . . . . . . . . . . . . . .
    . 0 1 . 1 2 . . 2 3 . 3 0 .
    . 3 2 . 0 3 . . 1 0 . 2 1 .
    . . . . . . . . . . . . . ."""
ROWS, COLUMNS = 8, 14
SQUARES = ROWS * COLUMNS
HALF = SQUARES // 2
CITIES = 8

FIELDS = "".join(PLAN.split())


def marked(marks: str) -> np.uint64:
    """The squares of one half of the plan (both are alike) that show any of `marks`."""
    return board("".join("#" if field in marks else "." for field in FIELDS[:HALF]))


STREETS, LOTS = marked("."), marked("0123")
LOT_SYMBOLS = np.array([marked("13"), marked("23")])  # the binary digits, as in `state.symbols`
STREET_SQUARES = np.array([s for s, field in enumerate(FIELDS) if field == "."], np.uint64)
NUM_STONES = STREET_SQUARES.size
# City c is CITY[c % 4] of the half c // 4.
FIRST_CITY = board("""
    . . . . . . . . . . . . . .
    . # # . . . . . . . . . . .
    . # # . . . . . . . . . . .
    . . . . . . . . . . . . . .""")
CITY = np.array([FIRST_CITY << np.uint64(right) for right in (0, 3, 7, 10)])


def lines(row: str, rows: str) -> np.uint64:
    """The squares of one half in the columns that `row` marks with # and in the rows that `rows` marks."""
    return board("".join(row if mark == "#" else "." * COLUMNS for mark in rows))


# The columns and the rows whose number has the binary digit 1, 2, 4, 8 set.
COLUMNS_1, COLUMNS_2 = lines(".#.#.#.#.#.#.#", "####"), lines("..##..##..##..", "####")
COLUMNS_4, COLUMNS_8 = lines("....####....##", "####"), lines("........######", "####")
ROWS_1, ROWS_2 = lines("##############", ".#.#"), lines("##############", "..##")
# ROOM[d]: the squares with d more to the right of them in their row.
ROOM = [lines("#" * (COLUMNS - d) + "." * d, "####") for d in range(COLUMNS)]


def ahead(squares: int) -> list[int]:
    """For each half the squares with a street so many squares ahead."""
    both = (int(STREETS) | int(STREETS) << HALF) >> squares
    return [both & 2**HALF - 1, both >> HALF]


class Rows(NamedTuple):
    """How boards are shifted for what lies some rows further down: words, or vectors for each distance."""

    within: Any  # to the right, within a half
    left: Any  # to the left and then to the right, from the lower half into the upper
    right: Any


def by_distance(*entries: Any) -> Any:
    """A constant vector, called in compiled code: an entry for each distance 0 … 7, zeros where there is none."""
    return constant(VectorType(8), *entries)


# All ones at the distance 0, 1, 2.
HERE, NEXT, NEXT_BUT_ONE = by_distance(-1), by_distance(0, -1), by_distance(0, 0, -1)
# Along rows, at the distances 0 … 7 and 8 … 15: the shift, where a street lies so far ahead, where there is room
# in the row. A shift by 63 leaves nothing: nobody walks 0 squares, or 14 and more.
NEAR, FAR = by_distance(63, *range(1, 8)), by_distance(*range(8, 14), 63, 63)
NEAR_STREETS = by_distance(0, *(int(STREETS) >> d for d in range(1, 8)))
FAR_STREETS = by_distance(*(int(STREETS) >> d for d in range(8, 14)))
NEAR_ROOM, FAR_ROOM = by_distance(0, *ROOM[1:8]), by_distance(*ROOM[8:])
# Along columns, at the distances 0 … 7; and for the next row alone.
WITHIN = by_distance(63, 14, 28, 42, 63, 63, 63, 63)
LEFT, RIGHT = by_distance(0, 42, 28, 14), by_distance(63, 0, 0, 0, 0, 14, 28, 42)
UPPER_STREETS = by_distance(0, *(ahead(COLUMNS * rows)[0] for rows in range(1, 8)))
LOWER_STREETS = by_distance(0, *(ahead(COLUMNS * rows)[1] for rows in range(1, 8)))
UPPER_NEXT, LOWER_NEXT = (np.uint64(streets) for streets in ahead(COLUMNS))
_HALF, _COLUMNS = np.uint64(HALF), np.uint64(COLUMNS)
ONE_ROW = Rows(_COLUMNS, _HALF - _COLUMNS, ZERO)

# Entry d: the first vector's at d − 1; but the second's at 0 and 1. And the same for the distances 8 … 15.
one_less = shuffle(8, 9, 1, 2, 3, 4, 5, 6)
one_less_far = shuffle(7, 8, 9, 10, 11, 12, 13, 14)
# Entry −d (modulo 8) goes to d. With two vectors, for 0 … 7 and 8 … 15, modulo 16: the first and the second of the result.
negated = shuffle(0, 7, 6, 5, 4, 3, 2, 1)
negated_low = shuffle(0, 15, 14, 13, 12, 11, 10, 9)
negated_high = shuffle(8, 7, 6, 5, 4, 3, 2, 1)
# The entries of the second vector move up by 1, 2, 4; the last of the first come into the gap.
plus_1 = shuffle(7, 8, 9, 10, 11, 12, 13, 14)
plus_2 = shuffle(6, 7, 8, 9, 10, 11, 12, 13)
plus_4 = shuffle(4, 5, 6, 7, 8, 9, 10, 11)
last = shuffle(7, 7, 7, 7, 7, 7, 7, 7)

ALL = ~ZERO


class Boards(NamedTuple):
    """What a walk heeds: bitboards of a half, or vectors of what lies each distance ahead."""

    empty: Any  # streets without a stack
    vacant: Any  # lots without a stack
    symbol_ones: Any  # the binary digits of the symbols
    symbol_twos: Any
    more_ones: Any  # the binary digits of height − 1
    more_twos: Any
    low: Any  # stacks on streets of height 1 … 4


@jit_inline
def seen_ahead(here: Boards, squares: Any) -> Boards:
    """The boards shifted so that a square shows what lies `squares` ahead in the same half."""
    return Boards(
        here.empty >> squares,
        here.vacant >> squares,
        here.symbol_ones >> squares,
        here.symbol_twos >> squares,
        here.more_ones >> squares,
        here.more_twos >> squares,
        here.low >> squares,
    )


@jit_inline
def seen_below(upper: Boards, lower: Boards, rows: Rows) -> Boards:
    """The boards shifted so that a square of the upper half shows what lies some rows further down."""
    within, left, right = rows
    return Boards(
        (upper.empty >> within) | ((lower.empty << left) >> right),
        (upper.vacant >> within) | ((lower.vacant << left) >> right),
        (upper.symbol_ones >> within) | ((lower.symbol_ones << left) >> right),
        (upper.symbol_twos >> within) | ((lower.symbol_twos << left) >> right),
        (upper.more_ones >> within) | ((lower.more_ones << left) >> right),
        (upper.more_twos >> within) | ((lower.more_twos << left) >> right),
        (upper.low >> within) | ((lower.low << left) >> right),
    )


@jit_inline
def moved_down(upper: Any, lower: Any, rows: Rows) -> Any:
    """Both halves of a board moved down by rows: the inverse of `seen_below`."""
    within, left, right = rows
    return upper << within, (lower << within) | ((upper << right) >> left)


class Meeting(NamedTuple):
    """What a square and the one some distance ahead are to each other (T7), as bits of the first."""

    passes: Any  # a walk from here goes on over the square ahead, if it gets there
    passes_back: Any  # a walk from there, over this one
    joins: Any  # a walk from here lands on the stack ahead, if it gets there
    joins_back: Any  # a walk from there, on this one
    enters: Any  # the square ahead is empty or a vacant lot that shows this square's symbol
    enters_back: Any  # this square is, for a stack there


@jit_inline
def meet(here: Boards, ahead: Boards, before: Any, after: Any, streets: Any) -> Meeting:
    """T7 for each distance.

    `before`, `after`: where the square before the one ahead, after this one, is empty or a walk's start;
    `streets`: where a street lies ahead.
    """
    differ = (here.symbol_ones ^ ahead.symbol_ones) | (here.symbol_twos ^ ahead.symbol_twos)
    # Two heights sum to more than 5 if the sum of height − 1 carries into a third digit.
    carry = here.more_ones & ahead.more_ones
    carry = (here.more_twos & ahead.more_twos) | (carry & (here.more_twos | ahead.more_twos))
    fit = here.low & ahead.low & ~differ & ~carry
    return Meeting(
        ahead.empty | (before & differ & streets),
        here.empty | (after & differ & STREETS),
        fit & before,
        fit & after,
        ahead.empty | (ahead.vacant & ~differ),
        here.empty | (here.vacant & ~differ),
    )


@jit_inline
def walked(passes: Any) -> Any:
    """The walks that get to each distance, from those that go on over the squares at each."""
    return all_before(passes | HERE())


@jit_inline
def short_way(jump: int) -> Any:
    """Where empty squares and lots are entered without `slide`: beside the start, or beyond a stack to jump there."""
    return NEXT() | (NEXT_BUT_ONE() & jump)


@jit_inline
def selected(mask: int, chosen: Any, others: Any) -> Any:
    """The bits of `mask` from `chosen`, the other ones from `others`."""
    return (chosen & mask) | (others & ~mask)


@jit_inline
def row_moves(here: Boards, slide: bool) -> Any:
    """The moves of all stacks of a half along rows: the squares moved from, for 0 … 7 and 8 … 15 columns to the right.

    To the left counts modulo 16: d columns to the left are 16 − d to the right.
    """
    beside = seen_ahead(here, ONE)
    # The distances 1 … 7.
    near = NEAR()
    ahead = seen_ahead(here, near)
    before, after = one_less(ahead.empty, NEXT()), beside.empty | NEXT()
    meeting = meet(here, ahead, before, after, NEAR_STREETS())
    walk = walked(meeting.passes)
    if slide:
        way, way_back = walk, walked(meeting.passes_back << near)
    else:
        next_to = meet(here, beside, ALL, ALL, STREETS >> ONE)
        way = short_way(next_to.passes & ~beside.empty)
        way_back = short_way((next_to.passes_back & ~here.empty) << ONE)
    room = NEAR_ROOM()
    right = ((meeting.joins & walk) | (meeting.enters & way)) & room
    left = ((meeting.joins_back & walk & room) << near) | (
        ((meeting.enters_back & room) << near) & way_back
    )
    # The distances 8 … 13.
    far = FAR()
    ahead_far = seen_ahead(here, far)
    meeting_far = meet(
        here, ahead_far, one_less_far(ahead.empty, ahead_far.empty), beside.empty, FAR_STREETS()
    )
    walk_far = all_before(meeting_far.passes) & last(walk & meeting.passes, walk)
    room = FAR_ROOM()
    right_far = meeting_far.joins & walk_far & room
    left_far = (meeting_far.joins_back & walk_far & room) << far
    if slide:
        right_far = right_far | (meeting_far.enters & walk_far & room)
        passes_back = meeting.passes_back << near
        way_back_far = all_before(meeting_far.passes_back << far) & last(
            way_back & passes_back, passes_back
        )
        left_far = left_far | (((meeting_far.enters_back & room) << far) & way_back_far)
    return right | negated_low(left, left_far), right_far | negated_high(left, left_far)


@jit_inline
def row_planes(here: Boards, slide: bool) -> Any:
    """The same moves for each column moved to: 0 … 7 and 8 … 15 (of which 14 and 15 do not exist).

    Each bit moves up the vectors by its own square's column, digit by digit.
    """
    low, high = row_moves(here, slide)
    low, high = (
        selected(COLUMNS_1, plus_1(high, low), low),
        selected(COLUMNS_1, plus_1(low, high), high),
    )
    low, high = (
        selected(COLUMNS_2, plus_2(high, low), low),
        selected(COLUMNS_2, plus_2(low, high), high),
    )
    low, high = (
        selected(COLUMNS_4, plus_4(high, low), low),
        selected(COLUMNS_4, plus_4(low, high), high),
    )
    return selected(COLUMNS_8, high, low), selected(COLUMNS_8, low, high)


@jit_inline
def plus_rows(moves: Any) -> Any:
    """Each bit moved up the vector by its own square's row within the half."""
    moves = selected(ROWS_1, plus_1(moves, moves), moves)
    return selected(ROWS_2, plus_2(moves, moves), moves)


@jit_inline
def column_planes(upper: Boards, lower: Boards, slide: bool) -> Any:
    """The moves of all stacks along columns: the squares moved from in either half, for the rows 0 … 7."""
    rows = Rows(WITHIN(), LEFT(), RIGHT())
    beside_upper, beside_lower = seen_below(upper, lower, ONE_ROW), seen_ahead(lower, _COLUMNS)
    ahead_upper, ahead_lower = seen_below(upper, lower, rows), seen_ahead(lower, rows.within)
    meeting_upper = meet(
        upper,
        ahead_upper,
        one_less(ahead_upper.empty, NEXT()),
        beside_upper.empty | NEXT(),
        UPPER_STREETS(),
    )
    meeting_lower = meet(
        lower,
        ahead_lower,
        one_less(ahead_lower.empty, NEXT()),
        beside_lower.empty | NEXT(),
        LOWER_STREETS(),
    )
    walk_upper, walk_lower = walked(meeting_upper.passes), walked(meeting_lower.passes)
    if slide:
        back_upper, back_lower = moved_down(
            meeting_upper.passes_back, meeting_lower.passes_back, rows
        )
        way_upper, way_lower = walk_upper, walk_lower
        way_back_upper, way_back_lower = walked(back_upper), walked(back_lower)
    else:
        next_upper = meet(upper, beside_upper, ALL, ALL, UPPER_NEXT)
        next_lower = meet(lower, beside_lower, ALL, ALL, LOWER_NEXT)
        way_upper = short_way(next_upper.passes & ~beside_upper.empty)
        way_lower = short_way(next_lower.passes & ~beside_lower.empty)
        jump_upper, jump_lower = moved_down(
            next_upper.passes_back & ~upper.empty, next_lower.passes_back & ~lower.empty, ONE_ROW
        )
        way_back_upper, way_back_lower = short_way(jump_upper), short_way(jump_lower)
    down_upper = (meeting_upper.joins & walk_upper) | (meeting_upper.enters & way_upper)
    down_lower = (meeting_lower.joins & walk_lower) | (meeting_lower.enters & way_lower)
    join_upper, join_lower = moved_down(
        meeting_upper.joins_back & walk_upper, meeting_lower.joins_back & walk_lower, rows
    )
    enter_upper, enter_lower = moved_down(
        meeting_upper.enters_back, meeting_lower.enters_back, rows
    )
    up_upper = join_upper | (enter_upper & way_back_upper)
    up_lower = join_lower | (enter_lower & way_back_lower)
    # By the row moved to, as in `row_planes`, modulo 8; rows of the lower half have the digit 4 set.
    by_row_upper = plus_rows(down_upper | negated(up_upper, up_upper))
    by_row_lower = plus_rows(down_lower | negated(up_lower, up_lower))
    return by_row_upper, plus_4(by_row_lower, by_row_lower)
