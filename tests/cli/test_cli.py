"""The command line: what it measures, what it prints, and how it ends."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.agents import RandomAgent
from tabletop_envs.arena.selfplay import AgentRollout, Length, Plan, Result, play
from tabletop_envs.cli.common import CtrlC, Interrupt, find_games, read_options
from tabletop_envs.cli.selfplay_command import make_plans, results_table
from tabletop_envs.envs.batch import RolloutCounts
from tabletop_envs.envs.kirche import Kirche
from tabletop_envs.game import Option, max_plies_option
from tests.agents.custom_agents import write_mine
from tests.cli.command_line import plain, run, run_json
from tests.games import legal_actions, over, raw_env
from tests.registered import as_before
from tests.terminals import MAIN, terminal

IDS = [registry.batch_id(name) for name in registry.game_names()]
SMALL = ("--num-envs", "8", "--seed", "3")


def run_python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=300
    )


# Measuring


@pytest.mark.parametrize("game", IDS)
def test_counts_are_those_of_one_rollout_of_the_batch_engine(game):
    # Numbers of games and actions that neither threads nor slices divide evenly.
    words = "--steps 201 --num-envs 130 --num-threads 2 --seed 5 --option max_plies=60"
    document = run_json("selfplay", game, *words.split())
    with tabletop_envs.make_batch(game, 130, seed=5, max_plies=60) as batch:
        expected = batch.rollout(201)
    entry = document["games"][0]
    assert expected.games > 0
    assert entry["game"] == game
    assert (entry["steps"], entry["actions"]) == (201, 201 * 130)
    assert (entry["games"], entry["by_limit"]) == (expected.games, expected.by_limit)
    assert entry["longest"] == expected.longest
    assert entry["mean_length"] == pytest.approx(expected.plies / expected.games)
    players = entry["players"]
    assert [player["wins"] for player in players] == [row[0] for row in expected.shared]
    assert [player["mean_reward"] for player in players] == pytest.approx(expected.mean_rewards)
    assert entry["actions_per_second"] == pytest.approx(entry["actions"] / entry["seconds"])
    assert (document["seed"], document["num_envs"], document["num_threads"]) == (5, 130, 2)
    assert document["interrupted"] is False


def lowest_actions(lane: int, steps: int, **options: Any) -> list[dict[str, Any]]:
    """What the games of a lane come to in which everybody plays the lowest legal action."""
    env, ended = raw_env("kirche", **options), []
    env.reset(seed=5 + lane)
    for _ in range(steps):
        env.step(legal_actions(env)[0])
        if over(env):
            outcome = env.snapshot()["outcome"]
            ended.append({"plies": env.snapshot()["ply"], **outcome})
            env.reset()
    return ended


def test_an_agent_plays_all_seats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mine(tmp_path, "agents_of_selfplay")
    options = {"num_houses": 1, "max_plies": 25}
    words = "selfplay kirche --steps 60 --num-envs 9 --seed 5 --option num_houses=1".split()
    words += ["--option", "max_plies=25", "--agent"]
    document = run_json(*words, "agents_of_selfplay.py:first")
    entry = document["games"][0]
    ended = [game for lane in range(9) for game in lowest_actions(lane, 60, **options)]
    assert document["agent"] == "agents_of_selfplay.py:first"
    assert (entry["actions"], entry["games"]) == (540, len(ended))
    assert entry["longest"] == max(game["plies"] for game in ended)
    assert entry["by_limit"] == sum(game["by_limit"] for game in ended)
    assert entry["mean_length"] == pytest.approx(np.mean([game["plies"] for game in ended]))
    for seat, player in enumerate(entry["players"]):
        rewards = [game["rewards"][seat] for game in ended]
        assert player["wins"] == sum(reward > 0 for reward in rewards)
        assert player["mean_reward"] == pytest.approx(np.mean(rewards))
        assert player["mean_score"] == pytest.approx(np.mean([g["scores"][seat] for g in ended]))
    # Chance of the agent comes from the seed, too.
    drawn = [run_json(*words, "agents_of_selfplay.py:draw")["games"][0] for _ in range(2)]
    assert drawn[0]["players"] == drawn[1]["players"]
    error = plain(run(*words, "agents_of_selfplay.py:illegal", exit_code=1).stderr)
    assert "agent 'agents_of_selfplay.py:illegal'" in error and "illegal" in error
    error = plain(run(*words, "agents_of_selfplay.py:no", exit_code=2).stderr)
    assert "--agent" in error


def test_without_a_seed_a_new_one_is_drawn_and_shown():
    words = ("selfplay", "kirche", "--steps", "400", "--num-envs", "8")
    first, second = run_json(*words), run_json(*words)
    assert first["seed"] != second["seed"]
    repeated = run_json(*words, "--seed", str(first["seed"]))
    for document in (first, repeated):
        for measured in ("seconds", "actions_per_second"):
            del document["games"][0][measured]
    assert repeated == first


def test_seconds_are_those_of_play_alone():
    entry = run_json("selfplay", "kirche", "--seconds", "0.1", *SMALL)["games"][0]
    assert entry["seconds"] >= 0.1
    assert entry["steps"] > 1


class ScriptedBatch:
    """Three games of three players that end as a script says: lengths and scores by steps and lanes."""

    num_envs = num_players = 3
    game = states = legal_bits = None
    SCRIPT: tuple[dict[int, tuple[int, list[int], bool]], ...] = (
        {},
        {0: (2, [5, 1, 1], False), 2: (9, [4, 4, 0], True)},
        {1: (3, [2, 2, 2], False)},
        {0: (1, [0, 7, 3], True)},
    )

    def __init__(self) -> None:
        self.steps = 0
        self.terminated, self.by_limit = np.zeros((2, 3), np.bool_)
        self.episode_length = np.zeros(3, np.int64)
        self.scores = np.zeros((3, 3), np.int32)

    def step(self, actions: Any) -> None:
        assert actions.tolist() == [self.steps] * 3
        ended = self.SCRIPT[self.steps]
        self.terminated[:] = [lane in ended for lane in range(3)]
        for lane, (length, scores, limited) in ended.items():
            self.episode_length[lane], self.by_limit[lane] = length, limited
            self.scores[lane] = scores
        self.steps += 1


class Counting(RandomAgent):
    """Chooses the number of the step."""

    calls = 0

    def choose_lanes(self, game: Any, states: Any, legal: Any, rngs: Any, *rest: Any) -> None:
        rest[1][rest[0]] = self.calls
        self.calls += 1


def test_what_an_agent_s_games_come_to_is_counted():
    batch: Any = ScriptedBatch()
    rollout = AgentRollout(batch, Counting(), 1)
    counts = rollout(1) + rollout(2) + rollout(1)
    shared = ((1, 1, 1), (1, 1, 1), (0, 0, 1))
    assert counts == RolloutCounts(12, 4, 2, 15, 9, shared, (11, 14, 6))
    assert AgentRollout(ScriptedBatch(), Counting(), 1)(4) == counts  # type: ignore[arg-type]


class FakeBatch:
    """A batch that takes 1/1024 s of its own clock for an action in every lane."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slices: list[int] = []

    def rollout(self, steps: int) -> RolloutCounts:
        self.slices.append(steps)
        self.now += steps / 1024  # sums of such numbers are exact
        return RolloutCounts(steps, 1, 0, steps, steps, ((1, 0), (0, 0)), (1, 0))


