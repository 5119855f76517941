"""N games and their arrays: the one object that everything steps through."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tabletop_envs import checks
from tabletop_envs.checks import require
from tabletop_envs.game import Game, State, find_game
from tabletop_envs.kernels import RUNNING, TERMINATED, engine

__all__ = ["ON_ILLEGAL", "Indices", "Lanes"]

ON_ILLEGAL = ("raise", "lose")
# Some of the lanes.
Indices = npt.NDArray[np.int64]
# No player replies at random (`engine.advance_some`).
_NOBODY = np.zeros(engine.MAX_PLAYERS, np.bool_)


class Lanes:
    """Games side by side, a lane each: a step is an action of the player to move.

    What happens in a lane depends only on its seed and on its actions: not on the other lanes.

    Args:
        game: The game, or its name or id.
        num_lanes: How many games.
        options: The game's options.
        on_illegal: What an illegal action does in `step`: `"lose"` or `"raise"`.
        remember: Whether `before` is kept.
        states: Running or finished games to continue from, checked already (`Game.require_states`)
            and not copied; None: no games until `start`.

    Raises:
        TypeError, ValueError: For an invalid argument or option, naming it and what is allowed.

    All arrays have a row a lane.

    Attributes:
        states: The games, as the engine keeps them.
        legal_bits: `uint64 (lanes, words)`, the set of legal actions of the player to move, as the
            engine keeps it.
        rngs: `uint64`, the generators of random players and game agents.
        rewards: `float64 (lanes, players)`, every player's reward as the game stands.
        offended: `bool`, whether an illegal action has lost the game.
        seats: `int64`, the player who is asked for the next action.
        started: `bool`, whether there has been a game yet.
        start_rngs: `uint64`, the generators that draw positions to start from.
        starts: What new games start from, an `engine.StartArrays` as a plain tuple.
        before: The bytes of the games before their last step, for drawings that show what it
            changed; None if not kept.
    """

    def __init__(
        self,
        game: Game | str,
        num_lanes: int,
        options: Mapping[str, Any],
        *,
        on_illegal: str = "lose",
        remember: bool = False,
        states: State | None = None,
    ) -> None:
        self.game = find_game(game)
        self.num_lanes = num_lanes
        self.options = self.game.parse_options(options)
        self.num_players = self.game.num_players(self.options)
        self.num_actions = self.game.kernel.num_actions
        self.on_illegal = checks.choice("on_illegal", on_illegal, ON_ILLEGAL)
        self.legal_bits = engine.new_legal(self.game.kernel, num_lanes)
        self.rngs = np.zeros(num_lanes, np.uint64)
        self.rewards = np.zeros((num_lanes, self.num_players), np.float64)
        self.offended = np.zeros(num_lanes, np.bool_)
        self.seats = np.zeros(num_lanes, np.int64)
        self.started = np.zeros(num_lanes, np.bool_)
        self.all_lanes: Indices = np.arange(num_lanes)
        self._seeded = np.zeros(num_lanes, np.bool_)
        self._actions = np.zeros(num_lanes, np.int64)
        if states is None:
            self.states = self.game.new_states(num_lanes, self.options)
            # No game yet: as if it were over.
            self.states["status"] = TERMINATED
        else:
            self.states = states
        self._arrays = tuple(
            engine.LaneArrays(
                states=self.states,
                legal_bits=self.legal_bits,
                rngs=self.rngs,
                rewards=self.rewards,
                offended=self.offended,
                seats=self.seats,
            )
        )
        self.start_rngs = np.zeros(num_lanes, np.uint64)
        self._usual_starts = self._new_starts(0)
        self.starts = self._usual_starts
        self.before = self._bytes().copy() if remember else None
        if states is not None:
            self._advance(engine.REFRESH, self.all_lanes, self._actions)

    # Playing

    def seed(self, lanes: Indices, seeds: npt.NDArray[np.uint64]) -> None:
        """Give lanes the streams of their seeds: the game's own and that of random players."""
        states, rngs = np.zeros(lanes.size, self.states.dtype), np.zeros(lanes.size, np.uint64)
        engine.seed_lanes(states, rngs, seeds)
        self.states["rng"][lanes], self.rngs[lanes] = states["rng"], rngs
        if self.has_positions:
            self.start_rngs[lanes] = self._further_stream(states["rng"])
        self._seeded[lanes] = True

    def _further_stream(self, rngs: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """Generators for another stream than that of each of these."""
        scratch, streams = np.zeros(rngs.size, self.states.dtype), np.zeros(rngs.size, np.uint64)
        # Contiguous: for any other array Numba would compile the loop again.
        engine.seed_lanes(scratch, streams, np.ascontiguousarray(rngs))
        return streams

    def start(self, lanes: Indices) -> None:
        """Start new games in lanes; lanes without a seed get fresh entropy."""
        fresh = lanes[~self._seeded[lanes]]
        if fresh.size:
            self.seed(fresh, np.array([secrets.randbits(64) for _ in fresh], np.uint64))
        self._deal(lanes)
        self.started[lanes] = True
        self._remember(lanes)

    def _deal(self, lanes: Indices) -> None:
        self._begin(lanes)

    def _begin(self, lanes: Indices) -> None:
        """Start games as the rules say, or from positions."""
        if not self.has_positions:
            self._advance(engine.START, lanes, self._actions)
            return
        engine.take_positions(self.states, self.starts, lanes)
        self.offended[lanes] = False
        self._advance(engine.REFRESH, lanes, self._actions)

    def step(self, lanes: Indices, actions: npt.NDArray[np.int64]) -> None:
        """Play an action in each of some lanes (`int64`, one place for every lane, any numbers).

        Raises:
            ValueError: For an illegal action with `on_illegal="raise"`; nothing is changed then.
        """
        # A copy: for any other kind of array, a read-only one say, Numba would compile the loop
        # again.
        actions = np.array(actions)
        if self.on_illegal == "raise" and (lane := self.first_illegal(lanes, actions)) >= 0:
            raise self._illegal(lane, actions, "the learner")
        self._remember(lanes)
        self._advance(engine.STEP, lanes, actions)

    def _advance(self, command: int, lanes: Indices, actions: npt.NDArray[np.int64]) -> None:
        engine.advance_some(self._arrays, _NOBODY, lanes, command, actions)
        self.seats[lanes] = self.states["to_move"][lanes]

    def _remember(self, lanes: Indices) -> None:
        if self.before is not None:
            self.before[lanes] = self._bytes()[lanes]

    def _bytes(self) -> npt.NDArray[np.void]:
        # NumPy copies records field by field: their bytes are copied twenty times as fast.
        return self.states.view(f"V{self.states.itemsize}")

    def first_illegal(self, lanes: Indices, actions: npt.NDArray[np.int64]) -> int:
        """The first of these lanes whose action is not legal; −1 where all are."""
        return int(engine.first_illegal(self.states, self.legal_bits, lanes, actions))

    def _illegal(self, lane: int, actions: npt.NDArray[np.int64], player: str) -> ValueError:
        """The error of a lane's illegal action, which names it and its player."""
        return ValueError(
            f"{self.name_action(lane, int(actions[lane]))} of {player} is illegal here"
        )

    def rollback_on_error(self) -> contextlib.AbstractContextManager[None]:
        """Put all lanes back if an error comes while they change (where more can go wrong than a
        step's own checks see).
        """
        return contextlib.nullcontext()

    # Positions

    @property
    def has_positions(self) -> bool:
        """Whether new games start from positions."""
        return bool(self.starts[0].size)

    def _new_starts(self, positions: int) -> tuple[npt.NDArray[Any], ...]:
        return tuple(
            engine.StartArrays(
                positions=np.zeros(positions, self.states.dtype),
                has_rng=np.zeros(positions, np.bool_),
                rngs=self.start_rngs,
            )
        )

    def parse_position(self, name: str, snapshot: Any, rng: int = 0) -> State:
        """The running game of a snapshot, an array of one; `rng` is its randomness where it has
        none.

        ValueError, naming it and the field, for what `Game.restore` refuses, for other options than
        these lanes' and for a game that is over.
        """
        try:
            states, options, _ = self.game.restore(snapshot, rng)
            require(options == self.options, f"options must be {self.options}, not {options}")
            require(states["status"][0] == RUNNING, "outcome must be None")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return states

    def parse_starts(self, positions: Any, name: str = "positions") -> tuple[npt.NDArray[Any], ...]:
        """Starts from a list of snapshots, for `start_from`; None: from the start of the rules.

        TypeError for what is no list, ValueError for an empty one and for a bad position, naming
        its place and the field (`parse_position`).
        """
        if positions is None:
            return self._usual_starts
        snapshots = checks.sequence(name, positions, "snapshots")
        require(len(snapshots) > 0, f"{name} must have at least one snapshot, or be None")
        starts = self._new_starts(len(snapshots))
        for place, snapshot in enumerate(snapshots):
            starts[0][place] = self.parse_position(f"{name}[{place}]", snapshot)[0]
            starts[1][place] = "rng" in snapshot
        return starts

    def start_from(self, starts: tuple[npt.NDArray[Any], ...]) -> None:
        """Let all later games start so (`parse_starts`); the lanes' streams continue.

        Back from positions to the start of the rules, all lanes must be started next.
        """
        had, self.starts = self.has_positions, starts
        if self.has_positions and not had:
            self.start_rngs[:] = self._further_stream(self.states["rng"])
        elif had and not self.has_positions:
            # Positions may have brought randomness of their own.
            self.states["rng"] = self.start_rngs

    # Looking

    def legal_lists(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The legal actions of all lanes as one list, ascending in each, and the offsets
        `(lanes + 1,)` of the lanes' parts; a lane whose game is over has none.
        """
        offsets = np.empty(self.num_lanes + 1, np.int64)
        engine.count_legal(self.states, self.legal_bits, offsets)
        actions = np.empty(offsets[-1], np.int32)
        engine.list_legal(self.states, self.legal_bits, offsets, actions)
        return actions, offsets

    def keys(self) -> npt.NDArray[np.uint64]:
        """The key of each lane's position (`engine.key`)."""
        keys = np.empty(self.num_lanes, np.uint64)
        engine.write_keys(self.states, keys)
        return keys

    def over(self) -> npt.NDArray[np.bool_]:
        """Whether each lane's game is over (or was never started)."""
        ended: npt.NDArray[np.bool_] = self.states["status"] != RUNNING
        return ended

    def seat_rewards(self) -> npt.NDArray[np.float64]:
        """The reward of the player in `seats`, as each game stands (a fresh array)."""
        return self.rewards[self.all_lanes, self.seats]

    def seat_scores(self) -> npt.NDArray[np.int64]:
        """The score of the player in `seats`, as each game stands (a fresh array)."""
        return self.states["scores"][self.all_lanes, self.seats].astype(np.int64)

    def observe(
        self,
        lanes: Indices | None = None,
        players: npt.NDArray[np.int64] | None = None,
        out: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """What players see in some lanes.

        Args:
            lanes: The lanes; None: all.
            players: Who looks, one place for every lane; None: the players in `seats`.
            out: Arrays for the result, of any number types; None: fresh ones.

        Returns:
            Observations `float32 (R, L)` and masks `int8 (R, n)`, a row for each of the R lanes. A
            mask is all zeros for a player who is not to move, and all ones once the game is over.
        """
        lanes = self.all_lanes if lanes is None else lanes
        players = self.seats if players is None else players
        if out is None:
            out = (
                np.empty((lanes.size, self.game.kernel.observation_size), np.float32),
                np.empty((lanes.size, self.num_actions), np.int8),
            )
        engine.observe_some(self.states, self.legal_bits, lanes, players, *out)
        return out

    def name_action(self, lane: int, action: int) -> str:
        """An action in words, with its lane where there are several."""
        words = f"action {action}"
        if 0 <= action < self.num_actions:
            words += f" ({self.game.action_to_str(self.states[lane], action)})"
        return words if self.num_lanes == 1 else f"lane {lane}: {words}"

    def spaces(self) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """The spaces of one lane's observations and actions."""
        low, high = (bound.astype(np.float32) for bound in self.game.bounds())
        return spaces.Box(low, high, dtype=np.float32), spaces.Discrete(self.num_actions)
