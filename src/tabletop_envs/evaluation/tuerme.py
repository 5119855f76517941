"""The heuristic of tuerme: points, and what the stacks on the streets promise.

An estimate of every player's final score is the sum of

- the points as they stand (the stones in lots, those in the city that ended the game twice);
- for every own stack on a street whose symbol still shows on a vacant lot, `STACK[height]`: high
  ones are worth more than their stones, because each takes one lot and few moves, and one of height
  5 cannot be captured;
- for every stone of such a stack `NEAR[steps]`, if the stack is 1, 2 or 3 steps over empty streets
  from a vacant lot of its symbol: it can enter it soon;
- for every city of which the player has some lots and nobody else any, `CITY_PROMISE[lots]`: it may
  end the game and count double.

Stacks of neutral colours, and those whose symbol has no lot left, are worth nothing to anybody. The
estimates become values by `standings.write_values`; a lead is worth the more, the fewer lots are
vacant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.evaluation import register_heuristic
from tabletop_envs.evaluation.standings import write_values
from tabletop_envs.kernels import State
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline
from tabletop_envs.kernels.llvm import any_bits, count_bits, shuffle
from tabletop_envs.kernels.tuerme import KERNEL, SYMBOLS, occupied_squares
from tabletop_envs.kernels.tuerme.plan import (
    CITIES,
    CITY,
    COLUMNS,
    HALF,
    LOTS,
    NO_BOARD,
    STREETS,
    Board,
    columns,
    load,
)

STACK = np.array([0.0, 0.48, 0.8, 1.4, 1.8, 2.4])  # by height
NEAR = np.array([0.0, 0.19, 0.12, 0.06])  # by steps
CITY_PROMISE = np.array([0.0, 0.0, 0.4, 2.0, 0.0])  # by lots
# The temperature at the end, and what each vacant lot adds.
TEMPERATURE, TEMPERATURE_LOT = 0.25, 0.1

NOT_FIRST, NOT_LAST = columns("." + "#" * (COLUMNS - 1)), columns("#" * (COLUMNS - 1) + ".")
_2, _4 = np.uint64(2), np.uint64(4)
_ROW, _TO_OTHER_HALF = np.uint64(COLUMNS), np.uint64(HALF - COLUMNS)
lower_half_up, upper_half_down = shuffle(1, 2), shuffle(2, 0)


@jit_inline
def beside(squares: Board) -> Board:
    """The streets adjacent to some squares."""
    right, left = (squares & NOT_LAST) << ONE, (squares & NOT_FIRST) >> ONE
    up = (squares >> _ROW) | (lower_half_up(squares) << _TO_OTHER_HALF)
    down = (squares << _ROW) | (upper_half_down(squares) >> _TO_OTHER_HALF)
    return (right | left | up | down) & STREETS


@jit_inline
def showing(state: State, symbol: int) -> Board:
    """The squares that show a symbol (uint64), on a stack or on a lot."""
    ones, twos = ZERO - (symbol & ONE), ZERO - (symbol >> ONE)
    return ~(load(state.symbols[0]) ^ ones) & ~(load(state.symbols[1]) ^ twos)


@jit_inline
def by_height(state: State, stacks: Board) -> float:
    """The sum of `STACK` over some stacks. No height has both the bits 2 and 4."""
    ones, twos = load(state.heights[0]) & stacks, load(state.heights[1]) & stacks
    fours = load(state.heights[2]) & stacks
    return (
        STACK[1] * np.float64(count_bits(ones & ~(twos | fours)))
        + STACK[2] * np.float64(count_bits(twos & ~ones))
        + STACK[3] * np.float64(count_bits(twos & ones))
        + STACK[4] * np.float64(count_bits(fours & ~ones))
        + STACK[5] * np.float64(count_bits(fours & ones))
    )


@jit_inline
def stones(state: State, stacks: Board) -> float:
    """The sum of the heights of some stacks."""
    ones = count_bits(load(state.heights[0]) & stacks)
    twos = count_bits(load(state.heights[1]) & stacks)
    return np.float64(ones + _2 * twos + _4 * count_bits(load(state.heights[2]) & stacks))


@jit_inline
def promise(state: State, player: int, vacant: Board, stacks: Any) -> float:
    """What a player's stacks promise; `stacks`: those with a lot, those 1, 2, 3 steps from it."""
    own = load(state.colours[player])
    total = by_height(state, own & stacks[0])
    for steps in range(1, 4):
        total += NEAR[steps] * stones(state, own & stacks[steps])
    for city in range(CITIES):
        lots = load(CITY[city])
        mine = own & lots
        nobody_else = not any_bits(lots & ~(mine | vacant))
        total += CITY_PROMISE[count_bits(mine)] if nobody_else else 0.0
    return total


def values_of(state: State, values: Any) -> None:
    """See `evaluation.evaluate`."""
    taken = occupied_squares(state)
    vacant = LOTS & ~taken
    alive = first = second = third = NO_BOARD
    for symbol in range(np.uint64(SYMBOLS)):
        shown = showing(state, symbol)
        lots, stacks = vacant & shown, taken & STREETS & shown
        if not any_bits(lots):
            continue
        at_1 = beside(lots)
        at_2 = beside(at_1 & ~taken) & ~at_1
        at_3 = beside(at_2 & ~taken) & ~(at_1 | at_2)
        alive |= stacks
        first |= at_1 & stacks
        second |= at_2 & stacks
        third |= at_3 & stacks
    near = (alive, first, second, third)
    for player in range(state.num_players):
        promised = promise(state, player, vacant, near)
        values[player] = np.float64(state.scores[player]) + promised
    vacant_lots = np.float64(count_bits(vacant))
    write_values(values, state.num_players, TEMPERATURE + TEMPERATURE_LOT * vacant_lots)


register_heuristic(KERNEL, values_of)
