"""Digits and capitals as strokes: drawings look the same on machines with and without fonts.

Each glyph is a line of constant width on a grid in which capitals are 10 high; its path has only
the commands M, L, C and A with absolute coordinates, so that it can be moved and scaled by
rewriting numbers.
"""

from __future__ import annotations

import functools
import re

CAP_HEIGHT = 10.0
SPACE, GAP = 3.6, 2.6

# Each glyph: its width, its strokes.
GLYPHS: dict[str, tuple[float, str]] = {
    "0": (6, "M 3 0 A 3 3 0 0 1 6 3 L 6 7 A 3 3 0 0 1 0 7 L 0 3 A 3 3 0 0 1 3 0"),
    "1": (2.8, "M 0 2 L 2.8 0 L 2.8 10"),
    "2": (6, "M 0.2 2.8 A 2.85 2.85 0 1 1 5.3 4.7 L 0.1 10 L 6 10"),
    "3": (6, "M 0.5 1.6 A 2.6 2.45 0 1 1 3 4.9 A 2.9 2.55 0 1 1 0.2 8.3"),
    "4": (6.4, "M 4.7 10 L 4.7 0 L 0 7.2 L 6.4 7.2"),
    "5": (6, "M 5.3 0 L 0.9 0 L 0.5 4.8 A 3.1 3.1 0 1 1 0.1 8.5"),
    "6": (6, "M 4.7 0 C 2.3 2.4 0 4.6 0 7 A 3 3 0 1 0 6 7 A 3 3 0 0 0 0.5 5.4"),
    "7": (5.8, "M 0 0 L 5.8 0 L 1.9 10"),
    "8": (
        6,
        "M 3 0 A 2.45 2.35 0 0 1 3 4.7 A 2.45 2.35 0 0 1 3 0 "
        "M 3 4.7 A 3 2.65 0 0 1 3 10 A 3 2.65 0 0 1 3 4.7",
    ),
    "9": (6, "M 1.3 10 C 3.7 7.6 6 5.4 6 3 A 3 3 0 1 0 0 3 A 3 3 0 0 0 5.5 4.6"),
    "A": (7, "M 0 10 L 3.5 0 L 7 10 M 1.2 6.8 L 5.8 6.8"),
    "B": (
        6,
        "M 0 4.7 L 3.2 4.7 A 2.35 2.35 0 0 0 3.2 0 L 0 0 L 0 10 L 3.3 10 A 2.65 2.65 0 0 0 3.3 4.7",
    ),
    "C": (6.6, "M 6.6 1.8 A 3.7 5 0 1 0 6.6 8.2"),
    "D": (6.6, "M 0 0 L 0 10 L 2.4 10 A 4.2 5 0 0 0 2.4 0 L 0 0"),
    "E": (5.2, "M 5.2 0 L 0 0 L 0 10 L 5.2 10 M 0 4.9 L 4.5 4.9"),
    "F": (5.2, "M 5.2 0 L 0 0 L 0 10 M 0 5.1 L 4.5 5.1"),
    "G": (7.2, "M 6.6 1.7 A 3.8 5 0 1 0 7.2 5.4 L 4.4 5.4"),
    "H": (6.4, "M 0 0 L 0 10 M 6.4 0 L 6.4 10 M 0 4.9 L 6.4 4.9"),
    "I": (0, "M 0 0 L 0 10"),
    "J": (4, "M 4 0 L 4 7.4 A 2.5 2.5 0 0 1 0 9"),
    "K": (6.2, "M 0 0 L 0 10 M 5.8 0 L 0 6.4 M 2.2 4.2 L 6.2 10"),
    "L": (5, "M 0 0 L 0 10 L 5 10"),
    "M": (8, "M 0 10 L 0 0 L 4 6.6 L 8 0 L 8 10"),
    "N": (6.6, "M 0 10 L 0 0 L 6.6 10 L 6.6 0"),
    "O": (7.6, "M 3.8 0 A 3.8 5 0 0 1 3.8 10 A 3.8 5 0 0 1 3.8 0"),
    "P": (5.8, "M 0 10 L 0 0 L 3.1 0 A 2.7 2.7 0 0 1 3.1 5.4 L 0 5.4"),
    "Q": (7.6, "M 3.8 0 A 3.8 5 0 0 1 3.8 10 A 3.8 5 0 0 1 3.8 0 M 4.8 7.4 L 7.6 10.6"),
    "R": (6, "M 0 10 L 0 0 L 3.1 0 A 2.7 2.7 0 0 1 3.1 5.4 L 0 5.4 M 2.9 5.4 L 6 10"),
    "S": (6, "M 5.5 1.9 A 2.6 2.45 0 1 0 3 4.9 A 2.8 2.55 0 1 1 0.3 8.2"),
    "T": (6.6, "M 0 0 L 6.6 0 M 3.3 0 L 3.3 10"),
    "U": (6.4, "M 0 0 L 0 6.8 A 3.2 3.2 0 0 0 6.4 6.8 L 6.4 0"),
    "V": (6.8, "M 0 0 L 3.4 10 L 6.8 0"),
    "W": (9.6, "M 0 0 L 2.4 10 L 4.8 1.5 L 7.2 10 L 9.6 0"),
    "X": (6.4, "M 0 0 L 6.4 10 M 6.4 0 L 0 10"),
    "Y": (6.8, "M 0 0 L 3.4 5 L 6.8 0 M 3.4 5 L 3.4 10"),
    "Z": (6, "M 0 0 L 6 0 L 0 10 L 6 10"),
    "×": (5, "M 0 3 L 5 8.6 M 5 3 L 0 8.6"),
    "-": (4, "M 0 5.4 L 4 5.4"),
    "+": (5, "M 0 5.4 L 5 5.4 M 2.5 2.9 L 2.5 7.9"),
}


def width(text: str, size: float) -> float:
    """The width of a line whose capitals are `size` high; ValueError for a sign without a glyph."""
    advances = [SPACE if sign == " " else _glyph(sign)[0] for sign in text]
    return (sum(advances) + GAP * max(0, len(text) - 1)) * size / CAP_HEIGHT


@functools.lru_cache(maxsize=4096)
def strokes(text: str, size: float) -> str:
    """The path of a line with its top left corner at the origin and capitals `size` high."""
    scale, left, parts = size / CAP_HEIGHT, 0.0, []
    for sign in text:
        if sign == " ":
            left += SPACE + GAP
            continue
        advance, path = _glyph(sign)
        parts.append(_moved(path, scale, left))
        left += advance + GAP
    return "".join(parts)


def _glyph(sign: str) -> tuple[float, str]:
    try:
        return GLYPHS[sign]
    except KeyError:
        raise ValueError(
            f"there is no glyph for {sign!r}: there are {' '.join(GLYPHS)} and the space"
        ) from None


def _moved(path: str, scale: float, left: float) -> str:
    """A path with every point moved to the right by `left`, then scaled about the origin."""
    parts = []
    for command, words in re.findall("([MLCA])([^MLCA]*)", path):
        points = [float(word) for word in words.split()]
        arc = [points.pop(0) for _ in range(5)] if command == "A" else []
        numbers = [radius * scale for radius in arc[:2]] + arc[2:]
        numbers += [(x + left * (place % 2 == 0)) * scale for place, x in enumerate(points)]
        parts.append(command + " ".join(f"{number:.4g}" for number in numbers))
    return "".join(parts)
