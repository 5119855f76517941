"""The cache on disk may fail in every way: loops are compiled then, and one warning says so."""

import errno
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from numba import config
from numba.core import caching

from tabletop_envs.kernels import compiling

LOOPS = """
from tabletop_envs.kernels.engine import compiled_loop

@compiled_loop
def double(number):
    return 2 * number

@compiled_loop
def triple(number):
    return 3 * number
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of loops; its cache is in `cache`."""
    (tmp_path / "loops.py").write_text(LOOPS)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def load(folder):
    """The module of loops, as a new process has it, with nothing said yet."""
    compiling._said.clear()
    spec = importlib.util.spec_from_file_location("loops", folder / "loops.py")
    loops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loops)
    return loops


def use(folder, between=lambda: None):
    """How many loops a new process finds, after `between`, in the cache, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loops = load(folder)
        between()
        assert [loops.double(4), loops.triple(4), loops.double(4.5)] == [8, 12, 9.0]
    hits = sum(sum(loop.stats.cache_hits.values()) for loop in (loops.double, loops.triple))
    return hits, [str(warning.message) for warning in caught]


class Full:
    """A file on a disk without room, or beyond a quota: it can be opened, but not written."""

    def __init__(self, number, file):
        self.number, self.file = number, file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, data):
        raise OSError(self.number, "no room")


def files(folder, ending):
    """The cache's files with that ending."""
    found = sorted((folder / "cache").rglob(f"*.{ending}"))
    assert found
    return found


def alter(data):
    """The same data with one byte in the middle changed, where the code is."""
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "not a cache": lambda data: b"no such thing",
    "altered": alter,
}


def test_whole_caches_are_used_in_silence(folder):
    assert use(folder) == (0, [])
    assert use(folder) == (3, [])


# (An altered index has another loop's key, which nobody asks for.)
@pytest.mark.parametrize(
    ("damage", "ending"),
    [*((damage, "nbc") for damage in DAMAGES), *((damage, "nbi") for damage in list(DAMAGES)[:-1])],
)
def test_damaged_files_are_replaced_with_one_warning(folder, damage, ending):
    use(folder)
    for path in files(folder, ending):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    hits, said = use(folder)
    assert hits == 0
    (warning,) = said
    assert "is damaged" in warning
    assert str(folder / "cache") in warning
    assert "delete that folder, or set NUMBA_CACHE_DIR" in warning
    assert use(folder) == (3, [])


@pytest.fixture(params=[errno.ENOSPC, errno.EDQUOT])
def full_disk(request, monkeypatch):
    """A disk that takes nothing more."""

    def open_full(name, mode="r", *others):
        file = open(name, mode, *others)  # noqa: SIM115 (it is closed by `Full`)
        return Full(request.param, file) if "w" in mode else file

    with monkeypatch.context() as patch:
        patch.setattr(caching, "open", open_full, raising=False)
        yield patch


def test_a_full_disk_costs_one_warning(folder, full_disk):
    hits, said = use(folder)
    assert hits == 0
    (warning,) = said
    assert "no room" in warning
    assert "set NUMBA_CACHE_DIR to a folder that can be written and has room" in warning
    assert not list((folder / "cache").rglob("*.nb?"))
    full_disk.undo()
    assert use(folder) == (0, [])
    assert use(folder) == (3, [])


def test_a_cache_that_is_deleted_meanwhile_is_made_anew(folder):
    use(folder)
    assert use(folder, lambda: shutil.rmtree(folder / "cache")) == (0, [])
    assert use(folder) == (3, [])
    for path in files(folder, "nbc"):
        path.unlink()
    assert use(folder) == (0, [])
    assert use(folder) == (3, [])


def test_a_folder_that_becomes_a_file_costs_one_warning(folder):
    def replace():
        shutil.rmtree(folder / "cache")
        (folder / "cache").touch()

    hits, said = use(folder, replace)
    assert hits == 0
    (warning,) = said
    assert "set NUMBA_CACHE_DIR" in warning


def test_without_any_folder_it_says_so_once(folder, monkeypatch):
    (folder / "wall").touch()
    (folder / "__pycache__").touch()
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(folder / "wall"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "wall" / "cache"))
    hits, said = use(folder)
    assert hits == 0
    (warning,) = said
    assert "no folder for compiled code can be written" in warning
    assert "set NUMBA_CACHE_DIR" in warning


def test_the_digest_sees_edits_of_all_compiled_code(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "kernels" / "compiling.py"))
    digests = {compiling.code_digest()}
    for file in ("kernels/game/rules.py", "evaluation/game.py", "search/tree.py"):
        (tmp_path / file).parent.mkdir(parents=True)
        for source in ("one", "another"):
            (tmp_path / file).write_text(source)
            digests.add(compiling.code_digest())
    assert len(digests) == 7


def test_another_machine_s_code_is_left_alone(folder):
    """The processor belongs to the keys: machines of several kinds may share a folder."""
    use(folder)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import loops; print(loops.double(4), loops.double.stats.cache_hits)",
        ],
        cwd=folder,
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(folder / "cache"),
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "8 Counter()\n", done.stderr
    assert use(folder) == (3, [])


# Waiting

SLOW = """
import time
from numba.extending import overload
from tabletop_envs.kernels import compiling
from tabletop_envs.kernels.engine import compiled_loop

def nothing():
    pass

@overload(nothing)
def _nothing():
    end = time.monotonic() + 300
    while "waiting" not in compiling._said and time.monotonic() < end:
        time.sleep(0.01)
    return lambda: None

@compiled_loop
def wait():
    nothing()

@compiled_loop
def wait_again():
    nothing()
"""


def test_who_waits_for_compiling_is_told_so_once(folder, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE_SECONDS", 0.05)
    (folder / "loops.py").write_text(SLOW)
    loops = load(folder)
    loops.wait()
    loops.wait_again()
    ((logger, level, text),) = caplog.record_tuples
    assert (logger, level) == ("tabletop_envs", logging.WARNING)
    assert str(folder / "cache") in text
    assert "NUMBA_CACHE_DIR" in text
    caplog.clear()
    monkeypatch.setattr(compiling, "PATIENCE_SECONDS", 0.0)
    load(folder).wait()  # from the cache
    assert not caplog.record_tuples
