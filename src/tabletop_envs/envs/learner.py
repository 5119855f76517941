"""The core of the Gymnasium environments: games in lanes, each with one learner against opponents."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces

from tabletop_envs import checks
from tabletop_envs.agents import Agent, GameAgent
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.learner_loop import play_to_learner
from tabletop_envs.envs.opponents import Opponents, OpponentsLike, agent_name
from tabletop_envs.game import Game, ObservationPart, find_game
from tabletop_envs.kernels import RUNNING, TERMINATED, engine
from tabletop_envs.kernels.engine import START, STEP

Lanes = npt.NDArray[np.int64]
# How often a game is dealt anew because it ended before the learner's first action.
MAX_DEALS = 1000
# What a step or reset changes in a lane.
_PUT_BACK = (
    *("states", "legal", "samplers", "seats", "rewards", "offended", "started"),
    *("_seeds", "_seeded", "_seat_streams"),
)


class OpponentLanes:
    """`num_lanes` games side by side, in each of which one player is the learner and opponents play the others.

    What happens in a lane depends only on its seed and on the learner's actions: not on the other lanes.

    Args:
        game: The game, or its name or id.
        num_lanes: How many games.
        opponents: Who plays the others (`Opponents`).
        seat: The learner's player index, or None: drawn at every start.
        on_illegal: `"lose"` or `"raise"`, for the learner's illegal actions.
        render_mode: None or one of `drawing.RENDER_MODES`.
        options: The game's options.

    Raises:
        TypeError, ValueError: For an impossible argument or option, naming it and what is allowed.

    Attributes (one row a lane):
        states, legal, samplers: The games, the legal actions of the player in turn, and the opponents' generators, as
            the engine keeps them.
        seats: `int64`, the learner's player index.
        rewards: `float64 (lanes, players)`, every player's reward as the game stands.
        offended: `bool`, whether the learner has lost by an illegal action.
    """

    def __init__(
        self,
        game: Game | str,
        num_lanes: int,
        opponents: OpponentsLike,
        seat: int | None,
        on_illegal: str,
        render_mode: str | None,
        options: dict[str, Any],
    ) -> None:
        self.game = find_game(game)
        self.num_lanes = num_lanes
        self.options = self.game.parse_options(options)
        self.num_players = self.game.num_players(self.options)
        self.num_actions = self.game.kernel.num_actions
        self.seat = None if seat is None else checks.integer("seat", seat, 0, self.num_players - 1)
        self.on_illegal = on_illegal
        self.render_mode = render_mode
        # The board that draws; making it checks both.
        self._board: TabletopEnv | None = self._new_board()
        # The states before the last step, for drawings that show what it changed.
        self._before: dict[int, bytes] = {}
        self.opponents = opponents
        self.states = self.game.new_states(num_lanes, self.options)
        # No game yet: as if it were over.
        self.states["status"] = TERMINATED
        self.legal = engine.new_legal(self.game.kernel, num_lanes)
        self.samplers = np.zeros(num_lanes, np.uint64)
        self.seats = np.full(num_lanes, self.seat or 0, np.int64)
        self.rewards = np.zeros((num_lanes, self.num_players), np.float64)
        self.offended = np.zeros(num_lanes, np.bool_)
        self.started = np.zeros(num_lanes, np.bool_)
        self.all_lanes: Lanes = np.arange(num_lanes)
        self._seeds = np.zeros(num_lanes, np.uint64)
        self._seeded = np.zeros(num_lanes, np.bool_)
        self._seat_streams = np.zeros(num_lanes, np.uint64)
        self._actions = np.zeros(num_lanes, np.int64)
        # The generators of callables, made when one is asked first.
        self._generators: dict[int, np.random.Generator] = {}

    @property
    def opponents(self) -> OpponentsLike:
        """The opponents as they were given; writing it changes who plays from the next action on."""
        return self._opponents.given

    @opponents.setter
    def opponents(self, opponents: OpponentsLike) -> None:
        self._opponents = Opponents(opponents, self.num_players)

    # Spaces

    def spaces(self) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """The spaces of one lane's observations and actions."""
        low, high = (bound.astype(np.float32) for bound in self.game.bounds())
        return spaces.Box(low, high, dtype=np.float32), spaces.Discrete(self.num_actions)

    # Playing

    def seed(self, lanes: Lanes, seeds: npt.NDArray[np.uint64]) -> None:
        """Give lanes the streams of their seeds: chance, the opponents' and the seats', each of its own."""
        states, samplers = self.states[lanes], np.zeros(lanes.size, np.uint64)
        engine.seed_lanes(states, samplers, seeds)
        self.states[lanes], self.samplers[lanes] = states, samplers
        streams = np.zeros(lanes.size, np.uint64)
        # A further stream from the same seed; the states here are copies that nobody needs.
        engine.seed_lanes(states, streams, ~samplers)
        self._seat_streams[lanes] = streams
        self._seeds[lanes] = seeds
        self._seeded[lanes] = True
        for lane in lanes.tolist() if self._generators else ():
            self._generators.pop(lane, None)

    def start(self, lanes: Lanes) -> None:
        """Start new games in lanes and play on to the learner's first turn; lanes without a seed get fresh entropy.

        A game that ends before the learner's first action (as only tiny `max_plies` make it) is dealt anew.

        Raises:
            ValueError: Where `MAX_DEALS` games in a row ended so, naming `max_plies`; some of the lanes have no game then.
        """
        fresh = lanes[~self._seeded[lanes]]
        if fresh.size:
            self.seed(fresh, np.array([secrets.randbits(64) for _ in fresh], np.uint64))
        for lane in lanes.tolist() if self._before else ():
            self._before.pop(lane, None)
        waiting = lanes
        for _ in range(MAX_DEALS):
            self._advance(waiting, START, self._actions)
            waiting = waiting[self.states["status"][waiting] != RUNNING]
            if not waiting.size:
                self.started[lanes] = True
                return
        raise ValueError(
            f"option max_plies={self.options['max_plies']} is too small: {MAX_DEALS} games in a row ended before "
            f"the learner in seat {int(self.seats[waiting[0]])} of {self.num_players} could act"
        )

    def play(self, lanes: Lanes, actions: npt.NDArray[np.int64]) -> None:
        """Play the learner's actions (`int64`, one place a lane, any numbers) and the replies.

        Raises:
            ValueError: For an illegal action with `on_illegal="raise"`; nothing is changed then.
        """
        before = {}
        if self.num_lanes == 1 or self.render_mode in ("rgb_array", "human"):
            before = {lane: self.states[lane].tobytes() for lane in lanes.tolist()}
        # A copy: for any other kind of array, a read-only one say, Numba would compile the loop again.
        lane = self._advance(lanes, STEP, np.array(actions))
        if lane >= 0:
            name = self.name_action(lane, int(actions[lane]))
            raise ValueError(f"{name} of the learner is illegal here")
        self._before |= before

    def _advance(self, lanes: Lanes, command: int, actions: npt.NDArray[np.int64]) -> int:
        """Start games or play the learner's actions, and the replies; the first lane with an illegal action, or −1."""
        lane = self._run(lanes, command, actions, self.on_illegal == "lose")
        if lane < 0 and self._opponents.asked:
            self._ask_opponents(lanes)
        return lane

    def _run(self, lanes: Lanes, command: int, actions: npt.NDArray[np.int64], lose: bool) -> int:
        return int(
            play_to_learner(
                self.states,
                self.legal,
                lanes,
                command,
                actions,
                lose,
                self.offended,
                self.seats,
                self._seat_streams,
                self.seat is None,
                self._opponents.random,
                self.samplers,
                self.rewards,
            )
        )

    def rollback_on_error(self) -> contextlib.AbstractContextManager[None]:
        """Put the lanes back if an opponent raises or answers nonsense (a callable's generator has gone on)."""
        return self._undo_on_error() if self._opponents.asked else contextlib.nullcontext()

    @contextlib.contextmanager
    def _undo_on_error(self) -> Iterator[None]:
        before = {name: getattr(self, name).copy() for name in _PUT_BACK}
        try:
            yield
        except BaseException:
            for name, array in before.items():
                getattr(self, name)[...] = array
            raise

    # Opponents

    def _ask_opponents(self, lanes: Lanes) -> None:
        """Let the opponents that are not random play until the learner is in turn or the game over, everywhere."""
        while True:
            lanes = lanes[self.states["status"][lanes] == RUNNING]
            after = (self.states["to_move"][lanes] - self.seats[lanes]) % self.num_players
            lanes, after = lanes[after != 0], after[after != 0]
            if not lanes.size:
                return
            for agent, seats in self._opponents.asked:
                own = lanes[seats[after]]
                if own.size:
                    self._choose(agent, own)
                    lane = self._run(own, STEP, self._actions, lose=False)
                    if lane >= 0:
                        name = self.name_action(lane, int(self._actions[lane]))
                        raise ValueError(f"{name} of opponent {agent_name(agent)} is illegal here")

    def _choose(self, agent: GameAgent | Agent, lanes: Lanes) -> None:
        """Write an opponent's choices for lanes into `_actions`; ValueError, naming it, for what is no action."""
        if isinstance(agent, GameAgent):
            agent.choose_lanes(
                self.game, self.states, self.legal, self.samplers, lanes, self._actions
            )
            return
        players = self.states["to_move"].astype(np.int64)
        observation, mask = self.look_at(lanes, players)
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

    # Looking

    def over(self) -> npt.NDArray[np.bool_]:
        """Whether each lane's game is over (or was never started)."""
        ended: npt.NDArray[np.bool_] = self.states["status"] != RUNNING
        return ended

    def learner_rewards(self) -> npt.NDArray[np.float64]:
        """The learner's reward of each lane as the game stands (float64, a fresh array)."""
        return self.rewards[self.all_lanes, self.seats]

    def learner_scores(self) -> npt.NDArray[np.int64]:
        """The learner's score of each lane (int64, a fresh array)."""
        return self.states["scores"][self.all_lanes, self.seats].astype(np.int64)

    def look(self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> None:
        """Write what every lane's learner sees, one row a lane; masks are all ones once a game is over."""
        engine.observe_some(self.states, self.legal, self.all_lanes, self.seats, observation, mask)

    def look_at(
        self, lanes: Lanes, players: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """What the learners (or `players`, one a lane) of some lanes see: fresh arrays, one row for each of `lanes`."""
        players = self.seats if players is None else players
        observation = np.empty((lanes.size, self.game.kernel.observation_size), np.float32)
        mask = np.empty((lanes.size, self.num_actions), np.int8)
        engine.observe_some(
            self.states[lanes],
            self.legal[lanes],
            np.arange(lanes.size),
            players[lanes],
            observation,
            mask,
        )
        return observation, mask

    def name_action(self, lane: int, action: int) -> str:
        """An action in words, with its lane where there are several."""
        words = f"action {action}"
        if 0 <= action < self.num_actions:
            words += f" ({self.game.action_to_str(self.states[lane], action)})"
        return words if self.num_lanes == 1 else f"lane {lane}: {words}"

    # The games as AEC environments

    def _new_board(self) -> TabletopEnv:
        options: dict[str, Any] = {**self.options}
        return TabletopEnv(
            self.game, render_mode=self.render_mode, on_illegal=self.on_illegal, **options
        )

    def to_aec(self, lane: int, board: TabletopEnv | None = None) -> TabletopEnv:
        """A lane's game as an AEC environment of its own, or shown on `board`."""
        if not self.started[lane]:
            raise error.ResetNeeded("there is no game yet: call reset() first")
        board = self._new_board() if board is None else board
        board.put(
            self.states[lane : lane + 1],
            offender=int(self.seats[lane]) if self.offended[lane] else None,
            before=self._before.get(int(lane)),
        )
        return board

    def render(self, lane: int) -> Any:
        """What the AEC environment's `render` gives for a lane's game."""
        self._board = self.to_aec(lane, self._board)
        return self._board.render()

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        if self._board is not None:
            self._board.close()

    def __getstate__(self) -> dict[str, Any]:
        # Copies draw on a board, and in a window, of their own.
        return {**self.__dict__, "_board": None}


class LearnerView:
    """What the single and the vector environment both show of their lanes."""

    _lanes: OpponentLanes

    @property
    def game(self) -> Game:
        """What is particular to the game."""
        return self._lanes.game

    @property
    def options(self) -> dict[str, Any]:
        """The game's options with their values."""
        return dict(self._lanes.options)

    @property
    def opponents(self) -> OpponentsLike:
        """The opponents as they were given; writing it changes who plays from the next action on, in all lanes."""
        return self._lanes.opponents

    @opponents.setter
    def opponents(self, opponents: OpponentsLike) -> None:
        self._lanes.opponents = opponents

    @property
    def OBSERVATION(self) -> dict[str, ObservationPart]:  # noqa: N802 (the name that every game's module has)
        """Each named part of an observation: its slice and its shape."""
        return self._lanes.game.observation

    def split_observation(self, observation: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The named views of observations (`Game.split_observation`)."""
        return self._lanes.game.split_observation(observation)
