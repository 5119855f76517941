"""Which positions of meeples a player can be to move in: the part of `restore`'s checks that asks the kernel, too (M7–M27)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.checks import require, require_equal
from tabletop_envs.envs.meeples_checks import (
    HAND_SIZE,
    PHASES,
    SPECIAL_VALUES,
    STONES,
    Position,
    fields_of,
    neighbours,
)
from tabletop_envs.kernels import engine
from tabletop_envs.kernels.meeples import material as kernel
from tabletop_envs.kernels.meeples.material import FIRST_STONE, PASS
from tabletop_envs.kernels.meeples.stones import CENTRE
from tabletop_envs.kernels.meeples.table import FIELDS, WORDS


def check_turn(state: Any, position: Position, mover: int) -> None:
    """Everything that depends on whose turn it is."""
    if position.phase == kernel.SETUP:
        _check_setup(position, mover)
    else:
        _check_hands(position, mover)
    if position.phase in (kernel.BLOCKS, kernel.GIVE_UP):
        require(
            position.dice_allowed[mover] != 0,
            f"to_move is {mover}, but must be a player who may take dice (M14)",
        )
    if position.phase == kernel.GIVE_UP:
        require(
            mover in position.blocks.values(),
            f"to_move is {mover}, but must be a player with a block to give up",
        )
    if position.source is not None:
        require_equal(
            position.meeples[position.source],
            mover,
            "to_move, like the owner of the meeple on source,",
        )
    if position.phase == kernel.CLONE and position.source is not None:
        # It has just come there, so that M6 held; with a partner, its clone would be the third in a row.
        partners = [f for f in neighbours(position.source) if position.meeples.get(f) == mover]
        require(
            not partners,
            f"source is {position.source}, but must be beside no other meeple of player {mover}, as on {partners} (M6)",
        )
    require(
        position.phase >= kernel.MEEPLES or 0 not in position.supply,
        "supply must not have a 0 from an earlier round: the game would be over (M27)",
    )
    _check_choices(state, position, mover)


def _check_setup(position: Position, mover: int) -> None:
    """The stones and meeples of the setup, player by player (M7, M8)."""
    laid, chosen = len(position.setup_stones), position.chosen_stone is not None
    require(
        laid + chosen <= 2, "setup_stones must have at most two stones, with the one in chosen (M7)"
    )
    for stone in position.setup_stones:
        require(
            stone in position.places,
            f"setup_stones has {list(STONES[stone])}, but must have stones that are laid",
        )
    require_equal(
        len(position.places),
        2 * mover + laid,
        f"the number of laid stones (in the setup of player {mover})",
    )
    for player, hand in enumerate(position.hands):
        missing = 2 if player < mover else laid + chosen if player == mover else 0
        require_equal(
            len(hand),
            HAND_SIZE[position.players] - missing,
            f"the size of hands[{player}]",
        )
        meeples = list(position.meeples.values()).count(player)
        require_equal(
            meeples, int(player < mover), f"the number of meeples of player {player} (M8)"
        )
    if position.places:
        centre = int(CENTRE)
        require(
            (centre, centre + 1) in position.places.values(),
            f"stones must have one on {centre}, {centre + 1}, where the first one goes (M7)",
        )
    if laid == 2:
        first, second = (position.places[stone] for stone in position.setup_stones)
        require(
            any(near in second for field in first for near in neighbours(field)),
            "setup_stones has two stones that do not touch, but must (M7)",
        )
    for stone in position.setup_stones:
        occupied = [field for field in position.places[stone] if field in position.meeples]
        require(
            not occupied,
            f"meeples has one on {occupied}, but must have none on the stones of setup_stones (M8)",
        )
    field = position.chosen_field is not None
    require_equal(position.ply, 7 * mover + 3 * laid + chosen + field, "ply (in the setup)")
    _check_connected(position)


def _check_hands(position: Position, mover: int) -> None:
    """Each player has laid two stones and one in each round (M7, M11)."""
    laying = position.phase == kernel.STONES
    for player, hand in enumerate(position.hands):
        rounds = position.round - (laying and player >= mover)
        size = max(0, HAND_SIZE[position.players] - 2 - rounds)
        if laying and player == mover:
            require(size > 0, f"to_move is {mover}, but must be a player with a stone to lay (M11)")
            size -= position.chosen_stone is not None
        require_equal(len(hand), size, f"the size of hands[{player}]")
    if position.round == 1 and position.phase <= kernel.GIVE_UP:
        _check_connected(position)
    # Seven actions each in the setup, three for every further stone, and those of the stone being laid.
    least = 7 * position.players + 3 * (len(position.places) - 2 * position.players)
    if laying:
        least += (position.chosen_stone is not None) + (position.chosen_field is not None)
    require(
        position.ply >= least,
        f"ply is {position.ply}, but must be at least {least}: so many actions have laid these stones",
    )


def _check_connected(position: Position) -> None:
    """Before a stone can have been moved by M21 the layout is in one piece."""
    reached: set[int] = set()
    growing = list(position.values)[:1]
    while growing:
        field = growing.pop()
        if field not in reached:
            reached.add(field)
            growing += [near for near in neighbours(field) if near in position.values]
    require(
        len(reached) == len(position.values),
        "stones must lie in one piece until one may have been moved (M7, M11)",
    )


def _check_choices(state: Any, position: Position, mover: int) -> None:
    """What has been chosen was legal, and there is a legal action now; both asked of the kernel."""
    phase, name = position.phase, PHASES[position.phase]
    stone, field = position.chosen_stone, position.chosen_field
    laying = phase in (kernel.SETUP, kernel.STONES, kernel.LAND)
    require(stone is None or laying, f"chosen['stone'] must be None in phase {name!r}")
    require(
        field is None or stone is not None or phase in (kernel.MEEPLES, kernel.SIDESTEP),
        f"chosen['field'] must be None in phase {name!r} without a stone",
    )
    trial = np.zeros(1, state.dtype)
    trial[0] = state
    trial["to_move"] = mover
    trial["chosen_stone"], trial["chosen_field"] = kernel.NO_STONE, kernel.NO_FIELD
    if stone is not None:
        if phase != kernel.LAND:
            trial["hands"][0, mover] |= np.uint32(1 << stone)
        action = FIRST_STONE + stone
        require(
            action in _legal(trial), f"chosen['stone'] is {list(STONES[stone])}, but must be legal"
        )
        trial["hands"][0, mover] = state["hands"][mover]
        trial["chosen_stone"] = stone
    if field is not None:
        movable = laying or phase == kernel.SIDESTEP or position.meeples.get(field) == mover
        require(
            movable and field in _legal(trial), f"chosen['field'] is {field}, but must be legal"
        )
        trial["chosen_field"] = field
    elif phase <= kernel.STONES and stone is None and len(position.setup_stones) < 2:
        # Whichever stone is chosen, there must be a place for it.
        with_stone = trial.copy()
        with_stone["chosen_stone"] = min(position.hands[mover])
        require(
            bool(_legal(with_stone)),
            f"stones must leave player {mover} a place for the next one, but do not (M7, M11)",
        )
    legal = _legal(trial)
    if phase in SPECIAL_VALUES:
        require(
            bool(legal - {PASS}),
            f"phase is {name!r}, but must be one that can be carried out here (M25)",
        )
    require(bool(legal), f"phase is {name!r}, but must be one with a legal action here")
    if phase == kernel.GIVE_UP or position.rerolled:
        trial["phase"] = kernel.BLOCKS
        fits = any(action < FIELDS for action in _legal(trial))
        require(
            fits == (phase == kernel.BLOCKS),
            f"phase is {name!r}, but must be {'blocks' if fits else 'give_up'!r}: after the re-roll "
            f"{'a' if fits else 'no'} die fits (M13)",
        )


def _legal(states: Any) -> set[int]:
    """The legal actions of a state."""
    words = np.zeros(16, np.uint64)
    engine.advance_one(states, words, engine.REFRESH, 0, np.zeros(8, np.int64))
    return set(fields_of(words[: WORDS + 1]))
