"""The replay page: recorded games as one HTML file that needs no network.

In use::

    from tabletop_envs.arena import records, replay

    html = replay.page(records.read_records("games.jsonl"))

The page is `replay.html` with `page.css`, `replay.css`, `replay.js` and the games as JSON. It runs
no other script than that one (its Content-Security-Policy has the script's digest), and all that a
record says is shown as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import tabletop_envs
from tabletop_envs import checks
from tabletop_envs.arena import records
from tabletop_envs.arena.compact import Store, deltas, split
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.game import Snapshot
from tabletop_envs.render import svg

__all__ = ["page"]

# What the page begins with; "auto" is what the reader's system prefers.
PAGE_THEMES = ("auto", "light", "dark")
_USE, _ID = re.compile(r'href="#([^"]+)"'), re.compile(r' id="([^"]+)"')


def page(games: GameRecord | Iterable[GameRecord], *, theme: str = "auto") -> str:
    """A page that replays games: one file, for a browser, with everything in it.

    Args:
        games: The records. They are played by the rules while the page is made.
        theme: What the page begins with: `"light"`, `"dark"`, or the reader's system's (`"auto"`).

    Raises:
        TypeError, ValueError: For a wrong theme, no games, and a record that breaks the rules, by
            its place.
        ImportError: Without svg.py (extra `render`).
    """
    checks.choice("theme", theme, PAGE_THEMES)
    film = _Film()
    entries = []
    for number, record in enumerate([games] if isinstance(games, GameRecord) else games, 1):
        try:
            entries.append(_entry(record, film))
        except ValueError as error:
            raise ValueError(f"game {number}: {error}") from None
    if not entries:
        raise ValueError("there are no games to replay")
    document = {**film.to_json(), "games": entries}
    style = _file("page.css", "tabletop_envs.render") + _file("replay.css")
    script = _file("replay.js")
    policy = (
        "default-src 'none'",
        f"script-src {_digest(script)}",
        f"style-src {_digest(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return Template(_file("replay.html")).substitute(
        theme=theme,
        version=tabletop_envs.__version__,
        policy="; ".join(policy),
        style=style,
        script=script,
        data=_script_json(document),
    )


def _file(name: str, package: str = __package__) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _script_json(document: Mapping[str, Any]) -> str:
    """JSON in ASCII that can neither end the script element it stands in nor begin another."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")


class _Film:
    """Drawings as lists of parts, and the pieces that they share."""

    def __init__(self) -> None:
        self._store = Store()
        self._pieces: dict[str, int] = {}

    def draw(self, snapshot: Snapshot, previous: Snapshot | None) -> list[int]:
        """The parts of a drawing, in all themes."""
        drawings = [
            svg.draw(snapshot, theme=theme, previous=previous, fields=False, symbols=False)
            for theme in svg.THEMES
        ]
        if not self._pieces.keys() >= set(_USE.findall(drawings[0])):
            self._add_pieces(snapshot)
        return [self._store.add(part) for part in zip(*map(split, drawings), strict=True)]

    def _add_pieces(self, snapshot: Snapshot) -> None:
        pieces = [
            split(f"<defs>{svg.draw_symbols([snapshot], theme=theme)}</defs>")[1:-1]
            for theme in svg.THEMES
        ]
        for versions in zip(*pieces, strict=True):
            self._pieces[_ID.findall(versions[0])[0]] = self._store.add(versions)

    def to_json(self) -> dict[str, Any]:
        """Words, parts, and which parts are pieces."""
        return {
            "words": self._store.words(),
            "parts": self._store.parts(),
            "pieces": list(self._pieces.values()),
        }


# One game


def _entry(record: GameRecord, film: _Film) -> dict[str, Any]:
    """What the page knows of a game; its drawings consist of parts of the film."""
    drawings: list[list[int]] = []
    names: list[str] = []
    movers: list[int] = []
    actions = list(record.actions)
    illegal = (record.result or {}).get("illegal")
    if illegal is not None:
        actions.append(illegal)
    previous: Snapshot | None = None
    for env in records.replay(record):
        snapshot = env.snapshot()
        drawings.append(film.draw(snapshot, previous))
        if len(names) < len(actions) and snapshot["outcome"] is None:
            names.append(env.action_to_str(actions[len(names)]))
            movers.append(snapshot["to_move"])
        previous = snapshot
    if illegal is not None:
        names[-1] += " (illegal)"
    game = env.game
    sides = game.player_names[: len(record.agents)]
    players = [
        {
            "name": side,
            "agent": agent,
            "colours": [theme.of_player(game.palette, player) for theme in svg.THEMES.values()],
        }
        for player, (side, agent) in enumerate(zip(sides, record.agents, strict=True))
    ]
    return {
        "game": record.game,
        "setting": _setting(record),
        "players": players,
        "result": _result(record, sides),
        "winners": _winners(record),
        "actions": names,
        "movers": movers,
        "values": _values(record, len(drawings)),
        "notes": json.dumps(record.notes, indent=2, ensure_ascii=False) if record.notes else "",
        "drawings": deltas(drawings),
    }


def _setting(record: GameRecord) -> str:
    words = [f"{name} {str(value).lower()}" for name, value in record.options.items()]
    words.append("from a given position" if record.seed is None else f"seed {record.seed}")
    return ", ".join(words)


def _winners(record: GameRecord) -> list[int]:
    """The players with the best reward of a finished game; none in a draw of all."""
    rewards = [] if record.result is None else list(record.result["rewards"])
    if len(set(rewards)) < 2:
        return []
    return [player for player, reward in enumerate(rewards) if reward == max(rewards)]


def _result(record: GameRecord, names: Sequence[str]) -> str:
    if record.result is None:
        return "unfinished"
    winners = [names[player] for player in _winners(record)]
    verdict = f"{' and '.join(winners)} won" if winners else "draw"
    scores = " : ".join(str(score) for score in record.result["scores"])
    cut = ", ended by max_plies" if record.result["by_limit"] else ""
    illegal = ", an illegal action" if "illegal" in record.result else ""
    return f"{verdict}, scores {scores}{cut}{illegal}"


def _values(record: GameRecord, positions: int) -> list[list[float | None]] | None:
    """The estimates of the players' rewards, a row a position; at the end the rewards."""
    if record.values is None:
        return None
    nothing: list[float | None] = [None] * len(record.agents)
    rows = [[None if value is None else round(value, 4) for value in row] for row in record.values]
    rows += [nothing] * (positions - len(rows))
    if record.result is not None:
        rows[-1] = list(record.result["rewards"])
    return rows
