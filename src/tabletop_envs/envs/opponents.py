"""Who plays the seats that the learner of a Gymnasium environment does not play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.agents import Agent, GameAgent, RandomAgent, make_agent

__all__ = ["Opponents", "OpponentsLike", "agent_name"]

# What a user gives: a name, an agent, or a list with one of these for each opponent.
OpponentsLike = str | GameAgent | Agent | list[Any] | tuple[Any, ...]


class Opponents:
    """The agents that play the seats after the learner's, in turn order.

    Args:
        given: A name (`agents.make_agent`), a game agent or a callable
            `(observation, action_mask, rng) -> action` for all seats, or a list of
            `num_players − 1` of these.
        num_players: How many play, with the learner.

    Raises:
        TypeError, ValueError: For what is no agent, an unknown name, or a list of another length.

    Attributes:
        given: As above.
        random: `bool[num_players]`, whether the player so many seats after the learner plays at
            random. The compiled loop plays these.
        asked: The other agents, each once, with a `bool[num_players]` of the seats after the
            learner's that it plays.
    """

    def __init__(self, given: OpponentsLike, num_players: int) -> None:
        count = num_players - 1
        listed = list(given) if isinstance(given, list | tuple) else [given] * count
        if len(listed) != count:
            raise ValueError(
                f"option opponents has {len(listed)} agents, but the learner has {count} "
                f"opponents: it must be one agent for all, or a list of {count}"
            )
        # The same name is the same agent, so that it is asked for all its seats at once.
        named = {name: make_agent(name) for name in listed if isinstance(name, str)}
        agents = [named[one] if isinstance(one, str) else make_agent(one) for one in listed]
        self.given = given
        self.random = np.array([False, *(type(agent) is RandomAgent for agent in agents)])
        self.asked: list[tuple[GameAgent | Agent, npt.NDArray[np.bool_]]] = []
        for agent in agents:
            if type(agent) is not RandomAgent and all(agent is not one for one, _ in self.asked):
                seats = np.array([False, *(one is agent for one in agents)])
                self.asked.append((agent, seats))


def agent_name(agent: GameAgent | Agent) -> str:
    """How messages call an opponent."""
    return repr(getattr(agent, "name", None) or getattr(agent, "__qualname__", agent))
