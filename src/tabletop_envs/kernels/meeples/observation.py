"""What a player of meeples sees: the parts of an observation, declared and written.

Players are seen in turn order from the observer on: *place* 0 is the observer, place 1 the next
player, and so on; places without a player are zeros. Hidden from the observer, unless hands are
open, are the others' hands, and the stone and field that another player has chosen for a stone not
laid yet. A chosen stone has left its hand, and hand sizes show it to all: that a stone has been
taken up is seen, as it is at a table, but not which.
"""

from __future__ import annotations

import numpy as np

from tabletop_envs.kernels import RUNNING, Observation, Part, State, offsets
from tabletop_envs.kernels.bits import (
    ONE,
    ZERO,
    jit_inline,
    jitable,
    popcount,
    write_bytes,
)
from tabletop_envs.kernels.llvm import write_number_word, write_word
from tabletop_envs.kernels.meeples import material
from tabletop_envs.kernels.meeples.material import (
    ALL_STONES,
    LAST_ROUND,
    MAX_PLAYERS,
    MEEPLES,
    MEEPLES_EACH,
    NO_FIELD,
    NUM_STONES,
    PHASES,
    STALE_ROUNDS,
    STONE_HALVES,
)
from tabletop_envs.kernels.meeples.table import (
    FIELDS,
    LEFT,
    SIDE,
    UP,
    WORD_BITS,
    WORDS,
    all_or_none,
)

_PLACES = (MAX_PLAYERS,)
OBSERVATION = (
    Part(
        "values", (1, SIDE, SIDE), "1 + the value of the half on a field, 0 on bare fields", high=7
    ),
    Part(
        "stones",
        (2, SIDE, SIDE),
        "left halves of stones lying across, upper halves of upright ones",
    ),
    Part("owners", (4, SIDE, SIDE), "for each place, the fields of its meeples and blocks"),
    Part("blocks", (1, SIDE, SIDE), "which of those are blocks"),
    Part(
        "chosen_field", (1, SIDE, SIDE), "of a first half, or of a meeple to move (as far as seen)"
    ),
    Part(
        "marked",
        (1, SIDE, SIDE),
        "in the setup the stones laid in it, "
        "else the field that set off the running special action",
    ),
    Part("hand", (NUM_STONES,), "the own stones"),
    Part("other_hands", (3, NUM_STONES), "the others' (zeros unless hands are open)"),
    Part("chosen_stone", (NUM_STONES,), "the stone being laid (as far as seen)"),
    Part(
        "turned_doubles", (7,), "the doubles 0-0 … 6-6 whose first half is the right or lower one"
    ),
    Part("dice", (6,), "how many dice of the pool show 1 … 6", high=20),
    Part(
        "hand_sizes",
        _PLACES,
        "stones in hand at each place; a chosen stone has left its hand",
        high=14,
    ),
    Part("supply", _PLACES, "meeples in supply", high=MEEPLES_EACH),
    Part("scores", _PLACES, "the standing", high=6 * MEEPLES_EACH),
    Part("to_move", _PLACES, "the player to move; all 0 once the game is over"),
    Part("passed", _PLACES, "who has passed in this round"),
    Part("set_block", _PLACES, "who has set a block in this round"),
    Part(
        "dice_allowed",
        _PLACES,
        "dice that each may still take in this round; −1: no limit yet",
        high=1,
        low=-1,
    ),
    Part("fails", (1,), "failed turns since the last block", high=MAX_PLAYERS),
    Part("rerolled", (1,), "the dice have been rolled again in this turn"),
    Part("moved", (1,), "the turn's move is used"),
    Part("fired", (4,), "which of the values 1 … 4 have gone off in the running chain"),
    Part("new_meeples", (1,), "meeples put from supply in this round", high=36),
    Part(
        "stale_rounds",
        (1,),
        "rounds in a row without, after all stones were laid",
        high=STALE_ROUNDS,
    ),
    Part("round", (1,), "0 in the setup", high=LAST_ROUND),
    Part("phase", (len(PHASES),), ", ".join(PHASES)),
    Part("seat", _PLACES, "the observing player's number"),
    Part("num_players", (3,), "two, three, four"),
    Part("dice_per_player", (1,), "the option", high=5, low=1),
    Part("open_hands", (1,), "the option"),
    Part("ply", (3,), "actions played, in base 128, lowest digit first", high=127),
)
AT = offsets(OBSERVATION)

# The doubles 0-0 … 6-6, whose place and values do not say which half is the first.
DOUBLES = np.array([STONE_HALVES.index((a, a)) for a in range(7)], np.uint64)


@jit_inline
def player_at(place: int, player: int, players: int) -> int:
    """The player whom `player` sees at a place; below MAX_PLAYERS even if there is none."""
    seat = player + place
    return (seat - players if seat >= players else seat) & (MAX_PLAYERS - 1)


