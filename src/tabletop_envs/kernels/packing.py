"""Bit-packed observations and masks: an eighth of the memory to move, unpacked where they are used.

A number with the range 0 … 1 takes one bit, a number with a wider range as many as its range needs. A part of an
observation is packed *digit by digit*: first one bit of every number (the lowest), then the next, each such plane
starting on a byte of its own, bit `i % 8` of byte `i // 8` (NumPy's `bitorder="little"`).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from tabletop_envs.kernels import plain
from tabletop_envs.kernels.bits import ONE, ZERO
from tabletop_envs.kernels.compiling import interpreted_as

# Bytes that must lie behind the last number of an observation to be packed: they are read 64 at a time.
PADDING = 64
_64, _255 = np.uint64(64), np.uint64(255)


@interpreted_as(plain.read_digit)
@intrinsic
def _read_digit(typing_context: Any, array: Any, offset: Any, low: Any, digit: Any) -> Any:
    """One binary digit of each of the 64 bytes from `array[offset]` on, less `low`, as a uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_value = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
        bytes_type = ir.VectorType(ir.IntType(8), 64)
        source = builder.gep(
            builder.bitcast(array_value.data, ir.IntType(8).as_pointer()), [args[1]]
        )
        values = builder.load(builder.bitcast(source, bytes_type.as_pointer()), align=1)

        def splat(value: Any) -> Any:
            first = builder.insert_element(
                ir.Constant(bytes_type, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
            )
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            return builder.shuffle_vector(first, ir.Constant(bytes_type, ir.Undefined), zeros)

        one = ir.Constant(ir.IntType(8), 1)
        bit = builder.shl(one, builder.trunc(args[3], ir.IntType(8)))
        values = builder.sub(values, splat(builder.trunc(args[2], ir.IntType(8))))
        zeros = ir.Constant(bytes_type, [0] * 64)
        flags = builder.icmp_unsigned("!=", builder.and_(values, splat(bit)), zeros)
        return builder.bitcast(flags, ir.IntType(64))

    return types.uint64(array, types.intp, types.intp, types.intp), codegen


@interpreted_as(plain.write_8_bytes)
@intrinsic
def _write_8_bytes(typing_context: Any, packed: Any, offset: Any, word: Any) -> Any:
    """Write the 8 bytes of a word, the lowest first."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        word = args[2] if sys.byteorder == "little" else builder.bswap(args[2])
        builder.store(word, builder.bitcast(place, word.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(packed, types.intp, types.uint64), codegen


@njit(forceinline=True)
def _write_word(packed: Any, offset: int, word: int, count: int) -> None:
    """Write the lowest `count` (1 … 8) bytes of a word, the lowest first; all 8 where there is room."""
    if offset + 8 <= packed.size:
        _write_8_bytes(packed, offset, word)
    else:
        for place in range(count):
            packed[offset + place] = (word >> np.uint64(8 * place)) & _255


@njit(forceinline=True)
def pack_observation(observation: Any, parts: Any, packed: Any) -> None:
    """Pack an observation (int8, with `PADDING` bytes behind it) into `packed` (uint8).

    `parts` (int64) has a line for each part: where it starts, how many numbers it has, their lowest value, how many
    digits they take.
    """
    offset = 0
    for part in range(parts.shape[0]):
        start, count, low, digits = parts[part, 0], parts[part, 1], parts[part, 2], parts[part, 3]
        size, whole = (count + 7) >> 3, count & ~63
        # The digits of up to 64 numbers that do not fill a word: the other bits are to be zero.
        some = (ONE << np.uint64(count - whole)) - ONE
        for digit in range(digits):
            for first in range(0, whole, 64):
                word = _read_digit(observation, start + first, low, digit)
                _write_word(packed, offset + (first >> 3), word, 8)
            if some:
                word = _read_digit(observation, start + whole, low, digit) & some
                _write_word(packed, offset + (whole >> 3), word, size - (whole >> 3))
            offset += size


@njit(forceinline=True)
def pack_words(words: Any, bits: int, count: int, packed: Any) -> None:
    """Pack a set of `count` actions, `bits` (1 … 64) to a word, into `packed` (uint8) without gaps."""
    carry, filled, offset, left = ZERO, ZERO, 0, count
    index = 0
    while left > 0:
        word, size = words[index], np.uint64(min(bits, left))
        carry |= word << filled
        filled += size
        if filled >= _64:
            _write_word(packed, offset, carry, 8)
            offset += 8
            filled -= _64
            # What of the word did not fit; a shift by 64 would be undefined.
            carry = word >> (size - filled) if filled else ZERO
        left -= bits
        index += 1
    if filled:
        _write_word(packed, offset, carry, (np.int64(filled) + 7) >> 3)
