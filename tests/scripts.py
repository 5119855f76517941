"""Python files that lie outside of the packages, as modules: scripts, examples, and what a test has
written.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def load_script(file: Path, *, registered: bool = False) -> ModuleType:
    """A Python file as a module that has the file's name; `registered`: `sys.modules` has it, too,
    from before it runs.

    Unregistered by default: a script that is run is no module that other processes could import,
        and Ray sends what it
    defines by value.
    """
    specification = importlib.util.spec_from_file_location(file.stem, file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    if registered:
        sys.modules[file.stem] = module
    specification.loader.exec_module(module)
    return module
