"""Checks of arguments and of data from outside. Every message says what a value must be.

- **Arguments** (`integer`, `boolean`, …): TypeError for a wrong type, ValueError for a wrong value.
  A bool is no integer, a float or a string no number; NumPy's scalars and 0-d arrays are what they
  hold.
- **Data from outside**, such as snapshots and records (`require_…`): ValueError for everything.

The name comes first, then the value.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

UINT64_MAX = 2**64 - 1
INT64_MAX = 2**63 - 1
Word = TypeVar("Word", str, str | None)
# How many characters of a value messages show.
SHOWN = 80


def shown(value: Any) -> str:
    """A value for messages: one short line, never an error (huge integers, deep nesting)."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _either(choices: Sequence[Any]) -> str:
    """Choices in words: `'a', 'b' or 'c'`."""
    *first, last = map(repr, choices)
    return f"{', '.join(first)} or {last}" if first else last


def _must(name: str, value: Any, allowed: str) -> str:
    return f"{name}={shown(value)} must be {allowed}"


def _refuse(name: str, value: Any, allowed: str) -> NoReturn:
    raise ValueError(f"{name} is {shown(value)}, but must be {allowed}")


def _range(low: int, high: int) -> str:
    # Powers of two are easier to read as such.
    top = "2**64 - 1" if high == UINT64_MAX else str(high)
    return f"an integer from {low} to {top}"


# Arguments


def _plain(value: Any) -> Any:
    """What a 0-d array holds; everything else as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _index(value: Any) -> int | None:
    """The integer that a value stands for (`__index__`); None for everything else, bools too."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    if not isinstance(value, int | np.integer) and _dtype(value).endswith("bool"):
        return None
    try:
        return int(operator.index(value))
    except TypeError:  # also of NumPy's timedelta64, which it calls an integer
        return None


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", ""))


def integer(name: str, value: Any, low: int, high: int) -> int:
    """An integer from `low` to `high`; TypeError or ValueError naming it otherwise."""
    number = _index(value)
    if number is None:
        raise TypeError(_must(name, value, _range(low, high)))
    if not low <= number <= high:
        raise ValueError(_must(name, value, _range(low, high)))
    return number


def seed(name: str, value: Any) -> int:
    """A seed, an integer from 0 to 2^64 − 1; TypeError or ValueError naming it otherwise."""
    return integer(name, value, 0, UINT64_MAX)


def seed_list(value: Any, num_lanes: int) -> list[Any] | None:
    """The seeds of a list or array, one a lane; None for one seed for all lanes.

    ValueError for a wrong number of them.
    """
    if not isinstance(value, list | tuple) and not (isinstance(value, np.ndarray) and value.ndim):
        return None
    if len(value) != num_lanes:
        raise ValueError(
            f"seed has {len(value)} numbers for {num_lanes} lanes: it must be one for all, or one "
            "for each"
        )
    return list(value)


def boolean(name: str, value: Any) -> bool:
    """A bool, NumPy's too; TypeError naming it otherwise."""
    value = _plain(value)
    if not isinstance(value, bool | np.bool_):
        raise TypeError(_must(name, value, "True or False"))
    return bool(value)


def number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float | None = None,
) -> float:
    """A finite number from `low` to `high` and above `above`; TypeError or ValueError otherwise."""
    allowed = "a finite number"
    if above is not None:
        allowed += f" above {above:g}" + (f", up to {high:g}" if high < math.inf else "")
    elif high < math.inf:
        allowed = f"a number from {low:g} to {high:g}"
    elif low > -math.inf:
        allowed += f" of at least {low:g}"
    plain = _plain(value)
    kinds = int | float | np.integer | np.floating
    if isinstance(plain, bool | np.timedelta64) or not isinstance(plain, kinds):
        raise TypeError(_must(name, value, allowed))
    try:
        result = float(plain)
    except OverflowError:
        result = math.inf
    if not (math.isfinite(result) and low <= result <= high) or (
        above is not None and result <= above
    ):
        raise ValueError(_must(name, value, allowed))
    return result


def choice(name: str, value: Any, choices: Sequence[Word]) -> Word:
    """One of some strings, None perhaps among them; TypeError or ValueError otherwise."""
    if not isinstance(value, str | None) or (value is None and None not in choices):
        raise TypeError(_must(name, value, _either(choices)))
    if value not in choices:
        raise ValueError(_must(name, value, _either(choices)))
    return choices[choices.index(value)]


