"""The rules of tuerme, on bitboards (rules T1–T15; the manual is `tabletop_envs.envs.tuerme`).

The board, its numbering and the walks on it are in `tuerme_board.py`. A bitboard takes two words, the upper half of
the board (rows 0 … 3) and the lower (rows 4 … 7), of 56 bits each.

Action = plane · 112 + square of the stack, so a set of actions is two words a plane, and one for the pass::

    plane 0 … 13       move to that column of the same row
    plane 14 … 21      move to row plane − 14 of the same column
    action 22 · 112    pass
"""

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
    rng,
    state_dtype,
)
from tabletop_envs.kernels.bits import (
    ONE,
    ZERO,
    jit_inline,
    jitable,
    local_words,
    popcount,
    write_bytes,
    write_number_word,
    write_word,
)
from tabletop_envs.kernels.tuerme_board import (
    CITIES,
    CITY,
    COLUMNS,
    HALF,
    LOT_SYMBOLS,
    LOTS,
    NUM_STONES,
    ROWS,
    SQUARES,
    STREET_SQUARES,
    STREETS,
    Boards,
    column_planes,
    row_planes,
)
from tabletop_envs.kernels.vectors import any_bits, shuffle, store

MAX_PLAYERS = COLOURS = SYMBOLS = 4
COPIES = 5
PASS = (COLUMNS + ROWS) * SQUARES
NUM_ACTIONS = PASS + 1
MAX_HEIGHT = 5
# The highest score: all stones in 20 stacks of one colour, four of them of height 5 in the city that counts double.
MAX_SCORE = NUM_STONES + 4 * MAX_HEIGHT

BOARD = (ROWS, COLUMNS)
OBSERVATION = (
    Part(
        "colours",
        (COLOURS, *BOARD),
        "planes of the stacks of each player's colour in seat order, then of the neutral colours by "
        "number; on streets and in lots, like all stacks below",
    ),
    Part(
        "movable",
        (1, *BOARD),
        "the stacks that the observing player may move: own, neutral, on streets",
    ),
    Part("symbols", (SYMBOLS, *BOARD), "planes of the stacks of each symbol"),
    Part("heights", (1, *BOARD), "the height of the stack on each square", high=MAX_HEIGHT),
    Part("vacant_lots", (SYMBOLS, *BOARD), "planes of the vacant lots of each symbol"),
    Part("num_players", (3,), "2, 3, 4 players"),
    Part("to_move", (4,), "who is to move; all 0 once the game is over"),
    Part("seat", (4,), "the observing player: `player_0` … `player_3`"),
    Part("scores", (4,), "the scores as they stand, in seat order", high=MAX_SCORE),
    Part("passes", (1,), "how many players have just passed in a row", high=4),
    Part("ending_city", (CITIES,), "the city that ended the game"),
    Part("slide", (1,), "that option"),
    Part("end_on_any_full_city", (1,), "that option"),
    Part("ply", (3,), "actions played, in base 128, lowest digit first", high=127),
)
AT = offsets(OBSERVATION)

# Of each board the two halves: [..., 0] the upper, [..., 1] the lower.
STATE = state_dtype(
    MAX_PLAYERS,
    ("colours", np.uint64, (COLOURS, 2)),  # the stacks of each colour, on streets and in lots
    ("symbols", np.uint64, (2, 2)),  # the two binary digits of the symbols of stacks and of lots
    ("heights", np.uint64, (3, 2)),  # the three binary digits of the stacks' heights
    ("passes", np.int8),  # how many players have just passed in a row
    ("ending_city", np.int8),  # the city that ended the game by T11, else −1
    ("slide", np.int8),
    ("end_on_any_full_city", np.int8),
)

_HALF, _COLUMNS, _SQUARES = np.uint64(HALF), np.uint64(COLUMNS), np.uint64(SQUARES)
_PLANES, _STONES = np.uint64(COLUMNS + ROWS), np.uint64(NUM_STONES)
_2, _3 = np.uint64(2), np.uint64(3)
NO_CITY = np.uint64(CITIES)
# The entries of two vectors in turn: the first eight of the sixteen, and the last.
interleaved_first = shuffle(0, 8, 1, 9, 2, 10, 3, 11)
interleaved_last = shuffle(4, 12, 5, 13, 6, 14, 7, 15)


