"""The game behind the page: its state as JSON, moves, undo, new games and records. Knows nothing of the web.

Every change makes a new *version*, and every request names the version that its page shows: what was asked for in an older
state changes nothing. Any number of threads may call.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_envs import checks, registry
from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.play.session import HUMAN, NOTHING_TO_UNDO, Session, save
from tabletop_envs.play.web.guide import steps
from tabletop_envs.play.web.pacing import choose
from tabletop_envs.render import svg
from tabletop_envs.render.svg.themes import get_theme

HINT_AGENT = "mcts:1000"
# What the form for a new game offers; everything else that `make_agent` knows is accepted, too.
OFFERED_AGENTS = (HUMAN, "random", "greedy", "mcts:100", "mcts:400", "mcts:1600", "mcts:6400")


class StaleError(Exception):
    """The request belongs to an older state of the game."""


class RefusedError(ValueError):
    """The request cannot be met in the present state of the game, which is unchanged."""


class WebGame:
    """A game, and those played before it.

    Args:
        session: The game to begin with.
        think_seconds: How long an agent's search may take for one action.
        path: A file for the records of all games played, written at the end of each and by `save`; None: there is none.
        say: Told what a person in front of the server should know.

    Attributes:
        session: The game being played.
        games_saved: How many games the file has that was written last.

    Raises:
        TypeError, ValueError: For an impossible `think_seconds`.
    """

    def __init__(
        self,
        session: Session,
        *,
        think_seconds: float = 5.0,
        path: Path | None = None,
        say: Callable[[str], object] = print,
    ) -> None:
        self.think_seconds = checks.number("think_seconds", think_seconds, above=0, high=3600)
        self.path = path
        self._say = say
        self._lock = threading.RLock()
        self._thinking = threading.Lock()
        self._version = 0
        self._earlier: list[GameRecord] = []
        self._notice = ""
        self.games_saved = 0
        self._begin(session)

    def _begin(self, session: Session) -> None:
        self.session = session
        record = session.record()
        self._seed = record.seed if record.start is None else int(record.start.get("rng", 0))
        # Beside each action: who played it, its name, whether it was the only one.
        self._log: list[dict[str, Any]] = []
        for env, action in zip(records.replay(record), record.actions, strict=False):
            player = env.possible_agents.index(env.agent_selection)
            only = int(env.action_mask().sum()) == 1
            self._write(player, env.action_to_str(action), only)

    def _write(self, player: int, name: str, only: bool) -> None:
        self._log.append({"player": player, "name": name, "only": only})

    # Looking

    @property
    def _viewer(self) -> int | None:
        """For whose eyes the page is: the person in turn, or the only one; everybody's without people and after the end."""
        session = self.session
        people = [player for player, name in enumerate(session.agents) if name == HUMAN]
        if session.over or not people:
            return None
        return session.player if session.player in people else people[0]

    def state(self, theme: str = "light") -> dict[str, Any]:
        """All that the page shows, as JSON types; nothing in it that the person before it must not know.

        ValueError for an unknown theme.
        """
        colours = get_theme(theme)
        with self._lock:
            session, viewer = self.session, self._viewer
            env = session.env
            snapshot = env.snapshot()
            game = env.game
            players = [
                {
                    "name": game.player_names[player],
                    "agent": agent,
                    "score": env.infos[env.possible_agents[player]]["score"],
                    "colours": colours.of_player(game.palette, player),
                }
                for player, agent in enumerate(session.agents)
            ]
            actions = session.legal_moves() if session.human_to_move else {}
            moves = {action: game.decode(action, snapshot) for action in actions.values()}
            told = len(self._log) - (0 if session.over else game.num_untold(snapshot, viewer))
            return {
                "version": self._version,
                "game": registry.batch_id(game.name),
                "options": dict(env.options),
                "ply": snapshot["ply"],
                "players": players,
                "turn": None if session.over else session.player,
                "yours": len(moves) > 1,
                "prompt": game.prompt(snapshot, moves.values()) if moves else "",
                "legal": [
                    {"action": action, "name": name, "steps": steps(action, moves[action])}
                    for name, action in actions.items()
                ],
                "viewer": viewer,
                "curtain": self._has_curtain(game.has_secrets(env.options)),
                "svg": env.svg(
                    viewer=None if viewer is None else env.possible_agents[viewer], theme=theme
                ),
                "cut": svg.cut_of(game.name),
                "taken": game.occupied(snapshot),
                "log": self._log[:told],
                "outcome": snapshot["outcome"],
                "can_undo": session.can_undo,
                "can_record": self._may_have_record(),
                "hint_agent": HINT_AGENT,
                "think_seconds": self.think_seconds,
                "notice": self._notice,
            }

    def _has_curtain(self, hides: bool) -> bool:
        """Whether several people at one screen must not see each other's hands."""
        return hides and not self.session.over and self.session.agents.count(HUMAN) > 1

    def _may_have_record(self) -> bool:
        """A record holds the seed, and so all that is hidden and all chance to come."""
        session = self.session
        game = session.env.game
        tells = game.has_chance or game.has_secrets(session.env.options)
        return session.over or not tells or HUMAN not in session.agents

    def record(self) -> tuple[str, str]:
        """A file's name and the record of the game as its only line.

        RefusedError while the record would tell what is hidden from a player, or chance to come.
        """
        with self._lock:
            if not self._may_have_record():
                raise RefusedError("the record would tell what is hidden before the game is over")
            record = self.session.record()
            return f"{file_stem(record)}.jsonl", f"{record.to_json()}\n"

    @staticmethod
    def choices() -> dict[str, Any]:
        """What a new game can be, for the form: games with their options and players' names, and agents."""
        games = []
        for name in registry.game_names():
            game = registry.get_game(name)
            most = next((o.maximum for o in game.options if o.name == "num_players"), 2)
            options = [
                {
                    "name": option.name,
                    "default": option.default,
                    "minimum": option.minimum,
                    "maximum": option.maximum,
                    "meaning": option.meaning,
                }
                for option in game.options
            ]
            players = game.player_names[:most]
            games.append({"game": registry.batch_id(name), "options": options, "players": players})
        return {"games": games, "agents": list(OFFERED_AGENTS)}

    # Changing

    def _require_version(self, version: int) -> None:
        if version != self._version:
            raise StaleError(
                f"the game is at version {self._version}, the page at {version}: nothing was done"
            )

    def play(self, version: int, action: int) -> None:
        """Play an action for the person in turn. RefusedError, naming it, if it is none of the legal ones."""
        with self._lock:
            self._require_version(version)
            if not self.session.human_to_move:
                raise RefusedError("no person is in turn")
            if action not in self.session.legal_moves().values():
                raise RefusedError(f"action {action} is not legal here")
            self._play(action)

    def _play(self, action: int) -> None:
        player, only = self.session.player, len(self._actions()) == 1
        name = self.session.play(action)
        self._write(player, name, only)
        self._changed()
        if self.session.over:
            self._save_all()

    def _actions(self) -> list[int]:
        return [int(action) for action in np.flatnonzero(self.session.env.action_mask())]

    def _changed(self) -> None:
        self._version += 1
        self._notice = ""

    def advance(self, version: int) -> None:
        """Let the agent in turn play, or play the only action that there is for a person.

        RefusedError where a person has a choice, and after the end.
        """
        with self._thinking:
            with self._lock:
                self._require_version(version)
                session, env = self.session, self.session.env
                if session.over:
                    raise RefusedError("the game is over")
                actions = self._actions()
                if session.human_to_move and len(actions) > 1:
                    raise RefusedError("a person is in turn")
                agent, rng = session.agents[session.player], self._rng(session.player)
            action = actions[0]
            if len(actions) > 1:
                # Meanwhile all else goes on: undo and new games need not wait.
                action = choose(agent, env, rng, self.think_seconds)
            with self._lock:
                self._require_version(version)
                self._play(action)

    def _rng(self, player: int) -> np.random.Generator:
        return np.random.default_rng([self._seed or 0, len(self._log), player + 1])

    def hint(self, version: int) -> tuple[int, str]:
        """The action that a search would choose for the person in turn, and its name; nothing is changed."""
        with self._lock:
            self._require_version(version)
            if not self.session.human_to_move:
                raise RefusedError("no person is in turn")
            env, rng = self.session.env, self._rng(-1)
        with self._thinking:
            action = choose(HINT_AGENT, env, rng, self.think_seconds)
        return action, env.action_to_str(action)

    def undo(self, version: int) -> None:
        """Go back to the last choice of a person. RefusedError where there is none."""
        with self._lock:
            self._require_version(version)
            if not self.session.undo():
                raise RefusedError(NOTHING_TO_UNDO)
            del self._log[len(self.session.actions) :]
            self._changed()

    def new_game(
        self,
        version: int,
        game: str,
        agents: list[str],
        options: Mapping[str, Any],
        seed: int | None,
    ) -> None:
        """Begin another game; the one before it is kept for the file of records.

        RefusedError, naming what is impossible, with nothing changed.
        """
        try:
            described = registry.get_game(game)
            players = described.num_players(described.parse_options(options))
            if len(agents) != players:
                raise ValueError(f"there are {len(agents)} agents for {players} players")
            session = Session(game, agents, seed, options)
        except (TypeError, ValueError) as error:
            raise RefusedError(str(error)) from None
        with self._lock:
            self._require_version(version)
            self._earlier += self._current()
            self._begin(session)
            self._changed()
            self._save_all()

    # Files

    def _current(self) -> list[GameRecord]:
        return [self.session.record()] if self._log else []

    def _save_to(self, path: Path, games: list[GameRecord]) -> bool:
        try:
            save(path, *games)
        except OSError as error:
            self._notice = f"{path} cannot be written: {error.strerror or error}"
            self._say(self._notice)
            return False
        self.games_saved = len(games)
        return True

    def _save_all(self) -> bool:
        """Whether there are games and a file for them, which has been written."""
        games = [*self._earlier, *self._current()]
        return self.path is not None and bool(games) and self._save_to(self.path, games)

    def save(self) -> Path | None:
        """Save all games to the file for them. Without one, or where it cannot be written: an unfinished one to a new file here.

        Returns where they are; None if there was nothing to save or no file could be written, which is said.
        """
        with self._lock:
            if self._save_all():
                return self.path
            games = self._current() if self.path is None else [*self._earlier, *self._current()]
            if not games or (self.path is None and self.session.over):
                return None
            path = _new_path(games[-1])
            return path if self._save_to(path, games) else None


def file_stem(record: GameRecord) -> str:
    """The name of a record's file, without its ending."""
    return f"{record.game}-{'puzzle' if record.seed is None else record.seed}"


def _new_path(record: GameRecord) -> Path:
    stem = file_stem(record)
    names = (
        f"{stem}.jsonl",
        *(f"{stem}-{number}.jsonl" for number in range(2, 1000)),
        f"{stem}-{os.getpid()}-{sys.maxsize}.jsonl",
    )
    return next(path for path in map(Path, names) if not path.exists())
