"""The command `tournament`: its words, its tables, and how it ends."""

from __future__ import annotations

import io
import json
import re
import signal
import sys
from typing import Any

import pytest
from rich.console import Console

from tabletop_envs import registry
from tabletop_envs.agents import RandomAgent, naming
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.arena import records, tournaments
from tabletop_envs.cli.tournament_command import cross_table, seats_table, standings_table
from tests.agents.custom_agents import write_mine
from tests.arena.test_arena import drawn, outcome, small_table, table_of
from tests.cli.command_line import plain, run, run_json
from tests.games import each_game
from tests.terminals import terminal

pytest.importorskip("openskill")


@pytest.fixture(autouse=True)
def fast_agents(monkeypatch):
    """More agents with names that compile quickly."""
    monkeypatch.setattr(naming, "GreedyAgent", RandomAgent)
    monkeypatch.setattr(MCTSAgent, "from_name", lambda name: RandomAgent())


@each_game
def test_the_words_of_the_issue(name):
    words = f"{name} random greedy mcts:9 --games 4 --seed 7 --option max_plies=12"
    document = run_json("tournament", *words.split())
    expected = tournaments.tournament(
        name, ["random", "greedy", "mcts:9"], 4, seed=7, options={"max_plies": 12}
    )
    assert document["games"] == document["planned"] == 12
    assert document["interrupted"] is False
    del document["version"], document["interrupted"]
    assert document == json.loads(json.dumps(expected.to_dict()))
    assert document["game"] == registry.batch_id(name)


def test_players_and_output(tmp_path):
    path = tmp_path / "games.jsonl"
    words = [
        *"tournament tuerme random greedy mcts:9 --games 3 --option num_players=3".split(),
        *f"--option max_plies=12 --option slide=true --seed 4 --output {path}".split(),
    ]
    first = run_json(*words)
    assert first["options"] == {
        "num_players": 3,
        "slide": True,
        "end_on_any_full_city": False,
        "max_plies": 12,
    }
    assert len(list(records.read_records(path))) == 3
    whole = path.read_bytes()
    assert run_json(*words) == first
    # The seed is in the file.
    seedless = [word for word in words if word not in ("--seed", "4")]
    assert run_json(*seedless) == first
    assert path.read_bytes() == whole
    assert run_json(*words, "--workers", "2") == first


def test_without_a_seed_a_new_one_is_drawn_and_shown():
    words = "tournament kirche random greedy --games 2 --option max_plies=9".split()
    first, second = run_json(*words), run_json(*words)
    assert first["seed"] != second["seed"]
    assert run_json(*words, "--seed", str(first["seed"])) == first


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ["Missing"]),
        ("chess random greedy", ["'chess'"]),
        ("kirche", ["AGENT"]),
        ("kirche --games 3", ["Missing argument", "AGENT"]),
        ("kirche random mcts", ["AGENT", "did you mean 'mcts:400'?"]),
        ("kirche random greedy random", ["AGENT", "'random' is given twice"]),
        ("kirche random gredy", ["no agent 'gredy'", "did you mean 'greedy'?"]),
        ("kirche random greedy --games 0", ["--games"]),
        ("kirche random greedy --seed -1", ["--seed"]),
        ("kirche random greedy --workers 0", ["--workers"]),
        ("kirche random mine.py:agent", ["AGENT", "there is no file", "mine.py"]),
        ("kirche random mine.pt", ["AGENT", "mine.pt is not there"]),
        ("kirche random greedy:best", ["AGENT", "no evaluation 'best'"]),
        ("tuerme random greedy --option num_players=9", ["num_players=9"]),
        (
            "kirche random greedy --option hauses=1",
            ["unexpected keyword argument 'hauses'"],
        ),
        ("kirche random greedy --output {folder}", ["--output", "directory"]),
        ("kirche random greedy --output {folder}/no/x", ["--output", "there is no folder"]),
        ("kirche random greedy --output {file}", ["--output", "line 1", "no JSON"]),
    ],
)
def test_wrong_words_get_an_error_that_helps(words, expected, tmp_path):
    file = tmp_path / "notes"
    file.write_text("precious\n")
    result = run("tournament", *words.format(folder=tmp_path, file=file).split(), exit_code=2)
    assert result.stdout == ""
    for part in expected:
        assert part in plain(result.stderr)
    assert file.read_text() == "precious\n"


