"""A registered game is everywhere that the library's games are: the game of docs/add-a-game.md, in a
folder outside of the package.
"""

from __future__ import annotations

import copy
import json
import pickle
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

import tabletop_envs
from benchmarks import search, throughput, works
from tabletop_envs import agents, evaluation, registry
from tabletop_envs.adapters.self_play import make_lanes
from tabletop_envs.arena import records, replay
from tabletop_envs.arena.tournaments import play_match, tournament
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.play.session import HUMAN, Session
from tabletop_envs.play.web import WebGame
from tabletop_envs.search import Search
from tabletop_envs.training import game_argument
from tests.cli.command_line import plain, run, run_json
from tests.custom.processes import python

ID, GYM_ID = "tabletop_envs/connect_four-v0", "tabletop_envs/Connect_four-v0"


def command(*words: str, cwd: Path) -> str:
    """What a command of a new process prints; it must end well."""
    done = python("-m", "tabletop_envs.cli", *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Environments


def test_make_batch_and_both_registries_know_it(registered_game):
    for identifier in ("connect_four", "connect_four-v0", ID, GYM_ID):
        assert tabletop_envs.make_batch(identifier, 2, seed=1).game is registered_game
    learner = gymnasium.make(GYM_ID, opponents="random")
    learner.reset(seed=1)
    assert learner.unwrapped.game is registered_game  # type: ignore[attr-defined]
    vector = gymnasium.make_vec(GYM_ID, num_envs=3)
    observations, info = vector.reset(seed=1)
    assert observations.shape == (3, 84)
    assert vector.step(info["action_mask"].argmax(1))[0].shape == (3, 84)
    if hasattr(pettingzoo, "make"):
        aec = pettingzoo.make("aec", ID, max_plies=9)
        assert isinstance(aec, TabletopEnv)
        assert (aec.game, aec.options, aec.on_illegal) == (
            registered_game,
            {"max_plies": 9},
            "lose",
        )
        assert pettingzoo.make("parallel", ID).aec_env.game is registered_game
    assert TabletopEnv("connect_four").metadata["name"] == "connect_four_v0"


def test_gymnasium_imports_a_module_that_stands_before_the_id(custom_folder, tmp_path):
    code = f"import gymnasium; print(gymnasium.make('registered:{GYM_ID}').reset(seed=1)[0].sum())"
    done = python("-c", code, cwd=tmp_path, path=custom_folder)
    assert done.returncode == 0, done.stderr


def test_copies_and_pickles_of_the_game_are_the_game(registered_game):
    assert (
        copy.copy(registered_game)
        is copy.deepcopy(registered_game)
        is pickle.loads(pickle.dumps(registered_game))
        is registered_game
    )
    env = TabletopEnv(registered_game)
    env.reset(seed=1)
    assert pickle.loads(pickle.dumps(env)).game is registered_game


def test_adapters_take_its_name(registered_game):
    assert make_lanes("connect_four", 2, "self", None, "lose", {}).game is registered_game


# Games between agents


def test_records_are_read_and_replayed(registered_game, tmp_path):
    path = tmp_path / "games.jsonl"
    record = play_match("connect_four", ["greedy", "random"], seed=3)
    assert record.game == "connect_four-v0"
    records.append(path, record)
    assert list(records.read_records(path)) == [record]
    page = replay.page(record)
    assert "<circle" in page
    assert "<text" not in page.partition("<script")[0]
    run("replay", str(path))
    assert "connect_four-v0" in path.with_suffix(".html").read_text(encoding="utf-8")


def test_agents_and_searches_use_its_heuristic(registered_game):
    env = TabletopEnv(registered_game)
    env.reset(seed=1)
    env.step(3)
    assert evaluation.value(env) == [2 / 32, -2 / 32]
    rng = np.random.default_rng(1)
    assert agents.make_agent("greedy").choose(env, rng) == 3  # type: ignore[union-attr]
    assert Search("connect_four", seed=1).config.priors == "heuristic"


def test_a_tournament_is_played_in_processes_that_never_heard_of_it(
    registered_game, custom_folder, tmp_path
):
    """The heuristic is registered beside the game, so that workers cannot know it by importing the game."""
    alone = tmp_path / "alone.jsonl"
    players = ["greedy", "random"]
    tournament(registered_game, players, 4, 5, output=alone, ratings=False)
    # From another folder, by a new process.
    together = tmp_path / "together.jsonl"
    words = [f"{custom_folder}/registered.py:GAME", *players, "--games", "4", "--seed", "5"]
    said = command("tournament", *words, "--workers", "2", "--output", str(together), cwd=tmp_path)
    assert "connect_four-v0" in said

    def by_number(path: Path) -> dict[int, records.GameRecord]:
        found = records.read_records(path)
        return {record.notes["tournament"]["number"]: record for record in found}

    assert by_number(alone) == by_number(together)
    # The file is resumed by whoever names the game, and says to others what is missing.
    words[words.index("4")] = "6"
    command("tournament", *words, "--output", str(together), cwd=tmp_path)
    assert len(list(records.read_records(together))) == 6
    done = python("-m", "tabletop_envs.cli", "replay", str(together), cwd=tmp_path)
    assert done.returncode == 2
    assert "game is 'connect_four-v0': the games are kirche-v0" in plain(done.stderr)
    assert "must be registered before (tabletop_envs.register" in plain(done.stderr)
    command("replay", str(together), f"{custom_folder}/registered.py:GAME", cwd=tmp_path)
    assert together.with_suffix(".html").is_file()


# A person at the board


def test_a_session_and_the_page_play_it(registered_game):
    page = WebGame(Session(registered_game, [HUMAN, "greedy"], 1))
    page.play(0, 3)
    page.advance(1)
    state = page.state()
    assert state["game"] == "connect_four-v0"
    assert state["svg"].count("<circle") == 2
    assert [["field:35"]] in [entry["steps"] for entry in state["legal"]]
    assert "connect_four-v0" in [entry["game"] for entry in page.choices()["games"]]
    page.new_game(state["version"], "connect_four-v0", ["random", HUMAN], {"max_plies": 8})
    assert page.session.env.options == {"max_plies": 8}


def test_the_web_server_serves_it(registered_game):
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from starlette.testclient import TestClient

    from tabletop_envs.play.web import server

    home = "http://127.0.0.1:8123"
    page = WebGame(Session("connect_four", [HUMAN, "random"], 1))
    app = server.make_app(page, port=8123, token="secret")
    with TestClient(app, base_url=home) as client:
        moved = client.post(
            "/secret/play", json={"version": 0, "action": 3}, headers={"origin": home}
        )
        assert moved.json()["ply"] == 1
        assert 'class="field"' in client.get("/secret/state").json()["svg"]


@pytest.mark.usefixtures("registered_game")
def test_it_is_played_in_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("play", "connect_four", "--opponent", "random", "--seed", "1")
    said = run(*words, lines="column 4\n").output
    assert re.search(r"^[.o ]*x[.o ]*$", said, re.MULTILINE)
    saved = "connect_four-v0-1.jsonl"
    assert saved in said
    assert "player_0" in run("play", "--resume", saved, lines="column 4\n").output


# The command line


def test_commands_examples_and_benchmarks_know_it(registered_game, custom_folder):
    (entry,) = run_json("selfplay", "connect_four", "--steps", "20", "--num-envs", "4")["games"]
    assert entry["game"] == "connect_four-v0"
    named = {entry["name"]: entry for entry in run_json("list")["games"]}
    assert named["connect_four"]["id"] == "connect_four-v0"
    assert named["connect_four"]["gym_id"] == GYM_ID
    (entry,) = run_json("list", f"{custom_folder}/registered.py:GAME")["games"]
    assert (entry["name"], entry["module"]) == ("connect_four", "connect_four_game")
    assert game_argument(f"{custom_folder}/registered.py:GAME") == "connect_four"
    words = [f"{custom_folder}/registered.py:GAME"]
    for program in (throughput, search):
        assert program.parse_arguments(words).games == ["connect_four"]
    assert works.find_game("connect_four") is registered_game


def test_without_heuristic_and_drawing_everything_works(custom_folder, tmp_path):
    """`connect_four_game.py` registers nothing itself."""
    script = tmp_path / "bare.py"
    script.write_text(
        textwrap.dedent(f"""
            from tabletop_envs import evaluation, registry
            from tabletop_envs.arena import replay
            from tabletop_envs.arena.tournaments import play_match
            from tabletop_envs.envs.aec import TabletopEnv
            from tabletop_envs.play.session import HUMAN, Session
            from tabletop_envs.play.web.page import WebGame

            game = registry.import_game({str(custom_folder / "connect_four_game.py")!r})
            page = WebGame(Session("connect_four", [HUMAN, "greedy"], 1))
            page.play(0, 3)
            page.advance(1)
            state = page.state()
            assert ". . . x . . .".replace(" ", "\\N{{NO-BREAK SPACE}}") in state["svg"]
            assert len(state["legal"]) == 7 and state["cut"] is None
            record = play_match(game, ["greedy", "mcts:2"], 1)
            assert "monospace" in replay.page(record)
            env = TabletopEnv(game, render_mode="rgb_array")
            env.reset(seed=1)
            assert evaluation.value(env) == [0.0, 0.0]
            try:
                env.render()
            except ValueError as error:
                print(error)
            """),
        encoding="utf-8",
    )
    done = python(str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "connect_four has no drawing for 'rgb_array', only its text" in done.stdout


# Batches of unregistered games


def test_a_game_need_not_be_registered_for_environments(unregistered_game):
    assert "connect_four" not in registry.game_names()
    assert BatchEnv(unregistered_game, 2, seed=1).game is unregistered_game
    env = TabletopEnv(unregistered_game)
    env.reset(seed=1)
    assert "\N{NO-BREAK SPACE}" in env.svg()  # its text
    for use in (
        lambda: Session(unregistered_game, [HUMAN, "random"]),
        lambda: tournament(unregistered_game, ["random", "greedy"], 2),
        lambda: records.record_of(env, 1, [], ["a", "b"]),
    ):
        with pytest.raises(ValueError, match=r"'connect_four' must be a registered one.*register"):
            use()


def any_record(name: str) -> dict[str, Any]:
    env = TabletopEnv("kirche", num_houses=1)
    env.reset(seed=1)
    record = json.loads(records.record_of(env, 1, [], ["human", "random"]).to_json())
    return {**record, "game": name}


@pytest.mark.parametrize("name", ["hostile.py:GAME", "{}/hostile.py:GAME", "hostile:GAME"])
def test_nothing_is_imported_that_a_file_or_a_request_names(name, tmp_path, monkeypatch):
    marker = tmp_path / "executed"
    (tmp_path / "hostile.py").write_text(f"open({str(marker)!r}, 'w').close()\n", encoding="utf-8")
    name = name.format(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "games.jsonl"
    file.write_text(json.dumps(any_record(name)) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the games are"):
        list(records.read_records(file))
    for words in (
        ("replay", str(file)),
        ("play", "--resume", str(file)),
        ("play", "kirche", "--resume", str(file)),
        ("tournament", "kirche", "random", "greedy", "--games", "2", "--output", str(file)),
    ):
        assert "the games are" in plain(run(*words, exit_code=2).stderr)
    page = WebGame(Session("kirche", [HUMAN, "random"], 1))
    with pytest.raises(ValueError, match="there is no game"):
        page.new_game(0, name, [HUMAN, "random"], {})
    for use in (registry.get_game, registry.find_name, lambda game: TabletopEnv(game)):
        with pytest.raises(ValueError, match="there is no game"):
            use(name)
    assert not marker.exists()
    # It would have been, had the caller named it.
    with pytest.raises(ValueError, match="there is none"):
        registry.import_game(name)
    assert marker.exists()
    del sys.modules["hostile"]
    sys.path[:] = [each for each in sys.path if each != str(tmp_path)]
