"""The configurations of mutation testing name the kernels and tests that are there, and reasons for
survivors belong to lines that are there.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from tabletop_envs import registry

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src" / "tabletop_envs" / "kernels"
SURVIVORS = tomllib.loads((ROOT / "tests/mutation/survivors.toml").read_text("utf-8"))["mutant"]


@pytest.mark.parametrize("game", registry.game_names())
def test_a_game_is_mutated_and_its_tests_run(game):
    text = (ROOT / "tests" / "mutation" / f"{game}.toml").read_text(encoding="utf-8")
    config = tomllib.loads(text)["cosmic-ray"]
    (kernel,) = (path for path in KERNELS.iterdir() if path.name in (game, f"{game}.py"))
    assert config["module-path"] == [kernel.relative_to(ROOT).as_posix()]
    command = shlex.split(config["test-command"])[-1]
    named = re.findall(r"\btests/\S+", command)
    assert f'"{game} and ' in command
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("entry", SURVIVORS, ids=lambda entry: entry["file"])
def test_a_survivor_is_a_line_of_the_kernel(entry):
    code = (KERNELS / entry["file"]).read_text(encoding="utf-8")
    lines = [line.strip() for line in code.splitlines()]
    old = entry["old"].split("\n")
    assert any(lines[start : start + len(old)] == old for start in range(len(lines)))
    assert f"def {entry['function']}(" in code or not entry["function"]
    assert len(entry["why"]) > 10
