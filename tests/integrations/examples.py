"""What the tests of examples that train share: runs as a command line gives them, and the logs that they write."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

# The columns of logs that differ from run to run: the time that it took, and the units of work that were lost.
BY_CHANCE = ("seconds", "lost")


def training(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str
) -> Any:
    """A run as a command line gives it."""
    monkeypatch.setattr(sys, "argv", [f"{example.__name__}.py", *words, "--folder", str(folder)])
    return example.Training(example.read_arguments())


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a log without what chance has a part in."""
    with path.open(newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in BY_CHANCE}
            for row in csv.DictReader(file)
        ]


def interrupted_and_resumed(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, method: str, *words: str
) -> tuple[Any, Any]:
    """A run that nothing disturbs, and one that goes on after Ctrl-C in the sixth call of a method.

    Their logs, of six lines, and the games that they are in at the end agree.
    """
    undisturbed = training(example, monkeypatch, folder / "one", *words)
    undisturbed.run()
    interrupted = training(example, monkeypatch, folder / "two", *words)
    work = getattr(interrupted, method)
    calls = iter(range(5))

    def work_until_stopped() -> Any:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return work()

    monkeypatch.setattr(interrupted, method, work_until_stopped)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    assert len(rows(folder / "two" / "progress.csv")) == 5
    # What the global generator gives must not matter.
    example.torch.manual_seed(12345)
    resumed = training(example, monkeypatch, folder / "two", *words, "--resume")
    resumed.run()
    for log in ("progress.csv", "evaluation.csv"):
        assert rows(folder / "two" / log) == rows(folder / "one" / log)
    assert len(rows(folder / "two" / "progress.csv")) == 6
    np.testing.assert_array_equal(resumed.batch.observation, undisturbed.batch.observation)
    return undisturbed, resumed
