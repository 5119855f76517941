"""Snapshots as data: what is taken, and what is refused by name (`check_env` looks at copies)."""

import copy
import json
import random

import numpy as np
import pytest

from tests.games import each_game, play, raw_env


def assert_same(one, other):
    """Two environments show the same, to everybody."""
    assert one.snapshot() == other.snapshot()
    assert np.array_equal(one.state(), other.state())
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
        assert getattr(one, name) == getattr(other, name), name
    for agent in one.possible_agents:
        for key, value in one.observe(agent).items():
            assert np.array_equal(value, other.observe(agent)[key])


@each_game
def test_snapshots_are_plain_and_accept_lists_in_any_order(name):
    env = raw_env(name)
    env.reset(seed=15)
    play(env, lambda n: n // 2, 40)
    snapshot = env.snapshot()
    assert json.loads(json.dumps(snapshot)) == snapshot
    shuffled = json.loads(json.dumps(snapshot))
    rng = random.Random(1)
    per_player = "rewards scores supply passed dice_allowed set_block setup_stones fields stone"

    def shuffle(value, key=None):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                shuffle(inner, inner_key)
        elif isinstance(value, list) and key not in per_player.split():
            for inner in value:
                shuffle(inner)
            if key not in ("hands", "pieces"):
                rng.shuffle(value)

    shuffle(shuffled)
    for key in ("hands", "pieces"):
        for inner in shuffled.get(key, []):
            rng.shuffle(inner)
    assert shuffled != snapshot
    twin = raw_env(name)
    twin.restore(shuffled)
    assert twin.snapshot() == snapshot


def spoil(snapshot, path, value):
    """A deep copy of a snapshot with one entry changed, or removed where the value is `...`."""
    spoiled = copy.deepcopy(snapshot)
    inner = spoiled
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return spoiled


def assert_refused(env, snapshot, words):
    """`restore` refuses a snapshot with the given words, and the environment is as it was."""
    before, state, spaces = env.snapshot(), env.state(), env.observation_space("player_0")
    with pytest.raises(ValueError, match=words):
        env.restore(snapshot)
    assert env.snapshot() == before
    assert np.array_equal(env.state(), state)
    assert env.observation_space("player_0") is spaces


@each_game
def test_impossible_common_entries_are_refused(name):
    env = raw_env(name)
    env.reset(seed=16)
    play(env, lambda n: n // 2, 30)
    good = env.snapshot()
    for path, value, words in (
        (["game"], "chess", "chess"),
        (["game"], ..., "lacks 'game'"),
        (["options"], ..., "lacks 'options'"),
        (["options"], None, "options"),
        (["options", "max_plies"], 0, "max_plies"),
        (["options", "max_plies"], 29, "ply"),
        (["options", "wings"], 2, "wings"),
        (["ply"], -1, "ply"),
        (["ply"], "30", "ply"),
        (["ply"], True, "ply"),
        (["ply"], 201 if name == "kirche" else 1001, "ply"),
        (["to_move"], 7, "to_move"),
        (["to_move"], None, "to_move"),
        (["to_move"], -1, "to_move"),
        (["outcome"], "won", "outcome"),
        (["outcome"], ..., "lacks 'outcome'"),
        (["comment"], "x", "comment"),
    ):
        assert_refused(env, spoil(good, path, value), words)
    for nothing in (None, [], "snapshot", 3):
        assert_refused(env, nothing, "dict")


@each_game
def test_a_finished_game_that_is_not_is_refused(name):
    env = raw_env(name)
    env.reset(seed=17)
    play(env, lambda n: n // 2, 30)
    running = env.snapshot()
    scores = [env.infos[agent]["score"] for agent in env.possible_agents]
    for outcome, words in (
        ({"scores": scores, "rewards": [0.0, 0.0], "by_limit": False}, "continues"),
        ({"scores": [99, 0], "rewards": [1.0, -1.0], "by_limit": False}, "scores"),
        ({"scores": scores, "rewards": [1.0, -1.0], "by_limit": True}, "by_limit"),
        ({"scores": scores, "rewards": [0.5, 0.5], "by_limit": False}, "continues"),
        ({"scores": scores, "by_limit": False}, "outcome"),
        ("over", "outcome"),
    ):
        assert_refused(env, {**running, "outcome": outcome}, words)


@each_game
def test_a_running_game_that_is_over_is_refused(name):
    env = raw_env(name, max_plies=30)
    env.reset(seed=17)
    play(env, lambda n: n // 2)
    ended = env.snapshot()
    assert ended["outcome"]["by_limit"] is True
    assert_refused(env, {**ended, "outcome": None}, "over")
    wrong = spoil(ended, ["outcome", "rewards"], [0.25, -0.25])
    assert_refused(env, wrong, "rewards")
    assert_refused(env, {**ended, "to_move": None}, "to_move")


@each_game
def test_options_of_a_snapshot_are_taken_over_but_not_the_players(name):
    env, other = raw_env(name, max_plies=77), raw_env(name)
    env.reset(seed=18)
    other.restore(env.snapshot())
    assert other.options["max_plies"] == 77
    if name != "kirche":
        three = raw_env(name, num_players=3)
        three.reset(seed=18)
        assert_refused(other, three.snapshot(), "num_players")
