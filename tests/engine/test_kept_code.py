"""The cache on disk may fail in every way: loops are compiled then, and one warning says so."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from numba import config, typeof
from numba.core import caching, errors

from tabletop_envs import registry
from tabletop_envs.kernels import compiling, locks

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


# Several processes


def test_what_another_process_has_compiled_meanwhile_is_loaded(folder, monkeypatch):
    holding, asked = locks.holding, []

    @contextlib.contextmanager
    def hold(path, *, kept=False):
        if not kept and not asked:
            asked.append(path)
            # As a process that had the lock before.
            assert use(folder) == (0, [])
        with holding(path, kept=kept):
            yield

    loops = load(folder)
    monkeypatch.setattr(locks, "holding", hold)
    assert loops.double(4) == 8
    assert sum(loops.double.stats.cache_hits.values()) == 1
    assert asked[0].startswith(str(folder / "cache"))
    assert not list(folder.rglob("*.lock"))


def test_a_loop_that_cannot_be_compiled_lets_go_of_its_lock(folder):
    loops = load(folder)
    with pytest.raises(errors.TypingError):
        loops.double(None)
    assert not list(folder.rglob("*.lock"))
    assert loops.double(4) == 8


def test_the_index_of_a_loop_has_one_writer_at_a_time(folder, monkeypatch):
    save, held = caching.IndexDataCacheFile.save, []

    def look(self, key, data):
        with open_folder(self._cache_path) as descriptor:
            with pytest.raises(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(descriptor)
        save(self, key, data)

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", look)
    assert use(folder) == (0, [])
    assert len(held) == 3
    with open_folder(*{file.parent for file in files(folder, "nbi")}) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def open_folder(path):
    """A folder's descriptor."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def test_locks_are_waited_for(tmp_path):
    path, order = str(tmp_path / "lock"), []

    def follow():
        with locks.holding(path):
            order.append("second")

    with locks.holding(path):
        thread = threading.Thread(target=follow)
        thread.start()
        order.append("first")
    thread.join(300)
    assert order == ["first", "second"]
    assert not os.path.exists(path)


def test_locks_that_are_held_too_long_are_not_waited_for(tmp_path, monkeypatch):
    path = str(tmp_path / "lock")
    monkeypatch.setattr(locks, "MAX_SECONDS", 0.0)
    with locks.holding(path), locks.holding(path):
        # It is not the inner one's to remove.
        pass
    monkeypatch.setattr(locks, "MAX_SECONDS", 300.0)
    with locks.holding(path):
        monkeypatch.setattr(locks, "MAX_SECONDS", 0.0)
        with locks.holding(path):
            pass
        assert os.path.exists(path)


@pytest.mark.parametrize("fault", ["no module", "no locks", "no folder"])
def test_without_locks_nobody_waits(tmp_path, monkeypatch, fault):
    path = str(tmp_path / "lock")
    if fault == "no module":
        monkeypatch.setattr(locks, "fcntl", None)
    elif fault == "no locks":

        def refuse(*_):
            raise OSError(errno.ENOLCK, "no locks")

        monkeypatch.setattr(locks.fcntl, "flock", refuse)
    else:
        path = str(tmp_path / "nowhere" / "lock")
    with locks.holding(path), locks.holding(path):
        pass


# Waiting

SLOW = """
import time
from numba.extending import overload
from tabletop_envs.kernels import compiling
from tabletop_envs.kernels.engine import compiled_loop

SECONDS = 300.0

def nothing():
    pass

@overload(nothing)
def _nothing():
    end = time.monotonic() + SECONDS
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
    assert "compiling wait" in text
    assert (logger, level) == ("tabletop_envs", logging.WARNING)
    assert str(folder / "cache") in text
    assert "NUMBA_CACHE_DIR" in text
    caplog.clear()
    monkeypatch.setattr(compiling, "PATIENCE_SECONDS", 0.0)
    load(folder).wait()  # from the cache
    assert not caplog.record_tuples


def test_many_short_waits_are_a_long_one(folder, monkeypatch, caplog):
    monkeypatch.setattr(compiling, "PATIENCE_SECONDS", 1000.0)
    monkeypatch.setattr(compiling._waiting, "_seconds", 0.0)
    (folder / "loops.py").write_text(SLOW)
    loops = load(folder)
    loops.SECONDS = 0.05
    loops.wait()
    assert not caplog.record_tuples
    loops.SECONDS = 300.0
    waited = compiling._waiting._seconds
    assert waited > 0.0
    # What is left of the patience is less than nothing.
    monkeypatch.setattr(compiling, "PATIENCE_SECONDS", waited)
    loops.wait_again()
    assert "compiling wait_again" in caplog.text


@pytest.mark.parametrize("name", registry.game_names())
def test_the_message_names_the_game(name):
    states = np.zeros(1, registry.get_game(name).kernel.state)
    text = compiling._waiting_text(use, "a folder", [typeof(1), typeof((states, 1.5))])
    assert f"compiling use of {name}:" in text
    assert "tabletop-envs warm" in text


def test_a_plain_program_shows_the_message(tmp_path):
    code = (
        "from tabletop_envs.kernels import compiling; compiling.PATIENCE_SECONDS = 0.0; "
        "from tabletop_envs import kirche_v0; env = kirche_v0.env(); env.reset(seed=1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "of kirche" in line
    assert str(tmp_path) in line
