"""Objects by name: `module:NAME` and `file.py:NAME`.

Either imports code, so the name must come from whoever runs the program: from a call, a command
line or the entry point of an installed package. Names in records, tournament files, checkpoints and
requests never come here.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tabletop_envs.checks import nearest, shown

__all__ = ["import_module", "load_object", "names_code"]

# How many of a module's objects an error lists.
LISTED = 8


def names_code(text: str) -> bool:
    """Whether a text has the form of `module:NAME`, `file.py:NAME` or `file.py`."""
    return ":" in text or text.endswith(".py")


def load_object(
    text: str, kind: str, accepts: Callable[[Any], bool], default: str | None = None
) -> Any:
    """The object that `module:NAME` or `file.py:NAME` means; the module is imported.

    A file is imported under its name without `.py`, with its folder at the end of `sys.path`: its
    neighbours can be imported as well, and worker processes find it.

    Args:
        text: The name.
        kind: What is looked for, for messages, such as `"game"`.
        accepts: Whether an object is one.
        default: The NAME where none is given; None: there must be one.

    Raises:
        ValueError: Where there is no such module or object, where importing it fails, and for an
            object of another kind: it says what was looked for and what the module has.
    """
    place, colon, name = text.rpartition(":")
    if not colon:
        place, name = text, default or ""
    if not place or not name:
        raise ValueError(f"{kind} {shown(text)} must be module:NAME or file.py:NAME")
    module = (
        _import_file(place, text) if place.endswith(".py") else import_module(place, shown(text))
    )
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is not None and accepts(value):
        return value
    there = "there is none" if value is None else f"it is of the type {type(value).__name__}"
    own = [
        each
        for each, one in vars(module).items()
        if not each.startswith("_") and not isinstance(one, type) and accepts(one)
    ]
    listed = ", ".join(own[:LISTED]) + (", …" if len(own) > LISTED else "")
    raise ValueError(
        f"{shown(text)}: {name!r} of {_place(module)} must be a {kind}, but {there}"
        f"{nearest(name, own)}; its {kind}s: {listed or 'none'}"
    )


def _place(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return f"module {module.__name__}" + (f" ({file})" if file else "")


def _import_file(place: str, text: str) -> ModuleType:
    path = Path(place).absolute()
    if not path.is_file():
        raise ValueError(f"{shown(text)}: there is no file {path}")
    if not path.stem.isidentifier():
        raise ValueError(
            f"{shown(text)}: {path.name} must be named like a Python module: letters, digits and _"
        )
    folder = str(path.parent)
    if folder not in sys.path:
        # Last, so that nothing installed is hidden by a file that happens to lie there.
        sys.path.append(folder)
    importlib.invalidate_caches()
    found = getattr(sys.modules.get(path.stem), "__file__", None)
    if path.stem not in sys.modules:
        spec = importlib.util.find_spec(path.stem)
        found = None if spec is None else spec.origin
    if not found or not os.path.exists(found) or not os.path.samefile(found, path):
        raise ValueError(
            f"{shown(text)}: the name {path.stem!r} is another module's ({found or 'built in'}): "
            "give the file another name"
        )
    return import_module(path.stem, shown(text))


def import_module(name: str, text: str) -> ModuleType:
    """A module; ValueError, beginning with `text`, where it is not there or importing it fails."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        lacking = error.name if isinstance(error, ModuleNotFoundError) else None
        if lacking is not None and f"{name}.".startswith(f"{lacking}."):
            raise ValueError(
                f"{text}: there is no module {lacking!r} to import (a file is named file.py:NAME)"
            ) from error
        # Where it happened: this file and Python's machinery for imports are of no interest.
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "importlib" not in frame.filename and frame.filename != __file__
        ]
        place = f", line {frames[-1].lineno} of {frames[-1].filename}" if frames else ""
        raise ValueError(
            f"{text}: importing {name} fails: {type(error).__name__}: {error}{place}"
        ) from error
