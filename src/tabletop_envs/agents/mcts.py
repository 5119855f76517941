"""The agent `mcts:N`: N simulations of tree search an action, by the game's default rules.

Other rules stand in its name: `mcts:N,priors=none,playout=30`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_envs import checks, evaluation, search
from tabletop_envs.agents import fingerprints
from tabletop_envs.agents.agent import GameAgent
from tabletop_envs.search import tree as loops
from tabletop_envs.search.config import check_config, choose_config, read_config
from tabletop_envs.search.nodes import FIRST_SLICE, edges_for, new_tree
from tabletop_envs.threads import MAX_THREADS, LaneThreads, Turn, cut, next_size

if TYPE_CHECKING:
    from tabletop_envs.game import Game, State

__all__ = ["MAX_SIMULATIONS", "MCTSAgent"]

MAX_SIMULATIONS = 2**21


class MCTSAgent(GameAgent):
    """Takes the action that most simulations have tried. Every choice is searched anew; one legal action is played at once.

    Args:
        simulations: How many for each choice.
        num_threads: How many threads share the lanes of a call; choices do not depend on it.
        **rules: `priors`, `exploration`, `temperature`, `playout` (`search.SearchConfig`) in place
            of the game's defaults; they become a part of the agent's name.

    Raises:
        TypeError, ValueError: For an impossible number, naming it and what is allowed.
    """

    def __init__(self, simulations: int, *, num_threads: int = 1, **rules: Any) -> None:
        self.simulations = checks.integer("simulations", simulations, 1, MAX_SIMULATIONS)
        self.num_threads = checks.integer("num_threads", num_threads, 1, MAX_THREADS)
        self.rules = check_config(rules)
        words = [f"{name}={value}" for name, value in self.rules.items()]
        self.name = ",".join([f"mcts:{self.simulations}", *words])
        self._game: Game | None = None
        self._memory: list[tuple[Any, ...]] = []
        self._threads = LaneThreads(self.num_threads)
        self._slice = FIRST_SLICE
        # Calls from several threads take turns: they share the memory.
        self._turn = Turn()

    @classmethod
    def from_name(cls, argument: str) -> MCTSAgent:
        """The agent of what follows `mcts:`, such as `400,exploration=2`.

        TypeError or ValueError for what is none.
        """
        simulations, *words = argument.split(",")
        if not (simulations.isascii() and simulations.isdigit() and int(simulations) > 0):
            raise ValueError(f"N must be an integer from 1 to {MAX_SIMULATIONS}")
        return cls(int(simulations), **read_config(words))

    def fingerprint(self) -> str:
        """See `agents.fingerprint`."""
        own = {**fingerprints.settings(self), "num_threads": 1}  # choices do not depend on it
        code = fingerprints.sources(search.__file__, evaluation.__file__)
        return fingerprints.digest(type(self), own, code)

    def choose_lanes(
        self, game: Game, states: State, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        with self._turn.lock:
            self._search(game, states, samplers, lanes, actions)

    def _search(self, game: Game, states: State, samplers: Any, lanes: Any, actions: Any) -> None:
        if self._game is not game:
            self._settings = choose_config(game, **self.rules).settings(game.has_chance)
            self._game, self._memory = game, []
        parts = cut(len(lanes), min(self.num_threads, len(lanes)))
        while len(self._memory) < len(parts):
            self._memory.append(self._new_memory(game))
        memories = dict(zip(parts, self._memory, strict=False))

        def search_part(first: int, last: int) -> None:
            progress = loops.new_progress(first)
            while progress["place"][0] < last and not self._threads.stopping:
                begin = time.thread_time()
                done = loops.search_lanes(
                    states,
                    samplers,
                    lanes,
                    actions,
                    self.simulations,
                    False,
                    self._slice,
                    progress,
                    *memories[first, last],
                    self._settings,
                    last,
                )
                self._slice = next_size(self._slice, done, time.thread_time() - begin)

        self._threads.run(parts, search_part)

    def _new_memory(self, game: Game) -> tuple[Any, ...]:
        """What a thread works in: states, the heuristic's workspace, a tree."""
        # A simulation adds a node, or one for each action of the decision in hand.
        nodes = self.simulations * (1 + loops.LONGEST_DECISION) + 2
        return (
            np.zeros(loops.NUM_SCRATCH, game.kernel.state),
            evaluation.workspace(game.kernel),
            *new_tree(nodes, edges_for(game.kernel, nodes), game.has_chance),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_game": None, "_memory": []}
