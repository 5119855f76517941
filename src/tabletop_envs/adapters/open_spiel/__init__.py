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

Names are `tabletop_kirche`, `tabletop_tuerme`, `tabletop_meeples`; parameters are the game's options with their defaults.
Actions, observations and results are those of the AEC environments. They are Python games: OpenSpiel's Python
algorithms work on them, its C++ ones as far as they take Python games (its `MCTSBot` does not).

- **Chance** is explicit: the start is dealt stone by stone, dice are counted value by value, each with listed outcomes
  (`open_spiel.chance`). So nothing to come is hidden in a state, and a clone has nothing to peek at.
- **Information states** are the deal and all actions and rolls that the player has seen. As tensors: the observation, and
  behind it the same (`open_spiel.observer`), `max_plies` rows long, so give a `max_plies` that fits your games.
- `resample_from_infostate` deals what the player cannot see anew, for OpenSpiel's information-set search in Python. In
  kirche, tuerme and with open hands nothing is hidden: it is a copy.
- A serialised state holds what has happened, and plays it again when it is read.
- `state_of(env)` and `game.new_initial_state(snapshot)` begin at a position of an AEC environment.
  `open_spiel.agent.BotAgent` makes OpenSpiel's bots agents of this library, for tournaments and as
  opponents::

    from tabletop_envs.adapters.open_spiel.bot import BotAgent
    from tabletop_envs.arena import tournaments

    def make_bot(game, player, rng):
        evaluator = mcts.RandomRolloutEvaluator(random_state=rng)
        return mcts.MCTSBot(game, 1.4, 20, evaluator, random_state=rng)

    agents = [BotAgent(make_bot, "openspiel mcts:20"), "greedy"]
    print(tournaments.tournament("kirche", agents, games=10, options={"num_houses": 1}, ratings=False))

ImportError, naming the extra, without OpenSpiel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tabletop_envs import registry
from tabletop_envs.adapters.open_spiel.observer import (
    EVERYBODY,
    NOBODY,
    OBSERVER,
    TabletopObserver,
)
from tabletop_envs.adapters.open_spiel.position import CHANCE, OVER, Position, Rules, events_of
from tabletop_envs.extras import require
from tabletop_envs.game import Game, Snapshot

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv

require("pyspiel", "openspiel")

import pyspiel  # noqa: E402

__all__ = [
    "TabletopGame",
    "TabletopState",
    "game_name",
    "load_game",
    "register",
    "register_game",
    "state_of",
]

_TYPES = pyspiel.GameType
_PLAYERS = {CHANCE: pyspiel.PlayerId.CHANCE, OVER: pyspiel.PlayerId.TERMINAL}
_SECRETS = {
    pyspiel.PrivateInfoType.NONE: NOBODY,
    pyspiel.PrivateInfoType.SINGLE_PLAYER: OBSERVER,
    pyspiel.PrivateInfoType.ALL_PLAYERS: EVERYBODY,
}


def game_name(game: Game) -> str:
    """The name of a game in OpenSpiel, such as `tabletop_kirche`."""
    return f"tabletop_{game.name}"


def _game_type(game: Game, rules: Rules) -> Any:
    """What OpenSpiel is told of a game with these options; the first ones are the defaults."""
    players = [option for option in game.options if option.name == "num_players"]
    chance = rules.chance
    return _TYPES(
        short_name=game_name(game),
        long_name=f"{game.name} (tabletop_envs)",
        dynamics=_TYPES.Dynamics.SEQUENTIAL,
        chance_mode=_TYPES.ChanceMode.EXPLICIT_STOCHASTIC
        if chance.deal_length or chance.has_dice
        else _TYPES.ChanceMode.DETERMINISTIC,
        information=_TYPES.Information.IMPERFECT_INFORMATION
        if chance.has_secrets
        else _TYPES.Information.PERFECT_INFORMATION,
        utility=_TYPES.Utility.ZERO_SUM,
        reward_model=_TYPES.RewardModel.TERMINAL,
        max_num_players=players[0].maximum if players else rules.players,
        min_num_players=players[0].minimum if players else rules.players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification={option.name: option.default for option in game.options},
    )


