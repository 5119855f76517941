"""The command `tabletop-envs replay`: its page, wrong words and bad files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs.arena import records, replay
from tests.arena.test_replay import Page, some
from tests.cli.command_line import plain, run


@pytest.fixture
def games(tmp_path):
    file = tmp_path / "games.jsonl"
    records.append(
        file, some("kirche", 5, ["a", "b"]), some("kirche", 6, ["c", "d"]), some("meeples", 7)
    )
    return file


def shown(page: Path) -> list[int]:
    """How many actions the games of a page have."""
    return [len(game["actions"]) for game in Page(page.read_text(encoding="utf-8")).data["games"]]


def test_the_command_writes_a_page(games, tmp_path):
    page = tmp_path / "page.html"
    output = plain(run("replay", str(games), "-o", str(page), "--theme", "dark").output)
    assert "3 games" in output
    assert f"{-(-page.stat().st_size // 1000)} kB" in output
    assert page.read_text(encoding="utf-8") == replay.page(
        records.read_records(games), theme="dark"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "page.html"]


def test_without_a_name_the_page_lies_beside_the_games(games):
    run("replay", str(games))
    assert shown(games.with_name("games.html")) == [5, 6, 7]


def test_games_are_chosen_by_number(games, tmp_path):
    page = tmp_path / "page.html"
    run("replay", str(games), "-o", str(page), "--game", "3", "--game", "1")
    assert shown(page) == [5, 7]
    for number in ("0", "4", "-1"):
        output = plain(
            run("replay", str(games), "-o", str(page), "--game", number, exit_code=2).output
        )
        assert f"has no game {number}" in output
    assert shown(page) == [5, 7]


def test_a_bad_line_is_named_and_the_old_page_stays(games, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    lines = games.read_text().splitlines()
    tampered = lines[1].replace('"actions":[', '"actions":[1322,')
    games.write_text("\n".join([lines[0], tampered, lines[2]]) + "\n")
    output = plain(run("replay", str(games), "-o", str(page), exit_code=2).output)
    assert "line 2:" in output
    assert page.read_text() == "old"
    # What comes after the game that is wanted does not matter.
    run("replay", str(games), "-o", str(page), "--game", "1")
    assert shown(page) == [5]


def test_a_page_that_cannot_be_written_leaves_the_old_one(games, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in plain(run("replay", str(games), "-o", str(page), exit_code=2).output)
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "page.html"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl cannot be read"),
        (("empty.jsonl",), "has no games"),
        (("games.jsonl", "-o", "nowhere/page.html"), "there is no folder nowhere"),
        (("games.jsonl", "-o", "."), ". must be a file, not a directory"),
        (("games.jsonl", "-o", "games.jsonl"), "games.jsonl has the games"),
        (("games.jsonl", "--theme", "blue"), "'blue' must be one of auto, light, dark"),
    ],
)
def test_wrong_words_are_named(games, monkeypatch, words, message):
    monkeypatch.chdir(games.parent)
    before = games.read_bytes()
    Path("empty.jsonl").touch()
    assert message in plain(run("replay", *words, exit_code=2).output)
    assert games.read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["empty.jsonl", "games.jsonl"]


def test_the_command_names_the_extra(games, monkeypatch):
    monkeypatch.setitem(sys.modules, "svg", None)
    assert "tabletop-envs[render]" in plain(run("replay", str(games), exit_code=1).output)


def test_ctrl_c_leaves_the_old_page(games, monkeypatch):
    page = games.with_name("games.html")
    page.write_text("old")

    def interrupted(*_: Any, **__: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(replay, "page", interrupted)
    run("replay", str(games), exit_code=130)
    assert page.read_text() == "old"