def test_an_agent_alone_shows_the_seats(monkeypatch):
    # There is nothing to rate.
    monkeypatch.setitem(sys.modules, "openskill", None)
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    words = "--games 5 --seed 3 --option num_players=3 --option max_plies=12".split()
    alone = run_json("tournament", "meeples", "greedy", *words)
    assert alone["games"] == alone["planned"] == 5 and len(alone["seats"]) == 3
    assert run_json("tournament", "meeples", "greedy", "greedy", *words) == alone
    shown = plain(run("tournament", "meeples", "greedy", *words).stdout)
    assert "greedy against itself, by seats" in shown
    for seat in alone["seats"]:
        assert f"player_{seat['seat']} {seat['first']} {100 * seat['score']:.1f}%" in shown
    assert "rating" not in shown and "against that of the column" not in shown


def test_an_agent_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mine(tmp_path, "agents_of_the_command")
    words = "tournament kirche random --games 2 --seed 1 --option max_plies=12".split()
    document = run_json(*words, "agents_of_the_command.py:draw")
    assert {one["agent"] for one in document["standings"]} == {
        "random",
        "agents_of_the_command.py:draw",
    }
    result = run(*words, "agents_of_the_command.py:illegal", exit_code=1)
    assert "agents_of_the_command.py:illegal' as player_" in plain(result.stderr)
    assert "which is illegal" in plain(result.stderr)


def test_without_openskill_an_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "openskill", None)
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    result = run(*"tournament kirche random greedy --games 1".split(), exit_code=1)
    assert 'pip install "tabletop-envs[arena]"' in result.stderr


# Tables


def draw(table: Any, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_tables_show_results_with_their_intervals():
    table = small_table()
    lines = [line.split() for line in draw(standings_table(table)).splitlines()]
    best = table.standings[0]
    rating = f"{best.mu:.1f} ± {best.sigma:.1f}".split()
    assert [*"a 5 3 1 70.0%".split(), *lines_interval(best), *rating] in lines
    crossed = draw(cross_table(table))
    assert re.search(r"\ba +70\.0%", crossed)
    assert re.search(r"\bb +30\.0%", crossed)
    assert "+3 =1 −1" in crossed
    assert "+1 =1 −3" in crossed
    assert "a – b: only 4 of 5 games differ" in crossed
    assert "b – a" not in crossed
    seats = [line.split() for line in draw(seats_table(table)).splitlines()]
    assert ["player_0", "4", "90.0%"] in [line[:3] for line in seats]
    assert ["player_1", "0", "10.0%"] in [line[:3] for line in seats]
    assert "5 of 5 games, mean length 10.0, ended by max_plies: 0" in draw(seats_table(table))


def lines_interval(standing: Any) -> list[str]:
    return f"[{100 * standing.low:.1f}, {100 * standing.high:.1f}]".split()


def test_many_agents_are_shown_as_a_list_of_pairs():
    names = "abcdefg"
    games = [
        outcome(number, f"{first}{second}", 2, 1)
        for number, (first, second) in enumerate((a, b) for a in names for b in names if a < b)
    ]
    lines = [line.split() for line in draw(cross_table(table_of(names, *games))).splitlines()]
    assert "a b +1 =0 −0 100.0% [20.7, 100.0] 100.0% 1".split() in lines
    assert [line[:2] for line in lines].count(["g", "a"]) == 0


def test_nothing_is_claimed_before_the_first_game():
    played = tournaments.Tournament("kirche", ["random", ("drawn", drawn)], 2, 1)
    table = played.table()
    assert draw(standings_table(table)).count(" - ") == 2
    assert "0 of 2 games, mean length -" in draw(seats_table(table))
    draw(cross_table(table))


# Ctrl-C

SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tabletop_envs import agents
from tabletop_envs.agents import naming
from tabletop_envs.cli import main

class Slow(agents.RandomAgent):
    fingerprint = agents.fingerprint(agents.RandomAgent())  # That of the agent without delay.

    def choose_lanes(self, *arguments):
        time.sleep(0.01)
        super().choose_lanes(*arguments)

naming.GreedyAgent = Slow
main()
"""


def test_ctrl_c_shows_what_there_is_and_the_same_command_goes_on(tmp_path):
    path = tmp_path / "games.jsonl"
    words = "kirche random greedy --games 30 --seed 2 --option max_plies=12".split()
    words += ["--output", str(path)]
    with terminal("tournament", *words, "--json", code=SLOW) as shown:
        shown.wait_for(r" [1-9]\d*/30.*(random|greedy) \d+\.\d%")
        shown.process.send_signal(signal.SIGINT)
        stdout, _ = shown.process.communicate(timeout=300)
    assert shown.process.returncode == 130
    document = json.loads(stdout)
    assert document["interrupted"] is True
    assert 0 < document["games"] < document["planned"] == 30
    # The interrupt may come between writing a game and counting it.
    assert document["games"] <= len(list(records.read_records(path))) < 30
    whole = run_json("tournament", *words)
    assert whole["games"] == 30
    assert whole == run_json("tournament", *words[:-2])
