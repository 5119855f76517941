"""Many drawings in little space: what several of them have in common is kept once.

A drawing is a list of parts (its start tag, each child, its end tag), a part a list of words. The
drawings of the themes differ in words alone: such a word is kept for each theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import Any
from xml.parsers import expat

# Between attributes, the phrases of titles, and the strokes of drawn digits, which recur elsewhere.
_BETWEEN_WORDS = re.compile(r'(?<=[",:])(?= )|(?=M)')


def split(svg: str) -> list[str]:
    """An SVG element as its start tag, its children and its end tag; joined they are the text."""
    text = svg.encode()
    starts: list[int] = []
    depth = 0
    parser = expat.ParserCreate()

    def start(*_: Any) -> None:
        nonlocal depth
        if depth < 2:
            starts.append(parser.CurrentByteIndex)
        depth += 1

    def end(*_: Any) -> None:
        nonlocal depth
        depth -= 1
        if depth == 0:
            starts.append(parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(text, True)
    return [
        text[begin:stop].decode() for begin, stop in zip(starts, [*starts[1:], None], strict=True)
    ]


class Store:
    """Words and parts, each once, by numbers."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, ...], int] = {}
        self._numbers: dict[tuple[str, ...], int] = {}
        self._parts: list[list[int]] = []

    def add(self, versions: tuple[str, ...]) -> int:
        """The number of a part, given as it reads in each theme.

        ValueError where the versions do not have as many words.
        """
        number = self._numbers.get(versions)
        if number is None:
            words = zip(*map(_BETWEEN_WORDS.split, versions), strict=True)
            self._parts.append([self._words.setdefault(word, len(self._words)) for word in words])
            number = self._numbers[versions] = len(self._numbers)
        return number

    def words(self) -> list[str | list[str]]:
        """All words: a text, or where the themes differ one of each."""
        return [
            word[0] if all(version == word[0] for version in word) else list(word)
            for word in self._words
        ]

    def parts(self) -> list[list[int]]:
        """All parts, each as the numbers of its words."""
        return [list(part) for part in self._parts]


def deltas(lists: Iterable[Sequence[int]]) -> list[list[list[int]]]:
    """Each list as edits of the one before it, the first as edits of an empty one.

    An edit is `[place, how many to remove, what to insert …]`.
    """
    empty: Sequence[int] = []
    return [
        [
            [start, stop - start, *after[first:last]]
            for tag, start, stop, first, last in reversed(
                SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            )  # from the end, so that places hold
            if tag != "equal"
        ]
        for before, after in pairwise(chain([empty], lists))
    ]
