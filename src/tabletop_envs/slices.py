"""Long compiled calls in slices: Python handles signals, Ctrl-C among them, only between calls."""

from __future__ import annotations

# About how long a slice takes: short enough for games whose positions suddenly cost fifty times as
# much, long enough for the cost of a call (some ten microseconds) not to count.
SLICE_SECONDS = 0.02


def next_size(size: int, done: int, seconds: float, wanted: float = SLICE_SECONDS) -> int:
    """How much the next slice is to do, after one of up to `size` that did `done` in `seconds`.

    Measured by `time.thread_time`, slices do not shrink on a busy machine. At least 1, at most twice
    as much as before. Results must not depend on it.
    """
    return max(1, min(2 * size, int(done * wanted / max(seconds, 1e-9))))
