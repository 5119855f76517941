"""RLlib's new API stack trains on the games by `adapters.rllib`, all in one process."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed: the extra rllib")
import ray
from gymnasium import error
from gymnasium.spaces import Discrete
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.learner import general_advantage_estimation
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from tabletop_envs.adapters import rllib
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.registry import get_game
from tests.adapters.common import (
    DECISIVE,
    ENDING,
    guarded,
    import_error_without,
    run_script,
    scripts,
)
from tests.games import GAMES, each_case, each_game


@pytest.fixture(scope="module", autouse=True)
def _ray():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def legal(observation: Any, rng: np.random.Generator) -> int:
    """A random legal action."""
    return int(rng.choice(observation["action_mask"].nonzero()[0]))


@each_case
def test_multi_agent_games_are_those_of_the_aec_environment(name, options):
    env = rllib.TabletopMultiAgentEnv(name, **options)
    aec = TabletopEnv(get_game(name), **options)
    check_multiagent_environments(env)
    rng = np.random.default_rng(1)
    observations, infos = env.reset(seed=3)
    aec.reset(seed=3)
    over = False
    while not over:
        (agent,) = observations
        assert agent == aec.agent_selection
        assert infos == {agent: {**aec.infos[agent], "illegal_action": False}}
        seen = observations[agent]
        assert env.get_observation_space(agent).contains(seen)
        np.testing.assert_array_equal(seen["observations"], aec.observe(agent)["observation"])
        np.testing.assert_array_equal(seen["action_mask"], aec.action_mask())
        action = legal(seen, rng)
        observations, rewards, terminated, truncated, infos = env.step({agent: action})
        aec.step(action)
        over = terminated["__all__"] or truncated["__all__"]
        if not over:
            assert rewards == {aec.agent_selection: 0.0}
            assert terminated == truncated == {aec.agent_selection: False, "__all__": False}
    assert rewards == aec.rewards and set(observations) == set(infos) == set(aec.possible_agents)
    assert terminated == {**aec.terminations, "__all__": terminated["__all__"]}
    assert truncated == {**aec.truncations, "__all__": truncated["__all__"]}
    assert terminated["__all__"] and not truncated["__all__"]
    assert not any(info["illegal_action"] for info in infos.values())


def test_multi_agent_samples_are_legal_and_copies_plain():
    env = rllib.TabletopMultiAgentEnv("kirche", on_illegal="raise")
    (agent,) = env.reset(seed=1)[0]
    space = env.get_action_space(agent)
    for _ in range(30):
        (agent,) = env.step({agent: space.sample()})[0]
    twin = copy.deepcopy(space)
    assert type(twin) is Discrete and twin == pickle.loads(pickle.dumps(space)) == space
    with pytest.raises(ValueError, match="there is no agent 'player_7'"):
        env.get_action_space("player_7")


def test_multi_agent_actions_of_others_are_refused():
    env = rllib.TabletopMultiAgentEnv("kirche")
    with pytest.raises(error.ResetNeeded):
        env.step({"player_0": 0})
    env.reset(seed=1)
    for wrong in ({}, {"player_1": 0}, {"player_0": 0, "player_1": 0}):
        with pytest.raises(ValueError, match="player_0 alone is to move"):
            env.step(wrong)
    assert env.env.infos["player_0"]["ply"] == 0


def test_multi_agent_illegal_actions_lose():
    env = rllib.TabletopMultiAgentEnv("tuerme", num_players=3)
    observations, _ = env.reset(seed=1)
    with pytest.warns(UserWarning, match="masked_module"):
        _, rewards, terminated, truncated, infos = env.step(
            {"player_0": int(observations["player_0"]["action_mask"].argmin())}
        )
    assert rewards == {"player_0": -1.0, "player_1": 0.5, "player_2": 0.5}
    assert terminated["__all__"] and not truncated["__all__"]
    assert [info["illegal_action"] for info in infos.values()] == [True, False, False]


@each_case
def test_single_environments_have_their_mask_in_the_observation(name, options):
    env = rllib.env_creator(name, **options)({})
    vector = rllib.env_creator(name, **options)({"num_envs": 2})
    plain = TabletopGymEnv(name, **options)
    rng = np.random.default_rng(1)
    seen, info = env.reset(seed=4)
    both, _ = vector.reset(seed=4)
    observation, expected = plain.reset(seed=4)
    for _ in range(40):
        assert env.observation_space.contains(seen)
        assert vector.observation_space.contains(both)
        np.testing.assert_array_equal(seen["observations"], observation)
        np.testing.assert_array_equal(seen["action_mask"], expected.pop("action_mask"))
        assert info == expected
        for key in ("observations", "action_mask"):
            np.testing.assert_array_equal(both[key][0], seen[key])
        action = legal(seen, rng)
        other = legal({"action_mask": both["action_mask"][1]}, rng)
        seen, reward, terminated, truncated, info = env.step(action)
        both, rewards, *_ = vector.step(np.array([action, other]))
        observation, *rest, expected = plain.step(action)
        assert [reward, terminated, truncated] == rest and rewards[0] == reward
        if terminated or truncated:
            break


@pytest.mark.parametrize("environments", [{}, {"num_envs": 2}])
def test_illegal_actions_of_one_learner_are_warned_of(environments):
    env = rllib.env_creator("kirche")(environments)
    seen, info = env.reset(seed=1)
    assert not np.any(info["illegal_action"])
    with pytest.warns(UserWarning, match="masked_module"):
        _, rewards, *_, info = env.step(seen["action_mask"].argmin(axis=-1))
    assert np.all(info["illegal_action"]) and np.all(rewards == -1)


def test_the_environment_config_goes_first():
    create = rllib.env_creator("kirche", seat=0, num_houses=3)
    assert create({}).unwrapped.options["num_houses"] == 3
    assert create({"num_houses": 2}).unwrapped.options["num_houses"] == 2
    assert create({"num_houses": 2, "num_envs": 5}).num_envs == 5
    assert rllib.multi_agent_env_creator("tuerme")({"num_players": 4}).possible_agents[-1] == (
        "player_3"
    )


def test_faults_show_when_registering():
    with pytest.raises(ValueError, match="there is no game 'chess'"):
        rllib.register("chess")
    with pytest.raises(TypeError, match="kirche got an unexpected keyword argument 'houses'"):
        rllib.register("kirche", houses=3)
    with pytest.raises(ValueError, match="num_players"):
        rllib.register("tuerme", multi_agent=True, num_players=9)
    assert rllib.register("kirche") == "tabletop_envs/kirche-v0"
    assert rllib.register("kirche", name="mine", multi_agent=True) == "mine"


def config_of(name: str, multi_agent: bool, mode: str, **options: Any) -> PPOConfig:
    """A small configuration in one process; illegal actions raise."""
    options = {"on_illegal": "raise", **DECISIVE.get(name, {}), **options}
    config = (
        PPOConfig()
        .environment(rllib.register(name, multi_agent=multi_agent, **options))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4, gym_env_vectorize_mode=mode)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1)
        .debugging(seed=1)
    )
    if multi_agent:
        config = config.multi_agent(
            policies={"shared"}, policy_mapping_fn=lambda agent, *_, **__: "shared"
        )
    policies = ["shared"] if multi_agent else []
    return config.rl_module(rl_module_spec=rllib.masked_module(*policies, fcnet_hiddens=[16]))


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, "vector_entry_point") for name in GAMES), ("kirche", "sync")]
)
def test_one_learner_acts_legally_and_sees_losses(name, mode):
    runner = SingleAgentEnvRunner(config=config_of(name, False, mode))
    with guarded() as guard:
        episodes = runner.sample(num_episodes=12)
        runner.sample(num_timesteps=40, explore=False)
        if mode == "vector_entry_point":
            other = SingleAgentEnvRunner(config=config_of(name, False, mode))
            other.sample(num_timesteps=40, random_actions=True)
    assert guard.actions >= 24
    returns = [episode.get_return() for episode in episodes]
    assert set(returns) <= {-1.0, 0.0, 1.0} and -1.0 in returns
    for episode in episodes:
        # The next game's start is no step of this one.
        assert episode.is_terminated and not episode.is_truncated
        assert episode.get_rewards()[-1] == episode.get_return()


@each_game
def test_all_players_act_legally_and_see_losses(name):
    runner = MultiAgentEnvRunner(config=config_of(name, True, "sync"))
    with guarded() as guard:
        episodes = runner.sample(num_episodes=5)
        runner.sample(num_timesteps=40, random_actions=True)
    assert guard.actions >= 24
    losses = 0
    for episode in episodes:
        returns = {agent: one.get_return() for agent, one in episode.agent_episodes.items()}
        assert sum(returns.values()) == pytest.approx(0)
        losses += sum(value == -1 for value in returns.values())
        assert all(one.is_done for one in episode.agent_episodes.values())
    assert losses


@pytest.mark.parametrize("multi_agent", [False, True])
@pytest.mark.parametrize(("name", "options"), ENDING)
def test_value_targets_have_results_and_nothing_beyond_them(
    name, options, multi_agent, monkeypatch
):
    targets_of, found = general_advantage_estimation.compute_value_targets, []

    def looked_at(*, values: Any, rewards: Any, terminateds: Any, **others: Any) -> Any:
        # Values far above any result: what is bootstrapped shows.
        values = np.full_like(values, 100)
        targets = targets_of(values=values, rewards=rewards, terminateds=terminateds, **others)
        found.append((rewards, terminateds.astype(bool), targets))
        return targets

    monkeypatch.setattr(general_advantage_estimation, "compute_value_targets", looked_at)
    mode = "sync" if multi_agent else "vector_entry_point"
    config = config_of(name, multi_agent, mode, **options)
    algorithm = config.training(train_batch_size_per_learner=800, lambda_=0.5).build_algo()
    with guarded():
        algorithm.train()
    algorithm.stop()
    ((rewards, ends, targets),) = found
    assert ends.sum() >= 4 and np.abs(rewards).max() <= 1
    assert not rewards[~ends].any() and rewards.min() < 0
    np.testing.assert_allclose(targets[ends], rewards[ends], atol=1e-4)
    # Elsewhere the value of what follows is in it (but in the steps that RLlib adds at an end).
    assert np.median(targets[~ends]) > 2


def test_players_own_views_follow_each_other():
    runner = MultiAgentEnvRunner(config=config_of("kirche", True, "sync", max_plies=60))
    (episode,) = runner.sample(num_episodes=1)
    aec = TabletopEnv(get_game("kirche"), obs_key="observations", num_houses=1, max_plies=60)
    aec.reset()
    steps = dict.fromkeys(aec.possible_agents, 0)
    while aec.agents:
        agent = aec.agent_selection
        own, step = episode.agent_episodes[agent], steps[agent]
        if aec.terminations[agent]:
            aec.step(None)
            assert step == len(own)
        else:
            aec_view = own.get_observations(step)
            for key, view in aec.observe(agent).items():
                np.testing.assert_array_equal(aec_view[key], view)
            aec.step(int(own.get_actions(step)))
            steps[agent] += 1


@pytest.mark.parametrize("place", [0, 1])
def test_the_scripts_of_the_docstring(place):
    chosen = scripts(rllib)
    imports = "\n".join(chosen[0].splitlines()[:2]) + "\n"
    loop = "algorithm = config" + chosen[0].split("algorithm = config")[1]
    script = chosen[0] if place == 0 else imports + chosen[1] + loop
    with guarded() as guard:
        algorithm = run_script(script)["algorithm"]
    assert guard.actions >= 10 * 1_024
    # Ten iterations of some thousand steps are what a reader waits for: few and small enough for
    # seconds.
    config = algorithm.config
    updates = config.num_epochs * config.train_batch_size_per_learner / config.minibatch_size
    assert updates <= 20 and config.train_batch_size_per_learner <= 2_048
    results = algorithm.train()
    module = "shared" if place else "default_policy"
    learned = results["learners"][module]
    assert np.isfinite(learned["total_loss"])
    # The entropy of masked play: far below that of all 1323 actions.
    assert 0 < learned["entropy"] < 5
    algorithm.stop()


def test_a_missing_stack_is_named():
    message = import_error_without("ray", "tabletop_envs.adapters.rllib")
    assert "ray" in message and 'pip install "tabletop-envs[rllib]"' in message
