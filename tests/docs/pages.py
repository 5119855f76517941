"""What readers of the pages run: blocks of Python and of commands, found and run by Sybil. Comments
in the pages say what is done otherwise: `skip`, `needs`, `smaller` (CONTRIBUTING.md, Write tests).
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import SkipTest

from sybil import Document, Example, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import SkipParser
from sybil.parsers.markdown.lexers import DirectiveInHTMLCommentLexer, RawFencedCodeBlockLexer

ROOT = Path(__file__).parents[2]
FENCES = RawFencedCodeBlockLexer(re.compile(r"(?P<language>[^\s]*)[^\n]*\n"))
SETTINGS = DirectiveInHTMLCommentLexer("needs|smaller")
# What a checkout has beside the project's files.
NOT_COPIED = (".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis", "runs", "_build", "dist")
ENVIRONMENTS = (".venv-peers", ".venv-stacks", ".venv-rllib")
TIME_LIMIT = 1800
# How much commands do that ask the environment.
SMALL = {"FUZZ_SNAPSHOTS": "200", "SOAK_POSITIONS": "300"}
# Stands for every program of the environments that pages name; it installs nothing.
PROGRAM = """#!/bin/bash
name=$(basename "$0")
case "$name $*" in "pip "* | python*" -m venv "*) exit ;; esac
while IFS= read -r line; do
    if [[ " $name $* " == *" ${line%%: *} "* ]]; then set -- "$@" ${line#*: }; fi
done <"${0%/*}/../smaller"
exec {programs}/"$name" "$@"
"""


def pages() -> list[str]:
    """All Markdown pages, as paths from the root."""
    folders = ("docs", "benchmarks", "examples", "tests", ".github")
    found = [*ROOT.glob("*.md"), *(path for f in folders for path in (ROOT / f).rglob("*.md"))]
    names = (path.relative_to(ROOT) for path in sorted(found))
    return [name.as_posix() for name in names if "_build" not in name.parts]


class Block(NamedTuple):
    """A block of code on a page: where it is (for editors and terminals to make a link of it), its
    language ("" without one) and its code.
    """

    place: str
    language: str
    code: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    document = Document((ROOT / page).read_text(encoding="utf-8"), page)
    for region in FENCES(document):
        region.parsed = region.lexemes
        if not region.lexemes["language"].startswith("{"):
            document.add(region)
    return [
        Block(f"{page}:{one.line + 1}", one.parsed["language"], one.parsed["source"])
        for one in document.examples()
    ]


class Reader:
    """Somebody who runs what a page shows, from top to bottom, in an environment with one extra.

    Python's blocks are one program. Commands run in a copy of the checkout, each block in a shell
    of its own. A block of text that follows a block is what that prints; `...` in it stands for
    anything, and spaces at the ends of lines do not count.
    """

    def __init__(self, page: Path, extra: str, folder: Path) -> None:
        self.extra, self.folder = extra, folder
        self.needed, self.smaller = "core", ""
        self.printed: str | None = None
        self.document = Document.parse(str(page), self._settings, self._blocks, SkipParser())
        self.document.namespace.update(__name__="__main__", __file__=str(page))

    def run(self) -> None:
        """Run all that the page shows for an environment with the extra; AssertionError or the
        block's own error where something is not as the page says.
        """
        with contextlib.chdir(self.folder):
            for example in self.document.examples():
                with contextlib.suppress(SkipTest):
                    example.evaluate()

    def _settings(self, document: Document) -> Iterator[Region]:
        for region in SETTINGS(document):
            region.parsed, region.evaluator = region.lexemes, self._set
            yield region

    def _set(self, example: Example) -> None:
        if example.parsed["directive"] == "needs":
            self.needed = example.parsed["arguments"]
        else:
            self.smaller += f"{example.parsed['arguments']}\n"

    def _blocks(self, document: Document) -> Iterator[Region]:
        evaluators = {"python": self._python, "bash": self._bash, "text": self._text}
        for region in FENCES(document):
            language, region.parsed = region.lexemes["language"], region.lexemes["source"]
            region.evaluator = evaluators.get(language, self._unknown)
            # Directives of MyST are not code, but for these.
            if not language.startswith("{") or "code" in language:
                yield region

    def _python(self, example: Example) -> None:
        if self.needed == self.extra:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                PythonEvaluator()(example)
            self.printed = printed.getvalue()

    def _bash(self, example: Example) -> None:
        if self.needed != self.extra:
            return
        checkout = self._checkout()
        (checkout / ".venv" / "smaller").write_text(self.smaller, encoding="utf-8")
        path = os.pathsep.join([str(checkout / ".venv" / "bin"), os.environ["PATH"]])
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", example.parsed],
            cwd=checkout,
            env={**os.environ, **SMALL, "PATH": path, "COLUMNS": "200", "NO_COLOR": "1"},
            input="",
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        assert finished.returncode == 0, (
            f"{example.path}:{example.line}: ends with {finished.returncode}:\n{example.parsed}\n"
            f"{finished.stdout[-3000:]}\n{finished.stderr[-3000:]}"
        )
        self.printed = finished.stdout

    def _text(self, example: Example) -> None:
        if self.needed != self.extra:
            return
        assert self.printed is not None, f"{example.path}:{example.line}: what prints this text?"
        tidy = "".join(f"{line.rstrip()}\n" for line in self.printed.rstrip().splitlines())
        same = doctest.OutputChecker().check_output(example.parsed, tidy, doctest.ELLIPSIS)
        place = f"{example.path}:{example.line}"
        assert same, f"{place}: the page says\n{example.parsed}\nand it prints\n{tidy}"
        self.printed = None

    def _unknown(self, example: Example) -> None:
        raise AssertionError(
            f"{example.path}:{example.line}: nobody runs a block of this language: "
            '<!-- skip: next "a reason" --> goes before it'
        )

    def _checkout(self) -> Path:
        """A folder that looks like a checkout with its environments."""
        folder = self.folder / "checkout"
        if not folder.exists():
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
            programs = folder / ".venv" / "bin"
            programs.mkdir(parents=True)
            stand_in = programs / "python"
            stand_in.write_text(PROGRAM.replace("{programs}", f"{sys.prefix}/bin"))
            stand_in.chmod(0o755)
            for program in Path(sys.prefix, "bin").iterdir():
                if not (programs / program.name).exists():
                    (programs / program.name).symlink_to(stand_in)
            # The programs are on the path already.
            (programs / "activate").unlink(missing_ok=True)
            (programs / "activate").touch()
            for name in ENVIRONMENTS:
                (folder / name).symlink_to(folder / ".venv", target_is_directory=True)
        return folder
