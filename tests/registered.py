"""Games registered for a test, and nothing left of them after it; the game of docs/add-a-game.md, in a
folder outside of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pettingzoo
import pytest
from gymnasium.envs.registration import registry as gymnasium_registry

from tabletop_envs import registry
from tests.docs import afternoon


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


@pytest.fixture(scope="session")
def custom_folder(tmp_path_factory):
    """The page's folder; what was imported from it is forgotten in the end."""
    folder = afternoon.write(tmp_path_factory.mktemp("custom"))
    yield folder
    for name in afternoon.files():
        sys.modules.pop(name.removesuffix(".py"), None)
    if str(folder) in sys.path:
        sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def unregistered_game(custom_folder):
    """The page's game, imported once in a process, and not registered."""
    with as_before():
        return registry.import_game(f"{custom_folder}/registered.py:GAME")


@pytest.fixture
def registered_game(unregistered_game):
    """The page's game, registered with its heuristic and drawing as long as the test runs."""
    with as_before():
        registry.register(
            unregistered_game,
            heuristic="connect_four_heuristic",
            drawing="connect_four_drawing",
        )
        yield unregistered_game