@jitable
def write_planes(state: State, player: int, chosen_seen: bool, observation: Observation) -> None:
    """Write the parts with a number for each field, from `values` to `marked`."""
    ones, twos, fours = state.values[0], state.values[1], state.values[2]
    for index in range(WORDS):
        offset = AT.values + index * WORD_BITS
        write_number_word(observation, offset, ones[index], twos[index], fours[index])
    across, upright = state.across, state.upright
    for index in range(WORDS):
        write_word(observation, AT.stones + index * WORD_BITS, across[index])
    for index in range(WORDS):
        write_word(observation, AT.stones + FIELDS + index * WORD_BITS, upright[index])
    players = state.num_players
    for place in range(MAX_PLAYERS):
        seat = player_at(place, player, players)
        meeples, blocks = state.meeples[seat], state.blocks[seat]
        there = all_or_none(place < players)
        for index in range(WORDS):
            offset = AT.owners + place * FIELDS + index * WORD_BITS
            write_word(observation, offset, (meeples[index] | blocks[index]) & there)
    for index in range(WORDS):
        word = state.blocks[0, index] | state.blocks[1, index]
        word |= state.blocks[2, index] | state.blocks[3, index]
        write_word(observation, AT.blocks + index * WORD_BITS, word)
    for index in range(AT.chosen_field, AT.hand):
        observation[index] = 0
    if chosen_seen and state.chosen_field != NO_FIELD:
        observation[AT.chosen_field + state.chosen_field] = 1
    if state.source != NO_FIELD:
        observation[AT.marked + state.source] = 1
    laid = np.uint64(state.setup_stones)
    while laid != ZERO:
        stone = popcount((laid - ONE) & ~laid)
        observation[AT.marked + state.first_field[stone]] = 1
        observation[AT.marked + np.int64(material.second_field(state, stone))] = 1
        laid &= laid - ONE


@jitable
def write_places(state: State, player: int, observation: Observation) -> None:
    """Write the parts with a number for each place, from `hand_sizes` to `dice_allowed`."""
    players, running = state.num_players, state.status == RUNNING
    for place in range(MAX_PLAYERS):
        seat = player_at(place, player, players)
        there = place < players
        stones = popcount(np.uint64(state.hands[seat]))
        observation[AT.hand_sizes + place] = stones if there else ZERO
        observation[AT.supply + place] = state.supply[seat] if there else 0
        observation[AT.scores + place] = state.scores[seat] if there else 0
        observation[AT.to_move + place] = there and running and state.to_move == seat
        observation[AT.passed + place] = state.passed[seat] if there else 0
        observation[AT.set_block + place] = state.set_block[seat] if there else 0
        observation[AT.dice_allowed + place] = state.dice_allowed[seat] if there else 0


@jitable
def observe(state: State, player: int, observation: Observation) -> None:
    """Write what a player sees, from front to back in the order of the table."""
    players = state.num_players
    chosen_seen = state.open_hands or state.to_move == player or state.phase >= MEEPLES
    write_planes(state, player, chosen_seen, observation)
    for place in range(MAX_PLAYERS):  # Place 0 in `hand`, the others behind it, in `other_hands`.
        hand = np.uint64(state.hands[player_at(place, player, players)])
        shown = all_or_none(place == 0 or (state.open_hands and place < players))
        write_word(observation, AT.hand + place * NUM_STONES, hand & shown)
    chosen = (ONE << np.uint64(state.chosen_stone)) & ALL_STONES & all_or_none(chosen_seen)
    write_word(observation, AT.chosen_stone, chosen)
    for number in range(7):  # The first half is right of the second, or below.
        direction = state.direction[DOUBLES[number]]
        observation[AT.turned_doubles + number] = direction in (UP, LEFT)
    for value in range(1, 7):
        observation[AT.dice + value - 1] = state.dice[value]
    write_places(state, player, observation)
    observation[AT.fails] = state.fails
    observation[AT.rerolled] = state.rerolled
    observation[AT.moved] = state.moved
    for value in range(1, 5):
        observation[AT.fired + value - 1] = (state.fired >> value) & 1
    observation[AT.new_meeples] = state.new_meeples
    observation[AT.stale_rounds] = state.stale_rounds
    observation[AT.round] = state.round
    # phase, seat and num_players are bits of one word.
    flags = ONE << np.uint64(state.phase)
    flags |= ONE << np.uint64(AT.seat - AT.phase + player)
    flags |= ONE << np.uint64(AT.num_players - AT.phase + players - 2)
    write_bytes(observation, AT.phase, flags, AT.dice_per_player - AT.phase)
    observation[AT.dice_per_player] = state.dice_per_player
    observation[AT.open_hands] = state.open_hands
    observation[AT.ply] = state.ply & 127
    observation[AT.ply + 1] = (state.ply >> 7) & 127
    observation[AT.ply + 2] = state.ply >> 14
