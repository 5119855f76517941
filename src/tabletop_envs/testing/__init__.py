"""Checks for games: whether a kernel and an environment keep the library's promises.

>>> from tabletop_envs import kirche_v0
>>> from tabletop_envs.testing import check_env, check_kernel
>>> check_kernel(kirche_v0.GAME)
>>> check_env(kirche_v0.env)

Both play random games and raise `ContractError`, an AssertionError, at the first broken promise: it
names the promise, what was found, and the game's options, seed and actions. They need nothing but
the core installation and no test framework.
"""

from __future__ import annotations

from tabletop_envs.testing.contract import ContractError, option_cases
from tabletop_envs.testing.env import check_env
from tabletop_envs.testing.kernel import Reference, check_kernel

__all__ = ["ContractError", "Reference", "check_env", "check_kernel", "option_cases"]
