"""The material of meeples (M1–M6): actions and stones by number, the state, how pieces move.

Actions are small decisions::

      0 … 575   a field of the table, row · 24 + column
    576 … 603   a stone
    604 … 607   a direction: where the second half lies, seen from the first (up, right, down, left)
    608         pass, end the turn, decline
    609         re-roll the dice

Stones by their halves, the smaller value first; a set of stones is a word with a bit for each::

    0-0 0-1 0-2 0-3 0-4 0-5 0-6         0   1   2   3   4   5   6
        1-1 1-2 1-3 1-4 1-5 1-6             7   8   9  10  11  12
            2-2 2-3 2-4 2-5 2-6                13  14  15  16  17
                3-3 3-4 3-5 3-6                    18  19  20  21
                    4-4 4-5 4-6                        22  23  24
                        5-5 5-6                            25  26
                            6-6                                27
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.kernels import RUNNING, State, rng, state_dtype
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline, jitable, nth_square, popcount
from tabletop_envs.kernels.llvm import store
from tabletop_envs.kernels.meeples import table
from tabletop_envs.kernels.meeples.table import FIELDS, WORDS, Board, StoredBoard, load

FIRST_STONE, FIRST_DIRECTION, PASS, REROLL, NUM_ACTIONS = 576, 604, 608, 609, 610

# The phases in the order of the rules; `rules.py` draws how they follow each other.
SETUP, STONES, BLOCKS, GIVE_UP, MEEPLES, LAND, SIDESTEP, CLONE, TELEPORT = range(9)
PHASES = (
    "setup",
    "stones",
    "blocks",
    "give_up",
    "meeples",
    "land",
    "sidestep",
    "clone",
    "teleport",
)
# The special action of a value 1 … 4 (M21–M24) is the phase SPECIAL_OF_0 − value.
SPECIAL_OF_0 = 9

MAX_PLAYERS = 4
MEEPLES_EACH = 10  # M4
STALE_ROUNDS = 3  # M27
# No round of a game has a higher number: M27 allows 103 at most; the rest is for puzzles.
LAST_ROUND = 120

STONE_HALVES = tuple((a, b) for a in range(7) for b in range(a, 7))  # M1
NUM_STONES = len(STONE_HALVES)
ALL_STONES: Any = np.uint64((1 << NUM_STONES) - 1)
NO_STONE, NO_FIELD, NOT_LAID = NUM_STONES, FIELDS, 4
UNLIMITED = -1

_HALVES = np.array(STONE_HALVES, np.uint64)
# From a first half's field to the second's, by direction; 0 for a stone that is NOT_LAID.
_STEPS = np.array([*table.STEPS, 0], np.int64).astype(np.uint64)

STATE = state_dtype(
    MAX_PLAYERS,
    # Boards. A field's value plus 1 in binary, lowest bit first: 0 where no stone lies.
    ("values", np.uint64, (3, WORDS)),
    ("across", np.uint64, (WORDS,)),  # left halves of the stones that lie across
    ("upright", np.uint64, (WORDS,)),  # upper halves of the stones that stand upright
    ("meeples", np.uint64, (MAX_PLAYERS, WORDS)),
    ("blocks", np.uint64, (MAX_PLAYERS, WORDS)),
    # Stones.
    ("hands", np.uint32, (MAX_PLAYERS,)),
    ("setup_stones", np.uint32),  # laid in this player's setup
    ("first_field", np.uint16, (NUM_STONES,)),  # where a stone's first half lies, and
    ("direction", np.uint8, (NUM_STONES,)),  # where its second half from there, or NOT_LAID
    # What has been decided so far.
    ("chosen_field", np.uint16),  # or NO_FIELD
    ("chosen_stone", np.uint8),  # or NO_STONE
    ("phase", np.uint8),
    ("round", np.int16),
    ("new_meeples", np.int8),  # in this round
    ("stale_rounds", np.int8),
    # Blocks.
    ("dice", np.uint8, (8,)),  # the pool: how many dice show each value (1 … 6)
    ("passed", np.uint8, (MAX_PLAYERS,)),
    ("set_block", np.uint8, (MAX_PLAYERS,)),
    ("dice_allowed", np.int8, (MAX_PLAYERS,)),  # or UNLIMITED
    ("fails", np.int8),
    ("rerolled", np.uint8),
    # Meeples.
    ("supply", np.int8, (MAX_PLAYERS,)),
    ("moved", np.uint8),
    ("fired", np.uint8),  # bit v: value v has gone off in this chain
    ("source", np.uint16),  # the field whose special action runs, or NO_FIELD
    # Options.
    ("dice_per_player", np.int8),
    ("open_hands", np.uint8),
)
# No part of a position's key: where stones lie follows from the boards, but for which half of a
# double is its first, and the rules look at neither that nor the number of the round.
UNKEYED = ("first_field", "direction", "round")


# Reading the table


@jit_inline
def layout_of(state: State) -> Board:
    """The fields that carry a stone."""
    return load(state.values[0]) | load(state.values[1]) | load(state.values[2])


@jit_inline
def fields_of_value(state: State, value: int) -> Board:
    """The fields that show a value (uint64)."""
    code = value + ONE
    fields = ~table.NO_FIELDS
    for bit in range(3):
        plane = load(state.values[bit])
        if not (code >> np.uint64(bit)) & ONE:
            plane = ~plane
        fields &= plane
    return fields


@jit_inline
def value_at(state: State, field: int) -> int:
    """The value of a field that carries a stone (uint64), 7 where there is none."""
    code = (
        table.bit_at(state.values[0], field)
        | (table.bit_at(state.values[1], field) << ONE)
        | (table.bit_at(state.values[2], field) << np.uint64(2))
    )
    return (code - ONE) & np.uint64(7)


@jit_inline
def of_all_players(boards: StoredBoard) -> Board:
    """Everybody's meeples, or blocks."""
    return load(boards[0]) | load(boards[1]) | load(boards[2]) | load(boards[3])


