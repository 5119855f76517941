"""Both implementations reproduce the recorded positions of meeples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games import positions
from tests.rules.implementations import Starter

POSITIONS = positions("meeples")
NAMES = [f"{number}-{position['snapshot']['phase']}" for number, position in enumerate(POSITIONS)]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_legal_actions(meeples: Starter, position: dict[str, Any]) -> None:
    assert meeples.position(position["snapshot"]).legal_actions() == position["legal"]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_scores(meeples: Starter, position: dict[str, Any]) -> None:
    assert meeples.position(position["snapshot"]).scores() == position["scores"]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_snapshot_gives_the_position_back(meeples: Starter, position: dict[str, Any]) -> None:
    snapshot = meeples.position(position["snapshot"]).snapshot()
    snapshot.pop("rng")
    assert snapshot == position["snapshot"]
