"""Agents to play against and to measure by: `random`, `greedy`, `mcts:N` (N simulations an action).

In use::

    import numpy as np
    from tabletop_envs import agents, kirche_v0

    env = kirche_v0.env()
    env.reset(seed=1)
    action = agents.make_agent("mcts:400").choose(env, np.random.default_rng(1))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from tabletop_envs.agents.agent import Agent, GameAgent, RandomAgent
from tabletop_envs.agents.fingerprints import fingerprint

__all__ = ["Agent", "GameAgent", "RandomAgent", "agent_names", "fingerprint", "make_agent"]


def agent_names() -> list[str]:
    """The forms of the names that `make_agent` knows."""
    return ["random", "greedy", "mcts:N"]


@overload
def make_agent(agent: str | GameAgent) -> GameAgent: ...
@overload
def make_agent(agent: Agent) -> Agent: ...
def make_agent(agent: str | GameAgent | Agent) -> GameAgent | Agent:
    """The agent that a name means; an agent that is one already as it is.

    Raises:
        ValueError: For an unknown name or an impossible number of simulations, naming what is allowed.
        TypeError: For what is neither a name nor callable.
    """
    if isinstance(agent, GameAgent) or callable(agent):
        return agent
    if not isinstance(agent, str):
        raise TypeError(
            f"an agent is a name ({', '.join(agent_names())}) or a callable, not {agent!r}"
        )
    name, colon, argument = agent.partition(":")
    maker = _MAKERS.get(name)
    if maker is None or bool(colon) != (name == "mcts"):
        raise ValueError(f"there is no agent {agent!r}: the agents are {', '.join(agent_names())}")
    return maker(argument)


def _greedy(_: str) -> GameAgent:
    from tabletop_envs.agents.greedy import GreedyAgent

    return GreedyAgent()


def _mcts(argument: str) -> GameAgent:
    from tabletop_envs.agents.mcts import MCTSAgent

    try:
        return MCTSAgent.from_name(argument)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"agent 'mcts:{argument}' must be mcts:N or mcts:N,RULE=VALUE,...: {error}"
        ) from None


_MAKERS: dict[str, Callable[[str], GameAgent]] = {
    "random": lambda _: RandomAgent(),
    "greedy": _greedy,
    "mcts": _mcts,
}
