"""The heuristic of tuerme: points, and what the stacks on the streets promise.

An estimate of every player's final score is the sum of

- the points as they stand (the stones in lots, those in the city that ended the game twice);
- for every own stack on a street whose symbol still shows on a vacant lot, `STACK[height]`: high ones are worth more than
  their stones, because each takes one lot and few moves, and one of height 5 cannot be captured;
- for every stone of such a stack `NEAR[steps]`, if the stack is 1, 2 or 3 steps over empty streets from a vacant lot of its
  symbol: it can enter it soon;
- for every city of which the player has some lots and nobody else any, `CITY_PROMISE[lots]`: it may end the game and
  count double.

Stacks of neutral colours, and those whose symbol has no lot left, are worth nothing to anybody. The estimates become values by
`standings.write_values`; a lead is worth the more, the fewer lots are vacant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.evaluation import register_heuristic
from tabletop_envs.evaluation.standings import write_values
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline, popcount
from tabletop_envs.kernels.tuerme import KERNEL, SYMBOLS, occupied_squares
from tabletop_envs.kernels.tuerme_board import CITIES, CITY, COLUMNS, LOTS, ROWS, STREETS, lines

STACK = np.array([0.0, 0.48, 0.8, 1.4, 1.8, 2.4])  # by height
NEAR = np.array([0.0, 0.19, 0.12, 0.06])  # by steps
CITY_PROMISE = np.array([0.0, 0.0, 0.4, 2.0, 0.0])  # by lots
# The temperature at the end, and what each vacant lot adds.
TEMPERATURE, TEMPERATURE_LOT = 0.25, 0.1

NOT_FIRST = lines("." + "#" * (COLUMNS - 1), "####")
NOT_LAST = lines("#" * (COLUMNS - 1) + ".", "####")
_1, _2, _4 = np.uint64(1), np.uint64(2), np.uint64(4)
_ROW, _TO_OTHER_HALF = np.uint64(COLUMNS), np.uint64(COLUMNS * (ROWS // 2 - 1))


@jit_inline
def beside(upper: int, lower: int) -> tuple[int, int]:
    """The streets adjacent to some squares: of the upper half and of the lower, given the squares in each."""
    beside_upper = ((upper & NOT_LAST) << _1) | ((upper & NOT_FIRST) >> _1)
    beside_upper |= (upper << _ROW) | (upper >> _ROW) | (lower << _TO_OTHER_HALF)
    beside_lower = ((lower & NOT_LAST) << _1) | ((lower & NOT_FIRST) >> _1)
    beside_lower |= (lower << _ROW) | (lower >> _ROW) | (upper >> _TO_OTHER_HALF)
    return beside_upper & STREETS, beside_lower & STREETS


@jit_inline
def showing(state: Any, half: int, symbol: int) -> int:
    """The squares of a half that show a symbol (uint64), on a stack or on a lot."""
    ones, twos = ZERO - (symbol & ONE), ZERO - (symbol >> ONE)
    return ~(state.symbols[0, half] ^ ones) & ~(state.symbols[1, half] ^ twos)


@jit_inline
def by_height(state: Any, half: int, stacks: int) -> float:
    """The sum of `STACK` over some stacks of a half. No height has both the digits 2 and 4."""
    ones, twos = state.heights[0, half] & stacks, state.heights[1, half] & stacks
    fours = state.heights[2, half] & stacks
    return (
        STACK[1] * np.float64(popcount(ones & ~(twos | fours)))
        + STACK[2] * np.float64(popcount(twos & ~ones))
        + STACK[3] * np.float64(popcount(twos & ones))
        + STACK[4] * np.float64(popcount(fours & ~ones))
        + STACK[5] * np.float64(popcount(fours & ones))
    )


@jit_inline
def stones(state: Any, half: int, stacks: int) -> float:
    """The sum of the heights of some stacks of a half."""
    ones, twos = (
        popcount(state.heights[0, half] & stacks),
        popcount(state.heights[1, half] & stacks),
    )
    return np.float64(ones + _2 * twos + _4 * popcount(state.heights[2, half] & stacks))


@jit_inline
def promise(state: Any, player: int, half: int, vacant: int, stacks: Any) -> float:
    """What the stacks of a player in a half promise: `stacks` are those that have a lot, and those 1, 2, 3 steps from it."""
    own = state.colours[player, half]
    total = by_height(state, half, own & stacks[0])
    for steps in range(1, 4):
        total += NEAR[steps] * stones(state, half, own & stacks[steps])
    for city in range(CITIES // 2):
        mine = own & CITY[city]
        nobody_else = (mine | vacant) & CITY[city] == CITY[city]
        total += CITY_PROMISE[popcount(mine)] if nobody_else else 0.0
    return total


def values_of(state: Any, values: Any) -> None:
    """See `evaluation.evaluate`."""
    taken_upper, taken_lower = occupied_squares(state, 0), occupied_squares(state, 1)
    vacant_upper, vacant_lower = LOTS & ~taken_upper, LOTS & ~taken_lower
    alive_upper = alive_lower = near_upper = near_lower = ZERO
    second_upper = second_lower = third_upper = third_lower = ZERO
    for symbol in range(np.uint64(SYMBOLS)):
        shown_upper, shown_lower = showing(state, 0, symbol), showing(state, 1, symbol)
        lots_upper, lots_lower = vacant_upper & shown_upper, vacant_lower & shown_lower
        if lots_upper | lots_lower == ZERO:
            continue
        stacks_upper = shown_upper & taken_upper & STREETS
        stacks_lower = shown_lower & taken_lower & STREETS
        alive_upper |= stacks_upper
        alive_lower |= stacks_lower
        at_1_upper, at_1_lower = beside(lots_upper, lots_lower)
        at_2_upper, at_2_lower = beside(at_1_upper & ~taken_upper, at_1_lower & ~taken_lower)
        at_2_upper &= ~at_1_upper
        at_2_lower &= ~at_1_lower
        at_3_upper, at_3_lower = beside(at_2_upper & ~taken_upper, at_2_lower & ~taken_lower)
        near_upper |= at_1_upper & stacks_upper
        near_lower |= at_1_lower & stacks_lower
        second_upper |= at_2_upper & stacks_upper
        second_lower |= at_2_lower & stacks_lower
        third_upper |= at_3_upper & ~(at_1_upper | at_2_upper) & stacks_upper
        third_lower |= at_3_lower & ~(at_1_lower | at_2_lower) & stacks_lower
    upper = (alive_upper, near_upper, second_upper, third_upper)
    lower = (alive_lower, near_lower, second_lower, third_lower)
    for player in range(state.num_players):
        values[player] = (
            np.float64(state.scores[player])
            + promise(state, player, 0, vacant_upper, upper)
            + promise(state, player, 1, vacant_lower, lower)
        )
    vacant_lots = np.float64(popcount(vacant_upper) + popcount(vacant_lower))
    write_values(values, state.num_players, TEMPERATURE + TEMPERATURE_LOT * vacant_lots)


register_heuristic(KERNEL, values_of)
