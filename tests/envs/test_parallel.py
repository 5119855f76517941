"""The turn-based parallel environments, on every game."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence

from tabletop_envs import registry
from tests.envs.learners import random_callable
from tests.games import each_case, each_game, module


def make(name, **options):
    return module(name).parallel_env(**options)


@each_case
def test_it_plays_what_the_aec_environment_plays(name, options):
    env, aec = make(name, **options), module(name).env(**options)
    rng = np.random.default_rng(1)
    observations, infos = env.reset(seed=5)
    aec.reset(seed=5)
    agents = aec.possible_agents
    assert env.possible_agents == env.agents == agents
    over = False
    while not over:
        assert list(observations) == list(infos) == agents
        for agent in agents:
            shown, acts = aec.observe(agent), agent == aec.agent_selection
            assert np.array_equal(observations[agent]["observation"], shown["observation"])
            mask = observations[agent]["action_mask"]
            if acts:
                assert np.array_equal(mask, shown["action_mask"])
            else:
                assert mask.nonzero()[0].tolist() == [0]
            assert infos[agent] == {**aec.infos[agent], "to_act": int(acts)}
            assert env.observation_space(agent).contains(observations[agent])
        assert np.array_equal(env.state(), aec.state())
        actions = {
            agent: random_callable(None, observations[agent]["action_mask"], rng)
            for agent in agents
        }
        turn = aec.agent_selection
        assert env.agent_in_turn == turn
        aec.step(actions[turn])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert rewards == aec.rewards
        assert terminations == aec.terminations
        assert truncations == aec.truncations
        over = terminations["player_0"] or truncations["player_0"]
        assert env.agents == ([] if over else agents)
    assert all(observation["action_mask"].all() for observation in observations.values())
    assert [info["to_act"] for info in infos.values()] == [0] * len(agents)
    with pytest.raises(ResetNeeded):
        env.step(actions)


@each_game
def test_only_the_agent_in_turn_is_heard(name):
    env = make(name)
    with pytest.raises(ResetNeeded):
        env.step({"player_0": 0})
    observations, _ = env.reset(seed=1)
    legal = int(observations["player_0"]["action_mask"].argmax())
    before = env.aec_env.snapshot()
    with pytest.raises(ValueError, match="player_0"):
        env.step({"player_1": legal})
    with pytest.raises(TypeError, match="dict"):
        env.step([legal, legal])
    for impossible in (None, 2.5, -1, 10**6):
        with pytest.raises(ValueError, match="action"):
            env.step({"player_0": impossible, "player_1": legal})
    assert env.aec_env.snapshot() == before
    twin = copy.deepcopy(env)
    first = env.step({"player_0": legal, "player_1": "nonsense"})
    assert data_equivalence(first, twin.step({"player_0": legal}), exact=True)


@each_game
def test_an_illegal_action_ends_the_game_for_all_or_raises(name):
    env = make(name)
    observations, _ = env.reset(seed=1)
    illegal = int(observations["player_0"]["action_mask"].argmin())
    _, rewards, terminations, truncations, _ = env.step({"player_0": illegal})
    assert rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(terminations.values()) and not any(truncations.values())
    assert env.agents == []
    env.reset()
    assert env.agents == env.possible_agents
    env = make(name, on_illegal="raise")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="illegal"):
        env.step({"player_0": illegal})


@each_game
def test_the_mask_may_be_in_info_and_the_key_another(name):
    env = make(name, mask_in="info")
    observations, infos = env.reset(seed=1)
    assert isinstance(observations["player_0"], np.ndarray)
    assert infos["player_0"]["action_mask"].sum() > 1
    assert infos["player_1"]["action_mask"].nonzero()[0].tolist() == [0]
    observations, _ = make(name, obs_key="observations").reset(seed=1)
    assert set(observations["player_0"]) == {"observations", "action_mask"}


@each_game
def test_arrays_are_fresh_and_spaces_the_same_objects(name):
    env = make(name)
    observations, infos = env.reset(seed=1)
    kept = copy.deepcopy((observations, infos))
    actions = {agent: int(o["action_mask"].argmax()) for agent, o in observations.items()}
    env.step(actions)
    assert data_equivalence(kept, (observations, infos), exact=True)
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 1
    assert set(env.observation_spaces) == set(env.action_spaces) == set(env.possible_agents)
    assert env.state_space.contains(env.state())


@each_game
def test_copies_play_on_identically(name):
    env, rng = make(name), np.random.default_rng(0)
    observations, _ = env.reset(seed=1)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(8):
        mask = observations[env.agent_in_turn]["action_mask"]
        actions = {env.agent_in_turn: random_callable(None, mask, rng)}
        step = env.step(actions)
        for twin in twins:
            assert data_equivalence(twin.step(actions), step, exact=True)
        observations = step[0]


@each_game
def test_it_draws_and_closes(name):
    env = make(name, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.aec_env.render()
    assert env.metadata["is_parallelizable"]
    assert str(env) == registry.module_name(name)
    env.close()
    env.close()
