"""What a player of meeples sees; the table of its parts is in `tabletop_envs.envs.meeples`.

Players are seen in turn order from the observer on: *place* 0 is the observer, place 1 the next player, and so on;
places that nobody has are zeros. Hidden from the observer, unless hands are open, are the others' hands, and the
stone and field that another player has chosen for a stone not laid yet. A chosen stone has left its hand, and
hand sizes show it to all: that a stone has been taken up is seen, as it is at a table, but not which.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tabletop_envs.kernels import RUNNING
from tabletop_envs.kernels.bits import (
    ONE,
    ZERO,
    jit_inline,
    jitable,
    popcount,
    write_bytes,
)
from tabletop_envs.kernels.llvm import write_number_word, write_word
from tabletop_envs.kernels.meeples_state import (
    ALL_STONES,
    MAX_PLAYERS,
    MEEPLES,
    NO_FIELD,
    NUM_STONES,
    all_or_none,
    second_field,
)
from tabletop_envs.kernels.meeples_table import (
    FIELDS,
    LEFT,
    UP,
    WORD_BITS,
    WORDS,
)

PLANES = 10
NUMBERS = 212
OBSERVATION_SIZE = PLANES * FIELDS + NUMBERS
CHOSEN_PLANE, MARKED_PLANE = 8, 9
# The doubles 0-0 … 6-6, whose place and values do not say which half is the first.
DOUBLES = np.array([0, 7, 13, 18, 22, 25, 27], np.uint64)


@jit_inline
def player_at(place: int, player: int, players: int) -> int:
    """The player whom `player` sees at a place (below MAX_PLAYERS also where the place is nobody's)."""
    seat = player + place
    return (seat - players if seat >= players else seat) & (MAX_PLAYERS - 1)


@jitable
def write_planes(state: Any, player: int, chosen_seen: bool, observation: Any) -> None:
    """Values; stones across, upright; owners of meeples and blocks; blocks; the chosen field; marked fields."""
    ones, twos, fours = state.values[0], state.values[1], state.values[2]
    for index in range(WORDS):
        offset = index * WORD_BITS
        write_number_word(observation, offset, ones[index], twos[index], fours[index])
    across, upright = state.across, state.upright
    for index in range(WORDS):
        write_word(observation, FIELDS + index * WORD_BITS, across[index])
    for index in range(WORDS):
        write_word(observation, 2 * FIELDS + index * WORD_BITS, upright[index])
    players = state.num_players
    for place in range(MAX_PLAYERS):
        seat = player_at(place, player, players)
        meeples, blocks = state.meeples[seat], state.blocks[seat]
        there = all_or_none(place < players)
        for index in range(WORDS):
            offset = (3 + place) * FIELDS + index * WORD_BITS
            write_word(observation, offset, (meeples[index] | blocks[index]) & there)
    for index in range(WORDS):
        word = state.blocks[0, index] | state.blocks[1, index]
        word |= state.blocks[2, index] | state.blocks[3, index]
        write_word(observation, 7 * FIELDS + index * WORD_BITS, word)
    observation[CHOSEN_PLANE * FIELDS : PLANES * FIELDS] = 0
    if chosen_seen and state.chosen_field != NO_FIELD:
        observation[CHOSEN_PLANE * FIELDS + state.chosen_field] = 1
    if state.source != NO_FIELD:
        observation[MARKED_PLANE * FIELDS + state.source] = 1
    laid = np.uint64(state.setup_stones)
    while laid != ZERO:
        stone = popcount((laid - ONE) & ~laid)
        observation[MARKED_PLANE * FIELDS + state.first_field[stone]] = 1
        observation[MARKED_PLANE * FIELDS + np.int64(second_field(state, stone))] = 1
        laid &= laid - ONE


@njit
def observe(state: Any, player: int, observation: Any) -> None:
    """Write what a player sees, from front to back in the order of the table."""
    players = state.num_players
    running = state.status == RUNNING
    chosen_seen = state.open_hands or state.to_move == player or state.phase >= MEEPLES
    write_planes(state, player, chosen_seen, observation)
    at = PLANES * FIELDS
    for place in range(MAX_PLAYERS):  # hand, other_hands
        hand = np.uint64(state.hands[player_at(place, player, players)])
        shown = all_or_none(place == 0 or (state.open_hands and place < players))
        write_word(observation, at, hand & shown)
        at += NUM_STONES
    chosen = (ONE << np.uint64(state.chosen_stone)) & ALL_STONES & all_or_none(chosen_seen)
    write_word(observation, at, chosen)
    at += NUM_STONES
    for double in DOUBLES:  # turned_doubles: the first half right of the second, or below
        direction = state.direction[double]
        observation[at] = direction in (UP, LEFT)
        at += 1
    for value in range(1, 7):
        observation[at] = state.dice[value]
        at += 1
    for place in range(MAX_PLAYERS):
        seat = player_at(place, player, players)
        there = place < players
        part = observation[at + place :]
        part[0] = popcount(np.uint64(state.hands[seat])) if there else ZERO
        part[4] = state.supply[seat] if there else 0
        part[8] = state.scores[seat] if there else 0
        part[12] = there and running and state.to_move == seat
        part[16] = state.passed[seat] if there else 0
        part[20] = state.set_block[seat] if there else 0
        part[24] = state.dice_allowed[seat] if there else 0
    at += 7 * MAX_PLAYERS
    observation[at] = state.fails
    observation[at + 1] = state.rerolled
    observation[at + 2] = state.moved
    for value in range(1, 5):
        observation[at + 2 + value] = (state.fired >> value) & 1
    observation[at + 7] = state.new_meeples
    observation[at + 8] = state.stale_rounds
    observation[at + 9] = state.round
    at += 10
    # phase, seat and num_players: bits of one word.
    flags = ONE << np.uint64(state.phase) | ONE << np.uint64(9 + player)
    flags |= ONE << np.uint64(13 + players - 2)
    write_bytes(observation, at, flags, 16)
    at += 16
    observation[at] = state.dice_per_player
    observation[at + 1] = state.open_hands
    ply = state.ply
    observation[at + 2] = ply & 127
    observation[at + 3] = (ply >> 7) & 127
    observation[at + 4] = ply >> 14
