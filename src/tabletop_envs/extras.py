"""Packages that only some parts need: imported on use, with an error that names the extra."""

from __future__ import annotations

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import and return a module; ImportError naming the extra where its package is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise ImportError(
            f'this needs {error.name}, which is not installed: pip install "tabletop-envs[{extra}]"'
        ) from error
