"""With `NUMBA_DISABLE_JIT=1` kernels and loops run as Python and play the same games."""

import json
import os
import subprocess
import sys

from tests.games import each_game


def played(*words, **environment):
    """What a process plays and sees (`tests/engine/interpreted_play.py`)."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.interpreted_play", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@each_game
def test_whole_games_are_the_same_without_compiling(name):
    assert played(name, NUMBA_DISABLE_JIT="1") == played(name)
