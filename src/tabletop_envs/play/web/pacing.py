"""Agents whose thinking time is limited, so that nobody waits for long."""

from __future__ import annotations

import numpy as np

from tabletop_envs.agents import GameAgent, make_agent
from tabletop_envs.envs.aec import TabletopEnv

# The room of a search's tree: what it needs for its simulations (a few nodes each), but not more than this.
NODES_A_SIMULATION, MAX_NODES = 4, 200_000


def choose(name: str, env: TabletopEnv, rng: np.random.Generator, seconds: float) -> int:
    """The action that a named agent chooses for the player in turn.

    Args:
        name: What `agents.make_agent` knows.
        env: The game, which is not changed.
        rng: All chance of the choice comes from it.
        seconds: After so long a tree search ends with what it has found; the other agents need no time to speak of.

    Raises:
        ValueError: For an unknown agent, and where the game is over.
    """
    from tabletop_envs.agents.mcts import MCTSAgent

    agent = make_agent(name)
    assert isinstance(agent, GameAgent)  # all that have a name are
    if not isinstance(agent, MCTSAgent):
        return agent.choose(env, rng)
    from tabletop_envs.search import Search

    nodes = min(NODES_A_SIMULATION * agent.simulations + 2, MAX_NODES)
    seed = int(rng.integers(2**63))
    search = Search(env.game, max_nodes=nodes, seed=seed, **agent.rules)
    return search.run(env, agent.simulations, seconds=seconds).action
