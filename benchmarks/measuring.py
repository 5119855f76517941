"""What all benchmarks share: measuring rates in turn, the figures as JSON lines, as a table, and
saved for comparison.

Nothing here prints while it measures. A *work* is a function that plays about as many steps in
every lane as it is told and returns how many actions it has played; all works of a run are measured
in turn, round by round, so that a slow moment of the machine falls on all of them alike.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

Work = Callable[[int], int]
Record = dict[str, Any]

LIBRARIES = (
    "tabletop-envs",
    "numba",
    "numpy",
    "gymnasium",
    "pettingzoo",
    "jax",
    "pgx",
    "open_spiel",
)
MAX_STEPS = 2**40


@dataclass(frozen=True)
class Case:
    """What is measured: `what` is done on which library and game, with how many lanes, threads."""

    what: str
    library: str
    game: str
    lanes: int = 1
    threads: int = 1


@dataclass(frozen=True)
class Figure:
    """A case's results: a number for each repeat, actions a second unless `unit` says otherwise."""

    case: Case
    values: tuple[float, ...]
    unit: str = "actions/s"

    @property
    def median(self) -> float:
        """The middle of the repeats."""
        return statistics.median(self.values)

    @property
    def best(self) -> float:
        """The highest of the repeats: the one that other programs have disturbed least."""
        return max(self.values)

    @property
    def spread(self) -> float:
        """The distance between the quartiles of the repeats as a share of the median; 0.0 for one
        repeat.
        """
        if len(self.values) < 2:
            return 0.0
        lower, _, upper = statistics.quantiles(self.values, n=4, method="inclusive")
        return (upper - lower) / self.median

    def ratio_to(self, other: Figure) -> float:
        """The median ratio to a figure of the same run, repeat by repeat: each pair was measured
        close together.
        """
        pairs = zip(self.values, other.values, strict=True)
        return statistics.median(own / others for own, others in pairs)

    def record(self) -> Record:
        """The figure as plain JSON types."""
        return {
            **asdict(self.case),
            "unit": self.unit,
            "median": self.median,
            "spread": self.spread,
            "values": list(self.values),
        }


def calibrate(work: Work, seconds: float) -> int:
    """Warm `work` up, compiling included, and find how many steps take about `seconds`."""
    work(1)
    steps = 1
    while True:
        start = time.perf_counter()
        work(steps)
        elapsed = time.perf_counter() - start
        if elapsed >= seconds / 4 or steps >= MAX_STEPS:
            return max(1, round(steps * seconds / elapsed))
        steps *= 4 if elapsed < seconds / 16 else 2


def rate(work: Work, steps: int) -> float:
    """Actions a second in one go of `work`."""
    start = time.perf_counter()
    actions = work(steps)
    return actions / (time.perf_counter() - start)


def measure(works: dict[Case, Work], repeats: int, seconds: float) -> list[Figure]:
    """Actions a second of every work: warmed up, then `repeats` rounds of about `seconds` each, all
    works in turn.
    """
    steps = {case: calibrate(work, seconds) for case, work in works.items()}
    values: dict[Case, list[float]] = {case: [] for case in works}
    for _ in range(repeats):
        for case, work in works.items():
            values[case].append(rate(work, steps[case]))
    return [Figure(case, tuple(rates)) for case, rates in values.items()]


def machine() -> Record:
    """The machine and the versions that figures were taken with, as plain JSON types."""
    versions = {}
    for library in LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": processor(),
        "cores": core_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def core_count() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


# Showing


def write_json_lines(path: str, records: Iterable[Record]) -> None:
    """Write one JSON object a line to a file, or to the standard output for `-`."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")


def report(
    path: str | None, records: Iterable[Record], show: Callable[[], None], notes: Sequence[str]
) -> None:
    """What a benchmark ends with: the machine and the records as JSON lines in `path` (None:
    nowhere), tables and notes for people.

    Where the records go to the standard output (`-`), nothing else does.
    """
    if path:
        write_json_lines(path, [{"machine": machine()}, *records])
    if path != "-":
        show()
        for note in notes:
            print(f"\n{note}")


def read_json_lines(path: str) -> list[Record]:
    """The objects of a file with one JSON object a line.

    ValueError, naming file and line, where a line is no object.
    """
    records = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if not isinstance(record, dict):
            raise ValueError(f"{path}, line {number}: not an object")
        records.append(record)
    return records


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: by rich on a terminal where it is installed, as plain text otherwise."""
    if not rows:
        return
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.table import Table
        except ImportError:
            pass
        else:
            table = Table(title=title, title_justify="left")
            for place, name in enumerate(header):
                table.add_column(name, justify="left" if place == 0 else "right")
            for row in rows:
                table.add_row(*row)
            Console().print(table)
            return
    print(f"\n{title}\n")
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def human(number: float) -> str:
    """A number in three digits: `12.3 M`, `456 k`, `7.89`."""
    for limit, sign in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= limit:
            return f"{number / limit:.3g}{sign}" if number < 999.5 * limit else f"{number:.0f}"
    return f"{number:.3g}"


def percent(share: float) -> str:
    """A share as whole percent."""
    return f"{share:.0%}"
