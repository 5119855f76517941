"""The board of tuerme as one value (rules T1, T2).

Squares of the board, and so the offsets within an action plane::

     0  1  2  3  4  5  6  7  8  9 10 11 12 13
    14 15 16 17 18 19 20 21 22 23 24 25 26 27
    28 29 30 31 32 33 34 35 36 37 38 39 40 41
    42 43 44 45 46 47 48 49 50 51 52 53 54 55
    56 57 58 59 60 61 62 63 64 65 66 67 68 69
    70 71 72 73 74 75 76 77 78 79 80 81 82 83
    84 85 86 87 88 89 90 91 92 93 94 95 96 97
    98 99 …                               111

A *board* is a set of squares: 112 bits, in two words of 56 (square `s` is bit `s % 56` of word
`s // 56`). It lives in a state as an array `uint64[2]`. Compiled code loads it into a single value,
a vector (`llvm.py`), on which `&`, `|`, `^` and `~` work like on integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.kernels.bits import ONE, ZERO, board, jit_inline
from tabletop_envs.kernels.llvm import Vector, VectorType, loader, with_entry

# Dots are streets; a lot shows its symbol. Cities are numbered row by row.
PLAN = """
    . . . . . . . . . . . . . .
    . 0 1 . 1 2 . . 2 3 . 3 0 .
    . 3 2 . 0 3 . . 1 0 . 2 1 .
    . . . . . . . . . . . . . .
    . . . . . . . . . . . . . .
    . 0 1 . 1 2 . . 2 3 . 3 0 .
    . 3 2 . 0 3 . . 1 0 . 2 1 .
    . . . . . . . . . . . . . ."""
CITY_PLAN = """
    . . . . . . . . . . . . . .
    . 0 0 . 1 1 . . 2 2 . 3 3 .
    . 0 0 . 1 1 . . 2 2 . 3 3 .
    . . . . . . . . . . . . . .
    . . . . . . . . . . . . . .
    . 4 4 . 5 5 . . 6 6 . 7 7 .
    . 4 4 . 5 5 . . 6 6 . 7 7 .
    . . . . . . . . . . . . . ."""
ROWS, COLUMNS = 8, 14
SQUARES = ROWS * COLUMNS
HALF = SQUARES // 2
CITIES = 8
FIELDS = "".join(PLAN.split())

# A value for compiled code is a `Board`, for the type checker anything.
Board = Any
BOARD = VectorType(2, HALF)
# The board that the two items of a contiguous array of `uint64` hold.
load = loader(BOARD)


def marked(drawing: str, marks: str) -> Vector:
    """The board of the squares where a drawing of it shows any of `marks`."""
    fields = "".join("#" if field in marks else "." for field in "".join(drawing.split()))
    return Vector((board(fields[:HALF]), board(fields[HALF:])), HALF)


def columns(row: str) -> Vector:
    """The board of the columns that one row marks with #."""
    return marked(row * ROWS, "#")


def rows(column: str) -> Vector:
    """The board of the rows that one column marks with #."""
    return marked("".join(mark * COLUMNS for mark in column), "#")


STREETS, LOTS = marked(PLAN, "."), marked(PLAN, "0123")
NO_BOARD = Vector([0, 0], HALF)
# The bits of the lots' symbols, as in `state.symbols`.
LOT_SYMBOLS = marked(PLAN, "13"), marked(PLAN, "23")
STREET_SQUARES = np.array([s for s, field in enumerate(FIELDS) if field == "."], np.uint64)
NUM_STONES = STREET_SQUARES.size
# CITY[c]: the lots of city c. CITY_AT[s]: the city of square s, `NO_CITY` on streets.
CITY = np.array([marked(CITY_PLAN, str(city)).words for city in range(CITIES)], np.uint64)
NO_CITY = np.uint64(CITIES)
CITY_AT = np.array(
    [NO_CITY if field == "." else np.uint64(field) for field in "".join(CITY_PLAN.split())]
)

_HALF = np.uint64(HALF)


@jit_inline
def one_square(square: int) -> Board:
    """The board of one square (uint64)."""
    half = np.uint64(square >= _HALF)
    return with_entry(NO_BOARD, half, ONE << (square - _HALF * half))


@jit_inline
def if_has(board: Any, square: int, then: Board) -> Board:
    """The board `then` if a board in memory has a square (uint64), else the empty one."""
    half = np.uint64(square >= _HALF)
    return then & (ZERO - ((board[half] >> (square - _HALF * half)) & ONE))


@jit_inline
def put(board: Any, square: int, bit: int) -> None:
    """Put a square (uint64) into a board in memory, if `bit` is 1 and not 0."""
    half = np.uint64(square >= _HALF)
    board[half] |= bit << (square - _HALF * half)
