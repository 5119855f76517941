"""The plan of a tournament: its groups, and each game's deal and seats, by the game's number."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

from tabletop_envs import registry
from tabletop_envs.arena.match import Match
from tabletop_envs.game import UINT64_MAX, Game


@dataclass(frozen=True)
class Plan:
    """A tournament: which agents play which game from which seats.

    Attributes:
        game: The game.
        options: All its options.
        agents: The agents' names.
        games: How many games each group plays.
        seed: The first deal's seed.
        fingerprints: What tells the agents from others of the same names (`agents.fingerprint`), in
            the same order; None where records are to have none.
    """

    game: Game
    options: dict[str, int | bool]
    agents: tuple[str, ...]
    games: int
    seed: int
    fingerprints: tuple[str, ...] | None = None
    groups: list[tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("agents=[] must be one agent or more")
        if len(self.agents) >= self.players:
            groups = list(combinations(self.agents, self.players))
        else:
            groups = [
                group
                for group in combinations_with_replacement(self.agents, self.players)
                if set(group) == set(self.agents)
            ]
        object.__setattr__(self, "groups", groups)

    @property
    def players(self) -> int:
        """How many seats a game has."""
        return self.game.num_players(self.options)

    @property
    def total(self) -> int:
        """How many games the tournament has, numbered from 0."""
        return self.games * len(self.groups)

    def settings(self) -> dict[str, Any]:
        """What all games of a tournament have in common, however many it has."""
        return {
            "game": registry.batch_id(self.game.name),
            "options": self.options,
            "seed": self.seed,
            "agents": list(self.agents),
        }

    def match(self, number: int) -> Match:
        """Game `number`. Groups take turns, so that an interrupted tournament is a smaller one."""
        turn, group = divmod(number, len(self.groups))
        # An agent alone has nobody to change seats with: every game is another deal.
        seatings = self.players if len(self.agents) > 1 else 1
        deal, rotation = divmod(turn, seatings)
        orders = list(permutations(range(1, self.players)))
        order = (0, *orders[deal % len(orders)])
        seats = [
            self.groups[group][order[(seat + rotation) % self.players]]
            for seat in range(self.players)
        ]
        known = dict(zip(self.agents, self.fingerprints or (), strict=False))
        return Match(
            tuple(seats),
            (self.seed + deal) % (UINT64_MAX + 1),
            (self.seed, number),
            {"tournament": {"seed": self.seed, "agents": list(self.agents), "number": number}},
            tuple(known[agent] for agent in seats) if known else None,
        )
