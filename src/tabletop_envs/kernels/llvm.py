"""Instructions that Python has no name for, as functions for compiled code: LLVM's intrinsics.

First single words (`uint64`), then bytes and memory, then *vectors*: several words at a time, for
kernels that do the same to many bitboards. In compiled code `&`, `|`, `^`, `~`, `<<` and `>>` work
on vectors entry by entry; beside a vector a `uint64` counts as that many equal entries, and a
shorter vector is repeated. A vector is a value like a number: it lives in registers, and LLVM
splits it where the processor's are shorter. Shift counts must be below 64, and shifts to the left
leave it to the caller to clear the bits not in use.

What each function does in Python, with `NUMBA_DISABLE_JIT=1`, is in `plain.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import (
    intrinsic,
    lower_builtin,
    models,
    register_model,
    type_callable,
    typeof_impl,
)
from numba.np.arrayobj import populate_array

from tabletop_envs.kernels import plain
from tabletop_envs.kernels.compiling import interpreted_as
from tabletop_envs.kernels.plain import Vector as Vector


@interpreted_as(plain.popcount)
@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of the uint64 `word` are set, as uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@interpreted_as(plain.lowest_square)
@intrinsic
def lowest_square(typing_context: Any, word: Any) -> Any:
    """The number of the lowest set bit of the uint64 `word`, as uint64; 64 where none is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


def _nth_square_by_clearing(word, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        word &= word - np.uint64(1)
    return lowest_square(word)


@interpreted_as(plain.nth_square)
@intrinsic
def nth_square(typing_context: Any, word: Any, n: Any) -> Any:
    """The number of the set bit of `word` with `n` set bits below it (uint64; `n` < popcount)."""
    signature = types.uint64(types.uint64, types.uint64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # The features belong to the key of Numba's on-disk cache, so the choice is safe to make
        # here.
        if "+bmi2" not in context.codegen().magic_tuple()[2]:
            return context.compile_internal(builder, _nth_square_by_clearing, signature, args)
        deposit = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 2),
            "llvm.x86.bmi.pdep.64",
        )
        bit = builder.shl(ir.Constant(ir.IntType(64), 1), args[1])
        return builder.cttz(builder.call(deposit, [bit, args[0]]), ir.Constant(ir.IntType(1), 0))

    return signature, codegen


# Bytes and memory


def _store_bits(
    context: Any, builder: Any, array_type: Any, array: Any, offset: Any, word: Any, bits: int
) -> None:
    """Write the lowest `bits` bits of a word as that many bytes of 0 or 1.

    LLVM turns the vector of single bits into one masked move where the processor has mask registers
    (64 bytes in two instructions), and into shuffles and compares where it has not.
    """
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    narrow = builder.trunc(word, ir.IntType(bits)) if bits < 64 else word
    flags = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), bits))
    values = builder.zext(flags, ir.VectorType(ir.IntType(8), bits))
    target = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [offset])
    builder.store(values, builder.bitcast(target, values.type.as_pointer()), align=1)


@interpreted_as(plain.write_word)
@intrinsic
def write_word(typing_context: Any, array: Any, offset: Any, word: Any) -> Any:
    """`write_bytes` of all 64 bits, where there is surely room, without the test for it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_value, offset, bits = args
        _store_bits(context, builder, signature.args[0], array_value, offset, bits, 64)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64), codegen


@interpreted_as(plain.write_few_bytes)
@intrinsic
def write_few_bytes(typing_context: Any, array: Any, offset: Any, word: Any, count: Any) -> Any:
    """Write the lowest `count` (0 … 63) bits of a word as bytes of 0 or 1, by powers of two."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_value, start, bits, count = args
        for size in (32, 16, 8, 4, 2, 1):
            digit = builder.and_(count, count.type(size))
            with builder.if_then(builder.icmp_unsigned("!=", digit, count.type(0))):
                written = builder.and_(count, count.type(-2 * size))
                offset, word = builder.add(start, written), builder.lshr(bits, written)
                _store_bits(context, builder, signature.args[0], array_value, offset, word, size)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64, types.intp), codegen


@interpreted_as(plain.write_number_word)
@intrinsic
def write_number_word(
    typing_context: Any, array: Any, offset: Any, ones: Any, twos: Any, fours: Any
) -> Any:
    """Write 64 numbers 0 … 7 as bytes from `array[offset]` on; their bits are in three words."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        bytes_type = ir.VectorType(ir.IntType(8), 64)
        zeros = values = ir.Constant(bytes_type, [0] * 64)
        for digit, word in enumerate(args[2:]):
            flags = builder.bitcast(word, ir.VectorType(ir.IntType(1), 64))
            weight = ir.Constant(bytes_type, [1 << digit] * 64)
            values = builder.or_(values, builder.select(flags, weight, zeros))
        target = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [args[1]])
        builder.store(values, builder.bitcast(target, bytes_type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint64, types.uint64, types.uint64), codegen


@interpreted_as(plain.local_words)
@intrinsic(prefer_literal=True)
def local_words(typing_context: Any, count: Any) -> Any:
    """An uninitialised array of `count` (a constant) uint64 in the caller's stack frame.

    Costs nothing, unlike `np.empty`, and must not outlive the function that asked for it.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    length = count.literal_value
    array_type = types.Array(types.uint64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), length))
        array = cgutils.create_struct_proxy(array_type)(context, builder)
        size = context.get_constant(types.intp, length)
        item_size = context.get_constant(types.intp, 8)
        populate_array(
            array,
            data=builder.bitcast(words, array.data.type),
            shape=[size],
            strides=[item_size],
            itemsize=item_size,
            meminfo=None,
        )
        return array._getvalue()

    return array_type(count), codegen


