"""Tree search of one position at a time: `Search`."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks, evaluation
from tabletop_envs.game import Game, State, find_game
from tabletop_envs.kernels import RUNNING, engine
from tabletop_envs.search import tree as loops
from tabletop_envs.search.config import choose_config
from tabletop_envs.search.nodes import FIRST_SLICE, FULL, USED_NODES, Tree, new_tree, parse_edges
from tabletop_envs.threads import SLICE_SECONDS, Turn, next_size, one_at_a_time

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

# With a time limit the clock is looked at after simulations that take about so many seconds.
CLOCK_SECONDS = 0.005


@dataclass(frozen=True)
class SearchResult:
    """What a search came to (k legal actions, P players).

    Attributes:
        action: The action with the most visits; ties go to the higher value, then to the lower action.
        actions: `int64 (k,)`, the legal actions, ascending.
        visits: `int64 (k,)`, how often each was simulated.
        action_values: `float64 (k, P)`, every player's mean value after each; NaN where it was never simulated.
        values: `float64 (P,)`, every player's mean value.
        principal_variation: The actions that follow each other by most visits, beginning with `action`.
        simulations: How many were run in this call.
        nodes: How many nodes the tree has.
        full: Whether the tree's memory ran out: then the search ended early, or leaves were not expanded.
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

    Values are one for each player, and whoever acts at a node chooses by his own (max-n). With chance or hidden information every
    simulation deals anew what the player in turn at the root cannot see, and all chance to come; the nodes are then sequences of
    actions (information-set search), so nothing is used that this player cannot know.

    The tree lives on: a second `run` in the same position adds to it, and after `advance(action)` the part of the tree behind the
    action is kept. With chance or hidden information it is not: its values would be those of other dice and hands.

    Args:
        game: A game's id, such as `"kirche-v0"`, or a `Game`, a user's own too.
        max_nodes: The room for nodes, 64 bytes each.
        max_edges: The room for legal actions of nodes, 8 bytes each (12 with chance or hidden information); None: 256 a node, or all
            that the game has if those are less. Memory is used only as it is needed.
        priors, exploration, temperature, playout: See `SearchConfig`; None: the game's default (`default_config`).
        seed: A number or None for fresh entropy. The same seed, calls and numbers of simulations give the same trees.

    Raises:
        TypeError, ValueError: For an impossible argument, naming it and what is allowed.
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
        self.rules = choose_config(
            self.game,
            priors=priors,
            exploration=exploration,
            temperature=temperature,
            playout=playout,
        )
        kernel = self.game.kernel
        self.max_nodes = checks.integer("max_nodes", max_nodes, 1, 2**31 - 2)
        self.max_edges = parse_edges(kernel, max_edges, self.max_nodes)
        self._settings = self.rules.settings(self.game.has_chance)
        self._work = evaluation.workspace(kernel)
        self._scratch = np.zeros(loops.NUM_SCRATCH, kernel.state)
        self._tree = self._new_tree()
        self._slice = FIRST_SLICE
        self._turn = Turn()
        # The position of the root; its status is not RUNNING while there is none.
        self._root = np.zeros(1, kernel.state)
        self._root["status"] = -1
        self._samplers = np.zeros(1, np.uint64)
        seeds = np.array(
            [secrets.randbits(64) if seed is None else checks.seed("seed", seed)], np.uint64
        )
        engine.seed_lanes(np.zeros(1, kernel.state), self._samplers, seeds)

    def _new_tree(self) -> Tree:
        return new_tree(self.max_nodes, self.max_edges, self.game.has_chance)

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
            position: An AEC environment of this library, wrapped or not, or a state `(1,)` (`batch.states[i:i + 1]`), whose game runs.
            simulations: How many to run; None: 1,000, or as many as `seconds` allow.
            seconds: A limit of time, kept to some thousandths of a second; at least one simulation is run.

        Raises:
            TypeError, ValueError: For an impossible position or number, naming it.
            RuntimeError: While another call runs, in another thread.
        """
        if simulations is None:
            simulations = 1000 if seconds is None else 2**31 - 1
        simulations = checks.integer("simulations", simulations, 1, 2**31 - 1)
        if seconds is not None:
            checks.number("seconds", seconds, 0.0)
        state = self._read(position)
        if not self._is_root(state):
            self._forget()
        self._root[:] = state
        run, action = self._grow(simulations, seconds)
        return self._result(run, action)

    @one_at_a_time
    def advance(self, action: int) -> None:
        """An action has been played at the root: keep what the tree knows of the position behind it.

        Forgets the tree where that is not sound (chance, hidden information), or where it knows nothing.

        Raises:
            TypeError, ValueError: For what is no action, if there is no root yet, or the action is not legal there.
        """
        action = checks.integer("action", action, 0, self.game.kernel.num_actions - 1)
        if self._root["status"][0] != RUNNING:
            raise ValueError("there is no position to advance from: run() a search first")
        root = self._tree.nodes[0]
        legal = engine.new_legal(self.game.kernel)
        result = np.zeros(3 + engine.MAX_PLAYERS, np.int64)
        state = self._root.copy()
        engine.advance_one(state, legal, engine.REFRESH, 0, result)
        if not engine.advance_one(state, legal, engine.STEP, action, result):
            raise ValueError(f"action {action} is not legal in the position that was searched")
        child = self._children(root).get(action)
        self._root[:] = state
        if child is None or self.game.has_chance or state["status"][0] != RUNNING:
            self._forget()
            return
        kept = self._new_tree()
        loops.move_tree(*self._tree, child, *kept)
        self._tree = kept

    def _read(self, position: TabletopEnv | State) -> State:
        if isinstance(position, np.ndarray):
            state = position
        elif hasattr(position, "unwrapped") and hasattr(position.unwrapped, "lane"):
            if position.unwrapped.game is not self.game:
                raise TypeError(
                    f"the environment plays {position.unwrapped.game.name}, this search {self.game.name}"
                )
            state, legal = position.unwrapped.lane()
            if not legal.any():
                raise ValueError("the game is over, there is nothing to search")
        else:
            raise TypeError(f"position is an environment or a state (1,), not {position!r}")
        if state.dtype != self.game.kernel.state or state.shape != (1,):
            raise TypeError(f"position is not one state of {self.game.name}")
        if state is position:
            self.game.require_states(state, name="position")
        if state["status"][0] != RUNNING:
            raise ValueError("the game is over, there is nothing to search")
        return state

    def _is_root(self, state: State) -> bool:
        """Whether the tree is of this position (the generator, which no search looks at, apart)."""
        ours, theirs = self._root.copy(), state.copy()
        ours["rng"] = theirs["rng"] = 0
        return bool((ours == theirs).all())

    def _forget(self) -> None:
        self._tree.used[:] = 0

    def _grow(self, simulations: int, seconds: float | None) -> tuple[int, int]:
        """Run simulations; how many there was time and room for, and the action chosen."""
        end = None if seconds is None else time.perf_counter() + seconds
        if end is not None:
            self._slice = 1
        run, progress = 0, loops.new_progress()
        lanes, actions = np.zeros(1, np.int64), np.zeros(1, np.int64)
        clock = time.thread_time if end is None else time.perf_counter
        while progress["place"][0] == 0:
            begin = clock()
            done = loops.search_lanes(
                self._root,
                self._samplers,
                lanes,
                actions,
                simulations,
                True,
                self._slice,
                progress,
                self._scratch,
                self._work,
                *self._tree,
                self._settings,
                1,
            )
            run += done
            now = clock()
            wanted = SLICE_SECONDS
            if end is not None:
                if now >= end:
                    break
                wanted = min(CLOCK_SECONDS, end - now)
            self._slice = next_size(self._slice, done, now - begin, wanted)
        return run, int(actions[0])

    # Reading the tree

    def _children(self, node: np.void) -> dict[int, int]:
        """The children of a node by their actions."""
        first = int(node["first"])
        children = self._tree.edges["target"][first : first + int(node["tried"])]
        return dict(
            zip(self._tree.nodes["action"][children].tolist(), children.tolist(), strict=True)
        )

    def _line(self, action: int) -> list[int]:
        """The actions that follow each other by most visits (ties: the lower one), beginning with `action` at the root."""
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

    def _result(self, run: int, action: int) -> SearchResult:
        nodes, edges = self._tree.nodes, self._tree.edges
        root, players = nodes[0], int(self._root["num_players"][0])
        children = self._children(root)
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
