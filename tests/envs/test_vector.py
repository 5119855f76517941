"""The Gymnasium vector environments: lane by lane what `SyncVectorEnv` plays, in all modes."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tabletop_envs import registry
from tabletop_envs.envs.vector import TabletopVectorEnv
from tests.envs.learners import LastLegal, illegal_action, legal_action, make, random_callable
from tests.games import each_case, each_game

MODES = list(AutoresetMode)
each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)


def make_vector(name: str, num_envs: int, **arguments: Any) -> TabletopVectorEnv:
    """A game's vector environment, as users make it; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec(registry.gym_id(name), num_envs=num_envs, **arguments)
    assert isinstance(env, TabletopVectorEnv)
    return env


def make_sync(name: str, num_envs: int, mode: AutoresetMode, **arguments: Any) -> SyncVectorEnv:
    """Gymnasium's own vector environment of single environments."""
    arguments["disable_env_checker"] = True
    singles = [lambda: gymnasium.make(registry.gym_id(name), **arguments)] * num_envs
    return SyncVectorEnv(singles, autoreset_mode=mode)


def assert_same(ours: Any, theirs: Any, path: str = "") -> None:
    """The same structure, dtypes, shapes and values."""
    assert type(ours) is type(theirs), path
    if isinstance(ours, dict):
        assert set(ours) == set(theirs), path
        for key in ours:
            assert_same(ours[key], theirs[key], f"{path}/{key}")
    elif isinstance(ours, tuple | list):
        assert len(ours) == len(theirs), path
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(one, other, f"{path}/{place}")
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), path
        if ours.dtype == object:
            assert_same(list(ours), list(theirs), path)
        else:
            assert np.array_equal(ours, theirs), path
    else:
        assert ours == theirs, path


def lane_info(info: dict[str, Any], lane: int) -> dict[str, Any]:
    """What an info says of one lane."""
    return {"action_mask": info["action_mask"][lane]}


