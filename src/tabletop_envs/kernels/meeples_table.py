"""The table of meeples as one value: a bitboard of 24 × 24 fields for compiled code.

Fields of the table, and so the numbers of the field actions (M3)::

      0   1   2  …  23
     24  25  26  …  47
      …
    552 553 554  … 575

A *board* is a set of fields. It is 12 words of 48 bits, two rows of the table a word (field `f` is bit `f % 48`
of word `f // 48`), and lives in a state as an array `uint64[12]`. Compiled code loads it into a single value, an
LLVM vector, on which `&`, `|`, `^` and `~` work like on integers and the whole table moves by a few machine
instructions: rules then read as if the table had 64 fields. The processor's vector registers take as many of the
words at once as fit.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from tabletop_envs.kernels.bits import ONE, board

SIDE = 24
FIELDS = SIDE * SIDE
WORD_BITS = 2 * SIDE
WORDS = FIELDS // WORD_BITS
UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3

# Two rows of the table, drawn as one word.
ALL_COLUMNS = board("#" * SIDE + "#" * SIDE)
COLUMNS_FROM_1 = board(("." + "#" * (SIDE - 1)) * 2)

_ROW, _WORD_BITS = np.uint64(SIDE), np.uint64(WORD_BITS)
_VECTOR = ir.VectorType(ir.IntType(64), WORDS)
_ZEROS = ir.Constant(_VECTOR, [0] * WORDS)
_WHOLE_TABLE = ir.Constant(_VECTOR, [int(ALL_COLUMNS)] * WORDS)


class BoardType(types.Type):  # type: ignore[misc]
    """Numba's type of a board."""

    def __init__(self) -> None:
        super().__init__(name="Board")


BOARD = BoardType()


@register_model(BoardType)
class _BoardModel(models.PrimitiveModel):  # type: ignore[misc]
    """A board is one LLVM vector."""

    def __init__(self, manager: Any, board_type: Any) -> None:
        super().__init__(manager, board_type, _VECTOR)


def _splat(builder: Any, word: Any) -> Any:
    """A vector with the same word everywhere."""
    single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), word, ir.IntType(32)(0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
    return builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), places)


