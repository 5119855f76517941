"""TorchRL's works: our batched environment beside TorchRL's own wrapper of the AEC environment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from torchrl.envs.libs.pettingzoo import PettingZooWrapper

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from tabletop_envs.adapters.torchrl import TabletopEnv
from tabletop_envs.envs import aec

ADAPTER, OWN = "adapter", "torchrl's AEC wrapper"


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Random legal play: a learner against random opponents, self-play, TorchRL's own wrapper.

    Counted are the policy's actions: a learner's, which opponents' replies follow, or every ply.
    """
    return {
        Case("torchrl, learner", ADAPTER, game, lanes): batched_work(game, lanes, "random"),
        Case("torchrl, self-play", ADAPTER, game, lanes): batched_work(game, lanes, "self"),
        Case("torchrl, self-play", OWN, game): wrapper_work(game),
    }


def batched_work(game: str, lanes: int, opponents: str) -> Work:
    env = TabletopEnv(game, lanes, opponents=opponents, seed=1)
    generator = np.random.default_rng(1)

    def play() -> Iterator[None]:
        data = env.reset()
        while True:
            actions = choose(data["action_mask"].numpy(), generator)
            data["action"] = torch.from_numpy(actions)
            _, data = env.step_and_maybe_reset(data)
            yield

    return _work(play(), lanes)


def wrapper_work(game: str) -> Work:
    with warnings.catch_warnings():
        # It names the one version of PettingZoo that TorchRL is tested with.
        warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested")
        env = PettingZooWrapper(aec.TabletopEnv(game, on_illegal="lose"), use_mask=True, seed=1)
    generator = np.random.default_rng(1)

    def play() -> Iterator[None]:
        data = env.reset()
        while True:
            for agent in env.possible_agents:
                actions = choose(data[agent, "action_mask"].numpy(), generator)
                data[agent, "action"] = torch.from_numpy(actions)
            _, data = env.step_and_maybe_reset(data)
            yield

    return _work(play(), 1)


def _work(play: Iterator[None], actions: int) -> Work:
    def work(steps: int) -> int:
        for _ in range(steps):
            next(play)
        return steps * actions

    return work
