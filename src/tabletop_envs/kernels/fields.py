"""Checks that a kernel's functions name fields that the state has, with file and line.

Numba's own error for a typo has neither.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any


@functools.cache
def check_fields(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Raise TypeError where a function, or one that it hands its state to, names another field.

    Args:
        function: A function whose first argument is a state, compiled or not.
        names: The state's fields.
    """
    for file, line, name in _unknown(function, 0, frozenset(names), set()):
        close = difflib.get_close_matches(name, names, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise TypeError(
            f"{file}, line {line}: the state has no field {name!r}{hint}: "
            f"its fields are {', '.join(names)}"
        )


def _unknown(
    function: Any, place: int, names: frozenset[str], seen: set[tuple[Any, int]]
) -> Iterator[tuple[str, int, str]]:
    """File, line, name of unknown fields of the argument at `place`, in calls, too."""
    function = getattr(function, "py_func", function)
    if (function, place) in seen or not inspect.isfunction(function):
        return
    seen.add((function, place))
    node = _definitions(function.__code__.co_filename).get(function.__code__.co_firstlineno)
    if node is None or place >= len(node.args.args):
        return
    states = _names_of(node, node.args.args[place].arg)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and _is(inner.value, states):
            if inner.attr not in names:
                yield function.__code__.co_filename, inner.lineno, inner.attr
        elif isinstance(inner, ast.Call):
            called = _called(inner.func, function.__globals__)
            for argument, value in enumerate(inner.args):
                if _is(value, states):
                    yield from _unknown(called, argument, names, seen)
            for keyword in inner.keywords:
                if keyword.arg and _is(keyword.value, states):
                    yield from _unknown(called, _place_of(called, keyword.arg), names, seen)


def _names_of(node: ast.FunctionDef, state: str) -> set[str]:
    """A state's name in a function, and the names that are given to it and to nothing else."""
    given = [
        target.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assign) and _is(inner.value, {state})
        for target in inner.targets
        if isinstance(target, ast.Name)
    ]
    stored = [
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    ]
    return {state, *(name for name in given if given.count(name) == stored.count(name))}


def _place_of(function: Any, argument: str) -> int:
    """The place of an argument among those of a function; beyond them if there is none."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    return names.index(argument) if argument in names else len(names)


def _called(node: ast.expr, names: dict[str, Any]) -> Any:
    """What `function` or `module.function` means among global names; None for anything else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_called(node.value, names), node.attr, None)
    return None


def _is(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


@functools.cache
def _definitions(file: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by their first lines, decorators included; none if unreadable."""
    try:
        with open(file, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        min([node.lineno, *(one.lineno for one in node.decorator_list)]): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
