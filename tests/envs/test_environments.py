"""What ENVS.md says of every AEC environment, on every game."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

from tabletop_envs import registry
from tests.games import each_case, each_game, legal_actions, module, over, play, raw_env


def check_without_our_warnings(check: Any, *arguments: Any) -> None:
    """Run a check of PettingZoo's; only warnings about the kind of observation space are its own
    business.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(*arguments)
    allowed = ("probably should be gymnasium.spaces.box", "Observation is not a NumPy array")
    assert not [str(w.message) for w in caught if not any(a in str(w.message) for a in allowed)]


@each_case
def test_api_test_passes(name, options):
    check_without_our_warnings(api_test, module(name).env(**options))
    check_without_our_warnings(api_test, module(name).raw_env(**options))


@each_game
def test_api_test_passes_with_the_mask_in_info(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(module(name).env(mask_in="info"))
    assert not caught


@each_case
def test_seed_test_passes(name, options):
    check_without_our_warnings(seed_test, lambda: module(name).env(**options))


@each_game
def test_spaces_are_the_same_objects_for_all_agents(name):
    env = raw_env(name)
    spaces = {id(env.observation_space(agent)) for agent in env.possible_agents for _ in range(2)}
    actions = {id(env.action_space(agent)) for agent in env.possible_agents for _ in range(2)}
    assert len(spaces) == len(actions) == 1
    space = env.observation_space("player_0")
    assert isinstance(space, gymnasium.spaces.Dict)
    assert space["observation"].dtype == np.float32
    assert space["action_mask"].dtype == np.int8
    assert space["action_mask"].shape == (env.num_actions,)
    assert env.action_space("player_0") == gymnasium.spaces.Discrete(env.num_actions)


@each_case
def test_every_agent_observes_at_any_time_in_fresh_arrays(name, options):
    env = raw_env(name, **options)
    env.reset(seed=3)
    rng = random.Random(3)
    while True:
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            mask = observation["action_mask"]
            if over(env):
                assert mask.all()
            elif agent == env.agent_selection:
                assert 0 < mask.sum() < len(mask)
            else:
                assert not mask.any()
            # Writing into one must not be seen in the next.
            observation["observation"][:] = -1
            mask[:] = 1
            again = env.observe(agent)
            assert (again["observation"] >= env.observation_space(agent)["observation"].low).all()
        assert env.state_space.contains(env.state())
        if over(env):
            break
        play(env, rng.randrange, 1)
    while env.agents:
        env.step(None)
    assert all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents)


@each_game
def test_mask_in_info_gives_the_flat_observation_and_the_same_mask(name):
    plain, flat = raw_env(name), raw_env(name, mask_in="info")
    plain.reset(seed=5)
    flat.reset(seed=5)
    rng = random.Random(5)
    for _ in range(40):
        for agent in plain.agents:
            expected = plain.observe(agent)
            assert np.array_equal(flat.observe(agent), expected["observation"])
            assert np.array_equal(flat.infos[agent]["action_mask"], expected["action_mask"])
        legal = legal_actions(plain)
        action = legal[rng.randrange(len(legal))]
        plain.step(action)
        flat.step(action)


@each_game
def test_obs_key_renames_the_first_key(name):
    env = raw_env(name, obs_key="observations")
    env.reset(seed=1)
    assert set(env.observe("player_0")) == {"observations", "action_mask"}
    assert env.observation_space("player_0").contains(env.observe("player_0"))


@each_case
def test_rewards_come_once_at_the_end_and_sum_to_zero(name, options):
    env = raw_env(name, **options)
    env.reset(seed=8)
    rng = random.Random(8)
    while True:
        play(env, rng.randrange, 1)
        if over(env):
            break
        assert set(env.rewards.values()) == {0.0}
        assert not any(env._cumulative_rewards.values())
        assert set(env.rewards) == set(env.agents)
    assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-12)
    assert env._cumulative_rewards == env.rewards
    ended = [env.terminations, env.truncations]
    assert all(len(set(flags.values())) == 1 for flags in ended)
    assert all(type(flag) is bool for flags in ended for flag in flags.values())
    assert env.terminations["player_0"] and not env.truncations["player_0"]
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    for _ in range(env.num_agents):
        env.step(None)
    assert env.agents == []


