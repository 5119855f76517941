"""Bitboards: counting, finding, spreading to bytes, drawing.

A bitboard is an unsigned 64-bit integer whose bit `s` stands for square `s`. Everything here is for
compiled code and works on `uint64` alone: one signed operand would turn the result into a signed
number or, by `min` and `max`, a float (Numba's rule for mixing signed and unsigned 64-bit
integers), so constants are `uint64` too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from tabletop_envs.kernels.compiling import CALLEE
from tabletop_envs.kernels.llvm import (
    lowest_square,
    nth_square,
    popcount,
    prefetch,
    write_few_bytes,
    write_word,
)

__all__ = [
    "ONE",
    "ZERO",
    "Board",
    "board",
    "draw",
    "jit_inline",
    "jitable",
    "lowest_square",
    "nth_square",
    "popcount",
    "prefetch_row",
    "write_bytes",
]

# For the type checker a bitboard is an `int`, and what must be `uint64` for Numba is `Any`.
Board = int
ONE: Any = np.uint64(1)
ZERO: Any = np.uint64(0)

# How functions that only compiled code calls are compiled: as a part of the loops that call them
# (`pipeline.py`), without wrappers for calls from Python, and without counting the references of
# arrays, which they may neither allocate nor return. `jit_inline` functions become part of their
# callers.
jitable = register_jitable(**CALLEE, _nrt=False)
jit_inline = register_jitable(**CALLEE, _nrt=False, forceinline=True)


@jit_inline
def write_bytes(array: Any, offset: int, word: int, count: int) -> None:
    """Write the lowest `count` (1 … 64) bits of `word` as bytes of 0 or 1, from `array[offset]` on.

    `array` is one-dimensional, contiguous and of one-byte items. Where there is room, up to 63
    bytes behind the last are overwritten with the word's further bits (zeros, as a rule): write
    from front to back.
    """
    if offset + 64 <= array.size:
        write_word(array, offset, word)
    else:
        write_few_bytes(array, offset, word, count)


@jit_inline
def prefetch_row(rows: Any, row: int) -> None:
    """Prefetch the cache lines of one row (or record) of a contiguous array, for writing."""
    size = rows.strides[0]
    for offset in range(row * size, (row + 1) * size, 64):
        prefetch(rows, offset)


def draw(board: int, height: int, width: int) -> str:
    """A bitboard as text, `height` lines of `width` fields: `#` where a bit is set, else `.`."""
    return "\n".join(
        " ".join(
            "#" if int(board) >> (row * width + column) & 1 else "." for column in range(width)
        )
        for row in range(height)
    )


def board(drawing: str) -> Any:
    """The bitboard (uint64) that a drawing shows: the inverse of `draw`, whitespace ignored.

    ValueError where there is anything but `#` and `.`, or more than 64 fields.
    """
    fields = "".join(drawing.split())
    if len(fields) > 64 or set(fields) - set("#."):
        raise ValueError(f"a drawing has at most 64 fields, each # or '.': {drawing!r}")
    return np.uint64(sum(1 << square for square, field in enumerate(fields) if field == "#"))
