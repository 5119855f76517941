"""Games from given positions: one lane's (`restore`), and every new game's (`positions`), in batches
and in the Gymnasium environments.
"""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tabletop_envs import make_batch, registry
from tabletop_envs.envs import batch as batch_module
from tests.envs.learners import legal_action, make, random_callable
from tests.games import each_case, each_game, play, raw_env

SHOWN = ("observation", "action_mask", "current_player", "scores", "episode_length")
RESULTS = ("rewards", "terminated", "by_limit")
# Games that end soon.
SHORT = {"max_plies": 60}


def position(name: str, plies: int, seed: int = 1, **options: Any) -> dict[str, Any]:
    """A position of random play."""
    env = raw_env(name, **options)
    env.reset(seed=seed)
    play(env, random.Random(seed).randrange, plies)
    return env.snapshot()


def without_rng(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A position whose randomness is left open."""
    return {key: value for key, value in snapshot.items() if key != "rng"}


def snapshots(batch: Any) -> list[dict[str, Any]]:
    """What stands in the lanes."""
    return [batch.to_aec(lane).snapshot() for lane in range(batch.num_envs)]


def assert_lane_is(batch: Any, lane: int, env: Any) -> None:
    """A lane shows what an environment shows."""
    assert batch.to_aec(lane).snapshot() == env.snapshot()
    seen = env.observe(env.agent_selection)
    np.testing.assert_array_equal(batch.observation[lane], seen["observation"])
    np.testing.assert_array_equal(batch.action_mask[lane], seen["action_mask"])


# One lane


@each_case
def test_a_restored_lane_plays_what_a_restored_environment_plays(name, options):
    options = {**options, **SHORT}
    snapshot = position(name, 30, **options)
    batch, env = make_batch(name, 3, seed=5, **options), raw_env(name, **options)
    env.reset(seed=5 + 1)
    while not batch.terminated[2]:
        batch.step(batch.sample_actions())
    before = {array: getattr(batch, array).copy() for array in (*SHOWN, *RESULTS)}
    batch.restore(-2, json.loads(json.dumps(snapshot)))
    env.restore(snapshot)
    for array, values in before.items():
        np.testing.assert_array_equal(getattr(batch, array)[[0, 2]], values[[0, 2]])
    assert not batch.terminated[1] and not batch.rewards[1].any() and not batch.by_limit[1]
    ends = 0
    for _ in range(100):
        assert_lane_is(batch, 1, env)
        actions = batch.sample_actions()
        batch.step(actions)
        env.step(int(actions[1]))
        np.testing.assert_array_equal(batch.rewards[1], np.float32(list(env.rewards.values())))
        assert batch.terminated[1] == env.terminations["player_0"]
        if batch.terminated[1]:
            ends += 1
            # Where nothing falls after the start a position has no randomness: each continues its.
            if not env.game.has_chance:
                break
            env.reset()
    assert ends


def test_a_lane_without_rng_in_its_snapshot_continues_its_own_stream():
    snapshot = without_rng(position("meeples", 40))
    batch = make_batch("meeples", 3, seed=5)
    rngs = batch.get_state()["rng"]
    batch.restore(0, snapshot)
    batch.restore(2, snapshot)
    assert batch.get_state()["rng"] == rngs
    assert len(set(rngs)) == 3


# Every new game


@each_case
def test_every_game_starts_from_a_position_as_a_restored_environment_does(name, options):
    options = {**options, **SHORT}
    positions = [position(name, plies, seed=plies, **options) for plies in (20, 25, 30)]
    batch = make_batch(name, 4, seed=5, **options)
    batch.reset(seed=7, positions=positions)
    envs = [raw_env(name, **options) for _ in range(4)]
    drawn = snapshots(batch)
    starts = []
    for env, snapshot in zip(envs, drawn, strict=True):
        env.restore(snapshot)
    for _ in range(150):
        actions = batch.sample_actions()
        batch.step(actions)
        for lane, env in enumerate(envs):
            env.step(int(actions[lane]))
            if batch.terminated[lane]:
                drawn.append(batch.to_aec(lane).snapshot())
                starts.append(positions.index(drawn[-1]))
                env.restore(drawn[-1])
            assert_lane_is(batch, lane, env)
    # With their `rng` the positions come back as they were given.
    assert all(snapshot in positions for snapshot in drawn)
    assert set(starts) == {0, 1, 2}


def test_positions_without_rng_get_other_randomness_in_every_game():
    given = position("meeples", 40, **SHORT)
    batch = make_batch("meeples", 4, **SHORT)
    batch.reset(seed=1, positions=[without_rng(given)])
    rngs = []
    for _ in range(100):
        batch.step(batch.sample_actions())
        for snapshot in (
            batch.to_aec(lane).snapshot() for lane in np.flatnonzero(batch.terminated)
        ):
            rngs.append(snapshot["rng"])
            assert without_rng(snapshot) == without_rng(given)
    assert len(set(rngs)) == len(rngs) > 10
    batch.reset(positions=[given])
    assert [snapshot["rng"] for snapshot in snapshots(batch)] == [given["rng"]] * 4


@each_game
@pytest.mark.parametrize("with_rng", [True, False])
def test_draws_depend_on_the_seed_alone(name, with_rng, monkeypatch):
    positions = [position(name, plies, seed=plies, **SHORT) for plies in (30, 40, 50)]
    if not with_rng:
        positions = [without_rng(snapshot) for snapshot in positions]
    whole = make_batch(name, 4, **SHORT)
    whole.reset(seed=7, positions=positions)
    monkeypatch.setattr(batch_module, "MIN_BYTES_PER_THREAD", 1)
    threaded = make_batch(name, 4, num_threads=2, **SHORT)
    threaded.reset(seed=7, positions=positions)
    singles = [make_batch(name, 1, seed=99, **SHORT) for _ in range(4)]
    for lane, single in enumerate(singles):
        single.reset(seed=[7 + lane], positions=positions)
    other = make_batch(name, 4, seed=7, **SHORT)
    other.reset(positions=positions)
    for _ in range(80):
        actions = whole.sample_actions()
        for array in (*SHOWN, *RESULTS):
            values = getattr(whole, array)
            np.testing.assert_array_equal(getattr(threaded, array), values)
            np.testing.assert_array_equal([getattr(one, array)[0] for one in singles], values)
        np.testing.assert_array_equal(threaded.sample_actions(), actions)
        whole.step(actions)
        threaded.step(actions)
        for lane, single in enumerate(singles):
            np.testing.assert_array_equal(single.sample_actions(), actions[[lane]])
            single.step(actions[[lane]])
    # A reset without a seed continues the same stream.
    assert len({tuple(one.get_state()["starts"]["rng"]) for one in (whole, threaded)}) == 1
    assert other.get_state()["starts"]["rng"] != whole.get_state()["starts"]["rng"]
    assert whole.rollout(200) == threaded.rollout(200)
    assert whole.get_state() == threaded.get_state()


@each_game
def test_rollouts_and_copies_start_from_positions_too(name):
    positions = [position(name, plies, seed=plies, **SHORT) for plies in (30, 50)]
    batch = make_batch(name, 3, seed=1, **SHORT)
    batch.reset(positions=positions)
    twins = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    games = plies = 0
    for _ in range(100):
        batch.step(batch.sample_actions())
        games += int(batch.terminated.sum())
        plies += int(batch.episode_length[batch.terminated].sum())
    for twin in twins:
        counts = twin.rollout(100)
        assert (counts.games, counts.plies) == (games, plies)
        assert twin.get_state() == batch.get_state()


@each_game
def test_reset_without_positions_goes_back_to_the_start_of_the_rules(name):
    usual, batch = (make_batch(name, 3, seed=1) for _ in range(2))
    batch.reset(positions=[position(name, 20)])
    assert (batch.episode_length == 20).all()
    batch.step(batch.sample_actions())
    twin = copy.deepcopy(batch)
    usual.reset(seed=4)
    batch.reset(seed=4)
    assert batch.get_state() == usual.get_state()
    # Without a seed the lanes' own streams continue, not the one that came with the position.
    twin.reset()
    assert not twin.episode_length.any() and twin.get_state()["starts"] is None
    assert len(set(twin.get_state()["rng"])) == 3


@each_game
def test_a_saved_batch_keeps_its_positions(name):
    positions = [position(name, plies, seed=plies, **SHORT) for plies in (30, 50)]
    positions.append(without_rng(positions[0]))
    batch, other = make_batch(name, 3, seed=1, **SHORT), make_batch(name, 3, **SHORT)
    usual = batch.get_state()
    batch.reset(positions=positions)
    state = json.loads(json.dumps(batch.get_state()))
    assert state["starts"]["positions"] == positions
    other.set_state(state)
    assert other.rollout(100) == batch.rollout(100)
    assert other.get_state() == batch.get_state()
    # What was saved before there were positions to start from has no entry for them.
    assert usual.pop("starts") is None
    other.set_state(usual)
    assert other.get_state()["starts"] is None
    for fault, message in (
        ({"positions": [{}], "rng": [1, 2, 3]}, r"starts\['positions'\]\[0\]: .*lacks"),
        ({"positions": [], "rng": [1, 2, 3]}, r"starts\['positions'\] must have at least one"),
        ({"positions": positions, "rng": [1, 2]}, r"starts\['rng'\] has 2 entries"),
        ({"positions": positions}, "starts has the keys"),
    ):
        before = other.get_state()
        with pytest.raises(ValueError, match=message):
            other.set_state({**usual, "starts": fault})
        assert other.get_state() == before


@each_game
def test_bad_positions_are_refused_by_name_and_nothing_changes(name):
    good = position(name, 20)
    over = position(name, 10**9)
    batch = make_batch(name, 3, seed=1)
    batch.reset(positions=[good])
    vector = gymnasium.make_vec(registry.gym_id(name), num_envs=3)
    vector.reset(seed=1)
    single = make(name)
    single.reset(seed=1)
    before, seen = batch.get_state(), batch.observation.copy()
    before_vector = [vector.to_aec(lane).snapshot() for lane in range(3)]
    before_single = single.to_aec().snapshot()
    faults: list[tuple[Any, str]] = [
        ({**good, "ply": -1}, "ply is -1"),
        ({**good, "to_move": 9}, "to_move is 9"),
        (None, "a snapshot must be a dict"),
        (over, "outcome must be None"),
        ({**good, "options": {**good["options"], "max_plies": 77}}, "options must be .* not"),
    ]
    for bad, message in faults:
        named = rf"positions\[1\]: .*{message}"
        with pytest.raises(ValueError, match=f"lane 2: .*{message}"):
            batch.restore(2, bad)
        with pytest.raises(ValueError, match=named):
            batch.reset(seed=3, positions=[good, bad])
        for env in (vector, single):
            with pytest.raises(ValueError, match=named):
                env.reset(seed=3, options={"positions": [good, bad]})
    for none, error in (([], ValueError), ("abc", TypeError), (3, TypeError), (good, TypeError)):
        with pytest.raises(error, match="positions"):
            batch.reset(seed=3, positions=none)
        with pytest.raises(error, match="positions"):
            vector.reset(seed=3, options={"positions": none})
    with pytest.raises(ValueError, match="seed"):
        batch.reset(seed=-1, positions=[{**good, "ply": good["ply"] + 1}])
    with pytest.raises(ValueError, match="lane=3 must be an integer from -3 to 2"):
        batch.restore(3, good)
    assert batch.get_state() == before
    np.testing.assert_array_equal(batch.observation, seen)
    assert [vector.to_aec(lane).snapshot() for lane in range(3)] == before_vector
    assert single.to_aec().snapshot() == before_single


# The Gymnasium environments


@pytest.mark.parametrize("opponents", ["random", random_callable], ids=["random", "callable"])
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
@each_game
def test_vector_lanes_play_what_single_environments_play(name, mode, opponents):
    positions = [without_rng(position(name, plies, seed=plies, **SHORT)) for plies in (40, 50)]
    options = {"positions": positions}
    arguments = {"opponents": opponents, **SHORT}
    vector = gymnasium.make_vec(registry.gym_id(name), num_envs=3, autoreset_mode=mode, **arguments)
    singles = [make(name, **arguments) for _ in range(3)]
    observations, info = vector.reset(seed=11, options=options)
    shown = [
        single.reset(seed=11 + lane, options=options)[0] for lane, single in enumerate(singles)
    ]
    rng = np.random.default_rng(1)
    over, games = np.zeros(3, np.bool_), 0
    for _ in range(60):
        np.testing.assert_array_equal(observations, shown)
        actions = np.array(
            [legal_action({"action_mask": mask}, rng) for mask in info["action_mask"]]
        )
        observations, rewards, terminated, _, info = vector.step(actions)
        for lane, single in enumerate(singles):
            if over[lane] and mode == AutoresetMode.NEXT_STEP:
                shown[lane] = single.reset(options=options)[0]
                assert not rewards[lane] and not terminated[lane]
                continue
            shown[lane], reward, ended, _, _ = single.step(actions[lane])
            assert (rewards[lane], terminated[lane]) == (reward, ended)
            games += ended
            if ended and mode != AutoresetMode.NEXT_STEP:
                shown[lane] = single.reset(options=options)[0]
        over = terminated
        if mode == AutoresetMode.DISABLED and over.any():
            observations, info = vector.reset(options={"reset_mask": over})
    assert games > 6
    # Without positions both are back at the start of the rules.
    observations, info = vector.reset(seed=3)
    for lane, single in enumerate(singles):
        expected, single_info = single.reset(seed=3 + lane)
        np.testing.assert_array_equal(observations[lane], expected)
        assert info["ply"][lane] == single_info["ply"] < 20


def test_a_failing_opponent_leaves_the_old_positions_in_place():
    answers = {"fail": False}

    def opponent(observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
        if answers["fail"]:
            raise RuntimeError("no answer")
        return int(action_mask.argmax())

    vector = gymnasium.make_vec(
        "tabletop_envs/Kirche-v0", num_envs=2, opponents=opponent, seat=0, max_plies=40
    )
    # Dark is to move: the opponent is asked.
    vector.reset(seed=1, options={"positions": [position("kirche", 23, max_plies=40)]})
    answers["fail"] = True
    with pytest.raises(RuntimeError, match="no answer"):
        vector.reset(options={"positions": [position("kirche", 29, max_plies=40)]})
    answers["fail"] = False
    _, info = vector.reset(options={"reset_mask": np.array([True, True])})
    assert info["ply"].tolist() == [24, 24]


def test_positions_in_which_the_learner_s_turn_never_comes_are_said_to_be_the_cause():
    last = position("kirche", 39, max_plies=40)
    env = make("kirche", seat=1 - last["to_move"], max_plies=40)
    with pytest.raises(ValueError, match="the positions are too near to the end: 1000 games"):
        env.reset(options={"positions": [last]})
