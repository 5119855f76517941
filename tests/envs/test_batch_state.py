"""`set_state` continues what `get_state` gave, by way of JSON, and believes nothing unchecked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_batch
from tests.games import each_case, each_game

SHOWN = ("observation", "action_mask", "current_player", "scores", "episode_length")


def batch_in_play(name: str, **options: Any) -> Any:
    """Three lanes, some plies on."""
    batch = make_batch(name, 3, seed=5, **options)
    for _ in range(25):
        batch.step(batch.sample_actions())
    return batch


@each_case
def test_play_continues_through_ends_and_new_games(name, options):
    options = {**options, "max_plies": 40}
    batch, other = batch_in_play(name, **options), make_batch(name, 3, seed=9, **options)
    other.set_state(json.loads(json.dumps(batch.get_state())))
    for array in SHOWN:
        np.testing.assert_array_equal(getattr(other, array), getattr(batch, array))
    assert not other.rewards.any()
    assert not other.terminated.any()
    ended = 0
    for _ in range(60):
        actions = batch.sample_actions()
        np.testing.assert_array_equal(other.sample_actions(), actions)
        batch.step(actions)
        other.step(actions)
        ended += int(batch.terminated.sum())
        for array in (*SHOWN, "rewards", "terminated", "by_limit"):
            np.testing.assert_array_equal(getattr(other, array), getattr(batch, array))
    assert ended >= 6
    assert other.get_state() == batch.get_state()


def in_position(key: str, value: Any) -> Callable[[Any], None]:
    """A change of a value in the second lane's position."""
    return lambda state: state["positions"][1].update({key: value})


# What a foreign file may hold, and what the error must name.
HOSTILE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "more players": (in_position("options", {"num_players": 127}), "lane 1: .*num_players"),
    "a far ply": (in_position("ply", 2**40), "lane 1: ply"),
    "no player": (in_position("to_move", 7), "lane 1: to_move"),
    "another game": (in_position("game", "chess"), "lane 1: game"),
    "a foreign key": (in_position("extra", 1), "lane 1: .*extra"),
    "no lane": (lambda state: state["positions"].pop(), "positions has 2 entries, but must have 3"),
    "too many generators": (
        lambda state: state["rng"].append(1),
        "rng has 4 entries, but must have 3",
    ),
    "a huge generator": (lambda state: state["rng"].__setitem__(2, 2**64), "lane 2: rng"),
    "a bool": (lambda state: state["samplers"].__setitem__(0, True), "lane 0: samplers"),
    "no numbers": (lambda state: state.update(samplers="abc"), "samplers"),
    "no samplers": (lambda state: state.pop("samplers"), "samplers"),
    "no position": (lambda state: state["positions"].__setitem__(0, None), "lane 0: "),
}


@each_game
@pytest.mark.parametrize("fault", HOSTILE)
def test_what_no_batch_gives_is_refused_and_changes_nothing(name, fault):
    batch = batch_in_play(name)
    before, seen = batch.get_state(), batch.observation.copy()
    state = copy.deepcopy(before)
    change, message = HOSTILE[fault]
    change(state)
    with pytest.raises(ValueError, match=message):
        batch.set_state(state)
    assert batch.get_state() == before
    np.testing.assert_array_equal(batch.observation, seen)


@each_game
def test_other_options_and_finished_games_are_refused(name):
    batch = batch_in_play(name)
    with pytest.raises(ValueError, match=r"lane 0: options must be .*max_plies.*, not"):
        batch.set_state(batch_in_play(name, max_plies=77).get_state())
    with pytest.raises(ValueError, match="state is None, but must be a dict"):
        batch.set_state(None)
    env = batch.to_aec(0)
    while not env.terminations["player_0"]:
        env.step(int(env.action_mask().argmax()))
    over = env.snapshot()
    over.pop("rng", None)
    state = batch.get_state()
    state["positions"][2] = over
    with pytest.raises(ValueError, match="lane 2: outcome must be None"):
        batch.set_state(state)