@jit_inline
def valued_fields(state: State) -> Board:
    """The fields of value 1 … 6: a code of 2 or more."""
    return load(state.values[1]) | load(state.values[2])


@jit_inline
def empty_fields(state: State) -> Board:
    """Empty fields on which something may be placed (M5)."""
    return valued_fields(state) & ~(of_all_players(state.meeples) | of_all_players(state.blocks))


@jit_inline
def second_field(state: State, stone: int) -> int:
    """The field of a stone's second half (uint64), on the table even after an illegal action."""
    field = np.uint64(state.first_field[stone]) + _STEPS[np.uint64(state.direction[stone])]
    return min(field, np.uint64(FIELDS - 1))


@jit_inline
def stone_fields(state: State, stone: int) -> Board:
    """The two fields of a stone on the table."""
    first = table.one_field(np.uint64(state.first_field[stone]))
    return first | table.one_field(second_field(state, stone))


@jit_inline
def field_of(action: int) -> int:
    """The field that an action names (uint64), on the table even if it is illegal or NO_FIELD."""
    return min(np.uint64(action), np.uint64(FIELDS - 1))


@jit_inline
def other_halves(state: State, halves: Board) -> Board:
    """The other halves of the stones that have a half among these fields."""
    across, upright = load(state.across), load(state.upright)
    return (
        table.right(halves & across)
        | (table.left(halves) & across)
        | table.down(halves & upright)
        | (table.up(halves) & upright)
    )


# Stones, meeples and dice


@jitable
def toggle_stone(state: State, stone: int) -> None:
    """Put a stone (uint64) on the boards, or take it off, by its `first_field` and `direction`."""
    first, second = np.uint64(state.first_field[stone]), second_field(state, stone)
    first_code, second_code = _HALVES[stone, 0] + ONE, _HALVES[stone, 1] + ONE
    for bit in range(3):
        table.toggle(state.values[bit], first, (first_code >> np.uint64(bit)) & ONE)
        table.toggle(state.values[bit], second, (second_code >> np.uint64(bit)) & ONE)
    lies_across = np.uint64(state.direction[stone]) & ONE
    smaller = min(first, second)
    table.toggle(state.across, smaller, lies_across)
    table.toggle(state.upright, smaller, ONE ^ lies_across)


@jitable
def lay(state: State, stone: int, field: int, direction: int) -> None:
    """Lay a stone that is not on the table (all uint64)."""
    state.first_field[stone] = field
    state.direction[stone] = direction
    toggle_stone(state, stone)
    state.chosen_stone = NO_STONE
    state.chosen_field = NO_FIELD


@jitable
def put(state: State, field: int) -> None:
    """Put a meeple of the player to move from supply on a field."""
    player = state.to_move
    table.toggle(state.meeples[player], field, ONE)
    state.supply[player] -= 1
    state.scores[player] += np.int64(value_at(state, field))


