"""Which positions of meeples the rules allow: everything that `restore` checks beyond types (M1–M28)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_envs.checks import require, require_equal
from tabletop_envs.kernels import engine
from tabletop_envs.kernels import meeples_state as kernel
from tabletop_envs.kernels.meeples import PASS
from tabletop_envs.kernels.meeples_stones import CENTRE, FIRST_STONE
from tabletop_envs.kernels.meeples_table import FIELDS, SIDE, WORD_BITS, WORDS

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
STONES = tuple((a, b) for a in range(7) for b in range(a, 7))
STEPS = (-SIDE, 1, SIDE, -1)  # up, right, down, left
HAND_SIZE = {2: 14, 3: 9, 4: 7}
# No round of a game has a higher number: 103 is the most that M27 allows (`check_last_round`), and some are left for puzzles.
LAST_ROUND = 120
SPECIAL_VALUES = {kernel.LAND: 4, kernel.SIDESTEP: 3, kernel.CLONE: 2, kernel.TELEPORT: 1}


@dataclass
class Position:
    """What a snapshot says, in plain types."""

    players: int
    dice_per_player: int
    ply: int
    phase: int
    round: int
    places: dict[int, tuple[int, int]]  # stone -> fields of its halves
    values: dict[int, int]  # field -> value
    hands: list[set[int]]
    meeples: dict[int, int]  # field -> player
    blocks: dict[int, int]
    supply: list[int]
    dice: list[int]
    chosen_stone: int | None
    chosen_field: int | None
    setup_stones: list[int]
    moved: bool
    source: int | None
    fired: list[int]
    new_meeples: int
    stale_rounds: int
    passed: list[bool]
    set_block: list[bool]
    dice_allowed: list[int | None]
    fails: int
    rerolled: bool


def neighbours(field: int) -> list[int]:
    """The fields of the table that share an edge with a field."""
    row, column = divmod(field, SIDE)
    near = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
    return [r * SIDE + c for r, c in near if 0 <= r < SIDE and 0 <= c < SIDE]


def fields_of(words: Any) -> list[int]:
    """The fields of a board, ascending."""
    return [
        WORD_BITS * index + bit
        for index, word in enumerate(words.tolist())
        if word
        for bit in range(WORD_BITS)
        if word >> bit & 1
    ]


# Checks that do not need to know whose turn it is


def check_material(position: Position) -> None:
    """Stones, meeples and supply are complete (M1, M2, M4); nothing shares a field."""
    held: list[int] = [stone for hand in position.hands for stone in hand]
    if position.chosen_stone is not None and position.phase != kernel.LAND:
        held.append(position.chosen_stone)
    stones = [*position.places, *held]
    for stone in stones:
        require(
            stones.count(stone) == 1,
            f"stones and hands must have each stone once, but the stone {list(STONES[stone])} is there twice (M1)",
        )
    expected = position.players * HAND_SIZE[position.players]
    require(
        len(stones) == expected,
        f"stones and hands must have {expected} stones together, but {len(stones)} stones are there (M2)",
    )
    both = position.meeples.keys() & position.blocks.keys()
    require(
        not both,
        f"meeples and blocks must not share a field, but a meeple and a block stand on {sorted(both)}",
    )
    for player in range(position.players):
        on_table = list(position.meeples.values()).count(player)
        require_equal(position.supply[player], 10 - on_table, f"the supply of player {player} (M4)")


def check_pairs(position: Position) -> None:
    """One colour side by side: only a clone and its source, which stood on a 2 (M6, M23)."""
    for field, player in position.meeples.items():
        partners = [near for near in neighbours(field) if position.meeples.get(near) == player]
        require(
            len(partners) <= 1
            and all(2 in (position.values[field], position.values[near]) for near in partners),
            f"meeples of player {player} stand on {sorted([field, *partners])}: "
            "only a clone may be beside its source on a 2, all others must be apart (M6)",
        )


def check_dice(position: Position) -> None:
    """The pool: none in the setup, all while stones are laid; each block has cost a die (M9, M10, M12)."""
    total = position.players * position.dice_per_player
    pool, blocks, phase = len(position.dice), len(position.blocks), position.phase
    if phase == kernel.SETUP:
        require(pool == 0, "dice must be empty, but dice lie in the pool: phase is 'setup' (M9)")
    elif phase == kernel.STONES:
        require(
            pool == total, f"dice has {pool} entries, but must have {total} in phase 'stones' (M10)"
        )
    if phase in (kernel.SETUP, kernel.STONES):
        require(
            blocks == 0,
            f"blocks must be empty, but there are blocks: phase is {PHASES[phase]!r} (M10)",
        )
    require(
        pool + blocks <= total,
        f"dice and blocks must be {total} at most together, but {pool} dice and {blocks} blocks are there (M4, M12)",
    )


def check_bookkeeping(position: Position) -> None:
    """What is counted fits the phase and the table."""
    phase, players = position.phase, position.players
    name = PHASES[phase]
    require(
        (position.round == 0) == (phase == kernel.SETUP),
        f"round is {position.round}, but must be 0 in the setup and only there: phase is {name!r}",
    )
    require(
        len(set(position.fired)) == len(position.fired),
        f"fired is {position.fired}, but must have no value twice",
    )
    if phase in SPECIAL_VALUES:
        value = SPECIAL_VALUES[phase]
        require(
            position.source is not None and position.values.get(position.source) == value,
            f"source is {position.source}, but must be a field of value {value} in phase {name!r}",
        )
        require(
            position.source in position.meeples,
            f"source is {position.source}, but must be a field with a meeple",
        )
        require(
            value in position.fired and set(position.fired) <= {2, 3, value},
            f"fired is {position.fired}, but must have {value} and no others than 2 and 3 in phase {name!r} (M26)",
        )
    else:
        require(
            position.source is None,
            f"source is {position.source}, but must be None in phase {name!r}",
        )
        require(
            not position.fired, f"fired is {position.fired}, but must be empty in phase {name!r}"
        )
    early = phase < kernel.MEEPLES
    require(not (position.moved and early), f"moved is True, but must be False in phase {name!r}")
    most = 0 if early else len(position.meeples) - players
    require(
        position.new_meeples <= most,
        f"new_meeples is {position.new_meeples}, but must be at most {most} (phase {name!r})",
    )
    empty_rounds = position.round - (HAND_SIZE[players] - 2) + (position.stale_rounds == 3)
    require(
        position.stale_rounds <= max(0, empty_rounds),
        f"stale_rounds is {position.stale_rounds}, but must be at most {max(0, empty_rounds)}: "
        "no more rounds have ended with all hands empty (M27)",
    )
    check_last_round(position)
    if phase not in (kernel.BLOCKS, kernel.GIVE_UP):
        for key, first in (
            ("passed", [False] * players),
            ("set_block", [False] * players),
            ("dice_allowed", [None] * players),
            ("fails", 0),
            ("rerolled", False),
        ):
            given = getattr(position, key)
            require(given == first, f"{key} is {given}, but must be {first} in phase {name!r}")
    else:
        _check_blocks_phase(position)
    if phase != kernel.SETUP:
        require(not position.setup_stones, f"setup_stones must be empty in phase {name!r}")
        for player in range(players):
            require(
                player in position.meeples.values(),
                f"meeples must have one of each player, but player {player} has no meeple on the table (M8)",
            )


def check_last_round(position: Position) -> None:
    """However the game continues, its rounds can be counted up to LAST_ROUND.

    From the round on that empties the hands each new meeple, but each player's last, can put the end of the game off by
    three rounds, and three rounds in a row without any end it (M27).
    """
    spare = sum(supply - 1 for supply in position.supply)
    emptied = HAND_SIZE[position.players] - 2  # the round that empties the hands
    if 0 in position.supply:
        more = 0
    elif position.round < emptied:
        more = emptied - position.round + 3 * spare + 2
    elif position.new_meeples > 0:
        more = 3 * spare + 3
    else:
        more = max(0, 3 * spare + 2 - position.stale_rounds)
    require(
        position.round + more <= LAST_ROUND,
        f"round is {position.round}, but must be at most {LAST_ROUND - more}: {more} more rounds may follow (M27)",
    )


def _check_blocks_phase(position: Position) -> None:
    """Who has passed, set blocks and may take dice (M12–M17)."""
    limited = any(position.passed)
    still_in = sum(allowed != 0 for allowed in position.dice_allowed)
    for player in range(position.players):
        allowed = position.dice_allowed[player]
        words = f"dice_allowed of player {player} is {allowed}, but must be"
        require(
            (allowed is not None) == limited,
            f"{words} {'0 or 1' if limited else None}, since passed is {position.passed} (M15)",
        )
        require(
            not position.passed[player] or allowed == 0,
            f"{words} 0, since the player has passed (M14)",
        )
        require(
            allowed != 0 or position.passed[player] or position.set_block[player],
            f"{words} 1, since the player has neither passed nor set a block (M15)",
        )
        require(
            position.set_block[player] or player not in position.blocks.values(),
            f"set_block of player {player} is False, but must be True: blocks has one of the player",
        )
    require(bool(position.dice), "dice must not be empty: the phase would be over (M17)")
    taken = position.players * position.dice_per_player - len(position.dice)
    require(
        taken == 0 or any(position.set_block),
        "dice must be complete, or set_block True for who has taken the missing",
    )
    if position.phase == kernel.BLOCKS:
        require(
            position.fails < still_in,
            f"fails is {position.fails}, but must be less than the {still_in} players still in (M17)",
        )
    else:
        require(
            1 <= position.fails <= still_in,
            f"fails is {position.fails}, but must be from 1 to {still_in} in phase 'give_up'",
        )
        require(not position.rerolled, "rerolled is True, but must be False in phase 'give_up'")


# Checks for the player in turn


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
    engine.advance_one(states, words, engine.SHOW, 0, np.zeros(8, np.int64))
    return set(fields_of(words[: WORDS + 1]))
