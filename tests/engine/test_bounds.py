"""Nothing is read or written out of bounds, whatever action of the space is played."""

import os
import subprocess
import sys

from tests.games import GAMES


def test_no_action_of_the_space_leads_out_of_bounds(tmp_path):
    """With a cache of its own: Numba does not keep code with checked indexes apart."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.wild_play", "40000"],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "indexes are checked",
        *(f"{name} within bounds" for name in GAMES),
    ]
