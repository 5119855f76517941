"""How many actions a second this library plays, and how long it takes to start.

    python -m benchmarks.throughput [GAME …] [--json FILE] [--save FILE | --against FILE]

Four things are measured, each warmed up, in several repeats, all in turn:

- *rollout*: random games without leaving compiled code (`BatchEnv.rollout`);
- *batch*: `sample_actions` and `step`, so that observation, mask and choice are made at every step;
- *aec*: a plain loop over a PettingZoo environment, beside the same loop on PettingZoo's connect
  four;
- *start*: in fresh processes, imports and the first action, with an empty and a filled cache of
  compiled code.

`--save` keeps the figures as ratios to a yardstick of the same run, `--against` compares with them
and exits with 1 where a figure is worse by more than the tolerance: ratios travel better than times
from one machine, or one hour, to another. The yardsticks: for a game, connect four
(`connect_four.py`) doing the same; for connect four itself, a loop of plain arithmetic, lest a
slower engine hide behind a slower yardstick; for an AEC loop, PettingZoo's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks import starting
from benchmarks.measuring import (
    Case,
    Figure,
    Record,
    Work,
    human,
    machine,
    measure,
    percent,
    read_json_lines,
    report,
    show_table,
    write_json_lines,
)
from benchmarks.works import (
    OURS,
    aec_work,
    arithmetic_work,
    batch_work,
    make_aec,
    make_lanes,
    rollout_work,
)
from tabletop_envs import registry

YARDSTICK = "connect_four"
LANES = (1, 64, 1024, 8192)
THREADS = (1, 2)
ARITHMETIC = Case("arithmetic", "numba", "none")
PEER_AEC = Case("aec", "pettingzoo", YARDSTICK)
# What looks worse is measured again so many times, and is a regression if it is worse every time.
CONFIRMATIONS = 2
BENCHMARKS = ("rollout", "batch", "aec", "start")


def batch_works(
    what: str, games: list[str], lanes: list[int], threads: list[int]
) -> dict[Case, Work]:
    """The works of `what` ("rollout" or "batch"); not more threads than lanes."""
    make_work: Callable[[Any], Work] = rollout_work if what == "rollout" else batch_work
    works = {}
    for count in lanes:
        for workers in threads:
            if workers > count:
                continue
            for game in games:
                batch = make_lanes(game, count, num_threads=workers)
                works[Case(what, OURS, game, count, workers)] = make_work(batch)
    return works


def aec_works(games: list[str]) -> tuple[dict[Case, Work], str | None]:
    """The AEC loops of the games and of PettingZoo's connect four, and why the latter is missing
    (or None).
    """
    works = {Case("aec", OURS, game): aec_work(make_aec(game)) for game in games}
    if find_spec("pygame") is None:
        return works, "PettingZoo's connect four is left out: it needs pygame (pip install pygame)"
    from pettingzoo.classic import connect_four_v3

    works[PEER_AEC] = aec_work(connect_four_v3.env())
    return works, None


def measure_throughput(
    games: list[str],
    whats: list[str],
    lanes: list[int],
    threads: list[int],
    repeats: int,
    seconds: float,
) -> tuple[list[Figure], list[str]]:
    """All figures but the starts', the yardsticks' among them, and notes on what was left out."""
    works: dict[Case, Work] = {ARITHMETIC: arithmetic_work()}
    notes = []
    for what in ("rollout", "batch"):
        if what in whats:
            works |= batch_works(what, [YARDSTICK, *games], lanes, threads)
    if "aec" in whats:
        loops, note = aec_works(games)
        works |= loops
        notes += [note] if note else []
    return measure(works, repeats, seconds), notes


# Ratios and regressions


def yardstick_of(case: Case) -> Case | None:
    """The case of the same run that a case is compared with; None for a yardstick that stands
    alone.
    """
    if case.what == "aec":
        return None if case == PEER_AEC else PEER_AEC
    if case == ARITHMETIC:
        return None
    if case.game == YARDSTICK:
        return ARITHMETIC
    return Case(case.what, case.library, YARDSTICK, case.lanes, case.threads)


def key_of(case: Case) -> str:
    """A case's name in a saved file and in tables."""
    return f"{case.what} {case.game} lanes={case.lanes} threads={case.threads}"


def ratios_of(figures: list[Figure]) -> dict[str, float]:
    """Every figure's ratio to its yardstick, where that was measured, by the case's name."""
    by_case = {figure.case: figure for figure in figures}
    ratios = {}
    for figure in figures:
        yardstick = yardstick_of(figure.case)
        if yardstick in by_case:
            # Of the best repeats: medians follow what else the machine does.
            ratios[key_of(figure.case)] = figure.best / by_case[yardstick].best
    return ratios


def save_ratios(path: str, figures: list[Figure]) -> None:
    """Keep the ratios for later comparison, one JSON object a line, with their conditions."""
    lines: list[Record] = [{"machine": machine()}]
    lines += [{"figure": name, "ratio": ratio} for name, ratio in ratios_of(figures).items()]
    write_json_lines(path, lines)


