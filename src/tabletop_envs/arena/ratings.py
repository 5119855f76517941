"""What a tournament shows: a cross table with confidence intervals, the seats' advantage, ratings.

How results are counted:

- An agent's **score** in a game is 1 for winning alone, 1/k for sharing the first place with k − 1
  others, else 0. With two players: win 1, draw ½, loss 0. Equal agents have a mean of 1/players.
- **Against** another agent it is a win to have more points than the other in the same game, a draw
  to have as many. With two players that is the game's result; with more, who of the two was ahead.
- Where an agent has several seats in a game, its seats are averaged, so that each game counts once;
  above ½ is a win.
- **Intervals** (95 %) are Wilson's, with the mean score in the place of the share of wins. No
  outcome between 0 and 1 varies more than a coin with the same mean, so draws make them wider than
  they need be, never too narrow. They take games for independent: `distinct` says how many
  different games there were, which is fewer where agents are deterministic.
- **Ratings** are openskill's Bradley–Terry model over all players of a game, ranked by points.
  Agents do not change, so its drift (`tau`) is 0. Games are rated in the order of their numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from statistics import NormalDist, fmean
from typing import Any

from tabletop_envs.arena.records import GameRecord
from tabletop_envs.extras import require

__all__ = ["Count", "Outcome", "Pair", "Seat", "Standing", "Table", "make_table", "rate", "wilson"]

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def wilson(mean: float, games: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a mean of numbers from 0 to 1; (0, 1) without games."""
    if not games:
        return 0.0, 1.0
    spread = _Z * math.sqrt(mean * (1 - mean) / games + (_Z / (2 * games)) ** 2)
    middle, scale = mean + _Z**2 / (2 * games), 1 + _Z**2 / games
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True)
class Outcome:
    """What the tables need of a finished game; `digest` is that of its actions."""

    number: int
    seats: tuple[str, ...]
    scores: tuple[int, ...]
    plies: int
    by_limit: bool
    digest: bytes

    @classmethod
    def of(cls, number: int, record: GameRecord) -> Outcome:
        """The outcome of a finished game's record."""
        assert record.result is not None
        actions = ",".join(map(str, record.actions)).encode()
        return cls(
            number,
            tuple(record.agents),
            tuple(record.result["scores"]),
            len(record.actions),
            record.result["by_limit"],
            hashlib.blake2b(actions, digest_size=8).digest(),
        )

    @property
    def shares(self) -> list[float]:
        """Each seat's score: the first place, shared among all who have it."""
        top = max(self.scores)
        sharers = self.scores.count(top)
        return [1 / sharers if score == top else 0.0 for score in self.scores]

    def by_agent(self, values: Sequence[float]) -> dict[str, float]:
        """The mean of the values of each agent's seats."""
        seats: dict[str, list[float]] = defaultdict(list)
        for agent, value in zip(self.seats, values, strict=True):
            seats[agent].append(value)
        return {agent: fmean(own) for agent, own in seats.items()}

    def against(self, agent: str, other: str) -> float:
        """1 for more points than `other`, ½ for as many, 0 for fewer; the mean over their seats."""
        own = [score for seat, score in zip(self.seats, self.scores, strict=True) if seat == agent]
        others = [s for seat, s in zip(self.seats, self.scores, strict=True) if seat == other]
        return fmean((a > b) + (a == b) / 2 for a in own for b in others)


@dataclass(frozen=True)
class Count:
    """Wins, draws and losses of a number of games, their mean score and its 95 % interval."""

    games: int
    wins: int
    draws: int
    losses: int
    score: float | None
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Count:
        """The count of results from 0 to 1."""
        score = _mean(values)
        wins = sum(value > 0.5 for value in values)
        losses = sum(value < 0.5 for value in values)
        low, high = wilson(score or 0.0, len(values))
        return cls(len(values), wins, len(values) - wins - losses, losses, score, low, high)


@dataclass(frozen=True)
class Pair:
    """An agent against another: its results in the games that both played.

    `by_seat` has its mean score in each seat, counting games in which it has one seat (None: there
    are none), `distinct` how many different games there were.
    """

    agent: str
    other: str
    count: Count
    by_seat: tuple[float | None, ...]
    distinct: int


@dataclass(frozen=True)
class Standing:
    """An agent over all its games: first places alone and shared, mean score, and its rating."""

    agent: str
    games: int
    first: int
    shared: int
    score: float | None
    low: float
    high: float
    mu: float | None
    sigma: float | None


