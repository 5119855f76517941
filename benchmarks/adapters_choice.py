"""How the benchmarks of adapters choose, alike for all stacks: uniformly among legal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit


def choose(mask: npt.NDArray[Any], generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each row of masks `(N, n)` of zeros and ones (or bool)."""
    actions = np.zeros(len(mask), np.int64)
    _choose(mask, generator.random(len(mask)), actions)
    return actions


@njit(cache=True)
def _choose(mask: Any, draws: Any, actions: Any) -> None:
    """Write for each row which of its ones `draws` (0 ≤ draw < 1) points to."""
    for lane in range(mask.shape[0]):
        count = 0
        for place in range(mask.shape[1]):
            count += mask[lane, place]
        remaining = int(draws[lane] * count)
        for place in range(mask.shape[1]):
            remaining -= mask[lane, place]
            if remaining < 0:
                actions[lane] = place
                break
