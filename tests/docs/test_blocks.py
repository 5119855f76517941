"""Every block of Python and every shell command of the pages runs, and prints what the page says."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import commands, needs
from tests.docs.accounts import BLOCKS_NOT_RUN, COMMANDS_NOT_RUN, PAGES_OF_OTHER_TESTS
from tests.docs.pages import Block, blocks, pages

pytestmark = pytest.mark.pages

# Parts what one block prints from what the next does.
MARK = "\x1e"
OWN_PAGES = [page for page in pages() if page not in PAGES_OF_OTHER_TESTS]


def runs(block: Block) -> bool:
    """Whether the block is to be run here."""
    return (block.page, block.code.partition("\n")[0]) not in BLOCKS_NOT_RUN


def python_blocks(page: str) -> list[tuple[Block, frozenset[str]]]:
    """A page's blocks of Python with what each needs: by its imports, and by the names that it
    takes from earlier ones.
    """
    found: list[tuple[Block, frozenset[str]]] = []
    needed_for: dict[str, frozenset[str]] = {}
    for block in blocks(page):
        if block.language != "python" or not runs(block):
            continue
        names = [node for node in ast.walk(ast.parse(block.code)) if isinstance(node, ast.Name)]
        needed = needs.needs_of_code(block.code).union(
            *(needed_for.get(node.id, ()) for node in names)
        )
        defined = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        for node in ast.walk(ast.parse(block.code)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                defined |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        needed_for.update(dict.fromkeys(defined, needed))
        found.append((block, needed))
    return found


def shell_commands(page: str) -> list[tuple[int, str, frozenset[str]]]:
    """A page's commands that are run, with their lines and what each needs."""
    return [
        (line, command, needs.needs_of_command(commands.smaller(command)))
        for block in blocks(page)
        if block.language == "bash" and runs(block)
        for line, command in commands.commands(block)
        if command not in COMMANDS_NOT_RUN and not commands.is_checked_only(command)
    ]


def parameters(kind: str) -> list[object]:
    """A test for each page and each set of needs on it; those with needs carry the marker `stack`."""
    found = []
    for page in OWN_PAGES:
        if kind == "python":
            sets = {needed for _, needed in python_blocks(page)}
        else:
            sets = {needed for _, _, needed in shell_commands(page)}
        for needed in sorted(sets, key=sorted):
            marks = [pytest.mark.stack] if needed else []
            name = "+".join([page, *sorted(needed)])
            found.append(pytest.param(page, needed, id=name, marks=marks))
    return found


def skip_without(needed: frozenset[str]) -> None:
    """Skip the test where something that it needs is not installed."""
    if absent := needs.missing(needed):
        extras = ", ".join(sorted({needs.EXTRAS[name][0] for name in absent}))
        pytest.skip(f"{', '.join(absent)} is not installed (extra {extras})")


def expected_output(block: Block) -> str | None:
    """What the page says that a block prints: the block of text that follows it."""
    following = blocks(block.page)
    following = following[following.index(block) + 1 :]
    if following and following[0].language == "text" and runs(following[0]):
        return following[0].code
    return None


def check_output(block: Block, printed: str) -> None:
    """`...` on the page stands for anything; spaces at the ends of lines do not count."""
    expected = expected_output(block)
    if expected is None:
        return
    tidy = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    same = doctest.OutputChecker().check_output(expected, tidy, doctest.ELLIPSIS)
    assert same, f"{block.place}: the page says\n{expected}\nand it prints\n{tidy}"


@pytest.mark.parametrize(("page", "needed"), parameters("python"))
def test_python(page: str, needed: frozenset[str], tmp_path: Path) -> None:
    """A page's blocks, one after the other, are one program; errors name the page's lines."""
    skip_without(needed)
    chosen = [block for block, own_needs in python_blocks(page) if own_needs <= needed]
    lines: list[str] = []
    for block in chosen:
        lines += [""] * (block.line - 1 - len(lines))
        lines += [*block.code.splitlines(), f"print({MARK!r}, end='')"]
    script = tmp_path / (Path(page).stem.replace("-", "_") + "_page.py")
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=commands.TIME_LIMIT,
        check=False,
    )
    assert finished.returncode == 0, f"{page}: {finished.stderr[-3000:]}"
    *printed, rest = finished.stdout.split(MARK)
    assert len(printed) == len(chosen)
    assert not rest
    for block, text in zip(chosen, printed, strict=True):
        check_output(block, text)


@pytest.mark.parametrize(("page", "needed"), parameters("bash"))
def test_shell(page: str, needed: frozenset[str], tmp_path: Path) -> None:
    """A page's commands, one after the other, in a copy of the checkout."""
    skip_without(needed)
    variables = commands.workspace(tmp_path)
    chosen = [(line, command) for line, command, own in shell_commands(page) if own == needed]
    for block in blocks(page):
        printed = ""
        lines = range(block.line, block.line + len(block.code.splitlines()))
        for line, command in chosen:
            if line in lines:
                try:
                    printed += commands.run(command, tmp_path, variables)
                except AssertionError as error:
                    raise AssertionError(f"{page}:{line}: {error}") from None
        if printed:
            check_output(block, printed)
