"""Reference and kernel, action for action: legal actions, successors, chance, scores and endings.

Hypothesis chooses options, seed and actions, and shrinks what fails to the shortest game. The soak
(`pytest -m soak`) does the same over a million positions a game.
"""

import importlib
import itertools
import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.games import STRATEGIES, each_game, legal_actions, over, raw_env

SOAK_POSITIONS = int(os.environ.get("SOAK_POSITIONS", "1000000"))


def assert_same(reference, env):
    """The two games stand in the same position, of which everything is compared."""
    snapshot = env.snapshot()
    expected = reference.snapshot()
    if snapshot != expected:
        wrong = [key for key in expected if snapshot.get(key) != expected[key]]
        raise AssertionError(
            "\n".join(f"{key}: {snapshot.get(key)!r}, not {expected[key]!r}" for key in wrong)
        )
    if not over(env):
        assert legal_actions(env) == reference.legal_actions()
        assert env.possible_agents[reference.to_move] == env.agent_selection
    else:
        assert reference.legal_actions() == []
    assert [info["score"] for info in env.infos.values()] == reference.scores()


def play_both(name, options, seed, choices):
    """Play one game on both implementations, a number a choice. The positions compared."""
    reference = importlib.import_module(f"tests.reference.{name}").Reference(seed=seed, **options)
    env = raw_env(name, **options)
    env.reset(seed=seed)
    assert_same(reference, env)
    positions = 1
    for choice in choices:
        if over(env):
            break
        legal = reference.legal_actions()
        action = legal[choice % len(legal)]
        reference.step(action)
        env.step(action)
        reference.check_invariants()
        assert_same(reference, env)
        positions += 1
    return positions


@each_game
def test_reference_and_kernel_agree_on_chosen_games(name):
    """Hypothesis chooses each action of the first part of a game, and a generator the rest of it."""

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )
    @given(
        options=STRATEGIES[name],
        seed=st.integers(0, 2**64 - 1),
        choices=st.lists(st.integers(0, 2**16), max_size=80),
        rest=st.integers(0, 300),
    )
    def check(options, seed, choices, rest):
        rng = random.Random(seed)
        play_both(
            name,
            options,
            seed,
            itertools.chain(choices, (rng.randrange(2**16) for _ in range(rest))),
        )

    check()


@each_game
def test_reference_and_kernel_agree_over_whole_games(name):
    rng = random.Random(31)
    choices = (rng.randrange(2**16) for _ in itertools.count())
    defaults = (
        [{"num_houses": 1}, {}]
        if name == "kirche"
        else [{"num_players": players} for players in (2, 3, 4)]
    )
    for options in defaults:
        play_both(name, options, rng.randrange(2**32), choices)


@pytest.mark.soak
@each_game
def test_reference_and_kernel_agree_over_a_million_positions(name):
    rng = random.Random(int(os.environ.get("SOAK_SEED", "0")))
    drawn = {
        "kirche": lambda: {
            "num_houses": rng.randint(1, 7),
            "max_plies": rng.choice([60, 200, 400]),
        },
        "tuerme": lambda: {
            "num_players": rng.randint(2, 4),
            "slide": rng.random() < 0.5,
            "end_on_any_full_city": rng.random() < 0.5,
            "max_plies": rng.choice([100, 500, 500]),
        },
        "meeples": lambda: {
            "num_players": rng.randint(2, 4),
            "dice_per_player": rng.randint(1, 5),
            "open_hands": rng.random() < 0.5,
            "max_plies": rng.choice([100, 1000, 1000]),
        },
    }[name]
    choices = (rng.randrange(2**16) for _ in itertools.count())
    positions = 0
    while positions < SOAK_POSITIONS:
        positions += play_both(name, drawn(), rng.randrange(2**64), choices)
