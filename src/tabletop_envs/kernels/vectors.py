"""Several words at a time: vectors of `uint64`, for kernels that do the same to many bitboards.

`VectorType(length, bits)` is the type of `length` words of which the lowest `bits` are in use. In compiled code `&`,
`|`, `^`, `~`, `<<` and `>>` work on vectors entry by entry; a `uint64` beside a vector counts as that many equal
entries. A vector is a value like a number: it lives in registers, and LLVM splits it where the processor's are
shorter. Shift counts must be below 64, and shifts to the left leave it to the caller to clear the bits not in use.

`constant`, `loader` and `shuffle` are called from Python and return functions for compiled code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from tabletop_envs.kernels import plain
from tabletop_envs.kernels.compiling import interpreted_as

_WORD = ir.IntType(64)
_INDEX = ir.IntType(32)


class VectorType(types.Type):  # type: ignore[misc]
    """The Numba type of a vector: how many words it has, and how many bits of each are in use."""

    def __init__(self, length: int, bits: int = 64) -> None:
        self.length, self.bits = length, bits
        super().__init__(name=f"Vector({length}, {bits})")

    @property
    def words(self) -> Any:
        """The LLVM type of a value."""
        return ir.VectorType(_WORD, self.length)


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector_type: Any) -> None:
        super().__init__(manager, vector_type, vector_type.words)


def _all_equal(vector_type: VectorType, word: int) -> Any:
    """An LLVM constant with the same word everywhere."""
    return ir.Constant(vector_type.words, [word] * vector_type.length)


def _shuffled(builder: Any, first: Any, second: Any, order: Any) -> Any:
    """LLVM's shufflevector: the entries `order` of two vectors, the second's counted on from the first's."""
    order = list(order)
    mask = ir.Constant(ir.VectorType(_INDEX, len(order)), order)
    return builder.shuffle_vector(first, second, mask)


def _spread(builder: Any, vector_type: VectorType, word: Any) -> Any:
    """A vector with the same word everywhere."""
    undefined = ir.Constant(vector_type.words, ir.Undefined)
    first = builder.insert_element(undefined, word, _INDEX(0))
    return _shuffled(builder, first, undefined, [0] * vector_type.length)


