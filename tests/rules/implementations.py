"""A game played by the slow reference or by the compiled kernel, behind one interface.

Rule tests take the fixture of a game (`kirche`, `tuerme`, `meeples`), which is a function that
starts a game or sets up a position on either implementation, and so check both.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np


class Game(Protocol):
    """What the rule tests ask of an implementation."""

    def snapshot(self) -> dict[str, Any]: ...
    def legal_actions(self) -> list[int]: ...
    def step(self, action: int) -> None: ...
    def scores(self) -> list[int]: ...


class Kernel:
    """The compiled game, played through its PettingZoo environment."""

    def __init__(self, name: str, seed: int, options: dict[str, Any]) -> None:
        module = importlib.import_module(f"tabletop_envs.{name}_v0")
        self.env = module.raw_env(**options)
        self.env.reset(seed=seed)

    @classmethod
    def from_snapshot(cls, name: str, snapshot: dict[str, Any]) -> Kernel:
        game = cls(name, 0, snapshot["options"])
        game.env.restore(snapshot)
        return game

    def snapshot(self) -> dict[str, Any]:
        return self.env.snapshot()

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none once the game is over."""
        if self.snapshot()["outcome"] is not None:
            return []
        mask = self.env.observe(self.env.agent_selection)["action_mask"]
        return np.flatnonzero(mask).tolist()

    def step(self, action: int) -> None:
        self.env.step(action)

    def scores(self) -> list[int]:
        """The scores as they stand, per player."""
        return [int(self.env.infos[agent]["score"]) for agent in self.env.possible_agents]


class Starter:
    """Starts games and sets up positions of one game on one implementation."""

    def __init__(self, name: str, implementation: str) -> None:
        self.name = name
        self.implementation = implementation

    def __call__(self, seed: int = 0, **options: Any) -> Game:
        """A new game after `reset(seed=seed)`."""
        if self.implementation == "kernel":
            return Kernel(self.name, seed, options)
        return self._reference()(seed=seed, **options)

    def position(self, snapshot: dict[str, Any]) -> Game:
        """A game that goes on from a snapshot."""
        if self.implementation == "kernel":
            return Kernel.from_snapshot(self.name, snapshot)
        return self._reference().from_snapshot(snapshot)

    def _reference(self) -> Any:
        return importlib.import_module(f"tests.reference.{self.name}").Reference
