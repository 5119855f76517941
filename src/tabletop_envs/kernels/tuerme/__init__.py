"""The rules of tuerme, on bitboards (rules T1–T15; the manual is `tabletop_envs.envs.tuerme`).

`plan.py` has the board and its numbering, `walks.py` where stacks may move.

Action = plane · 112 + square of the stack, so a set of actions is two words of 56 bits a plane (the
upper half of the board, the lower), and one for the pass::

    plane 0 … 13       move to that column of the same row
    plane 14 … 21      move to row plane − 14 of the same column
    action 22 · 112    pass
"""

from __future__ import annotations

import numpy as np

from tabletop_envs.kernels import (
    BY_LIMIT,
    RUNNING,
    TERMINATED,
    Kernel,
    LegalBits,
    Observation,
    Part,
    State,
    offsets,
    register,
    rng,
    state_dtype,
)
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline, jitable, write_bytes
from tabletop_envs.kernels.llvm import (
    any_bits,
    count_bits,
    entry,
    local_words,
    shuffle,
    store,
    write_number_word,
    write_word,
)
from tabletop_envs.kernels.tuerme.plan import (
    CITIES,
    CITY,
    CITY_AT,
    COLUMNS,
    HALF,
    LOT_SYMBOLS,
    LOTS,
    NO_BOARD,
    NO_CITY,
    NUM_STONES,
    ROWS,
    SQUARES,
    STREET_SQUARES,
    STREETS,
    Board,
    if_has,
    load,
    one_square,
    put,
)
from tabletop_envs.kernels.tuerme.walks import Position, moves_to_columns, moves_to_rows

MAX_PLAYERS = COLOURS = SYMBOLS = 4
COPIES = 5
PASS = (COLUMNS + ROWS) * SQUARES
NUM_ACTIONS = PASS + 1
MAX_HEIGHT = 5
# The highest score: all stones in 20 stacks of one colour, four of them of height 5 in the city
# that counts double.
MAX_SCORE = NUM_STONES + 4 * MAX_HEIGHT

