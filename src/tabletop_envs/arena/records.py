"""Game records: a game as one line of JSON, checked against the rules and replayed exactly.

In use::

    from tabletop_envs.arena import records

    records.append("games.jsonl", records.record_of(env, 7, actions, ["random", "greedy"]))
    for record in records.read_records("games.jsonl"):  # every line checked against the rules
        for env in records.replay(record):
            print(env.render())

A line has the fields of `GameRecord`; what is None or empty is left out.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from tabletop_envs import checks, files, foreign, registry
from tabletop_envs.checks import require, require_bool, require_int, require_list, require_mapping
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Snapshot, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, engine

__all__ = [
    "FORMAT",
    "GameRecord",
    "append",
    "check",
    "drop_half_line",
    "read_records",
    "record_of",
    "replay",
]

FORMAT = 1
_RESULT_KEYS = ("scores", "rewards", "by_limit")


@dataclass(frozen=True)
class GameRecord:
    """One game, finished or not.

    Attributes:
        game: The game's id with its version, such as `kirche-v0`.
        options: The game's options; those not given get their defaults.
        agents: A name for each player, in the order of their seats.
        actions: The actions played, all of them legal.
        seed: What the game was reset with, 0 … 2^64 − 1. Either this or `start` is given.
        start: The snapshot that the game was restored from; where chance remains, with its `rng`.
        result: None while the game is unfinished, else its outcome as in `env.snapshot()`:
            `scores`, `rewards` and `by_limit`; in a game lost by an illegal action also `illegal`,
            that action.
        values: For each action the estimate of each player's reward before it, or None.
        notes: What the writer wants to keep beside: any JSON object.
        fingerprints: For each player what tells its agent from others of the same name
            (`agents.fingerprint`); None for one without.
        format: The version of this format.

    Raises:
        TypeError, ValueError: For what cannot be a game, naming it. `check` checks the rules.
    """

    game: str
    options: dict[str, int | bool]
    agents: list[str]
    actions: list[int]
    seed: int | None = None
    start: Snapshot | None = None
    result: dict[str, Any] | None = None
    values: list[list[float | None]] | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    fingerprints: list[str | None] | None = None
    format: int = FORMAT

    def __post_init__(self) -> None:
        require(
            type(self.format) is int and self.format == FORMAT,
            f"format is {self.format!r}: this version reads {FORMAT}",
        )
        game = registry.get_game_of_id(self.game)
        options = game.parse_options(require_mapping("options", self.options))
        object.__setattr__(self, "options", options)
        players = game.num_players(options)
        for agent in require_list("agents", self.agents, players):
            require(isinstance(agent, str), f"agents has {agent!r}, not a name")
        largest = game.kernel.num_actions - 1
        for index, action in enumerate(require_list("actions", self.actions)):
            if type(action) is not int or not 0 <= action <= largest:
                require_int(f"actions[{index}]", action, 0, largest)
        require((self.seed is None) != (self.start is None), "either seed or start is to be given")
        if self.start is None:
            checks.seed("seed", self.seed)
        else:
            require_mapping("start", self.start)
            if game.has_chance:
                require("rng" in self.start, "start lacks 'rng': without it chance is unknown")
        if self.result is not None:
            keys = require_mapping("result", self.result).keys()
            require(
                keys - {"illegal"} == set(_RESULT_KEYS),
                f"result has the keys {sorted(map(str, keys))}, not {', '.join(_RESULT_KEYS)}",
            )
            for key in ("scores", "rewards"):
                _require_numbers(self.result[key], f"result[{key!r}]", players)
            require_bool("result['by_limit']", self.result["by_limit"])
            if "illegal" in self.result:
                require_int("result['illegal']", self.result["illegal"], 0, largest)
        if self.values is not None:
            for index, row in enumerate(require_list("values", self.values, len(self.actions))):
                _require_numbers(row, f"values[{index}]", players, or_none=True)
        require_mapping("notes", self.notes)
        if self.fingerprints is not None:
            for text in require_list("fingerprints", self.fingerprints, players):
                require(
                    text is None or (isinstance(text, str) and text != ""),
                    f"fingerprints has {text!r}, which is neither a text nor None",
                )

    def to_json(self) -> str:
        """The record as one line of JSON, without the line's end.

        ValueError for `notes` that no reader would take, and for a line that is too long.
        """
        foreign.require_plain(self.notes, "notes")
        document = {"format": self.format}
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if value is not None and not (name == "notes" and not value):
                document[name] = value
        line = json.dumps(document, separators=(",", ":"), allow_nan=False)
        require(
            len(line) < foreign.MAX_LINE, f"a record must have less than {foreign.MAX_LINE} bytes"
        )
        return line

    @classmethod
    def from_json(cls, text: str | bytes) -> GameRecord:
        """The record of a line; the rules are not consulted (`check` does that).

        ValueError for bad JSON, for an unknown or missing key, another format, an unknown game or
        option, and for values that cannot be.
        """
        document = foreign.read_json(text)
        require(isinstance(document, dict), "a record is a JSON object")
        require("format" in document, "the record lacks 'format'")
        require(document["format"] == FORMAT, f"format is {document['format']!r}, not {FORMAT}")
        known = [f.name for f in fields(cls)]
        for key in document:
            require(key in known, f"the record has {key!r}, which is none of {', '.join(known)}")
        for key in ("game", "options", "agents", "actions"):
            require(key in document, f"the record lacks {key!r}")
        try:
            return cls(**document)
        except TypeError as error:
            raise ValueError(str(error)) from None


def _require_numbers(values: Any, name: str, count: int, *, or_none: bool = False) -> None:
    for value in require_list(name, values, count):
        # Not every int can be made a float.
        finite = type(value) in (int, float) and abs(value) <= sys.float_info.max
        require(
            finite or (or_none and value is None),
            f"{name} has {value!r}, which is no finite number{' or None' if or_none else ''}",
        )


# Writing


def record_of(
    env: TabletopEnv,
    seed: int | None,
    actions: Sequence[int],
    agents: Sequence[str],
    *,
    start: Snapshot | None = None,
    values: Sequence[Sequence[float | None]] | None = None,
    notes: Mapping[str, Any] | None = None,
    fingerprints: Sequence[str | None] | None = None,
) -> GameRecord:
    """The record of the game that an environment holds, finished or not.

    Args:
        env: The environment as it stands now, wrapped or not.
        seed: What it was reset with; None where it was restored from `start`.
        actions: All actions since then; in a game lost by an illegal action that one is the last.
        agents: A name for each player.
        start: The snapshot that it was restored from.
        values: As in `GameRecord`.
        notes: As in `GameRecord`.
        fingerprints: As in `GameRecord`.

    Raises:
        TypeError, ValueError: For wrong arguments, for a game that is not registered, and
            where `env` has seen another number of actions.
    """
    inner: TabletopEnv = env.unwrapped
    position = inner.snapshot()
    played = position["ply"] - (0 if start is None else start["ply"])
    largest = inner.game.kernel.num_actions - 1
    numbers = [
        checks.integer(f"actions[{index}]", action, 0, largest)
        for index, action in enumerate(actions)
    ]
    result = position["outcome"]
    if result is not None and len(numbers) == played + 1:
        # An illegal action is not counted as played.
        result = {**result, "illegal": numbers.pop()}
    require(
        len(numbers) == played,
        f"there are {len(numbers)} actions, but the environment has seen {played}",
    )
    return GameRecord(
        game=registry.batch_id(inner.game.name),
        options=dict(inner.options),
        agents=list(agents),
        actions=numbers,
        seed=None if seed is None else checks.seed("seed", seed),
        start=start,
        result=result,
        values=None if values is None else [list(row) for row in values],
        notes=dict(notes or {}),
        fingerprints=None if fingerprints is None else list(fingerprints),
    )


def append(path: str | os.PathLike[str], *records: GameRecord) -> None:
    """Write records at the end of a file, made if needed, and wait until the disk has them.

    All lines are one write, so that writers do not mix theirs, and a process killed in the middle
    leaves at worst a half-written last line. ValueError where the file ends in such a line:
    `drop_half_line` removes it. OSError for what cannot be written, and for a device or pipe.
    """
    lines = "".join(record.to_json() + "\n" for record in records).encode()
    files.require_regular_file(path)
    with open(path, "ab+", buffering=0) as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                raise ValueError(f"{os.fspath(path)} ends in a half-written line")
        while lines:
            lines = lines[file.write(lines) :]
        os.fsync(file.fileno())


def drop_half_line(path: str | os.PathLike[str]) -> int:
    """Remove what follows the last line's end of a file, as a killed process leaves it.

    Returns how many bytes were removed.
    """
    files.require_regular_file(path)
    with open(path, "rb+") as file:
        half = len(file.read().rpartition(b"\n")[2])
        file.truncate(file.tell() - half)
    return half


# Reading


def replay(record: GameRecord, **arguments: Any) -> Iterator[TabletopEnv]:
    """Play a recorded game: the environment at the start, and after each action (the same object).

    Args:
        record: The record.
        **arguments: More for the environment, such as `render_mode="ansi"`.

    Raises:
        ValueError: At the first action that the rules do not allow, by its index and name, and at
            the end where the result is not the one recorded.
    """
    arguments |= {"on_illegal": "raise", **record.options}
    env = TabletopEnv(registry.get_game(record.game), **arguments)
    _begin(env, record)
    yield env
    for index, action in enumerate(record.actions):
        if _over(env):
            raise ValueError(f"actions[{index}] is {action}, but the game was over before it")
        try:
            env.step(action)
        except ValueError as error:
            raise ValueError(f"actions[{index}]: {error}") from None
        yield env
    result = record.result or {}
    if "illegal" in result:
        illegal = result["illegal"]
        require(
            not _over(env) and not env.action_mask()[illegal],
            f"result['illegal'] is {illegal}, but that action is not illegal at the end",
        )
        env.on_illegal = "lose"
        env.step(illegal)
        yield env
    outcome = env.snapshot()["outcome"] or {}
    require(not outcome or bool(result), f"there is no result, but the game is over: {outcome}")
    require(not result or bool(outcome), "there is a result, but the game is not over")
    for key, value in outcome.items():
        require(
            result[key] == value,
            f"result[{key!r}] is {result[key]!r}, but the game ends with {value!r}",
        )


def _over(env: TabletopEnv) -> bool:
    return any(env.terminations.values())


def _begin(env: TabletopEnv, record: GameRecord) -> None:
    if record.start is None:
        env.reset(seed=record.seed)
        return
    try:
        env.restore(record.start)
    except ValueError as error:
        raise ValueError(f"start: {error}") from None
    require(
        env.options == record.options,
        f"options are {record.options}, but those of start are {env.options}",
    )


def check(record: GameRecord) -> None:
    """Replay a record; ValueError for the first illegal action, and for a wrong result."""
    if not _is_plain_and_right(record):
        for _ in replay(record):
            pass


def _is_plain_and_right(record: GameRecord) -> bool:
    """Whether a game from a seed agrees with the rules: fast, but it cannot say why not."""
    if record.seed is None:
        return False
    game = registry.get_game(record.game)
    states, words = game.new_states(1, record.options), engine.new_legal(game.kernel)
    engine.seed_lanes(states, np.zeros(1, np.uint64), np.array([record.seed], np.uint64))
    result = np.zeros(3 + len(record.agents), np.int64)
    engine.advance_one(states, words, engine.START, 0, result)
    for action in record.actions:
        # A finished game has no legal action.
        if not engine.advance_one(states, words, engine.STEP, action, result):
            return False
    status, _, _, *scores = result.tolist()
    if status == RUNNING:
        return record.result is None
    rewards = rewards_of_scores(scores)
    outcome = {"scores": scores, "rewards": rewards, "by_limit": status == BY_LIMIT}
    return record.result == outcome


def read_records(
    path: str | os.PathLike[str], *, rules: bool = True, half_line: bool = False
) -> Iterator[GameRecord]:
    """The records of a file, one after the other.

    Args:
        path: A file with one record a line.
        rules: Whether each record is checked against the rules (`check`).
        half_line: Whether a last line without its end, as a killed process leaves it, is skipped.

    Raises:
        ValueError: At the first bad line, naming file, line and fault.
        OSError: If the file cannot be read, or is a device or pipe.
    """
    rules, half_line = checks.boolean("rules", rules), checks.boolean("half_line", half_line)
    files.require_regular_file(path)
    with open(path, "rb") as file:
        lines = foreign.read_lines(file)
        for number in itertools.count(1):
            half = ""
            try:
                line = next(lines, None)
                if line is None:
                    return
                if not line.endswith(b"\n"):
                    half = " (the file ends within this line)"
                    if half_line:
                        return
                record = GameRecord.from_json(line)
                if rules:
                    check(record)
            except ValueError as error:
                fault = foreign.shorten(str(error))
                raise ValueError(f"{os.fspath(path)}, line {number}: {fault}{half}") from None
            yield record