@each_game
def test_infos_have_the_same_numeric_keys_from_reset_on(name):
    env = raw_env(name)
    env.reset(seed=2)
    for _ in range(30):
        for info in env.infos.values():
            assert set(info) == {"score", "ply"}
            assert all(type(value) is int for value in info.values())
        play(env, lambda n: n // 2, 1)
    assert env.infos["player_0"]["ply"] == 30


@each_game
@pytest.mark.parametrize("action", [-1, 10**6, 3.5, None, "0", np.float64(0), [0], True, np.True_])
@pytest.mark.parametrize("constructor", ["env", "raw_env"])
def test_what_is_no_action_raises_and_changes_nothing(name, constructor, action):
    env = getattr(module(name), constructor)()
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(ValueError, match="action"):
        env.step(action)
    assert env.snapshot() == before
    assert env.agents
    assert not over(env)


@each_game
def test_the_first_number_outside_the_action_space_is_refused(name):
    env = raw_env(name)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=str(env.num_actions)):
        env.step(env.num_actions)


@each_case
def test_illegal_actions_raise_and_leave_the_state_untouched(name, options):
    env = raw_env(name, **options)
    env.reset(seed=4)
    rng = random.Random(4)
    for _ in range(30):
        if over(env):
            break
        before = env.snapshot()
        mask = env.action_mask()
        for action in rng.sample([a for a in range(env.num_actions) if not mask[a]], 5):
            with pytest.raises(ValueError, match="illegal") as caught:
                env.step(action)
            assert str(action) in str(caught.value)
            assert env.action_to_str(action) in str(caught.value)
        assert env.snapshot() == before
        play(env, rng.randrange, 1)


@each_case
def test_illegal_actions_lose(name, options):
    env = module(name).env(**options)
    env.reset(seed=4)
    play(env, lambda n: 0, 7)
    if over(env):
        env.reset(seed=4)
    offender = env.agent_selection
    mask = env.action_mask()
    env.step(int(np.flatnonzero(mask == 0)[0]))
    others = len(env.possible_agents) - 1
    assert env.rewards == {
        agent: -1.0 if agent == offender else 1 / others for agent in env.possible_agents
    }
    assert env._cumulative_rewards == env.rewards
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    snapshot = env.snapshot()
    assert env.possible_agents[snapshot["to_move"]] == offender
    assert snapshot["outcome"]["rewards"] == list(env.rewards.values())
    assert all(env.observe(agent)["action_mask"].all() for agent in env.possible_agents)
    for agent in env.possible_agents:
        parts = env.split_observation(env.observe(agent)["observation"])
        assert not parts["to_move"].any()
    again = raw_env(name, **options)
    again.restore(snapshot)
    assert again.snapshot() == snapshot
    assert again.rewards == env.rewards
    while env.agents:
        env.step(None)
    env.reset(seed=4)
    assert not over(env)


@each_game
def test_a_loss_by_an_illegal_action_is_forgotten_at_the_next_reset(name):
    env, fresh = module(name).env(), module(name).env()
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.action_mask() == 0)[0]))
    env.reset(seed=2)
    fresh.reset(seed=2)
    assert env.snapshot() == fresh.snapshot()
    assert np.array_equal(env.state(), fresh.state())


@each_game
def test_nothing_can_be_played_before_the_first_reset(name):
    env = raw_env(name)
    for call in (
        lambda: env.step(0),
        lambda: env.observe("player_0"),
        lambda: env.state(),
        lambda: env.snapshot(),
    ):
        with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
            call()


@each_game
def test_an_unknown_agent_is_named(name):
    env = raw_env(name)
    env.reset(seed=1)
    for call in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(ValueError, match="player_9"):
            call("player_9")


@each_game
@pytest.mark.parametrize("constructor", ["env", "raw_env"])
def test_unknown_and_impossible_options_are_named(name, constructor):
    make = getattr(module(name), constructor)
    for options, error in (
        ({"colour": 3}, TypeError),
        ({"max_plies": 0}, ValueError),
        ({"max_plies": -1}, ValueError),
        ({"max_plies": 2.0}, TypeError),
        ({"max_plies": True}, TypeError),
        ({"max_plies": None}, TypeError),
        ({"render_mode": "svg"}, ValueError),
        ({"mask_in": "obs"}, ValueError),
        ({"obs_key": "action_mask"}, ValueError),
        ({"on_illegal": "ignore"}, ValueError),
    ):
        (option, value), *_ = options.items()
        with pytest.raises(error) as caught:
            make(**options)
        assert option in str(caught.value)
        assert repr(value) in str(caught.value)
    for option in module(name).GAME.options:
        wrong = "yes" if isinstance(option.default, bool) else option.maximum + 1
        with pytest.raises((TypeError, ValueError), match=option.name):
            make(**{option.name: wrong})


@each_game
@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1"])
def test_impossible_seeds_are_refused_and_change_nothing(name, seed):
    env = raw_env(name)
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises((TypeError, ValueError), match="seed"):
        env.reset(seed=seed)
    assert env.snapshot() == before


