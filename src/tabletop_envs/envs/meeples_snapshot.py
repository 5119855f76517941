"""Positions of meeples as data: from a state to a snapshot, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tabletop_envs.checks import (
    require,
    require_bool,
    require_choice,
    require_int,
    require_list,
    require_mapping,
)
from tabletop_envs.envs import meeples_checks as checks
from tabletop_envs.envs.meeples_checks import Position, bits_of, fields_of
from tabletop_envs.game import Snapshot
from tabletop_envs.kernels.meeples.material import (
    LAST_ROUND,
    MEEPLES_EACH,
    NO_FIELD,
    NO_STONE,
    NOT_LAID,
    PHASES,
    STALE_ROUNDS,
    STONE_HALVES,
    UNLIMITED,
)
from tabletop_envs.kernels.meeples.table import FIELDS, STEPS, WORD_BITS, WORDS

T = TypeVar("T")


def write(state: Any) -> Snapshot:
    """The game's own part of a snapshot."""
    players = range(int(state["num_players"]))
    stone = _or_none(state["chosen_stone"], NO_STONE)
    return {
        "stones": [
            {"stone": list(halves), "fields": [int(first), int(first) + STEPS[direction]]}
            for halves, first, direction in zip(
                STONE_HALVES, state["first_field"], state["direction"], strict=True
            )
            if direction != NOT_LAID
        ],
        "hands": [_stones(state["hands"][player]) for player in players],
        "blocks": _owned(state["blocks"], players),
        "meeples": _owned(state["meeples"], players),
        "dice": [value for value in range(1, 7) for _ in range(int(state["dice"][value]))],
        "supply": [int(state["supply"][player]) for player in players],
        "round": int(state["round"]),
        "phase": PHASES[int(state["phase"])],
        "chosen": {
            "stone": None if stone is None else list(STONE_HALVES[stone]),
            "field": _or_none(state["chosen_field"], NO_FIELD),
        },
        "setup_stones": _stones(state["setup_stones"]),
        "moved": bool(state["moved"]),
        "source": _or_none(state["source"], NO_FIELD),
        "fired": bits_of(state["fired"]),
        "new_meeples": int(state["new_meeples"]),
        "stale_rounds": int(state["stale_rounds"]),
        "passed": [bool(state["passed"][player]) for player in players],
        "set_block": [bool(state["set_block"][player]) for player in players],
        "dice_allowed": [_or_none(state["dice_allowed"][player], UNLIMITED) for player in players],
        "fails": int(state["fails"]),
        "rerolled": bool(state["rerolled"]),
    }


def _or_none(value: Any, none: int) -> int | None:
    """A number of a state, None where it is the one that stands for none."""
    return None if value == none else int(value)


def _stones(stones: Any) -> list[list[int]]:
    """The stones of a set of stones, in order."""
    return [list(STONE_HALVES[stone]) for stone in bits_of(stones)]


def _owned(boards: Any, players: range) -> list[dict[str, int]]:
    things = [(field, player) for player in players for field in fields_of(boards[player])]
    return [{"field": field, "player": player} for field, player in sorted(things)]


def read(state: Any, snapshot: Mapping[str, Any]) -> bool:
    """Write the game's own part of a snapshot into a state; whether the rules end the game here.

    ValueError, naming the field and what it must be.
    """
    position = _parse(state, snapshot)
    checks.check_material(position)
    checks.check_pairs(position)
    checks.check_dice(position)
    checks.check_bookkeeping(position)
    _write_state(state, position)
    ended = checks.has_ended(state, position, snapshot["outcome"])
    require(
        ended or position.stale_rounds < STALE_ROUNDS,
        f"stale_rounds is {STALE_ROUNDS}, "
        "but must be less unless outcome says that the game has ended by M27",
    )
    # A round ends with the turn of the last player, and player 0 would begin the next.
    checks.check_turn(state, position, position.players - 1 if ended else int(state["to_move"]))
    return ended


# From JSON types to a position


def _parse(state: Any, snapshot: Mapping[str, Any]) -> Position:
    players = int(state["num_players"])

    def each(name: str, parse: Callable[[str, Any], T]) -> list[T]:
        entries = enumerate(require_list(name, snapshot[name], players))
        return [parse(f"{name} of player {player}", entry) for player, entry in entries]

    def number(name: str, high: int) -> int:
        return require_int(name, snapshot[name], 0, high)

    places, values = _parse_places(snapshot["stones"])
    chosen = require_mapping("chosen", snapshot["chosen"], ("stone", "field"))
    hands = require_list("hands", snapshot["hands"], players)
    return Position(
        players=players,
        dice_per_player=int(state["dice_per_player"]),
        ply=int(state["ply"]),
        phase=require_choice("phase", snapshot["phase"], PHASES),
        round=number("round", LAST_ROUND),
        places=places,
        values=values,
        hands=[set(_parse_stones(hand, f"hands[{p}]")) for p, hand in enumerate(hands)],
        meeples=_parse_owned(snapshot["meeples"], "meeple", values, players),
        blocks=_parse_owned(snapshot["blocks"], "block", values, players),
        supply=each("supply", lambda name, entry: require_int(name, entry, 0, MEEPLES_EACH)),
        dice=_parse_values(snapshot, "dice", 6),
        chosen_stone=None if chosen["stone"] is None else _parse_stone(chosen["stone"], "chosen"),
        chosen_field=_parse_optional(chosen["field"], "chosen['field']", FIELDS - 1),
        setup_stones=_parse_stones(snapshot["setup_stones"], "setup_stones"),
        moved=require_bool("moved", snapshot["moved"]),
        source=_parse_optional(snapshot["source"], "source", FIELDS - 1),
        fired=_parse_values(snapshot, "fired", 4),
        new_meeples=number("new_meeples", (MEEPLES_EACH - 1) * players),
        stale_rounds=number("stale_rounds", STALE_ROUNDS),
        passed=each("passed", require_bool),
        set_block=each("set_block", require_bool),
        dice_allowed=each("dice_allowed", lambda name, entry: _parse_optional(entry, name, 1)),
        fails=number("fails", players),
        rerolled=require_bool("rerolled", snapshot["rerolled"]),
    )


