"""One writer a file: the system's lock on the file itself, which ends with the process."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import stat
import weakref
from typing import IO, Any

# Where there is no such module (Windows) files are not locked.
fcntl: Any = None
with contextlib.suppress(ImportError):
    fcntl = importlib.import_module("fcntl")

__all__ = ["FileLock", "refuse_if_locked"]


class FileLock:
    """Keeps other holders of a `FileLock` away from a file, which is made if it is not there.

    Released by `close`, when nothing refers to it any more, and when the process ends, however it
    ends. A file that was made for the lock and stayed empty is removed then. Where the file system
    has no locks, nothing is kept away.

    Raises:
        BlockingIOError: If the file is locked already, in this process or in another.
        ValueError: If it is no regular file.
        OSError: If it cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file, made = _open_locked(path)
        self._release = weakref.finalize(self, _release, file, os.fspath(path), made, os.getpid())

    def close(self) -> None:
        """Release the lock; any number of times."""
        self._release()


def refuse_if_locked(path: str | os.PathLike[str]) -> None:
    """BlockingIOError if somebody holds the lock of a file; a file that is not there is free."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            _lock(file, path)


def _open_locked(path: str | os.PathLike[str]) -> tuple[IO[bytes], bool]:
    while True:
        made = not os.path.exists(path)
        if not made and not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            # A pipe would wait for its reader, a device keep nothing.
            raise ValueError(f"{os.fspath(path)} must be a regular file")
        file = open(path, "ab")  # noqa: SIM115 (closed with the lock)
        try:
            _lock(file, path)
            # Whoever held it before may have removed or replaced the file since it was opened.
            if _is_still(file, path):
                return file, made
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[bytes], path: str | os.PathLike[str]) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = "a tournament is being written to this file already"
        raise BlockingIOError(errno.EWOULDBLOCK, message, os.fspath(path)) from None
    except OSError:  # a file system without locks
        return


def _is_still(file: IO[bytes], path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _release(file: Any, path: str, made: bool, process: int) -> None:
    # A forked child has a copy of the lock, but not its business.
    if made and process == os.getpid() and _is_still(file, path) and not os.path.getsize(path):
        os.unlink(path)
    file.close()
