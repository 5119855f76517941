"""AlphaZero-style search of many games in step: `PUCT`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.game import Game, State, find_game, lane_seeds
from tabletop_envs.kernels import RUNNING, engine
from tabletop_envs.search import config, puct
from tabletop_envs.search.nodes import FIRST_SLICE, FULL, new_tree
from tabletop_envs.threads import MAX_THREADS, LaneThreads, Turn, cut, one_at_a_time

if TYPE_CHECKING:
    from tabletop_envs.envs.batch import BatchEnv

# (observations, masks) -> (policy, values)
Evaluator = Callable[
    [npt.NDArray[np.int8 | np.float32], npt.NDArray[np.bool_]], tuple[npt.ArrayLike, npt.ArrayLike]
]
OBSERVATION_DTYPES = (np.int8, np.float32)
POLICIES = ("logits", "priors")


def _observation_dtype(given: npt.DTypeLike) -> np.dtype[Any]:
    fault = f"observation_dtype={checks.shown(given)} must be int8 or float32"
    try:
        dtype = np.dtype(given)
    except (TypeError, ValueError):
        raise TypeError(fault) from None
    # To NumPy None is float64.
    if given is None or dtype not in OBSERVATION_DTYPES:
        raise ValueError(fault)
    return dtype


@dataclass(frozen=True)
class BatchResult:
    """The result of a batched search (N lanes, n actions, P players).

    Attributes:
        actions: `int64 (N,)`, an action for every lane, drawn by visits and temperature.
        visits: `int32 (N, n)`, how often each action was simulated; every row sums to the number of
            simulations.
        values: `float64 (N, P)`, every player's mean value at the root, players in their own order.
        full: `bool (N,)`, whether a lane's room for edges ran out, so that some leaves were not
            expanded.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    full: npt.NDArray[np.bool_]

    @property
    def policy(self) -> npt.NDArray[np.float32]:
        """`float32 (N, n)`, each action's share of the visits: the target of a policy."""
        policy: npt.NDArray[np.float32] = self.visits / self.visits.sum(axis=1, keepdims=True)
        return policy.astype(np.float32)


