"""The game behind the page: its state as JSON, moves, undo, new games and records, without any web.

It adds to a `Session` what several requests at once need. Every change makes a new *version*, and
every request names the version that its page shows: one for an older version changes nothing. Any
number of threads may call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tabletop_envs import checks, registry
from tabletop_envs.agents.naming import AgentSpec, split_spec
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.game import Move
from tabletop_envs.play import session as sessions
from tabletop_envs.play.background import Compiling
from tabletop_envs.play.session import HUMAN, NOTHING_TO_UNDO, AgentError, Session
from tabletop_envs.render import svg
from tabletop_envs.render.svg.themes import get_theme

# Who may play in a new game, besides the agents that the page was started with.
OFFERED_AGENTS = (HUMAN, "random", "greedy", "mcts:100", "mcts:400", "mcts:1600", "mcts:6400")


class StaleError(Exception):
    """The request belongs to an older state of the game."""


class RefusedError(ValueError):
    """The request cannot be met in the present state of the game, which is unchanged."""


class WebGame:
    """A game, and those played before it.

    Args:
        session: The game to begin with. Its agents are offered for new games, too.
        agents: More agents that are offered (`agents.naming.AgentSpec`). A request can name none
            but those that are offered.
        think_seconds: How long an agent's search may take for one action.
        path: A file for the records of all games played, written at the end of each and by `save`;
            None: there is none.
        say: Told what a person in front of the server should know.
        compiling: Compiles each game's agents in the background, and knows whether Numba compiles;
            None: nobody does.

    Attributes:
        session: The game being played.
        games_saved: How many games the file has that was written last.

    Raises:
        TypeError, ValueError, ImportError: For a wrong `think_seconds`, and for what is no agent.
    """

    def __init__(
        self,
        session: Session,
        *,
        agents: Sequence[AgentSpec] = (),
        think_seconds: float = 5.0,
        path: Path | None = None,
        say: Callable[[str], object] = print,
        compiling: Compiling | None = None,
    ) -> None:
        self.session = session
        self.think_seconds = checks.number("think_seconds", think_seconds, above=0, high=3600)
        self.path = path
        self.games_saved = 0
        named = {**dict(map(split_spec, agents)), **session.named}
        self._offered: dict[str, AgentSpec] = {name: name for name in OFFERED_AGENTS}
        self._offered |= {name: (name, agent) for name, agent in named.items()}
        self._say = say
        self._compiling = compiling
        self._lock = threading.RLock()
        self._thinking = threading.Lock()
        self._version = 0
        self._earlier: list[GameRecord] = []
        self._notice = ""

    # Looking

    def state(self, theme: str = "light") -> dict[str, Any]:
        """All that the page shows, as JSON types, and nothing that its person must not know.

        ValueError for an unknown theme.
        """
        colours = get_theme(theme)
        with self._lock:
            session, env, viewer = self.session, self.session.env, self.session.viewer
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
            untold = 0 if session.over else game.num_untold(snapshot, viewer)
            several = session.agents.count(HUMAN) > 1
            drawn = svg.has_drawing(game)
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
                    {"action": action, "name": name, "steps": _steps(action, moves[action], drawn)}
                    for name, action in actions.items()
                ],
                "viewer": viewer,
                # Several people at one screen must not see each other's hands.
                "curtain": several and not session.over and game.has_secrets(env.options),
                "svg": env.svg(
                    viewer=None if viewer is None else env.possible_agents[viewer], theme=theme
                ),
                "cut": svg.cut_of(game),
                "taken": game.occupied(snapshot),
                "log": [
                    {"player": move.player, "name": move.name, "only": move.only}
                    for move in session.moves[: len(session.moves) - untold]
                ],
                "outcome": snapshot["outcome"],
                "can_undo": session.can_undo,
                "can_record": self._may_have_record(),
                "hint_agent": sessions.HINT_AGENT,
                "think_seconds": self.think_seconds,
                "notice": self._notice,
            }

    def _may_have_record(self) -> bool:
        """Whether a record, which holds the seed, tells nothing that is hidden or to come."""
        session = self.session
        game = session.env.game
        tells = game.has_chance or game.has_secrets(session.env.options)
        return session.over or not tells or HUMAN not in session.agents

    def record(self) -> tuple[str, str]:
        """A file's name, and the record of the game as its only line.

        RefusedError while the record would tell what is hidden from a player, or chance to come.
        """
        with self._lock:
            if not self._may_have_record():
                raise RefusedError("the record would tell what is hidden before the game is over")
            record = self.session.record()
            return f"{sessions.file_stem(record)}.jsonl", f"{record.to_json()}\n"

    def choices(self) -> dict[str, Any]:
        """What a new game can be: games with their options and players' names, and agents."""
        games = []
        for game in registry.all_games():
            most = next((o.maximum for o in game.options if o.name == "num_players"), 2)
            options = [asdict(option) for option in game.options]
            players = game.player_names[:most]
            entry = {"game": registry.batch_id(game.name), "options": options, "players": players}
            games.append(entry)
        return {"games": games, "agents": list(self._offered)}

    # Compiling

    def compile_behind(self) -> None:
        """Compile the game's agents, and who gives hints, in the background."""
        if self._compiling is not None:
            timed = partial(sessions.choose_at_once, seconds=self.think_seconds)
            self._compiling.behind(self.session.agents, self.session.env, timed)

    @property
    def is_compiling(self) -> bool:
        """Whether Numba is compiling: what is asked for meanwhile may take longer."""
        return self._compiling is not None and self._compiling.active

    # Changing

    def _at(self, version: int) -> Session:
        """The game, if that is its version."""
        if version != self._version:
            raise StaleError(
                f"the game is at version {self._version}, the page at {version}: nothing was done"
            )
        return self.session

    def _changed(self) -> None:
        self._version += 1
        self._notice = ""

    def play(self, version: int, action: int) -> None:
        """Play an action for the person to move; RefusedError, naming it, if it is not legal."""
        with self._lock:
            if not self._at(version).human_to_move:
                raise RefusedError("no person is to move")
            self._play(action)

    def _play(self, action: int) -> None:
        try:
            self.session.play(action)
        except ValueError:
            raise RefusedError(f"action {action} is not legal here") from None
        self._changed()
        if self.session.over:
            self._save_all()

    def advance(self, version: int) -> None:
        """Let the agent to move play, or play the only legal action of a person.

        RefusedError where a person has a choice, and after the end.
        """
        with self._thinking:
            with self._lock:
                session = self._at(version)
                if session.over:
                    raise RefusedError("the game is over")
                actions = list(session.legal_moves().values())
                if len(actions) == 1:
                    self._play(actions[0])
                    return
                if session.human_to_move:
                    raise RefusedError("a person is to move")
                choose = session.chooser(seconds=self.think_seconds)
            # Not within the lock: undo and new games need not wait.
            try:
                action = choose()
            except AgentError as error:
                raise RefusedError(str(error)) from None
            with self._lock:
                self._at(version)
                self._play(action)

    def hint(self, version: int) -> tuple[int, str]:
        """The action that a search would choose for the person to move, and its name."""
        with self._lock:
            session = self._at(version)
            if not session.human_to_move:
                raise RefusedError("no person is to move")
            env = session.env
            choose = session.chooser(sessions.HINT_AGENT, self.think_seconds)
        with self._thinking:
            action = choose()
        return action, env.action_to_str(action)

    def undo(self, version: int) -> None:
        """Go back to the last choice of a person; RefusedError where there is none."""
        with self._lock:
            if not self._at(version).undo():
                raise RefusedError(NOTHING_TO_UNDO)
            self._changed()

    def new_game(
        self,
        version: int,
        game: str,
        agents: list[str],
        options: Mapping[str, Any],
        seed: int | str | None = None,
    ) -> None:
        """Begin another game; the one before it is kept for the file of records.

        A seed may be a string: JavaScript's numbers are too short for some. RefusedError, naming
        what is wrong, with nothing changed.
        """
        try:
            described = registry.get_game(game)
            players = described.num_players(described.parse_options(options))
            if len(agents) != players:
                raise ValueError(f"there are {len(agents)} agents for {players} players")
            chosen = [self._offer(name) for name in agents]
            session = Session(game, chosen, int(seed) if isinstance(seed, str) else seed, options)
        except (TypeError, ValueError) as error:
            raise RefusedError(str(error)) from None
        with self._lock:
            self._at(version)
            self._earlier += self._current()
            self.session = session
            self._changed()
            self._save_all()
        self.compile_behind()

    def _offer(self, name: Any) -> AgentSpec:
        """The agent that a request names; ValueError for one that is not offered."""
        if not isinstance(name, str) or name not in self._offered:
            raise ValueError(
                f"there is no agent {checks.shown(name)}: this page offers "
                f"{', '.join(self._offered)}"
            )
        return self._offered[name]

    # Files

    def _current(self) -> list[GameRecord]:
        return [self.session.record()] if self.session.moves else []

    def _save_to(self, path: Path, games: list[GameRecord]) -> bool:
        try:
            sessions.save(path, *games)
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
        """Save all games to their file; without one, or if it fails, to a new file in this folder.

        Without a file only an unfinished game is saved. Returns where they are; None if there was
        nothing to save or no file could be written, which is said.
        """
        with self._lock:
            if self._save_all():
                return self.path
            games = self._current() if self.path is None else [*self._earlier, *self._current()]
            if not games or (self.path is None and self.session.over):
                return None
            path = sessions.new_path(games[-1])
            return path if self._save_to(path, games) else None


def _steps(action: int, move: Move, drawn: bool) -> list[list[str]]:
    """What to click, one after the other: each step lists element keys, any of which will do.

    `field:12` and `stone:2-5` are elements of the drawing (`render.svg`), `action:608` is a button
    of the page. Actions whose steps are all the same are told apart by their names, in a menu. In a
    game without a drawing there is nothing to click but buttons.
    """
    if not drawn:
        return [[f"action:{action}"]]
    steps = [[f"field:{square}" for square in move.origin]] if move.origin else []
    if move.target is not None:
        steps.append([f"field:{move.target}"])
    if move.stone is not None:
        steps.append([f"stone:{move.stone}"])
    return steps or [[f"action:{action}"]]
