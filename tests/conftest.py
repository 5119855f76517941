"""Fixtures that every test file may use."""

from __future__ import annotations


import pytest

from tests.implementations import Starter

IMPLEMENTATIONS = ("reference", "kernel")


@pytest.fixture(params=IMPLEMENTATIONS)
def kirche(request: pytest.FixtureRequest) -> Starter:
    """Starts games of kirche: once on the reference, once on the kernel."""
    return Starter("kirche", request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def tuerme(request: pytest.FixtureRequest) -> Starter:
    """Starts games of tuerme: once on the reference, once on the kernel."""
    return Starter("tuerme", request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def meeples(request: pytest.FixtureRequest) -> Starter:
    """Starts games of meeples: once on the reference, once on the kernel."""
    return Starter("meeples", request.param)