class PUCT:
    """Searches N games in step: each round adds a leaf to every tree, and a network values all.

    With chance or hidden information every simulation resamples what the player to move at the root
    cannot see, and all later chance; nodes are then sequences of actions (information-set search).
    All randomness of lane `i` of the seed `s` comes from `s + i`: results depend neither on the
    number of lanes nor on threads.

    Args:
        game: A game's id, such as `"kirche-v0"`, or a `Game`.
        num_envs: N.
        num_simulations: Simulations of every lane in a run.
        c_puct: The weight of exploration.
        dirichlet_alpha: The parameter of the Dirichlet noise at the root.
        dirichlet_fraction: The noise's share of the root's priors (0: none).
        fpu_reduction: How far the value of an untried action lies below the mean value of its node.
        policy: What the network returns: `"logits"`, or `"priors"` (they need not sum to 1 over the
            legal actions).
        observation_dtype: `int8` or `float32`, of the observations that the network gets.
        max_edges: Room for legal actions in each lane's tree, 8 bytes each; None: 256 (or all, if
            those are less) a simulation. At least as many as the game has actions, so that the root
            always finds room; leaves that find none stay leaves.
        seed: As of `seed()`.
        num_threads: How many threads share the lanes.

    Raises:
        TypeError, ValueError: For an invalid argument, naming it and what it must be.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        num_simulations: int,
        *,
        c_puct: float = 1.25,
        dirichlet_alpha: float = 0.3,
        dirichlet_fraction: float = 0.25,
        fpu_reduction: float = 0.0,
        policy: str = "logits",
        observation_dtype: npt.DTypeLike = np.int8,
        max_edges: int | None = None,
        seed: int | Sequence[int] | None = None,
        num_threads: int = 1,
    ) -> None:
        self.game = find_game(game)
        self.num_envs = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
        self.num_simulations = checks.integer("num_simulations", num_simulations, 1, 2**24)
        self.num_threads = checks.integer("num_threads", num_threads, 1, MAX_THREADS)
        self.policy = checks.choice("policy", policy, POLICIES)
        self._settings = config.new_settings(
            self.game,
            rule=config.PUCT,
            exploration=checks.number("c_puct", c_puct, 0.0),
            alpha=checks.number("dirichlet_alpha", dirichlet_alpha, 1e-6),
            fraction=checks.number("dirichlet_fraction", dirichlet_fraction, 0.0, 1.0),
            fpu_reduction=checks.number("fpu_reduction", fpu_reduction, -2.0, 2.0),
            gives_priors=self.policy == "priors",
        )
        dtype = _observation_dtype(observation_dtype)
        kernel, lanes = self.game.kernel, self.num_envs
        self._trees = new_tree(self.game, self.num_simulations + 2, max_edges, lanes)
        self._leaves = puct.Leaves(
            rngs=np.zeros(lanes, np.uint64),
            states=np.zeros(lanes, kernel.state),
            legal_bits=engine.new_legal(kernel, lanes),
            lengths=np.zeros(lanes, np.int64),
            status=np.zeros(lanes, np.int8),
            observation=np.zeros((lanes, kernel.observation_size), dtype),
            mask=np.zeros((lanes, kernel.num_actions), np.bool_),
        )
        self._parts = cut(lanes, min(self.num_threads, lanes))
        self._threads = LaneThreads(self.num_threads, FIRST_SLICE)
        self._turn = Turn()
        self.seed(seed)

    @one_at_a_time
    def seed(self, seed: int | Sequence[int] | None) -> None:
        """Seed the lanes' generators anew.

        Args:
            seed: Lane `i` gets `seed + i`, of a sequence its own entry; None: fresh entropy.
        """
        # The stream beside the game's own: a search must not foresee the chance of a game of the
        # same seed.
        engine.seed_lanes(self._leaves.states, self._leaves.rngs, lane_seeds(seed, self.num_envs))

    @one_at_a_time
    def run(
        self,
        positions: BatchEnv | State,
        evaluate: Evaluator | None = None,
        *,
        temperature: float = 1.0,
    ) -> BatchResult:
        """Search the positions of all lanes; they are not changed.

        Args:
            positions: A batch of the same game, or its states `(N,)`; no game may be over.
            evaluate: The network: a function `(observations, masks) -> (policy, values)`.
                `observations` is `(N, L)`, what the player to move at each leaf sees, `masks`
                `bool (N, n)`; both are overwritten at every call. `policy` is `(N, n)`: logits or
                priors, of which only those of legal actions are read. `values` from −1 to 1 is
                `(N,)`, the value for the player to move (the others share its negative), or
                `(N, P)`, for every player: the player to move first, then in turn order, as
                observations have it. Rows of lanes that wait for nothing (their leaf was a finished
                game) are zeros with masks of ones; their answers are not read. None: even priors
                and values of zero, without leaving compiled code.
            temperature: Of the choice of `actions`: probabilities in proportion to visits to the
                power of 1 / temperature; 0: the most visited.

        Raises:
            TypeError, ValueError: For invalid positions or answers of the network, naming the lane.
            RuntimeError: While another call runs, in another thread or in the network.
        """
        temperature = checks.number("temperature", temperature, 0.0)
        roots = self._read(positions)
        self._trees.used[:] = 0
        if evaluate is None:
            self._search_evenly(roots)
        else:
            for _ in range(self.num_simulations + 1):
                self._threads.run(self._parts, self._gather, roots, 0)
                if self._leaves.status.any():
                    self._expand(evaluate)
        lanes, kernel = self.num_envs, self.game.kernel
        result = BatchResult(
            np.zeros(lanes, np.int64),
            np.zeros((lanes, kernel.num_actions), np.int32),
            np.zeros((lanes, int(roots["num_players"][0]))),
            self._trees.used[:, FULL].astype(np.bool_),
        )
        puct.finish_lanes(
            roots,
            self._leaves.rngs,
            self._trees,
            temperature,
            result.visits,
            result.values,
            result.actions,
        )
        return result

    def _read(self, positions: BatchEnv | State) -> State:
        """A copy of the positions; TypeError or ValueError, naming what is wrong with them."""
        roots = (
            positions if isinstance(positions, np.ndarray) else getattr(positions, "states", None)
        )
        if not isinstance(roots, np.ndarray) or roots.dtype != self.game.kernel.state:
            raise TypeError(f"positions must be a batch or states of {self.game.name}")
        if roots.shape != (self.num_envs,):
            raise ValueError(f"positions must have the shape ({self.num_envs},), not {roots.shape}")
        over = np.flatnonzero(roots["status"] != RUNNING)
        if over.size:
            raise ValueError(f"lane {over[0]}: the game is over, there is nothing to search")
        if roots is positions:
            self.game.require_states(roots, name="positions")
        return roots.copy()

    def _search_evenly(self, roots: State) -> None:
        """Run all simulations with even priors and values of zero, in slices."""

        def gather(first: int, last: int, done: int, count: int) -> None:
            self._gather(roots, count, first, last)

        self._threads.run_in_slices(self._parts, self.num_simulations + 1, gather)

    def _gather(self, roots: State, uniform_rounds: int, first: int, last: int) -> None:
        puct.gather_lanes(
            roots, self._leaves, self._trees, self._settings, uniform_rounds, first, last
        )

    def _expand(self, evaluate: Evaluator) -> None:
        answer: Any = evaluate(self._leaves.observation, self._leaves.mask)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            given = f"{len(answer)} things" if isinstance(answer, tuple | list) else type(answer)
            raise TypeError(f"the network must return a pair (policy, values), not {given}")
        lanes, players = self.num_envs, int(self._leaves.states["num_players"][0])
        # Copied where they cannot be written to: for such arrays Numba would compile the loop
        # again.
        policy, values = (np.require(each, np.float32, ("C", "A", "W")) for each in answer)
        if policy.shape != self._leaves.mask.shape:
            raise ValueError(
                f"the network's policy has the shape {policy.shape}, not {self._leaves.mask.shape}"
            )
        if values.shape not in ((lanes,), (lanes, 1), (lanes, players)):
            raise ValueError(
                f"the network's values have the shape {values.shape}, "
                f"not ({lanes},) or ({lanes}, {players})"
            )
        values = values.reshape(lanes, -1)
        self._threads.run(
            self._parts,
            puct.expand_lanes,
            self._leaves,
            self._trees,
            self._settings,
            policy,
            values,
        )
        wrong = np.flatnonzero(self._leaves.status)
        if wrong.size:
            what = "policy" if self._leaves.status[wrong[0]] == puct.BAD_POLICY else "value"
            raise ValueError(f"lane {wrong[0]}: the network's {what} has an invalid number")

    def close(self) -> None:
        """End the threads; any number of times. The search stays usable."""
        self._threads.close()

    def __enter__(self) -> PUCT:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
