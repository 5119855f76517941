"""A small generator of random numbers whose whole state is one `uint64`: SplitMix64.

It lives in a game's state (`state.rng`), so that a batch needs no generator object, a copied state
draws what the original would have drawn, and results do not depend on threads. Steele, Lea and
Flood, "Fast splittable pseudorandom number generators" (2014); bounded numbers by Lemire, "Fast
random integer generation in an interval" (2019), without bias.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from tabletop_envs.kernels.compiling import CALLEE

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_TWO_TO_32 = np.uint64(1 << 32)


@njit(inline="always")
def advance(rng: int) -> int:
    """The generator's state after one more draw (uint64 to uint64)."""
    return rng + _GAMMA


@njit(inline="always")
def output(rng: int) -> int:
    """The 64 random bits (uint64) that belong to a state just advanced to."""
    z = (rng ^ (rng >> _S30)) * _MULTIPLIER_1
    z = (z ^ (z >> _S27)) * _MULTIPLIER_2
    return z ^ (z >> _S31)


@register_jitable(**CALLEE, _nrt=False, error_model="numpy", forceinline=True)
def below(rng: int, n: int) -> tuple[int, int]:
    """The advanced state and a uniform number from 0 to n − 1 (all uint64; 1 ≤ n < 2^32)."""
    while True:
        rng = advance(rng)
        product = (output(rng) >> _S32) * n
        low = product & _LOW_HALF
        # The division is needed only where the lower half is below n at all: once in 2^32 / n
        # draws.
        if low >= n or low >= (_TWO_TO_32 - n) % n:
            return rng, product >> _S32


@njit
def from_seed(seed: int) -> int:
    """The first state (uint64) of the stream that belongs to a seed (uint64)."""
    return output(advance(seed))


@njit
def sampler_from_seed(seed: int) -> int:
    """The first state (uint64) of the stream that samples actions for a game of a seed (uint64).

    Another stream than the game's own, so that a game's chance does not depend on who chooses the
    actions.
    """
    return from_seed(~from_seed(seed))
