"""The rules of meeples, on bitboards (rules M1–M29; the manual is `tabletop_envs.envs.meeples`).

The phases::

    SETUP ──▶ STONES ──▶ BLOCKS ◀─▶ GIVE_UP
                ▲          │
                │          ▼
                └─────── MEEPLES ◀─▶ LAND, SIDESTEP, CLONE, TELEPORT

SETUP       lay two stones, put a meeple
STONES      lay a stone: three actions (stone, field, direction)
BLOCKS      set a block, pass or re-roll
GIVE_UP     give up a block
MEEPLES     put a meeple; move one: two actions (which one, where to); end the turn
LAND …      carry out a special action

Each phase has a function `…_actions`, the choices that can be completed, and a function `…_step`.
A set of actions is 13 words of 48 bits: a board of fields (`table`), and one word of all other
actions (`material`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.kernels import BY_LIMIT, RUNNING, TERMINATED, Kernel, LegalBits, State, register
from tabletop_envs.kernels.bits import ONE, ZERO, jit_inline, jitable, popcount
from tabletop_envs.kernels.llvm import any_bits, store
from tabletop_envs.kernels.meeples import material, observation, stones, table
from tabletop_envs.kernels.meeples.material import (
    BLOCKS,
    CLONE,
    GIVE_UP,
    LAND,
    MEEPLES,
    NO_FIELD,
    NO_STONE,
    PASS,
    REROLL,
    SETUP,
    SIDESTEP,
    STONES,
)
from tabletop_envs.kernels.meeples.stones import Choices
from tabletop_envs.kernels.meeples.table import FIELDS, WORD_BITS, WORDS, Board, load

PASS_BIT: Any = ONE << np.uint64(PASS - FIELDS)
REROLL_BIT: Any = ONE << np.uint64(REROLL - FIELDS)


# Setup (M7–M9)


@jitable
def setup_actions(state: State) -> Choices:
    """A stone; once more; then one of the four fields for the meeple (M8)."""
    laid = np.uint64(state.setup_stones)
    if popcount(laid) == np.uint64(2):
        fields = table.NO_FIELDS
        for stone in range(material.NUM_STONES):
            if (laid >> np.uint64(stone)) & ONE:
                fields |= material.stone_fields(state, np.uint64(stone))
        return fields & material.valued_fields(state), ZERO
    return table.NO_FIELDS, np.uint64(state.hands[state.to_move])


@jitable
def setup_step(state: State, action: int) -> None:
    """Lay a stone, or put the meeple; then the next player's setup or the first round (M9)."""
    if popcount(np.uint64(state.setup_stones)) < np.uint64(2):
        stone = stones.lay_step(state, action)
        state.setup_stones |= (ONE << stone) & material.ALL_STONES
        return
    material.put(state, material.field_of(action))
    state.setup_stones = 0
    if state.to_move + 1 < state.num_players:
        state.to_move += 1
    else:
        begin_round(state)


# The round and its stones (M10, M11)


@jitable
def begin_round(state: State) -> None:
    """Remove the blocks and roll the dice (M10)."""
    state.round += 1
    state.new_meeples = 0
    for player in range(state.num_players):
        store(state.blocks[player], 0, table.NO_FIELDS)
    material.roll(state, state.num_players * state.dice_per_player)
    stones_or_blocks(state, 0)


@jitable
def stones_or_blocks(state: State, first_player: int) -> None:
    """Let the next player with stones in hand, from this one on, lay one (M11), else set blocks."""
    for player in range(first_player, state.num_players):
        if state.hands[player] != 0:
            state.phase, state.to_move = STONES, player
            return
    state.phase, state.to_move = BLOCKS, 0


@jitable
def stones_actions(state: State) -> Choices:
    """A stone (M11). None is bound to its values, so all of the hand have places, or none."""
    return table.NO_FIELDS, np.uint64(state.hands[state.to_move])


@jitable
def stones_step(state: State, action: int) -> None:
    """Lay the stone; then the next player is to move."""
    if stones.lay_step(state, action) != np.uint64(NO_STONE):
        stones_or_blocks(state, state.to_move + 1)


# Blocks (M12–M17)


