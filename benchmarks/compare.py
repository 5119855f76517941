"""This library beside its peers: the same work on every one that is installed, in turn, with
ratios.

    python -m benchmarks.compare [LIBRARY …] [--json FILE]

Every library runs in processes of its own, one for each number of threads, held on so many cores
(where the system can do that); the processes take turns, one measurement at a time. The ratio is to
this library's connect four with the same work, lanes and threads, repeat by repeat: above 1 is
faster than it. Kinds of work:

- *batch*: random legal play, new games after the end, observation and mask made at every step, each
  step called from Python;
- *loop*: the same in a compiled loop, as a user's own `@njit` (here) or `jax.jit` (pgx) code has
  it;
- *rollout*: random games without observations and masks (the compiled playouts of this library and
  of OpenSpiel);
- *aec*: the plain loop over a PettingZoo environment; compared with this library's batch of one.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import peers
from benchmarks.measuring import (
    Case,
    Figure,
    Work,
    core_count,
    human,
    measure,
    percent,
    report,
    show_table,
)
from benchmarks.works import OURS

LANES = (1, 64, 1024, 8192)
THREADS = (1, 2)


def hold_on_cores(threads: int) -> None:
    """Keep this process on so many cores; called before a library starts threads of its own."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    if threads == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"


def serve(connection: Connection, threads: int) -> None:
    """Do the works that are asked for, in a process of one library, until None comes."""
    hold_on_cores(threads)
    works: dict[Case, Work] = {}
    while (question := connection.recv()) is not None:
        case, steps = question
        try:
            if case not in works:
                works[case] = peers.make_work(case)
            connection.send(works[case](steps))
        except Exception as error:
            connection.send("".join(traceback.format_exception_only(error)).strip())


class Worker:
    """A process of one library on so many cores."""

    def __init__(self, threads: int) -> None:
        # "spawn": a forked process would inherit threads and settings.
        context: Any = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, threads), daemon=True)
        self._process.start()

    def work(self, case: Case) -> Work:
        """A work that is done over there (question and answer take less than a thousandth of a
        repeat).

        RuntimeError, with what happened there, if it fails.
        """

        def ask(steps: int) -> int:
            try:
                self._connection.send((case, steps))
                answer = self._connection.recv()
            except (EOFError, OSError):
                raise RuntimeError(f"{case}: its process has ended") from None
            if isinstance(answer, str):
                raise RuntimeError(f"{case}: {answer}")
            return int(answer)

        return ask

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self._connection.send(None)
        self._process.join()


def compare(
    libraries: list[str], lanes: list[int], threads: list[int], repeats: int, seconds: float
) -> tuple[list[Figure], list[str]]:
    """The figures of all libraries that are installed, and notes on what was left out."""
    notes = [note for library in libraries if (note := peers.missing(library))]
    cores = core_count()
    workers: list[Worker] = []
    works: dict[Case, Work] = {}
    try:
        for count in threads:
            if count > cores:
                notes.append(f"{count} threads are left out: there are {cores} cores")
                continue
            for library in libraries:
                cases = peers.cases_of(library, count, lanes)
                if cases and not peers.missing(library):
                    worker = Worker(count)
                    workers.append(worker)
                    works |= {case: worker.work(case) for case in cases}
        for case, work in list(works.items()):
            try:
                work(1)
            except RuntimeError as error:
                # One game of one version of a peer is no reason to lose the whole run.
                notes.append(f"left out: {error}")
                del works[case]
        return measure(works, repeats, seconds), notes
    finally:
        for worker in workers:
            worker.close()


def yardstick_of(case: Case) -> Case:
    """This library's connect four at the same work; an AEC loop is compared with a batch of one.

    This library's compiled loop runs in one thread only, and so is compared with loops of any
    number of threads.
    """
    what = "batch" if case.what == "aec" else case.what
    threads = 1 if case.what == "loop" else case.threads
    return Case(what, OURS, "connect_four", case.lanes, threads)


def show_figures(figures: list[Figure]) -> None:
    """Print a table for every kind of work, by lanes and threads."""
    by_case = {figure.case: figure for figure in figures}
    header = ["library: game", "lanes", "threads", "actions/s", "spread", "to our connect four"]
    for what in ("batch", "loop", "rollout", "aec"):
        rows = []
        found = [figure for figure in figures if figure.case.what == what]
        for figure in sorted(found, key=lambda one: (one.case.threads, one.case.lanes)):
            case, yardstick = figure.case, by_case.get(yardstick_of(figure.case))
            counts = [str(case.lanes), str(case.threads)]
            ratio = f"{figure.ratio_to(yardstick):.3g}" if yardstick else "–"
            speed = [human(figure.median), percent(figure.spread), ratio]
            rows.append([f"{case.library}: {case.game}", *counts, *speed])
        show_table(what, header, rows)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.compare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add(
        "libraries",
        nargs="*",
        metavar="LIBRARY",
        help=f"of {', '.join(peers.NEEDS)} (default: all; this library is always measured)",
    )
    add("--lanes", nargs="+", type=int, default=list(LANES), help="batch sizes")
    add("--threads", nargs="+", type=int, default=list(THREADS), help="numbers of threads")
    add("--repeats", type=int, default=7, help="repeats of every measurement (default: 7)")
    add("--seconds", type=float, default=0.3, help="length of a repeat (default: 0.3)")
    add("--json", metavar="FILE", help="all figures as JSON lines; - for the standard output")
    options = parser.parse_args(arguments)
    for library in options.libraries:
        if library not in peers.NEEDS:
            parser.error(f"there is no library {library!r}: there are {', '.join(peers.NEEDS)}")
    chosen = options.libraries or list(peers.NEEDS)
    options.libraries = [library for library in peers.NEEDS if library in (OURS, *chosen)]
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure and show."""
    options = parse_arguments(arguments)
    figures, notes = compare(
        options.libraries, options.lanes, options.threads, options.repeats, options.seconds
    )
    by_case = {figure.case: figure for figure in figures}
    records = []
    for figure in figures:
        yardstick = by_case.get(yardstick_of(figure.case))
        ratio = figure.ratio_to(yardstick) if yardstick else None
        records.append({**figure.record(), "ratio": ratio})
    report(options.json, records, lambda: show_figures(figures), notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
