"""Connect four on bitboards: a kernel outside the package, against its public contract only.

It is the benchmarks' yardstick, a game that every library has, and an example of a custom kernel
(`connect_four_game.py` makes a batch of it). The squares, and so the bits of a bitboard::

     0  1  2  3  4  5  6
     7  8  9 10 11 12 13
    14 15 16 17 18 19 20
    21 22 23 24 25 26 27
    28 29 30 31 32 33 34
    35 36 37 38 39 40 41

Action = column, 0 … 6. Most bitboards of this game run column by column, with a spare square on top
of each. This one runs row by row, as observations do, so that planes are stored and not transposed;
the masks `LINES_…` do the spare squares' work.

Scores: 1 for the winner, else 0. A full board without a winner is a draw.
"""

# mypy: disallow-untyped-decorators=False
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tabletop_envs.kernels import (
    BY_LIMIT,
    RUNNING,
    TERMINATED,
    Kernel,
    Part,
    offsets,
    register,
    state_dtype,
)
from tabletop_envs.kernels.bits import ZERO, board, write_bytes

ROWS, COLUMNS = 6, 7
SQUARES = ROWS * COLUMNS
OBSERVATION = (
    Part("own_stones", (1, ROWS, COLUMNS), "of the observing player"),
    Part("other_stones", (1, ROWS, COLUMNS), "of the other player"),
)
AT = offsets(OBSERVATION)

STATE = state_dtype(
    2,
    ("stones", np.uint64, (2,)),  # of the first player, of the second
    code=__file__,
)

ALL = board("#######" * 6)
TOP_ROW = board("#######")
LEFT_COLUMN = board("#......" * 6)
# Where a line of four begins, seen from its uppermost (or leftmost) stone: elsewhere a shift would
# carry the line over the board's edge.
LINES_RIGHT = board("####..." * 6)
LINES_RIGHT_AND_DOWN = board("####..." * 3)
LINES_LEFT_AND_DOWN = board("...####" * 3)

_1, _2, _6, _7, _8 = (np.uint64(n) for n in (1, 2, 6, 7, 8))
_12, _14, _16 = (np.uint64(n) for n in (12, 14, 16))


@njit
def start(state: Any) -> None:
    """An empty board; options and `rng` are kept."""
    state.stones[0] = ZERO
    state.stones[1] = ZERO
    state.ply = 0
    state.to_move = 0
    state.num_players = 2
    state.status = RUNNING
    state.scores[0] = 0
    state.scores[1] = 0


@njit
def legal_actions(state: Any, legal_bits: Any) -> None:
    """The columns whose uppermost square is empty: one word of 7 bits."""
    legal_bits[0] = TOP_ROW & ~(state.stones[0] | state.stones[1])


@njit
def has_line(stones: int) -> bool:
    """Whether four of `stones` (a bitboard) lie in a line: pairs first, then pairs of pairs."""
    across = stones & (stones >> _1)
    down = stones & (stones >> _7)
    right_down = stones & (stones >> _8)
    left_down = stones & (stones >> _6)
    return bool(
        (across & (across >> _2) & LINES_RIGHT)
        | (down & (down >> _14))
        | (right_down & (right_down >> _16) & LINES_RIGHT_AND_DOWN)
        | (left_down & (left_down >> _12) & LINES_LEFT_AND_DOWN)
    )


@njit
def step(state: Any, action: int) -> None:
    """Drop a stone onto the lowest empty square of a column: the one that has none below it."""
    player = state.to_move
    empty = ALL & ~(state.stones[0] | state.stones[1])
    stones = state.stones[player]
    stones |= empty & ~(empty >> _7) & (LEFT_COLUMN << np.uint64(action))
    state.stones[player] = stones
    won, ply = has_line(stones), state.ply + 1
    state.scores[player] = won
    state.status = (
        TERMINATED if won or ply == SQUARES else BY_LIMIT if ply >= state.max_plies else RUNNING
    )
    state.ply = ply
    state.to_move = 1 - player


@njit
def observe(state: Any, player: int, observation: Any) -> None:
    """Both planes, own stones first."""
    own, other = state.stones[player], state.stones[1 - player]
    write_bytes(observation, AT.own_stones, own, SQUARES)
    write_bytes(observation, AT.other_stones, other, SQUARES)


KERNEL = register(
    Kernel(STATE, num_actions=COLUMNS, word_bits=COLUMNS, observation=OBSERVATION),
    start_function=start,
    legal_actions_function=legal_actions,
    step_function=step,
    observe_function=observe,
)
