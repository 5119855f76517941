"""A Sphinx extension: files of the repository that are pages of the site, too, and links to files
outside docs.

Pages are written to be read in the repository: their links are relative to it. On the site a link
    to a file that is a page leads to
that page, one to another file downloads it, and one to a folder, or to other pages of the
repository, is left as text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent

# Files outside docs that are pages: the page's name by the file's.
PAGES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "README.md": "index",
    "SECURITY.md": "security",
    "benchmarks/README.md": "benchmarks",
}
COPIES = {page: file for file, page in PAGES.items() if page != "index"}
# What tests are told about blocks of code (tests/docs/pages.py).
COMMENT = re.compile(r"^ *<!-- (?:skip|needs|smaller):.*?-->\n", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def link_within_site(text: str, file: Path, docname: str) -> str:
    """The text of a Markdown file with its relative links as they are on the page `docname`.

    FileNotFoundError for a link to what is not there.
    """
    page_folder = (DOCS / docname).parent

    def replace(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(file.parent / link["target"]))
        if not target.exists():
            raise FileNotFoundError(f"{file.relative_to(ROOT)}: there is no {link['target']}")
        if target.is_dir():
            return link["text"]
        page = PAGES.get(target.relative_to(ROOT).as_posix())
        if target.suffix == ".md" and not page and DOCS not in target.parents:
            return link["text"]
        place = DOCS / f"{page}.md" if page else target
        where = Path(os.path.relpath(place, page_folder)).as_posix()
        return f"[{link['text']}]({where}{link['anchor'] or ''})"

    # Blocks of code stay as they are.
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if number % 2 else LINK.sub(replace, part) for number, part in enumerate(parts)
    )


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take pages from the repository's files, and make their links fit."""
    file = ROOT / COPIES[docname] if docname in COPIES else app.env.doc2path(docname)
    if docname in COPIES:
        source[0] = Path(file).read_text("utf-8")
        app.env.note_dependency(str(file))
    if Path(file).suffix == ".md":
        source[0] = link_within_site(COMMENT.sub("", source[0]), Path(file), docname)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what this extension does."""
    app.connect("source-read", read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
