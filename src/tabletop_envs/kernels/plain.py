"""What the functions of `llvm.py` do, in plain Python.

With `NUMBA_DISABLE_JIT=1` these take their places (`compiling.interpreted_as`). Like them they do
not look whether an offset is within an array: NumPy does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

_ALL_BITS = 2**64 - 1


class Record(np.record):  # type: ignore[misc]
    """A record whose fields are attributes, as in compiled code, even if NumPy has the name."""

    def __getattribute__(self, name: str) -> Any:
        fields = super().__getattribute__("dtype").fields
        return self[name] if name in fields else super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


# Words, bytes and memory


def popcount(word: Any) -> Any:
    """How many bits are set."""
    return np.uint64(int(word).bit_count())


def lowest_square(word: Any) -> Any:
    """The number of the lowest set bit; 64 where none is set."""
    number = int(word)
    return np.uint64((number & -number).bit_length() - 1 if number else 64)


def nth_square(word: Any, n: Any) -> Any:
    """The number of the set bit that has `n` set bits below it."""
    number = int(word)
    for _ in range(int(n)):
        number &= number - 1
    return lowest_square(number)


def _write_bits(array: Any, offset: int, word: int, count: int) -> None:
    bits = np.unpackbits(np.array([word], "<u8").view(np.uint8), bitorder="little")
    array[offset : offset + count] = bits[:count]


def write_word(array: Any, offset: Any, word: Any) -> None:
    """All 64 bits as bytes of 0 or 1."""
    _write_bits(array, int(offset), int(word), 64)


def write_few_bytes(array: Any, offset: Any, word: Any, count: Any) -> None:
    """The lowest `count` bits as bytes of 0 or 1."""
    _write_bits(array, int(offset), int(word), int(count))


def local_words(count: int) -> Any:
    """An array of uint64."""
    return np.zeros(count, np.uint64)


def write_number_word(array: Any, offset: Any, ones: Any, twos: Any, fours: Any) -> None:
    """64 numbers of three bits."""
    numbers = np.zeros(64, np.uint8)
    for digit, word in enumerate((ones, twos, fours)):
        plane = np.zeros(64, np.uint8)
        write_word(plane, 0, word)
        numbers |= plane << digit
    array[int(offset) : int(offset) + 64] = numbers


def record_word(record: Any, index: Any) -> Any:
    """Eight bytes of a record."""
    return np.frombuffer(record.tobytes(), np.uint64)[int(index)]


def prefetch(array: Any, offset: Any) -> None:
    """Nothing: Python has no use for it."""


# Vectors


class Vector:
    """Some words of which the lowest `bits` are in use; as a constant also for compiled code."""

    # So that a NumPy number on the left leaves an operation to the vector on its right.
    __array_ufunc__ = None

    def __init__(self, words: Iterable[int], bits: int = 64) -> None:
        self.words, self.bits = [int(word) & _ALL_BITS for word in words], bits

    def _with(self, other: Any, function: Callable[[int, int], int], swapped: bool) -> Vector:
        others = other.words if isinstance(other, Vector) else [int(other)]
        if len(others) > len(self.words):
            return other._with(self, function, not swapped)
        others = others * (len(self.words) // len(others))
        pairs = zip(*((others, self.words) if swapped else (self.words, others)), strict=True)
        return Vector((function(*pair) for pair in pairs), self.bits)

    def __invert__(self) -> Vector:
        return Vector((word ^ (2**self.bits - 1) for word in self.words), self.bits)

    def __int__(self) -> int:
        """All words as one number, `bits` of each."""
        return sum(word << self.bits * place for place, word in enumerate(self.words))


def _define(name: str, function: Callable[[int, int], int]) -> None:
    setattr(Vector, f"__{name}__", lambda self, other: self._with(other, function, False))
    setattr(Vector, f"__r{name}__", lambda self, other: self._with(other, function, True))


for _name in ("and", "or", "xor", "lshift", "rshift"):
    _define(_name, getattr(operator, f"__{_name}__"))


def loader(length: int, bits: int) -> Callable[[Any], Vector]:
    """A function that reads the first words of an array."""
    return lambda array: Vector(array[:length], bits)


def store(array: Any, offset: Any, vector: Vector) -> None:
    """Write a vector to an array."""
    array[int(offset) : int(offset) + len(vector.words)] = np.array(vector.words, np.uint64)


def shuffle(order: Sequence[int]) -> Callable[..., Vector]:
    """A function that picks entries of two vectors, or of one and zeros."""

    def shuffled(first: Vector, second: Vector | None = None) -> Vector:
        words = first.words + (second.words if second else [0] * len(first.words))
        return Vector([words[place] for place in order], first.bits)

    return shuffled


def entry(vector: Vector, index: Any) -> Any:
    """One word."""
    return np.uint64(vector.words[int(index)])


def with_entry(vector: Vector, index: Any, word: Any) -> Vector:
    """A vector with another word at one place, if it has that place."""
    words = list(vector.words)
    words[int(index) : int(index) + 1] = [int(word)] if index < len(words) else []
    return Vector(words, vector.bits)


def all_before(vector: Vector, stride: int) -> Vector:
    """Entry i: the bits that entries i − stride, i − 2 · stride, … have in common."""
    words = [_ALL_BITS] * stride
    for place, word in enumerate(vector.words[:-stride]):
        words.append(words[place] & word)
    return Vector(words, vector.bits)


def any_bits(vector: Vector) -> bool:
    """Whether there is a bit at all."""
    return any(vector.words)


def count_bits(vector: Vector) -> Any:
    """How many bits there are."""
    return np.uint64(sum(word.bit_count() for word in vector.words))
