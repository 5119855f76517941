"""PufferLib: the native environment alone, beside ours, in PufferLib's vectors and trainer."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if importlib.util.find_spec("pufferlib") is None:
    # No extra can bring it beside this library's own needs, so no step of .ci/run has it.
    pytest.skip("PufferLib is not installed: docs/stacks.md tells how", allow_module_level=True)

# Its import leaves a link in the current folder.
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    import pufferlib
    import pufferlib.pufferl
    import pufferlib.pytorch
    import pufferlib.vector

import torch

from tabletop_envs.adapters import pufferlib as adapter
from tabletop_envs.adapters.pufferlib import TabletopEnv, split, train_config
from tabletop_envs.envs.vector import TabletopVectorEnv
from tests.adapters.common import ENDING, guarded, import_error_without, run_script, scripts
from tests.games import each_case, each_game

MaskedPolicy = run_script(scripts(adapter)[0])["MaskedPolicy"]


def first_legal(env: TabletopEnv) -> Any:
    return env.action_mask.argmax(1).astype(np.int32)


# The contract


@each_case
def test_buffers_hold_what_the_spaces_say(name, options):
    env = TabletopEnv(name, 3, seed=1, **{**options, "max_plies": 40})
    buffers = {
        key: getattr(env, key)
        for key in ("observations", "rewards", "terminals", "truncations", "masks")
    }
    observations, infos = env.reset(seed=2)
    assert infos == []
    ends, rng = 0, np.random.default_rng(1)
    with guarded() as guard:
        for _ in range(60):
            assert observations is buffers["observations"]
            assert all(row in env.single_observation_space for row in observations)
            seen, mask = split(observations, env.single_action_space.n)
            assert seen.shape[1] == env.observation_size
            assert mask.any(1).all()
            np.testing.assert_array_equal(mask, env.action_mask)
            actions = [rng.choice(np.flatnonzero(row)) for row in mask]
            observations, rewards, terminals, truncations, infos = env.step(np.array(actions))
            assert rewards is buffers["rewards"]
            assert terminals is buffers["terminals"]
            assert truncations is buffers["truncations"]
            assert buffers["masks"].all()
            over = terminals.copy()
            assert not truncations.any()
            assert bool(infos) is bool(over.any())
            if infos:
                assert infos[0]["episode_return"] == rewards[over].tolist()
                assert infos[0]["won"] == [float(reward > 0) for reward in rewards[over]]
                assert infos[0]["lost"] == [float(reward < 0) for reward in rewards[over]]
                lengths = np.array(infos[0]["episode_length"])
                assert (lengths >= 1).all() and (lengths <= 40).all()
                assert (np.array(infos[0]["by_limit"]) <= (lengths == 40)).all()
                assert not any(infos[0]["illegal_action"])
            assert not rewards[~over].any()
            ends += over.sum()
    assert guard.actions == 180
    assert ends >= 3


@each_case
def test_plays_the_games_of_the_vector_environment(name, options):
    """Lane for lane, games starting anew in the same step; lane i of seed s has the seed N * s + i."""
    options = {**options, "max_plies": min(options.get("max_plies", 70), 70)}
    env = TabletopEnv(name, 4, **options)
    vector = TabletopVectorEnv(name, 4, autoreset_mode="SameStep", **options)
    observations, _ = env.reset(seed=5)
    seen, info = vector.reset(seed=20)
    ends = 0
    for _ in range(90):
        own, mask = split(observations, env.single_action_space.n)
        np.testing.assert_array_equal(own, seen)
        np.testing.assert_array_equal(mask, info["action_mask"])
        actions = mask.argmax(1)
        observations, rewards, terminals, truncations, _ = env.step(actions)
        seen, *others, info = vector.step(actions)
        for array, other in zip((rewards, terminals, truncations), others, strict=True):
            np.testing.assert_array_equal(array, other.astype(array.dtype))
        ends += (terminals | truncations).sum()
    assert ends


@each_game
def test_seeds_are_exact(name):
    def play(env: TabletopEnv, seed: int | None) -> list[Any]:
        env.reset(seed)
        shown = []
        for _ in range(25):
            shown.append(env.observations.copy())
            env.step(first_legal(env))
        return shown

    first = play(TabletopEnv(name, 3), 4)
    used = TabletopEnv(name, 3, seed=9)
    play(used, None)
    for other in (play(used, 4), play(TabletopEnv(name, 3, seed=4), None)):
        np.testing.assert_array_equal(first, other)
    assert any((a != b).any() for a, b in zip(first, play(used, 5), strict=True))
    assert any((a != b).any() for a, b in zip(first, play(used, None), strict=True))


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_the_stack_s_vectors_give_every_environment_games_of_its_own(backend):
    arguments = {"env_args": ["meeples", 3], "env_kwargs": {"max_plies": 30}}
    workers = {"num_workers": 2} if backend == "Multiprocessing" else {}
    games = pufferlib.vector.make(TabletopEnv, **arguments, num_envs=2, backend=backend, **workers)
    try:
        shown, _ = games.reset(seed=7)
        assert shown.shape[0] == 6
        assert len({row.tobytes() for row in shown}) == 6
        alone = [TabletopEnv("meeples", 3, max_plies=30) for _ in range(2)]
        for place, env in enumerate(alone):
            env.reset(seed=7 + place)
        for _ in range(35):
            np.testing.assert_array_equal(
                shown, np.concatenate([env.observations for env in alone])
            )
            actions = np.concatenate([first_legal(env) for env in alone])
            shown, rewards, terminals, truncations, _ = games.step(actions)
            for env, part in zip(alone, np.split(actions, 2), strict=True):
                env.step(part)
            for array, key in (
                (rewards, "rewards"),
                (terminals, "terminals"),
                (truncations, "truncations"),
            ):
                np.testing.assert_array_equal(
                    array, np.concatenate([getattr(env, key) for env in alone])
                )
    finally:
        games.close()


# What is not allowed


@pytest.mark.parametrize("action", [1, -1, 99999])
def test_an_illegal_action_raises_and_changes_nothing(action):
    env = TabletopEnv("kirche", 2, seed=1, on_illegal="raise")
    env.reset()
    before, actions = env.observations.copy(), first_legal(env)
    good = actions.copy()
    actions[1] = action
    with pytest.raises(ValueError, match=rf"lane 1: action {action}.*illegal"):
        env.step(actions)
    np.testing.assert_array_equal(env.observations, before)
    env.step(good)


def test_an_illegal_action_may_lose():
    env = TabletopEnv("kirche", 2, seed=1)
    env.reset()
    actions = first_legal(env)
    actions[1] = 1
    with pytest.warns(UserWarning, match="illegal_action.*split"):
        _, rewards, terminals, _, (info,) = env.step(actions)
    assert rewards.tolist() == [0.0, -1.0]
    assert terminals.tolist() == [False, True]
    assert info["lost"] == info["illegal_action"] == [1.0]


@pytest.mark.parametrize(
    ("actions", "error", "words"),
    [
        ([0.0, 1.0], TypeError, "float64"),
        ([[0], [1]], ValueError, "(2, 1)"),
        ([0], ValueError, "(1,)"),
    ],
)
def test_impossible_actions_are_named(actions, error, words):
    env = TabletopEnv("kirche", 2, seed=1)
    env.reset()
    with pytest.raises(error) as caught:
        env.step(np.array(actions))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"num_envs": 0}, ValueError, "num_envs=0"),
        ({"opponents": "nobody"}, ValueError, "nobody"),
        ({"on_illegal": "ignore"}, ValueError, "on_illegal='ignore'"),
        ({"seat": 2}, ValueError, "seat=2"),
        ({"seed": -1}, ValueError, "seed=-1"),
        ({"colour": 3}, TypeError, "colour"),
    ],
)
def test_impossible_arguments_are_named(arguments, error, words):
    with pytest.raises(error) as caught:
        TabletopEnv("kirche", **arguments)
    assert words in str(caught.value)


def test_unknown_settings_are_named():
    assert train_config(gamma=0.5)["gamma"] == 0.5
    assert train_config()["device"] == "cpu"
    with pytest.raises(TypeError, match="'speed'"):
        train_config(speed=3)


def test_absent_package_names_the_extra():
    message = import_error_without("pufferlib", "tabletop_envs.adapters.pufferlib")
    assert "tabletop-envs[pufferlib]" in message
    assert "pip install --no-deps" in message


@each_game
def test_renders_the_first_game_and_closes_twice(name):
    env = TabletopEnv(name, 2, seed=1)
    env.reset()
    assert env.render().count("\n") > 5
    env.close()
    env.close()


# Training


@each_game
def test_the_policy_gives_illegal_actions_no_probability(name):
    torch.manual_seed(1)
    env = TabletopEnv(name, 4, seed=1)
    policy = MaskedPolicy(env)
    env.reset()
    with guarded() as guard:
        for _ in range(20):
            logits, value = policy.forward_eval(torch.as_tensor(env.observations))
            assert value.shape == (4, 1)
            np.testing.assert_array_equal(logits.isfinite(), env.action_mask)
            actions, logprob, entropy = pufferlib.pytorch.sample_logits(logits)
            assert logprob.isfinite().all()
            assert entropy.isfinite().all()
            env.step(actions.numpy())
    assert guard.actions == 80


@pytest.mark.parametrize(("name", "options"), ENDING)
def test_the_trainer_sees_every_end_and_nothing_beyond_it(name, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    games = pufferlib.vector.make(
        TabletopEnv, env_args=[name, 8], env_kwargs={"on_illegal": "raise", **options}
    )
    policy = MaskedPolicy(games.driver_env)
    # Values far above any result: what is bootstrapped shows.
    policy.critic.weight.data.zero_()
    policy.critic.bias.data.fill_(100)
    horizon = 64 if "max_plies" in options else 256
    sizes = dict.fromkeys(
        ("total_timesteps", "batch_size", "minibatch_size", "max_minibatch_size"), 8 * horizon
    )
    config = train_config(bptt_horizon=horizon, **sizes)
    trainer = pufferlib.pufferl.PuffeRL(config, games, policy)
    with guarded():
        statistics = trainer.evaluate()
    # A row is a game's steps; PufferLib writes what a step gave beside what is seen after it.
    rewards, ends = trainer.rewards, trainer.terminals.bool()
    played = len(statistics["episode_return"])
    assert played - 8 <= int(ends.sum()) <= played and ends.any()
    assert any(statistics["by_limit"]) or "max_plies" not in options
    assert rewards.abs().max() <= 1 and rewards.min() < 0 and not rewards[~ends].any()
    advantages = pufferlib.pufferl.compute_puff_advantage(
        trainer.values,
        rewards,
        trainer.terminals,
        trainer.ratio,
        torch.zeros_like(rewards),
        config["gamma"],
        config["gae_lambda"],
        1.0,
        1.0,
    )
    returns = (advantages + trainer.values)[:, :-1]
    before = ends[:, 1:]
    torch.testing.assert_close(returns[before], rewards[:, 1:][before], atol=1e-4, rtol=0)
    assert returns[~before].min() > 2
    trainer.close()


def test_the_script_of_the_docstring_trains(tmp_path):
    """By PufferLib's trainer: no action is illegal; losses and wins are among its statistics."""
    script = scripts(adapter)[0]
    for long, short in (
        (
            '["kirche", 256], env_kwargs={"num_houses": 1}',
            '["meeples", 16], env_kwargs={"max_plies": 80}',
        ),
        ("total_timesteps=2_000_000", "total_timesteps=2_000, minibatch_size=512"),
        ("trainer.train()", "trainer.train(); print('STATISTICS', dict(trainer.last_stats))"),
    ):
        assert long in script
        script = script.replace(long, short)
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    paths = [str(Path(adapter.__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    run = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert list((tmp_path / "experiments").glob("**/*.pt"))
    statistics = [line for line in run.stdout.splitlines() if "STATISTICS" in line]
    assert len(statistics) == 2
    assert "'lost'" in statistics[-1] and "'illegal_action': 0.0" in statistics[-1].replace(
        "np.float64(0.0)", "0.0"
    )
