"""Games behind the page, for the tests of what it tells and does."""

from __future__ import annotations

import random
from typing import Any

from tabletop_envs import registry
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame
from tests.play.test_play import agents_of


def new_game(
    name: str, options: dict[str, Any] | None = None, seat: int = 0, **more: Any
) -> WebGame:
    options = options or {}
    return WebGame(Session(name, agents_of(name, options, seat), 7, options), **more)


def from_snapshot(name: str, snapshot: dict[str, Any], agents: list[str], **more: Any) -> WebGame:
    options = snapshot["options"]
    record = GameRecord(registry.batch_id(name), options, agents, [], start=snapshot)
    return WebGame(Session.resume(record), **more)


def go_on(web: WebGame) -> dict[str, Any]:
    """Let agents play until the person has a choice or the game is over; the state then."""
    while True:
        state = web.state()
        if state["yours"] or state["outcome"]:
            return state
        web.advance(state["version"])


def play_some(web: WebGame, choices: int, seed: int = 1) -> dict[str, Any]:
    rng = random.Random(seed)
    for _ in range(choices):
        state = go_on(web)
        if state["outcome"]:
            return state
        web.play(state["version"], rng.choice(state["legal"])["action"])
    return go_on(web)
