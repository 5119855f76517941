"""kirche, version 0: see `tabletop_envs.envs.kirche` for the manual."""

from tabletop_envs.envs.kirche import (
    GAME,
    OBSERVATION,
    env,
    parallel_env,
    raw_env,
    split_observation,
)

__all__ = ["GAME", "OBSERVATION", "env", "parallel_env", "raw_env", "split_observation"]
