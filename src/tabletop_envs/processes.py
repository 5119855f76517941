"""Processes that work for this one and end with it, however it ends."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from tabletop_envs.kernels import compiling

__all__ = ["process_pool"]


@contextlib.contextmanager
def process_pool(
    count: int, begin: Callable[..., object] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """Within `with`, a pool of `count` new processes.

    At its end they are ended, even within a task. They leave Ctrl-C to this process, which also
    says for them, once, that loops are being compiled.

    Args:
        count: How many processes.
        begin: Called in each of them first (`concurrent.futures.ProcessPoolExecutor`).
        *arguments: Of `begin`; picklable.
    """
    # Forked copies of a process that has threads may hang.
    context = multiprocessing.get_context("spawn")
    # The processes wait for the end of this pipe: they end when it is closed, even within a task.
    until, running = context.Pipe(duplex=False)
    told, telling = context.Pipe(duplex=False)
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    pool = ProcessPoolExecutor(
        count, mp_context=context, initializer=_begin, initargs=(until, telling, begin, arguments)
    )
    try:
        yield pool
    finally:
        running.close()
        pool.shutdown(wait=False, cancel_futures=True)
        until.close()
        telling.close()


def _begin(
    until: Connection,
    telling: Connection,
    begin: Callable[..., object] | None,
    arguments: tuple[Any, ...],
) -> None:
    # The parent handles Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, args=(until,), daemon=True).start()
    compiling.logger.addHandler(_Telling(telling))
    compiling.logger.propagate = False
    if begin is not None:
        begin(*arguments)


def _follow_parent(until: Connection) -> None:
    """End when the parent closes its end of a pipe, or ends itself, however.

    A pool's processes would wait for its next task.
    """
    with contextlib.suppress(EOFError, OSError):
        until.recv()
    os._exit(1)


class _Telling(logging.Handler):
    """Sends messages to the parent process."""

    def __init__(self, telling: Connection) -> None:
        super().__init__()
        self._telling = telling

    def emit(self, record: logging.LogRecord) -> None:
        # Several processes share the pipe: what is short is written at once.
        with contextlib.suppress(OSError):
            self._telling.send_bytes(record.getMessage().encode()[:2000])


def _listen(told: Connection) -> None:
    with contextlib.suppress(EOFError, OSError), told:
        while True:
            compiling.tell_waiting(told.recv_bytes().decode(errors="replace"))
