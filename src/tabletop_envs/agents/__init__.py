"""Agents to play against and to measure by: the library's own, custom ones, trained ones.

In use::

    import numpy as np
    from tabletop_envs import agents, kirche_v0

    env = kirche_v0.env()
    env.reset(seed=1)
    action = agents.make_agent("mcts:400").choose(env, np.random.default_rng(1))

`agents.naming` says what names there are.
"""

from __future__ import annotations

from tabletop_envs.agents.agent import Agent, GameAgent, RandomAgent
from tabletop_envs.agents.fingerprints import fingerprint
from tabletop_envs.agents.naming import agent_names, make_agent

__all__ = ["Agent", "GameAgent", "RandomAgent", "agent_names", "fingerprint", "make_agent"]
