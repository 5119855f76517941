"""Tianshou: the adapter beside Tianshou's `PettingZooEnv` in a `DummyVectorEnv`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tianshou.data import Batch
from tianshou.env import DummyVectorEnv, PettingZooEnv

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from benchmarks.works import SEED, make_aec
from tabletop_envs.adapters import tianshou

ADAPTER, OWN = "adapter", "Tianshou's PettingZooEnv"
# The price of a step in a `DummyVectorEnv` hardly depends on how many there are.
OWN_LANES = 16


def _work(env: Any) -> Work:
    generator = np.random.default_rng(SEED)
    ids = np.arange(len(env))
    seen = [Batch(obs=env.reset()[0]).obs]

    def work(steps: int) -> int:
        for _ in range(steps):
            # As a collector does it: a batch of the observations, and a reset where games are over.
            observation, _, terminated, truncated, _ = env.step(
                choose(seen[0].mask, generator), ids
            )
            over = ids[terminated | truncated]
            seen[0] = Batch(obs=observation).obs
            if over.size:
                seen[0][over] = Batch(obs=env.reset(over)[0]).obs
        return steps * ids.size

    return work


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Steps of vector environments, their observations put into a `Batch`."""

    def make() -> Any:
        env = PettingZooEnv(make_aec(game))
        env.reset(seed=SEED)
        return env

    learner = tianshou.make_vector_env(game, lanes, seed=SEED)
    everybody = tianshou.make_vector_env(game, lanes, "self", seed=SEED)
    return {
        Case("tianshou, self-play", OWN, game, OWN_LANES): _work(
            DummyVectorEnv([make] * OWN_LANES)
        ),
        Case("tianshou, self-play", ADAPTER, game, lanes): _work(everybody),
        Case("tianshou, learner", ADAPTER, game, lanes): _work(learner),
    }