def read_ratios(path: str) -> dict[str, float]:
    """What `save_ratios` has written.

    ValueError where a line of the file is something else, OSError where it cannot be read.
    """
    ratios = {}
    for record in read_json_lines(path):
        if "machine" in record:
            continue
        if not isinstance(record.get("ratio"), float) or "figure" not in record:
            raise ValueError(f"{path}: {record!r} is no saved ratio")
        ratios[record["figure"]] = record["ratio"]
    return ratios


def compare_ratios(
    saved: dict[str, float], figures: list[Figure]
) -> list[tuple[str, float, float]]:
    """Name, saved and present ratio of every figure that is in both."""
    return [
        (name, saved[name], ratio) for name, ratio in ratios_of(figures).items() if name in saved
    ]


def is_regression(before: float, now: float, tolerance: float) -> bool:
    """Whether a ratio fell by more than `tolerance` (0.15: to less than 85%)."""
    return now < before * (1 - tolerance)


def worse_among(comparison: list[tuple[str, float, float]], tolerance: float) -> set[str]:
    """The names of the figures that are regressions."""
    return {name for name, before, now in comparison if is_regression(before, now, tolerance)}


# The command


def show_figures(figures: list[Figure]) -> None:
    """Print the tables of all throughputs."""
    by_case = {figure.case: figure for figure in figures}
    for what in ("rollout", "batch"):
        rows = []
        for case, figure in by_case.items():
            if case.what != what:
                continue
            ratio = figure.ratio_to(by_case[Case(what, OURS, YARDSTICK, case.lanes, case.threads)])
            counts = [str(case.lanes), str(case.threads)]
            speed = [human(figure.median), percent(figure.spread), f"{ratio:.2f}"]
            rows.append([case.game, *counts, *speed])
        header = ["game", "lanes", "threads", "actions/s", "spread", "to connect four"]
        show_table(f"{what}, {WHAT_IT_IS[what]}", header, rows)
    peer = by_case.get(PEER_AEC)
    rows = [
        [
            f"{case.library}: {case.game}",
            human(figure.median),
            percent(figure.spread),
            f"{figure.ratio_to(peer):.2f}" if peer else "–",
        ]
        for case, figure in by_case.items()
        if case.what == "aec"
    ]
    show_table("aec, a plain loop", ["environment", "actions/s", "spread", "to PettingZoo"], rows)


WHAT_IT_IS = {
    "rollout": "random games in compiled code",
    "batch": "observation, mask and choice at every step",
}


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.throughput", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add(
        "games", nargs="*", metavar="GAME", help="names, or file.py:NAME (default: all)"
    )
    add("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS), help="what to measure")
    add("--lanes", nargs="+", type=int, default=list(LANES), help="batch sizes")
    add("--threads", nargs="+", type=int, default=list(THREADS), help="numbers of threads")
    add("--repeats", type=int, default=7, help="repeats of every measurement (default: 7)")
    add("--seconds", type=float, default=0.3, help="length of a repeat (default: 0.3)")
    add("--cold-repeats", type=int, default=3, help="starts with an empty cache (default: 3)")
    add("--json", metavar="FILE", help="all figures as JSON lines; - for the standard output")
    add("--save", metavar="FILE", help="keep the ratios to the yardsticks")
    add("--against", metavar="FILE", help="compare with kept ratios; exits with 1 if any is worse")
    add(
        "--tolerance", type=float, default=0.15, help="how much worse is still well (default: 0.15)"
    )
    options = parser.parse_args(arguments)
    try:
        options.games = [registry.import_game(game).name for game in options.games]
        # Before anything is measured: a missing file is no news to wait minutes for.
        options.saved = read_ratios(options.against) if options.against else {}
    except (ValueError, OSError) as error:
        parser.error(str(error))
    options.games = options.games or registry.game_names()
    return options


def measure_all(options: argparse.Namespace) -> tuple[list[Figure], list[str]]:
    """All throughputs that the command line asks for."""
    return measure_throughput(
        options.games,
        options.only,
        options.lanes,
        options.threads,
        options.repeats,
        options.seconds,
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, save, compare; 1 if a figure has become worse, 2 if none can be compared, else
    0.
    """
    options = parse_arguments(arguments)
    figures, notes = measure_all(options)
    starts = []
    if "start" in options.only:
        starts = starting.measure_starts(options.games, options.repeats, options.cold_repeats)

    def show() -> None:
        show_figures(figures)
        starting.show_starts(starts)

    report(options.json, [figure.record() for figure in (*figures, *starts)], show, notes)
    if options.save:
        save_ratios(options.save, figures)
    if not options.against:
        return 0
    comparison = compare_ratios(options.saved, figures)
    if not comparison:
        print(f"{options.against} has no figure in common with this run", file=sys.stderr)
        return 2
    worse = worse_among(comparison, options.tolerance)
    for _ in range(CONFIRMATIONS):
        if worse:
            again = compare_ratios(options.saved, measure_all(options)[0])
            worse &= worse_among(again, options.tolerance)
    rows = [
        [name, f"{before:.3g}", f"{now:.3g}", f"{now / before - 1:+.0%}", "worse" * (name in worse)]
        for name, before, now in comparison
    ]
    if options.json != "-":
        header = ["figure, as a ratio to its yardstick", "saved", "now", "change", ""]
        show_table(f"Against {options.against}", header, rows)
    for name in sorted(worse):
        print(f"regression: {name}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
