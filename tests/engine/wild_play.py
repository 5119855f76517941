"""Random actions, legal or not, in every game: nothing may be read or written out of bounds.

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(mktemp -d) python -m tests.engine.wild_play 20000

plays so many actions of each option of each game, compiled with checks of all indexes. What those
cannot see (a bit beyond a board, a field that is none of the table's) is looked for in the states.
With `NUMBA_DISABLE_JIT=1` NumPy checks the indexes.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import njit

from tabletop_envs import kernels, registry
from tabletop_envs.kernels import engine, rng
from tabletop_envs.kernels.meeples import material
from tabletop_envs.lanes import Lanes
from tests.games import GAMES, OPTIONS

LANES = 4


@engine.compiled_loop
def play_wildly(states, legal, sampler, steps, observation):
    """Half of the actions are legal, if there is a legal one, the others of the space, some any
    number at all.

    The advanced sampler, or 0 if what should be legal is none of the space.
    """
    counts = np.zeros(legal.shape[1] // engine.GROUP, np.uint64)
    for _ in range(steps):
        for lane in range(states.size):
            state = states[lane]
            size = np.uint64(kernels.num_actions(state))
            sampler, action = engine.choose(state, legal[lane], counts, sampler)
            sampler, any_action = rng.below(sampler, size)
            sampler, coin = rng.below(sampler, np.uint64(16))
            if coin < np.uint64(8):
                action = np.int64(any_action)
            if action < 0 or np.uint64(action) >= size:
                return np.uint64(0)
            if coin == np.uint64(1):
                action = np.int64(rng.output(sampler))
            kernels.step(state, action)
            if state.status != kernels.RUNNING:
                kernels.start(state)
            if coin == np.uint64(0):
                kernels.deal_hidden(state, np.int64(state.to_move), rng.output(sampler))
            kernels.legal_actions(state, legal[lane])
            for player in range(state.num_players):
                kernels.observe(state, player, observation)
    return sampler


@njit
def in_compiled_code():
    """Whether this is compiled code; an index beyond its array then raises, or not."""
    return np.zeros(1)[np.arange(2)[1]]


# How many bits of a word a board or a set uses, and the largest value of other fields.
BITS = {
    "kirche": dict.fromkeys(("pieces", "spires", "naves", "horizontal", "pastor"), 49),
    "tuerme": dict.fromkeys(("colours", "symbols", "heights"), 56),
    "meeples": {
        **dict.fromkeys(("values", "across", "upright", "meeples", "blocks"), 48),
        **dict.fromkeys(("hands", "setup_stones"), 28),
    },
}
LARGEST = {
    "kirche": {},
    "tuerme": {"ending_city": 7},
    "meeples": {
        "first_field": material.NO_FIELD - 1,
        "chosen_field": material.NO_FIELD,
        "source": material.NO_FIELD,
        "chosen_stone": material.NO_STONE,
        "direction": material.NOT_LAID,
        "phase": material.TELEPORT,
    },
}


def find_faults(name: str, states: np.ndarray, legal: np.ndarray) -> list[str]:
    """What is beyond its bounds in states and sets of legal actions."""
    largest = {**{field: 2**bits - 1 for field, bits in BITS[name].items()}, **LARGEST[name]}
    largest["to_move"] = states["num_players"][0] - 1
    faults = [field for field, most in largest.items() if states[field].max() > most]
    kernel = registry.get_game(name).kernel
    sets = legal[:, : kernel.num_words].copy()
    sets[:, -1] >>= np.uint64(kernel.num_actions - kernel.word_bits * (kernel.num_words - 1))
    sets[:, :-1] >>= np.uint64(kernel.word_bits)
    return faults + ["legal actions"] * bool(sets.any())


def main(actions: int) -> None:
    """Play; SystemExit where anything is beyond its bounds."""
    for name in GAMES:
        game = registry.get_game(name)
        for options in OPTIONS[name]:
            lanes = Lanes(game, LANES, options)
            lanes.seed(lanes.all_lanes, np.arange(LANES, dtype=np.uint64))
            lanes.start(lanes.all_lanes)
            states, legal = lanes.states, lanes.legal_bits
            observation = np.zeros(game.kernel.observation_size, np.int8)
            sampler = np.uint64(1)
            for _ in range(0, actions, 5 * LANES):
                try:
                    sampler = np.uint64(play_wildly(states, legal, sampler, 5, observation))
                except OverflowError:  # in Python alone: compiled numbers wrap around
                    sampler += np.uint64(1)
                faults = find_faults(name, states, legal) + ["choice"] * (not sampler)
                if faults:
                    raise SystemExit(f"{name} {options}: beyond their bounds: {', '.join(faults)}")
        print(name, "within bounds")


if __name__ == "__main__":
    try:
        in_compiled_code()
        checked = False
    except IndexError:
        checked = True
    print("indexes are checked" if checked else "indexes are not checked")
    main(int(sys.argv[1]))
