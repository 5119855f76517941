"""Packages that may be missing: what is said, and what goes on without them."""

from __future__ import annotations

import sys

import pytest

from tabletop_envs import registry
from tabletop_envs.extras import require


def test_a_missing_package_is_named_together_with_its_extra():
    with pytest.raises(
        ImportError, match=r'this needs nosuchthing, .*"tabletop-envs\[render\]"'
    ) as error:
        require("nosuchthing.part", "render")
    assert isinstance(error.value.__cause__, ModuleNotFoundError)


def test_what_an_installed_package_lacks_is_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "halfthing.py").write_text("import nosuchthing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nosuchthing") as error:
        require("halfthing", "render")
    assert "tabletop-envs[" not in str(error.value)


def test_registering_again_changes_nothing():
    from gymnasium.envs.registration import registry as gym_registry

    before = {name: gym_registry[registry.gym_id(name)] for name in registry.game_names()}
    for name in registry.game_names():
        registry.register(registry.get_game(name))
    assert all(gym_registry[registry.gym_id(name)] is spec for name, spec in before.items())


def test_without_a_registry_of_pettingzoo_there_is_nothing_to_register(monkeypatch):
    # Old versions have none; None in sys.modules makes the import fail.
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    registry.register(registry.get_game("kirche"))
