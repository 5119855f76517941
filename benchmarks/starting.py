"""How long it takes from nothing to the first action, in fresh processes.

Each process tells the times of its own stages. The cache of compiled code is a directory of its
own: *cold* it is empty, *warm* a process before has filled it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Case, Figure, human, percent, show_table
from tabletop_envs import registry

OURS = "tabletop_envs"
TOO_LONG = 600

# The stages in their order; the interpreter's own start is not in them.
PROGRAM = """
import json, time
times, begin = {{}}, time.perf_counter()
def stage(name):
    global begin
    times[name] = time.perf_counter() - begin
    begin = time.perf_counter()
import numpy, gymnasium, pettingzoo
stage("dependencies")
import tabletop_envs
stage("package")
import numba
stage("numba")
{first}
stage("first")
print(json.dumps(times))
"""
FIRST_AEC = """
from tabletop_envs import {module}
env = {module}.env()
env.reset(seed=1)
observation = env.last()[0]
env.step(int(observation["action_mask"].argmax()))
env.last()
"""
FIRST_BATCH = """
batch = tabletop_envs.make_batch("{batch_id}", 1024, seed=1)
batch.step(batch.sample_actions())
"""
STAGES = {
    "dependencies": "import of numpy, gymnasium, pettingzoo",
    "package": "import of tabletop_envs, after them",
    "numba": "import of numba",
}


def start_once(program: str, cache: str, source: Path | None = None) -> dict[str, float]:
    """The seconds of every stage of a fresh process that compiles into `cache`.

    `source` is the folder with the package of another checkout.

    RuntimeError, with what the process said, if it fails.
    """
    # Where this process has found the package, for a checkout that is not installed.
    source = source or Path(sys.modules["tabletop_envs"].__file__ or "").parents[1]
    paths = [str(source.absolute())]
    paths += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=TOO_LONG,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a fresh process failed:\n{done.stderr}")
    times: dict[str, float] = json.loads(done.stdout)
    return times


def measure_starts(games: list[str], repeats: int, cold_repeats: int) -> list[Figure]:
    """The imports and, for every game, the first AEC action and the first step of a batch of 1,024,
    in seconds.

    Cold starts take many seconds each: they have repeats of their own.
    """
    figures: list[Figure] = []
    imports: dict[str, list[float]] = {stage: [] for stage in STAGES}
    for game in games:
        words = {"module": registry.module_name(game), "batch_id": registry.batch_id(game)}
        for what, first in (("aec", FIRST_AEC), ("batch", FIRST_BATCH)):
            program = PROGRAM.format(first=first.format(**words))
            cold, warm = [], []
            for turn in range(cold_repeats):
                with tempfile.TemporaryDirectory() as cache:
                    cold.append(start_once(program, cache)["first"])
                    if turn < cold_repeats - 1:
                        continue
                    for _ in range(repeats):
                        times = start_once(program, cache)
                        warm.append(times["first"])
                        for stage in STAGES:
                            imports[stage].append(times[stage])
            for name, values in (("cold", cold), ("warm", warm)):
                case = Case(f"first {what} {name}", OURS, game, 1024 if what == "batch" else 1)
                figures.append(Figure(case, tuple(values), "s"))
    stages = [
        Figure(Case(f"import {stage}", OURS, "none"), tuple(values), "s")
        for stage, values in imports.items()
        if values
    ]
    return stages + figures


def show_starts(figures: list[Figure]) -> None:
    """Print the tables of all start times."""
    header = ["stage", "game", "seconds", "spread"]
    rows = []
    for figure in figures:
        stage = figure.case.what.removeprefix("import ")
        name = STAGES.get(
            stage, figure.case.what.replace("aec", "AEC action").replace("batch", "batch step")
        )
        game = "" if figure.case.game == "none" else figure.case.game
        rows.append([name, game, human(figure.median), percent(figure.spread)])
    show_table("start, in fresh processes (cold: empty cache, warm: filled)", header, rows)
