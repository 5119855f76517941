"""Where stones of meeples may lie, and the three actions that lay one (rules M3, M7, M11, M21).

A *place* is a field for the first half (1) and the direction of the second half (2) from there::

     2
     1      1 2       1      2 1
                      2
     up    right    down    left

A set of places is a tuple of four boards, by direction, of the fields for a first half: all places
at once, a few shifts each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.kernels import State
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline, jitable, popcount
from tabletop_envs.kernels.llvm import any_bits, count_bits
from tabletop_envs.kernels.meeples import material, table
from tabletop_envs.kernels.meeples.material import (
    FIRST_DIRECTION,
    FIRST_STONE,
    LAND,
    NO_FIELD,
    NO_STONE,
    NOT_LAID,
    NUM_STONES,
    STONES,
)
from tabletop_envs.kernels.meeples.table import (
    DOWN,
    FIELDS,
    LEFT,
    RIGHT,
    SIDE,
    UP,
    Board,
    StoredBoard,
    load,
)

# Boards by direction; a board of fields, and a word of all other actions.
Places = tuple[Board, Board, Board, Board]
Choices = tuple[Board, Any]

DIRECTION_SHIFT: Any = np.uint64(FIRST_DIRECTION - FIELDS)
# The first half of the game's first stone (M7).
CENTRE: Any = np.uint64(SIDE // 2 * SIDE + SIDE // 2 - 1)


@jit_inline
def find_places(first: Board, second: Board, rim: Board) -> Places:
    """The places with the halves on the fields `first` and `second`, one of them on the rim."""
    touching = second & rim
    first_touching = first & rim
    # Where the second half lies up from the first, the first lies down from the second, and so on.
    return (
        (first_touching & table.down(second)) | (first & table.down(touching)),
        (first_touching & table.left(second)) | (first & table.left(touching)),
        (first_touching & table.up(second)) | (first & table.up(touching)),
        (first_touching & table.right(second)) | (first & table.right(touching)),
    )


@jit_inline
def first_halves(places: Places) -> Board:
    """The fields for a first half in any of the places."""
    return places[UP] | places[RIGHT] | places[DOWN] | places[LEFT]


@jit_inline
def directions_from(places: Places, field: int) -> int:
    """The actions of the directions in which a place lies from a field (uint64)."""
    directions = (
        table.has(places[UP], field)
        | (table.has(places[RIGHT], field) << np.uint64(RIGHT))
        | (table.has(places[DOWN], field) << np.uint64(DOWN))
        | (table.has(places[LEFT], field) << np.uint64(LEFT))
    )
    return directions << DIRECTION_SHIFT


@jitable
def choose_place(state: State, action: int) -> bool:
    """Note a choice of stone or field (uint64); True when a direction makes the place complete."""
    if action < np.uint64(FIELDS):
        state.chosen_field = action
        return False
    if action < np.uint64(FIRST_DIRECTION):
        state.chosen_stone = action - np.uint64(FIRST_STONE)
        return False
    return True


@jit_inline
def chosen_direction(action: int) -> int:
    """The direction that an action chooses (uint64); of an illegal action any."""
    return (action - np.uint64(FIRST_DIRECTION)) & np.uint64(3)


@jit_inline
def stone_to_lay(state: State) -> int:
    """The stone that has been chosen (uint64); after an illegal action any."""
    return min(np.uint64(state.chosen_stone), np.uint64(NUM_STONES - 1))


@jitable
def lay_step(state: State, action: int) -> int:
    """Play one of the three actions that lay a stone from the hand.

    The stone once it lies, before that NO_STONE (uint64).
    """
    if not choose_place(state, action):
        if action >= np.uint64(FIRST_STONE):
            state.hands[state.to_move] &= ~(ONE << np.uint64(state.chosen_stone))
        return np.uint64(NO_STONE)
    stone = stone_to_lay(state)
    material.lay(state, stone, material.field_of(state.chosen_field), chosen_direction(action))
    return stone


@jitable
def first_setup_places(state: State) -> Places:
    """Where a player's first stone may lie: at the layout, with room for the second beside it (M7).

    The second stone needs a bare field beside the first, and another one beside that.
    """
    layout = material.layout_of(state)
    bare, rim = ~layout, table.neighbours(layout)
    none = table.NO_FIELDS
    if not any_bits(layout):
        return none, table.one_field(CENTRE), none, none
    above, below = table.down(bare), table.up(bare)
    left_of, right_of = table.right(bare), table.left(bare)
    room_above = table.down(bare & (above | left_of | right_of))
    room_below = table.up(bare & (below | left_of | right_of))
    room_left = table.right(bare & (left_of | above | below))
    room_right = table.left(bare & (right_of | above | below))
    beside, along = room_above | room_below, room_left | room_right
    across = (beside | room_left | table.left(beside | room_right)) & (rim | table.left(rim))
    upright = (along | room_above | table.up(along | room_below)) & (rim | table.up(rim))
    across &= bare & table.left(bare)
    upright &= bare & table.up(bare)
    return table.down(upright), across, upright, table.right(across)


@jitable
def second_setup_places(state: State) -> Places:
    """Where a player's second stone may lie: beside the first (M7)."""
    first_stone = popcount(np.uint64(state.setup_stones) - ONE)
    bare = ~material.layout_of(state)
    return find_places(bare, bare, table.neighbours(material.stone_fields(state, first_stone)))


