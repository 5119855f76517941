"""The documentation site: it builds without a warning, and no link on it or in the repository's
pages leads nowhere.

`.ci/run docs` builds the site first and names its folder in the environment variable `SITE`;
without that, these tests build it.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import griffe
import pytest
from markdown_it import MarkdownIt

import tabletop_envs
from tabletop_envs import registry
from tests.docs.pages import ROOT, pages
from tests.house.public_api import load, members

IS_BUILT = bool(os.environ.get("SITE"))
needs_sphinx = pytest.mark.skipif(
    not IS_BUILT and not (find_spec("sphinx") and find_spec("furo")),
    reason="building the site needs the extra docs",
)


class Page(HTMLParser):
    """What a page of HTML links to, the places that can be linked to, and its classes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.classes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.links += [known[key] or "" for key in ("href", "src") if known.get(key)]
        self.links += [part.split()[0] for part in (known.get("srcset") or "").split(",") if part]
        self.places |= {known[key] or "" for key in ("id", "name") if known.get(key)}
        self.classes += (known.get("class") or "").split()


# The repository's pages


@cache
def slugs(file: Path) -> set[str]:
    """The anchors of a Markdown file's headings, as the platforms and MyST make them."""
    tokens = MarkdownIt().parse(file.read_text("utf-8"))
    headings = [
        tokens[index + 1].content for index, t in enumerate(tokens) if t.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: str) -> list[str]:
    """All links and pictures of a Markdown page, those within HTML and directives included."""
    text = (ROOT / page).read_text("utf-8")
    found = []
    for token in MarkdownIt().enable("table").parse(text):
        if token.type == "html_block":
            found += Page(token.content).links
        for child in token.children or ():
            if child.type == "html_inline":
                found += Page(child.content).links
            found += [
                str(child.attrs[key]) for key in ("href", "src") if key in child.attrs and child.tag
            ]
    return found + re.findall(r"^```\{image\} (\S+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", pages())
def test_links_of_the_repository_lead_somewhere(page):
    for link in links(page):
        address = urlsplit(unquote(link))
        if address.scheme or address.netloc:
            assert address.scheme in ("https", "mailto"), link
            continue
        target = (ROOT / page).parent / address.path if address.path else ROOT / page
        assert target.exists(), f"{page}: {link}"
        if address.fragment and target.suffix == ".md":
            assert address.fragment in slugs(target), f"{page}: {link}"


def test_what_to_cite_is_this_version():
    version = re.escape(tabletop_envs.__version__)
    for file, line in (
        ("CITATION.cff", rf"version: {version}"),
        ("docs/citing.md", rf"\{{{version}\}}"),
    ):
        assert re.search(line, (ROOT / file).read_text("utf-8")), file


# The site


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site."""
    if IS_BUILT:
        return ROOT / os.environ["SITE"]
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-b", "html"]
    built = subprocess.run(
        [*build, "-d", str(folder / "trees"), "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.fixture(scope="session")
def built(site):
    """The pages of the site by their files."""
    return {file: Page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}


@needs_sphinx
def test_no_link_of_the_site_leads_nowhere(site, built):
    broken = []
    for file, page in built.items():
        for link in page.links:
            address = urlsplit(unquote(link))
            if address.scheme or address.netloc or file.name in ("genindex.html", "search.html"):
                continue
            target = (file.parent / address.path).resolve() if address.path else file
            known = built.get(target)
            if not target.exists() or (
                address.fragment and known is not None and address.fragment not in known.places
            ):
                broken.append(f"{file.relative_to(site)}: {link}")
    assert not broken


@needs_sphinx
def test_every_page_can_be_reached_from_the_first(site, built):
    seen, waiting = set(), [site / "index.html"]
    while waiting:
        file = waiting.pop()
        if file in seen or file not in built:
            continue
        seen.add(file)
        paths = (urlsplit(unquote(link)).path for link in built[file].links)
        waiting += [(file.parent / path).resolve() for path in paths if path]
    # The list of modules is for searching; the index of all names is linked.
    assert set(built) - seen <= {site / "py-modindex.html"}


@needs_sphinx
@pytest.mark.parametrize("game", registry.game_names())
def test_a_games_page_has_its_rules_decisions_and_both_themes(built, site, game):
    manual = importlib.import_module(f"tabletop_envs.envs.{game}").__doc__
    page = built[site / "games" / f"{game}.html"]
    assert page.classes.count("decision") == manual.count("(D: ")
    rules = re.findall(r"^([KTM]\d+) ", manual, re.MULTILINE)
    assert {rule.lower() for rule in rules} <= page.places
    assert page.classes.count("only-light") >= 4
    assert page.classes.count("only-light") == page.classes.count("only-dark")
    assert len([link for link in page.links if f"{game}-" in link and link.endswith(".svg")]) == 8


@needs_sphinx
def test_all_that_is_public_is_on_the_site(built):
    places = set().union(*(page.places for page in built.values()))
    # Numbers and fields are described where they are used.
    names = [
        f"tabletop_envs.{name}"
        for name, described in members(load()).items()
        if isinstance(described, griffe.Function | griffe.Class) and "__" not in name
    ]
    assert len(names) > 200
    assert not [name for name in names if name not in places]


@needs_sphinx
def test_nothing_went_wrong_unnoticed(built):
    for file, page in built.items():
        assert "problematic" not in page.classes, file
        assert "system-message" not in page.classes, file
        # What tests are told by comments is not for readers, not even of the source.
        assert not re.search("<!-- (?:skip|needs|smaller):", file.read_text("utf-8")), file