PLANE = (ROWS, COLUMNS)
OBSERVATION = (
    Part(
        "colours",
        (COLOURS, *PLANE),
        "planes of the stacks of each player's colour in seat order, then of the neutral colours "
        "by number; on streets and in lots, like all stacks below",
    ),
    Part(
        "movable",
        (1, *PLANE),
        "the stacks that the observing player may move: own, neutral, on streets",
    ),
    Part("symbols", (SYMBOLS, *PLANE), "planes of the stacks of each symbol"),
    Part("heights", (1, *PLANE), "the height of the stack on each square", high=MAX_HEIGHT),
    Part("vacant_lots", (SYMBOLS, *PLANE), "planes of the vacant lots of each symbol"),
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

STATE = state_dtype(
    MAX_PLAYERS,
    ("colours", np.uint64, (COLOURS, 2)),  # the stacks of each colour, on streets and in lots
    ("symbols", np.uint64, (2, 2)),  # the two bits of the symbols of stacks and of lots
    ("heights", np.uint64, (3, 2)),  # the three bits of the stacks' heights
    ("passes", np.int8),  # how many players have just passed in a row
    ("ending_city", np.int8),  # the city that ended the game by T11, else −1
    ("slide", np.int8),
    ("end_on_any_full_city", np.int8),
)

_COLUMNS, _SQUARES, _STONES = np.uint64(COLUMNS), np.uint64(SQUARES), np.uint64(NUM_STONES)
_PLANES, _2, _3 = np.uint64(COLUMNS + ROWS), np.uint64(2), np.uint64(3)
first_rows = shuffle(*range(2 * ROWS))


@jit_inline
def occupied_squares(state: State) -> Board:
    """The squares with a stack."""
    colours = state.colours
    return load(colours[0]) | load(colours[1]) | load(colours[2]) | load(colours[3])


@jit_inline
def movable_stacks(state: State, player: int) -> Board:
    """The stacks that a player may move: the own and the neutral on streets (T4, T5, T9)."""
    movable = load(state.colours[player])
    for colour in range(2, COLOURS):
        movable |= load(state.colours[colour]) if colour >= state.num_players else NO_BOARD
    return movable & STREETS


@jitable
def start(state: State) -> None:
    """A new game: the shuffled stones, one on each street square (T3); options are kept."""
    for colour in range(COLOURS):
        store(state.colours[colour], 0, NO_BOARD)
    store(state.symbols[0], 0, LOT_SYMBOLS[0])
    store(state.symbols[1], 0, LOT_SYMBOLS[1])
    store(state.heights[0], 0, STREETS)
    store(state.heights[1], 0, NO_BOARD)
    store(state.heights[2], 0, NO_BOARD)
    # Stone i has the colour i / 20 and the symbol (i / 5) mod 4. Fisher and Yates's shuffle, from
    # the last place down: each stone is laid as soon as its place is settled.
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
        symbol = stone // np.uint64(COPIES)
        put(state.colours[symbol // np.uint64(SYMBOLS)], square, ONE)
        put(state.symbols[0], square, symbol & ONE)
        put(state.symbols[1], square, (symbol >> ONE) & ONE)
    state.rng = generator
    state.passes = 0
    state.ending_city = -1
    state.ply = 0
    state.to_move = 0
    state.status = RUNNING
    for player in range(MAX_PLAYERS):
        state.scores[player] = 0


@jit_inline
def position(state: State) -> Position:
    """The board as walks see it."""
    occupied = occupied_squares(state)
    ones, twos, fours = load(state.heights[0]), load(state.heights[1]), load(state.heights[2])
    return Position(
        STREETS & ~occupied,
        LOTS & ~occupied,
        load(state.symbols[0]),
        load(state.symbols[1]),
        (twos | fours) & ~ones,
        (twos & ones) | (fours & ~ones),
        occupied & STREETS & ~(ones & fours),
    )


@jitable
def legal_actions(state: State, legal_bits: LegalBits) -> None:
    """The set of legal actions: moves (T5–T9), or the pass where there is none (T10)."""
    here, slide = position(state), state.slide != 0
    movable = movable_stacks(state, state.to_move)
    by_column = moves_to_columns(here, slide) & movable
    by_row = first_rows(moves_to_rows(here, slide)) & movable
    # The columns 14 and 15 do not exist: the planes of the rows are written over theirs.
    store(legal_bits, 0, by_column)
    store(legal_bits, 2 * COLUMNS, by_row)
    legal_bits[2 * (COLUMNS + ROWS)] = np.uint64(not (any_bits(by_column) | any_bits(by_row)))


@jitable
def stones_on(state: State, squares: Board) -> int:
    """The sum of the heights of the stacks on some squares."""
    return np.int16(
        count_bits(load(state.heights[0]) & squares)
        + (count_bits(load(state.heights[1]) & squares) << ONE)
        + (count_bits(load(state.heights[2]) & squares) << _2)
    )


@jitable
def city_is_full(state: State, city: int) -> bool:
    """Whether the lots of a city end the game: all of one colour, or full by that option (T11)."""
    lots = load(CITY[city])
    full = state.end_on_any_full_city != 0 and not any_bits(lots & ~occupied_squares(state))
    for colour in range(COLOURS):
        full |= not any_bits(lots & ~load(state.colours[colour]))
    return full


@jitable
def symbols_shown(state: State, squares: Board) -> int:
    """The symbols on some squares: bit k for symbol k."""
    ones, twos = load(state.symbols[0]), load(state.symbols[1])
    return (
        np.uint64(any_bits(squares & ~ones & ~twos))
        | (np.uint64(any_bits(squares & ones & ~twos)) << ONE)
        | (np.uint64(any_bits(squares & ~ones & twos)) << _2)
        | (np.uint64(any_bits(squares & ones & twos)) << _3)
    )


@jitable
def lots_are_settled(state: State) -> bool:
    """Whether no stack on a street shows a symbol of which a lot is vacant (T12)."""
    occupied = occupied_squares(state)
    on_streets, vacant = occupied & STREETS, LOTS & ~occupied
    return symbols_shown(state, on_streets) & symbols_shown(state, vacant) == ZERO


@jitable
def score(state: State) -> None:
    """Write all players' scores (T13)."""
    for player in range(state.num_players):
        own = load(state.colours[player])
        stones = stones_on(state, own & LOTS)
        if state.ending_city >= 0:
            stones += stones_on(state, own & load(CITY[state.ending_city]))
        state.scores[player] = stones


@jitable
def move(state: State, square: int, target: int) -> None:
    """Move the stack on a square to another one (T5, T8).

    Without branches, because random play defeats any guess: boards change whether a bit is set or
    not.
    """
    reached = one_square(target)
    others = ~(one_square(square) | reached)
    for colour in range(COLOURS):
        board = state.colours[colour]
        store(board, 0, (load(board) & others) | if_has(board, square, reached))
    for digit in range(2):
        # On the target this symbol is there already, or none.
        board = state.symbols[digit]
        store(board, 0, (load(board) & others) | if_has(board, square, reached))
    # The heights add up, bit by bit.
    carry = NO_BOARD
    for digit in range(3):
        board = state.heights[digit]
        own, under = if_has(board, square, reached), load(board) & reached
        store(board, 0, (load(board) & others) | (own ^ under ^ carry))
        carry = (own & under) | (carry & (own | under))


@jitable
def step(state: State, action: int) -> None:
    """Play a legal action: a move or the pass, then the ends of T11, T12 and T14."""
    plane, square = np.uint64(action) // _SQUARES, np.uint64(action) % _SQUARES
    ended = False
    if plane < _PLANES:
        state.passes = 0
        column = square % _COLUMNS
        along_row = plane < _COLUMNS
        target = square - column + plane if along_row else (plane - _COLUMNS) * _COLUMNS + column
        move(state, square, target)
        city = CITY_AT[target]
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
def write_plane(observation: Observation, offset: int, board: Board) -> None:
    """Write a board as a plane."""
    write_word(observation, offset, entry(board, ZERO))
    write_word(observation, offset + HALF, entry(board, ONE))


@jit_inline
def flag(value: int, offset: int) -> int:
    """The word (uint64) that is written from `num_players` on, with `value` (0, 1) at an offset."""
    return np.uint64(value) << np.uint64(offset - AT.num_players)


@jitable
def observe(state: State, player: int, observation: Observation) -> None:
    """What a player sees (`OBSERVATION`), the own colour first."""
    players = state.num_players
    occupied = occupied_squares(state)
    for place in range(COLOURS):
        colour = player + place
        colour = colour - players if colour >= players else colour
        colour = np.uint64(colour if place < players else place)
        write_plane(observation, AT.colours + place * SQUARES, load(state.colours[colour]))
    write_plane(observation, AT.movable, movable_stacks(state, np.uint64(player)))
    ones, twos = load(state.symbols[0]), load(state.symbols[1])
    shown = (~(ones | twos), ones & ~twos, twos & ~ones, ones & twos)
    for symbol in range(SYMBOLS):
        write_plane(observation, AT.symbols + symbol * SQUARES, shown[symbol] & occupied)
    heights = state.heights
    for half in range(2):
        offset = AT.heights + half * HALF
        write_number_word(observation, offset, heights[0, half], heights[1, half], heights[2, half])
    vacant = LOTS & ~occupied
    for symbol in range(SYMBOLS):
        write_plane(observation, AT.vacant_lots + symbol * SQUARES, shown[symbol] & vacant)
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
