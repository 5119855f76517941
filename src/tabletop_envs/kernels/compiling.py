"""Compiles the loops that Python calls: keeps them on disk, and logs where it takes long.

With `NUMBA_DISABLE_JIT=1` nothing is compiled: loops and kernels run as the Python code that they
are, slowly, for debuggers (CONTRIBUTING.md).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from tabletop_envs.kernels import locks
from tabletop_envs.kernels.plain import Record

logger = logging.getLogger("tabletop_envs")

INTERPRETED: bool = bool(config.DISABLE_JIT)
# Whoever waits longer for a loop to be compiled is told so.
PATIENCE_SECONDS = 1.0

# How loops, and what only compiled code calls, are compiled: the fast way, where Numba's inside is
# as expected. Callees go without wrappers, which are for calls from Python.
LOOP: dict[str, Any] = {"no_cfunc_wrapper": True}
CALLEE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
try:
    from tabletop_envs.kernels.pipeline import CalleeCompiler, LoopCompiler
except (ImportError, AttributeError):
    logger.info("this version of Numba is new to the library: it compiles the slow way")
else:
    LOOP["pipeline_class"], CALLEE["pipeline_class"] = LoopCompiler, CalleeCompiler

_NOT_KEPT = (
    "compiling in every process (set NUMBA_CACHE_DIR to a folder that can be written and has room)"
)

# Every loop, and what has been said in this process.
_entries: set[Any] = set()
_said: set[str] = set()


def compile_loop(function: Callable[..., Any]) -> Any:
    """`engine.compiled_loop`."""
    if INTERPRETED:
        return _interpreted_loop(function)
    loop = njit(nogil=True, **LOOP)(function)
    try:
        # What `cache=True` does, with a cache of our own.
        loop._cache = cache = _LoopCache(function)
        loop.compile = cache.releasing(loop.compile)
    except Exception as error:  # No folder can be written; or the disk fails in some other way.
        _warn_once(f"no folder for compiled code can be written ({_brief(error)})", _NOT_KEPT)
    _entries.add(loop)
    return loop


def _interpreted_loop(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def loop(*arguments: Any) -> Any:
        # Generators and bitboards overflow on purpose.
        with np.errstate(all="ignore"):
            return function(*arguments)

    return loop


def record_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A structured dtype whose records have their fields as attributes, in Python, too."""
    return np.dtype((Record, dtype)) if INTERPRETED else dtype


def interpreted_as(plain: Callable[..., Any]) -> Callable[[Any], Any]:
    """Decorates an intrinsic: without compiling, `plain` does in Python what it does."""
    return lambda compiled: plain if INTERPRETED else compiled


# The cache on disk

# The library's packages of compiled code.
PACKAGES = ("kernels", "evaluation", "search")
# The names of kernels, by the type of their records, for messages.
KERNELS: dict[Any, str] = {}
# The files of heuristics outside of them, by the type of their games' records.
SOURCES: dict[Any, str] = {}


