"""Small helpers to set up positions of meeples, so that a test shows only what matters."""

from __future__ import annotations

from typing import Any

from tests.rules.implementations import Game, Starter

STONES = [(a, b) for a in range(7) for b in range(a, 7)]
HAND_SIZE = {2: 14, 3: 9, 4: 7}

UP, RIGHT, DOWN, LEFT = 604, 605, 606, 607
PASS = END_TURN = DECLINE = 608
REROLL = 609

# States of the generator, named after the dice that they roll first.
ROLLS_3_6 = 4
ROLLS_5_5_THEN_6_2 = 29
ROLLS_HIGH = 39471  # 5 6 6 5 6 5 6 5 5

Stones = dict[tuple[int, int], tuple[int, int]]


def at(row: int, column: int) -> int:
    """The field in a row and a column."""
    return row * 24 + column


def stone(first: int, second: int) -> int:
    """The action that chooses a stone."""
    return 576 + STONES.index((first, second))


def across(row: int, column: int, halves: str) -> Stones:
    """Stones side by side in a row, from left to right, each written as its two values."""
    return _line(halves, [at(row, column + step) for step in range(40)])


def down(row: int, column: int, halves: str) -> Stones:
    """Stones one below the other in a column, each written as its two values."""
    return _line(halves, [at(row + step, column) for step in range(24)])


def _line(halves: str, fields: list[int]) -> Stones:
    stones: Stones = {}
    for place, (one, other) in enumerate(halves.split()):
        pair = (fields[2 * place], fields[2 * place + 1])
        # The first half is the smaller value (M1).
        if one <= other:
            stones[int(one), int(other)] = pair
        else:
            stones[int(other), int(one)] = pair[::-1]
    return stones


# The whole set of stones in four rows of fourteen fields, for games with empty hands:
#          column 5 6 7 8 9 0 1 2 3 4 5 6 7 8
#   row 10:       0 0 0 1 0 2 0 3 0 4 0 5 0 6
#   row 11:       1 1 1 2 1 3 1 4 1 5 1 6 2 2
#   row 12:       2 3 2 4 2 5 2 6 3 3 3 4 3 5
#   row 13:       3 6 4 4 4 5 4 6 5 5 5 6 6 6
ALL_STONES = (
    across(10, 5, "00 01 02 03 04 05 06")
    | across(11, 5, "11 12 13 14 15 16 22")
    | across(12, 5, "23 24 25 26 33 34 35")
    | across(13, 5, "36 44 45 46 55 56 66")
)


def position(
    phase: str,
    stones: Stones,
    meeples: dict[int, int],
    blocks: dict[int, int] | None = None,
    dice: list[int] | None = None,
    *,
    num_players: int = 2,
    dice_per_player: int = 3,
    max_plies: int = 1000,
    **parts: Any,
) -> dict[str, Any]:
    """A complete snapshot: the stones that do not lie are dealt, the meeples not put in supply.

    The round, and in the phase "stones" who is to lay one, follow from how many stones lie.
    `parts` replaces single parts of the snapshot.
    """
    blocks = blocks or {}
    hand_size = HAND_SIZE[num_players]
    in_hands = [held for held in STONES if held not in stones]
    if num_players == 3:
        in_hands = in_hands[:-1]  # M2: one stone is out of the game
    rounds_of_stones, to_move = divmod(len(stones) - 2 * num_players, num_players)
    if phase == "stones":
        this_round = rounds_of_stones + 1
        dice = dice or [1 + die % 6 for die in range(num_players * dice_per_player)]
    else:
        assert to_move == 0, "in this phase all players have laid equally many stones"
        this_round = rounds_of_stones
    hands = []
    for player in range(num_players):
        laid = 2 + rounds_of_stones + (player < to_move)
        hands.append([list(held) for held in in_hands[: hand_size - laid]])
        in_hands = in_hands[hand_size - laid :]
    snapshot = {
        "game": "meeples",
        "options": {
            "num_players": num_players,
            "dice_per_player": dice_per_player,
            "open_hands": False,
            "max_plies": max_plies,
        },
        "ply": 7 * num_players + 5 * num_players * this_round,
        "to_move": to_move,
        "outcome": None,
        "stones": [
            {"stone": list(laid), "fields": list(fields)} for laid, fields in stones.items()
        ],
        "hands": hands,
        "blocks": [{"field": field, "player": player} for field, player in blocks.items()],
        "meeples": [{"field": field, "player": player} for field, player in meeples.items()],
        "dice": dice or [],
        "supply": [10 - list(meeples.values()).count(player) for player in range(num_players)],
        "round": this_round,
        "phase": phase,
        "chosen": {"stone": None, "field": None},
        "setup_stones": [],
        "moved": False,
        "source": None,
        "fired": [],
        "new_meeples": 0,
        "stale_rounds": 0,
        "passed": [False] * num_players,
        "set_block": [
            phase == "blocks" and player in blocks.values() for player in range(num_players)
        ],
        "dice_allowed": [None] * num_players,
        "fails": 0,
        "rerolled": False,
    }
    assert parts.keys() <= snapshot.keys() | {"rng"}
    return snapshot | parts


def play(game: Game, *actions: int) -> dict[str, Any]:
    """Take actions one after the other; the snapshot after them."""
    for action in actions:
        game.step(action)
    return game.snapshot()


def places(meeples: Starter, game: Game) -> set[tuple[int, int]]:
    """Every place (field of the first half, direction) where the chosen stone may be laid now."""
    before = game.snapshot()
    assert before["chosen"]["stone"] is not None
    assert before["chosen"]["field"] is None
    found = set()
    for field in game.legal_actions():
        trial = meeples.position(before)
        trial.step(field)
        found |= {(field, direction) for direction in trial.legal_actions()}
    return found


def owned(things: list[dict[str, int]]) -> dict[int, int]:
    """The blocks or meeples of a snapshot as a map from field to player."""
    return {thing["field"]: thing["player"] for thing in things}


def fields_of(snapshot: dict[str, Any], first: int, second: int) -> list[int]:
    """Where a stone lies."""
    return next(laid["fields"] for laid in snapshot["stones"] if laid["stone"] == [first, second])
