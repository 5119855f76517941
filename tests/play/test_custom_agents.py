"""Custom agents at the board: given by whoever starts the game, never by a file or a request."""

from __future__ import annotations

import dataclasses
import random
import sys
from typing import Any

import pytest

from tabletop_envs.agents import make_agent
from tabletop_envs.play.session import AgentError, Session, load, save
from tabletop_envs.play.web import WebGame
from tabletop_envs.play.web.page import RefusedError
from tests.agents.custom_agents import write_hostile, write_mine
from tests.cli.command_line import plain, run
from tests.play.test_play import go_on
from tests.play.web_games import play_some

SMALL = {"num_houses": 1}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files lie in the present folder; each test imports its modules anew."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("at_the_board", "hostile_at_the_board"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def first(observation: Any, action_mask: Any, rng: Any) -> int:
    """A policy."""
    assert observation.dtype.name == "float32"
    return int(action_mask.argmax())


def illegal(observation: Any, action_mask: Any, rng: Any) -> int:
    """A policy that breaks the rules."""
    return int(action_mask.argmin())


def test_a_session_takes_names_pairs_and_game_agents(folder):
    write_mine(folder, "at_the_board")
    kinds: list[Any] = ["at_the_board.py:first", ("mine", first), make_agent("random")]
    for spec in kinds:
        session = Session("kirche", ["human", spec], 3, SMALL)
        go_on(session, random.Random(1), 3)
        name = session.agents[1]
        assert name in ("at_the_board.py:first", "mine", "random")
        assert session.hint(name) in session.legal_moves()
        record = session.record()
        assert record.agents == ["human", name] and record.fingerprints
        if name == "random":
            assert Session.resume(record).record() == record
        else:
            assert [move.action for move in session.moves if move.player == 1]
            with pytest.raises(ValueError, match=f"player_1 was agent '{name}', which the record"):
                Session.resume(record)
            assert Session.resume(record, given=[spec]).record() == record
    with pytest.raises(ValueError, match="must have another name: 'human' is a person"):
        Session("kirche", ["human", ("human", first)])


def test_an_illegal_choice_is_told_by_the_agents_name():
    session = Session("kirche", [("cheat", illegal), "human"], 1)
    for wrong in (illegal, lambda *_: None):
        session = Session("kirche", [("cheat", wrong), "human"], 1)
        with pytest.raises(AgentError, match="agent 'cheat' chose"):
            session.play_agent()
        assert session.actions == []
        web = WebGame(session)
        with pytest.raises(RefusedError, match="agent 'cheat' chose"):
            web.advance(0)


def test_a_changed_agent_is_not_taken_for_the_one_that_played():
    session = Session("kirche", ["human", ("mine", first)], 3, SMALL)
    go_on(session, random.Random(1), 2)
    record = session.record()
    with pytest.raises(ValueError, match="another agent of the name 'mine': its fingerprint"):
        Session.resume(record, given=[("mine", illegal)])
    other = Session.resume(record, ["human", ("mine", illegal)])
    assert other.actions == session.actions
    marks = ["human"[:0] or None, "0" * 16]
    foreign = dataclasses.replace(record, agents=["human", "random"], fingerprints=marks)
    with pytest.raises(ValueError, match="another agent of the name 'random'"):
        Session.resume(foreign)


@pytest.mark.parametrize("form", ["hostile_at_the_board.py:agent", "hostile_at_the_board:agent"])
def test_what_a_saved_game_names_is_not_run(folder, form):
    _, marker = write_hostile(folder, "hostile_at_the_board")
    session = Session("kirche", ["human", "random"], 3, SMALL)
    go_on(session, random.Random(1), 2)
    names = (form, f"greedy:{form}", f"mcts:4:{form}", "hostile.pt")
    for name in names:
        record = dataclasses.replace(session.record(), agents=["human", name], fingerprints=None)
        save("game.jsonl", record)
        with pytest.raises(ValueError, match="no code is run and no file is opened"):
            Session.resume(load("game.jsonl"))
        error = plain(run("play", "--resume", "game.jsonl", exit_code=2).stderr)
        assert "--agent" in error and "--opponent" in error
        # From within another game, and as an adviser.
        words = "play kirche --opponent random --seed 1 --option num_houses=1".split()
        said = run(*words, lines=f"resume game.jsonl\nhint {name}\nquit\n").stdout
        assert "no code is run and no file is opened" in said
        run("replay", "game.jsonl", "-o", "page.html")
    assert not marker.exists()
    # Given again it plays on.
    if form.startswith("hostile_at_the_board.py"):
        save("game.jsonl", dataclasses.replace(record, agents=["human", form]))
        run("play", "--resume", "game.jsonl", "--agent", form, lines="1\n")
        assert marker.exists()
        assert load("game.jsonl").agents == ["human", form]


def test_a_saved_game_goes_on_with_the_agent_given_again(folder):
    write_mine(folder, "at_the_board")
    name = "at_the_board.py:draw"
    run(*f"play kirche --opponent {name} --seed 2 --save game.jsonl".split(), lines="1\n1\n")
    assert load("game.jsonl").agents == ["human", name]
    before = len(load("game.jsonl").actions)
    run("play", "--resume", "game.jsonl", "--agent", name, lines="1\n1\n")
    assert len(load("game.jsonl").actions) > before
    run("play", "--resume", "game.jsonl", "--opponent", "random", lines="1\n")
    assert load("game.jsonl").agents == ["human", "random"]
    error = plain(run(*f"play kirche --opponent {name[:-4]}darw".split(), exit_code=2).stderr)
    assert "--opponent" in error and "did you mean 'draw'?" in error
    result = run(*"play kirche --opponent at_the_board.py:illegal --seat 1".split(), exit_code=1)
    assert "agent 'at_the_board.py:illegal' chose action" in plain(result.stderr)


# The page


def test_the_page_takes_only_agents_that_are_offered(folder):
    _, marker = write_hostile(folder, "hostile_at_the_board")
    write_mine(folder, "at_the_board")
    name = "at_the_board.py:draw"
    web = WebGame(Session("kirche", ["human", ("mine", first)], 1, SMALL), agents=[name])
    offered = web.choices()["agents"]
    assert {"human", "random", "greedy", "mine", name} <= set(offered)
    before = web.state()
    hostile: list[Any] = [
        "hostile_at_the_board.py:agent",
        "hostile_at_the_board:agent",
        "at_the_board.py:first",
        "mcts:77",
        "greedy:hostile_at_the_board.py:agent",
        "hostile.pt",
        ["mine"],
        None,
    ]
    for wrong in hostile:
        with pytest.raises(RefusedError, match=r"there is no agent .*: this page offers human"):
            web.new_game(0, "kirche", ["human", wrong], SMALL)
    assert web.state() == before and not marker.exists()
    for version, agent in enumerate(("mine", name, "random")):
        web.new_game(web.state()["version"], "kirche", ["human", agent], SMALL, version)
        play_some(web, 2)
        assert web.session.agents == ["human", agent]
        assert web.session.record().fingerprints
