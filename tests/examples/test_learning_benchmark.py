"""The learning benchmark runs its settings seed by seed, resumes, collects, and shows."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.learning import __main__ as learning
from tabletop_envs.arena.ratings import wilson

SETTINGS: dict[str, dict[str, Any]] = {
    "tiny": {
        "title": "tiny",
        "command": "ppo_selfplay.py kirche --threads 1 --evaluate-every 1 --opponents random greedy",
        "smoke": "--games 4 --plies 8 --steps 64 --width 8 --eval-games 4 --final-games 6",
        "seeds": [1, 2],
    }
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of a tiny setting with two seeds."""
    pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")
    pytest.importorskip("rich", reason="rich is not installed: the extra train")
    root = tmp_path_factory.mktemp("learning")
    learning.run(SETTINGS, [], root / "runs", root, smoke=True)
    return root


def test_every_evaluation_of_every_seed_is_collected(results):
    rows = learning.read_rows(results / "tiny.csv")
    expected = [
        (seed, steps, opponent, games)
        for seed in ("1", "2")
        for steps, games in (("32", "4"), ("64", "6"))
        for opponent in ("random", "greedy")
    ]
    names = ("seed", "steps", "opponent", "games")
    assert [tuple(row[name] for name in names) for row in rows] == expected


def test_a_finished_seed_is_not_run_again_and_another_is_added(results, monkeypatch):
    started: list[list[str]] = []

    def start(words: list[str], check: bool) -> None:
        folder = results / "runs" / "tiny" / "7"
        folder.mkdir()
        evaluation = (results / "runs" / "tiny" / "1" / "evaluation.csv").read_text()
        (folder / "evaluation.csv").write_text(evaluation)
        started.append(words)

    monkeypatch.setattr(learning.subprocess, "run", start)
    target = results / "more"
    target.mkdir()
    (target / "tiny.csv").write_text((results / "tiny.csv").read_text())
    learning.run(SETTINGS, [1, 7], results / "runs", target)
    assert len(started) == 1
    assert started[0][-4:] == ["--seed", "7", "--folder", str(results / "runs" / "tiny" / "7")]
    assert learning.seeds_of(learning.read_rows(target / "tiny.csv")) == ["1", "2", "7"]
    assert len(learning.read_rows(target / "tiny.csv")) == 12


def test_an_interrupted_seed_is_resumed(tmp_path):
    assert "--resume" not in learning.command(SETTINGS["tiny"], 1, tmp_path)
    (tmp_path / "checkpoint.pt").touch()
    assert learning.command(SETTINGS["tiny"], 1, tmp_path)[-1] == "--resume"


def row(seed: int, steps: int, score: float) -> dict[str, str]:
    """A line of a result."""
    low, high = wilson(score, 100)
    return {
        "seed": str(seed),
        "steps": str(steps),
        "seconds": str(60 * seed),
        "opponent": "random",
        "games": "100",
        "score": str(score),
        "low": str(low),
        "high": str(high),
    }


def test_the_table_has_the_last_evaluations(tmp_path):
    learning.write_rows(
        tmp_path / "tiny.csv", [row(1, 10, 0.1), row(1, 20, 0.5), row(2, 10, 0.2), row(2, 20, 0.7)]
    )
    line = learning.table(SETTINGS, tmp_path).splitlines()[-1]
    low, high = wilson(0.6, 200)
    assert line == (
        "| `tiny` | random | 100 | 50.0% (40.4%–59.6%); 70.0% (60.4%–78.1%) "
        f"| 60.0% ({low:.1%}–{high:.1%}) | 20 | 1.0–2.0 |"
    )


def test_the_curves_are_drawn_the_same_way_every_time(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra bench")
    learning.write_rows(tmp_path / "tiny.csv", [row(1, 10, 0.1), row(1, 20, 0.5)])
    (drawing,) = learning.plot(SETTINGS, tmp_path, tmp_path)
    first = drawing.read_bytes()
    assert b"<svg" in first
    learning.plot(SETTINGS, tmp_path, tmp_path)
    assert drawing.read_bytes() == first
    learning.write_rows(tmp_path / "tiny.csv", [row(1, 10, 0.1), row(1, 20, 0.9)])
    learning.plot(SETTINGS, tmp_path, tmp_path)
    assert drawing.read_bytes() != first


def test_a_smoke_run_spares_the_results(capsys):
    with pytest.raises(SystemExit):
        learning.main(["run", "--smoke"])
    assert "name other --results" in capsys.readouterr().err


def test_unknown_settings_are_named():
    with pytest.raises(SystemExit, match=r"no setting 'chess'.*ppo-kirche-1"):
        learning.read_settings(["chess"])


def test_the_results_are_of_the_settings():
    """What is committed has every setting and seed, evaluated in the end over a thousand games."""
    for name, setting in learning.read_settings().items():
        rows = learning.read_rows(learning.RESULTS / f"{name}.csv")
        assert learning.seeds_of(rows) == [str(seed) for seed in setting["seeds"]]
        for final in learning.final_rows(rows).values():
            assert [int(one["games"]) for one in final] == [1000] * len(setting["seeds"])
