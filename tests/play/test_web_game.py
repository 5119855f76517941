"""The game behind the page: moves, undo, new games, records; no web."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.arena import records
from tabletop_envs.play import session
from tabletop_envs.play.background import Compiling
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame
from tabletop_envs.play.web.page import RefusedError, StaleError
from tests.games import each_game, raw_env
from tests.play.web_games import from_snapshot, go_on, new_game, play_some
from tests.rules.tuerme.boards import blocked_deal

# Moves


@each_game
def test_looking_changes_nothing(name):
    web = new_game(name)
    play_some(web, 3)
    before = web.session.env.snapshot()
    web.state()
    web.choices()
    assert web.session.env.snapshot() == before


@each_game
def test_the_log_tells_what_was_played(name):
    web = new_game(name, seat=1)
    play_some(web, 8)
    state = web.state()
    actions = web.session.actions
    env = raw_env(name)
    env.reset(seed=7)
    for entry, action in zip(state["log"], actions, strict=True):
        assert entry["name"] == env.action_to_str(action)
        assert entry["player"] == env.possible_agents.index(env.agent_selection)
        assert entry["only"] == (env.action_mask().sum() == 1)
        env.step(action)
    # A game that is resumed tells the same.
    assert WebGame(Session.resume(web.session.record())).state()["log"] == state["log"]


def test_the_only_action_is_played_by_itself_and_told():
    web = from_snapshot("tuerme", blocked_deal(), ["human", "random"])
    state = web.state()
    assert not state["yours"] and state["turn"] == 0
    assert state["prompt"] == "You have no move: pass."
    web.advance(0)
    assert web.state()["log"] == [{"player": 0, "name": "pass", "only": True}]
    assert not web.state()["can_undo"]


def test_refusals_change_nothing():
    web = new_game("kirche", {"num_houses": 1})
    before = web.state()
    for call, message in (
        (lambda: web.play(0, 3), "action 3 is not legal here"),
        (lambda: web.advance(0), "a person is to move"),
        (lambda: web.undo(0), "nothing to undo"),
    ):
        with pytest.raises(RefusedError, match=message):
            call()
    for stale in (
        lambda: web.play(1, 0),
        lambda: web.advance(1),
        lambda: web.undo(-1),
        lambda: web.hint(1),
        lambda: web.new_game(1, "kirche", ["human", "random"], {}, None),
    ):
        with pytest.raises(StaleError, match="the game is at version 0"):
            stale()
    assert web.state() == before


def test_a_person_cannot_play_for_an_agent():
    web = new_game("kirche", seat=1)
    with pytest.raises(RefusedError, match="no person is to move"):
        web.play(0, 0)
    with pytest.raises(RefusedError, match="no person is to move"):
        web.hint(0)


@each_game
def test_a_finished_game_takes_only_undo_and_a_new_one(name):
    web = new_game(name, {"max_plies": 6})
    state = play_some(web, 20)
    assert state["outcome"]["by_limit"]
    assert state["turn"] is None and not state["yours"] and state["legal"] == []
    assert len(state["log"]) == 6
    with pytest.raises(RefusedError, match="the game is over"):
        web.advance(state["version"])
    with pytest.raises(RefusedError, match="no person"):
        web.play(state["version"], 0)
    web.undo(state["version"])
    assert web.state()["yours"]


def chance(web: WebGame) -> int | None:
    """Where the game's generator stands; None where there is none."""
    return web.session.env.snapshot().get("rng")


@each_game
def test_undo_goes_back_to_each_own_choice(name):
    web = new_game(name)
    records_before = []
    for turn in range(6):
        state = go_on(web)
        records_before.append((web.session.record(), state["log"], chance(web)))
        web.play(state["version"], state["legal"][turn % len(state["legal"])]["action"])
    go_on(web)
    for record, log, drawn in reversed(records_before):
        state = web.state()
        assert state["can_undo"] == (drawn == chance(web))
        if not state["can_undo"]:
            with pytest.raises(RefusedError, match="chance, such as a roll of dice, is never"):
                web.undo(state["version"])
            assert web.state() == state
            return
        web.undo(state["version"])
        state = web.state()
        assert web.session.record() == record
        assert state["log"] == log and state["yours"]
    assert not web.state()["can_undo"]


def test_only_one_of_many_requests_for_a_state_counts():
    web = new_game("kirche", {"num_houses": 1})
    action = web.state()["legal"][0]["action"]
    barrier, results = threading.Barrier(8), []

    def ask() -> None:
        barrier.wait()
        try:
            web.play(0, action)
            results.append("played")
        except StaleError:
            results.append("stale")

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["played"] + 7 * ["stale"]
    assert web.session.actions == [action]


def test_undo_while_an_agent_thinks_counts_and_its_action_does_not(monkeypatch):
    web = new_game("kirche")
    go_on(web)
    web.play(0, web.state()["legal"][0]["action"])
    web.play(1, web.state()["legal"][0]["action"])
    version = web.state()["version"]

    choose = session.choose

    def undo_meanwhile(*arguments: Any) -> int:
        thread = threading.Thread(target=web.undo, args=(version,))
        thread.start()
        thread.join(300)
        assert not thread.is_alive()
        return choose(*arguments)

    monkeypatch.setattr(session, "choose", undo_meanwhile)
    with pytest.raises(StaleError):
        web.advance(version)
    assert len(web.session.actions) == 1


