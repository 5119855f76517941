"""The notebook runs from top to bottom, and shows what a run of it gives."""

from __future__ import annotations

import os

import pytest

from tests.docs import tour

# A few drawings and one small plot: what a diff and a page can bear.
LARGEST = 400_000


@pytest.fixture(scope="module")
def executed():
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module, reason=f"{module} is not installed (extra notebook)")
    return tour.run()


def test_it_shows_what_a_run_gives(executed):
    kept = tour.read()
    assert len(executed.cells) == len(kept.cells)
    for now, then in zip(executed.cells, kept.cells, strict=True):
        if now.cell_type != "code":
            continue
        if "varies" in now.metadata.get("tags", ()):
            assert [set(output.get("data", {})) for output in now.outputs] == [
                set(output.get("data", {})) for output in then.outputs
            ]
            continue
        assert now.outputs == then.outputs, f"run python -m tests.docs.tour:\n{now.source}"


def test_the_learner_learns(executed):
    (printed,) = [
        output["text"]
        for cell in executed.cells
        for output in cell.get("outputs", ())
        if "score of the first" in output.get("text", "")
    ]
    first, last = (float(word.strip(",\n")) for word in printed.split() if word[:2] in ("0.", "1."))
    assert last > 0.7
    assert last > first + 0.1


def test_it_is_small():
    assert os.path.getsize(tour.NOTEBOOK) < LARGEST
