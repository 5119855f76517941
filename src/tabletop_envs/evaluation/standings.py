"""From standings to values: how likely it is that each player is first in the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_envs.kernels.bits import jitable


@jitable
def write_values(values: Any, players: int, temperature: float) -> None:
    """Turn estimates of the players' final scores, in `values`, into expected rewards by T15.

    Player i is taken to be first with a probability in proportion to exp(estimate / temperature).
    The first gets +1 and the others share −1: so a probability p is worth (players · p − 1) /
    (players − 1).
    """
    top = values[0]
    for player in range(1, players):
        top = max(top, values[player])
    total = 0.0
    for player in range(players):
        values[player] = math.exp((values[player] - top) / temperature)
        total += values[player]
    share = np.float64(players) / total
    for player in range(players):
        values[player] = (values[player] * share - 1.0) / np.float64(players - 1)
