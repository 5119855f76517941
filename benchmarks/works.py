"""The works that the benchmarks measure on this library, and the AEC loop that they share with
PettingZoo.

Making a work compiles nothing; its first call does.
"""

# mypy: disallow-untyped-decorators=False
from __future__ import annotations

import random
from typing import Any

import numpy as np
from numba import njit

from benchmarks.connect_four_game import GAME
from benchmarks.measuring import Work
from tabletop_envs import registry
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import Game
from tabletop_envs.kernels import RUNNING, engine, legal_actions, observe, start, step

OURS = "tabletop_envs"
SEED = 1


def find_game(game: str) -> Game:
    """A registered game, or the benchmarks' connect four where no other has its name."""
    own = game == GAME.name and game not in registry.game_names()
    return GAME if own else registry.get_game(game)


def make_lanes(game: str, lanes: int, num_threads: int = 1, **options: Any) -> BatchEnv:
    """A batch of a game, seeded."""
    return BatchEnv(find_game(game), lanes, seed=SEED, num_threads=num_threads, **options)


def make_aec(game: str) -> TabletopEnv:
    """The AEC environment that a game's `env()` makes."""
    return TabletopEnv(find_game(game), on_illegal="lose")


def rollout_work(batch: BatchEnv) -> Work:
    """Random games without leaving compiled code."""

    def work(steps: int) -> int:
        return batch.rollout(steps).actions

    return work


def batch_work(batch: BatchEnv) -> Work:
    """Steps with random legal actions, checked as by default; observation and mask are written at
    every one.
    """

    def work(steps: int) -> int:
        for _ in range(steps):
            batch.step(batch.sample_actions())
        return steps * batch.num_envs

    return work


@njit(cache=True, nogil=True)
def _start_all(states: Any) -> None:
    for lane in range(states.size):
        start(states[lane])


@njit(cache=True, nogil=True)
def _play(steps: int, states: Any, samplers: Any, mask: Any, observation: Any) -> int:
    """What a user's own compiled loop would do: observe, choose, step, start anew, in all lanes
    again and again.

    Returns how many games have ended.
    """
    words = np.zeros(engine.legal_words(states[0]), np.uint64)
    counts = np.zeros_like(words)
    ended = 0
    for _ in range(steps):
        for lane in range(states.size):
            state = states[lane]
            legal_actions(state, words)
            engine.write_mask(state, words, mask[lane])
            observe(state, state.to_move, observation[lane])
            samplers[lane], action = engine.choose(state, words, counts, samplers[lane])
            step(state, action)
            if state.status != RUNNING:
                ended += 1
                start(state)
    return ended


def loop_work(game: str, lanes: int) -> Work:
    """The same as `batch_work`, unchecked, in a user's own compiled loop over the kernel (one
    thread).
    """
    description = find_game(game)
    kernel = description.kernel
    states = description.new_states(lanes, description.parse_options({}))
    samplers = np.zeros(lanes, np.uint64)
    engine.seed_lanes(states, samplers, np.arange(lanes, dtype=np.uint64))
    _start_all(states)
    mask = np.zeros((lanes, kernel.num_actions), np.bool_)
    observation = np.zeros((lanes, kernel.observation_size), np.int8)

    def work(steps: int) -> int:
        _play(steps, states, samplers, mask, observation)
        return steps * lanes

    return work


def aec_work(env: Any) -> Work:
    """The plain loop of an AEC environment that keeps its mask in the observation, with a cheap
    random choice.
    """
    env.reset(seed=SEED)
    chance = random.Random(SEED).random

    def work(steps: int) -> int:
        played = 0
        while played < steps:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(chance() * len(legal))]))
            played += 1
        return played

    return work


@njit(cache=True, nogil=True)
def _arithmetic(steps: int, word: Any) -> Any:
    """Some shifts, multiplications and sums, each needing the one before: a measure of the
    processor alone.
    """
    total = word
    for _ in range(steps):
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
        total += word * np.uint64(0x9E3779B97F4A7C15)
    return total


def arithmetic_work() -> Work:
    """A loop that has nothing of this library in it (an action is 1,000 of its rounds)."""

    def work(steps: int) -> int:
        _arithmetic(steps * 1000, np.uint64(SEED))
        return steps

    return work
