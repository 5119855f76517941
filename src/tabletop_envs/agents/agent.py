"""What an agent is: the two protocols, and random play.

- An **agent** is any callable `(observation, action_mask, rng) -> action`: a user's policy.
  `observation` is `float32[L]`, `action_mask` `int8[n]`, `rng` a `numpy.random.Generator`, the
  action an integer.
- A **game agent** may look at the game itself, which lets it run in compiled code over many games
  at once. All agents that the library names are of this kind. It uses nothing that the player to
  move cannot know: it resamples what is hidden, and later chance, by its own generator
  (`kernels.deal_hidden`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.kernels import engine

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv
    from tabletop_envs.game import Game, State

__all__ = ["Agent", "GameAgent", "RandomAgent"]

# (observation, action_mask, rng) -> action
Agent = Callable[[npt.NDArray[np.float32], npt.NDArray[np.int8], np.random.Generator], int]


class GameAgent(ABC):
    """An agent that may look at the game. `name` says how it plays.

    Records and tournaments keep a fingerprint beside the name (`agents.fingerprint`). Where class
    and public attributes do not say all, an agent gives its own: an attribute or a method
    `fingerprint`.
    """

    name: str

    @abstractmethod
    def choose_lanes(
        self,
        game: Game,
        states: State,
        legal_bits: npt.NDArray[np.uint64],
        rngs: npt.NDArray[np.uint64],
        lanes: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
    ) -> None:
        """Choose a legal action for the player to move in every game that `lanes` names.

        The choice for a lane depends only on its state and its generator, not on the other lanes.

        Args:
            game: The game.
            states: One record a lane; not changed.
            legal_bits: The sets of legal actions as the engine keeps them, one row a lane; not
                changed.
            rngs: `uint64`, one generator a lane (`kernels.rng`), from which all randomness of the
                choice comes. Advanced.
            lanes: The lanes to choose for (int64), none of them over.
            actions: Where the choices are written (int64), one place a lane; the other lanes'
                places stay.
        """

    def choose(self, env: TabletopEnv, rng: np.random.Generator) -> int:
        """An action for the player to move in an AEC environment, which is not changed.

        Args:
            env: An environment of this library, wrapped or not, whose game is running.
            rng: All randomness of the choice comes from it: one draw of 64 bits.

        Raises:
            ValueError: If the game is over.
        """
        states, legal_bits = env.unwrapped.lane()
        if not legal_bits.any():
            raise ValueError(f"{self.name} has nothing to choose: the game is over")
        rngs = rng.integers(2**64, size=1, dtype=np.uint64)
        lanes, actions = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self.choose_lanes(env.unwrapped.game, states, legal_bits, rngs, lanes, actions)
        return int(actions[0])


class RandomAgent(GameAgent):
    """Plays every legal action with the same probability."""

    name = "random"

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        engine.sample_some(states, legal_bits, rngs, lanes, actions)


def observe_to_move(
    game: Game, states: State, legal_bits: npt.NDArray[np.uint64], lanes: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """What the player to move sees in each of some lanes: `int8 (K, L)`, and the masks
    `bool (K, n)`.
    """
    observations = np.zeros((len(lanes), game.kernel.observation_size), np.int8)
    masks = np.zeros((len(lanes), game.kernel.num_actions), np.bool_)
    players = states["to_move"].astype(np.int64)
    engine.observe_some(states, legal_bits, lanes, players, observations, masks)
    return observations, masks
