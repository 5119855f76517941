"""Drawings of the games, made from snapshots alone."""

from __future__ import annotations

# The terminal's red, blue, green and yellow.
TINTS = (31, 34, 32, 33)


def tinted(text: str, tint: int) -> str:
    """A text in one of the `TINTS` (0 … 3)."""
    return f"\x1b[1;{TINTS[tint]}m{text}\x1b[0m"
