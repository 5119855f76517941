"""The benchmarks run, say what they measured, and find a regression."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import compare, measuring, peers, scaling, starting, startup, throughput
from benchmarks.measuring import Case, Figure
from benchmarks.works import OURS, loop_work
from tabletop_envs import registry

QUICK = ["--repeats", "2", "--seconds", "0.001"]


def figure(what: str, game: str, *values: float) -> Figure:
    return Figure(Case(what, OURS, game), values)


def test_figures_have_median_spread_and_paired_ratio():
    one, other = figure("batch", "kirche", 1, 2, 3, 4, 5), figure("batch", "x", 1, 1, 1, 1, 1)
    assert one.median == 3
    assert one.spread == pytest.approx(2 / 3)
    assert figure("batch", "kirche", 7).spread == 0
    # Both halve in the second repeat: the ratio stays.
    assert figure("a", "b", 4, 2).ratio_to(figure("a", "c", 2, 1)) == 2
    assert one.ratio_to(other) == 3


def test_measuring_warms_up_and_takes_turns():
    calls = []

    def work_named(name: str) -> measuring.Work:
        def work(steps: int) -> int:
            calls.append(name)
            return steps

        return work

    works = {Case(name, OURS, "x"): work_named(name) for name in "ab"}
    figures = measuring.measure(works, repeats=3, seconds=1e-9)
    assert calls[-6:] == ["a", "b"] * 3
    assert [len(one.values) for one in figures] == [3, 3]


@pytest.mark.parametrize(
    ("number", "text"), [(0.5, "0.5"), (999, "999"), (45_678, "45.7 k"), (12.3e6, "12.3 M")]
)
def test_numbers_for_people(number, text):
    assert measuring.human(number) == text


@pytest.mark.parametrize("game", registry.game_names())
def test_throughput_of_every_game(game, tmp_path, capsys):
    lines, saved = tmp_path / "figures.jsonl", tmp_path / "saved.jsonl"
    what = [game, *QUICK, "--only", "rollout", "batch", "aec", "--lanes", "1", "64"]
    assert throughput.main([*what, "--json", str(lines), "--save", str(saved)]) == 0
    shown = capsys.readouterr().out
    assert all(title in shown for title in ("rollout, random", "batch, obs", "aec, a plain loop"))
    machine, *figures = measuring.read_json_lines(str(lines))
    assert machine["machine"]["cores"] >= 1
    assert {
        (one["what"], one["lanes"], one["threads"]) for one in figures if one["game"] == game
    } == {
        *(("rollout", *size) for size in ((1, 1), (64, 1), (64, 2))),
        *(("batch", *size) for size in ((1, 1), (64, 1), (64, 2))),
        ("aec", 1, 1),
    }
    assert all(one["median"] > 0 and len(one["values"]) == 2 for one in figures)


def test_regressions_are_found(tmp_path):
    saved = str(tmp_path / "saved.jsonl")
    before = [figure("batch", "connect_four", 10.0), figure("batch", "kirche", 5.0)]
    throughput.save_ratios(saved, before)
    # A machine half as fast is no regression, a game that has lost a fifth beside the yardstick is
    # one.
    slower = [figure("batch", "connect_four", 5.0), figure("batch", "kirche", 2.5)]
    worse = [figure("batch", "connect_four", 10.0), figure("batch", "kirche", 4.0)]
    ratios = throughput.read_ratios(saved)
    ((_, *pair),) = throughput.compare_ratios(ratios, slower)
    assert not throughput.is_regression(*pair, tolerance=0.15)
    ((name, *pair),) = throughput.compare_ratios(ratios, worse)
    assert throughput.is_regression(*pair, tolerance=0.15)
    assert not throughput.is_regression(*pair, tolerance=0.25)
    assert "kirche" in name
    assert throughput.compare_ratios(ratios, before[:1]) == []


def test_the_yardstick_itself_is_watched():
    """A slower engine slows connect four as well: it is compared with plain arithmetic."""
    assert (
        throughput.yardstick_of(Case("batch", OURS, "connect_four", 64, 1)) == throughput.ARITHMETIC
    )


def test_a_regression_is_an_exit_code(tmp_path, capsys):
    saved = tmp_path / "saved.jsonl"
    what = ["kirche", *QUICK, "--only", "rollout", "--lanes", "64", "--threads", "1"]
    throughput.main([*what, "--save", str(saved)])
    records = measuring.read_json_lines(str(saved))
    for factor, expected in ((0.01, 0), (100.0, 1)):
        measuring.write_json_lines(
            str(saved),
            [{**one, "ratio": one["ratio"] * factor} for one in records if "ratio" in one],
        )
        assert throughput.main([*what, "--against", str(saved)]) == expected
    assert "regression: rollout kirche" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["no json\n", "[1]\n", '{"figure": "x"}\n'])
def test_a_broken_file_is_named(text, tmp_path, capsys):
    path = tmp_path / "saved.jsonl"
    path.write_text(text, encoding="utf-8")
    for broken in (path, tmp_path / "missing.jsonl"):
        with pytest.raises(SystemExit):
            throughput.main(["--against", str(broken)])
        assert broken.name in capsys.readouterr().err


def test_a_failing_case_is_left_out(monkeypatch):
    good, bad = Case("batch", OURS, "connect_four"), Case("batch", OURS, "chess")
    monkeypatch.setattr(peers, "cases_of", lambda *_: [good, bad])
    figures, notes = compare.compare([OURS], [1], [1], repeats=2, seconds=0.001)
    assert [one.case for one in figures] == [good]
    assert len(notes) == 1
    assert "there is no game 'chess'" in notes[0]


def test_unknown_games_and_libraries_are_refused(capsys):
    for main in (throughput.main, scaling.main, startup.main):
        with pytest.raises(SystemExit):
            main(["chess"])
        assert "there is no game 'chess'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        compare.main(["numpy"])
    assert "there is no library 'numpy'" in capsys.readouterr().err


def test_start_times_come_from_fresh_processes(tmp_path):
    program = starting.PROGRAM.format(first="")
    times = starting.start_once(program, str(tmp_path))
    assert set(times) == {*starting.STAGES, "first"}
    assert all(seconds >= 0 for seconds in times.values())
    with pytest.raises(RuntimeError, match="no such thing"):
        starting.start_once("raise SystemExit('no such thing')", str(tmp_path))


def test_first_uses_are_compared_with_another_checkout(monkeypatch, capsys, tmp_path):
    (tmp_path / "src" / "tabletop_envs").mkdir(parents=True)

    def start_once(program, cache, source) -> dict[str, float]:
        compile(program, "program", "exec")
        return {"first": 6.0 if source else 2.0}

    monkeypatch.setattr(startup, "start_once", start_once)
    assert startup.main(["--repeats", "2", "--against", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for use in startup.USES:
        for game in registry.game_names():
            (line,) = (line for line in lines if line.startswith(f"first {use}  ") and game in line)
            assert line.split()[-1] == "3.00"
    with pytest.raises(SystemExit):
        startup.main(["--against", str(tmp_path / "src")])
    assert "must be a checkout" in capsys.readouterr().err


@pytest.mark.parametrize("game", ["connect_four", *registry.game_names()])
def test_a_compiled_loop_plays_every_game(game):
    assert loop_work(game, 8)(100) == 800


def test_compare_runs_in_processes_of_its_own(capsys):
    assert compare.main([OURS, *QUICK, "--lanes", "1", "--threads", "1", "--json", "-"]) == 0
    _, *records = map(json.loads, capsys.readouterr().out.splitlines())
    ours = [one for one in records if one["game"] == "connect_four"]
    assert {one["what"] for one in ours} == {"batch", "loop", "rollout"}
    assert all(one["ratio"] == 1 for one in ours)


@pytest.mark.parametrize(
    "case",
    [
        Case("batch", "pgx", "connect_four", 4),
        Case("loop", "pgx", "connect_four", 4),
        *peers.cases_of("open_spiel", 1, [1]),
        *peers.cases_of("pettingzoo", 1, [1]),
    ],
    ids=str,
)
def test_peers_that_are_installed_run(case):
    if missing := peers.missing(case.library):
        pytest.skip(missing)
    assert peers.make_work(case)(50) >= 50


def test_scaling(capsys):
    assert scaling.main(["kirche", *QUICK, "--largest", "4", "--json", "-"]) == 0
    _, *records = map(json.loads, capsys.readouterr().out.splitlines())
    assert {one["axis"] for one in records} == set(scaling.AXES)
    assert [one["place"] for one in records if one["axis"] == "lanes"] == [1, 4] * 2


def test_the_plot_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "scaling.svg"
    points = [("lanes", lanes, figure("lanes", "kirche", 1e6 / lanes)) for lanes in (1, 4)]
    scaling.plot_points(points, str(path))
    assert "<svg" in path.read_text(encoding="utf-8")


def test_a_plot_without_matplotlib_is_refused_at_once(monkeypatch, capsys):
    # None in `sys.modules` makes an import fail as a missing module does.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert scaling.main(["--plot", "scaling.svg"]) == 2
    assert "pip install" in capsys.readouterr().err
