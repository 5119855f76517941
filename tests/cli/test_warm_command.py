"""`tabletop-envs warm`: what it prints, and how it ends."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest
from rich.console import Console

from tabletop_envs import registry, warming
from tabletop_envs.cli.warm_command import LiveParts
from tabletop_envs.kernels import compiling
from tests.cli.command_line import plain, run


@pytest.fixture
def asked(monkeypatch):
    """The games and numbers of processes asked for; nothing is compiled."""
    calls: list[tuple[Any, int]] = []

    def compile_ahead(games: Any, workers: int) -> Any:
        calls.append(([game.name for game in games], workers))
        logging.getLogger("tabletop_envs").warning("compiling")
        yield from (warming.Progress(game.name, "search", 1, 1) for game in games)

    monkeypatch.setattr(warming, "compile_ahead", compile_ahead)
    return calls


def test_it_says_what_is_kept_where(asked, caplog):
    result = run("warm", "kirche-v0", "tuerme", "--workers", "3")
    assert asked == [(["kirche", "tuerme"], 3)]
    assert "compiled kirche, tuerme in" in result.stdout
    assert f"kept in {warming.cache_folder()}" in result.stdout
    assert not caplog.records
    logging.getLogger("tabletop_envs").warning("later messages are heard again")
    assert caplog.records


def test_all_games_and_all_cores_are_the_default(asked, monkeypatch):
    monkeypatch.setattr("tabletop_envs.cli.warm_command._cores", lambda: 5)
    run("warm")
    assert asked == [(registry.game_names(), 5)]


def test_several_processes_compile():
    assert "compiled kirche in" in run("warm", "kirche", "--workers", "2").stdout


def test_wrong_words_get_an_error_that_helps():
    result = run("warm", "kirsche", exit_code=2)
    assert "did you mean 'kirche'" in plain(result.stderr)
    run("warm", "kirche", "--workers", "0", exit_code=2)


def test_what_cannot_be_kept_is_an_error(monkeypatch):
    monkeypatch.setattr(warming, "cache_folder", lambda: None)
    result = run("warm", "kirche", "--workers", "1", exit_code=1)
    assert "NUMBA_CACHE_DIR" in result.stderr
    assert result.stdout == ""


def test_where_nothing_is_compiled_it_says_so(monkeypatch):
    monkeypatch.setattr(compiling, "INTERPRETED", True)
    assert "NUMBA_DISABLE_JIT" in run("warm", "kirche", exit_code=1).stderr


def test_ctrl_c_ends_it(monkeypatch):
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(warming, "compile_part", interrupted)
    assert run("warm", "kirche", "--workers", "1", exit_code=130).stdout == ""


def test_a_line_a_game_shows_how_far_it_is():
    live = LiveParts([registry.get_game("kirche"), registry.get_game("tuerme")])
    live.show(warming.Progress("tuerme", "search", 3, 11))
    console = Console(file=io.StringIO(), width=100)
    console.print(live.make_tasks_table(live.tasks))
    kirche, tuerme = console.file.getvalue().splitlines()
    assert "kirche" in kirche and "compiling" in kirche
    assert "tuerme" in tuerme and "3 of 11: search" in tuerme
