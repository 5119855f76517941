"""The workflows run what a contributor runs: the steps of .ci/run, all of them, and nothing else."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.docs.pages import ROOT

SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
(_LISTED,) = re.findall(r"^STEPS=\((.*)\)$", SCRIPT, re.MULTILINE)
STEPS = _LISTED.split()


# The jobs: Python and steps.
JOBS = re.findall(r'^ +- \{ python: "([\d.]+)", steps: ([\w ]+?) \}$', WORKFLOW, re.MULTILINE)


def test_the_workflow_runs_all_steps_and_nothing_else():
    assert re.findall(r"^ +(?:- )?run: (.*)$", WORKFLOW, re.MULTILINE) == [
        ".ci/run ${{ matrix.steps }}"
    ]
    assert {step for _, steps in JOBS for step in steps.split()} == set(STEPS)
    for _, steps in JOBS:
        assert steps.split() == sorted(steps.split(), key=STEPS.index)


def test_coverage_comes_with_all_steps_that_it_measures():
    (measured,) = re.findall(r"^MEASURED=\((.*)\)$", SCRIPT, re.MULTILINE)
    (steps,) = [steps.split() for _, steps in JOBS if "coverage" in steps]
    assert set(measured.split()) < set(steps)
    assert steps[-1] == "coverage"


def test_the_tests_run_on_all_pythons():
    assert sorted(python for python, steps in JOBS if "tests" in steps.split()) == [
        "3.11",
        "3.12",
        "3.13",
    ]


def test_every_step_is_defined_and_explained():
    assert re.findall(r"^step_(\w+)\(\)", SCRIPT, re.MULTILINE) == STEPS
    assert re.findall(r"^\| `(\w+)` \|.*\| `\.venv", CONTRIBUTING, re.MULTILINE) == STEPS


@pytest.mark.parametrize("words", [["nothing"], ["lint", "nothing"], ["--help"]])
def test_an_unknown_step_runs_nothing(words):
    finished = subprocess.run(
        ["bash", ROOT / ".ci" / "run", *words], capture_output=True, text=True, check=False
    )
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert all(step in finished.stderr for step in STEPS)
