"""Pixels and windows: one shape a game, no display for pixels, words where a window needs one."""

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tabletop_envs.render.svg import THEMES
from tests.games import each_case, each_game, legal_actions, over, play, raw_env


@each_case
def test_pixels_have_one_shape_and_follow_the_game(name, options):
    env = raw_env(name, render_mode="rgb_array", **options)
    env.reset(seed=1)
    first = env.render()
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert first.flags.writeable
    assert np.array_equal(first, env.render())
    choices = np.random.default_rng(1)
    while not over(env):
        play(env, lambda n: int(choices.integers(n)), 60)
        states = env.lane()[0].tobytes()
        pixels = env.render()
        assert pixels.shape == first.shape
        assert not np.array_equal(pixels, first)
        assert env.lane()[0].tobytes() == states
    env.close()
    assert np.array_equal(env.render(), pixels)


@each_game
def test_pixels_of_another_size_theme_and_viewer(name):
    env = raw_env(name, render_mode="rgb_array")
    env.reset(seed=1)
    assert max(env.render(size=400).shape) == 400
    assert env.render(theme="dark").mean() < 128 < env.render().mean()
    # The border shows the page: nothing is left bare around the drawing.
    page = THEMES["dark"].page
    corners = env.render(size=333, theme="dark")[[0, -1, 0, -1], [0, -1, -1, 0]]
    assert {"#" + bytes(corner).hex() for corner in corners} == {page}
    seen = env.render(viewer="player_1")
    assert np.array_equal(seen, env.render()) == (name != "meeples")
    with pytest.raises(ValueError, match="sepia"):
        env.render(theme="sepia")


def test_pixels_of_threads_are_the_same():
    def draw(seed):
        env = raw_env("meeples", render_mode="rgb_array")
        env.reset(seed=seed)
        return env.render(size=200)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(draw, range(6)))
    for seed, pixels in enumerate(together):
        assert np.array_equal(pixels, draw(seed))


# Windows


@pytest.fixture
def pygame(monkeypatch):
    """pygame-ce, drawing into windows that nobody sees."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame")


def human(name, **options):
    """An environment with a window that does not make one wait."""
    env = raw_env(name, render_mode="human", **options)
    env.metadata["render_fps"] = 10_000
    return env


def shown(pygame, env):
    """The pixels of an environment's window."""
    surface = env._window._window.get_surface()
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


@each_game
def test_the_window_shows_every_position(name, pygame):
    env, other = human(name), raw_env(name, render_mode="rgb_array")
    env.reset(seed=1)
    other.reset(seed=1)
    for _ in range(5):
        assert np.array_equal(shown(pygame, env), other.render())
        action = legal_actions(env)[-1]
        env.step(action)
        other.step(action)
    assert env.render() is None
    env.close()
    env.close()
    assert not pygame.display.get_init()
    env.step(legal_actions(env)[0])
    assert env._window.is_open
    env.close()


def test_a_game_lost_by_an_illegal_action_is_shown(pygame):
    from tabletop_envs import kirche_v0

    env = kirche_v0.env(render_mode="human")
    env.metadata["render_fps"] = 10_000
    env.reset(seed=1)
    before = shown(pygame, env)
    env.step(1322)
    assert not np.array_equal(shown(pygame, env), before)
    env.close()


def test_a_window_closed_by_its_user_stays_closed_until_close(pygame):
    env, other = human("kirche"), human("tuerme")
    env.reset(seed=1)
    other.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=env._window._window))
    env.step(0)
    assert not env._window.is_open
    assert other._window.is_open
    env.step(legal_actions(env)[0])
    assert not env._window.is_open
    env.close()
    env.render()
    assert env._window.is_open
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert not env._window.is_open
    assert not other._window.is_open
    env.close()
    other.close()


def test_copies_have_windows_of_their_own_and_clones_none(pygame):
    env = human("kirche")
    env.reset(seed=1)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert not twin._window.is_open
        twin.step(0)
        assert twin._window.is_open
        twin.close()
    clone = env.clone()
    clone.step(0)
    assert clone._window is None
    assert env._window.is_open
    env.close()


def test_the_window_is_paced(pygame, monkeypatch):
    from tabletop_envs.render import window

    now = [0.0]
    monkeypatch.setattr(window.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(window.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    env = raw_env("kirche", render_mode="human")
    env.reset(seed=1)
    for _ in range(4):
        env.step(legal_actions(env)[0])
    assert now[0] == pytest.approx(4 / env.metadata["render_fps"])
    env.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a display")
@pytest.mark.parametrize("driver", [None, "x11"])
def test_without_a_display_a_window_is_refused_in_words(driver):
    inherited = {
        key: value
        for key, value in os.environ.items()
        if key not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    }
    code = """
from tabletop_envs import kirche_v0
env = kirche_v0.env(render_mode="human")
try:
    env.reset(seed=1)
except RuntimeError as error:
    print(error)
env.step(0) if False else env.close()
print(env.observe("player_0")["action_mask"].sum())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, **({"SDL_VIDEODRIVER": driver} if driver else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    refusal, legal = done.stdout.strip().splitlines()[-2:]
    assert "display" in refusal
    assert "rgb_array" in refusal
    assert legal == "8"


def test_pygame_without_windows_is_told_from_pygame_ce(pygame, monkeypatch):
    monkeypatch.delattr(pygame, "Window")
    env = human("kirche")
    with pytest.raises(ImportError, match="pygame-ce"):
        env.reset(seed=1)
