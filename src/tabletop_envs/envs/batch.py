"""The batch engine's object: many games at once, stepped in compiled code, in arrays that are
written in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger

from tabletop_envs import checks
from tabletop_envs.checks import UINT64_MAX, require_int, require_list, require_mapping
from tabletop_envs.envs.board import Board
from tabletop_envs.game import Game, ObservationView, Snapshot, State, lane_seeds
from tabletop_envs.kernels import engine
from tabletop_envs.lanes import Lanes
from tabletop_envs.threads import MAX_THREADS, LaneThreads, Turn, busy, cut, one_at_a_time

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

__all__ = ["BatchEnv", "RolloutCounts"]

# Handing a step to another thread, and waiting for it, costs up to 100 µs (a sleeping core must
# wake up). A thread is worth that only for this many bytes of observations and masks, some 9,000
# lanes of kirche, 2,500 of meeples. Smaller batches stay in the calling thread.
MIN_BYTES_PER_THREAD = 2**24

# Actions of random play before the first look at signals: some 0.1 s.
FIRST_SLICE = 2**19


@dataclass(frozen=True)
class RolloutCounts:
    """What random play in a batch came to.

    Attributes:
        actions: Actions played, in finished and unfinished games.
        games: Games finished.
        by_limit: How many of them `max_plies` ended.
        plies: Actions of all finished games.
        longest: Actions of the longest finished game.
        shared: `shared[p][k]`: how often player p shared the top score with k others (k = 0: won
            alone).
        scores: The sum of each player's final scores.
    """

    actions: int
    games: int
    by_limit: int
    plies: int
    longest: int
    shared: tuple[tuple[int, ...], ...]
    scores: tuple[int, ...]

    def __add__(self, other: RolloutCounts) -> RolloutCounts:
        return RolloutCounts(
            self.actions + other.actions,
            self.games + other.games,
            self.by_limit + other.by_limit,
            self.plies + other.plies,
            max(self.longest, other.longest),
            tuple(
                tuple(a + b for a, b in zip(own, others, strict=True))
                for own, others in zip(self.shared, other.shared, strict=True)
            ),
            tuple(a + b for a, b in zip(self.scores, other.scores, strict=True)),
        )

    @property
    def mean_length(self) -> float:
        """Actions a finished game; 0.0 without any."""
        return self.plies / self.games if self.games else 0.0

    @property
    def mean_rewards(self) -> tuple[float, ...]:
        """Each player's mean reward over the finished games (rule T15); 0.0 without any."""
        players = len(self.scores)
        return tuple(
            sum(
                count * (players / (others + 1) - 1) / (players - 1)
                for others, count in enumerate(row)
            )
            / max(self.games, 1)
            - (self.games - sum(row)) / (players - 1) / max(self.games, 1)
            for row in self.shared
        )