@jit_inline
def occupied_squares(state: Any, half: int) -> int:
    """The squares of a half with a stack."""
    colours = state.colours
    return colours[0, half] | colours[1, half] | colours[2, half] | colours[3, half]


@jit_inline
def movable_stacks(state: Any, player: int, half: int) -> int:
    """The stacks of a half that a player (uint64) may move: the own and the neutral on streets (T4, T5, T9)."""
    own = state.colours[player, half]
    colour_2 = state.colours[2, half] if state.num_players < 3 else ZERO
    colour_3 = state.colours[3, half] if state.num_players < 4 else ZERO
    return (own | colour_2 | colour_3) & STREETS


@njit
def start(state: Any) -> None:
    """A new game: the shuffled stones, one on each street square (T3); options are kept."""
    for half in range(2):
        for colour in range(COLOURS):
            state.colours[colour, half] = ZERO
        state.symbols[0, half] = LOT_SYMBOLS[0]
        state.symbols[1, half] = LOT_SYMBOLS[1]
        state.heights[0, half] = STREETS
        state.heights[1, half] = ZERO
        state.heights[2, half] = ZERO
    # Stone i has the colour i / 20 and the symbol (i / 5) mod 4. Fisher and Yates's shuffle, from the last place down:
    # each stone is laid as soon as its place is settled.
    stones = local_words(NUM_STONES)
    for stone in range(_STONES):
        stones[stone] = stone
    generator = state.rng
    for settled in range(_STONES):
        place = _STONES - ONE - settled
        other = ZERO
        if place > ZERO:
            generator, other = rng.below(generator, place + ONE)
        stone = stones[other]
        stones[other] = stones[place]
        square = STREET_SQUARES[place]
        half = np.uint64(square >= _HALF)
        bit = ONE << (square - _HALF * half)
        symbol = stone // np.uint64(COPIES)
        state.colours[symbol // np.uint64(SYMBOLS), half] |= bit
        state.symbols[0, half] |= bit * (symbol & ONE)
        state.symbols[1, half] |= bit * ((symbol >> ONE) & ONE)
    state.rng = generator
    state.passes = 0
    state.ending_city = -1
    state.ply = 0
    state.to_move = 0
    state.status = RUNNING
    for player in range(MAX_PLAYERS):
        state.scores[player] = 0


@jit_inline
def boards_of(state: Any, half: int) -> Boards:
    """The boards of a half."""
    occupied = occupied_squares(state, half)
    ones, twos, fours = state.heights[0, half], state.heights[1, half], state.heights[2, half]
    return Boards(
        STREETS & ~occupied,
        LOTS & ~occupied,
        state.symbols[0, half],
        state.symbols[1, half],
        (twos | fours) & ~ones,
        (twos & ones) | (fours & ~ones),
        occupied & STREETS & ~(ones & fours),
    )


@jit_inline
def write_planes(words: Any, plane: int, upper: Any, lower: Any) -> None:
    """Write eight planes, word by word from either half."""
    store(words, 2 * plane, interleaved_first(upper, lower))
    store(words, 2 * plane + 8, interleaved_last(upper, lower))


@njit
def legal_actions(state: Any, words: Any) -> None:
    """The set of legal actions: moves (T5–T9), or the pass where there is none (T10)."""
    player, slide = np.uint64(state.to_move), state.slide != 0
    upper, lower = boards_of(state, 0), boards_of(state, 1)
    movable_upper, movable_lower = (
        movable_stacks(state, player, 0),
        movable_stacks(state, player, 1),
    )
    first_upper, last_upper = row_planes(upper, slide)
    first_lower, last_lower = row_planes(lower, slide)
    by_row_upper, by_row_lower = column_planes(upper, lower, slide)
    first_upper, first_lower = first_upper & movable_upper, first_lower & movable_lower
    last_upper, last_lower = last_upper & movable_upper, last_lower & movable_lower
    by_row_upper, by_row_lower = by_row_upper & movable_upper, by_row_lower & movable_lower
    # The columns 14 and 15 do not exist: the planes of the rows are written over theirs.
    write_planes(words, 0, first_upper, first_lower)
    write_planes(words, 8, last_upper, last_lower)
    write_planes(words, COLUMNS, by_row_upper, by_row_lower)
    moves = any_bits(
        first_upper | first_lower | last_upper | last_lower | by_row_upper | by_row_lower
    )
    words[2 * (COLUMNS + ROWS)] = np.uint64(not moves)


@jitable
def stones_on(state: Any, half: int, squares: int) -> int:
    """The sum of the heights of the stacks on some squares of a half."""
    return np.int16(
        popcount(state.heights[0, half] & squares)
        + (popcount(state.heights[1, half] & squares) << ONE)
        + (popcount(state.heights[2, half] & squares) << _2)
    )


@jitable
def city_is_full(state: Any, city: int) -> bool:
    """Whether the lots of a city (uint64) end the game: all of one colour, or all full with that option (T11)."""
    half, lots = city >> _2, CITY[city & _3]
    full = state.end_on_any_full_city != 0 and occupied_squares(state, half) & lots == lots
    for colour in range(np.uint64(COLOURS)):
        full |= state.colours[colour, half] & lots == lots
    return full


@jitable
def symbols_shown(state: Any, half: int, squares: int) -> int:
    """The symbols on some squares of a half: bit k for symbol k."""
    ones, twos = state.symbols[0, half], state.symbols[1, half]
    return (
        np.uint64(squares & ~ones & ~twos != ZERO)
        | (np.uint64(squares & ones & ~twos != ZERO) << ONE)
        | (np.uint64(squares & ~ones & twos != ZERO) << _2)
        | (np.uint64(squares & ones & twos != ZERO) << _3)
    )


@jitable
def lots_are_settled(state: Any) -> bool:
    """Whether no stack on a street shows a symbol of which a lot is vacant (T12)."""
    upper, lower = occupied_squares(state, 0), occupied_squares(state, 1)
    on_streets = symbols_shown(state, 0, upper & STREETS) | symbols_shown(state, 1, lower & STREETS)
    vacant = symbols_shown(state, 0, LOTS & ~upper) | symbols_shown(state, 1, LOTS & ~lower)
    return on_streets & vacant == ZERO


@jitable
def score(state: Any) -> None:
    """Write all players' scores (T13)."""
    for player in range(state.num_players):
        stones = 0
        for half in range(2):
            stones += stones_on(state, half, state.colours[player, half] & LOTS)
        if state.ending_city >= 0:
            half, city = np.uint64(state.ending_city) >> _2, np.uint64(state.ending_city) & _3
            stones += stones_on(state, half, state.colours[player, half] & CITY[city])
        state.scores[player] = stones


@jitable
def move(state: Any, plane: int, square: int) -> int:
    """Move the stack on a square (T5, T8); the city (uint64) in whose lots it then stands, or `NO_CITY`.

    Without branches, because random play defeats any guess: bits are taken out and put in whether set or not.
    """
    column = square % _COLUMNS
    along_row = plane < _COLUMNS
    target = square - column + plane if along_row else (plane - _COLUMNS) * _COLUMNS + column
    half, target_half = np.uint64(square >= _HALF), np.uint64(target >= _HALF)
    square, target = square - _HALF * half, target - _HALF * target_half
    left, reached = ~(ONE << square), ~(ONE << target)
    for colour in range(COLOURS):
        mine = (state.colours[colour, half] >> square) & ONE
        state.colours[colour, half] &= left
        other = state.colours[colour, target_half] & reached
        state.colours[colour, target_half] = other | (mine << target)
    for digit in range(2):
        # On the target this symbol is there already, or none.
        shown = (state.symbols[digit, half] >> square) & ONE
        state.symbols[digit, half] &= left
        state.symbols[digit, target_half] |= shown << target
    height = ZERO
    for digit in range(np.uint64(3)):
        height += ((state.heights[digit, half] >> square) & ONE) << digit
        height += ((state.heights[digit, target_half] >> target) & ONE) << digit
        state.heights[digit, half] &= left
    for digit in range(np.uint64(3)):
        other = state.heights[digit, target_half] & reached
        state.heights[digit, target_half] = other | (((height >> digit) & ONE) << target)
    city = NO_CITY
    for quarter in range(np.uint64(CITIES // 2)):
        city = city if CITY[quarter] & reached == CITY[quarter] else quarter + (target_half << _2)
    return city


@njit
def step(state: Any, action: int) -> None:
    """Play a legal action: a move or the pass, then the ends of T11, T12 and T14."""
    plane, square = np.uint64(action) // _SQUARES, np.uint64(action) % _SQUARES
    ended = False
    if plane < _PLANES:
        state.passes = 0
        city = move(state, plane, square)
        # Only a stack that comes to stand in a lot changes scores, or ends the game.
        if city != NO_CITY:
            ended = city_is_full(state, city)
            if ended:
                state.ending_city = np.int8(city)
            score(state)
            ended = ended or lots_are_settled(state)
    else:
        state.passes += 1
        ended = state.passes >= state.num_players
    ply = state.ply + 1
    state.ply = ply
    if ended:
        state.status = TERMINATED
    elif ply >= state.max_plies:
        state.status = BY_LIMIT
    following = state.to_move + 1
    state.to_move = 0 if following >= state.num_players else following


@jit_inline
def write_plane(observation: Any, offset: int, upper: int, lower: int) -> None:
    """Write a bitboard as a plane."""
    write_word(observation, offset, upper)
    write_word(observation, offset + HALF, lower)


@jit_inline
def flag(value: int, offset: int) -> int:
    """The word (uint64) that `observe` writes from `num_players` on, with `value` (0 or 1) at an offset."""
    return np.uint64(value) << np.uint64(offset - AT.num_players)


@njit
def observe(state: Any, player: int, observation: Any) -> None:
    """What a player sees (`OBSERVATION`), the own colour first."""
    players = state.num_players
    upper, lower = occupied_squares(state, 0), occupied_squares(state, 1)
    for place in range(COLOURS):
        colour = player + place
        colour = colour - players if colour >= players else colour
        colour = np.uint64(colour if place < players else place)
        plane = AT.colours + place * SQUARES
        write_plane(observation, plane, state.colours[colour, 0], state.colours[colour, 1])
    me = np.uint64(player)
    movable = movable_stacks(state, me, 0), movable_stacks(state, me, 1)
    write_plane(observation, AT.movable, movable[0], movable[1])
    ones, ones_lower = state.symbols[0, 0], state.symbols[0, 1]
    twos, twos_lower = state.symbols[1, 0], state.symbols[1, 1]
    shown = (
        (~(ones | twos), ~(ones_lower | twos_lower)),
        (ones & ~twos, ones_lower & ~twos_lower),
        (twos & ~ones, twos_lower & ~ones_lower),
        (ones & twos, ones_lower & twos_lower),
    )
    for symbol in range(SYMBOLS):
        plane = AT.symbols + symbol * SQUARES
        write_plane(observation, plane, shown[symbol][0] & upper, shown[symbol][1] & lower)
    for half in range(2):
        ones, twos, fours = state.heights[0, half], state.heights[1, half], state.heights[2, half]
        write_number_word(observation, AT.heights + half * HALF, ones, twos, fours)
    upper, lower = LOTS & ~upper, LOTS & ~lower
    for symbol in range(SYMBOLS):
        plane = AT.vacant_lots + symbol * SQUARES
        write_plane(observation, plane, shown[symbol][0] & upper, shown[symbol][1] & lower)
    # All numbers that are 0 or 1 are bits of one word; the others are written over their zeros.
    mover = state.to_move - player
    mover = mover + players if mover < 0 else mover
    running = np.uint64(state.status == RUNNING)
    flags = (
        flag(ONE, AT.num_players + players - 2)
        | flag(running, AT.to_move + mover)
        | flag(ONE, AT.seat + player)
        | flag(state.ending_city >= 0, AT.ending_city + max(state.ending_city, 0))
        | flag(state.slide, AT.slide)
        | flag(state.end_on_any_full_city, AT.end_on_any_full_city)
    )
    write_bytes(observation, AT.num_players, flags, AT.ply + 3 - AT.num_players)
    for place in range(MAX_PLAYERS):
        other = player + place
        other = other - players if other >= players else other
        score_there = state.scores[np.uint64(other) & _3] if place < players else 0
        observation[AT.scores + place] = score_there
    observation[AT.passes] = state.passes
    observation[AT.ply] = state.ply & 127
    observation[AT.ply + 1] = (state.ply >> 7) & 127
    observation[AT.ply + 2] = state.ply >> 14


KERNEL = register(
    Kernel(STATE, NUM_ACTIONS, HALF, OBSERVATION),
    start_function=start,
    legal_actions_function=legal_actions,
    step_function=step,
    observe_function=observe,
)
