"""The Gymnasium environments: one learner against opponents, on every game."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence

from tabletop_envs import make_batch, registry
from tests.agents.custom_agents import write_mine
from tests.envs.learners import (
    LastLegal,
    Recorder,
    first_legal,
    illegal_action,
    legal_action,
    make,
    play_episode,
    random_callable,
)
from tests.games import each_case, each_game, raw_env


def test_an_id_with_a_module_needs_no_import():
    code = """
import gymnasium
env = gymnasium.make("tabletop_envs:tabletop_envs/Kirche-v0", num_houses=3)
assert env.unwrapped.options["num_houses"] == 3
assert env.spec.id == "tabletop_envs/Kirche-v0"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@each_game
def test_all_ids_mean_the_same_game(name):
    identifier = registry.gym_id(name)
    assert identifier == f"tabletop_envs/{name.capitalize()}-v0"
    assert make_batch(identifier, 1).game is make(name).game is registry.get_game(name)


@pytest.mark.parametrize("seat", range(4))
@each_case
def test_the_learner_sees_what_the_aec_environment_shows(name, options, seat):
    """Every action of learner and opponents played again in an AEC environment of the same seed."""
    log: list = []
    players = options.get("num_players", 2)
    if seat >= players:
        return
    opponents = [Recorder(log) for _ in range(players - 1)]
    env = make(name, opponents=opponents, seat=seat, **options)
    aec, rng = raw_env(name, **options), np.random.default_rng(seat)
    agent = f"player_{seat}"
    aec.reset(seed=seat)

    def follow_opponents():
        for opponent, observation, mask, action in log:
            player = int(aec.agent_selection.removeprefix("player_"))
            assert opponent is opponents[(player - seat - 1) % players]
            shown = aec.observe(aec.agent_selection)
            assert np.array_equal(observation, shown["observation"])
            assert observation.dtype == np.float32
            assert np.array_equal(mask, shown["action_mask"])
            assert mask.dtype == np.int8
            aec.step(action)
        log.clear()

    observation, info = env.reset(seed=seat)
    reward, terminated, truncated = 0.0, False, False
    for _ in range(10**6):
        follow_opponents()
        shown = aec.observe(agent)
        assert np.array_equal(observation, shown["observation"])
        assert np.array_equal(info["action_mask"], shown["action_mask"])
        assert {key: info[key] for key in ("score", "ply")} == aec.infos[agent]
        assert info["seat"] == seat
        assert info["by_limit"] is bool(terminated and aec.snapshot()["outcome"]["by_limit"])
        assert info["illegal_action"] is False
        assert all(type(info[key]) is int for key in ("score", "ply", "seat"))
        assert (reward, terminated, truncated) == (
            aec.rewards[agent],
            aec.terminations[agent],
            aec.truncations[agent],
        )
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        if terminated or truncated:
            break
        assert aec.agent_selection == agent
        action = legal_action(info, rng)
        aec.step(action)
        observation, reward, terminated, truncated, info = env.step(action)
    assert env.to_aec().snapshot() == aec.snapshot()


def test_losses_are_seen_and_as_many_as_wins():
    """Random play of tuerme against random play: the sum of rewards is zero up to chance."""
    env, rng = make("tuerme"), np.random.default_rng(1)
    rewards = []
    for game in range(40):
        _, info = env.reset(seed=1 if game == 0 else None)
        rewards.append(play_episode(env, info, rng)[-1][2])
    assert rewards.count(-1.0) >= 8
    assert rewards.count(1.0) >= 8


@each_case
def test_random_opponents_are_those_of_the_protocol(name, options):
    """Playing within the compiled loop draws what asking the agent draws."""
    from tabletop_envs.agents import RandomAgent

    class Asked(RandomAgent):
        """Not exactly a `RandomAgent`, so it is asked."""

    envs = [make(name, opponents=opponents, **options) for opponents in ("random", Asked())]
    starts = [env.reset(seed=3) for env in envs]
    steps = [
        play_episode(env, start[1], np.random.default_rng(0))
        for env, start in zip(envs, starts, strict=True)
    ]
    assert data_equivalence(*starts, exact=True)
    assert data_equivalence(*steps, exact=True)


