"""Locks between processes that share a cache: one compiles a loop, the others wait for it.

A lock only saves time, or keeps a file's writers apart: where there is none (Windows, some network
file systems), nobody waits.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from typing import Any

# Where there is no such module (Windows) nothing is locked.
fcntl: Any = None
with contextlib.suppress(ImportError):
    fcntl = importlib.import_module("fcntl")

# Who holds a lock for longer than this, stopped perhaps, is no longer waited for.
MAX_SECONDS = 300.0
_POLL_SECONDS = 0.02


def _lock(descriptor: int, path: str) -> bool:
    """Whether the lock was got; False once its file is gone, or after too long."""
    end = time.monotonic() + MAX_SECONDS
    while os.path.exists(path) and time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Polling ends with Ctrl-C, and when the holder has removed the file, whoever has
            # inherited the lock meanwhile.
            time.sleep(_POLL_SECONDS)
        except OSError:  # a file system without locks
            return False
        else:
            return True
    return False


@contextlib.contextmanager
def holding(path: str, *, kept: bool = False) -> Iterator[None]:
    """Within `with`, no other process is in a `holding` of the same path.

    Args:
        path: A file, made for the lock and removed at the end; with `kept` a folder that is there.
        kept: Whether `path` stays.
    """
    flags = os.O_RDONLY if kept else os.O_RDWR | os.O_CREAT
    try:
        descriptor = -1 if fcntl is None else os.open(path, flags)
    except OSError:
        descriptor = -1
    locked = False
    try:
        locked = descriptor >= 0 and _lock(descriptor, path)
        yield
    finally:
        if locked and not kept:
            with contextlib.suppress(OSError):
                os.unlink(path)
        if descriptor >= 0:
            os.close(descriptor)
