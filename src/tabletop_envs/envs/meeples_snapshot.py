"""Positions of meeples as data: from a state to a snapshot, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_envs.checks import (
    require,
    require_bool,
    require_choice,
    require_int,
    require_list,
    require_mapping,
)
from tabletop_envs.envs.meeples_checks import (
    LAST_ROUND,
    PHASES,
    STEPS,
    STONES,
    Position,
    check_bookkeeping,
    check_dice,
    check_material,
    check_pairs,
    fields_of,
    neighbours,
)
from tabletop_envs.envs.meeples_turn import check_turn
from tabletop_envs.game import Snapshot, rewards_of_scores
from tabletop_envs.kernels.meeples import material as kernel
from tabletop_envs.kernels.meeples.table import FIELDS, WORD_BITS

SNAPSHOT_KEYS = (
    "stones",
    "hands",
    "blocks",
    "meeples",
    "dice",
    "supply",
    "round",
    "phase",
    "chosen",
    "setup_stones",
    "moved",
    "source",
    "fired",
    "new_meeples",
    "stale_rounds",
    "passed",
    "set_block",
    "dice_allowed",
    "fails",
    "rerolled",
)


def stones_of(stones: Any) -> list[list[int]]:
    """The stones of a set of stones, in order."""
    return [list(stone) for index, stone in enumerate(STONES) if int(stones) >> index & 1]


def place_of(state: Any, index: int) -> list[int] | None:
    """The fields of a stone's first and second half; None if it is not on the table."""
    direction = int(state["direction"][index])
    if direction == kernel.NOT_LAID:
        return None
    first = int(state["first_field"][index])
    return [first, first + STEPS[direction]]


def write(state: Any) -> Snapshot:
    """The game's own part of a snapshot."""
    players = range(int(state["num_players"]))
    places = ((stone, place_of(state, index)) for index, stone in enumerate(STONES))
    stone, field = int(state["chosen_stone"]), int(state["chosen_field"])
    source, fired = int(state["source"]), int(state["fired"])
    return {
        "stones": [{"stone": list(stone), "fields": place} for stone, place in places if place],
        "hands": [stones_of(state["hands"][player]) for player in players],
        "blocks": _owned(state["blocks"], players),
        "meeples": _owned(state["meeples"], players),
        "dice": [value for value in range(1, 7) for _ in range(int(state["dice"][value]))],
        "supply": [int(state["supply"][player]) for player in players],
        "round": int(state["round"]),
        "phase": PHASES[int(state["phase"])],
        "chosen": {
            "stone": None if stone == kernel.NO_STONE else list(STONES[stone]),
            "field": None if field == kernel.NO_FIELD else field,
        },
        "setup_stones": stones_of(state["setup_stones"]),
        "moved": bool(state["moved"]),
        "source": None if source == kernel.NO_FIELD else source,
        "fired": [value for value in range(1, 5) if fired >> value & 1],
        "new_meeples": int(state["new_meeples"]),
        "stale_rounds": int(state["stale_rounds"]),
        "passed": [bool(state["passed"][player]) for player in players],
        "set_block": [bool(state["set_block"][player]) for player in players],
        "dice_allowed": [
            None if allowed == kernel.UNLIMITED else allowed
            for allowed in state["dice_allowed"][: len(players)].tolist()
        ],
        "fails": int(state["fails"]),
        "rerolled": bool(state["rerolled"]),
    }


def _owned(boards: Any, players: range) -> list[dict[str, int]]:
    things = [
        {"field": field, "player": player}
        for player in players
        for field in fields_of(boards[player])
    ]
    return sorted(things, key=lambda thing: thing["field"])


