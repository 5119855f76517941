"""Fingerprints: what tells an agent from another one of its name (itself before more training).

Records and tournaments keep them with the agents' names (docs/agents.md says what they tell apart).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_envs.kernels.compiling import code_digest

if TYPE_CHECKING:
    from tabletop_envs.agents.agent import Agent, GameAgent

__all__ = ["digest", "fingerprint", "of_settings", "settings"]

# The depth to which objects within objects are described; so nothing goes round in circles.
MAX_DEPTH = 10
PLAIN = (bool, int, float, complex, str, bytes, np.generic, type(None), type(...), np.dtype)
FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)
# What counts of Python's own objects: these attributes.
PARTS: dict[type, tuple[str, ...]] = {
    types.CodeType: ("co_code", "co_names", "co_consts"),
    types.FunctionType: (
        "__module__",
        "__qualname__",
        "__code__",
        "__defaults__",
        "__kwdefaults__",
    ),
    types.MethodType: ("__func__", "__self__"),
    types.ModuleType: ("__name__",),
    functools.partial: ("func", "args", "keywords"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget",),
    functools.cached_property: ("func",),
}


def fingerprint(agent: GameAgent | Agent) -> str:
    """A short text that differs between agents that may play differently.

    An agent may have an attribute `fingerprint` that says it, a text or a function without
    arguments that gives one. Without it the text is a digest of what can be looked at: of a
    function its module, its name, its code with constants, defaults and the values it closes over;
    of an object its class in the same way and its public attributes. Of these numbers, texts,
    lists, dicts, arrays, functions, dataclasses and what has a `state_dict` (PyTorch's modules)
    count by their contents, all else by its type alone. What a function finds elsewhere (globals,
    files, other functions) is not looked at.

    Raises:
        TypeError: Where the attribute is something else, or the text is empty.
    """
    given = getattr(agent, "fingerprint", None)
    if given is None:
        return digest(agent)
    text = given() if callable(given) else given
    if not isinstance(text, str) or not text:
        raise TypeError(
            f"fingerprint of agent {agent!r} must be a text that is not empty, not {text!r}"
        )
    return text


def of_settings(agent: GameAgent, settings: Mapping[str, Any], *files: str) -> str:
    """The fingerprint of one of the library's agents: its class, settings and compiled code.

    That code is the library's in rules, heuristics and search, and that of further `files`.
    """
    return digest(type(agent), settings, code_digest(*files))


def digest(*values: Any) -> str:
    """A digest of values (`fingerprint` says of what), of 16 hexadecimal digits."""
    return hashlib.blake2b(repr(_describe(values, 0)).encode(), digest_size=8).hexdigest()


def settings(thing: Any) -> dict[str, Any]:
    """The public attributes of an object."""
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


def _describe(value: Any, depth: int) -> tuple[str, Any]:
    """The kind of a value and what counts of it: nested pairs of texts, bytes and lists."""
    kind = type(value).__name__

    def each(parts: Iterable[Any]) -> list[tuple[str, Any]]:
        return [_describe(part, depth + 1) for part in parts]

    if depth > MAX_DEPTH:
        return "deep", ""
    if isinstance(value, PLAIN):
        return kind, repr(value)
    if isinstance(value, os.PathLike):
        return "path", os.fsencode(value)
    if isinstance(value, list | tuple):
        return "list", each(value)
    if isinstance(value, set | frozenset):
        return "set", sorted(map(repr, each(value)))
    if isinstance(value, Mapping):
        return "dict", sorted(map(repr, each(value.items())))
    if hasattr(value, "py_func"):  # compiled by Numba
        return "compiled", each([value.py_func])
    for parts_of, names in PARTS.items():
        if isinstance(value, parts_of):
            parts = [getattr(value, name) for name in names]
            return parts_of.__name__, each([*parts, _closed_over(value)])
    if isinstance(value, type):
        return "class", each(_class_parts(value))
    if callable(getattr(value, "state_dict", None)):
        return "module", each([type(value), value.state_dict()])
    if hasattr(value, "__array__"):
        array = _as_array(value)
        content = (
            array.tolist() if array.dtype.hasobject else hashlib.blake2b(array.tobytes()).digest()
        )
        return "array", each([array.dtype.str, array.shape, content])
    if dataclasses.is_dataclass(value) or (
        hasattr(value, "__dict__") and (depth <= 1 or callable(value))
    ):
        return "object", each([type(value), settings(value)])
    return "other", f"{type(value).__module__}.{type(value).__qualname__}"


def _closed_over(value: Any) -> list[Any]:
    values = []
    for cell in getattr(value, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not filled yet
            values.append(None)
    return values


def _class_parts(cls: type) -> Iterator[Any]:
    """What a class and its bases in the same package say: names, methods, plain attributes."""
    package = cls.__module__.partition(".")[0]
    for base in cls.__mro__:
        yield f"{base.__module__}.{base.__qualname__}"
        if base.__module__.partition(".")[0] != package:
            continue
        for name, value in sorted(vars(base).items()):
            special = name.startswith("__") and not isinstance(value, FUNCTIONS)
            if not special and isinstance(value, (*FUNCTIONS, *PLAIN, tuple)):
                yield name
                yield value


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach"):  # a tensor of PyTorch, wherever it lies
        value = value.detach().cpu()
    try:
        return np.ascontiguousarray(value)
    except TypeError:  # of a type that NumPy lacks, such as bfloat16
        return np.array(value.tolist())
