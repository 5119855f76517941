"""Records and saved games from anybody: every fault is a ValueError by file, line and place."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs import foreign
from tabletop_envs.arena import records, replay
from tabletop_envs.arena.records import GameRecord
from tests.arena.test_records import finished, write
from tests.cli.command_line import plain, run
from tests.games import each_game

HERE = "@@"  # where a document gets its damage
DAMAGE = {
    "long": "9" * 310,
    "longer": "-" + "9" * 4301,
    "deep": "[" * 992 + "]" * 992,
    "rather deep": "[" * 200 + "]" * 200,
    "deep objects": '{"a":' * 992 + "1" + "}" * 992,
    "too deep to read": "[" * 100_000,
    "NaN": "NaN",
    "infinity": "-Infinity",
    "huge": "1e400",
    "surrogate": '"\\ud800"',
    "surrogate as a key": '{"\\ud800": 1}',
    "twice": '{"a": 1, "a": 2}',
}
# What JSON may hold, but most places may not.
ODD = ["null", "true", "{}", "[]", "-1", "1.5", '""', '"\\u0000"', '"\\u001b[31m"', "1e308", "[[]]"]


def document(name: str) -> dict[str, Any]:
    record = finished(name, max_plies=12)[1]
    text = json.loads(record.to_json())
    text["values"] = [[0.5, None]] * len(record.actions)
    text["notes"] = {"a": [1, {"b": 2.5}]}
    GameRecord.from_json(json.dumps(text))
    return dict(text)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places of a document, of long lists only the first and the last entry."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1} if value else ()):
            yield from places(value[index], (*path, index))


def damaged(value: Any, path: tuple[Any, ...], damage: str) -> str:
    def put(value: Any, path: tuple[Any, ...]) -> Any:
        if not path:
            return HERE
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = put(value[path[0]], path[1:])
        return copy

    return json.dumps(put(value, path)).replace(f'"{HERE}"', damage)


def fault(path: Path, line: str) -> str:
    """What reading says of a line that nobody may take."""
    write(path, line)
    with pytest.raises(ValueError) as caught:
        list(records.read_records(path))
    assert str(caught.value).startswith(f"{path}, line 1: ")
    assert len(str(caught.value)) < 700
    return str(caught.value)


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_refused_at_every_place(tmp_path, damage):
    whole = document("kirche")
    for path in places(whole):
        fault(tmp_path / "games.jsonl", damaged(whole, path, damage))


@pytest.mark.parametrize(
    ("path", "damage", "words"),
    [
        (("values", 0, 0), "long", "values[0][0] must have at most 100 digits"),
        (("actions", 3), "longer", "actions[3] must have at most 100 digits"),
        (("notes", "a", 1, "b"), "longer", "notes['a'][1]['b'] must have at most 100 digits"),
        (("notes", "a"), "rather deep", "must have at most 100 levels"),
        (("notes",), "too deep to read", "nested too deep"),
        (("values", 1, 0), "huge", "values[1][0] must be a finite number"),
        (("values", 1, 0), "NaN", "NaN is no number of JSON"),
        (("agents", 1), "surrogate", "agents[1] must be text"),
        (("notes", "a"), "surrogate as a key", "a key of notes['a'] must be text"),
        (("notes", "a"), "twice", "the key 'a' stands twice"),
    ],
)
def test_the_place_is_named(tmp_path, path, damage, words):
    line = damaged(document("kirche"), path, DAMAGE[damage])
    assert words in fault(tmp_path / "games.jsonl", line)


@each_game
def test_what_is_read_can_be_replayed_and_written(name, tmp_path):
    whole, file = document(name), tmp_path / "games.jsonl"
    taken: list[GameRecord] = []
    faults: list[str] = []
    for path in places(whole):
        write(file, *(damaged(whole, path, odd) for odd in random.Random(str(path)).sample(ODD, 3)))
        try:
            for record in records.read_records(file):
                assert GameRecord.from_json(record.to_json()) == record
                replay.page(record)
                taken.append(record)
        except ValueError as error:
            faults.append(str(error))
    assert len(taken) > 3
    assert all(fault.startswith(f"{file}, line ") for fault in faults)


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path):
    line = json.dumps(document("kirche"))
    for length in range(1, len(line), 5):
        path = tmp_path / "games.jsonl"
        path.write_text(line[:length])
        with pytest.raises(ValueError, match=r"line 1: .*ends within this line"):
            list(records.read_records(path))


def test_a_line_has_a_limit(tmp_path, monkeypatch):
    record = finished("kirche", max_plies=12)[1]
    line = record.to_json()
    monkeypatch.setattr(foreign, "MAX_LINE", len(line) + 1)
    path = tmp_path / "games.jsonl"
    records.append(path, record)
    assert list(records.read_records(path)) == [record]
    with path.open("a") as file:
        file.write(line + "  \n" + line + "\n")
    with pytest.raises(ValueError, match="line 2: the line must have at most"):
        list(records.read_records(path))
    monkeypatch.setattr(foreign, "MAX_LINE", len(line))
    with pytest.raises(ValueError, match="a record must have less than"):
        records.append(path, record)


@pytest.mark.parametrize("value", [10**310, math.nan, math.inf, "a", True, [1]])
def test_records_made_in_python_are_checked_alike(value):
    with pytest.raises(ValueError, match=r"values\[0\]"):
        GameRecord("kirche-v0", {}, ["a", "b"], [0], 1, values=[[value, None]])
    result = {"scores": [1, 0], "rewards": [1.0, value], "by_limit": False}
    with pytest.raises(ValueError, match=r"result\['rewards'\]"):
        GameRecord("kirche-v0", {}, ["a", "b"], [0], 1, result=result)


@pytest.mark.parametrize("notes", [{"a": math.nan}, {"a": {1}}, {1: 2}, {"a": 10**100}])
def test_notes_that_no_reader_would_take_are_not_written(notes):
    record = GameRecord("kirche-v0", {}, ["a", "b"], [], 1, notes=notes)
    with pytest.raises(ValueError, match="notes"):
        record.to_json()
    loop: dict[str, Any] = {}
    loop["a"] = loop
    with pytest.raises(ValueError, match="levels"):
        GameRecord("kirche-v0", {}, ["a", "b"], [], 1, notes=loop).to_json()


# Files of other kinds


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes")
    os.mkfifo(path)
    return path


def test_pipes_are_no_files_of_records(pipe):
    record = finished("kirche", max_plies=12)[1]
    for use in (
        lambda: list(records.read_records(pipe)),
        lambda: records.append(pipe, record),
        lambda: records.drop_half_line(pipe),
    ):
        with pytest.raises(OSError, match="regular file"):
            use()


TOURNAMENT = "tournament kirche random greedy --games 1 --option max_plies=4 --output {}"


@pytest.mark.parametrize(
    "words",
    [
        TOURNAMENT,
        "play --resume {}",
        "play --web --no-open --resume {}",
        "play kirche --opponent random --save {}",
        "replay {}",
        "replay {games} -o {}",
    ],
)
def test_commands_refuse_what_is_no_file(words, pipe, tmp_path):
    games = tmp_path / "games.jsonl"
    records.append(games, finished("kirche", max_plies=12)[1])
    for path, message in [
        (pipe, "it must be a regular file"),
        (Path("/dev/full"), "it must be a regular file"),
        (tmp_path, "directory"),
        (tmp_path / "no" / "file", "no"),
        (tmp_path / ("x" * 300), "too long"),
    ]:
        if not path.parent.is_dir() and not path.is_relative_to(tmp_path):
            continue  # /dev is not everywhere
        command = words.format(path, games=games).split()
        assert message in plain(run(*command, exit_code=2).stderr)


@pytest.mark.parametrize("damage", [*DAMAGE.values(), '"\\u001b[31m"', "{"], ids=str)
def test_commands_refuse_damaged_files_in_words(damage, tmp_path):
    file = tmp_path / "games.jsonl"
    write(file, damaged(document("kirche"), ("actions", 0), damage))
    for command in (["play", "--resume"], ["replay"], TOURNAMENT.split()[:-1]):
        result = run(*command, str(file), exit_code=2)
        assert "line 1" in plain(result.stderr)
        assert "\x1b[31m" not in result.stderr.replace("\x1b[31m│", "")
