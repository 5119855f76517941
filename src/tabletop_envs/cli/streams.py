"""The standard streams of the process: any encoding, full disks, closed pipes, missing streams."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator

# Stand-ins for characters that an encoding such as ASCII or cp1252 lacks. Those of boards are one
# column wide.
_STAND_INS = dict(zip("▲△●○■□◆◇—–−─│·×", "^^oo##**----|.x", strict=True)) | {"…": "...", "±": "+-"}


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(sign, "?") for sign in signs), error.end


codecs.register_error("tabletop_envs.stand_in", _stand_in)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Within `with`, replace what an encoding lacks, and end with a message if output fails.

    SystemExit with code 1 where there is no output, or it takes no more.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the end)
    if sys.stdout is None:
        _fail("there is no standard output")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="tabletop_envs.stand_in")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    try:
        try:
            yield
        finally:
            # Not at the interpreter's exit, which would print a traceback and forget the exit code.
            sys.stdout.flush()
    except OSError as error:
        # The end of `| head` is no error to print.
        _silence()
        _fail("" if error.errno == errno.EPIPE else str(error))


def _fail(message: str) -> None:
    if message:
        with contextlib.suppress(OSError):
            print(f"tabletop-envs: {message}", file=sys.stderr, flush=True)
    raise SystemExit(1) from None


def _silence() -> None:
    """Discard what is left in the output's buffer."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
