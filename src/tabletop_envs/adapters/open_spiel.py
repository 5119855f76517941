"""The games in OpenSpiel: importing this module registers them, `pyspiel.load_game` loads them.

The shortest complete script, OpenSpiel's search against itself::

    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from tabletop_envs.adapters import open_spiel

    game = pyspiel.load_game("tabletop_kirche(num_houses=1)")
    evaluator = mcts.RandomRolloutEvaluator(random_state=np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 1.4, 20, evaluator, random_state=np.random.RandomState(2))
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    print(state.returns())

Names are `tabletop_kirche`, `tabletop_tuerme`, `tabletop_meeples`; parameters are the game's
options with their defaults. Actions, observations and results are those of the AEC environments.
They are Python games: OpenSpiel's Python algorithms work on them, its C++ ones as far as they take
Python games (its `MCTSBot` does not).

- **Randomness** is sampled. A chance node has equally likely outcomes, each the seed of what the
  game draws there: one of `DEALS` at the start (outcome `s` deals the game that an AEC environment
  plays after `reset(seed=s)`), one of `ROLLS` for an action that rolls dice. Which rolls these are
  depends on the outcomes before, so over many games all rolls occur as often as with fair dice.
  Nothing to come is in a state: a search on copies cannot foresee it.
- **Information states** are strings. Where nothing is hidden they hold the history; with hidden
  hands a hash of all that the player has observed and done. Tensors are observations.
- `resample_from_infostate` resamples what the player cannot see, for OpenSpiel's information-set
  search in Python. Where nothing is hidden it is a copy.
- `state_of(env)` and `game.new_initial_state(snapshot)` begin at a position of an AEC environment.
  `BotAgent` makes OpenSpiel's bots agents of this library, for tournaments and as opponents::

    from tabletop_envs.adapters.open_spiel import BotAgent
    from tabletop_envs.arena import tournaments

    def make_bot(game, player, rng):
        evaluator = mcts.RandomRolloutEvaluator(random_state=rng)
        return mcts.MCTSBot(game, 1.4, 20, evaluator, random_state=rng)

    agents = [BotAgent(make_bot, "openspiel mcts:20"), "greedy"]
    options = {"num_houses": 1}
    print(tournaments.tournament("kirche", agents, games=10, options=options, ratings=False))

ImportError, naming the extra, without OpenSpiel.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabletop_envs import registry
from tabletop_envs.agents import GameAgent
from tabletop_envs.extras import require
from tabletop_envs.game import Game, Snapshot, State, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, engine, rng

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

require("pyspiel", "openspiel")

import pyspiel  # noqa: E402

__all__ = [
    "DEALS",
    "ROLLS",
    "BotAgent",
    "TabletopGame",
    "TabletopObserver",
    "TabletopState",
    "game_name",
    "load_game",
    "register",
    "register_game",
    "state_of",
]

# The outcomes of the chance node at the start, and of those after actions that roll dice.
DEALS, ROLLS = 2**16, 2**6
_DEALS, _ROLLS = ([(outcome, 1 / count) for outcome in range(count)] for count in (DEALS, ROLLS))
# The pending "action" of the chance node at the start.
_START = -1
_CHANCE, _OVER = -1, -4
_PLAYERS = {_CHANCE: pyspiel.PlayerId.CHANCE, _OVER: pyspiel.PlayerId.TERMINAL}
_NO_OBSERVATION, _NO_MASK = np.empty(0, np.float32), np.empty(0, np.int8)
_TYPES = pyspiel.GameType


@dataclass(slots=True)
class Position:
    """A position of a game, never written to: a copy is the same object.

    Attributes:
        states: The state, an array of one record.
        legal: The legal actions as the engine keeps them.
        player: The player to act, or the number of `pyspiel.PlayerId.CHANCE` or `.TERMINAL`.
        memory: By player, a hash of all that it has observed and done; where nothing is hidden, of
            the position at which play began (empty at the start of a game).
        pending: The action that a chance node completes, −1 for the start of the game; or None.
    """

    states: State
    legal: npt.NDArray[np.uint64]
    player: int
    memory: tuple[bytes, ...]
    pending: int | None = None

    def __deepcopy__(self, memo: Any) -> Position:
        return self


def game_name(game: Game) -> str:
    """The name of a game in OpenSpiel, such as `tabletop_kirche`."""
    return f"tabletop_{game.name}"


class TabletopGame(pyspiel.Game):
    """A game with its options as OpenSpiel's `Game`; registering makes a class for each game.

    TypeError or ValueError, naming the option, for an impossible parameter.
    """

    game: ClassVar[Game]

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        game = self.game
        self.options = options = game.parse_options(parameters or {})
        self.players = players = game.num_players(options)
        states, legal = game.new_states(1, options), engine.new_legal(game.kernel)
        self.hides = False
        self.start = Position(states, legal, _CHANCE, (b"",) * players, _START)
        started = self.after(self.start, 0)
        opened = game.open_state(started.states)
        names = game.kernel.state.names or ()
        self.hides = any((opened[name] != started.states[name]).any() for name in names)
        deals = bool(started.states["rng"] != rng.from_seed(np.uint64(0)))
        if not deals:
            self.start = started
        plies = int(options["max_plies"])
        self._max_chance_nodes = deals + plies * game.has_chance
        # Chance nodes are explicit to OpenSpiel: after an outcome nothing is random any more.
        modes, information = _TYPES.ChanceMode, _TYPES.Information
        seats = next((option for option in game.options if option.name == "num_players"), None)
        kind = _TYPES(
            short_name=game_name(game),
            long_name=f"{game.name} (tabletop_envs)",
            dynamics=_TYPES.Dynamics.SEQUENTIAL,
            chance_mode=modes.EXPLICIT_STOCHASTIC
            if self._max_chance_nodes
            else modes.DETERMINISTIC,
            information=information.IMPERFECT_INFORMATION
            if self.hides
            else information.PERFECT_INFORMATION,
            utility=_TYPES.Utility.ZERO_SUM,
            reward_model=_TYPES.RewardModel.TERMINAL,
            max_num_players=seats.maximum if seats else players,
            min_num_players=seats.minimum if seats else players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=True,
            provides_factored_observation_string=False,
            parameter_specification={option.name: option.default for option in game.options},
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=game.kernel.num_actions,
            max_chance_outcomes=DEALS if deals else ROLLS if game.has_chance else 0,
            num_players=players,
            min_utility=-1 / (players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=plies,
        )
        super().__init__(kind, info, dict(parameters or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        return load_game, (self.game, self.get_parameters())

    def new_initial_state(self, snapshot: Snapshot | None = None) -> TabletopState:
        """A state at the start of the game, before the deal, or, with no history, at a position.

        Args:
            snapshot: A position as `TabletopEnv.snapshot` gives it, with this game's options.

        Raises:
            ValueError: Naming what is impossible; for other options; for a game that was lost by an
                illegal action, of which OpenSpiel has none.
        """
        if snapshot is None:
            return TabletopState(self)
        states, options, offender = self.game.restore(snapshot, 0)
        for option, value in options.items():
            if value != self.options[option]:
                raise ValueError(f"the snapshot's {option}={value} must be {self.options[option]}")
        if offender is not None:
            raise ValueError(
                "the snapshot is of a game lost by an illegal action: OpenSpiel has none"
            )
        return TabletopState(self, self.show(states))

    def max_chance_nodes_in_history(self) -> int:
        """An upper bound: the deal, and a roll after every action where there are dice."""
        return self._max_chance_nodes

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> TabletopObserver | None:
        """An observer of what a player sees, with or without perfect recall; None for other views.

        ValueError for parameters, of which there are none.
        """
        if params:
            raise ValueError(f"observers have no parameters, but got {dict(params)}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        own = kind.public_info and kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        return TabletopObserver(self, kind.perfect_recall) if own else None

    # Positions

    def after(self, position: Position, event: int) -> Position:
        """The position after an action, or after an outcome at a chance node.

        ValueError, naming it, for one that is not possible here.
        """
        states, legal, action = _copy(position.states), position.legal.copy(), event
        if position.pending is not None:
            if not 0 <= event < len(_outcomes(position)):
                raise ValueError(f"outcome {event} is impossible here")
            states["rng"] = rng.from_seed(states["rng"][0] ^ np.uint64(event))
            action = position.pending
        command = engine.START if action == _START else engine.STEP
        result = np.empty(3 + self.players, np.int64)
        if not engine.advance_one(states, legal, command, action, result):
            raise ValueError(f"action {action} is illegal here")
        rolled = self.game.has_chance and states["rng"] != position.states["rng"]
        if rolled and position.pending is None:
            return replace(position, player=_CHANCE, pending=action)
        player = int(result[1]) if result[0] == RUNNING else _OVER
        after = Position(states, legal, player, position.memory)
        if not self.hides:
            return after
        actor = int(position.states["to_move"][0])
        memory = [
            self._hash(after, player, known, action if player == actor else None)
            for player, known in enumerate(position.memory)
        ]
        return replace(after, memory=tuple(memory))

    def show(self, states: State) -> Position:
        """The position of a state that does not tell how it was reached."""
        legal, result = engine.new_legal(self.game.kernel), np.empty(3 + self.players, np.int64)
        engine.advance_one(states, legal, engine.REFRESH, 0, result)
        player = int(result[1]) if result[0] == RUNNING else _OVER
        position = Position(states, legal, player, ())
        if self.hides:
            memory = [self._hash(position, player) for player in range(self.players)]
        else:
            memory = [hashlib.blake2b(states.tobytes(), digest_size=16).digest()] * self.players
        return replace(position, memory=tuple(memory))

    def observe(
        self, position: Position, player: int, tensor: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.int8]:
        """What a player sees, `int8[L]`, and the same in `tensor`; zeros before the deal."""
        seen = np.zeros(tensor.size, np.int8)
        if position.pending == _START:
            tensor[:] = 0
        else:
            engine.observe_one(position.states, position.legal, player, seen, tensor, _NO_MASK)
        return seen

    def _hash(
        self, position: Position, player: int, known: bytes = b"", action: int | None = None
    ) -> bytes:
        tensor = np.empty(self.game.kernel.observation_size, np.float32)
        seen = self.observe(position, player, tensor).tobytes()
        return hashlib.blake2b(known + b"%a" % action + seen, digest_size=16).digest()


class TabletopState(pyspiel.State):
    """A state of a game as OpenSpiel's `State`; `position` has the game itself."""

    def __init__(self, game: TabletopGame, position: Position | None = None) -> None:
        super().__init__(game)
        self.position = game.start if position is None else position

    def current_player(self) -> Any:
        """The player to act, or `pyspiel.PlayerId.CHANCE` or `.TERMINAL`."""
        player = self.position.player
        return player if player >= 0 else _PLAYERS[player]

    def _legal_actions(self, player: int) -> list[int]:
        mask = np.empty(self.num_distinct_actions(), np.int8)
        position = self.position
        engine.observe_one(position.states, position.legal, player, _NO_MASK, _NO_OBSERVATION, mask)
        actions: list[int] = mask.view(np.bool_).nonzero()[0].tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The equally likely outcomes of a chance node; ValueError elsewhere."""
        return _outcomes(self.position)

    def _apply_action(self, action: int) -> None:
        self.position = self.get_game().after(self.position, action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == _CHANCE:
            return f"{'deal' if self.position.pending == _START else 'roll'} {action}"
        game: Game = self.get_game().game
        return game.action_to_str(self.position.states[0], action)

    def is_terminal(self) -> bool:
        """Whether the game is over, truncated games included."""
        return self.position.player == _OVER

    def returns(self) -> list[float]:
        """Every player's reward: zeros before the end."""
        running = not self.is_terminal()
        return [0.0] * self.num_players() if running else rewards_of_scores(self._scores())

    def _scores(self) -> list[int]:
        scores: list[int] = self.position.states["scores"][0, : self.num_players()].tolist()
        return scores

    def __str__(self) -> str:
        return self.text(None)

    def text(self, viewer: int | None) -> str:
        """A drawing for the eyes of a player, or of a spectator who sees everything (None)."""
        game, pending = self.get_game().game, self.position.pending
        if pending == _START:
            return f"{game.name}: before the deal\n"
        drawing: str = game.text(self.snapshot(), viewer, colour=False)
        if pending is not None:
            drawing += f"randomness after {game.action_to_str(self.position.states[0], pending)}\n"
        return drawing

    def snapshot(self) -> Snapshot:
        """The position as plain JSON types; an AEC environment can `restore` it.

        At a chance node it is the position before the action; ValueError before the deal.
        """
        if self.position.pending == _START:
            raise ValueError("there is no snapshot before the deal")
        game, states = self.get_game(), self.position.states
        snapshot: Snapshot = game.game.snapshot(states, game.options)
        if self.is_terminal():
            snapshot["outcome"] = {
                "scores": self._scores(),
                "rewards": self.returns(),
                "by_limit": bool(states["status"][0] == BY_LIMIT),
            }
        return snapshot

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> TabletopState:
        """A state that `player` cannot tell from this one, drawn at random.

        Its `history()` is that of this state, which need not lead to it.

        Args:
            player: The player whose information state is kept.
            sampler: Gives numbers from 0 to below 1.
        """
        twin: TabletopState = self.clone()
        game, position = self.get_game(), self.position
        if game.hides and position.pending != _START:
            states = _copy(position.states)
            game.game.deal_hidden(states, player, int(sampler() * 2**53))
            guess = game.show(states)
            memory = list(guess.memory)
            memory[player] = position.memory[player]
            twin.position = replace(
                position, states=states, legal=guess.legal, memory=tuple(memory)
            )
        return twin


