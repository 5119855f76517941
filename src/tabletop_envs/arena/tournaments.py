"""Tournaments: every agent against every other, from all seats, on the same deals, resumable.

In use::

    from tabletop_envs.arena import tournaments

    agents = ["random", "greedy", ("mine", policy)]
    table = tournaments.tournament("kirche", agents, games=200, seed=1, output="kirche.jsonl")
    print(table)  # table.standings, table.pairs, table.seats

Groups
    With two players all pairs of agents, with more all groups of as many agents as there are seats.
    Where there are fewer agents than seats, the groups in which all of them sit, some in several
    seats. A single agent plays against itself, in all seats, which shows what the seats are worth.
Seats
    Each group plays each deal once from every seating of a rotation: with two players each deal
    twice, with swapped seats. With three and four players the neighbours change from deal to deal
    as well. An agent alone plays every deal once.
Deals
    Deal d of the seed s is the game after `reset(seed=s + d)`, the same for all groups.
Chance
    An agent's choices come from a stream of their own, made of the tournament's seed, the game's
    number and the seat. So results do not depend on the order of games, on what is played at the
    same time, or on the process.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabletop_envs import checks, registry
from tabletop_envs.agents import fingerprint
from tabletop_envs.agents.agent import Agent, GameAgent
from tabletop_envs.agents.naming import AgentSpec, split_spec
from tabletop_envs.arena import records
from tabletop_envs.arena.match import Match, play_matches
from tabletop_envs.arena.pairings import Plan
from tabletop_envs.arena.ratings import Outcome, Table, make_table
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.arena.tournament_file import read_finished, seed_of
from tabletop_envs.extras import require
from tabletop_envs.files import FileLock
from tabletop_envs.game import Game, find_registered

__all__ = [
    "AgentSpec",
    "Plan",
    "Progress",
    "Tournament",
    "named_agents",
    "play_match",
    "tournament",
]


def named_agents(specs: Sequence[AgentSpec]) -> dict[str, GameAgent | Agent]:
    """The agents by name; one that is given several times, and no other, is one agent.

    TypeError or ValueError for what is no agent, and for a name that is repeated among others.
    """
    agents: dict[str, GameAgent | Agent] = {}
    listed = list(checks.sequence("agents", specs, "agents"))
    for spec in listed[:1] if all(spec == listed[0] for spec in listed) else listed:
        name, agent = split_spec(spec)
        if name in agents:
            raise ValueError(f"agent {name!r} is given twice: every agent has a name of its own")
        agents[name] = agent
    return agents


@dataclass(frozen=True)
class Progress:
    """How far a tournament is.

    Attributes:
        done: Games that are finished, those from before an interruption included.
        total: Games of the tournament.
        scores: Each agent's mean score so far; None before its first game.
    """

    done: int
    total: int
    scores: dict[str, float | None]


class Tournament:
    """A tournament that is played step by step; the arguments are those of `tournament`.

    No other tournament can be written to its file until it has been played, `play` has been left,
    or nothing refers to it any more.

    Attributes:
        plan: What is played.
        finished: The games that have ended, by their numbers; from the beginning those in the file.
    """

    def __init__(
        self,
        game: Game | str,
        agents: Sequence[AgentSpec],
        games: int,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        output: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        ratings: bool = True,
    ) -> None:
        described = find_registered(game)
        self._agents = named_agents(agents)
        self._workers = checks.integer("workers", workers, 1, 1024)
        if self._workers > 1:
            from tabletop_envs.arena.workers import check_agents, check_game

            check_game(described)
            check_agents(self._agents)
        # There is nothing to rate an agent alone by.
        self._ratings = checks.boolean("ratings", ratings) and len(self._agents) > 1
        if self._ratings:
            require("openskill.models", "arena")
        self._output = output
        if seed is None and output is not None:
            seed = seed_of(output)
        self.plan = Plan(
            described,
            described.parse_options({} if options is None else options),
            tuple(self._agents),
            checks.integer("games", games, 1, 2**40),
            secrets.randbits(32) if seed is None else checks.seed("seed", seed),
            tuple(map(fingerprint, self._agents.values())),
        )
        self.finished: dict[int, Outcome] = {}
        self._open()

    def _open(self) -> None:
        """Lock the file, and read what it has."""
        self.finished = {}
        self._sums = dict.fromkeys(self.plan.agents, 0.0)
        self._counts = dict.fromkeys(self.plan.agents, 0)
        self._lock = None if self._output is None else FileLock(self._output)
        if self._output is None:
            return
        try:
            for outcome in read_finished(self._output, self.plan):
                self._add(outcome)
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _add(self, outcome: Outcome) -> None:
        self.finished[outcome.number] = outcome
        for agent, share in outcome.by_agent(outcome.shares).items():
            self._sums[agent] += share
            self._counts[agent] += 1

    def play(self) -> Iterator[Progress]:
        """Play the missing games; yields the progress at the beginning and when games have ended.

        Games are in the file before they are counted. ValueError for an agent's illegal action.
        """
        if self._output is not None and self._lock is None:
            self._open()
        try:
            yield self.progress()
            missing = (n for n in range(self.plan.total) if n not in self.finished)
            for played in self._play(missing):
                if self._output is not None:
                    records.append(self._output, *played)
                for record in played:
                    self._add(Outcome.of(record.notes["tournament"]["number"], record))
                yield self.progress()
        finally:
            self._close()

    def _play(self, numbers: Iterator[int]) -> Iterator[list[GameRecord]]:
        plan = self.plan
        if self._workers == 1:
            matches = map(plan.match, numbers)
            return play_matches(plan.game, plan.options, self._agents, matches)
        from tabletop_envs.arena.workers import play_in_processes

        return play_in_processes(plan, self._agents, numbers, self._workers)

    def progress(self) -> Progress:
        """How far the tournament is."""
        means = {
            agent: self._sums[agent] / games if games else None
            for agent, games in self._counts.items()
        }
        return Progress(len(self.finished), self.plan.total, means)

    def table(self) -> Table:
        """The results so far."""
        return make_table(
            registry.batch_id(self.plan.game.name),
            self.plan.options,
            self.plan.seed,
            self.plan.agents,
            self.finished.values(),
            planned=self.plan.total,
            players=self.plan.players,
            ratings=self._ratings,
        )


def tournament(
    game: Game | str,
    agents: Sequence[AgentSpec],
    games: int,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    ratings: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Table:
    """Play a tournament, or resume an interrupted one, and return its table.

    Args:
        game: The game's id or name, or the `Game`, which must be registered.
        agents: Names (`agents.make_agent`), game agents, or pairs `(name, agent)`, where an agent
            may be any callable `(observation, action_mask, rng) -> action`. One agent alone, once
            or repeated, plays against itself.
        games: Games of each pair (of each group with three or four players; of an agent alone). A
            multiple of the players gives every deal from all seats.
        seed: 0 … 2^64 − 1; None: that of the file `output`, or a new one.
        options: The game's options.
        output: A file to which every finished game is written at once, as a record
            (`arena.records`). If it is there already, it must be of the same tournament, perhaps of
            fewer games: its games are checked against the rules and not played again. Each agent
            must be the one that began it: records keep fingerprints (`agents.fingerprint`). No
            other tournament can write to it meanwhile.
        workers: In how many processes to play. Results do not depend on it. With more than one,
            custom agents must be picklable, custom games importable, and a script needs
            `if __name__ == "__main__":`.
        ratings: Whether to rate the agents (takes openskill, the extra `arena`). An agent alone
            gets no rating.
        progress: Called at the beginning, and when games have ended.

    Raises:
        TypeError, ValueError: For wrong arguments; for a file of another tournament or of other
            agents, which is not changed; for an agent's illegal action. Games finished before are
            in the file.
        BlockingIOError: If another tournament is being written to the file.
        OSError: If the file cannot be written, or is a device or pipe.
        ImportError: Where openskill is wanted and not installed.
    """
    played = Tournament(
        game, agents, games, seed, options, output, workers=workers, ratings=ratings
    )
    for step in played.play():
        if progress is not None:
            progress(step)
    return played.table()


def play_match(
    game: Game | str,
    agents: Sequence[AgentSpec],
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> GameRecord:
    """Play one game and return its record.

    Args:
        game: The game's id or name, or the `Game`, which must be registered.
        agents: The agent of each player, as in `tournament`; the same one may have several seats.
        seed: Of the game, and of its agents' chance; None: a new one.
        options: The game's options.

    Raises:
        TypeError, ValueError: For wrong arguments, and for an agent's illegal action.
    """
    described = find_registered(game)
    parsed = described.parse_options({} if options is None else options)
    players = described.num_players(parsed)
    if len(checks.sequence("agents", agents, "agents")) != players:
        raise ValueError(f"there are {len(agents)} agents for {players} players")
    seats = [split_spec(spec) for spec in agents]
    known = dict(seats)
    for name, agent in seats:
        if not isinstance(agent, GameAgent) and known[name] is not agent:
            raise ValueError(f"two agents are called {name!r}")
    seed = secrets.randbits(32) if seed is None else checks.seed("seed", seed)
    match = Match(
        tuple(name for name, _ in seats),
        seed,
        (seed,),
        {},
        tuple(fingerprint(agent) for _, agent in seats),
    )
    ((record,),) = play_matches(described, parsed, known, iter([match]))
    return record