def _define_operator(function: Any, instruction: str, second: Any) -> None:
    """Let `function` work on a board and a `second` operand: a board, or a word for all words alike."""

    @type_callable(function)
    def type_operator(context: Any) -> Any:
        return lambda left, right: BOARD if (left, right) == (BOARD, second) else None

    @lower_builtin(function, BOARD, second)
    def lower_operator(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        right = args[1] if second is BOARD else _splat(builder, args[1])
        return getattr(builder, instruction)(args[0], right)


_define_operator(operator.and_, "and_", BOARD)
_define_operator(operator.or_, "or_", BOARD)
_define_operator(operator.xor, "xor", BOARD)
_define_operator(operator.iand, "and_", BOARD)
_define_operator(operator.ior, "or_", BOARD)
_define_operator(operator.and_, "and_", types.uint64)
_define_operator(operator.lshift, "shl", types.uint64)
_define_operator(operator.rshift, "lshr", types.uint64)


@type_callable(operator.invert)
def _type_invert(context: Any) -> Any:
    return lambda value: BOARD if value == BOARD else None


@lower_builtin(operator.invert, BOARD)
def _lower_invert(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.xor(args[0], _WHOLE_TABLE)


@intrinsic
def no_fields(typing_context: Any) -> Any:
    """The board without a field."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _ZEROS

    return BOARD(), codegen


def _vector_pointer(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.bitcast(data, _VECTOR.as_pointer())


@intrinsic
def load(typing_context: Any, words: Any) -> Any:
    """The board that the first 12 items of a contiguous array of `uint64` hold."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _vector_pointer(context, builder, signature.args[0], args[0])
        return builder.load(pointer, align=8)

    return BOARD(words), codegen


@intrinsic
def store(typing_context: Any, words: Any, fields: Any) -> Any:
    """Write a board into the first 12 items of a contiguous array of `uint64`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _vector_pointer(context, builder, signature.args[0], args[0])
        builder.store(args[1], pointer, align=8)
        return context.get_dummy_value()

    return types.void(words, fields), codegen


@intrinsic
def any_field(typing_context: Any, fields: Any) -> Any:
    """Whether a board has a field at all."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        used = builder.icmp_unsigned("!=", args[0], _ZEROS)
        flags = builder.bitcast(used, ir.IntType(WORDS))
        return builder.icmp_unsigned("!=", flags, ir.Constant(ir.IntType(WORDS), 0))

    return types.boolean(fields), codegen


@intrinsic
def count(typing_context: Any, fields: Any) -> Any:
    """How many fields a board has (uint64)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def llvm(name: str, result: Any, value: Any) -> Any:
            function_type = ir.FunctionType(result, [_VECTOR])
            full_name = f"llvm.{name}.v{WORDS}i64"
            function = cgutils.get_or_insert_function(builder.module, function_type, full_name)
            return builder.call(function, [value])

        return llvm("vector.reduce.add", ir.IntType(64), llvm("ctpop", _VECTOR, args[0]))

    return types.uint64(fields), codegen


@intrinsic
def _one_bit(typing_context: Any, word: Any, bit: Any) -> Any:
    """The board whose word number `word` is `bit` and whose others are empty."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = ir.Constant(_VECTOR, list(range(WORDS)))
        here = builder.icmp_unsigned("==", numbers, _splat(builder, args[0]))
        return builder.select(here, _splat(builder, args[1]), _ZEROS)

    return BOARD(types.uint64, types.uint64), codegen


@intrinsic
def _word(typing_context: Any, fields: Any, number: Any) -> Any:
    """One word of a board."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return types.uint64(BOARD, types.uint64), codegen


def _word_shuffle(step: int) -> Any:
    """An intrinsic that gives each word the contents of the one `step` further, zero beyond the table."""

    @intrinsic
    def shuffle(typing_context: Any, fields: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            # Numbers from 12 on are words of the second operand, zeros.
            places = [i + step if 0 <= i + step < WORDS else WORDS for i in range(WORDS)]
            mask = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), places)
            return builder.shuffle_vector(args[0], _ZEROS, mask)

        return BOARD(fields), codegen

    return shuffle


_next_words = _word_shuffle(1)
_previous_words = _word_shuffle(-1)


@njit(forceinline=True)
def up(fields: Any) -> Any:
    """The fields one row up from those of a board; what would leave the table is gone, here and below."""
    return (fields >> _ROW) | _next_words((fields << _ROW) & ALL_COLUMNS)


@njit(forceinline=True)
def down(fields: Any) -> Any:
    """The fields one row down."""
    return ((fields << _ROW) & ALL_COLUMNS) | _previous_words(fields >> _ROW)


@njit(forceinline=True)
def left(fields: Any) -> Any:
    """The fields one column to the left."""
    return (fields & COLUMNS_FROM_1) >> ONE


@njit(forceinline=True)
def right(fields: Any) -> Any:
    """The fields one column to the right."""
    return (fields << ONE) & COLUMNS_FROM_1


@njit(forceinline=True)
def neighbours(fields: Any) -> Any:
    """The fields that share an edge with one of the board's."""
    return up(fields) | down(fields) | left(fields) | right(fields)


@njit(forceinline=True)
def diagonals(fields: Any) -> Any:
    """The fields that share a corner, but no edge, with one of the board's."""
    rows = up(fields) | down(fields)
    return left(rows) | right(rows)


@njit(forceinline=True)
def one_field(field: int) -> Any:
    """The board of one field (uint64)."""
    return _one_bit(field // _WORD_BITS, ONE << (field % _WORD_BITS))


@njit(forceinline=True)
def has(fields: Any, field: int) -> int:
    """1 if a board has a field, else 0 (uint64)."""
    return (_word(fields, field // _WORD_BITS) >> (field % _WORD_BITS)) & ONE


@njit(forceinline=True)
def bit_at(words: Any, field: int) -> int:
    """`has` on a board's array of words."""
    return (words[field // _WORD_BITS] >> (field % _WORD_BITS)) & ONE


@njit(forceinline=True)
def toggle(words: Any, field: int, bit: int) -> None:
    """Take a field out of a board's array of words or put it in, if `bit` is 1 and not 0 (uint64)."""
    words[field // _WORD_BITS] ^= bit << (field % _WORD_BITS)
