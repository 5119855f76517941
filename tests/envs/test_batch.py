"""The batch engine: sizes and threads change nothing; seeds; errors change nothing."""

import pickle

import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.envs import batch as batch_module
from tests.games import each_case, each_game, raw_env


@pytest.fixture(autouse=True)
def threads_for_small_batches(monkeypatch):
    """Let small batches use threads, too: here it is their results that count."""
    monkeypatch.setattr(batch_module, "MIN_BYTES_PER_THREAD", 100_000)


SHOWN = "observation action_mask current_player rewards terminated by_limit scores episode_length"
ARRAYS = SHOWN.split()


def make(name, lanes, **arguments):
    return tabletop_envs.make_batch(registry.batch_id(name), lanes, **arguments)


def contents(batch):
    """Copies of all that a batch shows."""
    return {array: getattr(batch, array).copy() for array in ARRAYS}


def assert_equal(one, other, lanes=slice(None)):
    for array in ARRAYS:
        assert np.array_equal(one[array][lanes], other[array][lanes]), array


@each_case
def test_batch_size_and_threads_change_nothing(name, options):
    widest, *others = (
        make(name, lanes, seed=21, num_threads=threads, **options)
        for lanes, threads in ((1024, 1), (1024, 2), (1000, 3), (7, 1), (1, 1))
    )
    assert [len(batch._parts) for batch in (widest, *others)] == [1, 2, 3, 1, 1]
    for step in range(121):
        for batch in (widest, *others):
            batch.step(batch.sample_actions()) if step else batch.rollout(250)
        for batch in others:
            for array in ARRAYS:
                lanes = getattr(widest, array)[: batch.num_envs]
                assert np.array_equal(getattr(batch, array), lanes), array
    for batch in others:
        batch.close()


@each_game
def test_sampling_draws_every_legal_action_equally_often(name):
    lanes, draws = 1, 4000
    batch = make(name, lanes, seed=23)
    for _ in range(25):
        batch.step(batch.sample_actions())
    while batch.action_mask[0].sum() < 5:
        batch.step(batch.sample_actions())
    legal = np.flatnonzero(batch.action_mask[0])
    counts = np.bincount([batch.sample_actions()[0] for _ in range(draws)], minlength=0)
    assert set(np.flatnonzero(counts)) <= set(legal)
    expected = draws / len(legal)
    statistic = ((counts[legal] - expected) ** 2 / expected).sum()
    # Chi-squared with len(legal) − 1 degrees of freedom: mean k, standard deviation √(2k); six of
    # these.
    freedom = len(legal) - 1
    assert statistic < freedom + 6 * np.sqrt(2 * freedom)


def test_threads_are_used_where_they_are_worth_it(monkeypatch):
    assert len(make("kirche", 600, num_threads=2)._parts) == 2
    assert len(make("kirche", 600, num_threads=64)._parts) == 10
    monkeypatch.undo()
    assert len(make("kirche", 600, num_threads=2)._parts) == 1
    assert len(make("kirche", 600, num_threads=2)._rollout_parts) == 2
    assert len(make("kirche", 20_000, num_threads=2)._parts) == 2


@each_game
def test_seeds_a_lane_each(name):
    seeds = [5, 900, 5]
    batch = make(name, 3, seed=seeds)
    for lane, seed in enumerate(seeds):
        env = raw_env(name)
        env.reset(seed=seed)
        assert np.array_equal(
            batch.observation[lane], env.observe(env.agent_selection)["observation"]
        )
    batch.step(batch.sample_actions())
    assert np.array_equal(batch.observation[0], batch.observation[2])
    batch.reset(seed=seeds)
    again = make(name, 3, seed=np.array(seeds))
    assert_equal(contents(batch), contents(again))


@each_game
def test_reset_goes_on_with_the_streams(name):
    batch, other = make(name, 4, seed=3), make(name, 4, seed=3)
    first = contents(batch)
    batch.reset()
    other.reset()
    assert_equal(contents(batch), contents(other))
    batch.reset(seed=3)
    assert_equal(contents(batch), first)
    unseeded = make(name, 4), make(name, 4)
    if name != "kirche":
        assert not np.array_equal(unseeded[0].observation, unseeded[1].observation)


@each_game
@pytest.mark.parametrize("bad", ["illegal", "negative", "large"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_illegal_action_is_named_before_any_game_has_changed(name, bad, threads):
    batch = make(name, 600, seed=24, num_threads=threads)
    batch.step(batch.sample_actions())
    before = contents(batch)
    actions = batch.sample_actions().copy()
    wrong = {
        "illegal": int(np.flatnonzero(~batch.action_mask[577])[0]),
        "negative": -1,
        "large": batch.num_actions,
    }[bad]
    actions[577] = wrong
    with pytest.raises(ValueError, match=r"lane 577: action") as caught:
        batch.step(actions)
    assert str(wrong) in str(caught.value)
    assert_equal(contents(batch), before)
    actions[577] = np.flatnonzero(batch.action_mask[577])[0]
    batch.step(actions)


@each_game
def test_actions_of_a_wrong_type_or_shape_are_refused(name):
    batch = make(name, 4, seed=25)
    before = contents(batch)
    good = batch.sample_actions().copy()
    for actions, error, words in (
        (good.astype(float), TypeError, "float64"),
        (good.astype(bool), TypeError, "bool"),
        (good.astype(str), TypeError, "<U"),
        (None, TypeError, "object"),
        (good[:3], ValueError, r"\(3,\)"),
        (good[:, None], ValueError, r"\(4, 1\)"),
        (int(good[0]), ValueError, r"\(\)"),
    ):
        with pytest.raises(error, match=words):
            batch.step(actions)
    assert_equal(contents(batch), before)
    for dtype in (np.int16, np.uint32, np.int64):
        batch.step(good.astype(dtype))
        batch.reset(seed=25)
    batch.step(good.tolist())


@each_game
def test_without_the_check_legal_actions_play_the_same(name):
    checked, unchecked = make(name, 9, seed=26), make(name, 9, seed=26, check=False)
    for _ in range(50):
        checked.step(checked.sample_actions())
        unchecked.step(unchecked.sample_actions())
        checked.step(checked.sample_actions(), check=False)
        unchecked.step(unchecked.sample_actions(), check=True)
    assert_equal(contents(checked), contents(unchecked))
    with pytest.raises(ValueError, match="lane 0"):
        unchecked.step(np.full(9, -1), check=True)


@each_game
def test_a_batch_can_be_pickled_closed_and_used_again(name):
    batch = make(name, 600, seed=27, num_threads=2)
    batch.step(batch.sample_actions())
    twin = pickle.loads(pickle.dumps(batch))
    batch.close()
    batch.close()
    with batch:
        batch.step(batch.sample_actions())
    twin.step(twin.sample_actions())
    assert_equal(contents(batch), contents(twin))
    twin.close()


@each_case
def test_game_agents_play_in_a_batch(name, options):
    """By `states` and `legal_bits` a game agent chooses what it does in single environments."""
    batch = make(name, 4, seed=7, **options)
    lanes, actions = np.arange(4), np.zeros(4, np.int64)
    samplers = np.arange(4, dtype=np.uint64)
    greedy = GreedyAgent()
    for _ in range(6):
        single = []
        for lane in range(4):
            states, legal = batch.to_aec(lane).lane()
            chosen, sampler = np.zeros(1, np.int64), samplers[lane : lane + 1].copy()
            greedy.choose_lanes(batch.game, states, legal, sampler, lanes[:1], chosen)
            single.append(int(chosen[0]))
        greedy.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, lanes, actions)
        assert actions.tolist() == single
        batch.step(actions)
