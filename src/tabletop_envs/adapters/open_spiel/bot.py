"""OpenSpiel's bots as agents of this library: in tournaments, as opponents, on the play page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.adapters.open_spiel import TabletopState, load_game
from tabletop_envs.adapters.open_spiel.position import Position
from tabletop_envs.agents import GameAgent
from tabletop_envs.game import Game, State
from tabletop_envs.kernels import rng

__all__ = ["BotAgent"]

# (OpenSpiel's game, player index, generator) -> bot
MakeBot = Callable[[Any, int, np.random.RandomState], Any]
# `load_game` once for each game and its options.
_load = functools.lru_cache(lambda game, options: load_game(game, dict(options)))


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

    def __init__(self, make_bot: MakeBot, name: str) -> None:
        self.make_bot = make_bot
        self.name = name

    def choose_lanes(
        self,
        game: Game,
        states: State,
        legal: npt.NDArray[np.uint64],
        samplers: npt.NDArray[np.uint64],
        lanes: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        for lane in lanes.tolist():
            options = tuple(
                (option.name, type(option.default)(states[option.name][lane]))
                for option in game.options
            )
            loaded = _load(game, options)
            state = TabletopState(loaded, Position.begin_at(loaded.rules, states[lane : lane + 1]))
            samplers[lane] = rng.advance(samplers[lane])
            seed = int(rng.output(samplers[lane])) & 0xFFFFFFFF
            bot = self.make_bot(loaded, state.current_player(), np.random.RandomState(seed))
            actions[lane] = bot.step(state)
