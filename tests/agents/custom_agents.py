"""The file of a user's own agents, for tests that name what is in it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["HOSTILE", "MINE", "write_hostile", "write_mine"]

MINE = '''
import numpy as np
from tabletop_envs.agents import RandomAgent


def first(observation, action_mask, rng):
    assert observation.dtype == np.float32 and action_mask.dtype == np.int8
    return int(action_mask.argmax())


def draw(observation, action_mask, rng):
    return int(rng.choice(np.flatnonzero(action_mask)))


def make():
    return first


class Mine(RandomAgent):
    """A game agent."""


class Policy:
    """What makes a callable."""

    def __call__(self, observation, action_mask, rng):
        return int(action_mask.argmax())

    def last(self, observation, action_mask, rng):
        return int(np.flatnonzero(action_mask)[-1])


ready, called = Mine(), Policy()
number = 3


def two(observation, action_mask):
    return 0


def wrong():
    return "nothing"


def broken():
    raise RuntimeError("no weights")


def illegal(observation, action_mask, rng):
    return int(action_mask.argmin())


def outside(observation, action_mask, rng):
    return 10**6


def nothing(observation, action_mask, rng):
    return None
'''
# Whoever runs this leaves a file behind, wherever it is.
HOSTILE = """
from pathlib import Path

Path(__file__).with_name("marker").touch()


def agent(observation, action_mask, rng):
    return int(action_mask.argmax())
"""


def write_mine(folder: Path, name: str) -> Path:
    """A module of agents in a folder. Its name must be another one in every test: a process imports
    a module once.
    """
    path = folder / f"{name}.py"
    path.write_text(MINE)
    return path


def write_hostile(folder: Path, name: str) -> tuple[Path, Path]:
    """A module that leaves a marker when it is run, and the marker."""
    path = folder / f"{name}.py"
    path.write_text(HOSTILE)
    return path, folder / "marker"
