"""The rules of kirche, on bitboards (rules K1–K12; the manual is `tabletop_envs.envs.kirche`).

Squares of the 7×7 board, and so the bits of a bitboard and the offsets within an action plane::

     0  1  2  3  4  5  6
     7  8  9 10 11 12 13
    14 15 16 17 18 19 20
    21 22 23 24 25 26 27       24: where the pastor starts
    28 29 30 31 32 33 34
    35 36 37 38 39 40 41
    42 43 44 45 46 47 48

Action = plane · 49 + square, so a set of actions is 27 words of 49 bits, one bitboard a plane::

    plane 0, 1          place a piece with horizontal, vertical ridge on the square
    plane 2 + 2·o + t   move the piece on the square along its ridge; t = 1: turn it afterwards
                        o = 0 … 5: 1 … 6 squares right or down, o = 6 … 11: 1 … 6 squares left or up
    plane 26            the piece on the square swaps with the pastor
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
    state_dtype,
)
from tabletop_envs.kernels.bits import ONE, ZERO, Board, board, jit_inline, jitable, write_bytes

SIZE = 7
SQUARES = SIZE * SIZE
NUM_ACTIONS = 27 * SQUARES
PLACE_HORIZONTAL, PLACE_VERTICAL = np.uint64(0), np.uint64(1)
FIRST_MOVE_PLANE, SWAP_PLANE = np.uint64(2), np.uint64(26)

OBSERVATION = (
    Part("own_pieces", (3, SIZE, SIZE), "planes of the own spire, nave, houses"),
    Part("other_pieces", (3, SIZE, SIZE), "the same of the other player"),
    Part("ridges", (2, SIZE, SIZE), "planes of the pieces with horizontal, vertical ridge"),
    Part("pastor", (1, SIZE, SIZE), "where the pastor stands"),
    Part("phase", (3,), "churches, houses, moves"),
    Part("to_move", (2,), "the player to move: own, other; both 0 at the end"),
    Part("seat", (2,), "the observing player: light, dark"),
    Part("houses_left", (2,), "houses still to be placed: own, other", high=7),
    Part("ply", (3,), "actions played, in base 128, lowest digit first", high=127),
)
AT = offsets(OBSERVATION)

STATE = state_dtype(
    2,
    ("pieces", np.uint64, (2,)),  # every piece of light, of dark
    ("spires", np.uint64),  # both players' together, as in all boards below
    ("naves", np.uint64),
    ("horizontal", np.uint64),  # pieces whose ridge is horizontal
    ("pastor", np.uint64),
    ("num_houses", np.int8),
)

ALL = board(". . . . . . .".replace(".", "#") * 7)
CENTRE = board("""
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . # . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .""")
CORNERS = board("""
    # . . . . . #
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    # . . . . . #""")
EDGE = board("""
    # # # # # # #
    # . . . . . #
    # . . . . . #
    # . . . . . #
    # . . . . . #
    # . . . . . #
    # # # # # # #""")
# COLUMNS_FROM[d]: the columns d … 6; COLUMNS_BEFORE[d]: the columns 0 … 6 − d. A shift by d along a
# row must not carry a bit over the end of the row.
COLUMNS_FROM = np.array([board(("." * d + "#" * (7 - d)) * 7) for d in range(7)])
COLUMNS_BEFORE = np.array([board(("#" * (7 - d) + "." * d) * 7) for d in range(7)])

_1, _7, _48, _63 = np.uint64(1), np.uint64(7), np.uint64(48), np.uint64(63)
MAIN_DIAGONAL_CORNERS = ONE | (ONE << _48)


@jit_inline
def neighbours(squares: Board) -> Board:
    """The squares adjacent to any of `squares` (bitboards)."""
    return (
        ((squares & COLUMNS_FROM[1]) >> _1)
        | ((squares & COLUMNS_BEFORE[1]) << _1)
        | (squares >> _7)
        | ((squares << _7) & ALL)
    )


