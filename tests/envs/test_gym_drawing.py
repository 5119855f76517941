"""The Gymnasium environments' pictures show what the last step has changed."""

import gymnasium
import numpy as np

from tabletop_envs import registry
from tabletop_envs.envs.drawing import PIXELS
from tests.envs.learners import legal_action, make
from tests.games import each_game, module


def expected(board, before):
    """The picture of a board on which the difference to the snapshot `before` is marked."""
    from tabletop_envs.render import pixels, svg

    drawing = svg.draw(board.snapshot(), size=PIXELS, previous=before, fields=False)
    return pixels.rasterise(drawing)


@each_game
def test_a_step_and_the_replies_are_marked_and_a_new_game_has_no_marks(name):
    env, rng = make(name, render_mode="rgb_array"), np.random.default_rng(1)
    _, info = env.reset(seed=1)
    before = env.unwrapped.to_aec().snapshot()
    assert np.array_equal(env.render(), expected(env.unwrapped.to_aec(), None))
    for _ in range(3):
        _, _, _, _, info = env.step(legal_action(info, rng))
        board = env.unwrapped.to_aec()
        marked = expected(board, before)
        assert np.array_equal(env.render(), marked)
        before = board.snapshot()
    assert not np.array_equal(marked, expected(board, None))
    env.reset(seed=2)
    assert np.array_equal(env.render(), expected(env.unwrapped.to_aec(), None))


def test_each_lane_has_its_own_marks():
    envs = gymnasium.make_vec(registry.gym_id("kirche"), num_envs=2, render_mode="rgb_array")
    _, infos = envs.reset(seed=1)
    boards = [envs.unwrapped.to_aec(lane).snapshot() for lane in range(2)]
    envs.step(np.array([int(mask.argmax()) for mask in infos["action_mask"]]))
    for lane, picture in enumerate(envs.render()):
        assert np.array_equal(picture, expected(envs.unwrapped.to_aec(lane), boards[lane]))
    envs.close()


@each_game
def test_notebooks_show_the_position_with_the_last_step_marked(name):
    env = make(name).unwrapped
    assert env._repr_svg_() is None
    _, info = env.reset(seed=1)
    before = env.to_aec().snapshot()
    env.step(int(info["action_mask"].argmax()))
    from tabletop_envs.render import svg

    assert env._repr_svg_() == env.svg() == svg.draw(env.to_aec().snapshot(), previous=before)
    assert env.svg(theme="dark", last_action=False) == svg.draw(
        env.to_aec().snapshot(), theme="dark"
    )


@each_game
def test_the_parallel_environment_shows_what_the_aec_environment_shows(name):
    env = module(name).parallel_env()
    assert env._repr_svg_() is None
    env.reset(seed=1)
    assert env._repr_svg_() == env.svg() == env.aec_env.svg()
