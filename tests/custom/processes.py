"""New processes, which know of no game but the library's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tabletop_envs


def python(*words: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A new process of Python, in a folder; `path` is searched for modules besides the package."""
    paths = [str(Path(tabletop_envs.__file__).parents[1]), *([str(path)] if path else [])]
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