@jit_inline
def block_fields(state: State, player: int) -> Board:
    """Where the player may set a block with a die of the pool (M12)."""
    fields = table.NO_FIELDS
    for value in range(1, 7):
        in_pool = table.all_or_none(state.dice[value] > 0)
        fields |= material.fields_of_value(state, np.uint64(value)) & in_pool
    own_blocks, own_meeples = load(state.blocks[player]), load(state.meeples[player])
    fields &= table.neighbours(own_blocks | own_meeples)
    return fields & ~(own_blocks | material.of_all_players(state.meeples))


@jitable
def blocks_actions(state: State) -> Choices:
    """Set a block or pass; where no die fits, re-roll or pass (M13, M14, M16)."""
    fields = block_fields(state, state.to_move)
    return fields, PASS_BIT | (REROLL_BIT & ~table.all_or_none(any_bits(fields)))


@jitable
def blocks_step(state: State, action: int) -> None:
    """Set a block, pass, or re-roll."""
    player = state.to_move
    if action == np.uint64(REROLL):
        material.roll(state, material.dice_in_pool(state))
        state.rerolled = True
        if not any_bits(block_fields(state, player)):
            fail(state)
        return
    if action == np.uint64(PASS):
        allow_one_die_more(state)
        state.passed[player] = True
        state.dice_allowed[player] = 0
    else:
        take_die(state, player, material.field_of(action))
    end_blocks_turn(state)


@jitable
def take_die(state: State, player: int, field: int) -> None:
    """Set a block and take the die; a foreign block is replaced (M12)."""
    state.dice[material.value_at(state, field)] -= 1
    for other in range(state.num_players):
        table.toggle(state.blocks[other], field, table.bit_at(state.blocks[other], field))
    table.toggle(state.blocks[player], field, ONE)
    state.set_block[player] = True
    state.fails = 0
    state.dice_allowed[player] -= state.dice_allowed[player] > 0


@jitable
def allow_one_die_more(state: State) -> None:
    """Let everybody take only one more die from the first pass on (M15): all were UNLIMITED."""
    for player in range(state.num_players):
        if state.dice_allowed[player] == material.UNLIMITED:
            state.dice_allowed[player] = 1


@jitable
def fail(state: State) -> None:
    """Count a failed turn: no die fits after the re-roll either (M13)."""
    player = state.to_move
    state.fails += 1
    state.rerolled = False
    if state.set_block[player] and any_bits(load(state.blocks[player])):
        state.phase = GIVE_UP
    else:
        end_blocks_turn(state)


@jitable
def give_up_actions(state: State) -> Choices:
    """Any own block."""
    return load(state.blocks[state.to_move]), ZERO


@jitable
def give_up_step(state: State, action: int) -> None:
    """Remove the block; its die returns to the pool with the value of that field (M13)."""
    field = material.field_of(action)
    table.toggle(state.blocks[state.to_move], field, ONE)
    state.dice[material.value_at(state, field)] += 1
    state.phase = BLOCKS
    end_blocks_turn(state)


@jitable
def end_blocks_turn(state: State) -> None:
    """End the phase (M17), or let the next player move who may still take a die."""
    state.rerolled = False
    players = state.num_players
    still_in = 0
    for player in range(players):
        still_in += state.dice_allowed[player] != 0
    if material.dice_in_pool(state) == 0 or state.fails >= still_in:
        material.reset_blocks_bookkeeping(state)
        state.phase, state.to_move = MEEPLES, 0
        return
    player = state.to_move
    while True:
        player = player + 1 if player + 1 < players else 0
        if state.dice_allowed[player] != 0:
            break
    state.to_move = player


# Meeples (M18, M19)


@jitable
def meeples_actions(state: State) -> Choices:
    """Put a meeple, move one, or end the turn (M18); M6 ignores a moved meeple's old field."""
    player = state.to_move
    own, blocks = load(state.meeples[player]), load(state.blocks[player])
    if state.chosen_field != NO_FIELD:
        staying = own & ~table.one_field(np.uint64(state.chosen_field))
        return blocks & ~table.neighbours(staying), ZERO
    from_above, from_below = table.down(own), table.up(own)
    from_left, from_right = table.right(own), table.left(own)
    vertical, horizontal = from_above | from_below, from_left | from_right
    several = (from_above & from_below) | (from_left & from_right) | (vertical & horizontal)
    open_blocks = blocks & ~(vertical | horizontal)
    # A block beside exactly one own meeple is open to that meeple alone.
    beside_one = blocks & (vertical | horizontal) & ~several
    movable = own & (table.neighbours(beside_one) | table.all_or_none(any_bits(open_blocks)))
    movable &= table.all_or_none(not state.moved)
    return (open_blocks & table.all_or_none(state.supply[player] > 0)) | movable, PASS_BIT


