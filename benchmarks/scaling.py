"""What a step costs against the number of lanes, the number of threads, and the length of the
games.

    python -m benchmarks.scaling [GAME …] [--json FILE] [--plot FILE.svg]

A step is one action in one lane: `sample_actions` and `step`, so that observation, mask and choice
    are made. The
length of games is set by their option `max_plies`: random games of a small one are all opening.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from benchmarks.connect_four_game import GAME as CONNECT_FOUR
from benchmarks.measuring import (
    Case,
    Figure,
    Record,
    Work,
    core_count,
    measure,
    percent,
    report,
    show_table,
)
from benchmarks.works import OURS, batch_work, find_game, make_lanes
from tabletop_envs import registry

LANES = tuple(4**power for power in range(9))  # 1 … 65,536
THREAD_LANES = 32_768
LENGTH_LANES = 1024
# Shares of a game's own max_plies.
LENGTHS = (0.05, 0.1, 0.25, 0.5, 1.0)
AXES = {
    "lanes": "lanes (one thread)",
    "threads": f"threads ({THREAD_LANES:,} lanes)",
    "max_plies": f"max_plies ({LENGTH_LANES:,} lanes, one thread)",
}


def default_max_plies(game: str) -> int:
    """A game's own max_plies."""
    return int(find_game(game).parse_options({})["max_plies"])


def works_along(axis: str, game: str, largest: int) -> dict[int, tuple[Case, Work]]:
    """The case and the work of every place on an axis; batches of more than `largest` lanes are
    left out.
    """
    works = {}
    if axis == "lanes":
        for lanes in LANES:
            if lanes <= largest:
                works[lanes] = (Case(axis, OURS, game, lanes), batch_work(make_lanes(game, lanes)))
    elif axis == "threads":
        lanes = min(THREAD_LANES, largest)
        for threads in range(1, core_count() + 1):
            batch = make_lanes(game, lanes, num_threads=threads)
            works[threads] = (Case(axis, OURS, game, lanes, threads), batch_work(batch))
    else:
        lanes = min(LENGTH_LANES, largest)
        for share in LENGTHS:
            plies = max(1, round(share * default_max_plies(game)))
            batch = make_lanes(game, lanes, max_plies=plies)
            case = Case(f"{axis}={plies}", OURS, game, lanes)
            works[plies] = (case, batch_work(batch))
    return works


def measure_scaling(
    games: list[str], axes: list[str], largest: int, repeats: int, seconds: float
) -> list[tuple[str, int, Figure]]:
    """Axis, place on it and figure of everything; one axis of one game at a time, for the memory's
    sake.
    """
    points = []
    for axis in axes:
        for game in games:
            works = works_along(axis, game, largest)
            figures = measure(dict(works.values()), repeats, seconds)
            points += [(axis, place, figure) for place, figure in zip(works, figures, strict=True)]
    return points


def nanoseconds(figure: Figure) -> float:
    """What a step costs."""
    return 1e9 / figure.median


def records_of(points: list[tuple[str, int, Figure]]) -> list[Record]:
    """The points as plain JSON types."""
    return [
        {"axis": axis, "place": place, **figure.record(), "nanoseconds": nanoseconds(figure)}
        for axis, place, figure in points
    ]


def show_points(points: list[tuple[str, int, Figure]]) -> None:
    """Print a table for every axis."""
    for axis, title in AXES.items():
        rows = [
            [figure.case.game, f"{place:,}", f"{nanoseconds(figure):,.0f}", percent(figure.spread)]
            for where, place, figure in points
            if where == axis
        ]
        show_table(f"cost a step against {title}", ["game", axis, "ns a step", "spread"], rows)


def plot_points(points: list[tuple[str, int, Figure]], path: str) -> None:
    """Draw the points, one panel an axis, into a file whose ending says its kind (.svg, .png,
    .pdf).

    ModuleNotFoundError, saying what to install, without matplotlib.
    """
    pyplot = load_pyplot()
    axes = [axis for axis in AXES if any(where == axis for where, _, _ in points)]
    drawing, panels = pyplot.subplots(1, len(axes), figsize=(4.2 * len(axes), 3.6), squeeze=False)
    for axis, panel in zip(axes, panels[0], strict=True):
        for game in dict.fromkeys(figure.case.game for _, _, figure in points):
            line = [(p, nanoseconds(f)) for a, p, f in points if a == axis and f.case.game == game]
            panel.plot(*zip(*sorted(line), strict=True), marker="o", label=game.replace("_", " "))
        panel.set_xlabel(AXES[axis])
        panel.set_yscale("log")
        if axis == "threads":
            panel.set_xticks(sorted({place for where, place, _ in points if where == axis}))
        else:
            panel.set_xscale("log")
    panels[0][0].set_ylabel("nanoseconds a step")
    panels[0][-1].legend()
    drawing.tight_layout()
    # No date and no random ids: a file drawn anew from the same figures is the same.
    metadata: dict[str, Any] = {"Date": None} if Path(path).suffix == ".svg" else {}
    with pyplot.rc_context({"svg.hashsalt": "tabletop_envs"}):
        drawing.savefig(path, metadata=metadata)


def load_pyplot() -> Any:
    """Matplotlib's pyplot, on a backend that needs no display."""
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "--plot needs matplotlib: pip install 'tabletop-envs[bench]'"
        ) from None
    matplotlib.use("agg")
    return importlib.import_module("matplotlib.pyplot")


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.scaling", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("games", nargs="*", metavar="GAME", help="games of the library (default: all)")
    add("--axes", nargs="+", choices=list(AXES), default=list(AXES), help="what to vary")
    add("--largest", type=int, default=LANES[-1], help="the largest batch (default: 65536)")
    add("--repeats", type=int, default=7, help="repeats of every measurement (default: 7)")
    add("--seconds", type=float, default=0.3, help="length of a repeat (default: 0.3)")
    add("--json", metavar="FILE", help="all points as JSON lines; - for the standard output")
    add("--plot", metavar="FILE", help="a drawing of them (needs matplotlib)")
    options = parser.parse_args(arguments)
    try:
        options.games = [registry.import_game(game).name for game in options.games]
    except ValueError as error:
        parser.error(str(error))
    options.games = [CONNECT_FOUR.name, *(options.games or registry.game_names())]
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, draw; 2 where the drawing cannot be made, before anything is measured."""
    options = parse_arguments(arguments)
    if options.plot:
        try:
            load_pyplot()
        except ModuleNotFoundError as error:
            print(error, file=sys.stderr)
            return 2
    points = measure_scaling(
        options.games, options.axes, options.largest, options.repeats, options.seconds
    )
    report(options.json, records_of(points), lambda: show_points(points), ())
    if options.plot:
        plot_points(points, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
