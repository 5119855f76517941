"""Stable-Baselines3 and sb3-contrib train on the batch engine by `adapters.sb3`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: the extra sb3")
from gymnasium.vector import AutoresetMode
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.evaluation import evaluate_policy as plain_evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch.distributions import Distribution

from tabletop_envs.adapters import sb3
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tests.adapters.common import (
    DECISIVE,
    ENDING,
    guarded,
    import_error_without,
    run_script,
    scripts,
)
from tests.games import each_case, each_game


def random_actions(masks: Any, rng: np.random.Generator) -> Any:
    """A legal action for each row of masks."""
    return np.argmax(masks * rng.random(masks.shape), axis=1)


@each_case
def test_games_are_those_of_monitored_single_environments(name, options):
    ours = sb3.make_vec_env(name, 3, seed=5, **options)

    def make() -> Monitor:
        return Monitor(TabletopGymEnv(name, **options))

    theirs = DummyVecEnv([make] * 3)
    theirs.seed(5)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(1)
    ended = 0
    while ended < 2:
        masks = get_action_masks(ours)
        np.testing.assert_array_equal(masks, get_action_masks(theirs))
        actions = random_actions(masks, rng)
        observation, rewards, dones, infos = ours.step(actions)
        expected = theirs.step(actions)
        np.testing.assert_array_equal(observation, expected[0])
        np.testing.assert_array_equal(rewards, expected[1])
        np.testing.assert_array_equal(dones, expected[2])
        assert (observation.dtype, rewards.dtype, dones.dtype) == (np.float32, np.float32, bool)
        for lane, info in enumerate(infos):
            if not dones[lane]:
                assert info == {}
                continue
            ended += 1
            one = expected[3][lane]
            np.testing.assert_array_equal(info["terminal_observation"], one["terminal_observation"])
            assert info["episode"].keys() == one["episode"].keys()
            for key in ("TimeLimit.truncated", *sb3.NUMBERS):
                assert info[key] == one[key]
            assert info["episode"]["r"] == pytest.approx(one["episode"]["r"], abs=1e-6)
            assert info["episode"]["l"] == one["episode"]["l"]


def test_a_game_ended_by_max_plies_is_no_time_limit():
    env = sb3.make_vec_env("kirche", 2, seed=1, seat=0, max_plies=1)
    env.reset()
    _, rewards, dones, infos = env.step(get_action_masks(env).argmax(axis=1))
    assert dones.all() and not rewards.any()
    assert [info["TimeLimit.truncated"] for info in infos] == [False, False]
    assert [info["by_limit"] for info in infos] == [True, True]
    assert [info["episode"]["l"] for info in infos] == [1, 1]


@pytest.mark.parametrize(("name", "options"), ENDING)
def test_the_rollout_buffer_has_results_and_nothing_beyond_them(name, options, monkeypatch):
    env = sb3.make_vec_env(name, 4, seed=1, on_illegal="raise", **options)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, seed=1, device="cpu")
    # Values far above any result: what is bootstrapped shows.
    values = model.policy.value_net
    values.weight.data.zero_()
    values.bias.data.fill_(100)
    monkeypatch.setattr(model, "train", lambda: None)
    limits: list[bool] = []

    def look(names: dict[str, Any], _: Any) -> bool:
        limits.extend(info["by_limit"] for info in names["infos"] if info)
        return True

    with guarded():
        model.learn(4 * 64, callback=look)
    buffer = model.rollout_buffer
    # An end: the next step starts a game.
    starts = np.concatenate([buffer.episode_starts[1:], model._last_episode_starts[None]])
    ends = starts.astype(bool)
    assert ends.sum() == len(limits) >= 1
    assert any(limits) or "max_plies" not in options
    assert np.abs(buffer.rewards).max() <= 1 and not buffer.rewards[~ends].any()
    np.testing.assert_allclose(buffer.returns[ends], buffer.rewards[ends], atol=1e-4)
    # Elsewhere the value of what follows is in it.
    assert buffer.returns[:-1][~ends[:-1]].min() > 2


def test_plain_evaluation_says_why_it_loses(recwarn):
    env = sb3.make_vec_env("kirche", 4, seed=1, num_houses=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, seed=1, device="cpu")
    with guarded():
        assert evaluate_policy(model, env, 4, deterministic=True)[0] > -1
        evaluate_policy(model, env, 4, deterministic=False)
    assert not [one for one in recwarn if "illegal" in str(one.message)]
    told: list[bool] = []

    def look(names: dict[str, Any], _: Any) -> None:
        if "episode" in names["info"]:
            told.append(names["info"]["illegal_action"])

    for _ in range(2):
        assert plain_evaluate_policy(model, env, 4, callback=look) == (-1, 0)
    assert told == [True] * 8
    messages = [str(one.message) for one in recwarn if "illegal" in str(one.message)]
    assert len(messages) == 1 and "MaskableEvalCallback" in messages[0]


@each_game
def test_learners_see_losses(name):
    env = sb3.make_vec_env(name, 16, seed=2, **DECISIVE.get(name, {}))
    env.reset()
    rng = np.random.default_rng(1)
    returns: list[float] = []
    while len(returns) < 150:
        _, rewards, dones, infos = env.step(random_actions(env.action_masks(), rng))
        assert not rewards[~dones].any()
        returns += [info["episode"]["r"] for info in infos if info]
    losses, wins = returns.count(-1), returns.count(1)
    # Random against random: neither side is much better.
    assert losses >= 20 and 0.3 < losses / (losses + wins) < 0.7


def test_seeds_make_trainings_alike():
    def play(env: Any) -> list[Any]:
        seen = [env.reset()]
        rng = np.random.default_rng(3)
        for _ in range(40):
            seen.append(env.step(random_actions(env.action_masks(), rng))[0])
        return seen

    first = play(sb3.make_vec_env("meeples", 4, seed=7))
    env = sb3.make_vec_env("meeples", 4)
    assert env.seed(7) == [7, 8, 9, 10]
    np.testing.assert_array_equal(play(env), first)
    assert not np.array_equal(play(env), first)  # a seed is for one reset
    unseeded = (sb3.make_vec_env("meeples", 4).reset() for _ in range(2))
    assert not np.array_equal(*unseeded)
    assert [set(info) for info in env.reset_infos] == [set(sb3.NUMBERS)] * 4


def test_attributes_and_methods_of_the_games():
    env = sb3.make_vec_env("kirche", 3, seed=1, num_houses=2, render_mode="ansi")
    env.reset()
    assert is_masking_supported(env)
    assert env.has_attr("options") and not env.has_attr("nonsense")
    assert env.render_mode == "ansi" and env.get_attr("render_mode", 1) == ["ansi"]
    assert env.get_attr("options", [0, 2]) == [{"num_houses": 2, "max_plies": 200}] * 2
    masks = env.action_masks()
    assert masks.shape == (3, 1323) and masks.dtype == np.bool_
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[2, 0]), masks[[2, 0]])
    np.testing.assert_array_equal(env.get_attr("action_masks")[1](), masks[1])
    assert len({env.env_method("render", indices=lane)[0] for lane in range(3)}) >= 1
    boards = env.env_method("to_aec", indices=[1])
    np.testing.assert_array_equal(boards[0].action_mask(), masks[1])
    env.set_attr("opponents", "greedy")
    assert env.get_attr("opponents") == ["greedy"] * 3
    with pytest.raises(ValueError, match="opponents is shared by all 3 games"):
        env.set_attr("opponents", "random", indices=[0, 1])
    assert env.env.opponents == "greedy"
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(VecNormalize, [0]) == [False]
    with pytest.warns(UserWarning, match="rgb_array"):
        assert env.get_images() == [None] * 3
    env.close()
    env.close()


def test_pictures_are_tiled():
    for package in ("svg", "resvg", "PIL"):
        pytest.importorskip(package, reason="pictures need the extra render")
    env = sb3.make_vec_env("kirche", 2, seed=1, render_mode="rgb_array")
    env.reset()
    one, two = env.get_images()
    assert one.dtype == np.uint8 and one.shape == two.shape and one.shape[2] == 3
    assert env.render().shape[0] >= one.shape[0]
    env.close()


def test_illegal_actions_lose_or_raise():
    env = sb3.make_vec_env("kirche", 2, seed=1)
    env.reset()
    actions = env.action_masks().argmax(axis=1)
    actions[1] = env.action_masks()[1].argmin()
    _, rewards, dones, infos = env.step(actions)
    assert rewards.tolist() == [0, -1] and dones.tolist() == [False, True]
    assert not infos[1]["TimeLimit.truncated"] and infos[1]["episode"]["r"] == -1
    assert infos[1]["illegal_action"]
    strict = sb3.make_vec_env("kirche", 2, seed=1, on_illegal="raise")
    strict.reset()
    with pytest.raises(ValueError, match=r"lane 1: action .* is illegal here"):
        strict.step(actions)


def test_impossible_arguments():
    with pytest.raises(ValueError, match="there is no game 'chess'"):
        sb3.make_vec_env("chess", 2)
    with pytest.raises(TypeError, match="kirche got an unexpected keyword argument 'houses'"):
        sb3.make_vec_env("kirche", 2, houses=3)
    with pytest.raises(ValueError, match="num_envs=0"):
        sb3.make_vec_env("kirche", 0)
    for wrong in ({}, {"autoreset_mode": AutoresetMode.SAME_STEP, "copy": False}):
        with pytest.raises(ValueError, match=r"needs autoreset_mode=AutoresetMode\.SAME_STEP"):
            sb3.TabletopVecEnv(TabletopVectorEnv("kirche", 2, **wrong))


def test_the_script_of_the_docstring(capsys):
    (script,) = scripts(sb3)
    with guarded() as guard:
        names = run_script(
            script,
            ("num_envs=64", "num_envs=8"),
            ("n_steps=128, batch_size=1024", "n_steps=16, batch_size=64"),
            ("100_000", "1_200"),
        )
    assert guard.actions >= 1_200
    model = names["model"]
    assert model.num_timesteps >= 1_200
    returns = {episode["r"] for episode in model.ep_info_buffer}
    assert -1.0 in returns  # losses are seen
    assert "ep_rew_mean" in capsys.readouterr().out


def test_a_trained_policy_beats_random_play(monkeypatch):
    # PyTorch's checks of 1323 probabilities take longer than learning from them.
    monkeypatch.setattr(Distribution, "_validate_args", False)
    env = sb3.make_vec_env("kirche", 64, seed=1, on_illegal="raise", num_houses=1)
    model = MaskablePPO(
        *("MlpPolicy", env),
        n_steps=64,
        batch_size=512,
        n_epochs=3,
        learning_rate=1e-3,
        gamma=0.98,
        seed=1,
        device="cpu",
    )
    model.learn(60_000)
    games = 400
    evaluation = sb3.make_vec_env("kirche", 50, seed=10_000, num_houses=1)
    returns, _ = evaluate_policy(
        model, evaluation, games, deterministic=False, return_episode_rewards=True
    )
    wins = np.mean(np.array(returns) == 1)
    # The lower end of the 95 % interval; draws count as not won.
    assert wins - 1.96 * np.sqrt(wins * (1 - wins) / games) > 0.5


def test_a_missing_stack_is_named():
    message = import_error_without("stable_baselines3", "tabletop_envs.adapters.sb3")
    assert "stable_baselines3" in message and 'pip install "tabletop-envs[sb3]"' in message
