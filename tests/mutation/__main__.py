"""Mutation testing of a game's kernel, from a copy of the sources to the report.

    python -m tests.mutation kirche                        all mutants: hours
    python -m tests.mutation tuerme --sample 150 --seed 1  so many of them, drawn at random

Whatever is done already is kept in build/mutation/<game>: the same command resumes an interrupted
run, and a larger sample adds to a smaller one. After a change of the tests, `--again` tries what
has survived against them; `--fresh` forgets all, as is due after a change of the kernel.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from cosmic_ray.config import load_config, serialize_config
from cosmic_ray.work_db import WorkDB, use_db

from tabletop_envs import registry
from tests.mutation.report import described, report

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).parent / "cosmic-ray.toml"
KERNELS = Path("src/tabletop_envs/kernels")
# Everything that the tests of a kernel need.
COPIED = ("src", "tests", "benchmarks", "pyproject.toml", "README.md")


def files_of(game: str) -> list[str]:
    """The files of a game's kernel, from the repository's root."""
    files = [*(ROOT / KERNELS).glob(f"{game}*.py"), *(ROOT / KERNELS / game).glob("*.py")]
    return sorted(str(path.relative_to(ROOT)) for path in files)


def put_aside(game: str, folder: Path) -> None:
    """Copy what the tests of a kernel need, as it is now, and check that they all pass."""
    shutil.rmtree(folder / "sources", ignore_errors=True)
    for name in COPIED:
        source, target = ROOT / name, folder / "sources" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    unmutated(folder)
    run(folder, sys.executable, "-m", "tests.mutation.check", game)


def prepare(game: str, folder: Path) -> None:
    """Put the sources aside, check that all tests pass, and list the mutants of the game's files."""
    put_aside(game, folder)
    config = load_config(str(CONFIG))
    config["module-path"] = files_of(game)
    config["test-command"] = f"{sys.executable} -m tests.mutation.check {game}"
    (folder / "config.toml").write_text(serialize_config(config), encoding="utf-8")
    run(folder, "cosmic-ray", "init", "../config.toml", "../all.sqlite")
    run(folder, "cr-filter-operators", "../all.sqlite", "../config.toml")


def unmutated(folder: Path) -> None:
    """Copy the sources to where they are mutated: a run that was killed may have left a mutant
    there.
    """
    shutil.rmtree(folder / "copy", ignore_errors=True)
    shutil.copytree(folder / "sources", folder / "copy")


def run(folder: Path, *command: str) -> None:
    """Run a command in the copy of the sources, whose package is the one that is imported."""
    environment = os.environ | {"PYTHONPATH": "src"}
    program = shutil.which(command[0], path=str(Path(sys.executable).parent)) or command[0]
    subprocess.run([program, *command[1:]], cwd=folder / "copy", env=environment, check=True)


def choose(folder: Path, sample: int | None, seed: int) -> int:
    """Put mutants drawn at random (None: all) into the session, where they are not yet; how many
    there are in all.
    """
    with (
        use_db(str(folder / "all.sqlite"), WorkDB.Mode.open) as everything,
        use_db(str(folder / "session.sqlite")) as session,
    ):

        def order(item):
            (mutation,) = item.mutations
            return mutation.module_path, mutation.operator_name, mutation.occurrence

        items = sorted(everything.pending_work_items, key=order)
        random.Random(seed).shuffle(items)
        there = {item.job_id for item in session.work_items}
        session.add_work_items(item for item in items[:sample] if item.job_id not in there)
        return len(items)


def again(game: str, folder: Path) -> None:
    """Take the sources as they are now, whose tests must pass, and forget that mutants without an
    explanation have survived.
    """
    kernel = {file: (folder / "sources" / file).read_bytes() for file in files_of(game)}
    if any((ROOT / file).read_bytes() != code for file, code in kernel.items()):
        sys.exit(f"the kernel of {game} has changed: its mutants are others, and --fresh is due")
    put_aside(game, folder)
    old, new = folder / "session.sqlite", folder / "half.sqlite"
    new.unlink(missing_ok=True)
    with use_db(str(old), WorkDB.Mode.open) as session, use_db(str(new)) as kept:
        kept.add_work_items(session.work_items)
        for item, result in session.completed_work_items:
            if result.is_killed or described(item, result)["why"]:
                kept.set_result(item.job_id, result)
    new.replace(old)


def main() -> int:
    """What the command does; the number of survivors without an explanation is not 0: exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("game", choices=registry.game_names())
    parser.add_argument("--sample", type=int, help="so many mutants instead of all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--fresh", action="store_true", help="forget what was done before")
    parser.add_argument("--again", action="store_true", help="try survivors with today's tests")
    options = parser.parse_args()
    folder = ROOT / "build" / "mutation" / options.game
    if options.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    if not (folder / "all.sqlite").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        prepare(options.game, folder)
    elif options.again:
        again(options.game, folder)
    total = choose(folder, options.sample, options.seed)
    unmutated(folder)
    run(folder, "cosmic-ray", "exec", "../config.toml", "../session.sqlite")
    return report(folder / "session.sqlite", total)


if __name__ == "__main__":
    sys.exit(main())