class BatchEnv(ObservationView):
    """`num_envs` games of one kind, stepped together. Made by `tabletop_envs.make_batch`.

    Lane `i` of a batch with the seed `s` plays what the AEC environment plays after
    `reset(seed=s + i)`, and its following games are those of further calls of `reset()`. Results
    depend neither on the batch's size nor on threads.

    The arrays are written in place by `reset`, `restore`, `step` and `rollout`; there are N lanes
    and P players. A batch takes one call at a time: a RuntimeError tells where a second thread
    calls one of these methods, or `sample_actions`, meanwhile.

    Attributes:
        observation: `int8 (N, L)`, what the player to move sees (`OBSERVATION` names the parts).
        action_mask: `bool (N, n)`, the legal actions of the player to move.
        current_player: `int8 (N,)`, the player to move.
        rewards: `float32 (N, P)`, of the last step: zero unless it ended the game.
        terminated: `bool (N,)`, whether the last step ended the game.
        by_limit: `bool (N,)`, whether it ended by `max_plies` (of the terminated).
        scores: `int32 (N, P)`, the standing after the last step.
        episode_length: `int32 (N,)`, the actions of the game after the last step.
        num_envs, num_players, num_actions, num_threads: Numbers.
        options: The game's options.
        check, render_mode: As the batch was made.
    """

    observation: npt.NDArray[np.int8]
    action_mask: npt.NDArray[np.bool_]
    current_player: npt.NDArray[np.int8]
    rewards: npt.NDArray[np.float32]
    terminated: npt.NDArray[np.bool_]
    by_limit: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.int32]
    episode_length: npt.NDArray[np.int32]

    def __init__(
        self,
        game: Game,
        num_envs: int,
        *,
        seed: int | Sequence[int] | None = None,
        num_threads: int = 1,
        check: bool = True,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.check = checks.boolean("check", check)
        self.num_envs = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
        self.num_threads = checks.integer("num_threads", num_threads, 1, MAX_THREADS)
        self._lanes = Lanes(game, self.num_envs, options, on_illegal="raise")
        self._board = Board(self._lanes, render_mode)
        self.render_mode = render_mode
        self.game = game = self._lanes.game
        self.options = self._lanes.options
        self.num_players, self.num_actions = self._lanes.num_players, self._lanes.num_actions
        lanes, players = self.num_envs, self.num_players
        # What is drawn, and what a user gives.
        self._actions, self._given = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        self._shown = engine.ShownArrays(
            action_mask=np.zeros((lanes, self.num_actions), np.bool_),
            observation=np.zeros((lanes, game.kernel.observation_size), np.int8),
            current_player=np.zeros(lanes, np.int8),
            rewards=np.zeros((lanes, players), np.float32),
            terminated=np.zeros(lanes, np.bool_),
            by_limit=np.zeros(lanes, np.bool_),
            scores=np.zeros((lanes, players), np.int32),
            episode_length=np.zeros(lanes, np.int32),
        )
        self._arrays = (self._lanes.states, self._lanes.legal_bits, tuple(self._shown))
        self._show_arrays()
        # The lanes of each thread: in a step one part unless there are lanes enough for more.
        row = game.kernel.observation_size + self.num_actions
        self._parts = cut(lanes, min(self.num_threads, lanes * row // MIN_BYTES_PER_THREAD))
        self._rollout_parts = cut(lanes, min(self.num_threads, lanes))
        self._threads = LaneThreads(self.num_threads, FIRST_SLICE)
        self._turn = Turn()
        self._lanes.seed(self._lanes.all_lanes, lane_seeds(seed, lanes))
        self._advance(engine.START, self._actions)
        self._lanes.started[:] = True

    def _show_arrays(self) -> None:
        """Give users views: making one read-only does not keep the engine from writing."""
        for name, array in self._shown._asdict().items():
            setattr(self, name, array.view())
        self._sampled = self._actions.view()

    # Playing

    @one_at_a_time
    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        *,
        positions: Sequence[Snapshot] | None = None,
    ) -> None:
        """Start new games in all lanes.

        Args:
            seed: A number `s` (lane `i` gets `s + i`, modulo 2^64) or one for each lane; None: the
                streams continue.
            positions: Snapshots of running games with the batch's options. From now on every new
                game, those that `step` and `rollout` start included, begins in one of them, all
                equally likely, drawn from a stream of the lane's seed. None: as the rules say.

        A lane in a position plays what an AEC environment plays after `restore` of it, randomness
        included: a position with `rng` always has the same dice. One without gets new ones from the
        lane's stream at every draw: leave `rng` out for training. `to_aec(lane).snapshot()` tells
        them.

        Raises:
            TypeError, ValueError: For an invalid seed or position, naming its place in the list and
                the field; nothing is changed then.
        """
        starts = self._lanes.parse_starts(positions)
        seeds = None if seed is None else lane_seeds(seed, self.num_envs)
        self._lanes.start_from(starts)
        if seeds is not None:
            self._lanes.seed(self._lanes.all_lanes, seeds)
        self._advance(engine.START, self._actions)

    @one_at_a_time
    def restore(self, lane: int, snapshot: Snapshot) -> None:
        """Go on from a snapshot in one lane; the other lanes and what their arrays show stay.

        The lane then plays what an AEC environment plays after `restore` of it, randomness included
        (without `rng` the lane's stream continues), and its next game starts as those of all lanes.
        Its `rewards`, `terminated` and `by_limit` are those of a step that has ended no game.

        Args:
            lane: A negative one counts from the end.
            snapshot: Of a running game with the batch's options.

        Raises:
            TypeError, ValueError: For what is no lane, and for an invalid snapshot, naming the lane
                and the field; nothing is changed then.
        """
        lane = checks.integer("lane", lane, -self.num_envs, self.num_envs - 1) % self.num_envs
        states = self._lanes.states
        position = self._lanes.parse_position(f"lane {lane}", snapshot, int(states["rng"][lane]))
        states[lane] = position[0]
        engine.advance_lanes(
            *self._loop_arguments(engine.REFRESH, self._actions), False, lane, lane + 1
        )

    def _loop_arguments(self, command: int, actions: npt.NDArray[np.int64]) -> tuple[Any, ...]:
        return (*self._arrays, self._lanes.starts, command, actions)

    def _advance(self, command: int, actions: npt.NDArray[np.int64], check: bool = False) -> int:
        """Run the engine's loop; the first lane with an illegal action if `check` finds one
        (nothing is changed), or −1.
        """
        arguments = self._loop_arguments(command, actions)
        if len(self._parts) == 1:
            return int(engine.advance_lanes(*arguments, check, 0, self.num_envs))
        # No part may begin before all actions are known to be legal.
        illegal = self._lanes.first_illegal(self._lanes.all_lanes, actions) if check else -1
        if illegal < 0:
            self._threads.run(self._parts, engine.advance_lanes, *arguments, False)
        return illegal

    def step(self, actions: npt.ArrayLike, *, check: bool | None = None) -> None:
        """Play one action in every lane and bring all arrays up to date.

        A game that is over is replaced by a new one in the same step: `observation`, `action_mask`
        and `current_player` are already the new game's, the other arrays tell how the old one ended
        until the next step.

        Args:
            actions: Integers `(N,)`, one legal action a lane.
            check: Whether the actions' legality is checked; None: as the batch was made. Unchecked
                illegal actions lead to undefined positions (but never outside the arrays).

        Raises:
            TypeError: Where the actions are not integers, or `check` is no bool.
            ValueError: For a wrong shape, and for an illegal action, naming lane and action, before
                any game has changed.
        """
        lock = self._turn.lock
        if lock.locked():
            raise busy(self, "step")
        with lock:
            numbers = self._parse_actions(actions)
            checked = self.check if check is None else checks.boolean("check", check)
            lane = self._advance(engine.STEP, numbers, checked)
            if lane >= 0:
                raise ValueError(self._why_illegal(lane, int(numbers[lane])))

    def _parse_actions(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        if actions is self._sampled:
            return self._actions
        # A copy: for any other kind of array, a read-only one say, Numba would compile the loop
        # again.
        self._given[:] = checks.integers("actions", actions, (self.num_envs,))
        return self._given

    def _why_illegal(self, lane: int, action: int) -> str:
        if not 0 <= action < self.num_actions:
            last = self.num_actions - 1
            return f"lane {lane}: action {action} is outside the action space 0 … {last}"
        name = self.game.action_to_str(self._lanes.states[lane], action)
        return f"lane {lane}: action {action} ({name}) of {self.game.name} is illegal here"

    def sample_actions(self) -> npt.NDArray[np.int64]:
        """A uniformly random legal action for every lane: `int64 (N,)`, the same array at every
        call.

        Drawn from streams of their own, so that the games' chance does not depend on who plays
        them.
        """
        lanes, lock = self._lanes, self._turn.lock
        if lock.locked():
            raise busy(self, "sample_actions")
        with lock:
            arguments = (lanes.states, lanes.legal_bits, lanes.rngs, self._actions)
            self._threads.run(self._parts, engine.sample_lanes, *arguments)
        return self._sampled

    @one_at_a_time
    def rollout(self, steps: int) -> RolloutCounts:
        """Play `steps` uniformly random actions in every lane without leaving compiled code.

        The same as `steps` times `step(sample_actions())`, except that of the games that end only
        the counts remain: afterwards `rewards`, `terminated` and `by_limit` are zero, as if the
        last step had ended no game.

        Ctrl-C ends it within a fraction of a second: the games then stand where they have come to,
        some of them further than others, and all arrays show that; their counts are lost.

        Raises:
            TypeError, ValueError: Where `steps` is not an integer from 1 to 2^62.
        """
        steps = checks.integer("steps", steps, 1, 2**62)
        tallies: dict[int, npt.NDArray[np.int64]] = {}  # one a thread

        def play(first: int, last: int, done: int, count: int) -> None:
            tally = tallies.setdefault(get_ident(), np.zeros(engine.TALLY_SIZE, np.int64))
            lanes = self._lanes
            arguments = (lanes.states, lanes.rngs, lanes.starts, count, tally)
            engine.rollout_lanes(*arguments, first, last)

        try:
            self._threads.run_in_slices(self._rollout_parts, steps, play, engine.BLOCK)
        finally:
            self._advance(engine.REFRESH, self._actions)
        return self._counts(np.array(list(tallies.values())), steps * self.num_envs)

    def _counts(self, tallies: npt.NDArray[np.int64], actions: int) -> RolloutCounts:
        total = tallies.sum(axis=0)
        players = total[engine.TALLY_PLAYERS :].reshape(engine.MAX_PLAYERS, -1)[: self.num_players]
        return RolloutCounts(
            actions,
            int(total[engine.TALLY_GAMES]),
            int(total[engine.TALLY_BY_LIMIT]),
            int(total[engine.TALLY_PLIES]),
            int(tallies[:, engine.TALLY_LONGEST].max()),
            tuple(tuple(row[: self.num_players].tolist()) for row in players),
            tuple(players[:, engine.MAX_PLAYERS].tolist()),
        )

    # Looking

    @one_at_a_time
    def legal_actions(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The legal actions of all lanes as lists, in fresh arrays.

        Returns:
            The actions, `int32 (K,)`, ascending within each lane, and their offsets,
            `int64 (N + 1,)`. Lane `i` has `actions[offsets[i]:offsets[i + 1]]`, at least one.
        """
        return self._lanes.legal_lists()

    @one_at_a_time
    def keys(self) -> npt.NDArray[np.uint64]:
        """The key of each lane's position (`TabletopEnv.key`), `uint64 (N,)`, in a fresh array."""
        return self._lanes.keys()

    # The whole state

    @one_at_a_time
    def get_state(self) -> dict[str, Any]:
        """All that play depends on, in plain JSON types, for checkpoints (`set_state`).

        `positions` has each lane's snapshot without its `rng`; `rng` and `samplers` have each
        lane's generators, of the game and of `sample_actions`, as integers from 0 to 2**64 − 1.
        `starts` is None, or has the `positions` that new games start from and each lane's generator
        (`rng`) that draws them.
        """
        lanes = self._lanes
        states, (starts, has_rng, _) = lanes.states, lanes.starts
        return {
            "positions": self._snapshots(states, np.zeros(self.num_envs, np.bool_)),
            "rng": states["rng"].tolist(),
            "samplers": lanes.rngs.tolist(),
            "starts": {
                "positions": self._snapshots(starts, has_rng),
                "rng": lanes.start_rngs.tolist(),
            }
            if lanes.has_positions
            else None,
        }

    def _snapshots(self, states: State, with_rng: npt.NDArray[np.bool_]) -> list[Snapshot]:
        """Each state as a snapshot, with its `rng` or without."""
        snapshots = []
        for place, kept in enumerate(with_rng):
            snapshot = self.game.snapshot(states[place : place + 1], self.options)
            if not kept:
                snapshot.pop("rng", None)
            snapshots.append(snapshot)
        return snapshots

    @one_at_a_time
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over what `get_state` gave, of a batch with as many lanes and the same options.

        Play continues as it would in that batch. `rewards`, `terminated` and `by_limit` are those
        of a step that has ended no game.

        Args:
            state: It may come from a file, and from anybody: every position is checked as by
                `restore`.

        Raises:
            ValueError: Naming lane and field, for what `get_state` cannot give, for other options
                and for a game that is over; nothing is changed then.
        """
        lanes = self._lanes
        # Checkpoints written before there were starts have none.
        given = require_mapping("state", state)
        given = require_mapping(
            "state", {"starts": None, **given}, ("positions", "rng", "samplers", "starts")
        )
        positions = require_list("positions", given["positions"], self.num_envs)
        rngs, samplers = (self._parse_rngs(name, given[name]) for name in ("rng", "samplers"))
        states = self.game.new_states(self.num_envs, self.options)
        for lane, (position, rng) in enumerate(zip(positions, rngs, strict=True)):
            states[lane] = lanes.parse_position(f"lane {lane}", position, rng)[0]
        starts, start_rngs = lanes.parse_starts(None), lanes.start_rngs
        if given["starts"] is not None:
            further = require_mapping("starts", given["starts"], ("positions", "rng"))
            name = "starts['positions']"
            starts = lanes.parse_starts(require_list(name, further["positions"]), name)
            start_rngs = np.array(self._parse_rngs("starts['rng']", further["rng"]), np.uint64)
        lanes.states[:] = states
        lanes.rngs[:] = samplers
        lanes.starts, lanes.start_rngs[:] = starts, start_rngs
        self._advance(engine.REFRESH, self._actions)

    def _parse_rngs(self, name: str, given: Any) -> list[int]:
        """Each lane's generator; ValueError, naming the lane, for what is none."""
        return [
            require_int(f"lane {lane}: {name}", number, 0, UINT64_MAX)
            for lane, number in enumerate(require_list(name, given, self.num_envs))
        ]

    def close(self) -> None:
        """End the threads and close the window; any number of times. The batch stays usable."""
        self._threads.close()
        self._board.close()

    def __getstate__(self) -> dict[str, Any]:
        # Copies show their own arrays.
        views = {*self._shown._fields, "_sampled"}
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._show_arrays()

    def __enter__(self) -> BatchEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def states(self) -> State:
        """The games as the engine keeps them, one record a lane: for search and game agents, not to
        be written to.
        """
        return self._lanes.states.view()

    @property
    def legal_bits(self) -> npt.NDArray[np.uint64]:
        """The sets of legal actions as the engine keeps them, a row a lane: for game agents, not to
        be written to.
        """
        return self._lanes.legal_bits.view()

    def to_aec(self, lane: int) -> TabletopEnv:
        """A lane's game as an AEC environment of its own, for snapshots, names of actions and
        search.

        TypeError or ValueError for what is no lane; a negative one counts from the end.
        """
        lane = checks.integer("lane", lane, -self.num_envs, self.num_envs - 1)
        return self._board.to_aec(lane % self.num_envs)

    def render(self) -> tuple[Any, ...] | None:
        """What the AEC environment's `render` gives, for every lane; with `"human"` the window
        shows lane 0.

        Without a render mode a warning and None.
        """
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode: make the batch with one")
            return None
        return self._board.render_all()
