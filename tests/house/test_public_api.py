"""Nothing public is removed or changed so that correct code may break, unless CHANGELOG.md says so:
griffe compares the source with that of the last release.
"""

from __future__ import annotations

import re
import subprocess

import griffe
import pytest

from tests.house.public_api import ROOT, load, members

# What is compared with until a release has a tag.
BEFORE_RELEASES = "787951dfebede2bb98dc0001f64061a6d0fd012d"


def git(*words: str) -> str:
    """What git answers; empty where it cannot."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def announced() -> str:
    """What the changelog says under Changed and Removed of what is to be released next."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.partition("\n## Unreleased\n")[2].partition("\n## ")[0]
    return "".join(re.findall(r"^### (?:Changed|Removed)\n(.*?)(?=^### |\Z)", unreleased, re.M | re.S))  # fmt: skip


def breaks(old: griffe.Module, new: griffe.Module, announced: str) -> list[str]:
    """How the public API of `new` breaks code for that of `old`, but for names in `announced`."""
    public = {one.canonical_path for one in members(old).values()}
    found = {}
    for breakage in griffe.find_breaking_changes(old, new):
        path = breakage.obj.canonical_path
        name = path.removeprefix(f"{breakage.obj.module.path}.")
        if path in public and not re.search(rf"`(?:[\w.]+\.)?{re.escape(name)}\b[^`]*`", announced):
            found[f"{path}: {breakage.explain(griffe.ExplanationStyle.ONE_LINE)}"] = None
    return [re.sub(r"\x1b\[\d+m", "", line) for line in found]


def test_what_is_public_stays():
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a clone")
    last = git("describe", "--tags", "--abbrev=0", "--match", "v*") or BEFORE_RELEASES
    if git("rev-parse", "--is-shallow-repository") == "true" and not git("cat-file", "-t", last):
        pytest.skip(f"a shallow clone: git fetch --unshallow --tags, to have {last}")
    old = griffe.load_git("tabletop_envs", ref=last, repo=ROOT, search_paths=["src"], resolve_aliases=True)  # fmt: skip
    found = breaks(old, load(), announced())
    assert not found, (
        f"correct code may break that ran with {last}; if that is meant, CHANGELOG.md must name it "
        "under Unreleased, Changed or Removed:\n" + "\n".join(found)
    )


OLD = """
__all__ = ["play", "Kept"]
def play(game, seed=0): ...
def helper(game): ...
class Kept:
    def step(self, action): ...
    def _inner(self, action): ...
"""
# Changes of it, and what is said to them.
BREAKS = {
    OLD.replace("play(game, seed=0)", "play(game)"): "play(seed)",
    OLD.replace("seed=0", "seed"): "play(seed)",
    OLD.replace("def step", "def steps"): "Kept.step",
    OLD.replace("helper(game)", "helper()").replace("_inner(self, action)", "_other(self)"): "",
    OLD.replace("seed=0", "seed=0, more=1"): "",
}


@pytest.mark.parametrize("new", BREAKS)
def test_a_break_of_what_is_public_is_seen(new):
    def package(code: str) -> griffe.Module:
        with griffe.temporary_visited_package("tabletop_envs", {"registry.py": code}) as loaded:
            return loaded

    found = breaks(package(OLD), package(new), "")
    assert [BREAKS[new] in line for line in found] == [True] * bool(BREAKS[new])
    assert not breaks(package(OLD), package(new), "- `Kept.step(action)` and `registry.play` are …")
