"""The training examples run a game that they have never heard of, with planes."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from benchmarks import connect_four_game
from tabletop_envs import registry
from tabletop_envs.kernels import Part
from tests.examples.training import refused, rows, training
from tests.scripts import EXAMPLES, load_script

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")
pytest.importorskip("rich", reason="rich is not installed: the extra train")

TINY = {
    "ppo_selfplay": "--games 4 --plies 16 --steps 64 --width 4 --local 4",
    "alphazero": "--games 4 --plies 30 --iterations 1 --simulations 4 --channels 4 --blocks 1 --minibatch 4 --warm-up 0 "
    "--gate-every 1 --gate-games 2 --eval-games 2 --eval-simulations 2",
}


@pytest.fixture
def registered(monkeypatch):
    """Connect four as a game of the registry."""
    name = connect_four_game.GAME.name
    monkeypatch.setitem(registry.GAMES, name, 0)
    monkeypatch.setitem(sys.modules, f"tabletop_envs.envs.{name}", connect_four_game)


def example_of(name: str) -> ModuleType:
    return load_script(EXAMPLES / f"{name}.py")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", TINY)
def test_it_trains(name, monkeypatch, tmp_path):
    words = ["connect_four", *TINY[name].split(), "--threads", "1", "--opponents", "random"]
    training(example_of(name), monkeypatch, tmp_path, *words).run()
    assert len(rows(tmp_path / "progress.csv")) == len(rows(tmp_path / "evaluation.csv")) == 1


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", TINY)
def test_without_planes_it_says_so(name, monkeypatch, tmp_path, capsys):
    game = connect_four_game.GAME.__class__
    kernel = replace(game.kernel, observation=(Part("squares", (84,)),))
    monkeypatch.setattr(game, "kernel", kernel)
    said = refused(example_of(name), capsys, tmp_path, "connect_four", "--threads", "1")
    assert "connect_four must have planes in its observation" in said
