"""Spiel der Türme: recorded positions, random games and snapshots, on either implementation."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.games import positions
from tests.reference.tuerme import Reference

POSITIONS = positions("tuerme")
INDEXES = range(len(POSITIONS))

OPTIONS: list[dict[str, Any]] = [
    {"num_players": 2},
    {"num_players": 3, "slide": True},
    {"num_players": 4, "max_plies": 150},
    {"num_players": 2, "slide": True, "end_on_any_full_city": True},
]


def sorted_stacks(snapshot: dict[str, Any]) -> dict[str, Any]:
    """The snapshot with its stacks in the order that `snapshot` writes."""
    return {**snapshot, "stacks": sorted(snapshot["stacks"], key=lambda entry: entry["square"])}


@pytest.mark.parametrize("index", INDEXES)
def test_recorded_position(tuerme, index):
    recorded = POSITIONS[index]
    game = tuerme.position(recorded["snapshot"])
    assert game.legal_actions() == sorted(recorded["legal"])
    if "scores" in recorded:
        assert game.scores() == recorded["scores"]
    assert game.snapshot() == sorted_stacks(recorded["snapshot"])


# Deeper perft is left to compiled code: through this interface every game is set up anew.
@pytest.mark.parametrize("index", INDEXES)
def test_recorded_perft_of_two_actions(tuerme, index):
    snapshot = POSITIONS[index]["snapshot"]
    sequences = 0
    for action in tuerme.position(snapshot).legal_actions():
        game = tuerme.position(snapshot)
        game.step(action)
        sequences += len(game.legal_actions())
    assert sequences == POSITIONS[index]["perft"][1]


@pytest.mark.parametrize("options", OPTIONS)
def test_random_games_keep_the_invariants(tuerme, options):
    choice = random.Random(1)
    game = tuerme(seed=1, **options)
    while True:
        Reference.from_snapshot(game.snapshot()).check_invariants()
        legal = game.legal_actions()
        if not legal:
            break
        assert legal == sorted(set(legal))
        game.step(choice.choice(legal))
    assert game.scores() == game.snapshot()["outcome"]["scores"]