class TabletopObserver:
    """What a player sees of a state, as OpenSpiel's observers have it.

    Attributes:
        tensor: `float32[L]`, written by `set_from`; None with perfect recall.
        dict: Its named parts (`Game.observation`).
    """

    def __init__(self, game: TabletopGame, perfect_recall: bool) -> None:
        self._game, self._recall = game, perfect_recall
        size = game.game.kernel.observation_size
        self.tensor = None if perfect_recall else np.zeros(size, np.float32)
        self.dict = {} if self.tensor is None else game.game.split_observation(self.tensor)

    def set_from(self, state: TabletopState, player: int) -> None:
        """Write what `player` sees into `tensor`."""
        if self.tensor is not None:
            self._game.observe(state.position, player, self.tensor)

    def string_from(self, state: TabletopState, player: int) -> str:
        """What `player` sees in words; with perfect recall, what makes it an information state."""
        if not self._recall:
            return state.text(player)
        events = "" if self._game.hides else state.history_str()
        return f"player_{player} {state.position.memory[player].hex()} {events}".rstrip()


class BotAgent(GameAgent):
    """A bot of OpenSpiel as a game agent.

    For every choice a new bot is asked, in a state that begins at the position
    (`TabletopGame.new_initial_state`), so that bots need not have followed the game. OpenSpiel's
    `MCTSBot` sees the whole state, hidden hands included; `ISMCTSBot` does not.

    Args:
        make_bot: `(game, player, rng) -> bot`: OpenSpiel's game, the player index and a
            `numpy.random.RandomState` from which all the bot's randomness must come.
        name: What tables and records call it: it should say all that makes the bot play as it does.
    """

    def __init__(
        self, make_bot: Callable[[Any, int, np.random.RandomState], Any], name: str
    ) -> None:
        self.make_bot = make_bot
        self.name = name

    def choose_lanes(
        self,
        game: Game,
        states: State,
        legal_bits: npt.NDArray[np.uint64],
        rngs: npt.NDArray[np.uint64],
        lanes: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        for lane in lanes.tolist():
            state = _state_at(game, states[lane : lane + 1])
            rngs[lane] = rng.advance(rngs[lane])
            seed = int(rng.output(rngs[lane])) & 0xFFFFFFFF
            random_state = np.random.RandomState(seed)
            bot = self.make_bot(state.get_game(), state.current_player(), random_state)
            actions[lane] = bot.step(state)


def register_game(game: Game) -> None:
    """Make OpenSpiel know a game, such as a user-defined one; one that it knows stays as it is."""
    if game_name(game) not in pyspiel.registered_names():
        # A class, and no closure: OpenSpiel lets go of it only after the interpreter's end, when a
        # function would die.
        game_class = type(game_name(game), (TabletopGame,), {"game": game})
        pyspiel.register_game(game_class().get_type(), game_class)


def load_game(game: Game, parameters: Mapping[str, Any]) -> TabletopGame:
    """A game for OpenSpiel, registered where it is not yet; errors as `pyspiel.load_game`."""
    register_game(game)
    loaded: TabletopGame = pyspiel.load_game(game_name(game), dict(parameters))
    return loaded


def state_of(env: TabletopEnv) -> TabletopState:
    """The state, with no history, of an AEC environment's position (wrapped or not)."""
    base = env.unwrapped
    return load_game(base.game, base.options).new_initial_state(base.snapshot())


def register() -> None:
    """Make OpenSpiel know all games that are registered so far; importing this module does it."""
    for game in registry.all_games():
        register_game(game)


# `load_game` once for each game and its options.
_loaded = functools.lru_cache(lambda game, options: load_game(game, dict(options)))


def _state_at(game: Game, states: State) -> TabletopState:
    """The state, with no history, of a position, which is copied."""
    options = tuple((one.name, type(one.default)(states[one.name][0])) for one in game.options)
    loaded = _loaded(game, options)
    game.require_states(states, loaded.options)
    return TabletopState(loaded, loaded.show(_copy(states)))


def _outcomes(position: Position) -> list[tuple[int, float]]:
    if position.pending is None:
        raise ValueError("there are no outcomes: this is no chance node")
    return _DEALS if position.pending == _START else _ROLLS


def _copy(states: State) -> State:
    # NumPy's own copy goes through the record field by field: some twenty times slower.
    return np.frombuffer(bytearray(states.tobytes()), states.dtype)


register()
