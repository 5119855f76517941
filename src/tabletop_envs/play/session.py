"""A game between people and agents: moves by name, undo, hints, and a record to go on from. Knows nothing of drawing."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tabletop_envs import checks, foreign, locks, registry
from tabletop_envs.agents import GameAgent, fingerprint, make_agent
from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import find_game

__all__ = ["HUMAN", "Session", "load", "save"]

HUMAN = "human"
NOTHING_TO_UNDO = "there is nothing to undo: chance, such as a roll of dice, is never taken back"


class _Step(NamedTuple):
    """An action, whether a person chose it among several, and the game after it."""

    action: int
    decided: bool
    env: TabletopEnv


class Session:
    """A running game.

    Undo stops at chance: what dice were rolled for, or cards dealt, is played. Otherwise undo, look, undo would tell what the
    dice will show. What another player has shown by playing stays known after an undo, as it would at a table. A record
    holds the seed, and so all chance to come: who saves a game and reads or resumes the file can know it.

    Args:
        game: The game's id or name.
        agents: For each player the name of an agent (`agents.make_agent`), or `"human"`.
        seed: 0 … 2^64 − 1, of the game and of the agents' chance; None: a new one.
        options: The game's options.

    Attributes:
        agents: The names of the players' agents.

    Raises:
        TypeError, ValueError: For an unknown game, agent or option, and for a wrong number of agents.
    """

    def __init__(
        self,
        game: str,
        agents: Sequence[str],
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        described = find_game(game)
        parsed = described.parse_options({} if options is None else options)
        record = GameRecord(
            registry.batch_id(described.name),
            parsed,
            list(checks.sequence("agents", agents, "names")),
            [],
            secrets.randbits(32) if seed is None else checks.seed("seed", seed),
        )
        self._begin(record, list(agents))

    @classmethod
    def resume(cls, record: GameRecord, agents: Sequence[str] | None = None) -> Session:
        """Resume an unfinished game, with its agents or with others.

        ValueError for a record that breaks the rules, a finished game, or an unknown or wrong number of agents.
        """
        if record.result is not None:
            raise ValueError("the game is over: there is nothing to resume")
        records.check(record)
        session = cls.__new__(cls)
        session._begin(record, list(record.agents if agents is None else agents))
        return session

    def _begin(self, record: GameRecord, agents: list[str]) -> None:
        if len(agents) != len(record.agents):
            raise ValueError(f"there are {len(agents)} agents for {len(record.agents)} players")
        self.agents = agents
        self._choosers = [None if name == HUMAN else _require_game_agent(name) for name in agents]
        self._seed, self._start = record.seed, record.start
        # All that changes is this list, by one operation at a time: an interruption leaves nothing half done.
        self._steps: list[_Step] = []
        beginning = GameRecord(
            record.game, record.options, record.agents, [], record.seed, record.start
        )
        self._first = next(records.replay(beginning, render_mode="ansi"))
        for action in record.actions:
            self.play(action)

    # The position

    @property
    def env(self) -> TabletopEnv:
        """The game as it stands (`render_mode="ansi"`); not to be stepped."""
        return self._steps[-1].env if self._steps else self._first

    @property
    def actions(self) -> list[int]:
        """What has been played."""
        return [step.action for step in self._steps]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return any(self.env.terminations.values())

    @property
    def player(self) -> int:
        """The player in turn."""
        return self.env.possible_agents.index(self.env.agent_selection)

    @property
    def human_to_move(self) -> bool:
        """Whether the game waits for a person."""
        return not self.over and self._choosers[self.player] is None

    def legal_moves(self) -> dict[str, int]:
        """The legal actions by their names, in ascending order of actions; none once the game is over."""
        if self.over:
            return {}
        actions = np.flatnonzero(self.env.action_mask()).tolist()
        return {self.env.action_to_str(action): action for action in actions}

    # Moves

    def play(self, action: int) -> str:
        """Play an action for the player in turn, whoever that is; its name. ValueError, the game untouched, if it is illegal."""
        name = self.env.action_to_str(action)
        after = self.env.clone()
        decided = self.human_to_move and int(after.action_mask().sum()) > 1
        after.step(action)
        self._steps.append(_Step(int(action), decided, after))
        return name

    def play_agent(self) -> str:
        """Let the agent in turn play; the name of its action. ValueError if a person is in turn."""
        agent = None if self.over else self._choosers[self.player]
        if agent is None:
            raise ValueError("no agent is in turn")
        return self.play(agent.choose(self.env, self._rng(self.player)))

    def hint(self, agent: str) -> str:
        """The name of the action that an agent would choose for the player in turn.

        ValueError for an unknown agent, and where the game is over.
        """
        chooser = _require_game_agent(agent)
        if self.over:
            raise ValueError("the game is over: there is nothing to choose")
        return self.env.action_to_str(chooser.choose(self.env, self._rng(-1)))

    def _rng(self, player: int) -> np.random.Generator:
        # A stream for each choice, so that a game that is resumed or taken back goes on as it would have.
        seed = self._seed if self._start is None else int(self._start.get("rng", 0))
        return np.random.default_rng([seed or 0, len(self._steps), player + 1])

    def undo(self) -> bool:
        """Go back to the last choice of a person; False, with nothing changed, where `can_undo` is False."""
        if not self.can_undo:
            return False
        del self._steps[self._last_choice() :]
        return True

    @property
    def can_undo(self) -> bool:
        """Whether a person has chosen something, and chance has decided nothing since."""
        choice = self._last_choice()
        if choice < 0:
            return False
        before = self._steps[choice - 1].env if choice else self._first
        # The generator moves whenever chance is drawn from it.
        return bool(before.snapshot().get("rng") == self.env.snapshot().get("rng"))

    def _last_choice(self) -> int:
        """The place of the last step that a person decided; −1 where there is none."""
        places = (place for place, step in enumerate(self._steps) if step.decided)
        return max(places, default=-1)

    # Records

    def record(self) -> GameRecord:
        """The game so far."""
        known = [None if agent is None else fingerprint(agent) for agent in self._choosers]
        return records.record_of(
            self.env, self._seed, self.actions, self.agents, start=self._start, fingerprints=known
        )


def _require_game_agent(name: str) -> GameAgent:
    agent = make_agent(name)
    assert isinstance(agent, GameAgent)  # all that have a name are
    return agent


def save(path: str | os.PathLike[str], *games: GameRecord) -> None:
    """Write records as the only ones of a file; an older file is replaced as a whole or not at all.

    OSError for what cannot be written, and for a device or pipe; BlockingIOError where a tournament is being written to it.
    """
    locks.refuse_if_locked(path)
    foreign.require_regular_file(path)
    beside = Path(f"{os.fspath(path)}.part")
    beside.unlink(missing_ok=True)
    records.append(beside, *games)
    beside.replace(path)


def load(path: str | os.PathLike[str]) -> GameRecord:
    """The only record of a file, checked against the rules; ValueError where there is none, several or a bad one."""
    found = list(itertools.islice(records.read_records(path), 2))
    if len(found) != 1:
        raise ValueError(
            f"{os.fspath(path)} must have one game: it has {'several' if found else 'none'}"
        )
    return found[0]
