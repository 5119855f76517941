"""Both implementations reproduce the recorded positions of meeples."""

import pytest

from tests.games import positions

POSITIONS = positions("meeples")
NAMES = [f"{number}-{position['snapshot']['phase']}" for number, position in enumerate(POSITIONS)]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_legal_actions(meeples, position):
    assert meeples.position(position["snapshot"]).legal_actions() == position["legal"]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_scores(meeples, position):
    assert meeples.position(position["snapshot"]).scores() == position["scores"]


@pytest.mark.parametrize("position", POSITIONS, ids=NAMES)
def test_snapshot_gives_the_position_back(meeples, position):
    snapshot = meeples.position(position["snapshot"]).snapshot()
    snapshot.pop("rng")
    assert snapshot == position["snapshot"]
