"""The heuristic of kirche: how many turns each player still needs to a finished town.

A piece slides any distance along its ridge and may turn afterwards, so what counts is not squares
but *turns*: the fewest slides over squares empty now that bring a piece to one of its goals. They
are counted for all pieces at once, backwards from the goals: the squares from which a goal is one
slide away, then those from which one of these is, and so on. A piece that is blocked swaps with the
pastor instead, if that brings it there.

- **The church** needs, with the spire off the edge, the nave's turns to a square beside it and off
  the edge, or the other way round, whichever is less; with both on the edge the turns of the nearer
  one to leave it, and `APART` more.
- **Each house** needs its turns to a square beside the *core*: the pieces connected with the spire
  (with the nave, as long as the spire is on the edge). While both are on the edge there is no core,
  and a house counts `NO_CORE`.

In the placement phase pieces yet to come count `UNPLACED`. The player with fewer turns to go is
ahead, the more so the nearer the end is; having the turn is worth `TEMPO` turns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_envs.evaluation import register_heuristic
from tabletop_envs.kernels import State
from tabletop_envs.kernels.bits import ZERO, Board, jit_inline, jitable, popcount
from tabletop_envs.kernels.kirche import ALL, COLUMNS_BEFORE, COLUMNS_FROM, EDGE, KERNEL, neighbours

INNER = ALL & ~EDGE
FARTHEST = 4  # turns of a piece that does not get to a goal within three
APART, NO_CORE, UNPLACED, TEMPO = 2.5, 2.0, 1.6, 0.5
# A lead is the difference of the logarithms of turns + 1: a turn counts the more, the fewer are
# left.
SCALE = 0.7
_1, _2, _4, _7, _14, _28 = (np.uint64(squares) for squares in (1, 2, 4, 7, 14, 28))
_NOT_FIRST, _NOT_LAST = COLUMNS_FROM[1], COLUMNS_BEFORE[1]


@jit_inline
def along_rows(squares: Board, empty: Board) -> Board:
    """The squares from which one of `squares` is reached along a row over empty ones.

    Also those that are not empty themselves: what stands there can slide to one of `squares`.
    """
    right, way = squares, empty & _NOT_FIRST
    right |= way & (right << _1)
    way &= way << _1
    right |= way & (right << _2)
    way &= way << _2
    right |= way & (right << _4)
    left, way = squares, empty & _NOT_LAST
    left |= way & (left >> _1)
    way &= way >> _1
    left |= way & (left >> _2)
    way &= way >> _2
    left |= way & (left >> _4)
    return ((right & _NOT_LAST) << _1) | ((left & _NOT_FIRST) >> _1) | right | left


@jit_inline
def along_columns(squares: Board, empty: Board) -> Board:
    """The same along columns."""
    down, way = squares, empty
    down |= way & (down << _7)
    way &= way << _7
    down |= way & (down << _14)
    way &= way << _14
    down |= way & (down << _28)
    up, way = squares, empty
    up |= way & (up >> _7)
    way &= way >> _7
    up |= way & (up >> _14)
    way &= way >> _14
    up |= way & (up >> _28)
    return ((down << _7) & ALL) | (up >> _7) | down | up


@jitable
def turns_to(goals: Board, pieces: Board, horizontal: Board, empty: Board, pastor: Board) -> int:
    """The sum over `pieces` of the turns that each needs to one of `goals` (none is there yet)."""
    can_slide = horizontal & (((empty & _NOT_FIRST) >> _1) | ((empty & _NOT_LAST) << _1))
    can_slide |= ~horizontal & ((empty >> _7) | (empty << _7))
    stuck = pieces & ~can_slide
    squares = goals & empty
    swapping = stuck if goals & pastor else ZERO  # what a swap with the pastor brings nearer, too
    total, left = ZERO, pieces
    for _ in range(FARTHEST - 1):
        if left == ZERO:
            break
        total += popcount(left)
        by_row, by_column = along_rows(squares, empty), along_columns(squares, empty)
        left &= ~((by_row & horizontal) | (by_column & ~horizontal) | swapping)
        # The swap turns the piece.
        swapping |= stuck & ~horizontal if by_row & pastor else ZERO
        swapping |= stuck & horizontal if by_column & pastor else ZERO
        squares |= (by_row | by_column) & empty
    return total + popcount(left)


@jit_inline
def turns_left(state: State, player: int, empty: Board) -> float:
    """About how many turns a player still needs to a finished town."""
    own = state.pieces[player]
    horizontal, pastor = state.horizontal, state.pastor
    spire, nave = own & state.spires, own & state.naves
    houses = own & ~(spire | nave)
    turns = UNPLACED * (np.float64(state.num_houses + 2) - np.float64(popcount(own)))
    inside = (spire | nave) & INNER
    if not neighbours(spire & inside) & nave & inside:
        church = np.uint64(FARTHEST)
        for moving in (spire, nave):
            goals = neighbours(inside & ~moving) & INNER if inside else INNER
            if goals:
                church = min(church, turns_to(goals, moving, horizontal, empty, pastor))
        turns += np.float64(church)
    if not inside:
        return turns + APART + NO_CORE * np.float64(popcount(houses))
    core = spire if spire & inside else nave
    while True:
        grown = (core | neighbours(core)) & own
        if grown == core:
            break
        core = grown
    outside = houses & ~core
    return turns + np.float64(turns_to(neighbours(core), outside, horizontal, empty, pastor))


def values_of(state: State, values: Any) -> None:
    """See `evaluation.evaluate`."""
    empty = ALL & ~(state.pieces[0] | state.pieces[1] | state.pastor)
    for player in range(2):
        values[player] = turns_left(state, player, empty)
    values[state.to_move] -= TEMPO
    lead = math.tanh(SCALE * math.log((values[1] + 1.0) / (values[0] + 1.0)))
    values[0] = lead
    values[1] = -lead


register_heuristic(KERNEL, values_of)
