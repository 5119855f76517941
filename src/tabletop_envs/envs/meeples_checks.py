"""Which positions of meeples `restore` takes, whoever is to move: material, pairs, dice and what is counted (M1–M27)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tabletop_envs.checks import require, require_equal
from tabletop_envs.kernels.meeples import material as kernel
from tabletop_envs.kernels.meeples.table import SIDE, WORD_BITS

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
LAST_ROUND = kernel.LAST_ROUND
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
