"""Lanes with a learner against opponents in each: the core of the Gymnasium environments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.agents import Agent, GameAgent
from tabletop_envs.envs.board import Board
from tabletop_envs.envs.opponents import Opponents, OpponentsLike, agent_name
from tabletop_envs.game import Game, ObservationView
from tabletop_envs.kernels import RUNNING, engine
from tabletop_envs.kernels.rng import below
from tabletop_envs.lanes import Indices, Lanes

# How often a game is dealt again because it ended before the learner's first action.
MAX_DEALS = 1000


class OpponentLanes(Lanes):
    """Lanes in each of which one player is the learner, and opponents reply: a step is an action of
    the learner.

    Args:
        game, num_lanes, options, on_illegal, remember: As of `Lanes`; `on_illegal` is for the
            learner.
        opponents: Who plays the others (`Opponents`).
        seat: The learner's player index, or None: drawn at every start.

    Raises:
        TypeError, ValueError: For an invalid argument or option, naming it and what is allowed.

    `seats` are the learners'; `rngs` the generators of opponents that are not callables.
    """

    def __init__(
        self,
        game: Game | str,
        num_lanes: int,
        options: Mapping[str, Any],
        *,
        opponents: OpponentsLike = "random",
        seat: int | None = None,
        on_illegal: str = "lose",
        remember: bool = False,
    ) -> None:
        super().__init__(game, num_lanes, options, on_illegal=on_illegal, remember=remember)
        self.seat = None if seat is None else checks.integer("seat", seat, 0, self.num_players - 1)
        self.seats[:] = self.seat or 0
        self.opponents = opponents
        self._seeds = np.zeros(num_lanes, np.uint64)
        self._seat_rngs = np.zeros(num_lanes, np.uint64)
        # The generators of callables, made when one is asked first.
        self._generators: dict[int, np.random.Generator] = {}

    @property
    def opponents(self) -> OpponentsLike:
        """The opponents as given; writing it changes who plays from the next action on."""
        return self._opponents.given

    @opponents.setter
    def opponents(self, opponents: OpponentsLike) -> None:
        self._opponents = Opponents(opponents, self.num_players)

    # Playing

    def seed(self, lanes: Indices, seeds: npt.NDArray[np.uint64]) -> None:
        """Give lanes the streams of their seeds: the game's, the opponents' and the seats', each of
        its own.
        """
        super().seed(lanes, seeds)
        streams = np.zeros(lanes.size, np.uint64)
        # A further stream from the same seed; the states are scratch.
        scratch = np.zeros(lanes.size, self.states.dtype)
        engine.seed_lanes(scratch, streams, ~self.rngs[lanes])
        self._seat_rngs[lanes] = streams
        self._seeds[lanes] = seeds
        for lane in lanes.tolist() if self._generators else ():
            self._generators.pop(lane, None)

    def start(self, lanes: Indices) -> None:
        """Start new games in lanes and play on to the learner's first turn; lanes without a seed
        get fresh entropy.

        A game that ends before the learner's first action (as tiny `max_plies`, or positions near
        the end make it) is dealt again.

        Raises:
            ValueError: Where `MAX_DEALS` games in a row ended so, naming the cause; some of the
                lanes have no game then.
        """
        super().start(lanes)

    def _deal(self, lanes: Indices) -> None:
        for _ in range(MAX_DEALS):
            if self.seat is None:
                draw_seats(self._seat_rngs, lanes, np.uint64(self.num_players), self.seats)
            self._begin(lanes)
            lanes = lanes[self.states["status"][lanes] != RUNNING]
            if not lanes.size:
                return
        cause = f"option max_plies={self.options['max_plies']} is too small"
        if self.has_positions:
            cause += ", or the positions are too near to the end"
        raise ValueError(
            f"{cause}: {MAX_DEALS} games in a row ended before the learner in seat "
            f"{int(self.seats[lanes[0]])} of {self.num_players} could act"
        )

    def _advance(self, command: int, lanes: Indices, actions: npt.NDArray[np.int64]) -> None:
        """Start games or play actions, then let the opponents reply until the learner is to move or
        the game over.
        """
        engine.advance_some(self._arrays, self._opponents.random, lanes, command, actions)
        # Random opponents have replied already.
        while self._opponents.asked:
            lanes = lanes[self.states["status"][lanes] == RUNNING]
            after = (self.states["to_move"][lanes] - self.seats[lanes]) % self.num_players
            lanes, after = lanes[after != 0], after[after != 0]
            if not lanes.size:
                return
            for agent, seats in self._opponents.asked:
                own = lanes[seats[after]]
                if own.size:
                    self._choose(agent, own)
                    if (lane := self.first_illegal(own, self._actions)) >= 0:
                        raise self._illegal(lane, self._actions, f"opponent {agent_name(agent)}")
                    engine.advance_some(
                        self._arrays, self._opponents.random, own, engine.STEP, self._actions
                    )

    def rollback_on_error(self) -> contextlib.AbstractContextManager[None]:
        """Roll all lanes back if an opponent raises or returns an invalid action (a callable's RNG
        stays advanced).
        """
        return self._rollback() if self._opponents.asked else contextlib.nullcontext()

    @contextlib.contextmanager
    def _rollback(self) -> Iterator[None]:
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        # NumPy copies records field by field: their bytes are copied twenty times as fast.
        before, starts = [array.tobytes() for array in arrays], self.starts
        try:
            yield
        except BaseException:
            for array, data in zip(arrays, before, strict=True):
                array[...] = np.frombuffer(data, array.dtype).reshape(array.shape)
            self.starts = starts
            raise

    # Opponents

    def _choose(self, agent: GameAgent | Agent, lanes: Indices) -> None:
        """Write an opponent's choices for lanes into `_actions`; ValueError, naming it, for what is
        no action.
        """
        if isinstance(agent, GameAgent):
            agent.choose_lanes(
                self.game, self.states, self.legal_bits, self.rngs, lanes, self._actions
            )
            return
        players = self.states["to_move"].astype(np.int64)
        observation, mask = self.observe(lanes, players)
        for place, lane in enumerate(lanes.tolist()):
            answer = agent(observation[place], mask[place], self._generator(lane))
            try:
                self._actions[lane] = checks.action(answer, self.num_actions)
            except ValueError as error:
                raise ValueError(
                    f"opponent {agent_name(agent)} answered {checks.shown(answer)}: {error}"
                ) from None

    def _generator(self, lane: int) -> np.random.Generator:
        if lane not in self._generators:
            # A spawned stream: the learner's own generator may well have the plain seed.
            sequence = np.random.SeedSequence(int(self._seeds[lane]), spawn_key=(0,))
            self._generators[lane] = np.random.default_rng(sequence)
        return self._generators[lane]


@engine.compiled_loop
def draw_seats(rngs: Any, lanes: Any, num_players: int, seats: Any) -> None:
    """Draw the learner's seat in each of the lanes in `lanes` (int64)."""
    for lane in lanes:
        rngs[lane], seat = below(rngs[lane], num_players)
        seats[lane] = np.int64(seat)


def positions_of(options: Any) -> Any:
    """The positions in the `options` of a `reset`; None for none. TypeError for what is no dict."""
    return None if options is None else checks.mapping("options", options).get("positions")


class LearnerView(ObservationView):
    """What the single and the vector environment both show of their lanes."""

    _lanes: OpponentLanes
    _board: Board

    @property
    def options(self) -> dict[str, Any]:
        """The game's options with their values."""
        return dict(self._lanes.options)

    @property
    def opponents(self) -> OpponentsLike:
        """The opponents as they were given; writing it changes who plays from the next action on,
        in all lanes.
        """
        return self._lanes.opponents

    @opponents.setter
    def opponents(self, opponents: OpponentsLike) -> None:
        self._lanes.opponents = opponents
