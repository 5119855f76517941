"""Packed observations (`kernels.packing`): their layout, and back to numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabletop_envs.game import Game


def packed_parts(game: Game) -> npt.NDArray[np.int64]:
    """A line for each part of an observation: where it starts, how many numbers, their lowest value, their digits."""
    return np.array(
        [
            (part.slice.start, np.prod(part.shape), spec.low, (spec.high - spec.low).bit_length())
            for part, spec in zip(game.observation.values(), game.kernel.observation, strict=True)
        ],
        np.int64,
    )


def packed_size(parts: npt.NDArray[np.int64]) -> int:
    """The bytes of a packed observation."""
    return sum(-(-count // 8) * digits for _, count, _, digits in parts.tolist())


def unpack(
    packed: npt.NDArray[np.uint8], parts: npt.NDArray[np.int64], size: int
) -> npt.NDArray[np.int8]:
    """Observations `int8 (..., size)` from packed ones `uint8 (..., B)`."""
    observation = np.zeros((*packed.shape[:-1], size), np.int8)
    offset = 0
    for start, count, low, digits in parts.tolist():
        part = observation[..., start : start + count]
        part += low
        length = -(-count // 8)
        for digit in range(digits):
            plane = packed[..., offset : offset + length]
            bits = np.unpackbits(plane, axis=-1, count=count, bitorder="little")
            part += (bits << digit).astype(np.int8)
            offset += length
    return observation