@jitable
def start(state: State) -> None:
    """An empty board with the pastor in its centre (K1); options and `rng` are kept."""
    state.pieces[0] = ZERO
    state.pieces[1] = ZERO
    state.spires = ZERO
    state.naves = ZERO
    state.horizontal = ZERO
    state.pastor = CENTRE
    state.ply = 0
    state.to_move = 0
    state.num_players = 2
    state.status = RUNNING
    state.scores[0] = 0
    state.scores[1] = 0


@jitable
def placements(state: State) -> Board:
    """The squares where the player to move may place the next piece (K3, K4), as a bitboard."""
    if state.ply >= 4:
        own = state.pieces[state.to_move]
        return ALL & ~(state.pieces[0] | state.pieces[1] | state.pastor | neighbours(own))
    if state.ply & 1:
        # The corner diagonally opposite the spire just placed (K3).
        spire = state.pieces[state.to_move]
        if spire & MAIN_DIAGONAL_CORNERS:
            return MAIN_DIAGONAL_CORNERS ^ spire
        return CORNERS ^ MAIN_DIAGONAL_CORNERS ^ spire
    return CORNERS & ~state.pieces[0]


@jitable
def legal_actions(state: State, legal_bits: LegalBits) -> None:
    """The set of legal actions: placements (K3, K4), or moves and swaps (K7, K8)."""
    if state.ply < 4 + 2 * state.num_houses:
        squares = placements(state)
        legal_bits[PLACE_HORIZONTAL] = squares
        legal_bits[PLACE_VERTICAL] = squares
        for plane in range(FIRST_MOVE_PLANE, SWAP_PLANE + 1):
            legal_bits[plane] = ZERO
        return
    legal_bits[PLACE_HORIZONTAL] = ZERO
    legal_bits[PLACE_VERTICAL] = ZERO
    own = state.pieces[state.to_move]
    along_row = own & state.horizontal
    along_column = own & ~state.horizontal
    empty = ALL & ~(state.pieces[0] | state.pieces[1] | state.pastor)
    # A piece reaches distance d where it reaches d − 1 and the square d away is empty: the square's
    # bit is shifted to the piece's.
    right, left, down, up = along_row, along_row, along_column, along_column
    movable = ZERO
    for distance in range(1, SIZE):
        by_row, by_column = np.uint64(distance), np.uint64(SIZE * distance)
        right &= (empty & COLUMNS_FROM[distance]) >> by_row
        left &= (empty & COLUMNS_BEFORE[distance]) << by_row
        down &= empty >> by_column
        up &= empty << by_column
        forward, backward = right | down, left | up
        legal_bits[2 * distance] = forward
        legal_bits[2 * distance + 1] = forward
        legal_bits[2 * distance + 12] = backward
        legal_bits[2 * distance + 13] = backward
        if distance == 1:
            movable = forward | backward
    legal_bits[SWAP_PLANE] = own & ~movable


@jitable
def connected(town: Board, start: Board) -> bool:
    """Whether `town` is one group of adjacent squares; `start` is a part of it."""
    reached = start
    while True:
        grown = (reached | neighbours(reached)) & town
        if grown == reached:
            return reached == town
        reached = grown


@jitable
def town_complete(state: State, player: int) -> bool:
    """Whether the player's pieces form a town (K10): the cheap and seldom met conditions first."""
    own = state.pieces[player]
    spire, nave = own & state.spires, own & state.naves
    if not neighbours(spire) & nave:
        return False
    return not (spire | nave) & EDGE and connected(own, spire | nave)


@jitable
def place(state: State, square: Board, horizontal: bool) -> None:
    """Put the next piece of the player to move on a square (a bitboard of one) (K3, K4)."""
    state.pieces[state.to_move] |= square
    if horizontal:
        state.horizontal |= square
    if state.ply < 4:
        if state.ply & 1:
            state.naves |= square
        else:
            state.spires |= square


