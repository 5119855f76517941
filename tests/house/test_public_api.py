"""The public names and signatures are those of tests/house/public_api.txt: no change of them by accident."""

from __future__ import annotations

import difflib
import importlib

import pytest

from tests.house import public_api

# What the core install cannot import; the listing is read from the source, so they are in it all
# the same.
NEEDS_AN_EXTRA = [name for name in public_api.MODULES if name.startswith(("adapters.", "networks"))]


def test_the_public_api_is_the_one_listed():
    expected = public_api.LISTING.read_text(encoding="utf-8").splitlines()
    changes = list(
        difflib.unified_diff(expected, public_api.listing().splitlines(), "listed", "now", n=0)
    )
    assert not changes, "\n".join(
        [
            "the public API has changed; if it is meant to: python -m tests.house.public_api, and a line in CHANGELOG.md",
            *changes,
        ]
    )


@pytest.mark.parametrize("name", public_api.MODULES)
def test_everything_listed_can_be_imported(name):
    module_name = f"tabletop_envs.{name}".rstrip(".")
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        if name not in NEEDS_AN_EXTRA:
            raise
        pytest.skip(f"{module_name} needs an extra")
    for listed in getattr(module, "__all__", ()):
        assert hasattr(module, listed), f"{module_name}.__all__ names {listed}, which is not there"
