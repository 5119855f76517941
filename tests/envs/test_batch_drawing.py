"""A batch draws its lanes, and shows them as AEC environments."""

import copy

import numpy as np
import pytest

from tabletop_envs import make_batch
from tests.games import each_case, each_game, raw_env


@each_case
def test_a_lane_as_an_aec_environment_is_the_lane(name, options):
    batch = make_batch(name, 3, seed=4, **options)
    env = raw_env(name, **options)
    env.reset(seed=6)
    rng = np.random.default_rng(1)
    for _ in range(20):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in batch.action_mask])
        before = env.snapshot()
        env.step(actions[2])
        batch.step(actions)
        if batch.terminated[2]:
            break
        shown = batch.to_aec(-1)
        assert shown.snapshot() == env.snapshot() != before
        assert shown.infos == env.infos
    shown = batch.to_aec(2)
    states = batch.states.tobytes()
    shown.step(int(shown.action_mask().argmax()))
    assert batch.states.tobytes() == states
    with pytest.raises(ValueError, match="lane="):
        batch.to_aec(3)


@each_game
def test_lanes_are_drawn_as_the_aec_environment_draws_them(name):
    for mode in ("ansi", "rgb_array"):
        batch = make_batch(name, 2, seed=1, render_mode=mode)
        batch.step(batch.sample_actions())
        pictures = batch.render()
        for lane, picture in enumerate(pictures):
            env = raw_env(name, render_mode=mode)
            env.restore(batch.to_aec(lane).snapshot())
            assert np.array_equal(picture, env.render())
        assert not np.array_equal(*pictures)
        twin = copy.deepcopy(batch)
        assert np.array_equal(twin.render(), pictures)
        batch.close()
        assert np.array_equal(batch.render(), pictures)


def test_render_modes_are_checked_and_none_draws_nothing():
    with pytest.raises(ValueError, match="render_mode='smell'"):
        make_batch("kirche", 1, render_mode="smell")
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert make_batch("kirche", 1, render_mode=None).render() is None


def test_the_window_shows_lane_0(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    batch = make_batch("kirche", 2, seed=1, render_mode="human")
    assert batch.render() is None
    batch.close()
    batch.close()
