"""Prints how many mutants of a session of Cosmic Ray were killed, and those that survive without a
reason in survivors.toml; 1 if there are any, else 0.

    python -m tests.mutation.survivors kirche.sqlite

`--again` forgets that these survived, for `cosmic-ray exec` to try them against other tests.
"""

from __future__ import annotations

import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from scipy.stats import binomtest

EXPLAINED = Path(__file__).with_name("survivors.toml")


def reasons() -> dict[tuple[str, str, str, str], str]:
    """Why a mutant survives, by file (below `kernels`), function, old and new lines."""
    return {
        (entry["file"], entry["function"], entry["old"], new): entry["why"]
        for entry in tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["mutant"]
        for new in entry["new"]
    }


def changed(diff: str, sign: str) -> str:
    """The lines that a difference takes out ("-") or puts in ("+")."""
    lines = (line for line in diff.splitlines() if line.startswith(sign))
    return "\n".join(line[1:].strip() for line in lines if not line.startswith(sign * 3))


def main() -> int:
    """The command."""
    parser = ArgumentParser(prog="python -m tests.mutation.survivors", description=__doc__)
    parser.add_argument("session")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    tried = alive = unexplained = 0
    with use_db(options.session, WorkDB.Mode.open) as session:
        everything = session.work_items
        results = dict(session.results)
        for item in everything:
            if item.job_id not in results:
                continue
            tried += 1
            if results[item.job_id].is_killed:
                continue
            alive += 1
            (mutation,) = item.mutations
            file = mutation.module_path.as_posix().partition("kernels/")[2]
            diff = results[item.job_id].diff
            old, new = changed(diff, "-"), changed(diff, "+")
            if (file, mutation.definition_name or "", old, new) not in reasons():
                unexplained += 1
                del results[item.job_id]
                print(f"{file}:{mutation.start_pos[0]} {mutation.definition_name or ''}")
                print("- " + old.replace("\n", "\n- ") + "\n+ " + new.replace("\n", "\n+ ") + "\n")
        if options.again:
            session.clear()
            session.add_work_items(everything)
            for job, result in results.items():
                session.set_result(job, result)
    killed = tried - alive
    print(f"{tried} mutants: {killed} killed, {alive - unexplained} explained, {unexplained} not")
    if tried:
        low, high = binomtest(killed, tried).proportion_ci(method="wilson")
        print(f"killed: {killed / tried:.1%} (95 % interval {low:.1%} to {high:.1%})")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
