"""Walks through games in OpenSpiel, and the same games in our own environments."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyspiel

from tabletop_envs.adapters import open_spiel  # noqa: F401 (registers the games)
from tabletop_envs.kernels import rng as generators
from tabletop_envs.kernels.meeples.material import REROLL
from tests.games import legal_actions, over


def load(name: str, options: dict[str, Any]) -> Any:
    return pyspiel.load_game(f"tabletop_{name}", options)


def sample(state: Any, rng: random.Random) -> int:
    """An outcome of a chance node, or a legal action of a player's."""
    if state.is_chance_node():
        return rng.choice(state.chance_outcomes())[0]
    return rng.choice(state.legal_actions())


def walk(state: Any, steps: int, rng: random.Random) -> Any:
    """The state, after so many random outcomes and actions."""
    for _ in range(steps):
        if not state.is_terminal():
            state.apply_action(sample(state, rng))
    return state


def step_both(state: Any, env: Any, action: int, rng: random.Random) -> bool:
    """Play an action in both, with the same dice; whether any were rolled."""
    state.apply_action(action)
    rolled = state.is_chance_node()
    if rolled:
        outcome, snapshot = sample(state, rng), env.snapshot()
        assert state.snapshot() == snapshot
        seed = generators.from_seed(np.uint64(snapshot["rng"] ^ outcome))
        env.restore({**snapshot, "rng": int(seed)})
        state.apply_action(outcome)
    env.step(action)
    return rolled


def assert_same(state: Any, env: Any) -> None:
    """Whoever looks at either, in whatever way, sees the same."""
    assert state.snapshot() == env.snapshot()
    assert state.is_terminal() is over(env)
    assert state.returns() == [env.rewards[agent] for agent in env.possible_agents]
    for player, agent in enumerate(env.possible_agents):
        np.testing.assert_array_equal(
            state.observation_tensor(player), env.observe(agent)["observation"]
        )
    if not over(env):
        assert f"player_{state.current_player()}" == env.agent_selection
        assert state.legal_actions() == legal_actions(env)
        for action in state.legal_actions()[:3]:
            assert state.action_to_string(action) == env.action_to_str(action)


def play_beside(game: Any, env: Any, seed: int, plies: int, choose: Any) -> Counter[str]:
    """Play both from a seed, comparing all the way; counts what the dice did."""
    rng, seen = random.Random(seed), Counter()
    env.reset(seed=seed)
    state = game.new_initial_state()
    if state.is_chance_node():
        state.apply_action(seed)
    while plies > 0 and not over(env):
        assert_same(state, env)
        action = choose(legal_actions(env))
        plies -= 1
        if step_both(state, env, action, rng):
            fits = "fits" if env.snapshot()["rerolled"] else "fails"
            seen[fits if action == REROLL else "round"] += 1
    assert_same(state, env)
    return seen
