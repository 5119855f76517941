"""Eight words at a time: vectors of `uint64`, for kernels that do the same to many bitboards.

In compiled code `&`, `|`, `^`, `~`, `<<` and `>>` work on vectors entry by entry; a `uint64` beside a vector counts
as eight equal entries. A vector is a value like a number: it lives in registers, and LLVM splits it where the
processor's are shorter than 512 bits. Shift counts must be below 64.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

ENTRIES = 8

_WORD = ir.IntType(64)
_WORDS = ir.VectorType(_WORD, ENTRIES)
_INDEX = ir.IntType(32)


class VectorType(types.Type):  # type: ignore[misc]
    """The Numba type of a vector."""

    def __init__(self) -> None:
        super().__init__(name="Vector")


VECTOR = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector_type: Any) -> None:
        super().__init__(manager, vector_type, _WORDS)


def _shuffled(builder: Any, first: Any, second: Any, order: Any) -> Any:
    """LLVM's shufflevector: the entries `order` of the two vectors, the second's counted from 8."""
    mask = ir.Constant(ir.VectorType(_INDEX, ENTRIES), list(order))
    return builder.shuffle_vector(first, second, mask)


def _as_vector(builder: Any, value: Any, value_type: Any) -> Any:
    if isinstance(value_type, VectorType):
        return value
    undefined = ir.Constant(_WORDS, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INDEX, 0))
    return _shuffled(builder, first, undefined, [0] * ENTRIES)


def _define(function: Callable[..., Any], instruction: str, left: Any, right: Any) -> None:
    """Make a Python operator work on operands of these types by one LLVM instruction."""

    @type_callable(function)
    def type_operator(context: Any) -> Any:
        return lambda *operands: VECTOR if operands == (left, right) else None

    @lower_builtin(function, left, right)
    def lower_operator(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands = [
            _as_vector(builder, *operand) for operand in zip(args, signature.args, strict=True)
        ]
        return getattr(builder, instruction)(*operands)


for _function, _instruction in (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
):
    _define(_function, _instruction, VECTOR, VECTOR)
    _define(_function, _instruction, VECTOR, types.uint64)
    _define(_function, _instruction, types.uint64, VECTOR)


@type_callable(operator.invert)
def _type_invert(context: Any) -> Any:
    return lambda operand: VECTOR if operand == VECTOR else None


@lower_builtin(operator.invert, VECTOR)
def _lower_invert(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.not_(args[0])


def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any) -> Any:
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), _WORDS.as_pointer())


@intrinsic
def load(typing_context: Any, array: Any) -> Any:
    """The first eight words of a contiguous array of uint64, as a vector."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = context.get_constant(types.intp, 0)
        address = _address(context, builder, signature.args[0], args[0], start)
        return builder.load(address, align=8)

    return VECTOR(array), codegen


@intrinsic
def store(typing_context: Any, array: Any, offset: Any, vector: Any) -> Any:
    """Write a vector to `array[offset:offset + 8]` of a contiguous array of uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, VECTOR), codegen


def entries(*values: int) -> npt.NDArray[np.uint64]:
    """A constant to `load`: up to eight entries (modulo 2^64), zeros behind them."""
    words = [int(value) % 2**64 for value in values]
    return np.array(words + [0] * (ENTRIES - len(words)), np.uint64)


def shuffle(*order: int) -> Any:
    """A compiled function of two vectors: the vector of the entries `order`, the second's counted from 8."""

    @intrinsic
    def shuffled(typing_context: Any, first: Any, second: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _shuffled(builder, args[0], args[1], order)

        return VECTOR(VECTOR, VECTOR), codegen

    return shuffled


# The entries of two vectors in turn: the first eight of the sixteen, and the last.
interleaved_first = shuffle(0, 8, 1, 9, 2, 10, 3, 11)
interleaved_last = shuffle(4, 12, 5, 13, 6, 14, 7, 15)


@intrinsic
def all_before(typing_context: Any, vector: Any) -> Any:
    """Entry i: the bits that all entries before the i-th have in common (all ones for i = 0)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ones = ir.Constant(_WORDS, [-1] * ENTRIES)
        # Entries move up by 1, are joined to those 1, 2 and 4 below, and so to all.
        result = _shuffled(builder, args[0], ones, [ENTRIES, *range(ENTRIES - 1)])
        for distance in (1, 2, 4):
            order = [ENTRIES] * distance + list(range(ENTRIES - distance))
            result = builder.and_(result, _shuffled(builder, result, ones, order))
        return result

    return VECTOR(VECTOR), codegen


@intrinsic
def any_bits(typing_context: Any, vector: Any) -> Any:
    """All eight words joined by `|`, as uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        result = args[0]
        for distance in (4, 2, 1):
            order = [(place + distance) % ENTRIES for place in range(ENTRIES)]
            result = builder.or_(result, _shuffled(builder, result, result, order))
        return builder.extract_element(result, ir.Constant(_INDEX, 0))

    return types.uint64(VECTOR), codegen
