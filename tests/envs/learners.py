"""Opponents and random play for the tests of the Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from tabletop_envs import registry
from tabletop_envs.agents import GameAgent


def make(name: str, **arguments: Any) -> Any:
    """A game's single environment without Gymnasium's wrappers, but with its spec."""
    return gymnasium.make(registry.gym_id(name), **arguments).unwrapped


def random_callable(observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
    """A user's policy: a random legal action."""
    return int(rng.choice(np.flatnonzero(action_mask)))


def first_legal(observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
    """Another one: the legal action with the lowest number."""
    return int(np.flatnonzero(action_mask)[0])


class Recorder:
    """A callable that plays random legal actions and remembers what it was shown and played."""

    def __init__(self, log: list[Any] | None = None) -> None:
        self.log: list[Any] = [] if log is None else log

    def __call__(self, observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
        action = random_callable(observation, action_mask, rng)
        self.log.append((self, observation, action_mask, action))
        return action


class LastLegal(GameAgent):
    """A game agent of a user's: the legal action with the highest number."""

    name = "last legal"

    def choose_lanes(
        self, game: Any, states: Any, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        for lane in lanes:
            word = int(np.flatnonzero(legal[lane])[-1])
            bit = int(legal[lane, word]).bit_length() - 1
            actions[lane] = word * game.kernel.word_bits + bit


def legal_action(info: dict[str, Any], rng: np.random.Generator) -> int:
    """A random legal action of a learner."""
    return int(rng.choice(np.flatnonzero(info["action_mask"])))


def illegal_action(info: dict[str, Any]) -> int:
    """An action of the action space that is illegal."""
    return int(np.flatnonzero(info["action_mask"] == 0)[0])


def play_episode(env: Any, info: dict[str, Any], rng: np.random.Generator) -> list[Any]:
    """Play at random to the end: (action, observation, reward, terminated, truncated, info)."""
    steps = []
    while not steps or not (steps[-1][3] or steps[-1][4]):
        action = legal_action(info, rng)
        steps.append((action, *env.step(action)))
        info = steps[-1][-1]
    return steps
