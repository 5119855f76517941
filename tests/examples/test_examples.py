"""The examples run, and do what they say."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from tabletop_envs.arena.tournaments import tournament
from tests.games import each_game, play, raw_env

EXAMPLES = Path(__file__).parents[2] / "examples"


@each_game
def test_monte_carlo_finds_an_action_without_looking_or_touching(name):
    example = runpy.run_path(str(EXAMPLES / "monte_carlo.py"))
    env = raw_env(name, max_plies=60)
    env.reset(seed=1)
    play(env, lambda n: n // 2, 54)
    before = env.snapshot()
    action = example["search"](env, 1, np.random.default_rng(1))
    assert env.action_mask()[action]
    assert env.snapshot() == before


def test_monte_carlo_takes_a_win_at_once():
    example = runpy.run_path(str(EXAMPLES / "monte_carlo.py"))
    env = raw_env("kirche", num_houses=1)
    env.reset(seed=1)
    env.restore(
        {
            **env.snapshot(),
            "ply": 198,
            "phase": "moves",
            "pieces": [
                [
                    {"kind": "spire", "square": 16, "ridge": "h"},
                    {"kind": "nave", "square": 17, "ridge": "v"},
                    {"kind": "house", "square": 20, "ridge": "h"},
                ],
                [
                    {"kind": "spire", "square": 0, "ridge": "h"},
                    {"kind": "nave", "square": 6, "ridge": "h"},
                    {"kind": "house", "square": 48, "ridge": "h"},
                ],
            ],
        }
    )
    action = example["search"](env, 1, np.random.default_rng(1))
    assert env.action_to_str(action).startswith("move house 2,6 left 2")


def test_a_study_of_seats(capsys):
    main = runpy.run_path(str(EXAMPLES / "study_seats.py"))["main"]
    main("kirche --agents random --games 6 --seed 3".split())
    heading, *seats = capsys.readouterr().out.splitlines()
    assert heading.split()[:3] == ["agent", "players", "seat"]
    table = tournament("kirche", ["random"], 6, 3)
    assert [line.split()[:6] for line in seats] == [
        ["random", "2", f"player_{seat.seat}", "6", f"{seat.first}", f"{seat.score:.1%}"]
        for seat in table.seats
    ]
    for words, message in (
        ("chess", "no game 'chess'"),
        ("kirche --players 3", "--players 3 must be one of 2 in kirche"),
        ("kirche --agents gredy", "no agent 'gredy'"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(words.split())
        assert message in capsys.readouterr().err


def test_the_command(capsys, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["monte_carlo.py", "kirche", "--games", "1", "--playouts", "1"]
    )
    example = runpy.run_path(str(EXAMPLES / "monte_carlo.py"))
    monkeypatch.setitem(example["main"].__globals__, "play", lambda *_: {"player_0": 1.0})
    example["main"]()
    assert capsys.readouterr().out == "{'player_0': 1.0}\n"
