"""Game records: what is written can be read and replayed exactly, and what is wrong is named."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs import registry
from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.envs.aec import TabletopEnv
from tests.games import each_case, each_game, legal_actions, over, raw_env


def play_some(
    env: TabletopEnv, seed: int | None, steps: int = 10**9, choices: int = 3
) -> list[int]:
    """Play random actions in a new game (seed None: in the present one); the actions."""
    if seed is not None:
        env.reset(seed=seed)
    rng, actions = random.Random(choices), []
    while len(actions) < steps and not over(env):
        actions.append(rng.choice(legal_actions(env)))
        env.step(actions[-1])
    return actions


def finished(name: str, seed: int = 5, **options: Any) -> tuple[TabletopEnv, GameRecord]:
    env = raw_env(name, **options)
    actions = play_some(env, seed)
    agents = [f"agent {agent}" for agent in env.possible_agents]
    return env, records.record_of(env, seed, actions, agents)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@each_case
def test_a_record_is_one_line_and_replays_to_the_same_position(name, options):
    env, record = finished(name, **options)
    line = record.to_json()
    assert "\n" not in line
    assert GameRecord.from_json(line) == record
    document = json.loads(line)
    assert document["game"] == registry.batch_id(name)
    assert document["options"] == env.options
    assert document["result"] == env.snapshot()["outcome"]
    positions = [position.snapshot() for position in records.replay(record)]
    assert len(positions) == len(record.actions) + 1
    assert positions[-1] == env.snapshot()
    env.reset(seed=5)
    assert positions[0] == env.snapshot()


@each_game
def test_unfinished_games_and_games_from_a_snapshot(name):
    env = raw_env(name)
    actions = play_some(env, 8, 12)
    record = records.record_of(env, 8, actions, ["a", "b"], values=[[0.5, None]] * 12)
    assert record.result is None
    assert "result" not in json.loads(record.to_json())
    *_, last = records.replay(GameRecord.from_json(record.to_json()))
    assert last.snapshot() == env.snapshot()

    start = env.snapshot()
    more = play_some(env, None)
    record = records.record_of(env, None, more, ["a", "b"], start=start, notes={"puzzle": 3})
    record = GameRecord.from_json(record.to_json())
    assert (record.seed, record.start, record.notes) == (None, start, {"puzzle": 3})
    *_, last = records.replay(record)
    assert last.snapshot() == env.snapshot()


@each_case
def test_a_game_lost_by_an_illegal_action(name, options):
    env = raw_env(name, on_illegal="lose", **options)
    actions = play_some(env, 2, 7)
    illegal = int((env.action_mask() == 0).nonzero()[0][0])
    env.step(illegal)
    record = records.record_of(env, 2, [*actions, illegal], env.possible_agents)
    assert record.actions == actions
    assert record.result is not None
    assert record.result["illegal"] == illegal
    *_, last = records.replay(GameRecord.from_json(record.to_json()))
    assert last.snapshot() == env.snapshot()
    legal = record.actions.pop()
    record.result["illegal"] = legal
    with pytest.raises(ValueError, match="not illegal at the end"):
        records.check(record)


def test_reading_goes_on_until_the_first_bad_line(tmp_path):
    lines = [finished("kirche", seed, num_houses=1)[1].to_json() for seed in range(3)]
    path = write(tmp_path / "games.jsonl", *lines)
    assert [record.to_json() for record in records.read_records(path)] == lines
    write(path, lines[0], lines[1], lines[2][:-5])
    reader = records.read_records(path)
    assert [next(reader).seed, next(reader).seed] == [0, 1]
    with pytest.raises(ValueError, match=r"games\.jsonl, line 3: this is no JSON"):
        next(reader)
    path.write_text(lines[0] + "\n" + lines[1][:40], encoding="utf-8")
    reader = records.read_records(path)
    next(reader)
    with pytest.raises(ValueError, match=r"line 2: .*\(the file ends within this line\)"):
        next(reader)
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(ValueError, match="line 1"):
        next(records.read_records(path))


def changed(record: GameRecord, **changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(record.to_json())
    for key, value in changes.items():
        if value is ...:
            del document[key]
        else:
            document[key] = value
    return document


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format is 2, not 1"),
        ({"format": True}, "format is True"),
        ({"format": ...}, "lacks 'format'"),
        ({"game": "kirche-v1"}, "game is 'kirche-v1': the games are kirche-v0"),
        ({"game": "kirche"}, "game is 'kirche': the games are kirche-v0"),
        ({"game": ...}, "lacks 'game'"),
        ({"actions": ...}, "lacks 'actions'"),
        ({"colour": "red"}, "'colour', which is none of game, options"),
        ({"options": {"houses": 3}}, "kirche got an unexpected keyword argument 'houses'"),
        ({"options": {"num_houses": 8}}, "num_houses=8 must be an integer from 1 to 7"),
        ({"options": {"num_houses": True}}, "num_houses=True must be an integer from 1 to 7"),
        ({"options": [1]}, "options is"),
        ({"agents": ["a"]}, "agents has 1 entries, but must have 2"),
        ({"agents": ["a", 2]}, "agents has 2, not a name"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": True}, "seed=True must be an integer"),
        ({"seed": ...}, "either seed or start"),
        ({"start": {}}, "either seed or start"),
        ({"start": {}, "seed": ...}, "start: the snapshot lacks 'game'"),
        ({"actions": [0, 1.0]}, r"actions\[1\] is 1.0, but must be an integer"),
        ({"actions": [0, True]}, r"actions\[1\] is True, but must be an integer"),
        ({"actions": [1323]}, r"actions\[0\] is 1323, but must be an integer from 0 to 1322"),
        ({"actions": [0, 0]}, r"actions\[1\]: action 0 \(place nave 0,0 horizontal\).*illegal"),
        ({"actions": [0, 48], "result": ...}, None),
        ({"actions": [0, 48]}, "there is a result, but the game is not over"),
        ({"result": ...}, "there is no result, but the game is over"),
        ({"result": {}}, "result has the keys"),
        ({"values": [[1.0, -1.0]]}, "values has 1 entries, but must have"),
        ({"notes": 3}, "notes is 3"),
    ],
)
def test_what_is_wrong_with_a_record_is_named(tmp_path, changes, message):
    record = finished("kirche", max_plies=12)[1]
    path = write(tmp_path / "games.jsonl", record.to_json(), json.dumps(changed(record, **changes)))
    if message is None:
        assert len(list(records.read_records(path))) == 2
        return
    with pytest.raises(ValueError, match=f"line 2: .*{message}"):
        list(records.read_records(path))


@each_game
def test_a_result_that_the_game_does_not_have_is_named(name):
    record = finished(name, max_plies=30)[1]
    assert record.result is not None
    for key, value in [
        ("scores", [99, 98]),
        ("rewards", [0.5, -0.5]),
        ("by_limit", not record.result["by_limit"]),
    ]:
        document = changed(record, result={**record.result, key: value})
        with pytest.raises(ValueError, match=rf"result\['{key}'\] is"):
            records.check(GameRecord.from_json(json.dumps(document)))
    too_long = changed(record, actions=[*record.actions, 0])
    with pytest.raises(ValueError, match=rf"actions\[{len(record.actions)}\].*over before it"):
        records.check(GameRecord.from_json(json.dumps(too_long)))


def test_a_start_needs_its_chance_and_the_records_options():
    env = raw_env("meeples")
    play_some(env, 1, 5)
    start = env.snapshot()
    without = {key: value for key, value in start.items() if key != "rng"}
    with pytest.raises(ValueError, match="start lacks 'rng'"):
        records.record_of(env, None, [], ["a", "b"], start=without)
    record = records.record_of(env, None, [], ["a", "b"], start=start)
    other = json.dumps(changed(record, options={"dice_per_player": 2}))
    with pytest.raises(ValueError, match="those of start are"):
        records.check(GameRecord.from_json(other))


def test_numbers_that_json_lacks_are_refused():
    record = finished("kirche", max_plies=2)[1]
    line = record.to_json().replace('"max_plies":2', '"max_plies":NaN')
    with pytest.raises(ValueError, match="NaN"):
        GameRecord.from_json(line)
    with pytest.raises(ValueError, match="finite"):
        GameRecord(record.game, record.options, record.agents, [0], 1, values=[[float("nan"), 0]])


def test_the_actions_must_be_those_that_the_environment_has_seen():
    env = raw_env("tuerme")
    actions = play_some(env, 4, 6)
    with pytest.raises(ValueError, match="there are 5 actions, but the environment has seen 6"):
        records.record_of(env, 4, actions[:-1], ["a", "b"])


def test_appending_never_joins_a_half_written_line(tmp_path):
    path = tmp_path / "games.jsonl"
    first, second = (finished("kirche", seed, max_plies=20)[1] for seed in (1, 2))
    records.append(path, first)
    records.append(path)
    records.append(path, second, first)
    assert list(records.read_records(path)) == [first, second, first]
    whole = path.read_bytes()
    for length in (1, 100, 70_000):
        path.write_bytes(whole + b"x" * length)
        with pytest.raises(ValueError, match="half-written"):
            records.append(path, second)
        assert path.read_bytes() == whole + b"x" * length
        assert records.drop_half_line(path) == length
        assert path.read_bytes() == whole
        assert records.drop_half_line(path) == 0
    path.write_bytes(b"y" * 70_000)
    assert records.drop_half_line(path) == 70_000
    records.append(path, second)
    assert list(records.read_records(path)) == [second]
