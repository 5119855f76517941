"""No block of the pages goes unheeded, what is not run has a reason, and what is named in passing
is there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from functools import cache

import pytest

from tests.docs import accounts, commands, needs
from tests.docs.pages import ROOT, Block, blocks, inline_commands, pages
from tests.docs.test_blocks import OWN_PAGES, expected_output, parameters, runs, shell_commands

CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ALL_COMMANDS = [
    pytest.param(command, id=f"{page}:{line}")
    for page in OWN_PAGES
    for block in blocks(page)
    if block.language == "bash" and runs(block)
    for line, command in commands.commands(block)
]


def check_installation(command: str) -> None:
    """The extras and files that an installation names are there."""
    known = PROJECT["project"]["optional-dependencies"]
    for asked in re.findall(r"(?:tabletop-envs|\.|\.whl)\[([\w,-]+)\]", command):
        for extra in asked.split(","):
            assert extra in known, f"{command}: there is no extra {extra}: {', '.join(known)}"
    for file in re.findall(r"-r (\S+)", command):
        assert (ROOT / file).is_file(), f"{command}: there is no {file}"


def check_steps(command: str) -> None:
    """The steps of `.ci/run` that a command names are there."""
    steps = re.search(r"^STEPS=\((.*)\)$", CI, re.MULTILINE)
    assert steps is not None
    assert set(command.split()[1:]) <= set(steps[1].split()), command


@pytest.mark.parametrize("page", pages())
def test_every_block_is_run_or_has_a_reason(page):
    outputs = set()
    for block in blocks(page):
        if page in accounts.PAGES_OF_OTHER_TESTS or not runs(block):
            continue
        assert block.language, f"{block.place}: a block without a language"
        if block.language in ("python", "bash"):
            if (output := expected_output(block)) is not None:
                outputs.add(output)
                if block.language == "bash":
                    check_that_all_is_run_at_once(block)
        elif block.language == "text" and block.code in outputs:
            continue
        else:
            pytest.fail(
                f"{block.place}: nobody runs this block of {block.language}: "
                "say why in tests/docs/accounts.py (BLOCKS_NOT_RUN)"
            )


def check_that_all_is_run_at_once(block: Block) -> None:
    """Else nobody would compare what the page says that a block of commands prints."""
    run = {line: needed for line, _, needed in shell_commands(block.page)}
    sets = {run.get(line, block.place) for line, _ in commands.commands(block)}
    assert len(sets) == 1, f"{block.place}: some of its commands are not run, so its output is not"
    assert block.place not in sets, f"{block.place}: it is not run, so its output is not compared"


def test_no_entry_is_stale():
    there = {parameter.values[0] for parameter in ALL_COMMANDS}
    for table in (accounts.SMALLER, accounts.INPUTS, accounts.SERVERS, accounts.COMMANDS_NOT_RUN):
        assert set(table) <= there, f"on no page: {set(table) - there}"
    openings = {(page, block.code.partition("\n")[0]) for page in pages() for block in blocks(page)}
    stale = set(accounts.BLOCKS_NOT_RUN) - openings
    assert not stale, f"on no page: {stale}"
    used = [option for option in accounts.BUDGETS if not any(f" {option} " in c for c in there)]
    assert not used, f"in no command: {used}"
    for page, test in accounts.PAGES_OF_OTHER_TESTS.items():
        assert page in pages()
        assert page in (ROOT / test).read_text(encoding="utf-8") or (
            page.rpartition("/")[2] in (ROOT / test).read_text(encoding="utf-8")
        )


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_commands_name_what_is_there(command):
    # Each command has a shell of its own in these tests, with the environment's programs on its
    # path.
    kept = command == ". .venv/bin/activate"
    lost = command.startswith(("cd ", "export ", "source ", ". "))
    assert kept or not lost, "not kept for the next one"
    if commands.is_installation(command):
        check_installation(command)
    elif command.startswith(".ci/run"):
        check_steps(command)


def test_what_some_environments_have_is_run_there():
    for kind in ("python", "bash"):
        for parameter in parameters(kind):
            page, needed = parameter.values
            if needed:
                assert any(
                    all(extras.intersection(needs.EXTRAS[name]) for name in needed)
                    for extras in environments_that_run_the_pages()
                ), f"{page}: no environment of .ci/run that runs tests/docs has all of {needed}"


def environments_that_run_the_pages() -> list[set[str]]:
    """The extras of each environment in `.ci/run` that runs blocks with needs of their own."""
    found = []
    for step in re.findall(r"^step_\w+\(\) \{.*?^\}", CI, re.MULTILINE | re.DOTALL):
        if re.search(r"-m pages tests/docs|\$\(blocks\)", step):
            (extras,) = re.findall(r'environment \S+ "([\w,-]+)"', step)
            found.append(with_what_they_bring(set(extras.split(","))))
    return found


def with_what_they_bring(extras: set[str]) -> set[str]:
    """The extras, and those that they ask for."""
    known, found = PROJECT["project"]["optional-dependencies"], set(extras)
    for extra in extras:
        for requirement in known[extra]:
            if brought := re.match(r"tabletop-envs\[([\w,-]+)\]", requirement):
                found |= with_what_they_bring(set(brought[1].split(",")))
    return found


@pytest.mark.parametrize("page", pages())
def test_commands_within_sentences_name_what_is_there(page):
    for line, text in inline_commands(page):
        place = f"{page}:{line}: {text}"
        if commands.is_installation(text):
            check_installation(text)
        elif text.startswith(".ci/run"):
            check_steps(text)
        elif module := re.match(
            r"(?:\S*/)?python -m ((?:tabletop_envs|benchmarks|tests)[\w.]*)", text
        ):
            assert importlib.util.find_spec(module[1]) is not None, place
        elif script := re.match(r"(?:\S*/)?python (\S+\.py)", text):
            assert (ROOT / script[1]).is_file(), place
        elif command := re.match(r"(?:\S*/)?tabletop-envs ([a-z]+)", text):
            check_options(command[1], text, place)


@cache
def help_of(command: str) -> str:
    """What the command line says of a command; "" where there is none of that name."""
    finished = subprocess.run(
        [sys.executable, "-m", "tabletop_envs.cli", command, "--help"],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return finished.stdout if finished.returncode == 0 else ""


def check_options(command: str, text: str, place: str) -> None:
    """The command line knows the command and its options."""
    assert help_of(command), place
    for option in re.findall(r"(?<= )--[a-z-]+", text):
        assert option in help_of(command), place
