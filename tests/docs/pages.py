"""The pages that people read, and the blocks of code in them.

A Markdown parser finds the blocks, since rules of thumb miss those in lists and inside directives.
The libraries that run examples (pytest-examples, Sybil, pytest-markdown-docs) run Python only and
say nothing of a block that nobody runs; here every block has to be accounted for, and shell
commands are run with smaller budgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent.parent
# Folders that hold no pages of ours: built sites.
_BUILT = {"_build", "build"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its page (as a path from the root), its language ("" without one), its code,
    and the line it begins at.
    """

    page: str
    language: str
    code: str
    line: int

    @property
    def place(self) -> str:
        """Where it is, as editors and terminals make a link of it."""
        return f"{self.page}:{self.line}"


@cache
def pages() -> list[str]:
    """All Markdown pages, as paths from the root."""
    found = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "benchmarks").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "tests").rglob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
    ]
    names = (path.relative_to(ROOT) for path in sorted(found))
    return [name.as_posix() for name in names if not _BUILT & set(name.parts)]


@cache
def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return list(_blocks(page, (ROOT / page).read_text(encoding="utf-8"), 1))


def _blocks(page: str, text: str, first_line: int) -> Iterator[Block]:
    for token in MarkdownIt().parse(text):
        if token.type != "fence" or token.map is None:
            continue
        language, line = token.info.strip(), first_line + token.map[0] + 1
        if language.startswith("{"):
            # A directive of MyST: code of a language, or more Markdown.
            directive, _, argument = language[1:].partition("}")
            if directive not in ("code-block", "code-cell"):
                yield from _blocks(page, token.content, line)
                continue
            language = argument.strip()
        yield Block(page, language.partition(" ")[0], token.content, line)


def inline_commands(page: str) -> Iterator[tuple[int, str]]:
    """What stands as code within sentences: line and text."""
    for token in MarkdownIt().enable("table").parse((ROOT / page).read_text(encoding="utf-8")):
        for child in token.children or ():
            if child.type == "code_inline":
                yield (token.map or [0])[0] + 1, child.content