class TabletopGame(pyspiel.Game):
    """A game with its options as OpenSpiel's `Game`; each game has a class of its own, made when it is registered.

    TypeError or ValueError, naming the option, for an impossible parameter.
    """

    game: ClassVar[Game]

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        game, parameters = self.game, parameters or {}
        rules = Rules(game, parameters)
        chance = rules.chance
        info = pyspiel.GameInfo(
            num_distinct_actions=game.kernel.num_actions,
            max_chance_outcomes=chance.max_outcomes,
            num_players=rules.players,
            min_utility=-1 / (rules.players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=int(rules.options["max_plies"]),
        )
        super().__init__(_game_type(game, rules), info, dict(parameters))
        self.rules = rules
        self.start = Position.start(rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return load_game, (self.game, self.get_parameters())

    def new_initial_state(self, snapshot: Snapshot | None = None) -> TabletopState:
        """A state at the start of the game, before the deal, or, with no history, at a position.

        Args:
            snapshot: A position as `TabletopEnv.snapshot` gives it, with this game's options; its
                generator is not used.

        Raises:
            ValueError: Naming what is impossible; for other options; for a game that was lost by an
                illegal action, of which OpenSpiel has none.
        """
        if snapshot is None:
            return TabletopState(self)
        states, options, offender = self.game.restore(snapshot, 0)
        for option, value in options.items():
            if value != self.rules.options[option]:
                raise ValueError(
                    f"the snapshot's {option}={value} must be {self.rules.options[option]}"
                )
        if offender is not None:
            raise ValueError(
                "the snapshot is of a game lost by an illegal action: OpenSpiel has none"
            )
        return TabletopState(self, Position.begin_at(self.rules, states))

    def max_chance_nodes_in_history(self) -> int:
        """An upper bound: the deal, and a roll after every action where there are dice."""
        rolls = 5 * int(self.rules.options["max_plies"]) if self.rules.chance.has_dice else 0
        return self.rules.chance.deal_length + rolls

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> TabletopObserver:
        """An observer of any `IIGObservationType`; ValueError for parameters, of which there are none."""
        if params:
            raise ValueError(f"observers have no parameters, but got {dict(params)}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return TabletopObserver(
            self.rules, kind.public_info, _SECRETS[kind.private_info], kind.perfect_recall
        )


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
        return self.position.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The outcomes of a chance node with their probabilities; ValueError elsewhere."""
        if self.position.player != CHANCE:
            raise ValueError("there are no outcomes: this is no chance node")
        return self.position.outcomes()

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.event_name(action, player == CHANCE)

    def is_terminal(self) -> bool:
        """Whether the game is over, truncated games included."""
        return self.position.player == OVER

    def returns(self) -> list[float]:
        """Every player's reward: zeros before the end."""
        return self.position.rewards()

    def __str__(self) -> str:
        return self.position.text(None)

    def snapshot(self) -> Snapshot:
        """The position as plain JSON types; an AEC environment can `restore` it, but at a chance node."""
        return self.position.snapshot()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> TabletopState:
        """A state that `player` cannot tell from this one, drawn at random.

        Args:
            player: The player whose information state is kept.
            sampler: Gives numbers from 0 to below 1.

        ValueError while stones are being dealt.
        """
        position = self.position
        game: TabletopGame = self.get_game()
        chance = position.rules.chance
        if len(position.deal) < chance.deal_length:
            raise ValueError("nothing can be resampled while stones are being dealt")
        generator = int(sampler() * 2**53)
        deal, moves, guess = chance.redeal(
            position.states, position.deal, position.move_list(), player, generator
        )
        root, dealt = None, deal
        if position.root is not None:
            states = chance.rewrite(position.root.states, deal, guess)
            root, dealt = Position.begin_at(position.rules, states), ()
        if position.roll is not None:
            events = events_of(dealt, [*moves, position.roll.action], position.roll.counts)
        else:
            events = events_of(dealt, moves)
        state = TabletopState(game, root)
        for event in events:
            state.apply_action(event)
        return state


def register_game(game: Game) -> None:
    """Make OpenSpiel know a game, such as one of your own without chance; a game that it knows already stays as it is."""
    if game_name(game) not in pyspiel.registered_names():
        # A class, and no closure: OpenSpiel lets go of it only after the interpreter's end, when a function would die.
        game_class = type(game_name(game), (TabletopGame,), {"game": game})
        pyspiel.register_game(_game_type(game, Rules(game, {})), game_class)


def load_game(game: Game, parameters: Mapping[str, Any]) -> TabletopGame:
    """A game for OpenSpiel, registered where it is not yet; its errors are those of `pyspiel.load_game`."""
    register_game(game)
    loaded: TabletopGame = pyspiel.load_game(game_name(game), dict(parameters))
    return loaded


def state_of(env: TabletopEnv) -> TabletopState:
    """The state, with no history, of an AEC environment's position (wrapped or not)."""
    base = env.unwrapped
    return load_game(base.game, base.options).new_initial_state(base.snapshot())


def register() -> None:
    """Make OpenSpiel know all games of the registry; done by importing this module, and harmless any number of times."""
    for name in registry.game_names():
        register_game(registry.get_game(name))


register()