def test_slices_grow_to_some_tens_of_milliseconds_and_are_added_up(monkeypatch):
    batch = FakeBatch()
    monkeypatch.setattr(time, "perf_counter", lambda: batch.now)
    results = list(play(Plan("kirche-v0", {}, {}), batch, Length(1.0, steps=100)))  # type: ignore[arg-type]
    assert batch.slices == [1, 2, 4, 8, 16, 30, 30, 9]
    assert [result.steps for result in results] == [1, 3, 7, 15, 31, 61, 91, 100]
    assert results[-1].counts == RolloutCounts(100, 8, 0, 100, 30, ((8, 0), (0, 0)), (8, 0))
    assert results[-1].seconds == 100 / 1024
    assert results[-1].actions_per_second == 1024

    batch.slices.clear()
    *_, last = play(Plan("kirche-v0", {}, {}), batch, Length(0.05))  # type: ignore[arg-type]
    assert batch.slices == [1, 2, 4, 8, 16, 30]
    assert last.seconds == 61 / 1024


# Games and options


def test_all_games_are_played_by_default_and_options_go_to_those_that_have_them():
    entries = run_json("selfplay", "--steps", "2", "--option", "num_houses=3", *SMALL)["games"]
    assert [entry["game"] for entry in entries] == IDS
    for name, entry in zip(registry.game_names(), entries, strict=True):
        options = {option.name: option.default for option in registry.get_game(name).options}
        if name == "kirche":
            options["num_houses"] = 3
        assert entry["options"] == options


def test_a_game_named_twice_is_played_once():
    words = ("selfplay", "kirche", "kirche-v0", "tabletop_envs/kirche-v0", "--steps", "1", *SMALL)
    assert [entry["game"] for entry in run_json(*words)["games"]] == ["kirche-v0"]
    assert [game.name for game in find_games(["kirche-v0", "kirche"])] == ["kirche"]


class Hamlet(Kirche):
    """A game with options of its own."""

    name = "hamlet"
    options = (max_plies_option(50), Option("inn", False, 0, 1, "whether the hamlet has one"))


