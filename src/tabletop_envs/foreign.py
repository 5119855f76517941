"""Lines and JSON from outside: read within limits, refused with a message that names the place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import IO, Any

__all__ = [
    "MAX_LINE",
    "read_json",
    "read_lines",
    "require_plain",
    "shorten",
]

# Limits far above what games need, which keep memory, recursion and error messages small.
MAX_LINE = 2**24
MAX_DEPTH = 100
MAX_DIGITS = 100
_MAX_MESSAGE = 500
_TOO_LARGE = 10**MAX_DIGITS
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1}}}", re.ASCII)


# Lines


def read_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file with their ends; ValueError for one of more than `MAX_LINE` bytes."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise ValueError(f"the line must have at most {MAX_LINE} bytes")
        yield line


def shorten(message: str) -> str:
    """A message with its middle left out where foreign data has made it long."""
    if len(message) <= _MAX_MESSAGE:
        return message
    half = _MAX_MESSAGE // 2
    return f"{message[:half]} ... {message[-half:]}"


# JSON


class _LongInteger:
    """Stands for an integer of too many digits until its place is known."""

    def __init__(self, text: str) -> None:
        self._digits = len(text.lstrip("-"))

    def __repr__(self) -> str:
        return f"an integer of {self._digits} digits"


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text: plain types, finite numbers, `MAX_DEPTH` levels, no key twice.

    ValueError for everything else, naming the place where there is one (`notes['a'][3]`).
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_integer_reader(text),
            object_pairs_hook=_read_object,
        )
    except RecursionError:
        raise ValueError("this is no JSON that can be read: it is nested too deep") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"this is no JSON: it must be UTF-8 ({error.reason})") from None
    except ValueError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    require_plain(value, "")
    return value


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _integer_reader(text: str) -> Callable[[str], Any] | None:
    if _LONG_NUMBER.search(text) is None:
        return None  # the usual one, which is faster
    return lambda digits: int(digits) if len(digits) <= MAX_DIGITS else _LongInteger(digits)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in an object")
    return result


def require_plain(value: Any, name: str, depth: int = 0) -> None:
    """ValueError, naming the place, unless a value is what `read_json` gives, or tuples of it."""
    place = name or "the value"
    if depth > MAX_DEPTH:
        raise ValueError(f"{place} must have at most {MAX_DEPTH} levels")
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{place} must have texts as keys, not {key!r}")
            _require_text(key, f"a key of {place}")
            # The keys of a document are its fields.
            within = f"{name}[{key!r}]" if name or not key.isidentifier() else key
            require_plain(entry, within, depth + 1)
    elif isinstance(value, list | tuple):
        # Actions are many: fast where there is no fault.
        if set(map(type, value)) == {int} and -_TOO_LARGE < min(value) <= max(value) < _TOO_LARGE:
            return
        for index, entry in enumerate(value):
            require_plain(entry, f"{name}[{index}]", depth + 1)
    elif isinstance(value, str):
        _require_text(value, place)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place} must be a finite number, not {value!r}")
    elif isinstance(value, _LongInteger) or (isinstance(value, int) and abs(value) >= _TOO_LARGE):
        raise ValueError(f"{place} must have at most {MAX_DIGITS} digits")
    elif value is not None and not isinstance(value, int):
        raise ValueError(f"{place} must be of a type that JSON has, not {type(value).__name__}")


def _require_text(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{place} must be text: {text!r} has half of a surrogate pair") from None
