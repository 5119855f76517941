"""How long the first use of everything takes where nothing has been compiled yet.

    python -m benchmarks.startup [GAME …] [--only USE …] [--against FOLDER] [--cpu] [--json FILE]

Each use runs in a fresh process with an empty cache of compiled code; imports come before. An agent
chooses in an environment that has been stepped: its time is what it takes beyond that. `everything`
is one process that uses all there is, one after the other.

`--against` measures another checkout beside this one, in turn, and adds the ratio of its time to
this one's: above 1 this one is faster. `--cpu` counts the processor's seconds instead of the
clock's, which other programs disturb less.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Case, Figure, human, percent, report, show_table
from benchmarks.starting import OURS, start_once
from tabletop_envs import registry

OTHER = "other checkout"

IMPORTS = """
import json, time
import gymnasium, numba, numpy
import tabletop_envs
from tabletop_envs import agents, evaluation, search, {module} as module
from tabletop_envs.kernels import engine
clock = time.{clock}
def stepped():
    env = module.env()
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    env.last()
    return env
def choose(agent, env):
    agents.make_agent(agent).choose(env, numpy.random.default_rng(1))
"""
# What comes before the clock runs, and what is timed.
USES = {
    "AEC action": ("", "stepped()"),
    "greedy": ("env = stepped()", "choose('greedy', env)"),
    "mcts:100": ("env = stepped()", "choose('mcts:100', env)"),
    "batch step": (
        "",
        """
batch = tabletop_envs.make_batch("{batch_id}", 64, seed=1)
batch.step(batch.sample_actions())
""",
    ),
    "rollout": ("", "tabletop_envs.make_batch('{batch_id}', 64, seed=1).rollout(10)"),
    "everything": (
        "",
        """
env = stepped()
for agent in ("random", "greedy", "mcts:100"):
    choose(agent, env)
evaluation.value(env)
learner = gymnasium.make("{gym_id}")
learner.step(int(learner.reset(seed=1)[1]["action_mask"].argmax()))
learners = gymnasium.make_vec("{gym_id}", num_envs=2)
learners.step(learners.reset(seed=1)[1]["action_mask"].argmax(axis=1))
batch = tabletop_envs.make_batch("{batch_id}", 64, seed=1)
batch.step(batch.sample_actions())
batch.rollout(10)
def network(observations, masks):
    return numpy.zeros(masks.shape, numpy.float32), numpy.zeros(len(masks), numpy.float32)
search.PUCT(batch.game, 64, 8, seed=1).run(batch, network)
engine.perft(numpy.repeat(batch.states[:1], 2), 2)
""",
    ),
}


def program_of(game: str, use: str, cpu: bool) -> str:
    """The program of a process that uses something for the first time."""
    before, timed = USES[use]
    words = {
        "module": registry.module_name(game),
        "clock": "process_time" if cpu else "perf_counter",
        "batch_id": registry.batch_id(game),
        "gym_id": registry.gym_id(game),
    }
    lines = (
        IMPORTS.format(**words),
        before,
        "begin = clock()",
        timed.format(**words),
        "print(json.dumps({'first': clock() - begin}))",
    )
    return "\n".join(lines)


def measure_uses(
    games: list[str], uses: list[str], repeats: int, cpu: bool, against: Path | None
) -> list[Figure]:
    """The seconds of every first use, this checkout's and the other's in turn."""
    sources = {OURS: None} | ({OTHER: against / "src"} if against else {})
    figures = []
    for game in games:
        for use in uses:
            values: dict[str, list[float]] = {library: [] for library in sources}
            for _ in range(repeats):
                for library, source in sources.items():
                    with tempfile.TemporaryDirectory() as cache:
                        program = program_of(game, use, cpu)
                        values[library].append(start_once(program, cache, source)["first"])
            figures += [
                Figure(Case(f"first {use}", library, game), tuple(seconds), "s")
                for library, seconds in values.items()
            ]
    return figures


def show_uses(figures: list[Figure], cpu: bool) -> None:
    """Print the table of all first uses."""
    others = {(one.case.what, one.case.game): one for one in figures if one.case.library == OTHER}
    rows = []
    for figure in figures:
        if figure.case.library == OTHER:
            continue
        row = [figure.case.what, figure.case.game, human(figure.median), percent(figure.spread)]
        other = others.get((figure.case.what, figure.case.game))
        if other:
            row += [human(other.median), f"{other.ratio_to(figure):.2f}"]
        rows.append(row)
    unit = "CPU seconds" if cpu else "seconds"
    header = ["use", "game", unit, "spread", *([OTHER, "ratio"] if others else [])]
    show_table("first use, in fresh processes with an empty cache", header, rows)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.startup", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("games", nargs="*", metavar="GAME", help="games of the library (default: all)")
    add("--only", nargs="+", choices=USES, default=list(USES), help="what to use")
    add("--repeats", type=int, default=3, help="processes for every use (default: 3)")
    add("--cpu", action="store_true", help="count the processor's seconds")
    add("--against", type=Path, metavar="FOLDER", help="another checkout to measure beside")
    add("--json", metavar="FILE", help="all figures as JSON lines; - for the standard output")
    options = parser.parse_args(arguments)
    try:
        options.games = [registry.find_name(game) for game in options.games]
    except ValueError as error:
        parser.error(str(error))
    options.games = options.games or registry.game_names()
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats} must be at least 1")
    if options.against and not (options.against / "src" / OURS).is_dir():
        parser.error(f"--against {options.against} must be a checkout, with a folder src/{OURS}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure, show."""
    options = parse_arguments(arguments)
    figures = measure_uses(
        options.games, options.only, options.repeats, options.cpu, options.against
    )
    report(
        options.json,
        [figure.record() for figure in figures],
        lambda: show_uses(figures, options.cpu),
        [],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
