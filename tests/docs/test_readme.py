"""The README is short, and has what somebody who has never seen the project looks for."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAY = 'python3 -m venv .venv && .venv/bin/pip install -q ".[cli]" && .venv/bin/tabletop-envs selfplay --seconds 5'
TEST = 'python3 -m venv .venv && .venv/bin/pip install -q -e ".[test]" && .venv/bin/python -m pytest -n auto'


def of_language(language):
    return [block.code for block in blocks("README.md") if block.language == language]


def test_the_two_commands_come_first():
    assert of_language("bash")[:2] == [PLAY + "\n", TEST + "\n"]


def test_the_test_command_is_the_one_of_ci():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (step,) = re.findall(r"^step_tests\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL)
    assert TEST in [line.strip() for line in step.splitlines()]
    (steps,) = re.findall(r"^STEPS=\((.*)\)$", script, re.MULTILINE)
    assert steps.split()[0] == "tests"


def test_an_example_of_ten_lines_for_each_way_in():
    aec, gymnasium, batch = of_language("python")
    assert "env.agent_iter()" in aec
    assert "gymnasium.make(" in gymnasium
    assert "make_batch(" in batch
    for example in (aec, gymnasium, batch):
        assert len([line for line in example.splitlines() if line.strip()]) <= 10


def test_it_shows_pictures_and_links_that_exist():
    files = re.findall(r'(?:src|srcset)="([^"]+)"', README) + re.findall(r"\]\(([^)]+)\)", README)
    assert any(file.endswith(".svg") for file in files)
    assert [file for file in files if not (ROOT / file).exists()] == []


def test_it_is_short():
    shown = [line for line in README.splitlines() if not line.startswith("<!--")]
    assert len(shown) <= 100
