"""The table of meeples as one value: a bitboard of 24 × 24 fields for compiled code.

Fields, and so the numbers of the field actions (M3), and directions::

      0   1   2  …  23
     24  25  26  …  47              0 (up)
      …                     3 (left)        1 (right)
    552 553 554  … 575             2 (down)

A *board* is a set of fields: 12 words of 48 bits, two rows of the table a word (field `f` is bit
`f % 48` of word `f // 48`). In a state it is an array `uint64[12]`; compiled code loads it into a
single value, a vector (`llvm.py`), on which `&`, `|`, `^` and `~` work as on integers and the
whole table moves by a few machine instructions: rules then read as if the table had 64 fields.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.kernels.bits import ONE, ZERO, board, jit_inline
from tabletop_envs.kernels.llvm import (
    Vector,
    VectorType,
    entry,
    loader,
    shuffle,
    with_entry,
)

SIDE = 24
FIELDS = SIDE * SIDE
WORD_BITS = 2 * SIDE
WORDS = FIELDS // WORD_BITS
UP, RIGHT, DOWN, LEFT = range(4)
# From a field to the next one, by direction.
STEPS = (-SIDE, 1, SIDE, -1)

# Two rows of the table, drawn as one word.
ALL_COLUMNS = board("#" * SIDE + "#" * SIDE)
COLUMNS_FROM_1 = board(("." + "#" * (SIDE - 1)) * 2)

BOARD = VectorType(WORDS, WORD_BITS)
# For the type checker a board as a value is anything.
Board = Any
StoredBoard = npt.NDArray[np.uint64]
NO_FIELDS = Vector([0] * WORDS, WORD_BITS)
# The board that the first 12 items of a contiguous array of `uint64` hold.
load = loader(BOARD)

_ROW, _WORD_BITS = np.uint64(SIDE), np.uint64(WORD_BITS)
# Each word gets the contents of the next, or of the previous one; beyond the table nothing.
_next_words = shuffle(*range(1, WORDS + 1))
_previous_words = shuffle(WORDS, *range(WORDS - 1))


@jit_inline
def up(fields: Board) -> Board:
    """The fields one row up from those of a board, within the table (as below)."""
    return (fields >> _ROW) | _next_words((fields << _ROW) & ALL_COLUMNS)


@jit_inline
def down(fields: Board) -> Board:
    """The fields one row down."""
    return ((fields << _ROW) & ALL_COLUMNS) | _previous_words(fields >> _ROW)


@jit_inline
def left(fields: Board) -> Board:
    """The fields one column to the left."""
    return (fields & COLUMNS_FROM_1) >> ONE


@jit_inline
def right(fields: Board) -> Board:
    """The fields one column to the right."""
    return (fields << ONE) & COLUMNS_FROM_1


@jit_inline
def neighbours(fields: Board) -> Board:
    """The fields that share an edge with one of the board's."""
    return up(fields) | down(fields) | left(fields) | right(fields)


@jit_inline
def diagonals(fields: Board) -> Board:
    """The fields that share a corner, but no edge, with one of the board's."""
    rows = up(fields) | down(fields)
    return left(rows) | right(rows)


@jit_inline
def one_field(field: int) -> Board:
    """The board of one field (uint64)."""
    return with_entry(NO_FIELDS, field // _WORD_BITS, ONE << (field % _WORD_BITS))


@jit_inline
def has(fields: Board, field: int) -> int:
    """1 if a board has a field, else 0 (uint64)."""
    return (entry(fields, field // _WORD_BITS) >> (field % _WORD_BITS)) & ONE


@jit_inline
def all_or_none(condition: bool) -> int:
    """All ones if the condition holds, else zeros (uint64): keeps or drops a board branchlessly."""
    return ZERO - np.uint64(condition)


@jit_inline
def bit_at(array: StoredBoard, field: int) -> int:
    """`has` on a board in a state."""
    return (array[field // _WORD_BITS] >> (field % _WORD_BITS)) & ONE


@jit_inline
def toggle(array: StoredBoard, field: int, bit: int) -> None:
    """Flip a field of a board in a state if `bit` is 1, not if it is 0 (uint64)."""
    array[field // _WORD_BITS] ^= bit << (field % _WORD_BITS)