@each_game
def test_reset_without_a_seed_goes_on_with_the_stream(name):
    first, second = raw_env(name), raw_env(name)
    states = []
    for env in (first, second):
        env.reset(seed=6)
        play(env, lambda n: n - 1, 5)
        env.reset()
        states.append(env.snapshot())
        env.reset()
        states.append(env.snapshot())
    assert states[:2] == states[2:]
    if first.game.name != "kirche":
        assert states[0] != states[1]


@each_game
def test_two_environments_share_no_randomness(name):
    if name == "kirche":
        pytest.skip("kirche has no chance")
    alone, left, right = raw_env(name), raw_env(name), raw_env(name)
    alone.reset(seed=1)
    left.reset(seed=1)
    right.reset(seed=2)
    for env in (alone, left):
        play(env, lambda n: n // 2, 10)
        right.reset()
    alone.reset()
    left.reset()
    assert alone.snapshot() == left.snapshot()
    unseeded = [raw_env(name), raw_env(name)]
    for env in unseeded:
        env.reset()
    assert unseeded[0].snapshot() != unseeded[1].snapshot()


@each_case
def test_action_names_are_readable_and_different_and_lead_back(name, options):
    env = raw_env(name, **options)
    env.reset(seed=9)
    rng = random.Random(9)
    while not over(env):
        legal = legal_actions(env)
        names = {env.action_to_str(action): action for action in legal}
        assert len(names) == len(legal)
        text = rng.choice(list(names))
        assert text.isprintable()
        assert env.str_to_action(text) == names[text]
        env.step(names[text])
    env.reset(seed=9)
    with pytest.raises(ValueError, match="no legal action"):
        env.str_to_action("castle")
    with pytest.raises(ValueError, match="outside"):
        env.action_to_str(-1)
    for action in range(env.num_actions):
        assert env.action_to_str(action)


@each_case
def test_ansi_rendering_at_every_step(name, options):
    env = raw_env(name, render_mode="ansi", **options)
    env.reset(seed=9)
    drawings = {env.render()}
    while not over(env):
        play(env, lambda n: n // 3, 1)
        drawing = env.render()
        assert isinstance(drawing, str)
        assert f"ply {env.snapshot()['ply']}" in drawing
        drawings.add(drawing)
    assert len(drawings) == env.snapshot()["ply"] + 1


@each_game
def test_rendering_for_an_agent_and_in_colour(name):
    env = raw_env(name, render_mode="ansi")
    env.reset(seed=9)
    play(env, lambda n: n // 3, 20)
    assert "\x1b" not in env.render()
    coloured = env.render(colour=True)
    assert "\x1b[" in coloured
    for agent in env.possible_agents:
        seen = env.render(viewer=agent)
        assert (seen == env.render()) == (name != "meeples")
    with pytest.raises(ValueError, match="player_9"):
        env.render(viewer="player_9")


@each_game
def test_render_without_a_mode_warns(name):
    env = raw_env(name)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@each_game
def test_close_twice_is_fine(name):
    env = raw_env(name)
    env.reset(seed=1)
    env.close()
    env.close()


@each_game
def test_attributes_are_writable(name):
    env = raw_env(name)
    env.reset(seed=1)
    for attribute in (
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "_cumulative_rewards",
        "agent_selection",
    ):
        setattr(env, attribute, getattr(env, attribute))


@each_game
def test_observation_parts_cover_the_observation(name):
    game = module(name)
    env = raw_env(name)
    env.reset(seed=1)
    flat = env.observe("player_0")["observation"]
    stop = 0
    for part, (place, shape) in game.OBSERVATION.items():
        assert place.start == stop, part
        assert place.stop - place.start == np.prod(shape)
        stop = place.stop
    assert stop == flat.size
    for array, lead in ((flat, ()), (np.stack([flat] * 3), (3,))):
        for part, view in game.split_observation(array).items():
            assert view.shape == lead + game.OBSERVATION[part].shape
            assert np.shares_memory(view, array)
    with pytest.raises(ValueError, match="numbers"):
        game.split_observation(flat[1:])


@each_game
def test_made_through_pettingzoo_s_registry(name):
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    env = pettingzoo.make("aec", registry.aec_id(name), max_plies=50)
    env.reset(seed=1)
    assert env.unwrapped.options["max_plies"] == 50


def test_import_is_light_and_compiles_nothing():
    code = (
        "import sys, tabletop_envs; "
        "heavy = {'numba', 'pygame', 'matplotlib', 'torch', 'rich', 'typer'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("identifier", ["chess-v0", "kirche-v1", "", "Kirche"])
def test_an_unknown_game_is_refused_with_the_known_ones(identifier):
    with pytest.raises(ValueError, match="kirche-v0"):
        registry.get_game(identifier)
