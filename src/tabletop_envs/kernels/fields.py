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
    state = node.args.args[place].arg
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and _is(inner.value, state):
            if inner.attr not in names:
                yield function.__code__.co_filename, inner.lineno, inner.attr
        elif isinstance(inner, ast.Call):
            for argument, value in enumerate(inner.args):
                if _is(value, state):
                    called = _called(inner.func, function.__globals__)
                    yield from _unknown(called, argument, names, seen)


def _called(node: ast.expr, names: dict[str, Any]) -> Any:
    """What `function` or `module.function` means among global names; None for anything else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_called(node.value, names), node.attr, None)
    return None


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


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
