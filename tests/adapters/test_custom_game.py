"""Every adapter takes the name of a registered game: the one of docs/add-a-game.md."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

NAME = "connect_four"


def sb3() -> Any:
    pytest.importorskip("sb3_contrib")
    from tabletop_envs.adapters.sb3 import make_vec_env

    return make_vec_env(NAME, 2, seed=1).reset()


def tianshou() -> Any:
    pytest.importorskip("tianshou")
    from tabletop_envs.adapters.tianshou import make_vector_env

    return make_vector_env(NAME, 2, seed=1).reset()


def torchrl() -> Any:
    pytest.importorskip("torchrl")
    from tabletop_envs.adapters.torchrl import TabletopEnv

    return TabletopEnv(NAME, 2, seed=1).reset()


def pufferlib() -> Any:
    pytest.importorskip("pufferlib")
    from tabletop_envs.adapters.pufferlib import TabletopEnv

    return TabletopEnv(NAME, 2, seed=1).reset()


def jax() -> Any:
    pytest.importorskip("jax")
    from tabletop_envs.adapters.jax import make_step

    return make_step(NAME, 2)


def open_spiel() -> Any:
    pyspiel = pytest.importorskip("pyspiel")
    from tabletop_envs.adapters import open_spiel as adapter

    adapter.register()  # the adapter may have been imported before the game was registered
    return pyspiel.load_game(f"tabletop_{NAME}").new_initial_state()


def rllib() -> Any:
    pytest.importorskip("ray.rllib")
    from tabletop_envs.adapters import rllib as adapter

    assert adapter.register(NAME) == f"tabletop_envs/{NAME}-v0"
    return adapter.TabletopMultiAgentEnv(NAME).reset(seed=1)


@pytest.mark.usefixtures("registered_game")
@pytest.mark.parametrize("use", [sb3, tianshou, torchrl, pufferlib, jax, open_spiel, rllib])
def test_it_takes_the_name(use):
    assert use() is not None


IN_A_WORKER = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    create = pickle.load(file)
env = create({"opponents": "greedy"})
from tabletop_envs import registry
known = registry.registration_of(env.unwrapped.game)
assert known is not None and known.heuristic == "connect_four_heuristic"
env.reset(seed=1)
"""


def test_a_worker_of_ray_gets_what_is_registered(registered_game, custom_folder, tmp_path):
    pytest.importorskip("ray.rllib")
    from ray import cloudpickle

    from tabletop_envs.adapters import rllib as adapter

    file = tmp_path / "creator"
    file.write_bytes(cloudpickle.dumps(adapter.env_creator(registered_game)))
    paths = f"import sys; sys.path += {[*sys.path, str(custom_folder)]!r}\n"
    words = [sys.executable, "-c", paths + IN_A_WORKER, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
