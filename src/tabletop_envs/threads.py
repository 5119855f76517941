"""Threads: compiled loops over parts of the lanes, in slices that Ctrl-C can end; one caller at a
time.

Results depend neither on the number of threads nor on slices. Python handles signals, Ctrl-C among
them, only between calls of compiled code: therefore long calls are sliced.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

MAX_THREADS = 1024
# About how long a slice takes: short enough for games whose positions suddenly cost fifty times as
# much, long enough for the cost of a call (some ten microseconds) not to count.
SLICE_SECONDS = 0.02

# A part of the lanes: its first lane, and the next part's.
Part = tuple[int, int]

Self = TypeVar("Self")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cut(lanes: int, count: int) -> list[Part]:
    """The lanes in `count` parts (one if that is less)."""
    count = max(count, 1)
    return list(pairwise(lanes * part // count for part in range(count + 1)))


def next_size(size: int, done: int, seconds: float, wanted: float = SLICE_SECONDS) -> int:
    """How much the next slice is to do, after one of up to `size` that did `done` in `seconds`.

    Measured by `time.thread_time`, slices do not shrink on a busy machine. At least 1, at most
    twice as much as before. Results must not depend on it.
    """
    return max(1, min(2 * size, int(done * wanted / max(seconds, 1e-9))))


class LaneThreads:
    """Up to `num_threads` threads, the calling one among them; started when they are first needed.

    Args:
        num_threads: How many.
        slice_size: How many steps of a lane the first slice has (`run_in_slices`).
    """

    def __init__(self, num_threads: int, slice_size: int = 1000) -> None:
        self.num_threads = num_threads
        self.slice_size = slice_size
        self.stopping = False  # whether loops that run in slices are to end after the present one
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def run(self, parts: list[Part], loop: Callable[..., Any], *arguments: Any) -> None:
        """Call `loop(*arguments, first, last)` for every part; compiled loops let go of the
        interpreter's lock.

        Whatever interrupts it: no thread is at work any more when this has come back.
        """
        self.stopping = False
        if len(parts) == 1:
            loop(*arguments, *parts[0])
            return
        # The calling thread takes the last part itself.
        *others, own = parts
        waiting: list[Future[Any]] = []
        try:
            pool = self._workers()
            waiting += (pool.submit(loop, *arguments, *part) for part in others)
            loop(*arguments, *own)
            for future in waiting:
                future.result()
        except BaseException:
            self.stopping = True
            _wait_for(waiting)
            raise

    def run_in_slices(
        self, parts: list[Part], steps: int, loop: Callable[..., Any], block: int = 1
    ) -> None:
        """Call `loop(first, last, done, count)` until every lane of every part has had all its
        steps.

        A slice is all steps of some lanes, or the steps from `done` on of at most `block` lanes.
        """

        def work(first: int, last: int) -> None:
            while first < last:
                lanes = min(max(self.slice_size // steps, block), last - first)
                done = 0
                while done < steps and not self.stopping:
                    count = min(max(self.slice_size // lanes, 1), steps - done)
                    begin = time.thread_time()
                    loop(first, first + lanes, done, count)
                    seconds = time.thread_time() - begin
                    self.slice_size = next_size(self.slice_size, lanes * count, seconds)
                    done += count
                first += lanes

        self.run(parts, work)

    def _workers(self) -> ThreadPoolExecutor:
        self._forget_threads_of_parent()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.num_threads - 1, "tabletop_envs")
        return self._pool

    def _forget_threads_of_parent(self) -> None:
        # A forked process has a copy of this object, but not the threads.
        if self._process != os.getpid():
            self._pool, self._process = None, os.getpid()

    def close(self) -> None:
        """End the threads; any number of times. They start again when they are needed."""
        self._forget_threads_of_parent()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}


def _wait_for(futures: list[Future[Any]]) -> None:
    """Wait for all, also where Ctrl-C comes once more."""
    while True:
        try:
            wait(futures)
        except KeyboardInterrupt:
            continue
        return


class Turn:
    """The lock of an object that takes one call at a time. Copies have one of their own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


def busy(owner: object, method: str) -> RuntimeError:
    """The error of `one_at_a_time`."""
    return RuntimeError(
        f"{method} of a {type(owner).__name__} in which another call is still running: "
        "it takes one call at a time, so each thread must have its own"
    )


def one_at_a_time(
    method: Callable[Concatenate[Self, Arguments], Result],
) -> Callable[Concatenate[Self, Arguments], Result]:
    """A method that refuses to run while another one runs in the same object (which has a `Turn` as
    `_turn`).

    Compiled loops let go of the interpreter's lock, so two threads could write into the same games
    at once. What is called millions of times has these lines written out: the decorator takes twice
    their time.

    Raises:
        RuntimeError: Where another call is running, in another thread or in what this thread's call
            has called.
    """

    @functools.wraps(method)
    def alone(self: Self, /, *arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        lock = self._turn.lock  # type: ignore[attr-defined]
        if lock.locked():
            raise busy(self, method.__name__)
        # Should another thread have come first just now, this one waits. (To ask `acquire` without
        # waiting would leave a moment in which Ctrl-C could keep the lock locked.)
        with lock:
            return method(self, *arguments, **keywords)

    return alone
