"""kirche agrees with positions that another implementation of the rules has worked out.

`perft[d - 1]` of a position is the number of sequences of d legal actions; a won position has no
continuation. `winning` lists the actions that win at once. Deep perft runs on the compiled kernel
alone and is not tested here.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.games import positions
from tests.rules.implementations import Game, Starter

POSITIONS = positions("kirche")

# Counting sequences of d actions visits the positions after d − 1 actions one by one.
VISITS = 1200

PERFT = [
    pytest.param(entry, depth, id=f"position{number}-depth{depth}")
    for number, entry in enumerate(POSITIONS)
    for depth in range(1, len(entry["perft"]) + 1)
    if depth == 1 or entry["perft"][depth - 2] <= VISITS
]


def in_order(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot with its pieces in the order in which `snapshot` writes them."""
    order = ("spire", "nave", "house")
    pieces = [
        sorted(own, key=lambda piece: (order.index(piece["kind"]), piece["square"]))
        for own in snapshot["pieces"]
    ]
    return snapshot | {"pieces": pieces}


def perft(kirche: Starter, game: Game, depth: int) -> int:
    """The number of sequences of so many legal actions."""
    actions = game.legal_actions()
    if depth == 1:
        return len(actions)
    snapshot = game.snapshot()
    total = 0
    for action in actions:
        following = kirche.position(snapshot)
        following.step(action)
        total += perft(kirche, following, depth - 1)
    return total


@pytest.mark.parametrize("entry", POSITIONS)
def test_legal_actions(kirche, entry):
    assert kirche.position(entry["snapshot"]).legal_actions() == entry["legal"]


@pytest.mark.parametrize("entry", POSITIONS)
def test_snapshot_and_scores(kirche, entry):
    game = kirche.position(entry["snapshot"])
    assert game.snapshot() == in_order(entry["snapshot"])
    assert game.scores() == [0, 0]


@pytest.mark.parametrize("entry", POSITIONS)
def test_winning_actions(kirche, entry):
    winning = []
    for action in entry["legal"]:
        game = kirche.position(entry["snapshot"])
        game.step(action)
        if game.snapshot()["outcome"] is not None:
            winning.append(action)
            assert game.scores()[entry["snapshot"]["to_move"]] == 1
    assert winning == entry.get("winning", [])


@pytest.mark.parametrize(("entry", "depth"), PERFT)
def test_perft(kirche, entry, depth):
    assert perft(kirche, kirche.position(entry["snapshot"]), depth) == entry["perft"][depth - 1]