def text(name: str, value: Any, *, other_than: str = "") -> str:
    """A string other than the empty one and `other_than`; TypeError or ValueError otherwise."""
    allowed = "a string that is not empty" + (f", nor {other_than!r}" if other_than else "")
    if not isinstance(value, str):
        raise TypeError(_must(name, value, allowed))
    if value in ("", other_than):
        raise ValueError(_must(name, value, allowed))
    return str(value)


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """A dict; TypeError naming it otherwise."""
    if not isinstance(value, Mapping):
        raise TypeError(_must(name, value, "a dict"))
    return value


def sequence(name: str, value: Any, of: str) -> Sequence[Any]:
    """A list or another sequence, but no string; TypeError naming what it is a list `of`."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError(_must(name, value, f"a list of {of}"))
    return value


def integers(name: str, value: Any, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Integers of a given shape as a contiguous `int64` array, not copied where it is one.

    TypeError or ValueError otherwise, also for bools in a list, which NumPy would take for 0 and 1.
    """
    allowed = f"integers of the shape {shape}"
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):  # lists of unequal length, foreign objects
        raise ValueError(_must(name, value, allowed)) from None
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be {allowed}, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must be {allowed}, not of the shape {array.shape}")
    if not isinstance(value, np.ndarray) and isinstance(value, Sequence):
        for place, one in enumerate(value):
            if _index(one) is None:
                raise TypeError(_must(f"{name}[{place}]", one, "an integer"))
    if array.dtype == np.uint64 and array.size and int(array.max()) > INT64_MAX:
        raise ValueError(_must(name, array.max(), f"integers up to {INT64_MAX}"))
    return np.ascontiguousarray(array, np.int64)


def action(value: Any, num_actions: int, player: str | None = None) -> int:
    """An action of the action space, legal or not; ValueError, naming `player`, for what is none,
    whatever its type.
    """
    number = _index(value)
    if number is not None and 0 <= number < num_actions:
        return number
    whose = f" of {player}" if player else ""
    if number is None:
        raise ValueError(
            f"action={shown(value)}{whose} must be an integer from 0 to {num_actions - 1}"
        )
    raise ValueError(
        f"action {shown(number)}{whose} is outside the action space 0 … {num_actions - 1}"
    )


# Data from outside


def require(condition: bool, fault: str) -> None:
    """ValueError saying `fault` unless the condition holds."""
    if not condition:
        raise ValueError(fault)


def require_equal(name: str, given: Any, expected: Any) -> None:
    """The value that a snapshot gives for `name` must be the position's."""
    try:
        equal = bool(given == expected)
    except Exception:  # arrays, whose comparison is no bool, and deep nesting
        equal = False
    if not equal:
        _refuse(name, given, f"{expected!r} in this position")


def require_int(name: str, value: Any, minimum: int, maximum: int) -> int:
    """An integer (not a bool) from `minimum` to `maximum`."""
    number = _index(value)
    if number is None or not minimum <= number <= maximum:
        _refuse(name, value, _range(minimum, maximum))
    return number


def require_bool(name: str, value: Any) -> bool:
    """A bool."""
    if not isinstance(value, bool | np.bool_):
        _refuse(name, value, "True or False")
    return bool(value)


def require_choice(name: str, value: Any, choices: Sequence[str]) -> int:
    """The place of a string among `choices`."""
    if not isinstance(value, str) or value not in choices:
        _refuse(name, value, f"one of {', '.join(choices)}")
    return choices.index(value)


def require_list(name: str, value: Any, length: int | None = None) -> list[Any]:
    """A list or tuple, of a given length."""
    if not isinstance(value, list | tuple):
        _refuse(name, value, "a list")
    if length is not None:
        require(len(value) == length, f"{name} has {len(value)} entries, but must have {length}")
    return list(value)


def require_mapping(name: str, value: Any, keys: Sequence[str] = ()) -> Mapping[str, Any]:
    """A dict; with `keys`, one with exactly these."""
    if not isinstance(value, Mapping):
        _refuse(name, value, "a dict")
    given: Mapping[str, Any] = value
    if keys and set(given) != set(keys):
        raise ValueError(
            f"{name} has the keys {shown(list(given))}, but must have {', '.join(keys)}"
        )
    return given


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint at the known word that was probably meant; empty if none is near."""
    close = difflib.get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