def test_plans_give_each_game_its_own_options():
    hamlet = Hamlet()
    with as_before():
        registry.register(hamlet, version=4)
        plans = make_plans([Kirche(), hamlet], {"num_houses": 2, "inn": True, "max_plies": 50})
    assert plans == [
        Plan(
            "kirche-v0",
            {"num_houses": 2, "max_plies": 50},
            changed={"num_houses": 2, "max_plies": 50},
        ),
        Plan("hamlet-v4", {"max_plies": 50, "inn": True}, changed={"inn": True}),
    ]


def test_options_are_read_as_numbers_truth_values_or_texts():
    read = read_options(["num_houses=3", " slide = True", "open_hands=false", "x=1.5"])
    assert read == {"num_houses": 3, "slide": True, "open_hands": False, "x": "1.5"}
    # 1 == True in Python, but not to a game's options.
    assert [type(value) for value in read.values()] == [int, bool, bool, str]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kirsche"], ["GAME", "'kirsche'", *IDS, "did you mean 'kirche'?"]),
        (["kirche-v9"], ["GAME", "'kirche-v9'", "did you mean 'kirche-v0'?"]),
        (["zzz"], ["GAME", "'zzz'", *IDS]),
        (["--option", "num_hauses=3"], ["'num_hauses'", "did you mean 'num_houses'?", "max_plies"]),
        (["--option", "num_houses=9"], ["kirche: num_houses=9 must be", "from 1 to 7"]),
        (["--option", "num_houses=true"], ["num_houses=True must be", "from 1 to 7"]),
        (["--option", "num_houses=many"], ["num_houses='many' must be", "from 1 to 7"]),
        (["--option", "num_houses"], ["--option", "'num_houses'", "key=value"]),
        (["--option", "=3"], ["--option", "'=3'", "key=value"]),
        (["--option", "num_houses=3", "--option", "num_houses=4"], ["'num_houses' is given twice"]),
        (["--seconds", "0"], ["--seconds", "above 0"]),
        (["--seconds", "-1"], ["--seconds", "above 0"]),
        (["--seconds", "nan"], ["--seconds", "above 0"]),
        (["--seconds", "inf"], ["--seconds", "above 0"]),
        (["--seconds", "1", "--steps", "1"], ["--seconds", "--steps", "exclude each other"]),
        (["--steps", "0"], ["--steps", "1"]),
        (["--steps", "many"], ["--steps", "integer"]),
        (["--num-envs", "0"], ["--num-envs", "1"]),
        (["--num-envs", str(10**12), "--steps", "1"], ["--num-envs", "from 1 to 2147483647"]),
        (["--num-threads", "-2"], ["--num-threads", "1"]),
        (["--num-threads", "5000", "--steps", "1"], ["--num-threads", "from 1 to 1024"]),
        (["--seed", "-1"], ["--seed", "0"]),
    ],
    ids=" ".join,
)
def test_wrong_words_get_an_error_that_helps(words, expected):
    result = run("selfplay", *words, exit_code=2)
    assert result.stdout == ""
    for part in expected:
        assert part in plain(result.stderr)


def test_too_many_games_for_the_memory_are_a_wrong_number(monkeypatch):
    make_batch = tabletop_envs.make_batch

    def make_small_batch(id: str, num_envs: int, *others: Any, **named: Any) -> Any:
        if num_envs > 1:
            raise MemoryError
        return make_batch(id, num_envs, *others, **named)

    monkeypatch.setattr(tabletop_envs, "make_batch", make_small_batch)
    result = run("selfplay", "kirche", "--steps", "1", "--num-envs", "2", exit_code=2)
    assert "no memory for 2 games" in plain(result.stderr)


# What is printed