def _parse_optional(value: Any, name: str, high: int) -> int | None:
    return None if value is None else require_int(name, value, 0, high)


def _parse_values(snapshot: Mapping[str, Any], name: str, high: int) -> list[int]:
    values = enumerate(require_list(name, snapshot[name]))
    return [require_int(f"{name}[{place}]", value, 1, high) for place, value in values]


def _parse_stone(value: Any, where: str) -> int:
    """The number of a stone given as a list of its halves, in any order."""
    halves = require_list(f"a stone in {where}", value, 2)
    a, b = sorted(require_int(f"half of a stone in {where}", half, 0, 6) for half in halves)
    return STONE_HALVES.index((a, b))


def _parse_stones(value: Any, name: str) -> list[int]:
    stones = sorted(_parse_stone(stone, name) for stone in require_list(name, value))
    require(len(set(stones)) == len(stones), f"{name} must have no stone twice")
    return stones


def _parse_places(value: Any) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    places: dict[int, tuple[int, int]] = {}
    values: dict[int, int] = {}
    for entry in require_list("stones", value):
        laid = require_mapping("a laid stone", entry, ("stone", "fields"))
        stone = _parse_stone(laid["stone"], "stones")
        halves = STONE_HALVES[stone]
        name = f"the stone {list(halves)}"
        first, second = (
            require_int(f"a field of {name}", field, 0, FIELDS - 1)
            for field in require_list(f"the fields of {name}", laid["fields"], 2)
        )
        require(
            tuple(laid["stone"]) == halves,
            f"{name} is given as {laid['stone']!r}, but must have its smaller half first (M1)",
        )
        require(
            second in checks.neighbours(first),
            f"{name} lies on the fields {first} and {second}, but must lie on adjacent ones",
        )
        require(
            stone not in places,
            f"stones must have each stone once, but {name} lies on the table twice",
        )
        for field, half in zip((first, second), halves, strict=True):
            require(
                field not in values,
                f"fields must carry one stone, but field {field} carries {name} and another",
            )
            values[field] = half
        places[stone] = (first, second)
    return places, values


def _parse_owned(value: Any, kind: str, values: dict[int, int], players: int) -> dict[int, int]:
    things: dict[int, int] = {}
    for entry in require_list(f"{kind}s", value):
        thing = require_mapping(f"a {kind}", entry, ("field", "player"))
        field = require_int(f"the field of a {kind}", thing["field"], 0, FIELDS - 1)
        player = require_int(f"the player of the {kind}", thing["player"], 0, players - 1)
        require(
            values.get(field, 0) > 0,
            f"a {kind} stands on {field}, but must stand on a field of value 1 to 6 (M5)",
        )
        require(
            field not in things,
            f"two {kind}s stand on field {field}, but a field must have one at most",
        )
        things[field] = player
    return things


# From a position to the state


def _write_state(state: Any, position: Position) -> None:
    players = range(position.players)
    state["direction"] = NOT_LAID
    for stone, (first, second) in position.places.items():
        state["first_field"][stone] = first
        state["direction"][stone] = STEPS.index(second - first)
    for name, step in (("across", 1), ("upright", STEPS[2])):
        ends = map(sorted, position.places.values())
        state[name] = _board(first for first, second in ends if second - first == step)
    for bit in range(3):
        codes = position.values.items()
        state["values"][bit] = _board(field for field, value in codes if value + 1 >> bit & 1)
    for name, things in (("meeples", position.meeples), ("blocks", position.blocks)):
        for player in players:
            state[name][player] = _board(f for f, owner in things.items() if owner == player)
    for field, player in position.meeples.items():
        state["scores"][player] += position.values[field]
    for die in position.dice:
        state["dice"][die] += 1
    state["dice_allowed"] = UNLIMITED
    for player in players:
        state["hands"][player] = _set_of(position.hands[player])
        state["supply"][player] = position.supply[player]
        state["passed"][player] = position.passed[player]
        state["set_block"][player] = position.set_block[player]
        state["dice_allowed"][player] = _number(position.dice_allowed[player], UNLIMITED)
    state["chosen_stone"] = _number(position.chosen_stone, NO_STONE)
    state["chosen_field"] = _number(position.chosen_field, NO_FIELD)
    state["source"] = _number(position.source, NO_FIELD)
    state["setup_stones"] = _set_of(position.setup_stones)
    state["fired"] = _set_of(position.fired)
    for name in ("phase", "round", "new_meeples", "stale_rounds", "fails", "rerolled", "moved"):
        state[name] = getattr(position, name)


def _number(value: int | None, none: int) -> int:
    """A value as the state has it, where None is a number too."""
    return none if value is None else value


def _set_of(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _board(fields: Iterable[int]) -> npt.NDArray[np.uint64]:
    board = np.zeros(WORDS, np.uint64)
    for field in fields:
        board[field // WORD_BITS] |= np.uint64(1 << field % WORD_BITS)
    return board
