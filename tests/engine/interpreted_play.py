"""Plays a whole game, and some of everything else that is compiled, and prints what was seen:
compiled or not.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np

import tabletop_envs
from tabletop_envs.agents import make_agent
from tabletop_envs.kernels import engine
from tests.games import module

# Enough players and options for every kind of part, and a short game where rules allow.
OPTIONS: dict[str, dict[str, Any]] = {
    "kirche": {"num_houses": 2},
    "tuerme": {"num_players": 3, "slide": True},
    "meeples": {"num_players": 3},
}


def digest(*arrays: np.ndarray) -> str:
    """A short digest of arrays."""
    return hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=8).hexdigest()


def play(name: str) -> dict[str, Any]:
    """What is seen in each interface."""
    seen: dict[str, Any] = {}
    env = module(name).env(**OPTIONS[name])
    env.reset(seed=5)
    rng, digests = np.random.default_rng(1), []
    while not any(env.terminations.values()):
        observation = env.observe(env.agent_selection)
        digests.append(digest(observation["observation"], observation["action_mask"]))
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    seen["game"] = [env.snapshot(), env.rewards, digests]
    batch = tabletop_envs.make_batch(f"{name}-v0", 2, seed=3, **OPTIONS[name])
    for _ in range(8):
        batch.step(batch.sample_actions())
    seen["batch"] = digest(batch.observation, batch.action_mask)
    seen["lists"] = digest(*batch.legal_actions(), batch.keys())
    seen["rollout"] = repr(batch.rollout(20))
    batch.restore(0, batch.to_aec(1).snapshot())
    batch.reset(seed=4, positions=[batch.to_aec(lane).snapshot() for lane in range(2)])
    seen["positions"] = digest(batch.observation)
    seen["perft"] = engine.perft(np.concatenate([batch.states[:1]] * 2), 2)
    learners = gymnasium.make_vec(f"tabletop_envs/{name.capitalize()}-v0", 2, **OPTIONS[name])
    observation, info = learners.reset(seed=4)
    for _ in range(4):
        observation, *_, info = learners.step(info["action_mask"].argmax(axis=1))
    seen["vector"] = digest(observation, info["action_mask"])
    env.reset(seed=6)
    for agent in sys.argv[2:]:
        env.step(make_agent(agent).choose(env, np.random.default_rng(2)))
    seen["agents"] = env.snapshot()
    return seen


if __name__ == "__main__":
    warnings.simplefilter("error")  # nothing overflows aloud
    print(json.dumps(play(sys.argv[1])))
