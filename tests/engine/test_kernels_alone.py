"""Each function of a kernel by itself, called from compiled code of one's own, on recorded states.

The fastest of all tests to notice a change in a kernel, because nothing else is compiled: mutation
testing runs them first (docs/mutation-testing.md). What is right, the tests of the rules say; how
states are recorded, tests/engine/recorded_states.py.
"""

import numpy as np
import pytest

from tabletop_envs import registry
from tests.engine import recorded_states as recorded
from tests.games import each_game


def assert_same_states(game, name, states):
    """States are what was recorded under a name, field by field."""
    expected = recorded.packed(game, name, recorded.load(game))
    for field in states.dtype.names:
        wrong = np.flatnonzero((states[field] != expected[field]).reshape(states.size, -1).any(1))
        assert not wrong.size, f"{field} of the states {wrong.tolist()}"


@pytest.fixture
def running(name):
    """The recorded states in which the game goes on."""
    return recorded.packed(name, "running", recorded.load(name))


@pytest.fixture
def ended(name):
    """The recorded states in which the game is over."""
    return recorded.packed(name, "ended", recorded.load(name))


@each_game
def test_start_overwrites_whatever_was_there(name, ended):
    assert_same_states(name, "started", recorded.changed(recorded.start_all, ended))


@each_game
def test_observe_writes_every_entry(name, running, ended):
    seen = recorded.observed(np.concatenate([running, ended]))
    assert np.array_equal(seen, recorded.load(name)["observed"])


@each_game
def test_a_long_game_s_ply_is_seen_whole(name, running):
    """Three digits to the base 128; recorded games are too short for the third."""
    states = running[:1].copy()
    states["ply"] = 1_234_568
    game = registry.get_game(name)
    observations = np.zeros((1, game.kernel.observation_size), np.int8)
    recorded.observe_all(states, np.zeros(1, np.int64), observations, observations.size)
    digits = game.split_observation(observations[0])["ply"]
    assert digits.tolist() == [1_234_568 % 128, 1_234_568 // 128 % 128, 1_234_568 // 128**2]


@each_game
def test_legal_actions_are_as_recorded(name, running):
    assert np.array_equal(recorded.legal(running), recorded.load(name)["legal"])


@each_game
def test_dealing_hides_as_recorded(name, running):
    players = running["ply"] % running["num_players"]
    generators = recorded.generators(running)
    dealt = recorded.changed(recorded.deal_all, running, players, generators)
    assert_same_states(name, "dealt", dealt)


@each_game
def test_step_leads_to_the_recorded_state(name, running):
    actions = recorded.load(name)["actions"]
    assert_same_states(name, "stepped", recorded.changed(recorded.step_all, running, actions))
