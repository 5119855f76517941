"""Agents to play against and to measure by: `random`, `greedy`, `mcts:N` (N simulations an action).

In use::

    import numpy as np
    from tabletop_envs import agents, kirche_v0

    env = kirche_v0.env()
    env.reset(seed=1)
    action = agents.make_agent("mcts:400").choose(env, np.random.default_rng(1))
"""

from __future__ import annotations

from typing import overload

from tabletop_envs.agents.agent import Agent, GameAgent, RandomAgent
from tabletop_envs.agents.fingerprints import fingerprint
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.agents.mcts import MCTSAgent

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
        ValueError: For an unknown name or invalid settings, naming what they must be.
        TypeError: For what is neither a name nor callable.
    """
    if isinstance(agent, GameAgent) or callable(agent):
        return agent
    known = ", ".join(agent_names())
    if not isinstance(agent, str):
        raise TypeError(f"an agent must be a name ({known}) or a callable, not {agent!r}")
    if agent == "random":
        return RandomAgent()
    if agent == "greedy":
        return GreedyAgent()
    if agent.startswith("mcts:"):
        return MCTSAgent.from_name(agent)
    raise ValueError(f"there is no agent {agent!r}: the agents are {known}")
