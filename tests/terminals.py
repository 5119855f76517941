"""Commands in processes of their own on a terminal, which tests read until a pattern comes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# As `main` is called by the entry point; SIGINT means what it means to a command in the foreground.
MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tabletop_envs.cli import main
main()
"""


class Terminal:
    """A process whose stderr is a terminal of 120 × 40, or with `full` all standard streams."""

    def __init__(self, code: str, words: tuple[str, ...], full: bool) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        # It does not answer when it is asked where its cursor is.
        environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        environment.pop("NO_COLOR", None)
        streams: dict[str, Any] = {"stdout": terminal, "stdin": terminal, "start_new_session": True}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stderr=terminal,
            env={**environment, "COLUMNS": "120"},
            **(streams if full else {"stdout": subprocess.PIPE, "text": True}),
        )
        os.close(terminal)
        self._shown = ""

    def wait_for(self, pattern: str) -> str:
        """Read until the pattern is there; what came since the last one that was waited for."""
        import select

        end = time.monotonic() + 300
        while not (found := re.search(pattern, self._shown)):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            if not ready:
                pytest.fail(f"{pattern!r} did not appear: {self._shown!r}")
            self._shown += os.read(self.master, 4096).decode(errors="replace")
        before, self._shown = self._shown[: found.end()], self._shown[found.end() :]
        return before

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())


@contextmanager
def terminal(*words: str, code: str = MAIN, full: bool = False) -> Iterator[Terminal]:
    """A command on a terminal, which is killed at the end."""
    pytest.importorskip("pty")
    started = Terminal(code, words, full)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()
        os.close(started.master)
