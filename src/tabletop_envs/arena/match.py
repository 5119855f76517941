"""Games between agents, many at once in lanes; each can be played again alone and comes out the
same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tabletop_envs import checks, registry
from tabletop_envs.agents.agent import Agent, GameAgent
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.game import Game, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT
from tabletop_envs.lanes import Indices, Lanes

MAX_LANES = 256
# How many games are played at once follows the time that a round of actions takes: fast agents play
# hundreds of games alternately; slow ones finish each game before the next, so that an interruption
# loses little.
QUICK_ROUND, SLOW_ROUND = 0.01, 0.2


@dataclass(frozen=True)
class Match:
    """A game to be played.

    Attributes:
        seats: The name of each player's agent.
        deal: The game's seed, 0 … 2^64 − 1.
        chance: The seeds of the agents' generators: any integers from 0 on; each seat has a stream
            of its own.
        notes: For the record.
        fingerprints: Each player's agent's (`agents.fingerprint`), for the record.
    """

    seats: tuple[str, ...]
    deal: int
    chance: tuple[int, ...]
    notes: Mapping[str, Any]
    fingerprints: tuple[str, ...] | None = None

    def stream(self, seat: int) -> np.random.SeedSequence:
        """The stream of the agent in a seat."""
        return np.random.SeedSequence([*self.chance, seat])


def play_matches(
    game: Game,
    options: Mapping[str, Any],
    agents: Mapping[str, GameAgent | Agent],
    matches: Iterator[Match],
) -> Iterator[list[GameRecord]]:
    """Play matches to their ends; yields the records of those that end together, in no fixed order.

    A record does not depend on the other matches.

    Raises:
        ValueError: Where an agent chooses what is no legal action, naming agent, game and action.
    """
    table = _Table(game, options, agents)
    wanted = 1
    while True:
        table.fill(matches, wanted)
        if not table.running:
            return
        begin = time.perf_counter()
        finished = table.play_round()
        seconds = time.perf_counter() - begin
        if seconds < QUICK_ROUND:
            wanted = min(2 * wanted, MAX_LANES)
        elif seconds > SLOW_ROUND:
            wanted = max(wanted // 2, 1)
        if finished:
            yield finished


class _Table:
    """The matches being played, a lane each."""

    def __init__(
        self,
        game: Game,
        options: Mapping[str, Any],
        agents: Mapping[str, GameAgent | Agent],
    ) -> None:
        self.game = game
        self.options = options
        self.names = list(agents)
        self.agents = list(agents.values())
        players = game.num_players(options)
        self.lanes = Lanes(game, MAX_LANES, options)
        self.actions = np.zeros(MAX_LANES, np.int64)
        # By lane and seat: the agent's number, and the generator that a game agent's choices come
        # from.
        self.seats = np.zeros((MAX_LANES, players), np.int64)
        self.samplers = np.zeros((MAX_LANES, players), np.uint64)
        self.rngs: list[list[np.random.Generator]] = [[] for _ in range(MAX_LANES)]
        self.matches: dict[int, Match] = {}
        self.played: dict[int, list[int]] = {}

    @property
    def running(self) -> bool:
        """Whether any game is being played."""
        return bool(self.matches)

    def fill(self, matches: Iterator[Match], wanted: int) -> None:
        """Start matches until `wanted` are being played."""
        free = (lane for lane in range(MAX_LANES) if lane not in self.matches)
        while len(self.matches) < wanted:
            match = next(matches, None)
            if match is None:
                return
            self._start(next(free), match)

    def _start(self, lane: int, match: Match) -> None:
        self.matches[lane], self.played[lane] = match, []
        streams = [match.stream(seat) for seat in range(len(match.seats))]
        self.seats[lane] = [self.names.index(name) for name in match.seats]
        self.samplers[lane] = [stream.generate_state(1, np.uint64)[0] for stream in streams]
        self.rngs[lane] = [np.random.default_rng(stream) for stream in streams]
        own = np.array([lane])
        self.lanes.seed(own, np.array([match.deal], np.uint64))
        self.lanes.start(own)

    def play_round(self) -> list[GameRecord]:
        """Play one action in every game; the records of those that it ends."""
        lanes, to_move = np.array(sorted(self.matches), np.int64), self.lanes.seats.copy()
        states, legal_bits = self.lanes.states, self.lanes.legal_bits
        rows = np.arange(MAX_LANES)
        samplers = self.samplers[rows, to_move]
        turns = self.seats[lanes, to_move[lanes]]
        for number in np.unique(turns).tolist():
            agent, own = self.agents[number], lanes[turns == number]
            if isinstance(agent, GameAgent):
                agent.choose_lanes(self.game, states, legal_bits, samplers, own, self.actions)
            else:
                self._ask(agent, own)
        self.samplers[rows, to_move] = samplers
        illegal = self.lanes.first_illegal(lanes, self.actions)
        if illegal >= 0:
            self._refuse_action(illegal)
        self.lanes.step(lanes, self.actions)
        for lane, action in zip(lanes.tolist(), self.actions[lanes].tolist(), strict=True):
            self.played[lane].append(action)
        ended = lanes[self.lanes.over()[lanes]].tolist()
        return [self._record(lane) for lane in ended]

    def _ask(self, agent: Callable[..., int], lanes: Indices) -> None:
        observations, masks = self.lanes.observe(lanes)
        for row, lane in enumerate(lanes.tolist()):
            rng = self.rngs[lane][self.lanes.seats[lane]]
            action = agent(observations[row], masks[row], rng)
            try:
                self.actions[lane] = checks.action(action, self.game.kernel.num_actions)
            except ValueError:
                self._refuse(lane, f"{checks.shown(action)}, which is no action")

    def _refuse_action(self, lane: int) -> NoReturn:
        action = int(self.actions[lane])
        if not 0 <= action < self.game.kernel.num_actions:
            self._refuse(lane, f"{action}, which is no action")
        name = self.game.action_to_str(self.lanes.states[lane], action)
        self._refuse(lane, f"action {action} ({name}), which is illegal")

    def _refuse(self, lane: int, choice: str) -> NoReturn:
        match, seat = self.matches[lane], int(self.lanes.seats[lane])
        raise ValueError(
            f"agent {match.seats[seat]!r} as player_{seat} chose {choice} after "
            f"{len(self.played[lane])} actions of {self.game.name} with seed {match.deal}"
        )

    def _record(self, lane: int) -> GameRecord:
        match, state = self.matches.pop(lane), self.lanes.states[lane]
        scores = state["scores"][: len(match.seats)].tolist()
        return GameRecord(
            game=registry.batch_id(self.game.name),
            options=dict(self.options),
            agents=list(match.seats),
            actions=self.played.pop(lane),
            seed=match.deal,
            result={
                "scores": scores,
                "rewards": rewards_of_scores(scores),
                "by_limit": bool(state["status"] == BY_LIMIT),
            },
            notes=dict(match.notes),
            fingerprints=None if match.fingerprints is None else list(match.fingerprints),
        )
