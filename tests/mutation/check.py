"""What decides over a mutant: the tests of one game's kernel, the quickest first, until one fails.

python -m tests.mutation.check kirche
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

# A run of all tests takes a minute at most; a mutant may make a loop endless.
PROCESSOR_SECONDS = 150
# The tests of the reference alone see nothing of a kernel.
WITHOUT_REFERENCE = "not (reference and not agree)"
# What compiles least comes first. In files of all games, the tests whose names have the game in
# them are picked.
STAGES = (
    ["tests/engine/test_kernels_alone.py"],
    [
        "tests/test_{game}_positions.py",
        "tests/rules/test_lockstep.py",
        "tests/rules/test_playthroughs.py",
        "tests/test_{game}_*rules*.py",
    ],
    [
        "tests/test_{game}_environment*.py",
        "tests/engine/test_engine.py",
        "tests/envs/test_environments.py",
        "tests/testing/test_kernel.py",
    ],
)


def files(patterns: list[str], game: str) -> list[str]:
    """The test files of a stage."""
    return [
        str(path) for pattern in patterns for path in sorted(Path().glob(pattern.format(game=game)))
    ]


def main(game: str) -> int:
    """0 where all tests pass: the mutant, if there is one, has survived."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    # The loops' compiled code is another for each mutant and never used again.
    cache = Path("numba_cache").resolve()
    shutil.rmtree(cache, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    import pytest

    # Fewer stages are enough to see that the commands work (tests/docs/accounts.py).
    for patterns in STAGES[: int(os.environ.get("MUTATION_STAGES", len(STAGES)))]:
        chosen = ["-k", f"{game} and {WITHOUT_REFERENCE}", *files(patterns, game)]
        if pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *chosen]):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