@pytest.mark.parametrize("opponents", ["random", random_callable], ids=["random", "callable"])
@each_game
def test_a_seed_makes_everything_that_follows_reproducible(name, opponents):
    options = {"max_plies": 60}
    runs = []
    env = make(name, opponents=opponents, **options)
    for seed in (5, 5, 6):
        rng = np.random.default_rng(0)
        # The second game goes on with the streams.
        games = [play_episode(env, env.reset(seed=seed)[1], rng)]
        games.append(play_episode(env, env.reset()[1], rng))
        runs.append(games)
    other, rng = make(name, opponents=opponents, **options), np.random.default_rng(0)
    assert data_equivalence(runs[0][0], play_episode(other, other.reset(seed=5)[1], rng), True)
    assert data_equivalence(runs[0], runs[1], exact=True)
    assert not data_equivalence(runs[0], runs[2], exact=True)


@each_game
def test_without_a_seed_games_differ_and_can_be_played_again(name):
    # In kirche the opponent begins in one of eight ways: two games alone may well begin alike.
    envs = [make(name, seat=1) for _ in range(20)]
    starts = [env.reset() for env in envs]
    assert len({observation.tobytes() for observation, _ in starts}) > 1
    again = make(name, seat=1).reset(seed=envs[0].np_random_seed)
    assert data_equivalence(again, starts[0], exact=True)


@each_game
def test_the_seat_is_fixed_or_drawn(name):
    env = make(name, seat=1)
    assert {env.reset()[1]["seat"] for _ in range(20)} == {1}
    env = make(name, seat=None)
    env.reset(seed=1)
    seats = [env.reset()[1]["seat"] for _ in range(200)]
    assert 70 <= sum(seats) <= 130
    if name != "kirche":
        seats = [
            info["seat"]
            for env in [make(name, num_players=4)]
            for _, info in [env.reset(seed=seed) for seed in range(60)]
        ]
        assert set(seats) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"opponents": 7}, TypeError, "7"),
        ({"opponents": ["random"]}, ValueError, "opponents has 1 agents.*list of 2"),
        ({"opponents": ["random", "nobody"]}, ValueError, "nobody"),
        ({"seat": 3}, ValueError, "seat=3.*from 0 to 2"),
        ({"on_illegal": "resign"}, ValueError, "on_illegal='resign'.*'raise' or 'lose'"),
        ({"slides": True}, TypeError, "slides"),
    ],
    ids=str,
)
def test_impossible_arguments_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        make("tuerme", num_players=3, **arguments)


@each_game
def test_an_illegal_action_loses(name):
    env = make(name)
    _, info = env.reset(seed=2)
    observation, reward, terminated, truncated, info = env.step(illegal_action(info))
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["illegal_action"], info["by_limit"]) == (True, False)
    assert info["action_mask"].all()
    assert env.action_masks().all()
    assert env.observation_space.contains(observation)
    outcome = env.to_aec().snapshot()["outcome"]
    assert outcome["rewards"][info["seat"]] == -1.0
    assert sum(outcome["rewards"]) == 0.0
    with pytest.raises(ResetNeeded):
        env.step(0)
    _, info = env.reset()
    assert not info["action_mask"].all()
    # The next game is not lost, too.
    _, _, reward, *_ = play_episode(env, info, np.random.default_rng(0))[-1]
    assert env.to_aec().snapshot()["outcome"]["rewards"][info["seat"]] == reward