@jitable
def move(state: State, plane: int, square: int) -> None:
    """Move the piece on a square along its ridge, or swap it with the pastor, and turn it (K7, K8).

    Without branches, because random play defeats any guess: a condition is a word of all ones or
    all zeros.
    """
    origin = ONE << square
    swap = plane == SWAP_PLANE
    horizontal = (state.horizontal >> square) & ONE
    stride = _7 - np.uint64(6) * horizontal
    reach = (plane - FIRST_MOVE_PLANE) >> ONE
    forward = origin << ((stride * (reach + ONE)) & _63)
    backward = origin >> ((stride * (reach - np.uint64(5))) & _63)
    target = forward if reach < np.uint64(6) else backward
    target = state.pastor if swap else target
    state.pastor = origin if swap else state.pastor
    # An illegal move may lead beyond the board.
    target &= ALL
    both = origin | target
    state.pieces[state.to_move] ^= both
    state.spires ^= both & (ZERO - ((state.spires >> square) & ONE))
    state.naves ^= both & (ZERO - ((state.naves >> square) & ONE))
    ridge = horizontal ^ (np.uint64(swap) | (plane & ONE))
    state.horizontal = (state.horizontal & ~origin) | (target & (ZERO - ridge))


@jitable
def step(state: State, action: int) -> None:
    """Play a legal action: K3, K4, K7 or K8, then the ends of K10 and K11."""
    plane, square = np.uint64(action) // np.uint64(SQUARES), np.uint64(action) % np.uint64(SQUARES)
    won = False
    if plane < FIRST_MOVE_PLANE:
        place(state, ONE << square, plane == PLACE_HORIZONTAL)
    else:
        move(state, plane, square)
        won = town_complete(state, state.to_move)
    ply = state.ply + 1
    state.ply = ply
    if won:
        state.scores[state.to_move] = 1
        state.status = TERMINATED
    elif ply >= state.max_plies:
        state.status = BY_LIMIT
    # Light places both pieces of its church before dark does (K3); then they alternate, light
    # first.
    state.to_move = ply >> 1 if ply < 4 else 1 - state.to_move


@jitable
def observe(state: State, player: int, observation: Observation) -> None:
    """What a player sees (`OBSERVATION`), own pieces first."""
    other = 1 - player
    own_pieces, other_pieces = state.pieces[player], state.pieces[other]
    church = state.spires | state.naves
    pieces = own_pieces | other_pieces
    write_bytes(observation, AT.own_pieces, own_pieces & state.spires, SQUARES)
    write_bytes(observation, AT.own_pieces + SQUARES, own_pieces & state.naves, SQUARES)
    write_bytes(observation, AT.own_pieces + 2 * SQUARES, own_pieces & ~church, SQUARES)
    write_bytes(observation, AT.other_pieces, other_pieces & state.spires, SQUARES)
    write_bytes(observation, AT.other_pieces + SQUARES, other_pieces & state.naves, SQUARES)
    write_bytes(observation, AT.other_pieces + 2 * SQUARES, other_pieces & ~church, SQUARES)
    write_bytes(observation, AT.ridges, pieces & state.horizontal, SQUARES)
    write_bytes(observation, AT.ridges + SQUARES, pieces & ~state.horizontal, SQUARES)
    write_bytes(observation, AT.pastor, state.pastor, SQUARES)
    ply, houses = state.ply, 2 * state.num_houses
    placed = min(max(ply - 4, 0), houses)
    light_left, dark_left = state.num_houses - (placed + 1) // 2, state.num_houses - placed // 2
    running = state.status == RUNNING
    observation[AT.phase] = ply < 4
    observation[AT.phase + 1] = 4 <= ply < 4 + houses
    observation[AT.phase + 2] = ply >= 4 + houses
    observation[AT.to_move] = running and state.to_move == player
    observation[AT.to_move + 1] = running and state.to_move == other
    observation[AT.seat] = player == 0
    observation[AT.seat + 1] = player == 1
    observation[AT.houses_left] = light_left if player == 0 else dark_left
    observation[AT.houses_left + 1] = dark_left if player == 0 else light_left
    observation[AT.ply] = ply & 127
    observation[AT.ply + 1] = (ply >> 7) & 127
    observation[AT.ply + 2] = ply >> 14


KERNEL = register(
    Kernel(STATE, NUM_ACTIONS, SQUARES, OBSERVATION),
    start_function=start,
    legal_actions_function=legal_actions,
    step_function=step,
    observe_function=observe,
)