@interpreted_as(plain.record_word)
@intrinsic
def record_word(typing_context: Any, record: Any, index: Any) -> Any:
    """The bytes from `8 * index` on of a record, whatever fields they belong to, as one uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = builder.bitcast(args[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(words, [args[1]]), align=1)

    return types.uint64(record, types.intp), codegen


@interpreted_as(plain.prefetch)
@intrinsic
def prefetch(typing_context: Any, array: Any, offset: Any) -> Any:
    """Ask the processor to have the cache line of `array[offset]` at hand, to be written."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, *[number] * 3]), "llvm.prefetch"
        )
        place = builder.gep(builder.bitcast(data, byte), [args[1]])
        builder.call(function, [place, number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


# Vectors

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


@typeof_impl.register(Vector)
def _typeof_vector(vector: Vector, context: Any) -> VectorType:
    return VectorType(len(vector.words), vector.bits)


@lower_constant(VectorType)
def _lower_constant(context: Any, builder: Any, vector_type: VectorType, vector: Vector) -> Any:
    return ir.Constant(vector_type.words, vector.words)


def _all_equal(vector_type: VectorType, word: int) -> Any:
    """An LLVM constant with the same word everywhere."""
    return ir.Constant(vector_type.words, [word] * vector_type.length)


def _shuffled(builder: Any, first: Any, second: Any, order: Any) -> Any:
    """LLVM's shufflevector: the entries `order` of two vectors, the second's after the first's."""
    order = list(order)
    mask = ir.Constant(ir.VectorType(_INDEX, len(order)), order)
    return builder.shuffle_vector(first, second, mask)


def _spread(builder: Any, vector_type: VectorType, operand_type: Any, operand: Any) -> Any:
    """A word or a vector as long as it takes: the same again and again."""
    length = 1
    if isinstance(operand_type, VectorType):
        length = operand_type.length
    else:
        undefined = ir.Constant(ir.VectorType(_WORD, 1), ir.Undefined)
        operand = builder.insert_element(undefined, operand, _INDEX(0))
    if length == vector_type.length:
        return operand
    order = [place % length for place in range(vector_type.length)]
    return _shuffled(builder, operand, operand, order)


def _define(function: Callable[..., Any], instruction: str) -> None:
    """Make a Python operator work on two vectors, or a vector and a word, by one instruction."""

    @type_callable(function)
    def type_operator(context: Any) -> Any:
        def typer(left: Any, right: Any) -> Any:
            first, second = left, right
            if isinstance(second, VectorType) and (
                first == types.uint64
                or (isinstance(first, VectorType) and first.length < second.length)
            ):
                first, second = second, first
            if not isinstance(first, VectorType):
                return None
            if isinstance(second, VectorType) and second != first:
                shorter = second.length < first.length
                return first if shorter and first.length % second.length == 0 else None
            return first if second in (first, types.uint64) else None

        return typer

    @lower_builtin(function, VectorType, VectorType)
    @lower_builtin(function, VectorType, types.uint64)
    @lower_builtin(function, types.uint64, VectorType)
    def lower_operator(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands = [
            _spread(builder, signature.return_type, operand_type, operand)
            for operand_type, operand in zip(signature.args, args, strict=True)
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
    """A compiled function of one or two vectors: the vector of their entries `order`.

    The second's entries count on from the first's; without a second those are zeros.
    """

    @interpreted_as(plain.shuffle(order))
    @intrinsic
    def shuffled(typing_context: Any, first: Any, second: Any = None) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            others = args[1] if isinstance(second, VectorType) else _all_equal(first, 0)
            return _shuffled(builder, args[0], others, order)

        others_type = second if isinstance(second, VectorType) else types.none
        return VectorType(len(order), first.bits)(first, others_type), codegen

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
        index, word = (_spread(builder, vector, types.uint64, value) for value in args[1:])
        return builder.select(builder.icmp_unsigned("==", places, index), word, args[0])

    return vector(vector, types.uint64, types.uint64), codegen


@interpreted_as(plain.all_before)
@intrinsic(prefer_literal=True)
def all_before(typing_context: Any, vector: Any, stride: Any) -> Any:
    """Entry i: the bits that entries i − stride, i − 2 · stride, … have in common.

    All ones where there is none. `stride` is a constant.
    """
    if not isinstance(stride, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        length, ones = vector.length, _all_equal(vector, -1)

        def moved_up(entries: Any, distance: int) -> Any:
            order = [length] * distance + list(range(length - distance))
            return _shuffled(builder, entries, ones, order)

        # Entries move up by one stride, are joined to those 1, 2, 4, … strides below, and so to
        # all.
        distance = stride.literal_value
        result = moved_up(args[0], distance)
        while distance < length:
            result = builder.and_(result, moved_up(result, distance))
            distance *= 2
        return result

    return vector(vector, stride), codegen


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