def some_actions(info: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Random legal actions, and now and then an illegal one, so that games end often."""
    return np.array(
        [
            illegal_action(lane_info(info, lane))
            if rng.random() < 0.04 and not info["action_mask"][lane].all()
            else legal_action(lane_info(info, lane), rng)
            for lane in range(len(info["action_mask"]))
        ]
    )


@pytest.mark.parametrize("opponents", ["random", random_callable], ids=["random", "callable"])
@each_mode
@each_case
def test_it_plays_what_sync_vector_env_plays(name, options, mode, opponents):
    play_both(name, mode, opponents=opponents, **options)


@each_mode
@each_game
def test_a_limit_from_outside_truncates_as_it_does_in_sync_vector_env(name, mode):
    both = play_both(name, mode, max_episode_steps=3)
    # An illegal action ends a game, at times in the very step of the limit.
    assert both["truncated"] > 10 and both["terminated"] > both["at once"] > 0
    assert play_both(name, mode, max_episode_steps=-1)["truncated"] == 0


def play_both(name: str, mode: AutoresetMode, **options: Any) -> dict[str, int]:
    """Play the same in ours and Gymnasium's, which must be alike; how often episodes ended."""
    ours = make_vector(name, 3, autoreset_mode=mode, **options)
    theirs = make_sync(name, 3, mode, **options)
    assert ours.metadata["autoreset_mode"] is mode
    for space in (
        "single_observation_space",
        "observation_space",
        "single_action_space",
        "action_space",
    ):
        assert getattr(ours, space) == getattr(theirs, space)
    rng = np.random.default_rng(1)
    start = ours.reset(seed=11)
    assert_same(start, theirs.reset(seed=11))
    info = start[1]
    ends = {"terminated": 0, "truncated": 0, "at once": 0}
    for _ in range(60):
        actions = some_actions(info, rng)
        step = ours.step(actions)
        assert_same(step, theirs.step(actions))
        *_, terminated, truncated, info = step
        over = terminated | truncated
        ends["terminated"] += terminated.sum()
        ends["truncated"] += truncated.sum()
        ends["at once"] += (terminated & truncated).sum()
        assert np.array_equal(info["action_mask"], ours.action_masks())
        if mode == AutoresetMode.DISABLED and over.any():
            observation, info = ours.reset(options={"reset_mask": over})
            their_observation, their_info = theirs.reset(options={"reset_mask": over})
            assert_same(observation, their_observation)
            for key in ("action_mask", "score", "ply", "seat", "by_limit", "illegal_action"):
                # Ours is there for the other lanes, too.
                assert np.array_equal(info[key][over], their_info[key][over])
                assert info[f"_{key}"].all()
            assert np.array_equal(info["action_mask"], ours.action_masks())
    assert ends["terminated"] > 1
    assert_same(ours.reset(), theirs.reset())
    return ends


@each_mode
@each_game
def test_masks_are_those_of_the_games_shown(name, mode):
    env, rng = make_vector(name, 4, autoreset_mode=mode, max_plies=12), np.random.default_rng(2)
    _, info = env.reset(seed=3)
    finals = 0
    for _ in range(30):
        for lane in range(4):
            game = env.to_aec(lane)
            agent = f"player_{info['seat'][lane]}"
            assert np.array_equal(info["action_mask"][lane], game.action_mask(agent))
        actions = np.array([legal_action(lane_info(info, lane), rng) for lane in range(4)])
        _, rewards, terminated, truncated, info = env.step(actions)
        over = terminated | truncated
        assert not rewards[~over].any()
        assert ("final_info" in info) == (mode == AutoresetMode.SAME_STEP and over.any())
        if "final_info" in info:
            finals += 1
            final = info["final_info"]
            assert np.array_equal(info["_final_obs"], over)
            assert np.array_equal(final["_action_mask"], over)
            assert final["action_mask"][over].all()
            assert not final["action_mask"][~over].any()
            assert all(o in env.single_observation_space for o in info["final_obs"][over])
            assert all(o is None for o in info["final_obs"][~over])
        if mode == AutoresetMode.DISABLED and over.any():
            _, info = env.reset(options={"reset_mask": over})
    assert finals or mode != AutoresetMode.SAME_STEP


def test_next_step_ignores_the_action_of_a_lane_that_starts_anew():
    env = make_vector("kirche", 2, opponents="random")
    _, info = env.reset(seed=1)
    actions = np.array([illegal_action(lane_info(info, 0)), info["action_mask"][1].argmax()])
    _, rewards, terminated, _, info = env.step(actions)
    assert rewards.tolist() == [-1.0, 0.0]
    assert terminated.tolist() == [True, False]
    _, rewards, terminated, truncated, info = env.step(
        np.array([-5, info["action_mask"][1].argmax()])
    )
    assert not rewards.any() and not terminated.any() and not truncated.any()
    assert info["ply"][0] <= 2


@each_game
def test_a_lane_does_not_depend_on_the_others(name):
    """Neither on their number nor on how long their opponents play."""
    runs = []
    for lanes in (2, 5):
        env = make_vector(name, lanes, opponents=LastLegal(), max_plies=30)
        _, info = env.reset(seed=20)
        seen = []
        for _ in range(20):
            rngs = [np.random.default_rng(len(seen)) for _ in range(lanes)]
            actions = [legal_action(lane_info(info, lane), rng) for lane, rng in enumerate(rngs)]
            observation, rewards, *_, info = env.step(actions)
            seen.append((observation[:2], rewards[:2], info["action_mask"][:2]))
        runs.append(seen)
    assert_same(*runs)


@each_game
def test_seeds_for_each_lane(name):
    env = make_vector(name, 3)
    first = env.reset(seed=7)
    assert_same(env.reset(seed=[7, 8, 9]), first)
    assert_same(env.reset(seed=np.array([7, 8, 9])), first)
    goes_on = env.reset(seed=[9, None, 7])
    assert np.array_equal(goes_on[0][[0, 2]], first[0][[2, 0]])
    seats = {tuple(env.reset(seed=[7, None, 9])[1]["seat"].tolist()) for _ in range(30)}
    assert len(seats) == 2
    # Without any seed: from fresh entropy, and reproducible by what it says.
    unseeded = make_vector(name, 3)
    start = unseeded.reset()
    assert_same(make_vector(name, 3).reset(seed=unseeded.np_random_seed), start)
    # Where s + i passes 2^64.
    last = make_vector(name, 2).reset(seed=2**64 - 1)
    assert_same(make_vector(name, 2).reset(seed=[2**64 - 1, 0]), last)


def test_a_seed_of_a_lane_that_is_not_reset_has_no_effect():
    env = make_vector("meeples", 2, autoreset_mode="Disabled", seat=0)
    env.reset(seed=1)
    before = env.to_aec(1).snapshot()
    env.reset(seed=5, options={"reset_mask": np.array([True, False])})
    assert env.to_aec(1).snapshot() == before
    assert env.to_aec(0).snapshot() == make_seeded("meeples", 5)


def make_seeded(name: str, seed: int) -> dict[str, Any]:
    """The start of a single environment's game with the learner in seat 0."""
    env = make(name, seat=0)
    env.reset(seed=seed)
    snapshot: dict[str, Any] = env.to_aec().snapshot()
    return snapshot


@each_game
def test_arrays_are_fresh_unless_told_otherwise(name):
    for fresh in (True, False):
        env = make_vector(name, 2, copy=fresh)
        first, info = env.reset(seed=1)
        kept = first.copy()
        second, *_, next_info = env.step(info["action_mask"].argmax(axis=1))
        assert np.shares_memory(first, second) is not fresh
        assert np.shares_memory(info["action_mask"], next_info["action_mask"]) is not fresh
        assert np.array_equal(kept, first) is fresh


@pytest.mark.parametrize(
    ("actions", "error", "words"),
    [
        ([0.0, 1.0], TypeError, "must be integers"),
        ([None, 1], TypeError, "must be integers"),
        ([0], ValueError, r"shape \(2,\), not of the shape \(1,\)"),
        ([[0], [0]], ValueError, r"shape \(2, 1\)"),
        ([0, 1323], ValueError, "lane 1: action 1323 is outside"),
        ([-1, 0], ValueError, "lane 0: action -1 is outside"),
    ],
    ids=str,
)
def test_what_are_no_actions_raises_and_changes_nothing(actions, error, words):
    env = make_vector("kirche", 2)
    with pytest.raises(ResetNeeded):
        env.step([0, 0])
    with pytest.raises(ResetNeeded):
        env.action_masks()
    env.reset(seed=1)
    before = [env.to_aec(lane).snapshot() for lane in range(2)]
    with pytest.raises(error, match=words):
        env.step(actions)
    assert [env.to_aec(lane).snapshot() for lane in range(2)] == before


@each_game
def test_an_illegal_action_raises_if_asked_to_before_any_game_has_changed(name):
    env = make_vector(name, 3, on_illegal="raise")
    _, info = env.reset(seed=1)
    actions = info["action_mask"].argmax(axis=1)
    wrong = actions.copy()
    wrong[2] = illegal_action(lane_info(info, 2))
    before = [env.to_aec(lane).snapshot() for lane in range(3)]
    with pytest.raises(ValueError, match=rf"lane 2: action {wrong[2]} \(.+\) of the learner"):
        env.step(wrong)
    assert [env.to_aec(lane).snapshot() for lane in range(3)] == before
    env.step(actions)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@each_game
def test_an_opponent_s_error_undoes_the_whole_step(name, mode):
    """Also the games that were started anew before it."""
    env = make_vector(name, 3, seat=1, opponents=random_callable, autoreset_mode=mode)
    _, info = env.reset(seed=1)
    actions = info["action_mask"].argmax(axis=1)
    if mode == AutoresetMode.NEXT_STEP:
        wrong = actions.copy()
        wrong[0] = illegal_action(lane_info(info, 0))
        *_, info = env.step(wrong)
        actions = info["action_mask"].argmax(axis=1)
    else:
        actions[0] = illegal_action(lane_info(info, 0))
    calls: list[int] = []
    stumble_at = [0]

    def stumbling(observation, action_mask, rng):
        calls.append(1)
        if len(calls) == stumble_at[0]:
            raise KeyError("stumbled")
        return random_callable(observation, action_mask, rng)

    twin = copy.deepcopy(env)
    twin.opponents = env.opponents = stumbling
    twin.step(actions)
    before = [env.to_aec(lane).snapshot() for lane in range(3)]
    # At the first call, and at the last, when the new games' first actions are played.
    for stumble_at[0] in (1, len(calls)):
        calls.clear()
        with pytest.raises(KeyError, match="stumbled"):
            env.step(actions)
        assert [env.to_aec(lane).snapshot() for lane in range(3)] == before
    env.step(actions)


def test_disabled_leaves_resetting_to_the_user():
    env = make_vector("kirche", 3, autoreset_mode=AutoresetMode.DISABLED)
    _, info = env.reset(seed=1)
    actions = info["action_mask"].argmax(axis=1)
    actions[1] = illegal_action(lane_info(info, 1))
    *_, info = env.step(actions)
    with pytest.raises(ResetNeeded, match=r"\[1\]"):
        env.step(info["action_mask"].argmax(axis=1))
    for mask, error in (
        ([True, False, False], TypeError),
        (np.zeros(3), TypeError),
        (np.ones(2, np.bool_), ValueError),
        (np.zeros(3, np.bool_), ValueError),
    ):
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    options = {"reset_mask": np.array([False, True, False])}
    _, info = env.reset(options=options)
    assert list(options) == ["reset_mask"]
    env.step(info["action_mask"].argmax(axis=1))


@each_game
def test_copies_play_on_identically(name):
    env = make_vector(name, 3, opponents=random_callable)
    _, info = env.reset(seed=1)
    for _ in range(3):
        *_, info = env.step(info["action_mask"].argmax(axis=1))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(5):
        actions = info["action_mask"].argmax(axis=1)
        step = env.step(actions)
        for twin in twins:
            assert_same(twin.step(actions), step)
        info = step[-1]


def test_what_sync_vector_env_offers_for_its_environments():
    env = make_vector("kirche", 2, render_mode="ansi")
    _, info = env.reset(seed=1)
    masks = env.call("action_masks")
    assert len(masks) == 2 and np.array_equal(np.stack(masks), info["action_mask"])
    assert env.get_attr("options") == (env.options, env.options)
    assert env.get_attr("render_mode") == ("ansi", "ansi")
    frames = env.render()
    assert frames == tuple(env.to_aec(lane).render() for lane in range(2))
    assert env.call("render") == frames
    env.set_attr("opponents", random_callable)
    assert env.opponents is random_callable
    env.set_attr("opponents", ["random", "random"])
    assert env.opponents == "random"
    for values in (["random"], ["random", random_callable]):
        with pytest.raises(ValueError, match="opponents is shared"):
            env.set_attr("opponents", values)
    with pytest.raises(ValueError, match="lane=2 must be"):
        env.to_aec(2)
    env.close()
    env.close()
    silent = make_vector("kirche", 2)
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert silent.render() is None


@each_mode
def test_gymnasium_s_vector_wrappers_work(mode):
    env = make_vector("kirche", 4, num_houses=1, max_plies=20, autoreset_mode=mode)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    _, info = env.reset(seed=1)
    episodes = 0
    for _ in range(40):
        actions = info["action_mask"].argmax(axis=1)
        *_, terminated, truncated, info = env.step(actions)
        episodes += int((terminated | truncated).sum())
        if mode == AutoresetMode.DISABLED and (terminated | truncated).any():
            _, info = env.reset(options={"reset_mask": terminated | truncated})
    assert episodes > 4
    assert env.episode_count == episodes
