"""The agent `mcts:N`: N simulations of tree search an action, by the game's default settings.

Other settings stand in its name: `mcts:N,priors=none,playout=30`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tabletop_envs import checks
from tabletop_envs.agents import fingerprints
from tabletop_envs.agents.agent import GameAgent
from tabletop_envs.search import tree as loops
from tabletop_envs.search.config import check_config, choose_config, read_config
from tabletop_envs.search.nodes import FIRST_SLICE, Tree, new_tree
from tabletop_envs.threads import MAX_THREADS, LaneThreads, Turn, cut, next_size

if TYPE_CHECKING:
    from tabletop_envs.game import Game, State

__all__ = ["MAX_SIMULATIONS", "MCTSAgent"]

MAX_SIMULATIONS = 2**21


class MCTSAgent(GameAgent):
    """Takes the action that most simulations have tried.

    Every choice is searched anew; one legal action is played at once.

    Args:
        simulations: How many for each choice.
        num_threads: How many threads share the lanes of a call; choices do not depend on it.
        **rules: `priors`, `exploration`, `temperature`, `playout` (`search.SearchConfig`) in place
            of the game's defaults; they become a part of the agent's name.

    Raises:
        TypeError, ValueError: For an invalid argument, naming it and what it must be.
    """

    def __init__(self, simulations: int, *, num_threads: int = 1, **rules: Any) -> None:
        self.simulations = checks.integer("simulations", simulations, 1, MAX_SIMULATIONS)
        self.num_threads = checks.integer("num_threads", num_threads, 1, MAX_THREADS)
        self.rules = check_config(rules)
        words = [f"{name}={value}" for name, value in self.rules.items()]
        self.name = ",".join([f"mcts:{self.simulations}", *words])
        self._game: Game | None = None
        self._memory: list[tuple[Tree, loops.Scratch]] = []
        self._threads = LaneThreads(self.num_threads)
        self._slice = FIRST_SLICE
        # Calls from several threads take turns: they share the memory.
        self._turn = Turn()

    @classmethod
    def from_name(cls, name: str) -> MCTSAgent:
        """The agent of a name such as `mcts:400,exploration=2`; ValueError for what is none."""
        simulations, *words = name.removeprefix("mcts:").split(",")
        try:
            if not (simulations.isascii() and simulations.isdigit()):
                raise ValueError(f"N must be an integer from 1 to {MAX_SIMULATIONS}")
            return cls(int(simulations), **read_config(words))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"agent {name!r} must be mcts:N or mcts:N,RULE=VALUE,...: {error}"
            ) from None

    def fingerprint(self) -> str:
        """See `agents.fingerprint`."""
        # Choices do not depend on the number of threads.
        return fingerprints.of_settings(self, {**fingerprints.settings(self), "num_threads": 1})

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        with self._turn.lock:
            self._search(game, loops.Choices(states, rngs, lanes, actions))

    def _search(self, game: Game, choices: loops.Choices) -> None:
        if self._game is not game:
            self._settings = choose_config(game, **self.rules).settings(game)
            self._game, self._memory = game, []
        lanes = len(choices.lanes)
        parts = cut(lanes, min(self.num_threads, lanes))
        while len(self._memory) < len(parts):
            # A simulation adds a node, or one for each action of the decision in hand.
            nodes = self.simulations * (1 + loops.LONGEST_DECISION) + 2
            self._memory.append((new_tree(game, nodes, None), loops.new_scratch(game)))
        memories = dict(zip(parts, self._memory, strict=False))

        def search_part(first: int, last: int) -> None:
            tree, scratch = memories[first, last]
            job = loops.new_job(self.simulations, first, last)
            while job["place"][0] < last and not self._threads.stopping:
                begin = time.thread_time()
                done = loops.search_lanes(choices, tree, scratch, self._settings, job, self._slice)
                self._slice = next_size(self._slice, done, time.thread_time() - begin)

        self._threads.run(parts, search_part)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_game": None, "_memory": []}
