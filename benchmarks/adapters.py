"""Steps a second through the adapters, beside each stack's own way for PettingZoo environments.

    python -m benchmarks.adapters [STACK …] [--game GAME] [--lanes N …] [--json FILE]

Random legal play with observation, mask, reward and info in the stack's own shape at every step,
without learning. All ways are measured by turns in one process. A step is one that a learner sees:
through an adapter with opponents it includes the random opponents' replies (two plies or more), in
self-play and through a stack's own wrapper it is one ply. Ratios are to the stack's own way. A
stack that is not installed is left out, with a note.

A file `adapters_<stack>.py` has one stack: `works(game, lanes)` makes its works, ours with the
library `ADAPTER`.
"""

from __future__ import annotations

import argparse
import importlib
from importlib.util import find_spec

from benchmarks.measuring import Case, Figure, Work, human, measure, percent, report, show_table
from tabletop_envs import training

# Every stack: the package that it needs, and the extra that brings it.
STACKS = {
    "sb3": ("sb3_contrib", "sb3"),
    "rllib": ("ray.rllib", "rllib"),
    "tianshou": ("tianshou", "tianshou"),
    "torchrl": ("torchrl", "torchrl"),
    "pufferlib": ("pufferlib", "pufferlib"),
    "open_spiel": ("pyspiel", "openspiel"),
    "jax": ("jax", "jax"),
}
LANES = (1, 64, 1024)
ADAPTER = "adapter"


def works_of(stack: str, game: str, lanes: list[int]) -> tuple[dict[Case, Work], str | None]:
    """The works of a stack, or none and why."""
    package, extra = STACKS[stack]
    if find_spec(package.partition(".")[0]) is None:
        return {}, f'{stack} is left out: pip install "tabletop-envs[{extra}]"'
    module = importlib.import_module(f"benchmarks.adapters_{stack}")
    works: dict[Case, Work] = {}
    for count in lanes:
        made: dict[Case, Work] = module.works(game, count)
        # The stack's own way may come again with each number of lanes.
        for case, work in made.items():
            works.setdefault(case, work)
    return works, None


def peer_of(figure: Figure, figures: list[Figure]) -> Figure | None:
    """The stack's own way to compare with, if possible with as many lanes."""
    stack = figure.case.what.partition(",")[0]
    own = [
        one
        for one in figures
        if one.case.library != ADAPTER and one.case.what.partition(",")[0] == stack
    ]
    alike = [one for one in own if one.case.lanes == figure.case.lanes]
    return next(iter(alike or own), None)


def rows_of(figures: list[Figure]) -> list[list[str]]:
    """The table's rows: the case, its speed, and the ratio to the stack's own way."""
    rows = []
    for figure in figures:
        peer = peer_of(figure, figures)
        ratio = f"{figure.ratio_to(peer):.3g}" if peer else "–"
        case = figure.case
        rows.append(
            [
                *(case.what, case.library, case.game, str(case.lanes)),
                *(human(figure.median), ratio, percent(figure.spread)),
            ]
        )
    return rows


def show_figures(figures: list[Figure]) -> None:
    """Print the table of all ways."""
    header = ["stack, play", "way", "game", "lanes", "steps/s", "ratio", "spread"]
    show_table("Steps a second through the adapters", header, rows_of(figures))


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("stacks", nargs="*", metavar="STACK", help=f"{', '.join(STACKS)} (all)")
    parser.add_argument("--game", default="kirche", type=training.game_argument)
    parser.add_argument("--lanes", type=int, nargs="+", default=list(LANES), metavar="N")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a repeat")
    parser.add_argument("--json", metavar="FILE", help="write JSON lines (- for standard output)")
    options = parser.parse_args(arguments)
    for stack in options.stacks:
        if stack not in STACKS:
            parser.error(f"there is no stack {stack!r}: the stacks are {', '.join(STACKS)}")
    if min(options.lanes) < 1 or options.repeats < 1 or options.seconds <= 0:
        parser.error("--lanes, --repeats and --seconds are above zero")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure and show; returns the exit code."""
    options = parse_arguments(arguments)
    works: dict[Case, Work] = {}
    notes = []
    for stack in options.stacks or STACKS:
        made, note = works_of(stack, options.game, options.lanes)
        works |= made
        if note:
            notes.append(note)
    figures = measure(works, options.repeats, options.seconds)
    records = [figure.record() for figure in figures]
    report(options.json, records, lambda: show_figures(figures), notes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
