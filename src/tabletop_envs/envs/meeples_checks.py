"""Which positions of meeples `restore` takes: the position counts, not its history (M1–M27)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_envs.checks import require, require_equal
from tabletop_envs.game import rewards_of_scores
from tabletop_envs.kernels import engine
from tabletop_envs.kernels.meeples.material import (
    BLOCKS,
    CLONE,
    FIRST_STONE,
    GIVE_UP,
    LAND,
    LAST_ROUND,
    MEEPLES,
    MEEPLES_EACH,
    NO_FIELD,
    NO_STONE,
    NUM_STONES,
    PASS,
    PHASES,
    SETUP,
    SIDESTEP,
    SPECIAL_OF_0,
    STALE_ROUNDS,
    STONE_HALVES,
    STONES,
)
from tabletop_envs.kernels.meeples.table import FIELDS, SIDE, WORD_BITS, WORDS

# The four fields in the middle of the table.
MIDDLE = {row * SIDE + column for row in (11, 12) for column in (11, 12)}


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

    @property
    def hand_size(self) -> int:
        """The stones dealt to each player (M2)."""
        return NUM_STONES // self.players

    @property
    def emptied(self) -> int:
        """The round that empties the hands."""
        return self.hand_size - 2

    @property
    def phase_name(self) -> str:
        """The phase as a snapshot has it, in quotation marks."""
        return repr(PHASES[self.phase])

    def must(self, holds: bool, name: str, wanted: str) -> None:
        """Raise ValueError, saying what an entry is and what it must be, unless `holds`."""
        require(holds, f"{name} is {getattr(self, name)}, but must {wanted}")


def bits_of(word: Any) -> list[int]:
    """The bits that are set in a word, ascending."""
    number = int(word)
    return [bit for bit in range(number.bit_length()) if number >> bit & 1]


def fields_of(board: Iterable[Any]) -> list[int]:
    """The fields of a board, ascending."""
    return [WORD_BITS * index + bit for index, word in enumerate(board) for bit in bits_of(word)]


def neighbours(field: int) -> list[int]:
    """The fields of the table that share an edge with a field."""
    row, column = divmod(field, SIDE)
    near = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
    return [r * SIDE + c for r, c in near if 0 <= r < SIDE and 0 <= c < SIDE]


def partners(position: Position, field: int, player: int) -> list[int]:
    """The fields beside a field that have a meeple of a player."""
    return [near for near in neighbours(field) if position.meeples.get(near) == player]


# Whoever is to move


def check_material(position: Position) -> None:
    """Stones, meeples and supply are complete (M1, M2, M4); nothing shares a field."""
    stones = [*position.places, *(stone for hand in position.hands for stone in hand)]
    if position.chosen_stone is not None and position.phase != LAND:
        stones.append(position.chosen_stone)
    for stone in stones:
        require(
            stones.count(stone) == 1,
            "stones and hands must have each stone once, "
            f"but the stone {list(STONE_HALVES[stone])} is there twice (M1)",
        )
    expected = position.players * position.hand_size
    require(
        len(stones) == expected,
        f"stones and hands must have {expected} stones together, "
        f"but {len(stones)} stones are there (M2)",
    )
    both = position.meeples.keys() & position.blocks.keys()
    require(
        not both,
        "meeples and blocks must not share a field, "
        f"but a meeple and a block stand on {sorted(both)}",
    )
    for player, supply in enumerate(position.supply):
        on_table = list(position.meeples.values()).count(player)
        require_equal(f"the supply of player {player} (M4)", supply, MEEPLES_EACH - on_table)


def check_pairs(position: Position) -> None:
    """One colour side by side: only a clone and its source, which stood on a 2 (M6, M23)."""
    for field, player in position.meeples.items():
        near = partners(position, field, player)
        require(
            len(near) <= 1
            and all(2 in (position.values[field], position.values[other]) for other in near),
            f"meeples of player {player} stand on {sorted([field, *near])}: "
            "only a clone may be beside its source on a 2, all others must be apart (M6)",
        )


def check_dice(position: Position) -> None:
    """No dice in the setup, all while stones are laid; a block costs a die (M9, M10, M12)."""
    total = position.players * position.dice_per_player
    pool, blocks, name = len(position.dice), len(position.blocks), position.phase_name
    if position.phase == SETUP:
        require(pool == 0, f"dice must be empty, but dice lie in the pool: phase is {name} (M9)")
    elif position.phase == STONES:
        require(
            pool == total, f"dice has {pool} entries, but must have {total} in phase {name} (M10)"
        )
    if position.phase in (SETUP, STONES):
        require(blocks == 0, f"blocks must be empty, but there are blocks: phase is {name} (M10)")
    require(
        pool + blocks <= total,
        f"dice and blocks must be {total} at most together, "
        f"but {pool} dice and {blocks} blocks are there (M4, M12)",
    )


def check_bookkeeping(position: Position) -> None:
    """What is counted fits the phase and the table."""
    phase, players, must = position.phase, position.players, position.must
    where = f"in phase {position.phase_name}"
    must(
        (position.round == 0) == (phase == SETUP),
        "round",
        f"be 0 in the setup and only there: phase is {position.phase_name}",
    )
    must(len(set(position.fired)) == len(position.fired), "fired", "have no value twice")
    if phase >= LAND:
        value, source = SPECIAL_OF_0 - phase, position.source
        must(
            source is not None and position.values.get(source) == value,
            "source",
            f"be a field of value {value} {where}",
        )
        must(source in position.meeples, "source", "be a field with a meeple")
        must(
            value in position.fired and set(position.fired) <= {2, 3, value},
            "fired",
            f"have {value} and no others than 2 and 3 {where} (M26)",
        )
    else:
        must(position.source is None, "source", f"be None {where}")
        must(not position.fired, "fired", f"be empty {where}")
    early = phase < MEEPLES
    must(not (position.moved and early), "moved", f"be False {where}")
    most = 0 if early else len(position.meeples) - players
    must(position.new_meeples <= most, "new_meeples", f"be at most {most} {where}")
    ended_empty = position.round - position.emptied + (position.stale_rounds == STALE_ROUNDS)
    most = max(0, ended_empty)
    must(
        position.stale_rounds <= most,
        "stale_rounds",
        f"be at most {most}: no more rounds have ended with all hands empty (M27)",
    )
    check_last_round(position)
    if phase in (BLOCKS, GIVE_UP):
        _check_blocks_phase(position)
    else:
        never, unlimited = [False] * players, [None] * players
        must(position.passed == never, "passed", f"be {never} {where}")
        must(position.set_block == never, "set_block", f"be {never} {where}")
        must(position.dice_allowed == unlimited, "dice_allowed", f"be {unlimited} {where}")
        must(position.fails == 0, "fails", f"be 0 {where}")
        must(not position.rerolled, "rerolled", f"be False {where}")
    if phase != SETUP:
        require(not position.setup_stones, f"setup_stones must be empty {where}")
        for player in range(players):
            require(
                player in position.meeples.values(),
                "meeples must have one of each player, "
                f"but player {player} has no meeple on the table (M8)",
            )


def check_last_round(position: Position) -> None:
    """However the game continues, its rounds can be counted up to LAST_ROUND.

    From the round on that empties the hands, each new meeple but each player's last can put the end
    of the game off by three rounds, and three rounds in a row without any end it (M27).
    """
    spare = sum(supply - 1 for supply in position.supply)
    if 0 in position.supply:
        more = 0
    elif position.round < position.emptied:
        more = position.emptied - position.round + 3 * spare + 2
    elif position.new_meeples > 0:
        more = 3 * spare + 3
    else:
        more = max(0, 3 * spare + 2 - position.stale_rounds)
    position.must(
        position.round + more <= LAST_ROUND,
        "round",
        f"be at most {LAST_ROUND - more}: {more} more rounds may follow (M27)",
    )


def _check_blocks_phase(position: Position) -> None:
    """Who has passed, set blocks and may take dice (M12–M17)."""
    limited = any(position.passed)
    still_in = sum(allowed != 0 for allowed in position.dice_allowed)
    for player, allowed in enumerate(position.dice_allowed):
        given = f"dice_allowed of player {player} is {allowed}, but must be"
        require(
            (allowed is not None) == limited,
            f"{given} {'0 or 1' if limited else None}, since passed is {position.passed} (M15)",
        )
        require(
            not position.passed[player] or allowed == 0,
            f"{given} 0, since the player has passed (M14)",
        )
        require(
            allowed != 0 or position.passed[player] or position.set_block[player],
            f"{given} 1, since the player has neither passed nor set a block (M15)",
        )
        require(
            position.set_block[player] or player not in position.blocks.values(),
            f"set_block of player {player} is False, but must be True: "
            "blocks has one of the player",
        )
    require(bool(position.dice), "dice must not be empty: the phase would be over (M17)")
    require(
        len(position.dice) == position.players * position.dice_per_player
        or any(position.set_block),
        "dice must be complete, or set_block True for who has taken the missing",
    )
    if position.phase == BLOCKS:
        position.must(
            position.fails < still_in,
            "fails",
            f"be less than the {still_in} players still in (M17)",
        )
    else:
        where = f"in phase {position.phase_name}"
        position.must(1 <= position.fails <= still_in, "fails", f"be from 1 to {still_in} {where}")
        position.must(not position.rerolled, "rerolled", f"be False {where}")


def has_ended(state: Any, position: Position, outcome: Any) -> bool:
    """Whether the outcome given is that of M27, and M27 ends a round in this position."""
    scores = [int(score) for score in state["scores"][: position.players]]
    if (
        state["to_move"] != 0
        or outcome is None
        or outcome["by_limit"]
        or outcome["rewards"] != rewards_of_scores(scores)
        or position.phase != MEEPLES
        or position.moved
        or position.chosen_field is not None
    ):
        return False
    if 0 in position.supply or position.stale_rounds == STALE_ROUNDS:
        return True
    return not any(
        field not in position.meeples and value > 0 and not partners(position, field, player)
        for field, value in position.values.items()
        for player in range(position.players)
    )


# Whose turn it is


def check_turn(state: Any, position: Position, mover: int) -> None:
    """Everything that depends on whose turn it is; choices and duties are asked of the kernel."""
    phase = position.phase
    if phase == SETUP:
        _check_setup(position, mover)
    else:
        _check_hands(position, mover)
    if phase in (BLOCKS, GIVE_UP):
        require(
            position.dice_allowed[mover] != 0,
            f"to_move is {mover}, but must be a player who may take dice (M14)",
        )
    if phase == GIVE_UP:
        require(
            mover in position.blocks.values(),
            f"to_move is {mover}, but must be a player with a block to give up",
        )
    if position.source is not None:
        owner = position.meeples[position.source]
        require_equal("to_move, like the owner of the meeple on source,", owner, mover)
        if phase == CLONE:
            # It has just come there, so that M6 held; its clone would be the third in a row.
            near = partners(position, position.source, mover)
            position.must(
                not near,
                "source",
                f"be beside no other meeple of player {mover}, as on {near} (M6)",
            )
    require(
        phase >= MEEPLES or 0 not in position.supply,
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
            f"setup_stones has {list(STONE_HALVES[stone])}, but must have stones that are laid",
        )
    whose = f"(in the setup of player {mover})"
    require_equal(f"the number of laid stones {whose}", len(position.places), 2 * mover + laid)
    for player, hand in enumerate(position.hands):
        missing = 2 if player < mover else laid + chosen if player == mover else 0
        require_equal(f"the size of hands[{player}]", len(hand), position.hand_size - missing)
        meeples = list(position.meeples.values()).count(player)
        require_equal(
            f"the number of meeples of player {player} (M8)", meeples, int(player < mover)
        )
    if position.places:
        # The first one lies there in one direction, and in mirrors in all (meeples_symmetries.py).
        require(
            any(set(fields) <= MIDDLE for fields in position.places.values()),
            f"stones must have one on two of the fields {sorted(MIDDLE)}: the first one (M7)",
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
    require_equal("ply (in the setup)", position.ply, 7 * mover + 3 * laid + chosen + field)
    _check_connected(position)


def _check_hands(position: Position, mover: int) -> None:
    """Each player has laid two stones and one in each round (M7, M11)."""
    laying, chosen = position.phase == STONES, position.chosen_stone is not None
    for player, hand in enumerate(position.hands):
        size = max(0, position.emptied - position.round + (laying and player >= mover))
        if laying and player == mover:
            require(size > 0, f"to_move is {mover}, but must be a player with a stone to lay (M11)")
            size -= chosen
        require_equal(f"the size of hands[{player}]", len(hand), size)
    if position.round == 1 and position.phase <= GIVE_UP:
        _check_connected(position)
    # Seven actions each in the setup, three for each further stone, and those of the current one.
    least = 7 * position.players + 3 * (len(position.places) - 2 * position.players)
    if laying:
        least += chosen + (position.chosen_field is not None)
    position.must(
        position.ply >= least, "ply", f"be at least {least}, the actions that laid these stones"
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
    phase, name = position.phase, position.phase_name
    stone, field = position.chosen_stone, position.chosen_field
    laying = phase in (SETUP, STONES, LAND)
    require(stone is None or laying, f"chosen['stone'] must be None in phase {name}")
    require(
        field is None or stone is not None or phase in (MEEPLES, SIDESTEP),
        f"chosen['field'] must be None in phase {name} without a stone",
    )
    trial = np.zeros(1, state.dtype)
    trial[0] = state
    trial["to_move"] = mover
    trial["chosen_stone"], trial["chosen_field"] = NO_STONE, NO_FIELD
    if stone is not None:
        if phase != LAND:
            trial["hands"][0, mover] |= np.uint32(1 << stone)
        require(
            FIRST_STONE + stone in _legal(trial),
            f"chosen['stone'] is {list(STONE_HALVES[stone])}, but must be legal",
        )
        trial["hands"][0, mover] = state["hands"][mover]
        trial["chosen_stone"] = stone
    if field is not None:
        movable = laying or phase == SIDESTEP or position.meeples.get(field) == mover
        require(
            movable and field in _legal(trial), f"chosen['field'] is {field}, but must be legal"
        )
        trial["chosen_field"] = field
    elif phase <= STONES and stone is None and len(position.setup_stones) < 2:
        # Whichever stone is chosen, there must be a place for it.
        with_stone = trial.copy()
        with_stone["chosen_stone"] = min(position.hands[mover])
        require(
            bool(_legal(with_stone)),
            f"stones must leave player {mover} a place for the next one, but do not (M7, M11)",
        )
    legal = _legal(trial)
    require(
        phase < LAND or bool(legal - {PASS}),
        f"phase is {name}, but must be one that can be carried out here (M25)",
    )
    require(bool(legal), f"phase is {name}, but must be one with a legal action here")
    if phase == GIVE_UP or position.rerolled:
        trial["phase"] = BLOCKS
        fits = any(action < FIELDS for action in _legal(trial))
        require(
            fits == (phase == BLOCKS),
            f"phase is {name}, but must be {'blocks' if fits else 'give_up'!r}: after the re-roll "
            f"{'a' if fits else 'no'} die fits (M13)",
        )


def _legal(states: Any) -> set[int]:
    """The legal actions of a state."""
    legal_bits = np.zeros(16, np.uint64)
    engine.advance_one(states, legal_bits, engine.REFRESH, 0, np.zeros(8, np.int64))
    return set(fields_of(legal_bits[: WORDS + 1]))