@each_game
def test_an_illegal_action_raises_if_asked_to_and_changes_nothing(name):
    env = make(name, on_illegal="raise")
    _, info = env.reset(seed=2)
    before, action = env.to_aec().snapshot(), illegal_action(info)
    with pytest.raises(ValueError, match=rf"action {action} \(.+\) of the learner is illegal"):
        env.step(action)
    assert env.to_aec().snapshot() == before
    env.step(legal_action(info, np.random.default_rng(0)))


@pytest.mark.parametrize("action", [None, 3.5, "1", [1], np.zeros(2, np.int64)], ids=str)
@pytest.mark.parametrize("on_illegal", ["lose", "raise"])
def test_what_is_no_action_raises_and_changes_nothing(action, on_illegal):
    env = make("kirche", on_illegal=on_illegal)
    env.reset(seed=2)
    before = env.to_aec().snapshot()
    for impossible in (action, -1, env.action_space.n, 2**70):
        with pytest.raises(ValueError, match="action"):
            env.step(impossible)
    assert env.to_aec().snapshot() == before


@each_game
def test_before_the_first_reset_there_is_nothing(name):
    env = make(name, render_mode="ansi")
    for use in (lambda: env.step(0), env.action_masks, env.to_aec, env.render):
        with pytest.raises(ResetNeeded):
            use()


@pytest.mark.parametrize("answer", [None, 0.5, -1, 10**6, 2**80, "illegal"], ids=str)
@each_game
def test_an_opponent_s_nonsense_raises_and_changes_nothing(name, answer):
    def foolish(observation, action_mask, rng):
        return int(np.flatnonzero(action_mask == 0)[0]) if answer == "illegal" else answer

    env = make(name, seat=0, max_plies=50)
    _, info = env.reset(seed=4)
    env.opponents = foolish
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"opponent '.*foolish'"):  # noqa: PT012
        while True:
            action, before = legal_action(info, rng), env.to_aec().snapshot()
            *_, info = env.step(action)
    assert env.to_aec().snapshot() == before
    env.opponents = "random"
    env.step(action)


@each_case
def test_a_user_s_game_agent_plays(name, options):
    players = options.get("num_players", 2)
    opponents = [LastLegal(), *["random"] * (players - 2)]
    env = make(name, opponents=opponents, seat=1, **options)
    _, info = env.reset(seed=1)
    env2 = make(
        name,
        opponents=[lambda _, mask, rng: np.flatnonzero(mask)[-1], *["random"] * (players - 2)],
        seat=1,
        **options,
    )
    _, info2 = env2.reset(seed=1)
    assert data_equivalence(info, info2)
    first = play_episode(env, info, np.random.default_rng(0))
    second = play_episode(env2, info2, np.random.default_rng(0))
    assert data_equivalence(first, second, exact=True)


@pytest.mark.parametrize("opponent", ["greedy", "mcts:4"])
def test_the_library_s_agents_play_by_name(opponent):
    runs = []
    for _ in range(2):
        env = make("kirche", opponents=opponent, num_houses=1, max_plies=12)
        runs.append(play_episode(env, env.reset(seed=1)[1], np.random.default_rng(0)))
    assert data_equivalence(*runs, exact=True)


