"""The training examples run a game that they have never heard of: that of docs/add-a-game.md, named as
file.py:NAME or registered, which has planes in its observation.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from tabletop_envs.kernels import Part
from tests.examples.training import refused, rows, training
from tests.registered import as_before
from tests.scripts import EXAMPLES, load_script

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the extra train")
pytest.importorskip("rich", reason="rich is not installed: the extra train")

TINY = {
    "ppo_selfplay": "--games 4 --plies 16 --steps 64 --width 4 --local 4",
    "alphazero": "--games 4 --plies 30 --iterations 1 --simulations 4 --channels 4 --blocks 1 --minibatch 4 --warm-up 0 "
    "--gate-every 1 --gate-games 2 --eval-games 2 --eval-simulations 2",
}


def example_of(name: str) -> ModuleType:
    return load_script(EXAMPLES / f"{name}.py")


@pytest.mark.usefixtures("unregistered_game")
@pytest.mark.parametrize("name", TINY)
def test_it_trains(name, monkeypatch, tmp_path, custom_folder):
    words = [
        f"{custom_folder}/registered.py:GAME",
        *TINY[name].split(),
        "--threads",
        "1",
        "--opponents",
        "random",
    ]
    with as_before():
        training(example_of(name), monkeypatch, tmp_path, *words).run()
    assert len(rows(tmp_path / "progress.csv")) == len(rows(tmp_path / "evaluation.csv")) == 1


@pytest.mark.parametrize("name", TINY)
def test_without_planes_it_says_so(
    name,
    registered_game,
    monkeypatch,
    tmp_path,
    capsys,
):
    game = type(registered_game)
    kernel = replace(game.kernel, observation=(Part("squares", (84,)),))
    monkeypatch.setattr(game, "kernel", kernel)
    said = refused(example_of(name), capsys, tmp_path, "connect_four", "--threads", "1")
    assert "connect_four must have planes in its observation" in said
