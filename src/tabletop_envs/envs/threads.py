"""Compiled loops over parts of the lanes, in threads: results do not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

MAX_THREADS = 1024

# A part of the lanes: its first lane, and the next part's.
Part = tuple[int, int]


def cut(lanes: int, count: int) -> list[Part]:
    """The lanes in `count` parts (one if that is less)."""
    count = max(count, 1)
    return list(pairwise(lanes * part // count for part in range(count + 1)))


class LaneThreads:
    """Up to `num_threads` threads, the calling one among them; started when they are first needed."""

    def __init__(self, num_threads: int) -> None:
        self.num_threads = num_threads
        self._pool: ThreadPoolExecutor | None = None

    def run(self, parts: list[Part], loop: Callable[..., Any], *arguments: Any) -> None:
        """Call `loop(*arguments, first, last)` for every part; compiled loops let go of the interpreter's lock."""
        # The calling thread takes the last part itself.
        *others, own = parts
        if others and self._pool is None:
            self._pool = ThreadPoolExecutor(self.num_threads - 1, "tabletop_envs")
        waiting = [
            self._pool.submit(loop, *arguments, *part)  # type: ignore[union-attr]
            for part in others
        ]
        try:
            loop(*arguments, *own)
        finally:
            for future in waiting:
                future.result()

    def close(self) -> None:
        """End the threads; any number of times. They start again when they are needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}
