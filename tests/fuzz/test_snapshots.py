"""Mutated snapshots of every game: refused unchanged, or played to the end (`-m fuzz`)."""

import os

import pytest

from tests.fuzz.snapshots import fuzz
from tests.games import each_game

SEED = int(os.environ.get("FUZZ_SEED", "1"))
SNAPSHOTS = int(os.environ.get("FUZZ_SNAPSHOTS", "50000"))


@pytest.mark.fuzz
@each_game
def test_every_mutated_snapshot_is_refused_or_played_to_the_end(name, capsys):
    counts = fuzz(name, SEED, SNAPSHOTS)
    with capsys.disabled():
        shown = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
        print(f"\n{name}, seed {SEED}: {shown}")
    assert counts["refused"] + counts["played"] == SNAPSHOTS
    assert counts["played"] > SNAPSHOTS // 20


@each_game
def test_some_mutated_snapshots_are_refused_or_played_to_the_end(name):
    """A glance at it for the default suite."""
    counts = fuzz(name, 2, 150)
    assert min(counts["refused"], counts["played"]) > 5
