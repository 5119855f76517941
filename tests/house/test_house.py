"""The order of the house: files say what they are for, every module has its place among the layers,
extras exist.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tabletop_envs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CODE = sorted(
    path.relative_to(ROOT)
    for folder in ("src", "benchmarks", "docs", "examples", "tests")
    for ending in ("py", "js", "css")
    for path in (ROOT / folder).rglob(f"*.{ending}")
    if "_build" not in path.parts
)
MODULES = sorted(
    ".".join(("tabletop_envs", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)  # fmt: skip


def first_words(path: Path) -> str:
    """The first paragraph of a module's docstring, or the comment that a script or style sheet
    opens with.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    text = text.removeprefix('"use strict";\n')
    comment = re.match(r"/\*((?s:.*?))\*/|((?://.*\n)+)", text)
    return re.sub(r"^// ?", "", comment[1] or comment[2], flags=re.MULTILINE) if comment else ""


def test_every_file_says_what_it_is_for_in_its_first_line():
    assert len(CODE) > 200
    opening = {str(path): first_words(ROOT / path).strip() for path in CODE}
    assert {
        path: words for path, words in opening.items() if not words.endswith((".", ":", "?"))
    } == {}


def layers() -> set[str]:
    """The modules that the contract of all layers names."""
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]
    return {name.strip(" ()") for layer in contract["layers"] for name in re.split(r"[|:]", layer)}


# The layers do not name the top, which stands on all of them.
SPREAD = {"tabletop_envs"}


def places(module: str) -> set[str]:
    """The module and the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts) + 1)}


def test_every_module_has_its_place_among_the_layers():
    """A module that no layer of [tool.importlinter] in pyproject.toml has would escape the check."""
    assert [
        module for module in MODULES if module not in SPREAD and not places(module) & layers()
    ] == []


def test_the_layers_name_modules_that_exist():
    assert layers() - {"tabletop_envs.testing"} <= set(MODULES)


def test_the_map_has_every_room():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = set(re.findall(r"[\w/]+/|\w+\.py", guide.split("```text\n")[1].split("```")[0]))
    places = [path for folder in (PACKAGE, PACKAGE / "kernels") for path in folder.iterdir()]
    places = [path for path in places if not path.name.startswith("__")]
    there = {path.name + "/" * path.is_dir() for path in places if path.suffix in ("", ".py")}
    assert {name for name in there if not name.endswith("_v0.py")} <= rooms
    known = {*there, "__init__.py", "_v0.py"}
    assert rooms <= known.union(path.name for path in (PACKAGE / "search").iterdir())


def uses_of_extras() -> list[tuple[str, str]]:
    """Where `extras.require` is called, and the extra that it names."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node.args[1].value)
        for path in PACKAGE.rglob("*.py")
        if "from tabletop_envs.extras import" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "require"
        and isinstance(node.args[1], ast.Constant)
    ]


def test_the_extras_that_errors_name_exist():
    uses = uses_of_extras()
    assert len(uses) > 10
    known = PROJECT["project"]["optional-dependencies"]
    assert [(place, extra) for place, extra in uses if extra not in known] == []
