"""A game between people and agents: moves by name, undo, hints, records. Draws nothing."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tabletop_envs import checks, files, registry
from tabletop_envs.agents import Agent, GameAgent, fingerprint
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.agents.naming import AgentSpec, NamedAgent, own_agent, split_spec
from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game, find_registered

__all__ = ["HINT_AGENT", "HUMAN", "AgentError", "Move", "Session", "load", "save"]

HUMAN = "human"
HINT_AGENT = "mcts:1000"
NOTHING_TO_UNDO = "there is nothing to undo: chance, such as a roll of dice, is never taken back"
# The room of a search's tree: a few nodes for each of its simulations, but not more than this.
NODES_A_SIMULATION, MAX_NODES = 4, 200_000


class AgentError(ValueError):
    """An agent has chosen what is not legal."""


class Move(NamedTuple):
    """An action of a session's history.

    Attributes:
        action: The action.
        player: Who played it.
        name: Its name.
        only: Whether it was the only legal one.
        chosen: Whether a person chose it among several: what `undo` goes back to.
        after: The game after it; not to be stepped.
    """

    action: int
    player: int
    name: str
    only: bool
    chosen: bool
    after: TabletopEnv


class Session:
    """A running game.

    Undo stops at chance: dice that were rolled stay rolled. Otherwise undo, look, undo would tell
    what the dice will show. What another player has shown by playing stays known after an undo, as
    it would at a table. A record holds the seed, and so all chance to come: who saves a game and
    reads or resumes the file can know it.

    Args:
        game: The game's id or name, or the `Game`, which must be registered.
        agents: For each player `"human"`, or an agent: a name (`agents.make_agent`), a game agent,
            or a pair `(name, agent)`, where an agent may be any callable
            `(observation, action_mask, rng) -> action`.
        seed: 0 … 2^64 − 1, of the game and of the agents' chance; None: a new one.
        options: The game's options.

    Attributes:
        agents: The names of the players' agents.
        named: The agents themselves, by their names.
        moves: The history, a `Move` for each action.

    Raises:
        TypeError, ValueError: For an unknown game, agent or option, and for a wrong number of
            agents.
        ImportError: For an agent from a checkpoint without PyTorch.
    """

    def __init__(
        self,
        game: Game | str,
        agents: Sequence[AgentSpec],
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        described = find_registered(game)
        parsed = described.parse_options({} if options is None else options)
        listed = [_player(spec) for spec in checks.sequence("agents", agents, "agents")]
        record = GameRecord(
            registry.batch_id(described.name),
            parsed,
            [name for name, _ in listed],
            [],
            secrets.randbits(32) if seed is None else checks.seed("seed", seed),
        )
        self._begin(record, listed)

    @classmethod
    def resume(
        cls,
        record: GameRecord,
        agents: Sequence[AgentSpec] | None = None,
        *,
        given: Sequence[AgentSpec] = (),
    ) -> Session:
        """Resume an unfinished game, with its agents or with others.

        Args:
            record: The game.
            agents: Its agents from now on; None: those that the record names.
            given: The agents that the record may name besides the library's own. No code is run and
                no file is opened because a record names it.

        Raises:
            ValueError: For a record that breaks the rules, a finished game, or an unknown or wrong
                number of agents; without `agents`, for a name that is neither the library's nor
                given, and where the agent of a name is another one than has played so far (its
                fingerprint differs).
        """
        if record.result is not None:
            raise ValueError("the game is over: there is nothing to resume")
        records.check(record)
        listed = _players_of(record, given) if agents is None else [_player(one) for one in agents]
        session = cls.__new__(cls)
        session._begin(record, listed)
        return session

    def _begin(
        self, record: GameRecord, agents: list[tuple[str, GameAgent | Agent | None]]
    ) -> None:
        if len(agents) != len(record.agents):
            raise ValueError(f"there are {len(agents)} agents for {len(record.agents)} players")
        self.agents = [name for name, _ in agents]
        self.named = {name: agent for name, agent in agents if agent is not None}
        self._choosers = [agent for _, agent in agents]
        self._seed, self._start = record.seed, record.start
        # All that changes is this list, by one operation at a time: an interruption leaves nothing
        # half done.
        self.moves: list[Move] = []
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
        return self.moves[-1].after if self.moves else self._first

    @property
    def actions(self) -> list[int]:
        """The actions played so far."""
        return [move.action for move in self.moves]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return any(self.env.terminations.values())

    @property
    def player(self) -> int:
        """The player to move."""
        return self.env.possible_agents.index(self.env.agent_selection)

    @property
    def human_to_move(self) -> bool:
        """Whether the game waits for a person."""
        return not self.over and self._choosers[self.player] is None

    @property
    def viewer(self) -> int | None:
        """The player from whose seat the game is shown: the person to move, or else the first one.

        None, which shows all that there is, without people and once the game is over.
        """
        people = [player for player, name in enumerate(self.agents) if name == HUMAN]
        if self.over or not people:
            return None
        return self.player if self.player in people else people[0]

    def legal_moves(self) -> dict[str, int]:
        """The legal actions by name, in ascending order of actions; none once the game is over."""
        if self.over:
            return {}
        actions = np.flatnonzero(self.env.action_mask()).tolist()
        return {self.env.action_to_str(action): action for action in actions}

    # Moves

    def play(self, action: int) -> str:
        """Play an action for the player to move and return its name.

        ValueError, with the game unchanged, if it is illegal.
        """
        env = self.env
        name, player = env.action_to_str(action), self.player
        only = int(env.action_mask().sum()) == 1
        chosen = self._choosers[player] is None and not only
        after = env.clone()
        after.step(action)
        self.moves.append(Move(int(action), player, name, only, chosen, after))
        return name

    def play_agent(self) -> str:
        """Let the agent to move play and return its action's name.

        ValueError if a person is to move, or the game is over.
        """
        return self.play(self.chooser()())

    def hint(self, agent: str = HINT_AGENT) -> str:
        """The name of the action that an agent would choose for the player to move.

        ValueError where the name is neither one of the library's own nor of a player's agent, and
        where the game is over.
        """
        return self.env.action_to_str(self.chooser(agent)())

    def chooser(
        self, adviser: str | None = None, seconds: float | None = None
    ) -> Callable[[], int]:
        """A function that chooses an action in the present position, also once that has passed.

        Args:
            adviser: Who chooses: one of the library's own names, or that of a player's agent; None:
                the agent to move.
            seconds: How long a tree search may take, which then ends with what it has found. None:
                as long as its simulations take.

        Raises:
            ValueError: For an unknown agent, where a person is to move, and where the game is over.
        """
        if adviser is not None:
            named = self.named
            agent, stream = named[adviser] if adviser in named else own_agent(adviser), 0
            if self.over:
                raise ValueError("the game is over: there is nothing to choose")
        else:
            mover = None if self.over else self._choosers[self.player]
            if mover is None:
                raise ValueError("no agent is to move")
            agent, stream = mover, self.player + 1
        # A stream for each choice: a game that is resumed or taken back continues as it would have.
        seed = self._seed if self._start is None else int(self._start.get("rng", 0))
        rng = np.random.default_rng([seed or 0, len(self.moves), stream])
        name = adviser if adviser is not None else self.agents[self.player]
        return partial(choose, (name, agent), self.env, rng, seconds)

    def undo(self) -> bool:
        """Go back to the last choice of a person; False, with nothing changed, if it cannot."""
        if not self.can_undo:
            return False
        del self.moves[self._last_choice() :]
        return True

    @property
    def can_undo(self) -> bool:
        """Whether a person has chosen something, and chance has decided nothing since."""
        choice = self._last_choice()
        if choice < 0:
            return False
        before = self.moves[choice - 1].after if choice else self._first
        # The generator moves whenever chance is drawn from it.
        return bool(before.snapshot().get("rng") == self.env.snapshot().get("rng"))

    def _last_choice(self) -> int:
        """The place of the last move that a person chose; −1 where there is none."""
        return max((place for place, move in enumerate(self.moves) if move.chosen), default=-1)

    # Records

    def record(self) -> GameRecord:
        """The game so far."""
        known = [None if agent is None else fingerprint(agent) for agent in self._choosers]
        return records.record_of(
            self.env, self._seed, self.actions, self.agents, start=self._start, fingerprints=known
        )


# Agents


def _player(spec: AgentSpec) -> tuple[str, GameAgent | Agent | None]:
    """The name and the agent of a player; None for a person."""
    if isinstance(spec, str) and spec == HUMAN:
        return HUMAN, None
    name, agent = split_spec(spec)
    if name == HUMAN:
        raise ValueError(f"agent {spec!r} must have another name: {HUMAN!r} is a person")
    return name, agent


def _players_of(
    record: GameRecord, given: Sequence[AgentSpec]
) -> list[tuple[str, GameAgent | Agent | None]]:
    """The players of a record, as the record names them: see `Session.resume`."""
    known = dict(_player(spec) for spec in checks.sequence("given", given, "agents"))
    marks = record.fingerprints or [None] * len(record.agents)
    players: list[tuple[str, GameAgent | Agent | None]] = []
    for seat, (name, mark) in enumerate(zip(record.agents, marks, strict=True)):
        if name == HUMAN:
            players.append((name, None))
            continue
        try:
            agent = known.get(name)
            agent = own_agent(name) if agent is None else agent
        except ValueError as error:
            raise ValueError(
                f"player_{seat} was agent {checks.shown(name)}, which the record only names: no "
                "code is run and no file is opened for that. Give this agent again (given=, on the "
                f"command line --agent), or another one (agents=, --opponent): {error}"
            ) from None
        if mark is not None and mark != (found := fingerprint(agent)):
            raise ValueError(
                f"player_{seat} was another agent of the name {name!r}: its fingerprint is "
                f"{mark!r}, not {found!r}. To continue with the present one, name it anew "
                "(agents=, on the command line --opponent)"
            )
        players.append((name, agent))
    return players


def choose(
    player: tuple[str, GameAgent | Agent],
    env: TabletopEnv,
    rng: np.random.Generator,
    seconds: float | None = None,
) -> int:
    """The action of a named agent for the player to move, within a time if one is given.

    See `Session.chooser`. The game is not changed, and all chance of the choice comes from `rng`.
    AgentError where the action is not legal.
    """
    name, agent = player
    inner = agent.agent if isinstance(agent, NamedAgent) else agent
    if seconds is not None and isinstance(inner, MCTSAgent):
        # The others need no time to speak of.
        return _search(inner, env, rng, seconds)
    mask = env.action_mask()
    if isinstance(agent, GameAgent):
        answer: Any = agent.choose(env, rng)
    else:
        seen = env.observe(env.agent_selection)
        answer = agent(seen["observation"], seen["action_mask"], rng)
    try:
        action = checks.action(answer, len(mask))
    except ValueError as error:
        raise AgentError(f"agent {name!r} chose {checks.shown(answer)}: {error}") from None
    if not mask[action]:
        raise AgentError(
            f"agent {name!r} chose action {action} ({env.action_to_str(action)}), which is illegal"
        )
    return action


def _search(agent: MCTSAgent, env: TabletopEnv, rng: np.random.Generator, seconds: float) -> int:
    from tabletop_envs.search import Search

    nodes = min(NODES_A_SIMULATION * agent.simulations + 2, MAX_NODES)
    search = Search(env.game, max_nodes=nodes, seed=int(rng.integers(2**63)), **agent.rules)
    return search.run(env, agent.simulations, seconds=seconds).action


def choose_at_once(name: str, env: TabletopEnv, seconds: float | None = None) -> int:
    """Choose as one of the library's own agents does, but poorly: all that it needs is compiled.

    ValueError for another name: custom code may not be made for a thread.
    """
    name = "mcts:1" if name.startswith("mcts:") else name
    return choose((name, own_agent(name)), env, np.random.default_rng(), seconds)


# Files


def file_stem(record: GameRecord) -> str:
    """The name of a record's file, without its ending."""
    return f"{record.game}-{'puzzle' if record.seed is None else record.seed}"


def new_path(record: GameRecord) -> Path:
    """A path in the present folder for a record, where no file is yet."""
    stem = file_stem(record)
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := Path(f"{name}.jsonl")).exists())


def save(path: str | os.PathLike[str], *games: GameRecord) -> None:
    """Write records as the only ones of a file, which is replaced as a whole or not at all.

    OSError for what cannot be written, and for a device or pipe; BlockingIOError where a tournament
    is being written to it.
    """
    with files.replacing(path) as beside:
        records.append(beside, *games)


def load(path: str | os.PathLike[str]) -> GameRecord:
    """The only record of a file, checked against the rules.

    ValueError where there is none, several or a bad one.
    """
    found = list(itertools.islice(records.read_records(path), 2))
    if len(found) != 1:
        raise ValueError(
            f"{os.fspath(path)} must have one game: it has {'several' if found else 'none'}"
        )
    return found[0]
