"""What the tests of training examples share: runs by command lines, and their logs."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

# The columns of logs that differ from run to run: the time that it took, and the units of work that
# were lost.
BY_CHANCE = ("seconds", "lost")


def training(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str
) -> Any:
    """A run as a command line gives it."""
    monkeypatch.setattr(sys, "argv", [f"{example.__name__}.py", *words, "--folder", str(folder)])
    return example.Training(example.read_arguments())


def refused(
    example: ModuleType, capsys: pytest.CaptureFixture[str], folder: Path, *words: str
) -> str:
    """What a command that must fail before it begins says: one line, but for the usage; code 2."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{example.__name__}.py", *words, "--folder", str(folder)])
        with pytest.raises(SystemExit) as error:
            example.main()
    assert error.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert sum(not line.startswith("usage: ") for line in lines) == 1, lines
    return lines[-1]


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
    """A run that nothing disturbs, and one that continues after Ctrl-C in the first and in the
    sixth call of a method.

    Their logs, of six lines, and the games that they are in at the end agree.
    """
    undisturbed = training(example, monkeypatch, folder / "one", *words)
    undisturbed.run()
    for resume, done in (((), 0), (("--resume",), 5)):
        settings = words[:1] if resume else words
        interrupted = training(example, monkeypatch, folder / "two", *settings, *resume)
        work = getattr(interrupted, method)
        calls = iter(range(done))

        def work_until_stopped(work: Any = work, calls: Any = calls) -> Any:
            if next(calls, None) is None:
                # What has been done of this call must not count.
                work()
                raise KeyboardInterrupt
            return work()

        monkeypatch.setattr(interrupted, method, work_until_stopped)
        with pytest.raises(SystemExit, match=f"saved as after {done} .*--resume continues"):
            interrupted.run()
    assert len(rows(folder / "two" / "progress.csv")) == 5
    # What the global generator gives must not matter.
    example.torch.manual_seed(12345)
    # All settings are those of the checkpoint.
    resumed = training(example, monkeypatch, folder / "two", words[0], "--resume")
    resumed.run()
    for log in ("progress.csv", "evaluation.csv"):
        assert rows(folder / "two" / log) == rows(folder / "one" / log)
    assert len(rows(folder / "two" / "progress.csv")) == 6
    np.testing.assert_array_equal(resumed.batch.observation, undisturbed.batch.observation)
    return undisturbed, resumed
