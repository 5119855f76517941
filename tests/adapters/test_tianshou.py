"""Tianshou trains on the batch engine: against opponents and in self-play, masks honoured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="Tianshou is not installed: the extra tianshou")
import torch
from gymnasium import error
from tianshou.algorithm import Algorithm
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net

from tabletop_envs.adapters import tianshou
from tabletop_envs.envs.gym import TabletopGymEnv
from tests.adapters.common import DECISIVE, guarded, import_error_without, run_script, scripts
from tests.games import each_case, each_game, legal_actions, raw_env


def choose(masks: Any, rng: np.random.Generator) -> Any:
    """A legal action for each row of masks."""
    return np.argmax(masks * rng.random(masks.shape), axis=1)


@each_case
def test_games_are_those_of_single_environments(name, options):
    env = tianshou.make_vector_env(name, 3, seed=5, **options)
    singles = [TabletopGymEnv(name, **options) for _ in range(3)]
    observation, infos = env.reset()
    rng = np.random.default_rng(1)
    for lane, single in enumerate(singles):
        seen, info = single.reset(seed=5 + lane)
        np.testing.assert_array_equal(observation.obs[lane], seen)
        np.testing.assert_array_equal(observation.mask[lane], info["action_mask"])
        assert observation.agent_id[lane] == f"player_{info['seat']}"
    assert observation.mask.dtype == np.bool_ and observation.obs.dtype == np.float32
    for turn in range(60):
        # As collectors do near their end: not all games go on, and in any order.
        ids = np.array([2, 0] if turn % 5 == 4 else [0, 1, 2])
        actions = choose(env.get_masks(ids), rng)
        observation, rewards, terminated, truncated, infos = env.step(actions, ids)
        for place, lane in enumerate(ids.tolist()):
            seen, *rest, info = singles[lane].step(actions[place])
            np.testing.assert_array_equal(observation.obs[place], seen)
            np.testing.assert_array_equal(observation.mask[place], info.pop("action_mask"))
            assert [rewards[place], terminated[place], truncated[place]] == rest
            assert infos[place] == {"env_id": lane, **info}
        over = ids[terminated | truncated]
        if over.size:
            observation, infos = env.reset(over)
            for place, lane in enumerate(over.tolist()):
                seen, info = singles[lane].reset()
                np.testing.assert_array_equal(observation.obs[place], seen)
                del info["action_mask"]
                assert infos[place] == {"env_id": lane, **info}


@each_case
def test_self_play_is_the_aec_environment(name, options):
    env = tianshou.make_vector_env(name, 2, "self", seed=3, on_illegal="raise", **options)
    aec = raw_env(name, **options)
    observation, _ = env.reset()
    aec.reset(seed=3)
    rng = np.random.default_rng(1)
    assert env.agents == aec.possible_agents
    assert env.agent_idx == {agent: place for place, agent in enumerate(env.agents)}
    over = False
    while not over:
        agent = aec.agent_selection
        assert observation.agent_id[0] == agent
        seen = aec.observe(agent)
        np.testing.assert_array_equal(observation.obs[0], seen["observation"])
        np.testing.assert_array_equal(observation.mask[0], seen["action_mask"])
        action = int(rng.choice(legal_actions(aec)))
        observation, rewards, terminated, truncated, _ = env.step(np.array([action]), [0])
        aec.step(action)
        assert rewards.shape == (1, len(env.agents))
        assert rewards[0].tolist() == pytest.approx(list(aec.rewards.values()))
        assert terminated[0] == aec.terminations[agent]
        assert truncated[0] == aec.truncations[agent]
        over = terminated[0] or truncated[0]
    assert observation.agent_id[0] == aec.agent_selection
    assert observation.mask[0].all()


def test_self_play_illegal_actions_lose():
    env = tianshou.make_vector_env("tuerme", 2, "self", seed=1, num_players=3)
    observation, _ = env.reset()
    env.step(observation.mask.argmax(axis=1))  # now the second player is in turn
    masks = env.get_masks()
    actions = np.array([masks[0].argmax(), masks[1].argmin()])
    observation, rewards, terminated, truncated, _ = env.step(actions)
    assert rewards.tolist() == [[0, 0, 0], [0.5, -1, 0.5]]
    assert terminated.tolist() == [False, True] and not truncated.any()
    assert observation.agent_id.tolist() == ["player_2", "player_1"]


@each_game
def test_random_collecting_is_legal_and_losses_are_seen(name):
    options = {"on_illegal": "raise", **DECISIVE.get(name, {})}
    env = tianshou.make_vector_env(name, 8, seed=1, **options)
    assert env.observation_space[0]["mask"].shape == (env.action_shape,)
    for space in env.action_space:
        space.seed(1)
    buffer = VectorReplayBuffer(8192, 8)
    collector = Collector(dqn(env), env, buffer, exploration_noise=True)
    collector.reset()
    with guarded() as guard:
        collector.collect(n_step=800, random=True)
        stats = collector.collect(n_episode=40, reset_before_collect=True)
    assert guard.actions > 800
    assert stats.returns.min() == -1 and set(stats.returns) <= {-1.0, 0.0, 1.0}
    assert (buffer.rew == -1).any()


def dqn(env: Any) -> DQN:
    """A small DQN, which explores half of the time."""
    net = Net(state_shape=env.state_shape, action_shape=env.action_shape, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(
        model=net, action_space=env.action_space[0], eps_training=0.5, eps_inference=0.5
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=20)


def train(algorithm: Algorithm, env: Any, on_policy: bool = False, buffer: Any = None) -> Any:
    """A short training; the rewards that were collected, step by step."""
    buffer = buffer or VectorReplayBuffer(4096, len(env))
    collector = Collector(algorithm, env, buffer, exploration_noise=not on_policy)
    rewards: list[Any] = []
    collector.set_on_step_hook(lambda _, batch: rewards.extend(batch.rew.tolist()))
    common = {"training_collector": collector, "max_epochs": 1, "epoch_num_steps": 1200}
    collector.reset()
    params = (
        OnPolicyTrainerParams(
            **common, collection_step_num_env_steps=400, update_step_num_repetitions=2
        )
        if on_policy
        else OffPolicyTrainerParams(
            **common,
            batch_size=64,
            collection_step_num_env_steps=80,
            update_step_num_gradient_steps_per_sample=0.05,
        )
    )
    algorithm.run_training(params)
    return np.array(rewards)


def test_ppo_with_the_docstrings_networks_trains():
    env = tianshou.make_vector_env("kirche", 8, seed=1, on_illegal="raise", num_houses=1)
    names = run_script(scripts(tianshou)[1], ("[128, 128]", "[16]"), env=env)
    before = names["actor"].state_dict()["model.model.0.weight"].clone()
    with guarded() as guard:
        rewards = train(names["algorithm"], env, on_policy=True)
    assert guard.actions >= 1200 and (rewards == -1).any()
    after = names["actor"].state_dict()["model.model.0.weight"]
    assert after.isfinite().all() and not torch.equal(before, after)


def test_self_play_trains():
    env = tianshou.make_vector_env("kirche", 8, "self", seed=1, on_illegal="raise", num_houses=1)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[dqn(env), dqn(env)], env=env)
    buffer = tianshou.SelfPlayReplayBuffer(4096, env)
    with guarded() as guard:
        rewards = train(algorithm, env, buffer=buffer)
    assert guard.actions >= 1200
    assert (rewards.min(axis=1) == -1).any() and not rewards.sum(axis=1).any()


def test_tianshous_random_policy_honours_the_mask():
    env = tianshou.make_vector_env("meeples", 8, seed=1, on_illegal="raise")
    policy = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space[0]).policy
    collector = Collector(policy, env, VectorReplayBuffer(2048, 8))
    collector.reset()
    with guarded():
        collector.collect(n_step=400)


def test_seeds_attributes_and_faults():
    env = tianshou.make_vector_env("kirche", 3, render_mode="ansi", num_houses=2)
    assert env.seed(7) == [[7], [8], [9]] and env.seed(None) == [None] * 3
    first = env.reset()[0].obs
    np.testing.assert_array_equal(env.reset(seed=[7, 8, 9])[0].obs, first)
    assert len(env) == 3 and env.get_env_attr("opponents", [0, 2]) == ["random"] * 2
    env.set_env_attr("opponents", "greedy")
    assert env.get_env_attr("opponents") == ["greedy"] * 3
    assert env.metadata[0]["render_modes"] and env.spec == [None] * 3
    for key, ids in (("opponents", [0, 1]), ("options", None)):
        with pytest.raises(ValueError, match="only 'opponents' can be set"):
            env.set_env_attr(key, "random", ids)
    assert len(env.render()) == 3 and "num_houses" not in env.render()[0]
    actions = choose(env.get_masks(), np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"must be integers of the shape \(3,\)"):
        env.step(actions[:2])
    with pytest.raises(ValueError, match="not from 0 to 1322"):
        env.step(actions + 5000)
    with pytest.raises(TypeError, match="must be integers"):
        env.step(actions + 0.5)
    for ids in ([3], [0, 0], [-1]):
        with pytest.raises(ValueError, match="not different ones from 0 to 2"):
            env.step(actions[: len(ids)], ids)
    with pytest.raises(ValueError, match="seed has 2 numbers"):
        env.seed([1, 2])
    wrong = env.get_masks()[1].argmin()
    _, rewards, terminated, _, _ = env.step(np.array([wrong]), [1])
    assert rewards.tolist() == [-1.0] and terminated.tolist() == [True]
    with pytest.raises(error.ResetNeeded, match="games \\[1\\] are over"):
        env.step(actions)
    with pytest.raises(ValueError, match="num_envs=0"):
        tianshou.make_vector_env("kirche", 0)
    with pytest.raises(TypeError, match="kirche got an unexpected keyword argument 'houses'"):
        tianshou.make_vector_env("kirche", 2, "self", houses=2)
    env.close()
    env.close()


def test_the_script_of_the_docstring():
    with guarded() as guard:
        names = run_script(
            scripts(tianshou)[0],
            ("max_epochs=5", "max_epochs=1"),
            ("epoch_num_steps=5_000", "epoch_num_steps=1_500"),
            ("batch_size=256", "batch_size=32"),
        )
    assert guard.actions >= 1_500
    assert (names["buffer"].rew == -1).any()


def test_a_missing_stack_is_named():
    message = import_error_without("tianshou", "tabletop_envs.adapters.tianshou")
    assert "tianshou" in message and 'pip install "tabletop-envs[tianshou]"' in message