def test_a_search_ends_when_its_time_is_over():
    # So many simulations would take minutes.
    web = WebGame(Session("kirche", ["mcts:2000000", "human"], 1), think_seconds=0.02)
    web.advance(0)
    assert len(web.session.actions) == 1
    state = go_on(web)
    action, name = web.hint(state["version"])
    assert {"action": action, "name": name}.items() <= next(
        entry for entry in state["legal"] if entry["action"] == action
    ).items()
    assert web.state() == state


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_agents_play_as_they_do_in_the_terminal(agent):
    web = WebGame(Session("kirche", ["human", agent], 11, {"num_houses": 2}))
    play_some(web, 6)
    session = Session("kirche", ["human", agent], 11, {"num_houses": 2})
    for action in web.session.actions:
        if session.human_to_move:
            session.play(action)
        else:
            session.play_agent()
    assert session.actions == web.session.actions


# New games


def test_a_new_game_can_be_any_other():
    web = new_game("kirche")
    play_some(web, 2)
    version = web.state()["version"]
    agents = ["random", "human", "greedy"]
    web.new_game(version, "tuerme-v0", agents, {"num_players": 3, "slide": True}, 5)
    state = web.state()
    assert (state["game"], state["version"]) == ("tuerme-v0", version + 1)
    assert state["options"]["slide"] is True
    assert [player["agent"] for player in state["players"]] == agents
    assert state["log"] == [] and not state["can_undo"]
    assert web.session.record().seed == 5


def test_the_agents_of_each_game_are_compiled_in_the_background():
    asked = []

    class Watched(Compiling):
        def behind(self, agents: Any, env: Any, choose: Any) -> None:
            asked.append((env.game.name, list(agents)))
            assert choose("random", env) in np.flatnonzero(env.action_mask())

    web = new_game("kirche", compiling=Watched(print))
    web.compile_behind()
    with pytest.raises(RefusedError):
        web.new_game(0, "tuerme", ["human"], {})
    web.new_game(0, "tuerme", ["human", "greedy"], {})
    assert asked == [("kirche", ["human", "random"]), ("tuerme", ["human", "greedy"])]


def test_impossible_new_games_are_refused():
    web = new_game("kirche")
    before = web.state()
    for game_name, agents, options, message in (
        ("chess", ["human", "random"], {}, "there is no game 'chess'"),
        ("kirche", ["human"], {}, "1 agents for 2 players"),
        ("kirche", ["human", "deep blue"], {}, "no agent 'deep blue'"),
        ("kirche", ["human", "random"], {"num_houses": 8}, "num_houses=8"),
        ("kirche", ["human", "random"], {"towers": 1}, "unexpected keyword argument 'towers'"),
        ("kirche", ["human", "random"], {"num_houses": "3"}, "num_houses='3'"),
    ):
        with pytest.raises(RefusedError, match=message):
            web.new_game(0, game_name, agents, options, None)
    assert web.state() == before


def test_the_form_offers_every_game_with_all_its_options():
    choices = new_game("kirche").choices()
    offered = {entry["game"]: entry for entry in choices["games"]}
    assert list(offered) == [registry.batch_id(name) for name in registry.game_names()]
    for name in registry.game_names():
        described = registry.get_game(name)
        entry = offered[registry.batch_id(name)]
        assert [o["name"] for o in entry["options"]] == [o.name for o in described.options]
        most = max(2, *(o.maximum for o in described.options if o.name == "num_players"), 2)
        assert len(set(entry["players"])) == most
    assert "human" in choices["agents"]


# Files


def test_all_games_are_saved(tmp_path):
    path = tmp_path / "games.jsonl"
    web = new_game("kirche", {"max_plies": 6}, path=path)
    assert web.save() is None and not path.exists()
    state = play_some(web, 9)
    first = web.session.record()
    assert list(records.read_records(path)) == [first]
    web.new_game(state["version"], "tuerme", ["human", "random"], {}, 3)
    web.play(state["version"] + 1, web.state()["legal"][0]["action"])
    assert web.save() == path
    assert list(records.read_records(path)) == [first, web.session.record()]
    assert web.games_saved == 2
    assert list(tmp_path.iterdir()) == [path]


def test_an_unfinished_game_is_saved_to_a_new_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    web = new_game("kirche")
    assert web.save() is None
    play_some(web, 2)
    assert web.save() == Path("kirche-v0-7.jsonl")
    assert web.save() == Path("kirche-v0-7-2.jsonl")
    assert list(records.read_records("kirche-v0-7.jsonl")) == [web.session.record()]
    finished = new_game("kirche", {"max_plies": 3})
    play_some(finished, 9)
    assert finished.save() is None


def test_a_file_that_cannot_be_written_is_told_and_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    web = new_game("kirche", {"max_plies": 6}, path=tmp_path / "none" / "g.jsonl", say=told.append)
    state = play_some(web, 9)
    assert "cannot be written" in state["notice"]
    assert web.save() == Path("kirche-v0-7.jsonl")
    assert told and all("cannot be written" in line for line in told)
    assert list(records.read_records("kirche-v0-7.jsonl")) == [web.session.record()]
