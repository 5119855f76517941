"""The file of a tournament: the games it has, if it is of the same tournament and agents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabletop_envs.arena import records
from tabletop_envs.arena.pairings import Plan
from tabletop_envs.arena.ratings import Outcome
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.checks import require_int


def seed_of(path: str | os.PathLike[str]) -> int | None:
    """The seed of the tournament in a file; None where the file is not there or has no game yet."""
    if not Path(path).is_file():
        return None
    for record in records.read_records(path, rules=False, half_line=True):
        seed = _tournament_of(record).get("seed")
        return seed if isinstance(seed, int) else None
    return None


def _tournament_of(record: GameRecord) -> Mapping[str, Any]:
    noted = record.notes.get("tournament")
    return noted if isinstance(noted, Mapping) else {}


def read_finished(path: str | os.PathLike[str], plan: Plan) -> list[Outcome]:
    """The games that a file has already; a half-written last line is removed.

    ValueError for a file of another tournament, or of other agents under the same names; it is not
    changed then.
    """
    if not Path(path).exists():
        return []
    finished: dict[int, Outcome] = {}
    for line, record in enumerate(records.read_records(path, half_line=True), 1):
        try:
            outcome = _outcome_of(record, plan)
            if finished.setdefault(outcome.number, outcome) != outcome:
                raise ValueError(f"this is another course of game {outcome.number} than before")
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}, line {line}: {error}") from None
    first = GameRecord(
        plan.settings()["game"], plan.options, list(plan.match(0).seats), [], plan.seed
    ).to_json()
    head = first[: first.index(',"agents"')].encode()
    with open(path, "rb") as file:
        half = file.read().rpartition(b"\n")[2][: len(head)]
    if not head.startswith(half):
        raise ValueError(f"{os.fspath(path)}: the last line is no game of this tournament")
    records.drop_half_line(path)
    # A file may have more games than are wanted now.
    return [outcome for number, outcome in finished.items() if number < plan.total]


def _outcome_of(record: GameRecord, plan: Plan) -> Outcome:
    """The outcome of a game of a plan; ValueError for the record of another game."""
    noted = _tournament_of(record)
    if not noted or record.result is None:
        raise ValueError("this is no game of a tournament")
    there = {**noted, "game": record.game, "options": record.options}
    for name, wanted in plan.settings().items():
        if there.get(name) != wanted:
            raise ValueError(
                f"this is a game of another tournament: its {name} is {there.get(name)!r}, "
                f"not {wanted!r}"
            )
    number = require_int("number", noted.get("number"), 0, 2**63)
    match = plan.match(number)
    if (record.seed, tuple(record.agents)) != (match.deal, match.seats):
        raise ValueError(f"seed or agents are not those of game {number}")
    expected = match.fingerprints or ()
    found = record.fingerprints or [None] * len(expected)
    for agent, own, other in zip(record.agents, expected, found, strict=True):
        if own != other:
            raise ValueError(
                f"this game was played by another agent {agent!r}: its fingerprint is {other!r}, "
                f"not {own!r}; a changed agent needs another name or another file"
            )
    return Outcome.of(number, record)