def read(state: Any, snapshot: Mapping[str, Any]) -> bool:
    """Write the game's own part of a snapshot into a state; whether the rules end the game here.

    ValueError, naming the field and what it must be.
    """
    position = _parse(state, snapshot)
    check_material(position)
    check_pairs(position)
    check_dice(position)
    check_bookkeeping(position)
    _write_state(state, position)
    mover = int(state["to_move"])
    ended = mover == 0 and _has_ended(position, state, snapshot["outcome"])
    require(
        ended or position.stale_rounds < 3,
        "stale_rounds is 3, but must be less unless outcome says that the game has ended by M27",
    )
    # A round ends with the turn of the last player, and player 0 would begin the next.
    check_turn(state, position, position.players - 1 if ended else mover)
    return ended


# From JSON types to a position


def _parse(state: Any, snapshot: Mapping[str, Any]) -> Position:
    players = int(state["num_players"])
    places, values = _parse_places(snapshot["stones"])
    chosen = require_mapping(snapshot["chosen"], "chosen", ("stone", "field"))
    hands = require_list(snapshot["hands"], "hands", players)
    dice = require_list(snapshot["dice"], "dice")
    fired = require_list(snapshot["fired"], "fired")
    numbers = {
        name: require_int(snapshot[name], name, 0, high)
        for name, high in (
            ("round", LAST_ROUND),
            ("new_meeples", 9 * players),
            ("stale_rounds", 3),
            ("fails", players),
        )
    }
    return Position(
        players=players,
        dice_per_player=int(state["dice_per_player"]),
        ply=int(state["ply"]),
        phase=require_choice(snapshot["phase"], "phase", PHASES),
        places=places,
        values=values,
        hands=[_parse_stones(hand, f"hands[{p}]") for p, hand in enumerate(hands)],
        meeples=_parse_owned(snapshot["meeples"], "meeple", values, players),
        blocks=_parse_owned(snapshot["blocks"], "block", values, players),
        supply=_parse_each(snapshot, "supply", players, lambda x, n: require_int(x, n, 0, 10)),
        dice=[require_int(die, f"dice[{i}]", 1, 6) for i, die in enumerate(dice)],
        chosen_stone=None if chosen["stone"] is None else _parse_stone(chosen["stone"], "chosen"),
        chosen_field=_parse_field(chosen["field"], "chosen['field']"),
        setup_stones=sorted(_parse_stones(snapshot["setup_stones"], "setup_stones")),
        moved=require_bool(snapshot["moved"], "moved"),
        source=_parse_field(snapshot["source"], "source"),
        fired=[require_int(value, f"fired[{i}]", 1, 4) for i, value in enumerate(fired)],
        passed=_parse_each(snapshot, "passed", players, require_bool),
        set_block=_parse_each(snapshot, "set_block", players, require_bool),
        dice_allowed=_parse_each(snapshot, "dice_allowed", players, _parse_allowed),
        rerolled=require_bool(snapshot["rerolled"], "rerolled"),
        **numbers,
    )


def _parse_each(snapshot: Mapping[str, Any], name: str, players: int, parse: Any) -> list[Any]:
    entries = require_list(snapshot[name], name, players)
    return [parse(entry, f"{name} of player {player}") for player, entry in enumerate(entries)]


def _parse_allowed(value: Any, name: str) -> int | None:
    return None if value is None else require_int(value, name, 0, 1)


def _parse_field(value: Any, name: str) -> int | None:
    return None if value is None else require_int(value, name, 0, FIELDS - 1)


def _parse_stone(value: Any, where: str) -> int:
    """The number of a stone given as a list of its halves, in any order."""
    halves = require_list(value, f"a stone in {where}", 2)
    a, b = sorted(require_int(half, f"half of a stone in {where}", 0, 6) for half in halves)
    return STONES.index((a, b))


def _parse_stones(value: Any, name: str) -> set[int]:
    stones = [_parse_stone(stone, name) for stone in require_list(value, name)]
    require(len(set(stones)) == len(stones), f"{name} must have no stone twice")
    return set(stones)


