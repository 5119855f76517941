"""Who waits for the compiler is told once, and agents are compiled in the background."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest
from numba import njit

from tabletop_envs.play import background
from tabletop_envs.play.background import MESSAGE, Compiling
from tabletop_envs.play.session import HINT_AGENT
from tests.cli.command_line import run
from tests.games import raw_env


def compile_one() -> None:
    @njit
    def one(x: int) -> int:
        return x + 1

    assert one(1) == 2
    assert one(2) == 3


def test_compiling_is_told_once():
    told: list[str] = []
    with Compiling(told.append):
        assert told == []
        compile_one()
        assert told == [MESSAGE]
        compile_one()
        # Nor by the library, which says it in other programs.
        assert not logging.getLogger("tabletop_envs").filter(logging.makeLogRecord({}))
    assert logging.getLogger("tabletop_envs").filter(logging.makeLogRecord({}))
    compile_one()
    assert told == [MESSAGE]


def test_what_is_compiled_behind_a_person_is_told_when_it_is_waited_for():
    told: list[str] = []
    asked: list[str] = []
    compiled, go_on = threading.Event(), threading.Event()

    def choose(name: str, env: Any) -> None:
        asked.append(name)
        assert env.snapshot() == game.snapshot()
        compile_one()
        compiled.set()
        assert go_on.wait(300)
        raise ValueError("this is told where the agent is asked in earnest")

    game = raw_env("kirche")
    game.reset(seed=1)
    with Compiling(told.append) as compiling:
        compiling.wait()
        compiling.behind(["human", "greedy", "random", "greedy"], game, choose)
        assert compiled.wait(300)
        assert told == []
        threading.Timer(0.1, go_on.set).start()
        compiling.wait()
        assert told == [MESSAGE]
    assert asked == ["greedy", "random", HINT_AGENT]


def test_games_one_after_the_other_are_compiled_in_their_order():
    game = raw_env("kirche")
    game.reset(seed=1)
    order, go_on = [], threading.Event()

    def choose(name: str, env: Any) -> None:
        assert go_on.wait(300)
        order.append(name)

    with Compiling(print) as compiling:
        compiling.behind(["human", "mcts:7"], game, choose)
        compiling.behind(["greedy", "random"], game, choose)
        go_on.set()
        compiling.wait()
    assert order == ["mcts:7", HINT_AGENT, "greedy", "random"]


def test_nothing_is_compiled_for_a_debugger_or_after_the_end(
    monkeypatch,
):
    game = raw_env("kirche", max_plies=1)
    game.reset(seed=1)
    with Compiling(print) as compiling:
        monkeypatch.setattr(background, "INTERPRETED", True)
        compiling.behind(["greedy"], game, pytest.fail)
        monkeypatch.undo()
        game.step(0)
        compiling.behind(["greedy"], game, pytest.fail)
        assert compiling._behind == []


def test_it_knows_whether_numba_compiles():
    seen = []
    with Compiling(lambda _: seen.append(compiling.active)) as compiling:
        compile_one()
        seen.append(compiling.active)
    assert seen == [True, False]


@pytest.mark.parametrize("words", ["--opponent random", "--opponent greedy"])
def test_play_says_it_before_the_first_board(words, tmp_path, monkeypatch):
    from tabletop_envs.play.session import Session

    before = Session.__init__

    def begin(*arguments: Any, **more: Any) -> None:
        compile_one()
        before(*arguments, **more)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Session, "__init__", begin)
    result = run("play", "kirche", *words.split(), lines="")
    assert result.stderr.count(MESSAGE) == 1
    assert MESSAGE not in result.stdout