@jitable
def meeples_step(state: State, action: int) -> None:
    """Put a meeple, choose one or move it, or end the turn."""
    player = state.to_move
    if action == np.uint64(PASS):
        end_meeples_turn(state)
        return
    field = material.field_of(action)
    chosen = np.uint64(state.chosen_field)
    if chosen == np.uint64(NO_FIELD) and not table.bit_at(state.blocks[player], field):
        state.chosen_field = field
        return
    table.toggle(state.blocks[player], field, ONE)
    if chosen == np.uint64(NO_FIELD):
        material.put(state, field)
        state.new_meeples += 1
    else:
        material.move(state, player, chosen, field)
        state.chosen_field = NO_FIELD
        state.moved = True
    occupied(state, field)


@jitable
def end_meeples_turn(state: State) -> None:
    """Let the next player move, or end the round and perhaps the game (M27)."""
    state.moved = False
    if state.to_move + 1 < state.num_players:
        state.to_move += 1
        return
    hands_empty, supply_empty, room = True, False, False
    meeples, valued = material.of_all_players(state.meeples), material.valued_fields(state)
    for player in range(state.num_players):
        hands_empty &= state.hands[player] == 0
        supply_empty |= state.supply[player] == 0
        room |= any_bits(valued & ~meeples & ~table.neighbours(load(state.meeples[player])))
    stale_rounds = state.stale_rounds + 1 if hands_empty and state.new_meeples == 0 else 0
    state.stale_rounds = stale_rounds
    if supply_empty or not room or stale_rounds == material.STALE_ROUNDS:
        state.status, state.to_move = TERMINATED, 0
    else:
        begin_round(state)


# Special actions (M19–M26)


@jitable
def occupied(state: State, field: int) -> None:
    """Set off the special action of a newly occupied field, each value once a chain (M19, M25)."""
    value = material.value_at(state, field)
    if ONE <= value <= np.uint64(4) and not (np.uint64(state.fired) >> value) & ONE:
        state.fired |= ONE << value
        state.source = field
        state.phase = material.SPECIAL_OF_0 - np.int64(value)
    else:
        end_chain(state)


@jitable
def end_chain(state: State) -> None:
    """End the running special action and its chain."""
    state.fired = 0
    state.source = NO_FIELD
    state.phase = MEEPLES


@jitable
def land_actions(state: State) -> Choices:
    """A stone (M21)."""
    return table.NO_FIELDS, stones.stones_to_land(state)


@jitable
def land_step(state: State, action: int) -> None:
    """Pick the stone up with everything on it and lay it elsewhere."""
    if not stones.choose_place(state, action):
        return
    stone = stones.stone_to_lay(state)
    old_first, old_second = np.uint64(state.first_field[stone]), material.second_field(state, stone)
    material.toggle_stone(state, stone)
    material.lay(
        state, stone, material.field_of(state.chosen_field), stones.chosen_direction(action)
    )
    first, second = np.uint64(state.first_field[stone]), material.second_field(state, stone)
    for player in range(state.num_players):
        stones.carry(state.meeples[player], old_first, old_second, first, second)
        stones.carry(state.blocks[player], old_first, old_second, first, second)
    end_chain(state)


@jitable
def sidestep_actions(state: State) -> Choices:
    """Any meeple that can go diagonally to an empty field, then the field (M22).

    A diagonal step never ends beside its own start, so M6 may look at all meeples where they are.
    """
    empty = material.empty_fields(state)
    chosen = np.uint64(state.chosen_field)
    fields = table.NO_FIELDS
    for player in range(state.num_players):
        meeples = load(state.meeples[player])
        targets = empty & ~table.neighbours(meeples)
        if chosen == np.uint64(NO_FIELD):
            fields |= meeples & table.diagonals(targets)
        else:
            fields |= targets & table.diagonals(meeples & table.one_field(chosen))
    return fields, PASS_BIT if chosen == np.uint64(NO_FIELD) else ZERO


