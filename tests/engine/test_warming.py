"""Compiling ahead: afterwards a new process compiles nothing, whatever it does with the game."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

import tabletop_envs
from benchmarks import connect_four_game
from tabletop_envs import processes, warming
from tabletop_envs.arena import tournaments
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.kernels import compiling, engine
from tests.games import GAMES


def run(what: str, name: str) -> Any:
    """What a new process has compiled that has warmed or used a game."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.ways_in", what, name],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def misses() -> int:
    """How many loops this process has not found in the cache."""
    return sum(sum(loop.stats.cache_misses.values()) for loop in compiling._entries)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "kirche" else pytest.mark.soak) for name in GAMES],
)
def test_after_warm_nothing_is_compiled_any_more(name):
    """Also with a cache that has more: what is used must be what was warmed."""
    warmed, used = run("warm", name), run("use", name)
    # Other games may have loops of their own.
    others = tuple(f"tabletop_envs.envs.{game}." for game in GAMES if game != name)
    missing = [
        loop
        for loop, signatures in warmed["loops"].items()
        if not signatures and not loop.startswith(others)
    ]
    assert not missing, "loops that no part in warming.PARTS compiles"
    for loop, signatures in used["loops"].items():
        assert set(signatures) <= set(warmed["loops"][loop]), loop
    assert used["compiled"] == []


@pytest.mark.parametrize("workers", [1, 2])
def test_custom_games_are_compiled_ahead(workers, monkeypatch):
    # The part that takes least, and one that builds on the same loop.
    parts = {part: warming.PARTS[part] for part in ("environments", "perft")}
    monkeypatch.setattr(warming, "PARTS", parts)
    game = connect_four_game.GAME
    progress = list(warming.compile_ahead([game, game], workers))
    assert {each.part for each in progress} == set(parts)
    assert [(each.game, each.done, each.total) for each in progress] == [
        (game.name, 1, 2),
        (game.name, 2, 2),
    ]
    before = misses()
    env = TabletopEnv(game)
    env.reset(seed=1)
    env.step(3)
    assert engine.perft(np.repeat(env.lane()[0], 2), 2) == 49
    assert misses() == before


def test_what_cannot_be_compiled_ahead_is_named():
    with pytest.raises(ValueError, match="there is no game 'chess'"):
        tabletop_envs.warm("chess")
    with pytest.raises(ValueError, match="workers=0 must be"):
        tabletop_envs.warm("kirche", workers=0)

    class Local(type(connect_four_game.GAME)):  # type: ignore[misc]
        name = "local"

    with pytest.raises(ValueError, match="game 'local' must be picklable"):
        tabletop_envs.warm(Local(), workers=2)


def die(*_: Any) -> None:
    os._exit(3)


def test_a_process_that_dies_is_told(monkeypatch):
    monkeypatch.setattr(warming, "compile_part", die)
    with pytest.raises(RuntimeError, match="a process that compiles has died"):
        tabletop_envs.warm("kirche", workers=2)


@pytest.mark.parametrize(
    ("warning", "fails"), [("no room: compiling in every process", True), ("another", False)]
)
def test_code_that_cannot_be_kept_is_an_error(warning, fails, monkeypatch):
    def part(game: Any) -> None:
        warnings.warn(warning, RuntimeWarning, stacklevel=1)

    monkeypatch.setattr(warming, "PARTS", {"part": part})
    if fails:
        with pytest.raises(RuntimeError, match="no room"):
            warming.compile_part("kirche", "part")
    else:
        with pytest.warns(RuntimeWarning, match="another"):
            warming.compile_part("kirche", "part")


# Other processes


def wait_for_compiling() -> None:
    compiling.logger.warning("compiling a loop")


def test_of_many_processes_that_compile_one_message_is_logged(
    monkeypatch,
):
    monkeypatch.setattr(compiling, "_said", set())
    logged, told = [], threading.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(record.getMessage())
            told.set()

    handler = Handler()
    compiling.logger.addHandler(handler)
    try:
        with processes.process_pool(2) as pool:
            for _ in range(4):
                pool.submit(wait_for_compiling).result()
            assert told.wait(300)
    finally:
        compiling.logger.removeHandler(handler)
    assert logged == ["compiling a loop"]


class Misses(gymnasium.Wrapper):  # type: ignore[type-arg]
    """Tells `misses` of its process."""

    def misses(self) -> int:
        return misses()


def make_env() -> Any:
    """For processes of their own."""
    return Misses(gymnasium.make("tabletop_envs/Kirche-v0"))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_processes_of_a_vector_environment_find_what_the_first_has_compiled(context):
    def play(env: Any) -> None:
        _, info = env.reset(seed=1)
        env.step(info["action_mask"].argmax(axis=-1))

    play(make_env())
    before = make_env().misses() if context == "fork" else 0
    envs = gymnasium.vector.AsyncVectorEnv([make_env] * 2, context=context)
    try:
        play(envs)
        assert envs.call("misses") == (before, before)
    finally:
        envs.close()


def never_compiles(observation: Any, mask: Any, rng: Any) -> int:
    """The lowest action, in a process that has found everything in the cache."""
    assert all(not loop.stats.cache_misses for loop in compiling._entries)
    return int(mask.argmax())


def test_processes_of_a_tournament_find_what_the_first_has_compiled():
    def play(first: Any, workers: int) -> Any:
        agents = [("first", first), "greedy"]
        return tournaments.tournament(
            "kirche", agents, 4, 1, {"max_plies": 8}, workers=workers, ratings=False
        )

    lowest = play(lambda observation, mask, rng: int(mask.argmax()), 1)
    assert play(never_compiles, 2).pairs == lowest.pairs
