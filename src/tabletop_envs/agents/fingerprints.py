"""Fingerprints: what tells an agent from another one of its name (itself before more training).

Records and tournaments keep them with the agents' names (docs/agents.md says what they tell apart).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tabletop_envs.agents.agent import Agent, GameAgent

__all__ = ["digest", "fingerprint", "settings", "sources"]

# Objects within objects are looked at so deep; nothing goes round in circles longer.
MAX_DEPTH = 8
PLAIN = (bool, int, float, complex, str, bytes, np.generic, type(None), type(...), np.dtype)
FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)


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


def digest(*values: Any) -> str:
    """A digest of values (`fingerprint` says of what), of 16 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=8)
    _describe(state.update, values, 0)
    return state.hexdigest()


def settings(thing: Any) -> dict[str, Any]:
    """The public attributes of an object."""
    return {name: value for name, value in vars(thing).items() if not name.startswith("_")}


@functools.cache
def sources(*files: str) -> str:
    """A digest of source files; of an `__init__.py` it is that of all files beside it."""
    state = hashlib.blake2b(digest_size=8)
    for path in map(Path, files):
        for each in sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]:
            state.update(each.read_bytes())
    return state.hexdigest()


def _describe(put: Callable[[bytes], Any], value: Any, depth: int) -> None:
    """Put the description of a value, in which each part says its kind and its length."""

    def say(kind: str, content: bytes = b"") -> None:
        put(f"{kind} {len(content)} ".encode() + content)

    def each(kind: str, parts: Iterator[Any] | list[Any] | tuple[Any, ...]) -> None:
        parts = list(parts)
        say(kind, str(len(parts)).encode())
        for part in parts:
            _describe(put, part, depth + 1)

    if depth > MAX_DEPTH:
        say("deep")
    elif isinstance(value, PLAIN):
        say(type(value).__name__, repr(value).encode())
    elif isinstance(value, os.PathLike):
        say("path", os.fsencode(value))
    elif isinstance(value, list | tuple):
        each("list", value)
    elif isinstance(value, set | frozenset):
        each("set", sorted(map(digest, value)))
    elif isinstance(value, Mapping):
        each("dict", sorted((digest(key), digest(item)) for key, item in value.items()))
    elif isinstance(value, types.CodeType):
        each("code", [value.co_code, value.co_names, value.co_consts])
    elif isinstance(value, types.ModuleType):
        say("module", value.__name__.encode())
    elif hasattr(value, "py_func"):  # compiled by Numba
        each("compiled", [value.py_func])
    elif isinstance(value, types.FunctionType):
        each("function", [value.__module__, value.__qualname__, value.__code__])
        each("given", [value.__defaults__, value.__kwdefaults__, _closed_over(value)])
    elif isinstance(value, types.MethodType):
        each("method", [value.__func__, value.__self__])
    elif isinstance(value, functools.partial):
        each("partial", [value.func, value.args, value.keywords])
    elif isinstance(value, staticmethod | classmethod):
        each("wrapped", [value.__func__])
    elif isinstance(value, property):
        each("property", [value.fget])
    elif isinstance(value, functools.cached_property):
        each("property", [value.func])
    elif isinstance(value, type):
        each("class", list(_class_parts(value)))
    elif callable(getattr(value, "state_dict", None)):
        each("module", [type(value), value.state_dict()])
    elif hasattr(value, "__array__"):
        array = _as_array(value)
        content = array.tolist() if array.dtype.hasobject else array.tobytes()
        each("array", [array.dtype.str, array.shape, content])
    elif dataclasses.is_dataclass(value) or (
        hasattr(value, "__dict__") and (depth <= 1 or callable(value))
    ):
        each("object", [type(value), settings(value)])
    else:
        say("other", f"{type(value).__module__}.{type(value).__qualname__}".encode())


def _closed_over(function: types.FunctionType) -> list[Any]:
    values = []
    for cell in function.__closure__ or ():
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
