"""The result of a session: how many mutants were killed, and each that survived, with its
explanation if there is one.

python -m tests.mutation.report build/mutation/kirche/session.sqlite
"""

from __future__ import annotations

import functools
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB, use_db
from scipy.stats import binomtest

# Mutants that are known to survive, and why.
EXPLAINED = Path(__file__).parent / "survivors.toml"


def changes(diff: str) -> tuple[str, str]:
    """The lines that a mutation takes out and puts in."""
    lines = diff.splitlines()
    old, new = (
        "\n".join(
            line[1:].strip()
            for line in lines
            if line.startswith(sign) and not line.startswith(sign * 3)
        )
        for sign in "-+"
    )
    return old, new


def file_of(mutation: Any) -> str:
    """The file that a mutation changes, below `kernels`."""
    return str(mutation.module_path.as_posix()).partition("kernels/")[2]


def described(item: Any, result: Any) -> dict[str, Any]:
    """A mutant: where it is, what it changes, and why it survives, where that is known ("why")."""
    (mutation,) = item.mutations
    old, new = changes(result.diff)
    file, function = file_of(mutation), mutation.definition_name or ""
    return {
        "file": file,
        "line": mutation.start_pos[0],
        "function": function,
        "old": old,
        "new": new,
        "why": explanations().get((file, function, old, new), ""),
    }


def survivors(completed: Any) -> list[dict[str, Any]]:
    """The mutants that all tests passed, in the order of the files."""
    found = [described(item, result) for item, result in completed if not result.is_killed]
    return sorted(found, key=lambda mutant: (mutant["file"], mutant["line"], mutant["new"]))


@functools.cache
def explanations() -> dict[tuple[str, str, str, str], str]:
    """Why a mutant survives, by file, function, old and new line."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["mutant"]
    return {
        (entry["file"], entry["function"], entry["old"], new): entry["why"]
        for entry in entries
        for new in entry["new"]
    }


def report(session: Path, total: int | None = None) -> int:
    """Print the result; 1 if a survivor has no explanation, else 0."""
    with use_db(str(session), WorkDB.Mode.open) as database:
        completed = [
            (item, result)
            for item, result in database.completed_work_items
            if result.test_outcome is not None
        ]
    mutants = Counter(file_of(item.mutations[0]) for item, _ in completed)
    alive = survivors(completed)
    unexplained = [mutant for mutant in alive if not mutant["why"]]
    print("file | mutants | killed | explained | others\n---|---|---|---|---")
    for file, count in sorted(mutants.items()):
        survived = [mutant for mutant in alive if mutant["file"] == file]
        explained = sum(bool(mutant["why"]) for mutant in survived)
        print(
            f"{file} | {count} | {count - len(survived)} | {explained} | {len(survived) - explained}"
        )
    number, killed = len(completed), len(completed) - len(alive)
    drawn = f" of {total}" if total else ""
    for name, base in (
        ("all", number),
        ("all but those explained", number - len(alive) + len(unexplained)),
    ):
        if base:
            low, high = binomtest(killed, base).proportion_ci(method="wilson")
            print(
                f"killed of {name}{drawn if name == 'all' else ''}: {killed}/{base} = {killed / base:.1%}"
                f" (95 % interval {low:.1%} … {high:.1%})"
            )
    for mutant in alive:
        print(f"\n{mutant['file']}:{mutant['line']} {mutant['function']}")
        print("- " + mutant["old"].replace("\n", "\n- "))
        print("+ " + mutant["new"].replace("\n", "\n+ "))
        print(mutant["why"] or "NOT EXPLAINED")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(report(Path(sys.argv[1])))