@jitable
def sidestep_step(state: State, action: int) -> None:
    """Decline, choose a meeple, or move it; an own one occupies its field (M26)."""
    if action == np.uint64(PASS):
        end_chain(state)
        return
    field = material.field_of(action)
    chosen = np.uint64(state.chosen_field)
    if chosen == np.uint64(NO_FIELD):
        state.chosen_field = field
        return
    state.chosen_field = NO_FIELD
    for player in range(state.num_players):
        if table.bit_at(state.meeples[player], chosen):
            material.move(state, player, chosen, field)
    if table.bit_at(state.meeples[state.to_move], field):
        occupied(state, field)
    else:
        end_chain(state)


@jitable
def clone_actions(state: State) -> Choices:
    """An empty field beside the source, beside no other own meeple (M23, M6)."""
    player = state.to_move
    source = table.one_field(np.uint64(state.source))
    others = load(state.meeples[player]) & ~source
    targets = material.empty_fields(state) & table.neighbours(source) & ~table.neighbours(others)
    return targets & table.all_or_none(state.supply[player] > 0), ZERO


@jitable
def clone_step(state: State, action: int) -> None:
    """Put the clone, which occupies its field (M26)."""
    field = material.field_of(action)
    material.put(state, field)
    state.new_meeples += 1
    occupied(state, field)


@jitable
def teleport_actions(state: State) -> Choices:
    """Another empty field of value 1 (M24, M6)."""
    others = load(state.meeples[state.to_move]) & ~table.one_field(np.uint64(state.source))
    targets = material.empty_fields(state) & material.fields_of_value(state, ONE)
    return targets & ~table.neighbours(others), ZERO


@jitable
def teleport_step(state: State, action: int) -> None:
    """Move the meeple that set it off there."""
    material.move(state, state.to_move, material.field_of(state.source), material.field_of(action))
    end_chain(state)


# The game as a whole


@jitable
def choices(state: State) -> Choices:
    """The choices that can be completed, by phase: a board of fields, and a word of all others."""
    phase = state.phase
    if state.chosen_stone != NO_STONE:
        return stones.place_actions(state)
    if phase == SETUP:
        return setup_actions(state)
    if phase == STONES:
        return stones_actions(state)
    if phase == BLOCKS:
        return blocks_actions(state)
    if phase == GIVE_UP:
        return give_up_actions(state)
    if phase == MEEPLES:
        return meeples_actions(state)
    if phase == LAND:
        return land_actions(state)
    if phase == SIDESTEP:
        return sidestep_actions(state)
    if phase == CLONE:
        return clone_actions(state)
    return teleport_actions(state)


@jitable
def legal_actions(state: State, legal_bits: LegalBits) -> None:
    """Write the set of legal actions."""
    fields, others = choices(state)
    store(legal_bits, 0, fields)
    legal_bits[WORDS] = others


@jitable
def step(state: State, action: int) -> None:
    """Play a legal action, by phase; then the limit of M29."""
    choice = min(np.uint64(action), np.uint64(material.NUM_ACTIONS - 1))
    phase = state.phase
    if phase == SETUP:
        setup_step(state, choice)
    elif phase == STONES:
        stones_step(state, choice)
    elif phase == BLOCKS:
        blocks_step(state, choice)
    elif phase == GIVE_UP:
        give_up_step(state, choice)
    elif phase == MEEPLES:
        meeples_step(state, choice)
    elif phase == LAND:
        land_step(state, choice)
    elif phase == SIDESTEP:
        sidestep_step(state, choice)
    elif phase == CLONE:
        clone_step(state, choice)
    else:
        teleport_step(state, choice)
    if state.phase >= LAND and state.chosen_stone == NO_STONE and state.chosen_field == NO_FIELD:
        # A special action that has just been set off falls away if it cannot be carried out (M25).
        fields, others = choices(state)
        if not any_bits(fields) and others & ~PASS_BIT == ZERO:
            end_chain(state)
    state.ply += 1
    if state.status == RUNNING and state.ply >= state.max_plies:
        state.status = BY_LIMIT


KERNEL = register(
    Kernel(
        material.STATE, material.NUM_ACTIONS, WORD_BITS, observation.OBSERVATION, material.UNKEYED
    ),
    start_function=material.start,
    legal_actions_function=legal_actions,
    step_function=step,
    observe_function=observation.observe,
    deal_hidden_function=material.deal_hidden,
)
