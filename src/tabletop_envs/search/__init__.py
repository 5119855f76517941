"""Search in compiled code over any game: `Search` one position, `PUCT` many in step.

>>> from tabletop_envs import kirche_v0, search
>>> env = kirche_v0.env()
>>> env.reset(seed=1)
>>> result = search.Search("kirche-v0", seed=1).run(env, simulations=400)
>>> env.step(result.action)
"""

from __future__ import annotations

from tabletop_envs.search.batched import PUCT, BatchResult, Evaluator
from tabletop_envs.search.config import SearchConfig, default_config
from tabletop_envs.search.single import Search, SearchResult

__all__ = [
    "PUCT",
    "BatchResult",
    "Evaluator",
    "Search",
    "SearchConfig",
    "SearchResult",
    "default_config",
]