@jitable
def move(state: State, player: int, origin: int, target: int) -> None:
    """Move a meeple; scores count the values of the fields (M28)."""
    table.toggle(state.meeples[player], origin, ONE)
    table.toggle(state.meeples[player], target, ONE)
    state.scores[player] += np.int64(value_at(state, target)) - np.int64(value_at(state, origin))


@jitable
def roll(state: State, number: int) -> None:
    """Roll `number` dice into the empty pool."""
    state.dice[:] = 0
    generator = state.rng
    for _ in range(number):
        generator, die = rng.below(generator, np.uint64(6))
        state.dice[die + ONE] += 1
    state.rng = generator


@jitable
def dice_in_pool(state: State) -> int:
    """How many dice lie in the pool."""
    number = 0
    for value in range(1, 7):
        number += state.dice[value]
    return number


@jitable
def reset_blocks_bookkeeping(state: State) -> None:
    """Reset what is counted in the blocks phase."""
    for player in range(MAX_PLAYERS):
        state.passed[player] = False
        state.set_block[player] = False
        state.dice_allowed[player] = UNLIMITED
    state.fails = 0
    state.rerolled = False


# Dealing


@jitable
def start(state: State) -> None:
    """Clear the table, shuffle and deal the stones (M2); options are kept."""
    none = table.NO_FIELDS
    for bit in range(3):
        store(state.values[bit], 0, none)
    store(state.across, 0, none)
    store(state.upright, 0, none)
    # The list of fields, not yet in use, holds the stones during the shuffle (Fisher and Yates).
    deck = state.first_field
    for stone in range(NUM_STONES):
        deck[stone] = stone
        state.direction[stone] = NOT_LAID
    generator = state.rng
    for place in range(NUM_STONES - 1, 0, -1):
        generator, other = rng.below(generator, np.uint64(place + 1))
        deck[place], deck[other] = deck[other], deck[place]
    state.rng = generator
    size = NUM_STONES // state.num_players
    for player in range(MAX_PLAYERS):
        store(state.meeples[player], 0, none)
        store(state.blocks[player], 0, none)
        hand = ZERO
        if player < state.num_players:
            for place in range(player * size, (player + 1) * size):
                hand |= ONE << np.uint64(deck[place])
        state.hands[player] = hand
        state.supply[player] = MEEPLES_EACH if player < state.num_players else 0
        state.scores[player] = 0
    deck[:] = 0
    state.dice[:] = 0
    reset_blocks_bookkeeping(state)
    state.phase = SETUP
    state.fired = 0
    state.source = NO_FIELD
    state.setup_stones = 0
    state.chosen_field = NO_FIELD
    state.chosen_stone = NO_STONE
    state.round = 0
    state.new_meeples = 0
    state.stale_rounds = 0
    state.moved = False
    state.ply = 0
    state.to_move = 0
    state.status = RUNNING


@jitable
def draw_stone(pool: int, generator: int) -> tuple[int, int]:
    """Draw a stone of the set `pool`: a set of one, and the advanced generator (all uint64)."""
    generator, place = rng.below(generator, popcount(pool))
    # After illegal actions the set may be empty: any stone then.
    return ONE << min(nth_square(pool, place), np.uint64(NUM_STONES - 1)), generator


@jitable
def deal_hidden(state: State, player: int, generator: int) -> None:
    """Resample what `player` cannot see; the game continues with `generator` (uint64).

    Hidden are the other players' hands, a stone that another player has chosen but not laid, and
    what the deal left over (M2). Every such deal agrees with all that the player has seen: stones
    are laid regardless of their values (M11), so nothing follows from where others laid theirs.
    """
    if not state.open_hands:
        hidden = ALL_STONES & ~np.uint64(state.hands[player])
        for stone in range(NUM_STONES):
            if state.direction[stone] != NOT_LAID:
                hidden &= ~(ONE << np.uint64(stone))
        chosen = np.uint64(state.chosen_stone)
        if chosen != np.uint64(NO_STONE) and state.direction[chosen] == NOT_LAID:
            if state.to_move == player:
                hidden &= ~(ONE << chosen)
            else:
                drawn, generator = draw_stone(hidden, generator)
                hidden &= ~drawn
                state.chosen_stone = popcount(drawn - ONE)
        for other in range(state.num_players):
            if other != player:
                hand = ZERO
                for _ in range(popcount(np.uint64(state.hands[other]))):
                    drawn, generator = draw_stone(hidden, generator)
                    hidden &= ~drawn
                    hand |= drawn
                state.hands[other] = hand
    state.rng = generator
