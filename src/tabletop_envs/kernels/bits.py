"""Bitboards: counting, finding, spreading to bytes, drawing.

A bitboard is an unsigned 64-bit integer whose bit `s` stands for square `s`. Everything here is for compiled code and
works on `uint64` alone: one signed operand would turn the result into a signed number or, by `min` and `max`, a float
(Numba's rule for mixing signed and unsigned 64-bit integers), so constants are `uint64` too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import populate_array

from tabletop_envs.kernels import plain
from tabletop_envs.kernels.compiling import interpreted_as

# For the type checker a bitboard is an `int`, and what must be `uint64` for Numba is `Any`.
ONE: Any = np.uint64(1)
ZERO: Any = np.uint64(0)

# How kernels' functions are compiled: within the loops that call them, and without what `njit` adds, wrappers for
# Python's calls. Nobody makes such calls, and the wrappers take a third of the time to compile a game. `jit_inline`
# functions become part of their callers.
jitable = register_jitable(no_cfunc_wrapper=True)
jit_inline = register_jitable(no_cfunc_wrapper=True, forceinline=True)


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


def _store_bits(
    context: Any, builder: Any, array_type: Any, array: Any, offset: Any, word: Any, bits: int
) -> None:
    """Write the lowest `bits` bits of a word as that many bytes of 0 or 1.

    LLVM turns the vector of single bits into one masked move where the processor has mask registers (64 bytes
    in two instructions), and into shuffles and compares where it has not.
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
def _write_few_bytes(typing_context: Any, array: Any, offset: Any, word: Any, count: Any) -> Any:
    """Write the lowest `count` (0 … 63) bits of a word as bytes of 0 or 1: for each binary digit of `count` so many."""

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


@jit_inline
def write_bytes(array: Any, offset: int, word: int, count: int) -> None:
    """Write the lowest `count` (1 … 64) bits of `word` as bytes of 0 or 1 to `array[offset:offset + count]`.

    `array` is one-dimensional, contiguous and of one-byte items. Where there is room, up to 63 bytes behind
    the last are overwritten with the word's further bits (zeros, as a rule): write from front to back.
    """
    if offset + 64 <= array.size:
        write_word(array, offset, word)
    else:
        _write_few_bytes(array, offset, word, count)


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


def _number_writer(bits: int) -> Any:
    """An intrinsic that writes `bits` numbers of three binary digits, each from a word of its own, as bytes."""

    @interpreted_as(plain.number_writer(bits))
    @intrinsic
    def write(
        typing_context: Any, array: Any, offset: Any, ones: Any, twos: Any, fours: Any
    ) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array_value = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
            bytes_type = ir.VectorType(ir.IntType(8), bits)
            values = ir.Constant(bytes_type, [0] * bits)
            for digit, word in enumerate(args[2:]):
                narrow = builder.trunc(word, ir.IntType(bits)) if bits < 64 else word
                flags = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), bits))
                weight = ir.Constant(bytes_type, [1 << digit] * bits)
                zeros = ir.Constant(bytes_type, [0] * bits)
                values = builder.or_(values, builder.select(flags, weight, zeros))
            target = builder.gep(
                builder.bitcast(array_value.data, ir.IntType(8).as_pointer()), [args[1]]
            )
            builder.store(values, builder.bitcast(target, bytes_type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(array, types.intp, types.uint64, types.uint64, types.uint64), codegen

    return write


# The same for 64 numbers 0 … 7 whose binary digits are bits of three words: (array, offset, ones, twos, fours).
write_number_word = _number_writer(64)


@interpreted_as(plain.prefetch)
@intrinsic
def _prefetch(typing_context: Any, array: Any, offset: Any) -> Any:
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


@jit_inline
def prefetch_row(rows: Any, row: int) -> None:
    """Ask for the cache lines of one row (or record) of a contiguous array, which is to be written soon."""
    size = rows.strides[0]
    for offset in range(row * size, (row + 1) * size, 64):
        _prefetch(rows, offset)


def _nth_square_by_clearing(word, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        word &= word - ONE
    return lowest_square(word)


@interpreted_as(plain.nth_square)
@intrinsic
def nth_square(typing_context: Any, word: Any, n: Any) -> Any:
    """The number of the set bit of `word` that has `n` set bits below it (all uint64; `n` below the popcount)."""
    signature = types.uint64(types.uint64, types.uint64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # The features belong to the key of Numba's on-disk cache, so the choice is safe to make here.
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


def draw(board: int, height: int, width: int) -> str:
    """A bitboard as text, `height` lines of `width` fields: `#` where the bit is set, `.` elsewhere."""
    return "\n".join(
        " ".join(
            "#" if int(board) >> (row * width + column) & 1 else "." for column in range(width)
        )
        for row in range(height)
    )


def board(drawing: str) -> Any:
    """The bitboard (uint64) that a drawing shows: the inverse of `draw`, blanks and line breaks left aside.

    ValueError where there is anything but `#` and `.`, or more than 64 fields.
    """
    fields = "".join(drawing.split())
    if len(fields) > 64 or set(fields) - set("#."):
        raise ValueError(f"a drawing has at most 64 fields, each # or '.': {drawing!r}")
    return np.uint64(sum(1 << square for square, field in enumerate(fields) if field == "#"))
