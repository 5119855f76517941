"""Files: regular ones only, replaced as a whole or not at all, with one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import stat
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

# Where there is no such module (Windows) files are not locked.
fcntl: Any = None
with contextlib.suppress(ImportError):
    fcntl = importlib.import_module("fcntl")

__all__ = ["FileLock", "fault_text", "replacing", "require_regular_file"]

AnyPath = str | os.PathLike[str]


def require_regular_file(path: AnyPath) -> None:
    """OSError for a device, pipe or socket, which might block or never end.

    A file that is not there, and a folder, are no fault here.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it must be a regular file, not a device or pipe", str(path))


def fault_text(error: OSError | ValueError) -> str:
    """What the system says of a file, without its number and the file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextlib.contextmanager
def replacing(path: AnyPath) -> Iterator[Path]:
    """Within `with`, a new file to be written, which replaces `path` at the end.

    After an error it is removed, and an older file at `path` stays.

    Raises:
        BlockingIOError: If somebody holds the lock of the older file.
        OSError: If it is a device or pipe, or cannot be replaced.
    """
    require_regular_file(path)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            _lock(file, path)
    beside = Path(f"{os.fspath(path)}.part")
    beside.unlink(missing_ok=True)
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class FileLock:
    """Keeps other holders of a `FileLock` away from a file, which is made if it is not there.

    It is the system's lock on the file itself. It ends with `close`, when nothing refers to it any
    more, and with the process, however that ends. A file that was made for the lock and stayed
    empty is removed then. Where the file system has no locks, nothing is kept away.

    Raises:
        BlockingIOError: If the file is locked already, in this process or in another.
        OSError: If it is a device or pipe, or cannot be opened.
    """

    def __init__(self, path: AnyPath) -> None:
        file, made = _open_locked(path)
        self._release = weakref.finalize(self, _release, file, os.fspath(path), made, os.getpid())

    def close(self) -> None:
        """Release the lock; any number of times."""
        self._release()


def _open_locked(path: AnyPath) -> tuple[IO[bytes], bool]:
    while True:
        require_regular_file(path)
        made = not os.path.exists(path)
        file = open(path, "ab")  # noqa: SIM115 (closed with the lock)
        try:
            _lock(file, path)
            # A former holder may have removed or replaced the file since it was opened.
            if _is_still(file, path):
                return file, made
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[bytes], path: AnyPath) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = "a tournament is being written to this file already"
        raise BlockingIOError(errno.EWOULDBLOCK, message, os.fspath(path)) from None
    except OSError:  # a file system without locks
        return


def _is_still(file: IO[bytes], path: AnyPath) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _release(file: IO[bytes], path: str, made: bool, process: int) -> None:
    # A forked child has a copy of the lock, but its end must not remove the file.
    if made and process == os.getpid() and _is_still(file, path) and not os.path.getsize(path):
        os.unlink(path)
    file.close()
