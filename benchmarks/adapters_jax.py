"""JAX: our `step` called from a jitted program, beside the same loop on the batch engine."""

from __future__ import annotations

import jax
import numpy as np

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from tabletop_envs import make_batch
from tabletop_envs.adapters.jax import make_step

ADAPTER, OWN = "adapter", "batch engine without JAX"


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Random legal self-play; the batch engine alone shows what the callback costs."""
    return {
        Case("jax, self-play", ADAPTER, game, lanes): step_work(game, lanes),
        Case("jax, self-play", OWN, game, lanes): batch_work(game, lanes),
    }


def step_work(game: str, lanes: int) -> Work:
    init, step, _ = make_step(game, lanes)
    fresh = init(1)
    step = jax.jit(step)
    generator = np.random.default_rng(1)
    position = fresh

    def work(steps: int) -> int:
        nonlocal position
        for _ in range(steps):
            over = np.asarray(position.terminated)
            if over.any():
                position = restart(position, fresh, over)
            actions = choose(np.asarray(position.action_mask), generator)
            position = jax.block_until_ready(step(position.state, actions))
        return steps * lanes

    return work


@jax.jit
def restart(position, fresh, over):  # type: ignore[no-untyped-def]
    """The position with the games that are over replaced by fresh ones."""

    def pick(old, new):  # type: ignore[no-untyped-def]
        return jax.numpy.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old)

    return jax.tree.map(pick, position, fresh)


def batch_work(game: str, lanes: int) -> Work:
    batch = make_batch(game, lanes, seed=1)
    generator = np.random.default_rng(1)

    def work(steps: int) -> int:
        for _ in range(steps):
            batch.step(choose(batch.action_mask, generator))
        return steps * lanes

    return work
