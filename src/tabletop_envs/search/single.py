"""Tree search of one position at a time: `Search`."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.game import Game, State, find_game
from tabletop_envs.kernels import RUNNING, engine
from tabletop_envs.search import tree as loops
from tabletop_envs.search.config import choose_config
from tabletop_envs.search.nodes import FIRST_SLICE, FULL, USED_NODES, new_tree
from tabletop_envs.threads import SLICE_SECONDS, Turn, next_size, one_at_a_time

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

# With a time limit the clock is looked at after simulations that take about so many seconds.
CLOCK_SECONDS = 0.005


@dataclass(frozen=True)
class SearchResult:
    """The result of a search (k legal actions, P players).

    Attributes:
        action: The action with the most visits; ties go to the higher value, then to the lower
            action.
        actions: `int64 (k,)`, the legal actions, ascending.
        visits: `int64 (k,)`, how often each was simulated.
        action_values: `float64 (k, P)`, every player's mean value after each; NaN where it was
            never simulated.
        values: `float64 (P,)`, every player's mean value.
        principal_variation: The actions that follow each other by most visits, beginning with
            `action`.
        simulations: How many were run in this call.
        nodes: How many nodes the tree has.
        full: Whether the tree's memory ran out: then the search ended early, or leaves were not
            expanded.
    """

    action: int
    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int64]
    action_values: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    principal_variation: list[int]
    simulations: int
    nodes: int
    full: bool


class Search:
    """Searches positions of one game by simulations in a tree whose memory is allocated once.

    There is a value for each player, and whoever acts at a node chooses by their own (max-n). With
    chance or hidden information every simulation resamples what the player to move at the root
    cannot see, and all later chance; nodes are then sequences of actions (information-set search),
    so nothing is used that this player cannot know.

    The tree is kept: a second `run` in the same position adds to it.

    Args:
        game: A game's id, such as `"kirche-v0"`, or a `Game`, also a custom one.
        max_nodes: The room for nodes, 64 bytes each.
        max_edges: The room for legal actions of nodes, 8 bytes each (12 with chance or hidden
            information), at least as many as the game has; None: 256 a node, or all that the game
            has if those are less. Memory is used only as it is needed.
        priors, exploration, temperature, playout: See `SearchConfig`; None: the game's default
            (`default_config`).
        seed: An integer from 0 to 2^64 − 1, or None for fresh entropy. The same seed, calls and
            numbers of simulations give the same trees.

    Attributes:
        game: The `Game`.
        config: The `SearchConfig`.

    Raises:
        TypeError, ValueError: For an invalid argument, naming it and what it must be.
    """

    def __init__(
        self,
        game: Game | str,
        *,
        max_nodes: int = 100_000,
        max_edges: int | None = None,
        priors: str | None = None,
        exploration: float | None = None,
        temperature: float | None = None,
        playout: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.game = find_game(game)
        self.config = choose_config(
            self.game,
            priors=priors,
            exploration=exploration,
            temperature=temperature,
            playout=playout,
        )
        kernel = self.game.kernel
        max_nodes = checks.integer("max_nodes", max_nodes, 1, 2**31 - 2)
        self._tree = new_tree(self.game, max_nodes, max_edges)
        self._settings = self.config.settings(self.game)
        self._scratch = loops.new_scratch(self.game)
        self._slice = FIRST_SLICE
        self._turn = Turn()
        one = np.zeros(1, np.int64)
        self._choices = loops.Choices(
            np.zeros(1, kernel.state), np.zeros(1, np.uint64), one, one.copy()
        )
        seeds = np.array(
            [secrets.randbits(64) if seed is None else checks.seed("seed", seed)], np.uint64
        )
        engine.seed_lanes(self._choices.states, self._choices.rngs, seeds)

    @one_at_a_time
    def run(
        self,
        position: TabletopEnv | State,
        simulations: int | None = None,
        *,
        seconds: float | None = None,
    ) -> SearchResult:
        """Search a position, which is not changed.

        Ctrl-C is handled within a fraction of a second; the search stays usable, with the tree that
        it has grown by then.

        Args:
            position: An AEC environment of this library, wrapped or not, or a state `(1,)`
                (`batch.states[i:i + 1]`), whose game runs.
            simulations: How many to run; None: 1,000, or as many as `seconds` allow.
            seconds: A limit of time, kept to some thousandths of a second; at least one simulation
                is run.

        Raises:
            TypeError, ValueError: For an invalid position or number, naming it.
            RuntimeError: While another call runs, in another thread.
        """
        if simulations is None:
            simulations = 1000 if seconds is None else 2**31 - 1
        simulations = checks.integer("simulations", simulations, 1, 2**31 - 1)
        if seconds is not None:
            checks.number("seconds", seconds, 0.0)
        state = self._read(position)
        if not self._is_root(state):
            self._tree.used[:] = 0
        self._choices.states[:] = state
        return self._result(self._grow(simulations, seconds))

    def _read(self, position: TabletopEnv | State) -> State:
        if isinstance(position, np.ndarray):
            state = position
        elif hasattr(position, "unwrapped") and hasattr(position.unwrapped, "lane"):
            if position.unwrapped.game is not self.game:
                raise TypeError(
                    f"the environment plays {position.unwrapped.game.name}, "
                    f"this search {self.game.name}"
                )
            state, legal = position.unwrapped.lane()
            if not legal.any():
                raise ValueError("the game is over, there is nothing to search")
        else:
            raise TypeError(
                f"position={checks.shown(position)} must be an environment or a state (1,)"
            )
        if state.dtype != self.game.kernel.state or state.shape != (1,):
            raise TypeError(f"position must be one state of {self.game.name}")
        if state is position:
            self.game.require_states(state, name="position")
        if state["status"][0] != RUNNING:
            raise ValueError("the game is over, there is nothing to search")
        return state

    def _is_root(self, state: State) -> bool:
        """Whether the tree is of this position (apart from its `rng`, which no search reads)."""
        ours, theirs = self._choices.states.copy(), state.copy()
        ours["rng"] = theirs["rng"] = 0
        return bool((ours == theirs).all())

    def _grow(self, simulations: int, seconds: float | None) -> int:
        """Run simulations; how many there was time and room for."""
        end = None if seconds is None else time.perf_counter() + seconds
        if end is not None:
            self._slice = 1
        run, job = 0, loops.new_job(simulations, 0, 1, keep=True)
        clock = time.thread_time if end is None else time.perf_counter
        while job["place"][0] == 0:
            begin = clock()
            done = loops.search_lanes(
                self._choices, self._tree, self._scratch, self._settings, job, self._slice
            )
            run += done
            now = clock()
            wanted = SLICE_SECONDS
            if end is not None:
                if now >= end:
                    break
                wanted = min(CLOCK_SECONDS, end - now)
            self._slice = next_size(self._slice, done, now - begin, wanted)
        return run

    # Reading the tree

    def _children(self, node: np.void) -> dict[int, int]:
        """The children of a node by their actions."""
        first = int(node["first"])
        children = self._tree.edges["target"][first : first + int(node["tried"])]
        return dict(
            zip(self._tree.nodes["action"][children].tolist(), children.tolist(), strict=True)
        )

    def _line(self, action: int) -> list[int]:
        """The actions with the most visits (ties: the lower), beginning with `action`."""
        nodes, line = self._tree.nodes, [action]
        node = self._children(nodes[0]).get(action)
        while node is not None:
            children = self._children(nodes[node])
            if not children:
                break
            action = min(children, key=lambda action: (-nodes[children[action]]["visits"], action))
            line.append(action)
            node = children[action]
        return line

    def _result(self, run: int) -> SearchResult:
        nodes, edges = self._tree.nodes, self._tree.edges
        root, players = nodes[0], int(self._choices.states["num_players"][0])
        action, children = int(self._choices.actions[0]), self._children(root)
        first, tried, count = int(root["first"]), int(root["tried"]), int(root["count"])
        untried = edges["target"][first + tried : first + count].tolist()
        actions = sorted([*children, *untried])
        visits = np.zeros(len(actions), np.int64)
        values = np.full((len(actions), players), np.nan)
        for place, legal in enumerate(actions):
            if legal in children and nodes[children[legal]]["visits"]:
                child = nodes[children[legal]]
                visits[place] = child["visits"]
                values[place] = child["total"][:players] / child["visits"]
        return SearchResult(
            action,
            np.array(actions, np.int64),
            visits,
            values,
            root["total"][:players] / max(int(root["visits"]), 1),
            self._line(action),
            run,
            int(self._tree.used[USED_NODES]),
            bool(self._tree.used[FULL]),
        )