def code_digest(*files: str) -> str:
    """A short digest of source: the library's compiled code, and further code by its files.

    As the title of a field it makes a dtype, and so the key of Numba's cache, change with the code.
    Names of files and folders count: what Numba keeps on disk names the modules it came from.

    Args:
        *files: The `__file__` of other modules; code typed into an interpreter has only a name.
    """
    digest = hashlib.blake2b(digest_size=8)
    library = Path(__file__).parents[1]
    own = [path for name in PACKAGES for path in sorted((library / name).rglob("*.py"))]
    for path in (*own, *(Path(file).absolute() for file in files)):
        digest.update("/".join(path.parts[-2:]).encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _warn_once(what: str, remedy: str) -> None:
    if "cache" not in _said:
        _said.add("cache")
        warnings.warn(f"{what}: {remedy}", RuntimeWarning, stacklevel=2)


class _CheckedResult(CompileResultCacheImpl):  # type: ignore[misc]
    """What is kept of a loop, with a digest: damaged code must never run."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        data = dumps(super().reduce(cres))
        return hashlib.blake2b(data).digest(), data

    def rebuild(self, target_context: Any, reduced: tuple[bytes, bytes]) -> Any:
        digest, data = reduced
        if hashlib.blake2b(data).digest() != digest:
            raise pickle.UnpicklingError("the file is damaged")
        return super().rebuild(target_context, pickle.loads(data))


class _LoopCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, but a disk that fails only costs time (numba/numba#10434)."""

    _impl_class = _CheckedResult

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # What is held while something is compiled that other processes wait for.
        self._claim = contextlib.ExitStack()

    def releasing(self, compile_loop: Callable[..., Any]) -> Callable[..., Any]:
        """A dispatcher's `compile` that ends the claim, however it ends."""

        @functools.wraps(compile_loop)
        def compile_and_release(sig: Any) -> Any:
            try:
                return compile_loop(sig)
            finally:
                self._claim.close()

        return compile_and_release

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Numba does not see edits in other files. The library's source and the kernel's are in the
        # type of a game's records, but a heuristic may come later and from elsewhere.
        types = {getattr(argument, "dtype", None) for argument in sig}
        files = [file for record, file in SOURCES.items() if record in types]
        return (*super()._index_key(sig, codegen), code_digest(*files) if files else "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load_anyhow(sig, target_context)
        if found is None:
            # Of processes that want the same, as those of a vector environment, one compiles.
            key = repr(self._index_key(sig, target_context.codegen()))
            name = f"{self._impl.filename_base}.{hashlib.blake2b(key.encode()).hexdigest()[:16]}"
            _waiting.begin(self, _waiting_text(self._py_func, self.cache_path, sig))
            try:
                self._claim.enter_context(
                    locks.holding(os.path.join(self.cache_path, f"{name}.lock"))
                )
            finally:
                _waiting.end(self)
            found = self._load_anyhow(sig, target_context)
        return found

    def _load_anyhow(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # Whatever unpickling a damaged file may raise.
            _warn_once(
                f"compiled code in {self.cache_path} is damaged ({_brief(error)})",
                "it is compiled anew (should this come again, delete that folder, or set "
                "NUMBA_CACHE_DIR to another)",
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._save_anyhow(sig, data)
        except Exception as error:
            _warn_once(f"{self.cache_path} takes no compiled code ({_brief(error)})", _NOT_KEPT)

    def _save_anyhow(self, sig: Any, data: Any) -> None:
        # Numba reads a loop's index and writes it anew: of two that do so at once one entry would
        # be lost.
        with locks.holding(self.cache_path, kept=True):
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # An index that cannot be read is written anew.
                self.flush()
                super().save_overload(sig, data)


# Waiting


class _Waiting(event.Listener):  # type: ignore[misc]
    """Tells, once a process, whoever waits for loops to be compiled."""

    def __init__(self) -> None:
        self._timers: dict[Any, tuple[threading.Timer, float]] = {}
        # How long compiling has taken before.
        self._seconds = 0.0

    def on_start(self, event: Any) -> None:
        loop = event.data["dispatcher"]
        if loop in _entries:
            self.begin(
                loop, _waiting_text(loop.py_func, loop._cache.cache_path, event.data["args"])
            )

    def on_end(self, event: Any) -> None:
        self.end(event.data["dispatcher"])

    def begin(self, what: Any, text: str) -> None:
        """Something begins for which somebody has to wait."""
        if "waiting" not in _said:
            patience = max(PATIENCE_SECONDS - self._seconds, 0.0)
            timer = threading.Timer(patience, tell_waiting, [text])
            timer.daemon = True
            self._timers[what] = timer, time.perf_counter()
            timer.start()

    def end(self, what: Any) -> None:
        """It has ended."""
        timer, begin = self._timers.pop(what, (None, 0.0))
        if timer is not None:
            timer.cancel()
            self._seconds += time.perf_counter() - begin


def _waiting_text(function: Callable[..., Any], folder: str | None, types: Any) -> str:
    # Some arrays come within tuples.
    arrays = (array for one in types for array in getattr(one, "types", (one,)))
    games = (KERNELS.get(getattr(array, "dtype", None)) for array in arrays)
    game = next((f" of {name}" for name in games if name), "")
    kept = (
        f"later processes find them in {folder} (NUMBA_CACHE_DIR names another folder, "
        "`tabletop-envs warm` compiles all ahead)"
        if folder
        else "set NUMBA_CACHE_DIR to a writable folder to keep them for later processes"
    )
    return (
        f"compiling {function.__name__}{game}: a game's loops take some seconds, "
        f"with a search up to a minute; {kept}"
    )


def tell_waiting(text: str) -> None:
    """Log, unless something of the kind has been said, that somebody waits for compiled code."""
    if "waiting" not in _said:
        _said.add("waiting")
        logger.warning(text)


_waiting = _Waiting()
event.register("numba:compile", _waiting)
