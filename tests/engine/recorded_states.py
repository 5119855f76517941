"""Recorded states of random games, field by field, and what each function of a kernel makes of
them.

Kept in tests/golden/<game>-states.npz, and compared by tests/engine/test_kernels_alone.py. A change there
is a change of behaviour, of the observation's layout or of the state record: be sure that it is
wanted, then write the files anew by

    python -m tests.engine.recorded_states
"""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from tabletop_envs import kernels, registry
from tests.games import GAMES, OPTIONS, legal_actions, over, raw_env

FOLDER = Path(__file__).parents[1] / "golden"
# Of each kind of options so many games, and of each game so many states.
GAMES_EACH, STATES_EACH = 2, 40
MAX_PLAYERS = 4
# Behind what a function writes lie so many numbers that it must leave as they are.
GUARD = 64


@njit
def start_all(states):
    for index in range(states.size):
        kernels.start(states[index])


@njit
def find_legal(states, words, size):
    for index in range(states.size):
        kernels.legal_actions(states[index], words[index][:size])


@njit
def step_all(states, actions):
    for index in range(states.size):
        kernels.step(states[index], actions[index])


@njit
def observe_all(states, players, observations, size):
    for index in range(states.size):
        kernels.observe(states[index], players[index], observations[index][:size])


@njit
def deal_all(states, players, generators):
    for index in range(states.size):
        kernels.deal_hidden(states[index], players[index], generators[index])


def observed(states: Any) -> Any:
    """For each state and player a checksum of what the player sees (0: no such player)."""
    sums = np.zeros((states.size, MAX_PLAYERS), np.uint32)
    size = kernel_of(states).observation_size
    for player in range(MAX_PLAYERS):
        there = np.flatnonzero(states["num_players"] > player)
        # Filled with what no entry may be: each must be written.
        observations = np.full((there.size, size + GUARD), -100, np.int8)
        observe_all(states[there], np.full(there.size, player), observations, size)
        assert (observations[:, size:] == -100).all(), "written behind the observation"
        sums[there, player] = [zlib.crc32(row[:size].tobytes()) for row in observations]
    return sums


def legal(states: Any) -> Any:
    """The sets of legal actions of running games, as words."""
    size, filled = kernel_of(states).num_words, 2**64 - 1
    words = np.full((states.size, size + GUARD), filled, np.uint64)
    find_legal(states, words, size)
    assert (words[:, size:] == filled).all(), "written behind the set of actions"
    return words[:, :size]


def kernel_of(states: Any) -> kernels.Kernel:
    """The kernel to which states belong."""
    games = map(registry.get_game, GAMES)
    return next(game.kernel for game in games if game.kernel.state == states.dtype)


def changed(function: Any, states: Any, *arguments: Any) -> Any:
    """The states after a function that changes them."""
    result = states.copy()
    function(result, *arguments)
    return result


def generators(states: Any) -> Any:
    """For each state a generator's state from which chance goes on."""
    return np.arange(states.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def unpacked(name: str, states: Any) -> dict[str, Any]:
    """States as an array for each field."""
    return {f"{name}.{field}": states[field] for field in states.dtype.names}


def packed(game: str, name: str, arrays: Any) -> Any:
    """The states whose fields are among the arrays."""
    states = np.zeros(len(arrays[f"{name}.rng"]), registry.get_game(game).kernel.state)
    for field in states.dtype.names:
        states[field] = arrays[f"{name}.{field}"]
    return states


def load(game: str) -> dict[str, Any]:
    """The recorded arrays of a game."""
    with np.load(FOLDER / f"{game}-states.npz") as archive:
        return dict(archive)


def play_some(game: str) -> tuple[Any, Any, Any]:
    """States of random games with all kinds of options, an action of each, and last states."""
    running, actions, ended = [], [], []
    rng = random.Random(1)
    for options in OPTIONS[game] * GAMES_EACH:
        env = raw_env(game, **options)
        env.reset(seed=rng.randrange(2**32))
        played = []
        while not over(env):
            action = rng.choice(legal_actions(env))
            played.append((env.lane()[0][0].copy(), action))
            env.step(action)
        chosen = rng.sample(range(len(played)), min(STATES_EACH, len(played)))
        for index in sorted({0, *chosen, len(played) - 1}):
            running.append(played[index][0])
            actions.append(played[index][1])
        ended.append(env.lane()[0][0].copy())
    return np.array(running), np.array(actions, np.int64), np.array(ended)


def record(game: str) -> dict[str, Any]:
    """What is kept of a game."""
    running, actions, ended = play_some(game)
    players = running["ply"] % running["num_players"]
    return {
        **unpacked("running", running),
        **unpacked("ended", ended),
        "actions": actions,
        "legal": legal(running),
        "observed": observed(np.concatenate([running, ended])),
        **unpacked("started", changed(start_all, ended)),
        **unpacked("stepped", changed(step_all, running, actions)),
        **unpacked("dealt", changed(deal_all, running, players, generators(running))),
    }


if __name__ == "__main__":
    for each in GAMES:
        np.savez_compressed(FOLDER / f"{each}-states.npz", **record(each))
        print(each)
