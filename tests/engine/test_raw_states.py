"""States from elsewhere are checked before compiled code, which checks nothing, runs on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabletop_envs import evaluation, make_batch
from tabletop_envs.search import PUCT, Search
from tests.games import each_case, each_game, raw_env


def put(game: Any, states: Any) -> None:
    raw_env(game.name).put(states[:1])


# Every public function that takes raw states.
TAKERS = [
    pytest.param(evaluation.values, id="evaluation.values"),
    pytest.param(lambda game, states: PUCT(game, 3, 1).run(states), id="PUCT.run"),
    pytest.param(lambda game, states: Search(game).run(states[:1], simulations=1), id="Search.run"),
    pytest.param(put, id="put"),
]


@each_case
def test_all_states_of_games_pass(name, options):
    batch = make_batch(name, 20, seed=1, **options)
    for _ in range(12):
        batch.game.require_states(batch.states, batch.options)
        batch.rollout(17)


@pytest.mark.parametrize("take", TAKERS)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_players", 127),
        ("num_players", 5),
        ("num_players", 0),
        ("to_move", 2),
        ("to_move", -1),
        ("status", 3),
        ("ply", -1),
        ("max_plies", 0),
    ],
)
@each_game
def test_impossible_fields_are_named(take, field, value, name):
    batch = make_batch(name, 3, seed=1)
    states = batch.states.copy()
    states[field][0] = value
    with pytest.raises(ValueError, match=f"{field}={value} .*must be|the game is over"):
        take(batch.game, states)


@each_game
def test_every_field_that_indexes_has_its_ends(name):
    """One beyond either end is refused, the ends themselves are not."""
    game = make_batch(name, 1).game
    fields = [field for field, *_ in game.indexes(make_batch(name, 2, seed=1).states)]
    for field in fields:
        for place, step in ((2, -1), (3, 1)):
            states = make_batch(name, 2, seed=1).states
            end = next(row for row in game.indexes(states) if row[0] == field)[place]
            states[field][1] = end
            game.require_states(states)
            if np.iinfo(states[field].dtype).min <= end + step:
                states[field][1] = end + step
                with pytest.raises(ValueError, match=f"{field}={end + step} must be from"):
                    game.require_states(states)
    assert bool(fields) is (name != "kirche")


@pytest.mark.parametrize("take", TAKERS)
def test_what_are_no_states_is_a_type_error(take):
    game = make_batch("tuerme", 1).game
    for states in (make_batch("kirche", 3).states, np.zeros(3), [1, 2, 3]):
        with pytest.raises(TypeError, match=r"tuerme|an environment or a state"):
            take(game, states)


def test_games_of_different_numbers_of_players_are_refused():
    batch = make_batch("tuerme", 3)
    states = batch.states.copy()
    states["num_players"][1] = 3
    with pytest.raises(ValueError, match="num_players=3 must be 2"):
        evaluation.values(batch.game, states)
    with pytest.raises(ValueError, match="at least one game"):
        evaluation.values(batch.game, states[:0])


def test_put_wants_the_environment_s_own_options():
    env = raw_env("tuerme")
    env.reset(seed=1)
    before = env.snapshot()
    others = (
        make_batch("tuerme", 1, num_players=4).states,
        make_batch("tuerme", 1, slide=True).states,
        make_batch("tuerme", 2).states,
    )
    for states in others:
        with pytest.raises(ValueError, match="must be"):
            env.put(states)
        assert env.snapshot() == before
