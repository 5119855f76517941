"""The heuristic of meeples: points, blocks, and how far the own meeples reach.

An estimate of every player's final score is the sum of

- the points as they stand, and `SUPPLY` for each meeple still in supply;
- for every own block on which a meeple of the player could stand (not beside an own meeple), until
  that player's turn to put meeples is over: `BLOCK`, and `BLOCK_VALUE` a pip; for every other own
  block `BRIDGE`: it leads on to further fields;
- for every field beside an own meeple that can take a block: `STEP`;
- for every field within *reach*, where the next meeple could stand: one that shows 1 … 6, has no
  meeple, lies beside no own meeple, but beside an own block or one of those steps: `REACH`, and
  `REACH_VALUE` a pip.

Hands make no difference. The estimates become values by `standings.write_values`; the fewer meeples
the player with the smallest supply has left, the more a lead is worth, because the game ends with
the last of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.evaluation import register_heuristic
from tabletop_envs.evaluation.standings import write_values
from tabletop_envs.kernels import State
from tabletop_envs.kernels.bits import jit_inline
from tabletop_envs.kernels.llvm import count_bits
from tabletop_envs.kernels.meeples import KERNEL
from tabletop_envs.kernels.meeples.material import (
    LAND,
    MEEPLES,
    NO_FIELD,
    NO_STONE,
    of_all_players,
    valued_fields,
)
from tabletop_envs.kernels.meeples.table import Board, load, neighbours

SUPPLY = 0.1
BLOCK, BLOCK_VALUE, BRIDGE = 2.0, 0.3, 1.5
STEP, REACH, REACH_VALUE = 1.0, 0.5, 0.3
# The temperature at the end, and what each meeple adds that the player with the fewest has left.
TEMPERATURE, TEMPERATURE_MEEPLE = 6.0, 0.2


@jit_inline
def pips(state: State, fields: Board) -> int:
    """The sum of the values of some fields, all of which show a value (uint64)."""
    ones, twos = load(state.values[0]) & fields, load(state.values[1]) & fields
    fours = load(state.values[2]) & fields
    return (
        count_bits(ones)
        + np.uint64(2) * count_bits(twos)
        + np.uint64(4) * count_bits(fours)
        - count_bits(fields)
    )


def is_settled(state: State) -> bool:
    """Whether nothing has been chosen, and no special action waits but to land a stone.

    A stone lands in thousands of ways: where to is a decision of its own.
    """
    chosen = state.chosen_stone != NO_STONE or state.chosen_field != NO_FIELD
    return not chosen and state.phase <= LAND


def values_of(state: State, values: Any) -> None:
    """See `evaluation.evaluate`."""
    players = state.num_players
    taken = of_all_players(state.meeples)
    valued = valued_fields(state)
    free = valued & ~taken
    fewest = state.supply[0]
    for player in range(players):
        supply = state.supply[player]
        fewest = min(fewest, supply)
        own, blocks = load(state.meeples[player]), load(state.blocks[player])
        beside = neighbours(own)
        estimate = np.float64(state.scores[player]) + SUPPLY * np.float64(supply)
        if state.phase < MEEPLES or player >= state.to_move:
            places = blocks & ~beside
            estimate += BLOCK * np.float64(count_bits(places))
            estimate += BLOCK_VALUE * np.float64(pips(state, places))
            estimate += BRIDGE * np.float64(count_bits(blocks & beside))
        bridges = beside & free
        reach = neighbours(bridges | blocks) & free & ~beside
        estimate += STEP * np.float64(count_bits(bridges))
        estimate += REACH * np.float64(count_bits(reach))
        estimate += REACH_VALUE * np.float64(pips(state, reach))
        values[player] = estimate
    write_values(values, players, TEMPERATURE + TEMPERATURE_MEEPLE * np.float64(fewest))


# A position in the middle of a round is hard to value: some random actions later, with the dice
# fallen, the heuristic says more.
SEARCH = {"exploration": 1.0, "temperature": 0.03, "playout": 60}
register_heuristic(KERNEL, values_of, settled=is_settled, search=SEARCH)