def test_agents_of_a_file_play_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_mine(tmp_path, "agents_of_gym")
    episodes = {}
    for opponents in (
        "agents_of_gym.py:make",
        f"{path}:first",
        first_legal,
        "agents_of_gym.py:draw",
    ):
        env = make("kirche", opponents=opponents, num_houses=1, max_plies=12, seat=0)
        _, info = env.reset(seed=1)
        twins = (
            [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
            if "make" in str(opponents)
            else []
        )
        episodes[opponents] = play_episode(env, info, np.random.default_rng(0))
        for twin in twins:
            again = play_episode(twin, info, np.random.default_rng(0))
            assert data_equivalence(again, episodes[opponents], exact=True)
    by_name, by_path, callable_, drawing = episodes.values()
    assert data_equivalence(by_name, by_path, exact=True)
    assert data_equivalence(by_name, callable_, exact=True)
    assert not data_equivalence(by_name, drawing, exact=True)
    vector = gymnasium.make_vec(
        registry.gym_id("kirche"), num_envs=3, opponents="agents_of_gym.py:first", num_houses=1
    )
    vector.reset(seed=1)
    vector.step(vector.action_space.sample())
    env = make("kirche", opponents="agents_of_gym.py:illegal", seat=1)
    with pytest.raises(ValueError, match=r"agents_of_gym.py:illegal.* illegal"):
        env.reset(seed=1)
    with pytest.raises(ValueError, match=r"'frist'.*did you mean 'first'"):
        make("kirche", opponents="agents_of_gym.py:frist")


@each_game
def test_a_learner_whose_turn_never_comes_is_an_error(name):
    env = make(name, seat=1, max_plies=1)
    with pytest.raises(ValueError, match="max_plies=1 is too small"):
        env.reset(seed=1)
    with pytest.raises(ResetNeeded):
        env.step(0)
    # A drawn seat is drawn again until the learner may act.
    env = make(name, seat=None, max_plies=1)
    for seed in range(8):
        _, info = env.reset(seed=seed)
        assert (info["seat"], info["ply"]) == (0, 0)
        assert env.step(legal_action(info, np.random.default_rng(0)))[2]


@pytest.mark.parametrize("opponents", ["random", random_callable], ids=["random", "callable"])
@each_game
def test_copies_play_on_identically(name, opponents):
    env, rng = make(name, opponents=opponents, max_plies=60), np.random.default_rng(0)
    _, info = env.reset(seed=1)
    for _ in range(3):
        *_, info = env.step(legal_action(info, rng))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    games = []
    for one in (env, *twins):
        rng = np.random.default_rng(1)
        games.append((play_episode(one, info, rng), play_episode(one, one.reset()[1], rng)))
    assert data_equivalence(games[0], games[1], exact=True)
    assert data_equivalence(games[0], games[2], exact=True)


def test_copies_draw_on_their_own():
    """What cannot be copied, such as a window, stays with the original."""

    class Window(io.TextIOWrapper):
        """Neither `pickle` nor `deepcopy` takes it."""

    env = make("kirche", render_mode="ansi")
    env.reset(seed=1)
    drawing = env.render()
    env._board._env._window = Window(io.BytesIO())
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.render() == drawing
        twin.close()
    assert not env._board._env._window.closed
    env.close()
    assert env._board._env._window.closed


@each_game
def test_arrays_are_fresh_and_masks_agree(name):
    env, rng = make(name), np.random.default_rng(0)
    observation, info = env.reset(seed=1)
    for _ in range(5):
        masks = env.action_masks()
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, info["action_mask"])
        assert info["action_mask"].dtype == np.int8
        assert observation in env.observation_space
        assert set(env.split_observation(observation)) == set(env.OBSERVATION)
        previous, mask = observation.copy(), info["action_mask"].copy()
        following, *_, next_info = env.step(legal_action(info, rng))
        assert np.array_equal(observation, previous)
        assert np.array_equal(info["action_mask"], mask)
        observation, info = following, next_info


@each_game
def test_it_draws_what_the_aec_environment_draws(name):
    env = make(name, render_mode="ansi")
    _, info = env.reset(seed=1)
    env.step(legal_action(info, np.random.default_rng(0)))
    assert env.render() == env.to_aec().render()
    assert "ansi" in env.metadata["render_modes"]
    # Gymnasium 1.2's vector environments write into it.
    assert env.metadata is not type(env).metadata
    env.close()
    env.close()
    env = make(name)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_gymnasium_s_wrappers_work():
    env = gymnasium.make("tabletop_envs/Kirche-v0", num_houses=1, max_plies=30)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    _, info = env.reset(seed=1)
    assert env.get_wrapper_attr("action_masks")().sum() == info["action_mask"].sum()
    steps = play_episode(env, info, np.random.default_rng(0))
    assert steps[-1][-1]["episode"]["l"] == len(steps)
