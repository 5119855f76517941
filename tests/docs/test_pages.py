"""Every block of Python and every command of the pages runs, prints what the page says, and what
sentences name is there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

import pytest

from tests.docs.pages import ROOT, Reader, pages

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
SCRIPT = (ROOT / ".ci" / "run").read_text("utf-8")


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def lacking(extra: str) -> Iterator[str]:
    """The packages of an extra that are not installed here."""
    for requirement in EXTRAS.get(extra, ()):
        name, _, brought = re.match(r"([\w.-]+)(\[([\w,-]+)\])?", requirement).groups()
        if name == "tabletop-envs":
            for other in brought.split(","):
                yield from lacking(other)
            continue
        try:
            distribution(name)
        except PackageNotFoundError:
            yield name


def needs(page: str) -> set[str]:
    """The extras that a page needs somewhere."""
    return set(re.findall(r"^ *<!-- needs: (\S+)", read(page), re.MULTILINE)) - {"core"}


READERS = [
    *((page, "core") for page in pages() if "```" in read(page)),
    *(
        pytest.param(page, extra, marks=pytest.mark.stack)
        for page in pages()
        for extra in sorted(needs(page))
    ),
]


@pytest.mark.pages
@pytest.mark.parametrize(("page", "extra"), READERS)
def test_a_page(page, extra, tmp_path):
    if absent := list(lacking(extra)):
        pytest.skip(f"{', '.join(absent)} not installed (extra {extra})")
    Reader(ROOT / page, extra, tmp_path).run()


def test_what_pages_need_is_there_in_a_step():
    (environments,) = re.findall(r"EXTRAS=\((.*?)\n\)", SCRIPT, re.DOTALL)
    needed = set().union(*map(needs, pages()))
    assert needed <= set(EXTRAS) & set(re.split(r"[^\w-]", environments))


@pytest.mark.parametrize("page", pages())
def test_every_skip_has_a_reason(page):
    skips = re.findall(r"^ *<!--+ *;? *skip.*", read(page), re.MULTILINE)
    assert skips == [
        skip
        for skip in skips
        if re.search(r'<!-- skip: (next|start) ".{8,}" -->|skip: end -->', skip)
    ]


# What fails on a page, and the words that say so.
WRONG = {
    "```python\nnumber = 1\n```\n```python\nassert number == 2, 'not 2'\n```\n": "not 2",
    "```bash\nfalse\necho reached\n```\n": "ends with 1",
    "```bash\necho one | grep two | cat\n```\n": "ends with 1",
    "```bash\necho one\n```\n```text\ntwo\n```\n": "it prints\none",
    "```python\nprint('one')\n```\n```text\ntwo\n```\n": "it prints\none",
    "```text\none\n```\n": "what prints this text",
    "```toml\none = 1\n```\n": "nobody runs",
    "```\none\n```\n": "nobody runs",
    "1. One:\n\n   ```bash\n   false\n   ```\n": "ends with 1",
    "<!-- needs: core -->\n```bash\nfalse\n```\n": "ends with 1",
    '<!-- skip: next "as a reader would" -->\n```bash\nfalse\n```\n```bash\nexit 3\n```\n': "with 3",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_broken_block_fails(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{text}", encoding="utf-8")
    with pytest.raises(AssertionError) as error:
        Reader(page, "core", tmp_path).run()
    assert WRONG[text] in str(error.value)


RIGHT = """
<!-- skip: next "nobody has it" -->
```toml
one = 1
```

<!-- smaller: -m tests.docs: --small 1 -->
```bash
python3 -m venv .venv && .venv/bin/pip install nothing
. .venv/bin/activate
python -c 'import sys; print(sys.argv[1:])' -m tests.docs
python -c 'import sys; print(sys.argv[1:])' -m tests
```
```text
['-m', 'tests.docs', '--small', '1']
['-m', ...]
```

<!-- needs: train -->
```bash
false
```
<!-- needs: core -->
```python
from pathlib import Path
Path("kept").touch()
```
"""


def test_a_page_as_it_should_be(tmp_path):
    (tmp_path / "page.md").write_text(RIGHT, encoding="utf-8")
    Reader(tmp_path / "page.md", "core", tmp_path).run()
    assert (tmp_path / "kept").exists()
    with pytest.raises(AssertionError, match="ends with 1"):
        Reader(tmp_path / "page.md", "train", tmp_path).run()


@pytest.mark.parametrize("page", pages())
def test_what_commands_name_is_there(page):
    """Within sentences, too."""
    for asked in re.findall(r"(?:tabletop-envs|\.|\.whl\)?)\[([\w,-]+)\]", read(page)):
        assert set(asked.split(",")) <= set(EXTRAS), f"{page}: [{asked}]"
    (steps,) = re.findall(r"^STEPS=\((.*)\)$", SCRIPT, re.MULTILINE)
    for named in re.findall(r"(?:^|`)\.ci/run((?: [a-z]+)*)", read(page), re.MULTILINE):
        assert set(named.split()) <= set(steps.split()), f"{page}: .ci/run{named}"
    for module in re.findall(r"python -m ((?:tabletop_envs|benchmarks|tests)[\w.]*\w)", read(page)):
        assert importlib.util.find_spec(module) is not None, f"{page}: {module}"
    for file in re.findall(r"python (\w+/\w+\.py)", read(page)):
        assert (ROOT / file).is_file(), f"{page}: {file}"
    for command, options in re.findall(r"`(?:\S*/)?tabletop-envs ([a-z]+)([^`]*)`", read(page)):
        for option in ["", *re.findall(r" (--[a-z-]+)", options)]:
            assert option in help_of(command), f"{page}: {command} {option}"


@cache
def help_of(command: str) -> str:
    """What the command line says of a command."""
    return subprocess.run(
        [sys.executable, "-m", "tabletop_envs.cli", command, "--help"],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
