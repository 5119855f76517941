"""A Sphinx extension: makes a game's page of its docstring, its drawings and the measured facts in
docs/data.

docs/games/NAME.rst holds a few words on how the game plays; `page.rst.jinja` beside it says how all
is put together.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2 import Environment, StrictUndefined
from sphinx.application import Sphinx

from tabletop_envs import registry

DOCS = Path(__file__).parent
DECISION = "(D: "
FACTS = (
    "options",
    "agent",
    "games",
    "legal actions, mean (most)",
    "length, median (5\u00a0to\u00a095\u00a0%)",
    "size of tree",
    "ended by ``max_plies``",
    "drawn",
    "score of ``player_0`` (95\u00a0%)",
)
RULE = re.compile(r"[A-Z]\d+\b")


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a file of docs/data."""
    rows: list[dict[str, Any]] = json.loads((DOCS / "data" / name).read_text("utf-8"))
    return rows


def percent(share: float) -> str:
    """A share in words."""
    return f"{100 * share:.1f}\u00a0%"


def options_of(row: dict[str, Any]) -> str:
    """The options of a row in words."""
    words = [f"``{name}={value}``" for name, value in row["options"].items()]
    return ", ".join(words) or "default"


def fact_cells(row: dict[str, Any]) -> list[str]:
    """A line of the table of facts."""
    short, median, long = (f"{length:.0f}" for length in row["length"])
    score, low, high = row["scores"][0]
    return [
        options_of(row),
        row["agent"],
        str(row["games"]),
        f"{row['branching']:.1f}\u00a0({row['most_choices']})",
        f"{median} ({short} to {long})",
        f"10\\ :sup:`{row['tree_log10']:.0f}`",
        percent(row["by_limit"] / row["games"]),
        percent(row["drawn"] / row["games"]),
        f"{percent(score)} ({100 * low:.1f} to {100 * high:.1f})",
    ]


def perft_cells(row: dict[str, Any], depth: int) -> list[str]:
    """A line of the table of perft counts, filled up to `depth` of them."""
    where = "start" if row["position"] is None else f"position {row['position']}"
    phase = f", {row['phase']}" if row["phase"] else ""
    counts = [f"{count:,}" for count in row["counts"]]
    options = f", {options_of(row)}" if row["options"] else ""
    position = f"{where} (ply {row['ply']}{phase}){options}"
    return [position, *counts, *[""] * (depth - len(counts))]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :class: numbers", ""]
    for row in [head, *rows]:
        for number, cell in enumerate(row):
            lines.append(f"   {'* -' if number == 0 else '  -'} {cell}".rstrip())
    return "\n".join(lines)


def page_of(name: str, words: str) -> str:
    """The source of a game's page, in reStructuredText."""
    game = registry.get_game(name)
    manual = importlib.import_module(f"tabletop_envs.envs.{name}").__doc__ or ""
    summary, _, rest = manual.partition("\n\n")
    facts, perft = rows_of(f"facts-{name}.json"), rows_of(f"perft-{name}.json")
    depth = max(len(row["counts"]) for row in perft)
    template = Environment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(
        (DOCS / "games" / "page.rst.jinja").read_text("utf-8")
    )
    return template.render(
        game=game,
        name=name,
        module=f"tabletop_envs.{registry.module_name(name)}",
        ids=[registry.batch_id(name), registry.aec_id(name), registry.gym_id(name)],
        title=name,
        summary=summary.replace("\n", " "),
        manual=rest,
        words=words,
        facts=table(FACTS, map(fact_cells, facts)),
        perft=table(
            ["position", *map(str, range(1, depth + 1))],
            [perft_cells(row, depth) for row in perft],
        ),
    )


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the whole page in the place of the few words."""
    folder, _, name = docname.rpartition("/")
    if folder == "games" and name in registry.game_names():
        source[0] = page_of(name, source[0])
        environment = importlib.import_module(f"tabletop_envs.envs.{name}")
        used = [Path(str(environment.__file__)), DOCS / "games" / "page.rst.jinja"]
        for file in used + [DOCS / "data" / f"{kind}-{name}.json" for kind in ("facts", "perft")]:
            app.env.note_dependency(str(file))


def require_pages(app: Sphinx, environment: Any, *changes: Any) -> list[str]:
    """Every game has a page."""
    for name in registry.game_names():
        if f"games/{name}" not in environment.found_docs:
            raise FileNotFoundError(f"docs/games/{name}.rst is not there: every game has a page")
    return []


def mark_rules(app: Sphinx, doctree: nodes.document) -> None:
    """Give rules anchors (`#k8`) and decisions a look of their own."""
    if not app.env.docname.startswith("games/"):
        return
    for item in doctree.findall(nodes.definition_list_item):
        term = item[0]
        found = RULE.match(term.astext())
        if isinstance(term, nodes.term) and found:
            term["ids"].append(found.group().lower())
            if isinstance(item.parent, nodes.definition_list):
                item.parent["classes"] = ["rules"]
    for paragraph in list(doctree.findall(nodes.paragraph)):
        mark_decisions(paragraph)


def mark_decisions(paragraph: nodes.paragraph) -> None:
    """Wrap each `(D: …)` of a paragraph, up to the bracket that closes it."""
    children: list[nodes.Node] = []
    decision: nodes.inline | None = None
    depth = 0
    for child in list(paragraph):
        if not isinstance(child, nodes.Text):
            (children if decision is None else decision).append(child)
            continue
        for piece in re.split(r"(\(D: |[()])", child.astext()):
            if decision is None and piece == DECISION:
                mark = nodes.abbreviation("", "D", explanation="a decision of ours")
                mark["classes"] = ["decision-mark"]
                decision, depth = nodes.inline("", "", mark, classes=["decision"]), 0
                children.append(decision)
            elif decision is not None and piece == ")" and depth == 0:
                decision = None
            elif piece:
                depth += (piece == "(") - (piece == ")") if decision is not None else 0
                (children if decision is None else decision).append(nodes.Text(piece))
    if decision is not None:
        raise ValueError(f"a decision has no end: {paragraph.astext()}")
    paragraph.children = []
    paragraph.extend(children)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what this extension does."""
    app.connect("source-read", read_source)
    app.connect("env-before-read-docs", require_pages)
    app.connect("doctree-read", mark_rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
