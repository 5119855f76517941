"""Files of records cut and damaged everywhere: read while whole, then refused by file and line."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.arena.tournaments import Tournament, play_match, tournament
from tabletop_envs.play import session
from tabletop_envs.play.session import Session
from tests.fuzz.values import SEED, report

pytestmark = pytest.mark.fuzz

# Short games, so that every byte can be tried.
SHORT: dict[str, dict[str, int | bool]] = {
    "kirche": {"num_houses": 1, "max_plies": 20},
    "tuerme": {"num_players": 3, "max_plies": 15},
    "meeples": {"num_players": 3, "max_plies": 40},
}
# What a byte is replaced by: of JSON's own characters, of other encodings, and none at all.
BYTES = [bytes([byte]) for byte in b'0159-+.eE"\\{}[],: \t\r\n\x00\x7f\xc3\xff'] + [
    b"",
    b"99",
    b"[[",
]
# So many bytes of each kind are tried at a place.
TRIES = 3


def _short_game(name: str, **more: Any) -> GameRecord:
    options = SHORT[name]
    players = int(options.get("num_players", 2))
    return play_match(name, ["random"] * players, 1, options)


def _damaged(content: bytes, rng: random.Random, tries: int = TRIES) -> Iterator[tuple[int, bytes]]:
    """A content with a byte replaced or taken out, or bytes put in, at each place."""
    for place in range(len(content)):
        for _ in range(tries):
            new = rng.choice(BYTES)
            cut = rng.random() < 0.7
            yield place, content[:place] + new + content[place + cut :]


def _near(content: bytes, place: int) -> str:
    return f"damaged at byte {place}: {content[max(0, place - 30) : place + 30]!r}"


@pytest.mark.parametrize("name", SHORT)
def test_a_file_cut_anywhere_is_read_up_to_there(name, tmp_path, capsys):
    path, record, counts = tmp_path / "games.jsonl", _short_game(name), Counter[str]()
    records.append(path, record, record)
    whole = path.read_bytes()
    line = whole.index(b"\n") + 1
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        complete = size // line
        assert list(records.read_records(path, half_line=True)) == [record] * complete, size
        found = []
        try:
            for one in records.read_records(path):
                found.append(one)
        except ValueError as error:
            assert str(error).startswith(f"{path}, line {complete + 1}: "), (size, str(error))
            counts["refused"] += 1
        else:
            # Only the end of the last line may be missing.
            assert size % line in (0, line - 1), size
            complete += size % line == line - 1
            counts["read"] += 1
        assert found == [record] * complete, size
    report(capsys, f"cut files of {name}", counts)


@pytest.mark.parametrize("name", SHORT)
def test_a_line_damaged_anywhere_is_named_or_is_a_record(name, tmp_path, capsys):
    path, record, counts = tmp_path / "games.jsonl", _short_game(name), Counter[str]()
    rng = random.Random(f"{SEED} {name}")
    first = (record.to_json() + "\n").encode()
    for place, damaged in _damaged(first, rng):
        path.write_bytes(first + damaged)
        found = []
        try:
            for one in records.read_records(path):
                found.append(one)
        except ValueError as error:
            # A line that was cut in two is two lines.
            assert re.match(rf"{re.escape(str(path))}, line \d: ", str(error)), str(error)
            assert len(str(error)) < 2000, _near(damaged, place)
            counts["refused"] += 1
        except BaseException as error:
            pytest.fail(f"{_near(damaged, place)}: {type(error).__name__}: {error}")
        else:
            counts["read"] += 1
        assert found[0] == record, _near(damaged, place)
        for one in found:
            # What is read is a game by the rules, and is written and read as the same.
            records.check(one)
            assert GameRecord.from_json(one.to_json()) == one, _near(damaged, place)
    report(capsys, f"damaged lines of {name}", counts)


AGENTS = ["random", "greedy"]


def _tournament_file(path: Path) -> bytes:
    options = {"num_houses": 1, "max_plies": 16}
    tournament("kirche", AGENTS, 6, 1, options, path, ratings=False)
    return path.read_bytes()


def _opened(path: Path) -> Tournament:
    options = {"num_houses": 1, "max_plies": 16}
    return Tournament("kirche", AGENTS, 6, 1, options, path, ratings=False)


def test_a_tournament_cut_anywhere_loses_at_most_the_game_that_was_cut(tmp_path, capsys):
    path, counts = tmp_path / "games.jsonl", Counter[str]()
    whole = _tournament_file(path)
    table = _opened(path).table()
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        resumed = _opened(path)
        assert len(resumed.finished) == whole[:size].count(b"\n"), size
        counts["resumed"] += 1
        if size % 50 == 0:
            for _ in resumed.play():
                pass
            assert resumed.table() == table, size
            assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines()), size
            counts["played to the end"] += 1
        del resumed  # and with it the lock on the file
    report(capsys, "cut tournaments", counts)


def test_a_tournament_damaged_anywhere_is_named_and_left_alone(tmp_path, capsys):
    path, counts = tmp_path / "games.jsonl", Counter[str]()
    whole = _tournament_file(path)
    for place, damaged in _damaged(whole, random.Random(SEED), tries=1):
        path.write_bytes(damaged)
        try:
            resumed = _opened(path)
        except ValueError as error:
            assert str(path) in str(error), str(error)
            assert path.read_bytes() == damaged, _near(damaged, place)
            counts["refused"] += 1
            continue
        except BaseException as error:
            pytest.fail(f"{_near(damaged, place)}: {type(error).__name__}: {error}")
        assert len(resumed.finished) <= 6
        # At most a half-written last line has gone.
        assert damaged.startswith(path.read_bytes()), _near(damaged, place)
        counts["resumed"] += 1
        del resumed  # and with it the lock on the file
    report(capsys, "damaged tournaments", counts)


@pytest.mark.parametrize("name", SHORT)
def test_a_saved_game_cut_or_damaged_anywhere_is_named_or_resumed(name, tmp_path, capsys):
    path, counts = tmp_path / "game.jsonl", Counter[str]()
    options = SHORT[name]
    play = Session(name, ["human"] * int(options.get("num_players", 2)), 1, options)
    for _ in range(8):
        play.play(next(iter(play.legal_moves().values())))
    session.save(path, play.record())
    whole = path.read_bytes()
    contents = [(size, whole[:size]) for size in range(len(whole) + 1)]
    contents += _damaged(whole, random.Random(f"{SEED} {name}"))
    for place, content in contents:
        path.write_bytes(content)
        try:
            record = session.load(path)
        except ValueError as error:
            assert str(path) in str(error), str(error)
            counts["refused"] += 1
            continue
        except BaseException as error:
            pytest.fail(f"{_near(content, place)}: {type(error).__name__}: {error}")
        counts["read"] += 1
        try:
            resumed = Session.resume(record)
        except ValueError as error:
            # Another name in the place of a person's, such as "huan".
            assert "agent" in str(error), (_near(content, place), str(error))
            continue
        assert resumed.record().actions == record.actions, _near(content, place)
    report(capsys, f"saved games of {name}", counts)