def _define(function: Callable[..., Any], instruction: str) -> None:
    """Make a Python operator work on two vectors, or a vector and a word, by one LLVM instruction."""

    @type_callable(function)
    def type_operator(context: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            vector, other = (left, right) if isinstance(left, VectorType) else (right, left)
            fits = isinstance(vector, VectorType) and other in (vector, types.uint64)
            return vector if fits else None

        return typer

    @lower_builtin(function, VectorType, VectorType)
    @lower_builtin(function, VectorType, types.uint64)
    @lower_builtin(function, types.uint64, VectorType)
    def lower_operator(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands = [
            value
            if isinstance(operand_type, VectorType)
            else _spread(builder, signature.return_type, value)
            for value, operand_type in zip(args, signature.args, strict=True)
        ]
        return getattr(builder, instruction)(*operands)


for _function, _instruction in (
    (operator.and_, "and_"),
    (operator.iand, "and_"),
    (operator.or_, "or_"),
    (operator.ior, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
):
    _define(_function, _instruction)


@type_callable(operator.invert)
def _type_invert(context: Any) -> Any:
    return lambda operand: operand if isinstance(operand, VectorType) else None


@lower_builtin(operator.invert, VectorType)
def _lower_invert(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    vector_type = signature.return_type
    return builder.xor(args[0], _all_equal(vector_type, 2**vector_type.bits - 1))


def constant(vector_type: VectorType, *entries: int) -> Any:
    """A compiled function without arguments: the vector of these entries (modulo 2^64), zeros behind them."""
    words = [int(entry) % 2**64 for entry in entries]
    words += [0] * (vector_type.length - len(words))

    @interpreted_as(plain.constant(words, vector_type.bits))
    @intrinsic
    def value(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return ir.Constant(vector_type.words, words)

        return vector_type(), codegen

    return value


def _address(
    context: Any, builder: Any, array_type: Any, array: Any, offset: Any, vector_type: VectorType
) -> Any:
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), vector_type.words.as_pointer())


def loader(vector_type: VectorType) -> Any:
    """A compiled function of a contiguous array of uint64: the vector of its first words."""

    @interpreted_as(plain.loader(vector_type.length, vector_type.bits))
    @intrinsic
    def load(typing_context: Any, array: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = context.get_constant(types.intp, 0)
            address = _address(context, builder, signature.args[0], args[0], start, vector_type)
            return builder.load(address, align=8)

        return vector_type(array), codegen

    return load


@interpreted_as(plain.store)
@intrinsic
def store(typing_context: Any, array: Any, offset: Any, vector: Any) -> Any:
    """Write a vector to a contiguous array of uint64, from `array[offset]` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args[0], args[1], vector)
        builder.store(args[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), codegen


def shuffle(*order: int) -> Any:
    """A compiled function of two vectors: the vector of the entries `order`, the second's counted on from the first's."""

    @interpreted_as(plain.shuffle(order))
    @intrinsic
    def shuffled(typing_context: Any, first: Any, second: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _shuffled(builder, args[0], args[1], order)

        return VectorType(len(order), first.bits)(first, second), codegen

    return shuffled


@interpreted_as(plain.entry)
@intrinsic
def entry(typing_context: Any, vector: Any, index: Any) -> Any:
    """One word of a vector (`index` and result uint64)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], builder.trunc(args[1], _INDEX))

    return types.uint64(vector, types.uint64), codegen


@interpreted_as(plain.with_entry)
@intrinsic
def with_entry(typing_context: Any, vector: Any, index: Any, word: Any) -> Any:
    """A vector with another word at one place (`index` and `word` uint64)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = ir.Constant(vector.words, list(range(vector.length)))
        here = builder.icmp_unsigned("==", places, _spread(builder, vector, args[1]))
        return builder.select(here, _spread(builder, vector, args[2]), args[0])

    return vector(vector, types.uint64, types.uint64), codegen


@interpreted_as(plain.all_before)
@intrinsic
def all_before(typing_context: Any, vector: Any) -> Any:
    """Entry i: the bits that all entries before the i-th have in common (all ones for i = 0)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        length, ones = vector.length, _all_equal(vector, -1)
        # Entries move up by 1, are joined to those 1, 2, 4, … below, and so to all.
        result = _shuffled(builder, args[0], ones, [length, *range(length - 1)])
        distance = 1
        while distance < length:
            order = [length] * distance + list(range(length - distance))
            result = builder.and_(result, _shuffled(builder, result, ones, order))
            distance *= 2
        return result

    return vector(vector), codegen


@interpreted_as(plain.any_bits)
@intrinsic
def any_bits(typing_context: Any, vector: Any) -> Any:
    """Whether a vector has a bit at all."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        used = builder.icmp_unsigned("!=", args[0], _all_equal(vector, 0))
        flags = builder.bitcast(used, ir.IntType(vector.length))
        return builder.icmp_unsigned("!=", flags, flags.type(0))

    return types.boolean(vector), codegen


@interpreted_as(plain.count_bits)
@intrinsic
def count_bits(typing_context: Any, vector: Any) -> Any:
    """How many bits a vector has (uint64)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def llvm(name: str, result: Any, value: Any) -> Any:
            function_type = ir.FunctionType(result, [vector.words])
            full_name = f"llvm.{name}.v{vector.length}i64"
            function = cgutils.get_or_insert_function(builder.module, function_type, full_name)
            return builder.call(function, [value])

        return llvm("vector.reduce.add", _WORD, llvm("ctpop", vector.words, args[0]))

    return types.uint64(vector), codegen
