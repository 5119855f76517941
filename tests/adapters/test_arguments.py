"""What the adapters' arguments cannot be is refused by name, as everywhere
(tests/envs/test_arguments.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.envs.test_arguments import BOOLS, COUNTS, INTEGERS, LANE_ACTIONS, LANE_SEEDS, SEEDS


def refused(argument: str, values: list[Any], call: Callable[[Any], object]) -> None:
    for value in values:
        with pytest.raises((TypeError, ValueError), match=argument):
            call(value)


def test_sb3():
    pytest.importorskip("stable_baselines3")
    from tabletop_envs.adapters import sb3

    refused("num_envs", COUNTS, lambda value: sb3.make_vec_env("kirche", value))
    refused("seat", [*INTEGERS, 2], lambda value: sb3.make_vec_env("kirche", 2, seat=value))
    refused("seed", SEEDS, lambda value: sb3.make_vec_env("kirche", 2, seed=value))
    refused("num_houses", COUNTS, lambda v: sb3.make_vec_env("kirche", 2, num_houses=v))
    env = sb3.make_vec_env("kirche", 2, seed=1)
    env.reset()
    refused("action", LANE_ACTIONS, env.step)


def test_tianshou():
    pytest.importorskip("tianshou")
    from tabletop_envs.adapters import tianshou

    make = tianshou.make_vector_env
    for who in ("random", "self"):
        refused("num_envs", COUNTS, lambda value, who=who: make("kirche", value, who))
        refused("seed", LANE_SEEDS, lambda value, who=who: make("kirche", 2, who, seed=value))
    refused("seat", [*INTEGERS, 2], lambda value: make("kirche", 2, seat=value))
    refused("seat", [0], lambda value: make("kirche", 2, "self", seat=value))
    env = tianshou.make_vector_env("kirche", 2, seed=1)
    env.reset()
    refused("action", LANE_ACTIONS, env.step)
    refused("id", [[0.0], [True, False], True, "0", [2], [-1], [0, 0]], env.reset)


def test_torchrl():
    pytest.importorskip("torchrl")
    import torch

    from tabletop_envs.adapters.torchrl import TabletopEnv

    refused("num_envs", COUNTS, lambda value: TabletopEnv("kirche", value))
    refused("seat", [*INTEGERS, 2], lambda value: TabletopEnv("kirche", 2, seat=value))
    refused("seed", LANE_SEEDS, lambda value: TabletopEnv("kirche", 2, seed=value))
    refused("categorical_actions", BOOLS, lambda v: TabletopEnv("kirche", 2, categorical_actions=v))
    env = TabletopEnv("kirche", 2, seed=1)
    start = env.reset()
    for wrong in (torch.tensor([0.0, 1.0]), torch.tensor([True, False])):
        with pytest.raises((TypeError, ValueError, AssertionError), match="action"):
            env.step(start.clone().set("action", wrong))


def test_pufferlib():
    pytest.importorskip("pufferlib")
    from tabletop_envs.adapters.pufferlib import TabletopEnv

    refused("num_envs", COUNTS, lambda value: TabletopEnv("kirche", value))
    refused("seat", [*INTEGERS, 2], lambda value: TabletopEnv("kirche", 2, seat=value))
    refused("seed", SEEDS, lambda value: TabletopEnv("kirche", 2, seed=value))
    env = TabletopEnv("kirche", 2, seed=1)
    refused("seed", SEEDS, env.reset)
    env.reset()
    refused("action", LANE_ACTIONS, env.step)


def test_jax():
    pytest.importorskip("jax")
    from tabletop_envs.adapters.jax import make_step

    refused("num_envs", COUNTS, lambda value: make_step("kirche", value))
    init, step, _ = make_step("kirche", 2)
    refused("seed", LANE_SEEDS, init)
    state = init(1).state
    for wrong in ([0.0, 1.0], [True, False], [0], [[0, 1]]):
        with pytest.raises((TypeError, ValueError), match="action"):
            step(state, np.array(wrong))


def test_rllib():
    pytest.importorskip("ray.rllib")
    from tabletop_envs.adapters.rllib import TabletopMultiAgentEnv

    env = TabletopMultiAgentEnv("kirche")
    refused("seed", SEEDS, lambda value: env.reset(seed=value))
    env.reset(seed=1)
    refused("action", [True, 1.0, "1", None], lambda value: env.step({"player_0": value}))
