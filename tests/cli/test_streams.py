"""Commands with unusual standard streams: no traceback, a fitting exit code, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs.arena import records

MAIN = [sys.executable, "-m", "tabletop_envs.cli"]
TOURNAMENT = "tournament kirche random greedy --games 2 --seed 1 --option max_plies=40"
PLAY = "play tuerme --opponent random --seed 1 --option max_plies=4"
SELFPLAY = "selfplay kirche --steps 50 --num-envs 2"


def process(words: str, folder: Path, *, shell: str = "", **environment: str) -> Any:
    """A command that reads a few words, with redirections as the shell writes them."""
    command: list[str] = [*MAIN, *words.split()]
    if shell:
        command = ["sh", "-c", f'exec "$@" {shell}', "sh", *command]
    done = subprocess.run(
        command,
        cwd=folder,
        input=None if "<" in shell else b"1\n\xff\xfe\nhelp\n",
        stdin=subprocess.DEVNULL if "<" in shell else None,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=300,
    )
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("words", "encoding", "sign"),
    [
        (TOURNAMENT, "cp1252", "+0 =2 -0"),
        (PLAY, "ascii", "[ ^ ][ o ]"),
        (SELFPLAY, "ascii", "kirche-v0"),
    ],
    ids=["tournament", "play", "selfplay"],
)
def test_any_encoding_will_do(words, encoding, sign, tmp_path):
    done = process(words, tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert sign in done.stdout.decode(encoding)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")


def test_without_an_output_that_takes_anything_it_ends_in_words(tmp_path):
    done = process("list", tmp_path, shell=">&-")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"there is no standard output" in done.stderr
    assert process("list", tmp_path, shell="2>&-").returncode == 0
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = process(f"{TOURNAMENT} --output games.jsonl", tmp_path, shell="> /dev/full")
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    # What was played is not lost with the table.
    assert len(list(records.read_records(tmp_path / "games.jsonl"))) == 2


def test_without_input_it_is_said(tmp_path):
    done = process(PLAY, tmp_path, shell="<&-")
    assert done.returncode == 2
    assert b"standard input" in done.stderr
    # The others need none.
    assert process("list", tmp_path, shell="<&-").returncode == 0