@jitable
def stone_places(state: State) -> Places:
    """At the layout, not beside a stone with an own meeple unless there is no such place (M11)."""
    layout = material.layout_of(state)
    own = load(state.meeples[state.to_move])
    bare, rim = ~layout, table.neighbours(layout)
    allowed = bare & ~table.neighbours(own | material.other_halves(state, own))
    places = find_places(allowed, allowed, rim)
    if not any_bits(first_halves(places)):
        places = find_places(bare, bare, rim)
    return places


@jitable
def land_places(state: State, stone: int) -> Places:
    """Where a stone may land with what it carries (M21): M6 holds, its set of fields changes."""
    first, second = np.uint64(state.first_field[stone]), material.second_field(state, stone)
    first_board, second_board = table.one_field(first), table.one_field(second)
    rest = material.layout_of(state) & ~(first_board | second_board)
    first_banned, second_banned = rest, rest
    for player in range(state.num_players):
        meeples = load(state.meeples[player])
        beside = table.neighbours(meeples & ~(first_board | second_board))
        first_banned |= beside & table.all_or_none(table.has(meeples, first) != ZERO)
        second_banned |= beside & table.all_or_none(table.has(meeples, second) != ZERO)
    places = find_places(~first_banned, ~second_banned, table.neighbours(rest))
    # Neither where it was nor the same turned round.
    direction = state.direction[stone]
    return (
        places[UP] & ~unchanged(first_board, second_board, direction, UP, DOWN),
        places[RIGHT] & ~unchanged(first_board, second_board, direction, RIGHT, LEFT),
        places[DOWN] & ~unchanged(first_board, second_board, direction, DOWN, UP),
        places[LEFT] & ~unchanged(first_board, second_board, direction, LEFT, RIGHT),
    )


@jit_inline
def unchanged(first: Board, second: Board, direction: int, same: int, opposite: int) -> Board:
    """The first halves from which the direction `same` would give the stone's old set of fields."""
    as_before, turned = (
        table.all_or_none(direction == same),
        table.all_or_none(direction == opposite),
    )
    return (first & as_before) | (second & turned)


@jitable
def stones_to_land(state: State) -> int:
    """The stones that may be picked up (M21): beside a bare field, with a place to go to."""
    layout = material.layout_of(state)
    bare = ~layout
    open_halves = layout & table.neighbours(bare)
    # Calm fields suit every stone: they are away from all meeples. One at the layout serves all
    # stones but those that it touches, and at most six touch one stone: seven serve them all.
    calm = bare & ~table.neighbours(material.of_all_players(state.meeples))
    plenty = count_bits(calm & table.neighbours(layout) & table.neighbours(calm)) > np.uint64(6)
    stones = ZERO
    for index in range(NUM_STONES):
        stone = np.uint64(index)
        is_open = table.has(open_halves, np.uint64(state.first_field[stone]))
        is_open |= table.has(open_halves, material.second_field(state, stone))
        is_open &= np.uint64(state.direction[stone] != NOT_LAID)
        if not plenty and is_open:
            is_open = np.uint64(any_bits(first_halves(land_places(state, stone))))
        stones |= is_open << stone
    return stones


@jitable
def place_actions(state: State) -> Choices:
    """The fields for the first half of the chosen stone, or directions from the chosen field."""
    if state.phase == LAND:
        places = land_places(state, np.uint64(state.chosen_stone))
    elif state.phase == STONES:
        places = stone_places(state)
    elif state.setup_stones == 0:
        places = first_setup_places(state)
    else:
        places = second_setup_places(state)
    if state.chosen_field == NO_FIELD:
        return first_halves(places), ZERO
    return table.NO_FIELDS, directions_from(places, np.uint64(state.chosen_field))


@jit_inline
def carry(array: StoredBoard, old_first: int, old_second: int, first: int, second: int) -> None:
    """Carry what stands on a stone's halves along; old and new fields may overlap."""
    on_first, on_second = table.bit_at(array, old_first), table.bit_at(array, old_second)
    table.toggle(array, old_first, on_first)
    table.toggle(array, old_second, on_second)
    table.toggle(array, first, on_first)
    table.toggle(array, second, on_second)
