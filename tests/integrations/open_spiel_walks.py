"""Walks through games in OpenSpiel, and the same games in our own environments, for the tests of the adapter."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pyspiel

from tabletop_envs.adapters import open_spiel  # noqa: F401 (registers the games)
from tabletop_envs.kernels.meeples.material import REROLL
from tests.games import legal_actions, over

# What an observer is told: whether what everybody sees, and whose secrets.
PUBLIC_ONLY = (True, pyspiel.PrivateInfoType.NONE)
OWN_SECRETS = (False, pyspiel.PrivateInfoType.SINGLE_PLAYER)
OWN_VIEW = (True, pyspiel.PrivateInfoType.SINGLE_PLAYER)
FULL_VIEW = (True, pyspiel.PrivateInfoType.ALL_PLAYERS)
NOTHING = (False, pyspiel.PrivateInfoType.NONE)
VIEWS = [PUBLIC_ONLY, OWN_SECRETS, OWN_VIEW, FULL_VIEW, NOTHING]


def observation_type(view: tuple[bool, Any], recall: bool) -> Any:
    """OpenSpiel's description of a view."""
    return pyspiel.IIGObservationType(
        public_info=view[0], perfect_recall=recall, private_info=view[1]
    )


def load(name: str, options: dict[str, Any]) -> Any:
    return pyspiel.load_game(f"tabletop_{name}", options)


def sample(state: Any, rng: random.Random) -> int:
    """An outcome of a chance node, or a legal action of a player's."""
    if state.is_chance_node():
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        return rng.choices(outcomes, weights)[0]
    return rng.choice(state.legal_actions())


def walk(state: Any, steps: int, rng: random.Random) -> Any:
    """The state, after so many random outcomes and actions."""
    for _ in range(steps):
        if not state.is_terminal():
            state.apply_action(sample(state, rng))
    return state


def deal_like(snapshot: dict[str, Any]) -> list[int]:
    """The outcomes that deal the start of this game."""
    if snapshot["game"] == "tuerme":
        stacks = sorted(snapshot["stacks"], key=lambda stack: stack["square"])
        return [4 * stack["colour"] + stack["symbol"] for stack in stacks]
    if snapshot["game"] == "meeples":
        stones = itertools.combinations_with_replacement(range(7), 2)
        hands = [*snapshot["hands"], []]
        return [
            next((p for p, hand in enumerate(hands) if list(s) in hand), len(hands) - 1)
            for s in stones
        ]
    return []


def roll_like(state: Any, snapshot: dict[str, Any]) -> None:
    """Let the dice fall as they lie in the pool of this position."""
    for value in range(1, 6):
        if state.is_chance_node():
            state.apply_action(snapshot["dice"].count(value))
    assert not state.is_chance_node()


def start_like(game: Any, env: Any) -> Any:
    """The state at the start of the environment's game."""
    state = game.new_initial_state()
    for outcome in deal_like(env.snapshot()):
        assert state.is_chance_node()
        state.apply_action(outcome)
    assert not state.is_chance_node()
    return state


def assert_same(state: Any, env: Any) -> None:
    """Whoever looks at either, in whatever way, sees the same."""
    snapshot = env.snapshot()
    snapshot.pop("rng", None)
    assert state.snapshot() == snapshot
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


def play_beside(game: Any, env: Any, plies: int, choose: Any) -> Counter[str]:
    """Play both, comparing all the way; counts what the dice did."""
    state, seen = start_like(game, env), Counter()
    while plies > 0 and not over(env):
        assert_same(state, env)
        before = state.snapshot()
        action = choose(legal_actions(env))
        env.step(action)
        state.apply_action(action)
        plies -= 1
        if state.is_chance_node():
            if action == REROLL:
                assert state.snapshot() == {**before, "dice": []}
            roll_like(state, env.snapshot())
            fits = "fits" if env.snapshot()["rerolled"] else "fails"
            seen[fits if action == REROLL else "round"] += 1
    assert_same(state, env)
    return seen
