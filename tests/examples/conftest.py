"""The examples' tests draw the same random numbers in every run."""

from tests.adapters.conftest import seeded

__all__ = ["seeded"]
