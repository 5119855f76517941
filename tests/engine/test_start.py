"""Starting: caches in read-only installs, without writable folders, in many processes at once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tabletop_envs

USE = """
from tabletop_envs import kirche_v0
from tabletop_envs.kernels import engine
env = kirche_v0.env()
env.reset(seed=1)
env.step(0)
hits = sum(engine.advance_one.stats.cache_hits.values())
print(env.snapshot()["pieces"][0], hits, len(engine.advance_one.signatures))
"""
PLAYED = "[{'kind': 'spire', 'square': 0, 'ridge': 'h'}]"


def start(**environment):
    """A new process that plays one action."""
    inherited = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    return subprocess.Popen(
        [sys.executable, "-B", "-W", "always", "-c", USE],
        env={**inherited, **{key: str(value) for key, value in environment.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """What a process printed, and its warnings."""
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return output.strip(), errors


@pytest.fixture
def read_only_install(tmp_path):
    """The package where no `__pycache__` can be made (permissions would not stop root)."""
    install = tmp_path / "install"
    shutil.copytree(
        Path(tabletop_envs.__file__).parent,
        install / "tabletop_envs",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for folder in [install / "tabletop_envs", *(install / "tabletop_envs").rglob("*")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text("in the way")
    return install


def test_a_read_only_install_caches_in_the_user_s_folder(read_only_install, tmp_path):
    places = {
        "PYTHONPATH": read_only_install,
        "HOME": tmp_path,
        "XDG_CACHE_HOME": tmp_path / "cache",
    }
    assert finish(start(**places))[0] == f"{PLAYED} 0 1"
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert finish(start(**places))[0] == f"{PLAYED} 1 1"


def test_without_any_writable_folder_it_compiles_and_says_so(read_only_install, tmp_path):
    wall = tmp_path / "wall"
    wall.write_text("no folder")
    places = {"PYTHONPATH": read_only_install, "HOME": wall, "XDG_CACHE_HOME": wall / "cache"}
    output, errors = finish(start(**places))
    assert output == f"{PLAYED} 0 1"
    assert "NUMBA_CACHE_DIR" in errors


def test_of_many_processes_that_start_at_once_on_an_empty_cache_one_compiles(tmp_path):
    processes = [start(NUMBA_CACHE_DIR=tmp_path) for _ in range(4)]
    printed = sorted(finish(process)[0] for process in processes)
    assert printed == [f"{PLAYED} 0 1", *[f"{PLAYED} 1 1"] * 3]
    assert not list(tmp_path.rglob("*.lock"))


def test_an_edit_in_a_kernel_is_seen_in_spite_of_the_cache(tmp_path):
    """Numba looks at the engine's file alone; the state's type tells it of the others."""
    install = tmp_path / "install"
    shutil.copytree(
        Path(tabletop_envs.__file__).parent,
        install / "tabletop_envs",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    places = {"PYTHONPATH": install, "NUMBA_CACHE_DIR": tmp_path / "cache"}
    assert finish(start(**places))[0] == f"{PLAYED} 0 1"
    kernel = install / "tabletop_envs" / "kernels" / "kirche.py"
    code = kernel.read_text()
    edited = code.replace("plane == PLACE_HORIZONTAL)", "plane == PLACE_VERTICAL)")
    assert edited != code
    kernel.write_text(edited)
    assert finish(start(**places))[0] == PLAYED.replace("'h'", "'v'") + " 0 1"
    kernel.write_text(code)
    assert finish(start(**places))[0] == f"{PLAYED} 1 1"
