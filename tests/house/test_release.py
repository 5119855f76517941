"""What is in the sdist and the wheel: all that belongs there, nothing large, nothing private.

`.ci/run wheel` builds both and says in `RELEASE_FOLDER` where they are; without it there is nothing
to look at.
"""

from __future__ import annotations

import email
import os
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import tabletop_envs

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOLDER = os.environ.get("RELEASE_FOLDER")
STEM = f"tabletop_envs-{tabletop_envs.__version__}"
SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "tabletop_envs").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
# Bytes that an archive, and a file in one, may have. What grows beyond it should be thought about
# first.
LARGEST_WHEEL, LARGEST_SDIST, LARGEST_FILE = 500_000, 2_500_000, 400_000
# What betrays the machine or the person that a release was made on. Put together so that this file
# is not found.
PRIVATE = re.compile(
    "|".join(
        [
            *(f"/{folder}/" + "[a-z]" for folder in ("home", "root", "Users", "work")),
            *(re.escape(str(place)) for place in (ROOT, Path.home()) if len(place.parts) > 1),
            "BEGIN [A-Z ]*PRIVATE" + " KEY",
            "gh[pousr]_" + "[A-Za-z0-9]{36}",
            "pypi-" + "AgEIcHlwaS5vcmc",
            "AKIA" + "[A-Z0-9]{16}",
        ]
    ).encode()
)

pytestmark = pytest.mark.skipif(not FOLDER, reason="no release has been built (.ci/run wheel)")


def wheel() -> dict[str, bytes]:
    """The files of the wheel."""
    with zipfile.ZipFile(Path(FOLDER or "") / f"{STEM}-py3-none-any.whl") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sdist() -> dict[str, bytes]:
    """The files of the sdist, without the folder that all are in."""
    with tarfile.open(Path(FOLDER or "") / f"{STEM}.tar.gz") as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
        assert all(member.isfile() and member.name.startswith(f"{STEM}/") for member in members)
        return {
            member.name.removeprefix(f"{STEM}/"): file.read()
            for member in members
            if (file := archive.extractfile(member))
        }


def test_the_folder_has_one_release():
    names = {path.name for path in Path(FOLDER or "").iterdir()}
    assert names == {f"{STEM}.tar.gz", f"{STEM}-py3-none-any.whl"}


def test_the_wheel_is_the_package_and_nothing_else():
    files = {name for name in wheel() if ".dist-info/" not in name}
    assert files == SOURCES
    assert "tabletop_envs/py.typed" in files


def test_the_sdist_has_what_its_tests_and_pages_need():
    files = sdist()
    assert {name.removeprefix("src/") for name in files if name.startswith("src/")} == SOURCES
    for folder in ("tests", "docs", "examples", "benchmarks"):
        there = (ROOT / folder).rglob("*.py")
        # Where the site was built, copies of the examples lie.
        expected = {p.relative_to(ROOT).as_posix() for p in there if "_build" not in p.parts}
        assert expected <= set(files)
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml"} <= set(
        files
    )
    assert [
        name for name in files if "cache" in name or name.endswith((".pyc", ".nbi", ".nbc"))
    ] == []


@pytest.mark.parametrize("files", [wheel, sdist])
def test_nothing_in_it_is_large(files):
    path = next(Path(FOLDER or "").glob("*.whl" if files is wheel else "*.tar.gz"))
    assert path.stat().st_size <= (LARGEST_WHEEL if files is wheel else LARGEST_SDIST)
    assert {name: len(data) for name, data in files().items() if len(data) > LARGEST_FILE} == {}


@pytest.mark.parametrize("files", [wheel, sdist])
def test_nothing_in_it_is_private(files):
    found = {name: PRIVATE.findall(data) for name, data in files().items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_what_is_private_would_be_found():
    for text in (f"/{'home'}/somebody", "-----BEGIN RSA PRIVATE" + " KEY-----", "ghp_" + "a1" * 18):
        assert PRIVATE.search(text.encode()), text


def test_the_metadata_is_that_of_the_project():
    metadata = email.message_from_bytes(wheel()[f"{STEM}.dist-info/METADATA"])
    assert metadata["Name"] == "tabletop-envs"
    assert metadata["Version"] == tabletop_envs.__version__
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["License-Expression"] == "MIT"
    assert f"{STEM}.dist-info/licenses/LICENSE" in wheel()
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    core = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert {re.match(r"[a-z]+", line)[0] for line in core} == {"numpy", "numba", "gymnasium", "pettingzoo"}  # fmt: skip
    assert wheel()[f"{STEM}.dist-info/entry_points.txt"].decode().split() == [
        "[console_scripts]", "tabletop-envs", "=", "tabletop_envs.cli:main",
    ]  # fmt: skip


def test_the_version_is_a_semantic_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", tabletop_envs.__version__)
