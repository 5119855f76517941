"""RLlib: the adapter's environments beside RLlib's `PettingZooEnv`, stepped as by its runners."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.wrappers.vector import DictInfoToList
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from benchmarks.works import SEED, make_aec
from tabletop_envs.adapters import rllib

ADAPTER, OWN = "adapter", "RLlib's PettingZooEnv"


def _multi_agent_work(env: Any) -> Work:
    generator = np.random.default_rng(SEED)
    seen = [env.reset(seed=SEED)[0]]

    def work(steps: int) -> int:
        for _ in range(steps):
            ((agent, observation),) = seen[0].items()
            action = int(choose(observation["action_mask"][np.newaxis], generator)[0])
            observations, _, terminated, truncated, _ = env.step({agent: action})
            over = terminated["__all__"] or truncated["__all__"]
            seen[0] = env.reset()[0] if over else observations
        return steps

    return work


def _vector_work(game: str, lanes: int) -> Work:
    # RLlib wraps vector environments so: it takes a list of infos.
    env = DictInfoToList(rllib.env_creator(game)({"num_envs": lanes}))
    generator = np.random.default_rng(SEED)
    seen = [env.reset(seed=SEED)[0]]

    def work(steps: int) -> int:
        for _ in range(steps):
            seen[0] = env.step(choose(seen[0]["action_mask"], generator))[0]
        return steps * lanes

    return work


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Steps of the environments alone, without RLlib's connectors and episodes."""
    own = PettingZooEnv(make_aec(game))
    ours = rllib.multi_agent_env_creator(game)({})
    return {
        Case("rllib, self-play", OWN, game): _multi_agent_work(own),
        Case("rllib, self-play", ADAPTER, game): _multi_agent_work(ours),
        Case("rllib, learner", ADAPTER, game, lanes): _vector_work(game, lanes),
    }