def test_where_stdout_is_no_terminal_it_has_the_table_and_nothing_else(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    result = run("selfplay", "kirche", "--steps", "500", "--option", "num_houses=2", *SMALL)
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "\r" not in result.stdout
    for part in ("kirche-v0", "kirche-v0 with num_houses=2", "seed 3, 8 games at once, threads: 1"):
        assert part in result.stdout


def draw(results: list[Result], width: int = 80) -> list[list[str]]:
    """The table's lines, split into words."""
    console = Console(file=io.StringIO(), width=width)
    console.print(results_table(results, "caption"))
    file = console.file
    assert isinstance(file, io.StringIO)
    return [line.split() for line in file.getvalue().splitlines()]


def test_table_has_a_line_for_each_player():
    counts = RolloutCounts(
        actions=3_000_000,
        games=2000,
        by_limit=500,
        plies=100_000,
        longest=1234,
        shared=((1000, 0, 100), (500, 0, 100), (400, 0, 100)),
        scores=(0, 0, 0),
    )
    options = {"num_players": 3, "end_on_any_full_city": True}
    lines = draw([Result(Plan("tuerme-v0", options, options), counts, 1000, 2.0)])
    first = "tuerme-v0 1,500,000 2,000 50.0 1,234 25.0% player_0 50.0% +0.275"
    row = lines.index(first.split())
    assert lines[row + 1] == ["player_1", "25.0%", "-0.100"]
    assert lines[row + 2] == ["player_2", "20.0%", "-0.175"]
    assert "tuerme-v0 with num_players=3, end_on_any_full_city=true".split() in lines
    assert ["caption"] in lines


def test_nothing_is_claimed_of_games_that_have_not_ended():
    entry = run_json("selfplay", "kirche", "--steps", "3", *SMALL)["games"][0]
    assert entry["games"] == 0
    assert entry["mean_length"] is entry["longest"] is entry["by_limit_share"] is None
    assert {player["mean_reward"] for player in entry["players"]} == {None}
    assert {player["win_share"] for player in entry["players"]} == {None}
    counts = RolloutCounts(24, 0, 0, 0, 0, ((0, 0), (0, 0)), (0, 0))
    lines = draw([Result(Plan("kirche-v0", {}, {}), counts, 3, 1.0)])
    assert "kirche-v0 24 0 - - - player_0 - -".split() in lines


def test_list_names_games_ids_and_options():
    document = run_json("list")
    words = plain(run("list").stdout)
    assert [game["id"] for game in document["games"]] == IDS
    for entry in document["games"]:
        game = registry.get_game(entry["name"])
        assert entry["aec_id"] == registry.aec_id(game.name)
        assert entry["module"] == f"tabletop_envs.{registry.module_name(game.name)}"
        assert f"{entry['id']} (PettingZoo: {entry['aec_id']})" in words
        shown = {option["name"]: option["default"] for option in entry["options"]}
        assert shown == game.parse_options({})
        for option in game.options:
            assert f"{option.name} {str(option.default).lower()}" in words
            assert plain(option.meaning) in words
    houses = document["games"][IDS.index("kirche-v0")]["options"][0]
    assert houses["allowed"] == {"minimum": 1, "maximum": 7}


# How the process begins and ends


@pytest.mark.parametrize("words", [["--help"], ["selfplay", "--help"], ["--version"]])
def test_help_and_version_import_no_numba(words):
    code = (
        "import sys\n"
        "from tabletop_envs import cli\n"
        "early = {'typer', 'rich', 'numba'} & set(sys.modules)\n"
        "try:\n"
        "    cli.main()\n"
        "finally:\n"
        "    print('imported:', early | {'numba'} & set(sys.modules))\n"
    )
    done = run_python(code, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("imported: set()\n")
    expected = tabletop_envs.__version__ if words == ["--version"] else "Usage"
    assert expected in done.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_an_error_names_it(missing):
    done = run_python(f"import sys; sys.modules[{missing!r}] = None" + MAIN, "list")
    assert done.returncode == 1
    assert done.stdout == ""
    assert missing in done.stderr
    assert 'pip install "tabletop-envs[cli]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["--json"], []], ids=["json", "table"])
def test_ctrl_c_shows_what_there_is_so_far(words):
    play = ("selfplay", "kirche", "--steps", str(10**12), *SMALL, *words)
    with terminal(*play) as shown:
        shown.wait_for("compiling")
        shown.wait_for(r"kirche-v0.*actions/s, [1-9][0-9,]* games")
        shown.process.send_signal(signal.SIGINT)
        stdout, _ = shown.process.communicate(timeout=300)
    assert shown.process.returncode == 130
    if words:
        document = json.loads(stdout)
        assert document["interrupted"] is True
        assert [entry["game"] for entry in document["games"]] == ["kirche-v0"]
        assert document["games"][0]["games"] > 0
    else:
        assert "\x1b" not in stdout
        assert re.search(r"kirche-v0 +[1-9][0-9,]* +[1-9]", stdout)
        assert "interrupted" in stdout


@pytest.fixture
def foreground():
    """SIGINT means what it means to a command in the foreground."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("foreground")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_is_not_lost_in_a_finaliser():
    class Finaliser:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with CtrlC() as ctrl_c:
        ctrl_c.check()
        Finaliser()
        with pytest.raises(Interrupt):
            ctrl_c.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_exit_code_survives_an_interrupt_within_exec():
    code = (
        "import signal, sys\n"
        "from tabletop_envs.cli.common import CtrlC\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n"
        "    with CtrlC():\n"
        "        exec('signal.raise_signal(signal.SIGINT)')\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    assert run_python(code).returncode == 130


@pytest.mark.usefixtures("foreground")
def test_ignored_signals_stay_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with CtrlC() as ctrl_c:
        signal.raise_signal(signal.SIGINT)
        ctrl_c.check()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