def _parse_places(value: Any) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    places: dict[int, tuple[int, int]] = {}
    values: dict[int, int] = {}
    for entry in require_list(value, "stones"):
        laid = require_mapping(entry, "a laid stone", ("stone", "fields"))
        stone = _parse_stone(laid["stone"], "stones")
        name = f"the stone {list(STONES[stone])}"
        first, second = (
            require_int(field, f"a field of {name}", 0, FIELDS - 1)
            for field in require_list(laid["fields"], f"the fields of {name}", 2)
        )
        require(
            list(laid["stone"]) == list(STONES[stone]),
            f"{name} is given as {laid['stone']!r}, but must have its smaller half first (M1)",
        )
        require(
            second in neighbours(first),
            f"{name} lies on the fields {first} and {second}, but must lie on adjacent ones",
        )
        require(
            stone not in places,
            f"stones must have each stone once, but {name} lies on the table twice",
        )
        for field, half in zip((first, second), STONES[stone], strict=True):
            require(
                field not in values,
                f"fields must carry one stone, but field {field} carries {name} and another",
            )
            values[field] = half
        places[stone] = (first, second)
    return places, values


def _parse_owned(value: Any, kind: str, values: dict[int, int], players: int) -> dict[int, int]:
    things: dict[int, int] = {}
    for entry in require_list(value, f"{kind}s"):
        thing = require_mapping(entry, f"a {kind}", ("field", "player"))
        field = require_int(thing["field"], f"the field of a {kind}", 0, FIELDS - 1)
        player = require_int(thing["player"], f"the player of the {kind}", 0, players - 1)
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
    state["direction"] = kernel.NOT_LAID
    for stone, (first, second) in position.places.items():
        state["first_field"][stone] = first
        state["direction"][stone] = STEPS.index(second - first)
        across = abs(second - first) == 1
        _add(state["across" if across else "upright"], min(first, second))
    for field, value in position.values.items():
        for bit in range(3):
            if value + 1 >> bit & 1:
                _add(state["values"][bit], field)
    for name, things in (("meeples", position.meeples), ("blocks", position.blocks)):
        for field, player in things.items():
            _add(state[name][player], field)
    for field, player in position.meeples.items():
        state["scores"][player] += position.values[field]
    for die in position.dice:
        state["dice"][die] += 1
    state["dice_allowed"] = kernel.UNLIMITED
    for player in range(position.players):
        state["hands"][player] = sum(1 << stone for stone in position.hands[player])
        state["supply"][player] = position.supply[player]
        state["passed"][player] = position.passed[player]
        state["set_block"][player] = position.set_block[player]
        state["dice_allowed"][player] = _number(position.dice_allowed[player], kernel.UNLIMITED)
    state["chosen_stone"] = _number(position.chosen_stone, kernel.NO_STONE)
    state["chosen_field"] = _number(position.chosen_field, kernel.NO_FIELD)
    state["source"] = _number(position.source, kernel.NO_FIELD)
    state["setup_stones"] = sum(1 << stone for stone in position.setup_stones)
    state["fired"] = sum(1 << value for value in position.fired)
    for name in ("phase", "round", "new_meeples", "stale_rounds", "fails", "rerolled", "moved"):
        state[name] = getattr(position, name)


def _number(value: int | None, none: int) -> int:
    """A value as the state has it, where None is a number too."""
    return none if value is None else value


def _add(words: Any, field: int) -> None:
    words[field // WORD_BITS] |= np.uint64(1 << field % WORD_BITS)


def _has_ended(position: Position, state: Any, outcome: Any) -> bool:
    """Whether the outcome given is that of M27, and M27 ends a round in this position."""
    scores = [int(score) for score in state["scores"][: position.players]]
    if (
        outcome is None
        or outcome["by_limit"]
        or outcome["rewards"] != rewards_of_scores(scores)
        or position.phase != kernel.MEEPLES
        or position.moved
        or position.chosen_field is not None
    ):
        return False
    if 0 in position.supply or position.stale_rounds == 3:
        return True
    return not any(
        field not in position.meeples
        and value > 0
        and all(position.meeples.get(near) != player for near in neighbours(field))
        for field, value in position.values.items()
        for player in range(position.players)
    )
