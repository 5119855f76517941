"""The standard streams of the process: any encoding, full disks, closed pipes and streams that are not there."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator

# What stands for signs that an encoding such as ASCII or cp1252 lacks; of one column each where boards are drawn.
_STAND_INS = dict(zip("▲△●○■□◆◇—–−─│·×", "^^oo##**----|.x", strict=True)) | {"…": "...", "±": "+-"}


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(sign, "?") for sign in signs), error.end


codecs.register_error("tabletop_envs.stand_in", _stand_in)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Within `with`, what an encoding cannot hold is replaced, and output that fails ends the process in words.

    SystemExit with code 1 where there is no output, or it takes no more.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
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
        # The end of `| head` is no fault to tell of.
        _silence()
        _fail("" if error.errno == errno.EPIPE else str(error))


def _fail(message: str) -> None:
    if message:
        with contextlib.suppress(OSError):
            print(f"tabletop-envs: {message}", file=sys.stderr, flush=True)
    raise SystemExit(1) from None


def _silence() -> None:
    """What is left in the output's buffer goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
