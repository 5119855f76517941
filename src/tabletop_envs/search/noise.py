"""Random floats for searches: uniform ones, and of gamma distributions for Dirichlet noise.

Every function takes a generator (`kernels.rng`, uint64) and returns it advanced, with the number
drawn.
"""

from __future__ import annotations

import math

import numpy as np

from tabletop_envs.kernels import rng
from tabletop_envs.kernels.bits import jitable

_S11 = np.uint64(11)
_TWO_TO_MINUS_53 = 2.0**-53


@jitable
def uniform(generator: int) -> tuple[int, float]:
    """A float64 from 0 to 1 (not included), of 53 random bits."""
    generator = rng.advance(generator)
    return generator, np.float64(rng.output(generator) >> _S11) * _TWO_TO_MINUS_53


@jitable
def normal(generator: int) -> tuple[int, float]:
    """A float64 of the standard normal distribution, by Box and Muller's method."""
    generator, one = uniform(generator)
    generator, other = uniform(generator)
    return generator, math.sqrt(-2.0 * math.log(1.0 - one)) * math.cos(2.0 * math.pi * other)


@jitable
def gamma(generator: int, shape: float) -> tuple[int, float]:
    """A float64 of the gamma distribution of a shape > 0 and scale 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
    """
    boost = 1.0
    if shape < 1.0:
        generator, drawn = uniform(generator)
        boost = (1.0 - drawn) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        generator, x = normal(generator)
        v = (1.0 + c * x) ** 3
        if v <= 0.0:
            continue
        generator, drawn = uniform(generator)
        if math.log(1.0 - drawn) < 0.5 * x * x + d - d * v + d * math.log(v):
            return generator, d * v * boost
