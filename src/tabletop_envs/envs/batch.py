"""The batch engine's object: many games at once, stepped in compiled code, in arrays that are written in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger

from tabletop_envs.envs.drawing import require_render_mode
from tabletop_envs.envs.game import Game, ObservationPart, State, lane_seeds, require_count
from tabletop_envs.envs.threads import MAX_THREADS, LaneThreads, cut
from tabletop_envs.kernels import engine

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

__all__ = ["BatchEnv", "RolloutCounts"]

# Handing a step to another thread, and waiting for it, costs up to 100 µs (a sleeping core must wake up). A thread is
# worth that only for so many bytes of observations and masks, counted unpacked: some 9,000 lanes of kirche, 2,500 of
# meeples. Smaller batches stay in the calling thread.
MIN_BYTES_PER_THREAD = 2**24


@dataclass(frozen=True)
class RolloutCounts:
    """What random play in a batch came to.

    Attributes:
        actions: Actions played, in finished and unfinished games.
        games: Games finished.
        by_limit: How many of them `max_plies` ended.
        plies: Actions of all finished games.
        longest: Actions of the longest finished game.
        shared: `shared[p][k]`: how often player p shared the top score with k others (k = 0: won alone).
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


class BatchEnv:
    """`num_envs` games of one kind, stepped together. Made by `tabletop_envs.make_batch`.

    Lane `i` of a batch with the seed `s` plays what the AEC environment plays after `reset(seed=s + i)`, and
    its following games are those of further calls of `reset()`. Results depend neither on the batch's size nor on threads.

    The arrays are written in place by `reset`, `step` and `rollout`; there are N lanes and P players.

    Attributes:
        observation: `int8 (N, L)`, what the player in turn sees (`OBSERVATION` names the parts); with `packed=True`
            `uint8 (N, B)` (`unpack_observation`).
        action_mask: `bool (N, n)`, the legal actions of the player in turn; with `packed=True` `uint8 (N, ceil(n / 8))`
            (`unpack_mask`).
        current_player: `int8 (N,)`, the player in turn.
        rewards: `float32 (N, P)`, of the last step: zero unless it ended the game.
        terminated: `bool (N,)`, whether the last step ended the game.
        by_limit: `bool (N,)`, whether it ended by `max_plies` (of the terminated).
        scores: `int32 (N, P)`, the standing after the last step.
        episode_length: `int32 (N,)`, the actions of the game after the last step.
        num_envs, num_players, num_actions, num_threads: Numbers.
        options: The game's options.
        check, packed, render_mode: As the batch was made.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        *,
        seed: int | Sequence[int] | None = None,
        num_threads: int = 1,
        check: bool = True,
        packed: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        require_render_mode(render_mode)
        self.render_mode = render_mode
        self._board: TabletopEnv | None = None
        self.game = game
        self.check = check
        self.packed = packed
        self.num_envs = require_count("num_envs", num_envs, 2**31 - 1)
        self.num_threads = require_count("num_threads", num_threads, MAX_THREADS)
        self.options = game.parse_options(options)
        self.num_players = game.num_players(self.options)
        self.num_actions = game.kernel.num_actions
        lanes, players = self.num_envs, self.num_players
        self._packed_parts = np.zeros((0, 4), np.int64)
        self.observation: npt.NDArray[np.int8 | np.uint8]
        self.action_mask: npt.NDArray[np.bool_ | np.uint8]
        if packed:
            self._packed_parts = np.array(
                [
                    (part.slice.start, np.prod(part.shape), spec.low, spec.digits)
                    for part, spec in zip(game.observation.values(), game.parts, strict=True)
                ],
                np.int64,
            )
            size = sum(
                -(-count // 8) * digits for _, count, _, digits in self._packed_parts.tolist()
            )
            self.observation = np.zeros((lanes, size), np.uint8)
            self.action_mask = np.zeros((lanes, -(-self.num_actions // 8)), np.uint8)
        else:
            self.observation = np.zeros((lanes, game.kernel.observation_size), np.int8)
            self.action_mask = np.zeros((lanes, self.num_actions), np.bool_)
        self.current_player: npt.NDArray[np.int8] = np.zeros(lanes, np.int8)
        self.rewards: npt.NDArray[np.float32] = np.zeros((lanes, players), np.float32)
        self.terminated: npt.NDArray[np.bool_] = np.zeros(lanes, np.bool_)
        self.by_limit: npt.NDArray[np.bool_] = np.zeros(lanes, np.bool_)
        self.scores: npt.NDArray[np.int32] = np.zeros((lanes, players), np.int32)
        self.episode_length: npt.NDArray[np.int32] = np.zeros(lanes, np.int32)
        self._states = game.new_states(lanes, self.options)
        self._samplers = np.zeros(lanes, np.uint64)
        self._legal = engine.new_legal(game.kernel, lanes)
        self._actions = np.zeros(lanes, np.int64)
        self._shown = (
            self.action_mask,
            self.observation,
            self.current_player,
            self.rewards,
            self.terminated,
            self.by_limit,
            self.scores,
            self.episode_length,
            self._packed_parts,
        )
        # The lanes of each thread: in a step one part unless there are lanes enough for more.
        row = game.kernel.observation_size + self.num_actions
        self._parts = cut(lanes, min(self.num_threads, lanes * row // MIN_BYTES_PER_THREAD))
        self._rollout_parts = cut(lanes, min(self.num_threads, lanes))
        self._threads = LaneThreads(self.num_threads)
        self._seed_lanes(seed)
        self._restart()

    # Playing

    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Start new games in all lanes.

        Args:
            seed: A number `s` (lane `i` gets `s + i`, modulo 2^64) or one for each lane; None: chance goes on where it is.

        Raises:
            TypeError, ValueError: For an impossible seed; nothing is changed then.
        """
        if seed is not None:
            self._seed_lanes(seed)
        self._restart()

    def _seed_lanes(self, seed: int | Sequence[int] | None) -> None:
        engine.seed_lanes(self._states, self._samplers, lane_seeds(seed, self.num_envs))

    def _restart(self) -> None:
        self._advance(engine.START, self._actions)

    def _advance(self, command: int, actions: npt.NDArray[np.int64], check: bool = False) -> int:
        """Run the engine's loop; the first lane with an illegal action if `check` finds one (nothing is changed), or −1."""
        arguments = (self._states, self._legal, command, actions, *self._shown)
        if len(self._parts) == 1:
            return int(engine.advance_lanes(*arguments, check, 0, self.num_envs))
        if check:
            # No part may begin before all actions are known to be legal.
            lane = int(engine.first_illegal(self._states, self._legal, actions))
            if lane >= 0:
                return lane
        self._threads.run(self._parts, engine.advance_lanes, *arguments, False)
        return -1

    def step(self, actions: npt.ArrayLike, *, check: bool | None = None) -> None:
        """Play one action in every lane and bring all arrays up to date.

        A game that is over is replaced by a new one in the same step: `observation`, `action_mask` and
        `current_player` are already the new game's, the other arrays tell how the old one ended until the next step.

        Args:
            actions: Whole numbers `(N,)`, one legal action a lane.
            check: Whether the actions' legality is checked; None: as the batch was made. Unchecked illegal actions lead to
                undefined positions (but never outside the arrays).

        Raises:
            TypeError: Where the actions are not whole numbers.
            ValueError: For a wrong shape, and for an illegal action, naming lane and action, before any game has changed.
        """
        if actions is not self._actions:
            array = np.asarray(actions)
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions are whole numbers, not {array.dtype}")
            if array.shape != (self.num_envs,):
                raise ValueError(f"actions have the shape {array.shape}, not ({self.num_envs},)")
            actions = np.ascontiguousarray(array, np.int64)
        lane = self._advance(engine.PLAY, actions, self.check if check is None else check)
        if lane >= 0:
            raise ValueError(self._why_illegal(lane, int(actions[lane])))

    def _why_illegal(self, lane: int, action: int) -> str:
        if not 0 <= action < self.num_actions:
            return f"lane {lane}: action {action} is outside the action space 0 … {self.num_actions - 1}"
        name = self.game.action_to_str(self._states[lane], action)
        return f"lane {lane}: action {action} ({name}) of {self.game.name} is illegal here"

    def sample_actions(self) -> npt.NDArray[np.int64]:
        """A uniformly random legal action for every lane: `int64 (N,)`, the same array at every call.

        Drawn from streams of their own, so that the games' chance does not depend on who plays them.
        """
        self._threads.run(
            self._parts,
            engine.sample_lanes,
            self._states,
            self._legal,
            self._samplers,
            self._actions,
        )
        return self._actions

    def rollout(self, steps: int) -> RolloutCounts:
        """Play `steps` uniformly random actions in every lane without leaving compiled code.

        The same as `steps` times `step(sample_actions())`, except that of the games that end only the counts
        remain: afterwards `rewards`, `terminated` and `by_limit` are zero, as if the last step had ended no game.

        Raises:
            TypeError, ValueError: Where `steps` is not a positive whole number.
        """
        steps = require_count("steps", steps, 2**62)
        # One tally a part, found by its first lane.
        parts = self._rollout_parts
        tallies = {first: np.zeros(engine.TALLY_SIZE, np.int64) for first, _ in parts}

        def play(first: int, last: int) -> None:
            engine.rollout_lanes(self._states, self._samplers, steps, tallies[first], first, last)

        self._threads.run(parts, play)
        self._advance(engine.SHOW, self._actions)
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

    def close(self) -> None:
        """End the threads and close the window; any number of times. The batch stays usable."""
        self._threads.close()
        if self._board is not None:
            self._board.close()

    def __getstate__(self) -> dict[str, Any]:
        # Copies draw on a board, and in a window, of their own.
        return {**self.__dict__, "_board": None}

    def __enter__(self) -> BatchEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Looking

    @property
    def states(self) -> State:
        """The games as the engine keeps them, one record a lane: for search and game agents, not to be written to."""
        return self._states

    @property
    def legal_sets(self) -> npt.NDArray[np.uint64]:
        """The sets of legal actions as the engine keeps them, a row a lane: for game agents, not to be written to."""
        return self._legal

    def to_aec(self, lane: int) -> TabletopEnv:
        """A lane's game as an AEC environment of its own, for snapshots, names of actions and search."""
        return self._show(lane, self._new_board(None))

    def _new_board(self, render_mode: str | None) -> TabletopEnv:
        from tabletop_envs.envs.aec import TabletopEnv

        options: dict[str, Any] = {**self.options}
        return TabletopEnv(self.game, render_mode=render_mode, **options)

    def _show(self, lane: int, board: TabletopEnv) -> TabletopEnv:
        place = range(self.num_envs)[lane]
        board.put(self._states[place : place + 1])
        return board

    def render(self) -> tuple[Any, ...] | None:
        """What the AEC environment's `render` gives, for every lane; with `"human"` the window shows lane 0.

        Without a render mode a warning and None.
        """
        if self.render_mode is None:
            logger.warn("render() was called without a render_mode: make the batch with one")
            return None
        if self._board is None:
            self._board = self._new_board(self.render_mode)
        if self.render_mode == "human":
            self._show(0, self._board).render()
            return None
        return tuple(self._show(lane, self._board).render() for lane in range(self.num_envs))

    @property
    def OBSERVATION(self) -> dict[str, ObservationPart]:  # noqa: N802 (the name that every game's module has)
        """Each named part of an observation: its slice and its shape."""
        return self.game.observation

    def unpack_observation(self, packed: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Observations `int8 (..., L)` from packed ones `uint8 (..., B)`, as an unpacked batch would show them.

        The recipe for other places, a GPU say: part by part, `digits` planes of `ceil(count / 8)` bytes; bit `i % 8`
        of byte `i // 8` of a plane is a digit of number `i`, the lowest digits first; add the part's lowest value.
        ValueError if the last axis has another length.
        """
        array = self._require_packed(packed, "observation")
        observation = np.zeros((*array.shape[:-1], self.game.kernel.observation_size), np.int8)
        offset = 0
        for start, count, low, digits in self._packed_parts.tolist():
            part = observation[..., start : start + count]
            part += low
            size = -(-count // 8)
            for digit in range(digits):
                plane = array[..., offset : offset + size]
                bits = np.unpackbits(plane, axis=-1, count=count, bitorder="little")
                part += (bits << digit).astype(np.int8)
                offset += size
        return observation

    def unpack_mask(self, packed: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Masks `bool (..., n)` from packed ones `uint8 (..., ceil(n / 8))`: bit `a % 8` of byte `a // 8` is action `a`.

        ValueError if the last axis has another length.
        """
        array = self._require_packed(packed, "action_mask")
        bits = np.unpackbits(array, axis=-1, count=self.num_actions, bitorder="little")
        return bits.astype(np.bool_)

    def _require_packed(self, packed: npt.ArrayLike, name: str) -> npt.NDArray[np.uint8]:
        if not self.packed:
            raise ValueError(f"{name} is not packed: the batch was made without packed=True")
        array = np.asarray(packed)
        size = getattr(self, name).shape[1]
        if array.dtype != np.uint8 or array.ndim == 0 or array.shape[-1] != size:
            raise ValueError(
                f"a packed {name} is uint8 with {size} bytes on its last axis, "
                f"not {array.dtype} of the shape {array.shape}"
            )
        return array

    def split_observation(self, observation: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The named views of observations (`Game.split_observation`)."""
        return self.game.split_observation(observation)
