"""Gymnasium's and PettingZoo's RecordVideo write films of every game."""

import importlib

import gymnasium
import numpy as np
import pytest

pytest.importorskip("moviepy", reason="needs the extra video")

from moviepy import VideoFileClip

from tabletop_envs import registry
from tests.games import each_game, raw_env


def check_film(folder, frames):
    """One film, with as many frames as pictures were taken, not all the same."""
    (film,) = folder.glob("*.mp4")
    with VideoFileClip(str(film)) as clip:
        pictures = list(clip.iter_frames())
        assert len(pictures) == frames
        assert max(pictures[0].shape) == 640
    assert not np.array_equal(pictures[0], pictures[-1])


@each_game
def test_gymnasium_records(name, tmp_path):
    env = gymnasium.make(registry.gym_id(name), render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    _, info = env.reset(seed=1)
    for _ in range(9):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    check_film(tmp_path, 10)


@each_game
def test_pettingzoo_records(name, tmp_path):
    wrappers = importlib.import_module("pettingzoo.utils.wrappers")
    if not hasattr(wrappers, "RecordVideo"):
        pytest.skip("this PettingZoo has no RecordVideo")
    env = wrappers.RecordVideo(raw_env(name, render_mode="rgb_array"), str(tmp_path))
    env.reset(seed=1)
    for _ in range(9):
        env.step(int(env.unwrapped.action_mask().argmax()))
    env.close()
    check_film(tmp_path, 10)
