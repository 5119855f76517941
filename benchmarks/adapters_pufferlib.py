"""PufferLib: our native environment beside PufferLib's emulation of the parallel environment."""

from __future__ import annotations

import contextlib
import tempfile

import numpy as np

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from tabletop_envs.envs.parallel import TabletopParallelEnv

# The import of PufferLib leaves a link in the current folder.
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    from pufferlib import emulation

    from tabletop_envs.adapters.pufferlib import TabletopEnv

ADAPTER, OWN = "adapter", "pufferlib's PettingZoo emulation"


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Random legal play: a learner against random opponents, all players through the emulation.

    Counted are the policy's actions: a learner's, which opponents' replies follow, or every ply.
    """
    return {
        Case("pufferlib, learner", ADAPTER, game, lanes): native_work(game, lanes),
        Case("pufferlib, self-play", OWN, game): emulated_work(game),
    }


def native_work(game: str, lanes: int) -> Work:
    env = TabletopEnv(game, lanes, seed=1)
    env.reset()
    generator = np.random.default_rng(1)

    def work(steps: int) -> int:
        for _ in range(steps):
            env.step(choose(env.action_mask, generator))
        return steps * lanes

    return work


def emulated_work(game: str) -> Work:
    """PufferLib takes no AEC environments: their parallel form, where one agent's action counts."""
    parallel = TabletopParallelEnv(game, on_illegal="lose")
    env = emulation.PettingZooPufferEnv(env_creator=lambda: parallel)
    env.reset(seed=1)
    generator = np.random.default_rng(1)
    places = env.env_single_observation_space.spaces
    # The emulation lays a dict out key by key in one row of bytes.
    first = list(places).index("action_mask")
    start = sum(space.dtype.itemsize * space.shape[0] for space in list(places.values())[:first])
    size = places["action_mask"].shape[0]

    def work(steps: int) -> int:
        for _ in range(steps):
            if env.done:
                env.reset()
            rows = env.observations.view(np.int8)
            env.step(choose(rows[:, start : start + size], generator))
        return steps

    return work