@dataclass(frozen=True)
class Seat:
    """A seat over all games: first places alone, mean score (1/players without an advantage)."""

    seat: int
    first: int
    score: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Table:
    """The results of a tournament (the module says how they are counted).

    Attributes:
        game, options, seed: What was played.
        games: Games finished, and `planned`: games that the tournament has.
        by_limit: How many of them `max_plies` ended.
        mean_length: Actions a game; None without games.
        standings: The agents, the best first: by rating, or by score where ratings are left out.
        pairs: Every ordered pair of agents that met.
        seats: The seats.
        distinct: How many different games there were.
    """

    game: str
    options: dict[str, Any]
    seed: int
    planned: int
    games: int
    by_limit: int
    mean_length: float | None
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    seats: tuple[Seat, ...]
    distinct: int

    def pair(self, agent: str, other: str) -> Pair:
        """The results of an agent against another; ValueError where they did not meet."""
        met = {(pair.agent, pair.other): pair for pair in self.pairs}
        if (agent, other) not in met:
            raise ValueError(f"{agent!r} and {other!r} have not met")
        return met[agent, other]

    def to_dict(self) -> dict[str, Any]:
        """The table in plain JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.game}: {self.games} games, seed {self.seed}"]
        for seat in self.seats:
            lines.append(
                f"player_{seat.seat}: first {seat.first}, score {_percent(seat.score)} "
                f"(95 %: {seat.low:.1%} to {seat.high:.1%})"
            )
        # Against itself an agent's score is 1/players.
        for standing in self.standings if len(self.standings) > 1 else ():
            line = f"{standing.agent}: score {_percent(standing.score)}"
            if standing.mu is not None:
                line += f"  rating {standing.mu:.1f} ± {standing.sigma:.1f}"
            lines.append(line)
        for pair in self.pairs:
            count = pair.count
            lines.append(
                f"{pair.agent} – {pair.other}: +{count.wins} ={count.draws} −{count.losses}, score "
                f"{_percent(count.score)} (95 %: {count.low:.1%} to {count.high:.1%})"
            )
        return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def make_table(
    game: str,
    options: Mapping[str, Any],
    seed: int,
    agents: Sequence[str],
    outcomes: Iterable[Outcome],
    *,
    planned: int,
    players: int,
    ratings: bool = True,
) -> Table:
    """The table of finished games, whatever the order they come in.

    Raises:
        ImportError: Naming the extra, where ratings are wanted and openskill is not installed.
    """
    games = sorted(outcomes, key=lambda outcome: outcome.number)
    rated = rate(agents, games) if ratings else {}
    standings = [_standing(agent, games, rated.get(agent)) for agent in agents]
    standings.sort(key=lambda s: (-math.inf if s.mu is None else s.mu, s.score or 0), reverse=True)
    pairs = [_pair(agent, other, games, players) for agent, other in permutations(agents, 2)]
    return Table(
        game,
        dict(options),
        seed,
        planned,
        len(games),
        sum(outcome.by_limit for outcome in games),
        _mean([outcome.plies for outcome in games]),
        tuple(standings),
        tuple(pair for pair in pairs if pair.count.games),
        tuple(_seat(seat, games) for seat in range(players)),
        _distinct(games),
    )


def _distinct(games: Sequence[Outcome]) -> int:
    return len({(game.seats, game.scores, game.digest) for game in games})


def _standing(agent: str, games: Sequence[Outcome], rating: tuple[float, float] | None) -> Standing:
    own = [game for game in games if agent in game.seats]
    values = [game.by_agent(game.shares)[agent] for game in own]
    alone = sum(max(game.shares) == 1 and game.seats[game.shares.index(1)] == agent for game in own)
    shared = sum(value > 0 for value in values) - alone
    count = Count.of(values)
    mu, sigma = rating or (None, None)
    return Standing(
        agent, count.games, alone, shared, count.score, count.low, count.high, mu, sigma
    )


def _pair(agent: str, other: str, games: Sequence[Outcome], players: int) -> Pair:
    own = [game for game in games if agent in game.seats and other in game.seats]
    values = [game.against(agent, other) for game in own]
    seats: list[list[float]] = [[] for _ in range(players)]
    for game, value in zip(own, values, strict=True):
        if game.seats.count(agent) == 1:
            seats[game.seats.index(agent)].append(value)
    return Pair(
        agent,
        other,
        Count.of(values),
        tuple(map(_mean, seats)),
        _distinct(own),
    )


def _seat(seat: int, games: Sequence[Outcome]) -> Seat:
    values = [game.shares[seat] for game in games]
    count = Count.of(values)
    return Seat(seat, values.count(1.0), count.score, count.low, count.high)


def rate(agents: Sequence[str], games: Iterable[Outcome]) -> dict[str, tuple[float, float]]:
    """Each agent's rating (mu, sigma) after games in the order given, beginning with 25 ± 8.3.

    An agent in several seats of a game takes the mean of its seats' new ratings. ImportError,
    naming the extra, where openskill is not installed.
    """
    model = require("openskill.models", "arena").BradleyTerryFull(tau=0.0)
    start = model.rating()
    rated = {agent: (float(start.mu), float(start.sigma)) for agent in agents}
    for game in games:
        seats = [[model.rating(*rated[agent])] for agent in game.seats]
        # A rank is better the lower it is.
        seats = model.rate(seats, ranks=[-score for score in game.scores])
        mu = game.by_agent([rating.mu for (rating,) in seats])
        sigma = game.by_agent([rating.sigma for (rating,) in seats])
        rated |= {agent: (mu[agent], sigma[agent]) for agent in mu}
    return rated
