"""Where a kernel's compiled functions mix signed and unsigned integers, by file and line.

Numba makes `int64` of `uint64` and a signed integer, such as a literal or a state's field of a
signed type: bit 63 is then a sign, which a shift to the right copies. Comparisons, `min` and `max`
of the two go through `float64`.
"""

from __future__ import annotations

import linecache
import operator
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba.core.types
import numpy as np
from numba.core import ir

# Its names come and go with Numba's versions, and have no types.
types: Any = numba.core.types

_BITWISE = {
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
}


def mixed_bits(function: Any, state: np.dtype[Any]) -> Iterator[str]:
    """Bitwise operations of `uint64` with a signed integer, in words.

    Not `&` with a literal, whose result is that of the literal's few bits.

    Args:
        function: A compiled dispatcher, looked at with all that it calls.
        state: The state's dtype; its fields are named where they are signed.
    """
    for expression, signature, operands in _expressions(function):
        if expression.op == "binop":
            sign = _BITWISE.get(expression.fn)
        elif expression.op == "inplace_binop":
            sign = _BITWISE.get(expression.immutable_fn)
        else:
            continue
        signed = isinstance(signature.return_type, types.Integer) and signature.return_type.signed
        if sign is None or not signed or not any(map(_unsigned, operands)):
            continue
        literal = any(isinstance(kind, types.IntegerLiteral) for kind in operands)
        if sign == "&" and literal:
            continue
        one, other = map(_shown, operands)
        yield f"{_place(expression, state)}: {one} {sign} {other} gives {signature.return_type}"


def floats(function: Any, state: np.dtype[Any]) -> Iterator[str]:
    """Operations and calls that make floats of integers, in words."""
    for expression, signature, operands in _expressions(function):
        made = [
            str(kind)
            for kind in (*signature.args, signature.return_type)
            if isinstance(kind, types.Float)
        ]
        if made and operands and all(isinstance(kind, types.Integer) for kind in operands):
            kinds = ", ".join(map(_shown, operands))
            yield f"{_place(expression, state)}: {kinds} become {made[0]}"


def _expressions(function: Any) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Each typed operation or call of a function and of what it calls: the expression, its
    signature, the types of its operands.
    """
    waiting = list(getattr(function, "overloads", {}).values())
    seen = set()
    while waiting:
        # What comes from the cache on disk has no types to look at.
        notes = waiting.pop().type_annotation
        if id(notes) in seen or not hasattr(notes, "calltypes"):
            continue
        seen.add(id(notes))
        for expression, signature in notes.calltypes.items():
            if not isinstance(expression, ir.Expr) or signature is None:
                continue
            if expression.op == "call":
                waiting += _called(notes.typemap.get(expression.func.name), signature.args)
                names = expression.args
            elif expression.op in ("binop", "inplace_binop"):
                names = (expression.lhs, expression.rhs)
            else:
                continue
            yield expression, signature, [notes.typemap.get(name.name) for name in names]


def _called(kind: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """What has been compiled of a jitted function, or of an overload, for types of arguments."""
    dispatchers = [kind.dispatcher] if isinstance(kind, types.Dispatcher) else []
    for template in getattr(kind, "templates", ()):
        entries = getattr(template, "_impl_cache", {}).values()
        dispatchers += [entry[0] for entry in entries if isinstance(entry, tuple)]
    plain = tuple(map(types.unliteral, arguments))
    overloads = [getattr(dispatcher, "overloads", {}) for dispatcher in dispatchers]
    return [each[key] for each in overloads for key in {arguments, plain} if key in each]


def _unsigned(kind: Any) -> bool:
    return isinstance(kind, types.Integer) and kind.bitwidth == 64 and not kind.signed


def _shown(kind: Any) -> str:
    """A type in words, a literal's value included."""
    if isinstance(kind, types.IntegerLiteral):
        return f"{kind.literal_value} ({types.unliteral(kind)})"
    return str(kind)


def _place(expression: Any, state: np.dtype[Any]) -> str:
    """File, line and source of an expression, and the signed fields of the state in it."""
    file, number = expression.loc.filename, expression.loc.line
    source = linecache.getline(file, number).strip()
    fields = {name: state[name].base for name in state.names or ()}
    signed = [
        f"the field {name} is {fields[name]}"
        for name in dict.fromkeys(re.findall(r"\.(\w+)", source))
        if name in fields and fields[name].kind == "i"
    ]
    hint = f" ({', '.join(signed)})" if signed else ""
    return f"{Path(file).name}, line {number}, `{source}`{hint}"
