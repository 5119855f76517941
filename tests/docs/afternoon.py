"""The files that docs/add-a-game.md has its readers write: a game outside of the package."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import Block, blocks

PAGE = "docs/add-a-game.md"
# The folder that the page calls so; the last part of a file's path is in the digest of its kernel.
FOLDER = "afternoon"
# The first line of a block of code names the file that it goes to.
FILE_LINE = re.compile(r"# (\w+\.py)\n")


def file_of(block: Block) -> str:
    """The file that a block of code goes to."""
    match = FILE_LINE.match(block.code)
    assert match, f"{block.place}: the first line names no file"
    return match.group(1)


def files() -> dict[str, str]:
    """What the page's files hold in the end."""
    contents: dict[str, str] = {}
    for block in blocks(PAGE):
        if block.language == "python":
            name = file_of(block)
            code = block.code.removeprefix(f"# {name}\n")
            # Methods follow each other with one empty line between them, functions with two.
            gap = "\n" if code.startswith(" ") else "\n\n"
            contents[name] = contents[name] + gap + code if name in contents else code
    return contents


def write(parent: Path) -> Path:
    """The page's folder with all its files, in `parent`."""
    folder = parent / FOLDER
    folder.mkdir()
    for name, code in files().items():
        (folder / name).write_text(code, encoding="utf-8")
    return folder
