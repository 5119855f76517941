"""Games registered for a test, and nothing left of them after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pettingzoo
from gymnasium.envs.registration import registry as gymnasium_registry

from tabletop_envs import registry


def _registries() -> list[dict[str, Any]]:
    names = ("aec_registry", "parallel_registry")  # which old versions of PettingZoo lack
    own = [getattr(pettingzoo, name) for name in names if hasattr(pettingzoo, name)]
    return [registry._GAMES, gymnasium_registry, *own]


@contextmanager
def as_before() -> Iterator[None]:
    """Within `with`, register what you like; afterwards the registries are what they were."""
    kept = [(each, dict(each)) for each in _registries()]
    try:
        yield
    finally:
        for each, before in kept:
            each.clear()
            each.update(before)
