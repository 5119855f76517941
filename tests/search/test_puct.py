"""Batched search with a network: what it is asked, what its answers do, a run's results."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit
from scipy import stats

from tabletop_envs import make_batch, registry
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.search import PUCT, BatchResult
from tabletop_envs.search.noise import gamma
from tabletop_envs.search.puct import expand_lanes
from tests.games import each_case, each_game, positions

WON = [entry for entry in positions("kirche") if entry.get("winning")]
LANES = 6


def batch_of(name: str, steps: int = 23, lanes: int = LANES, **options: Any) -> BatchEnv:
    """A batch after some random actions."""
    batch = make_batch(name, lanes, seed=1, **options)
    batch.rollout(steps)
    return batch


class Network:
    """A network whose answers are made up from what it sees; it remembers what it was asked."""

    def __init__(self, columns: int = 0) -> None:
        self.columns = columns
        self.asked: list[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]] = []

    def __call__(self, observations: Any, masks: Any) -> Any:
        self.asked.append((observations.copy(), masks.copy()))
        digest = observations.astype(np.float64) @ np.cos(np.arange(observations.shape[1]))
        logits = np.sin(digest[:, None] + np.arange(masks.shape[1]))
        values = np.sin(3 * digest)
        if self.columns:
            others = np.full((len(values), self.columns), -1 / (self.columns - 1))
            others[:, 0] = 1
            values = values[:, None] * others
        return logits.astype(np.float32), values.astype(np.float32)


def same(one: BatchResult, other: BatchResult) -> bool:
    return (
        one.visits.tolist() == other.visits.tolist()
        and one.actions.tolist() == other.actions.tolist()
        and np.allclose(one.values, other.values)
    )


# What a run returns


@each_case
def test_visits_and_actions_are_legal_and_counted(name, options):
    batch = batch_of(name, **options)
    before = batch.states.tobytes()
    search = PUCT(name, LANES, 30, seed=1)
    for evaluate in (None, Network()):
        result = search.run(batch, evaluate)
        assert result.visits.dtype == np.int32
        assert result.visits.sum(axis=1).tolist() == [30] * LANES
        assert not result.visits[~batch.action_mask].any()
        assert result.visits[np.arange(LANES), result.actions].all()
        assert result.values.shape == (LANES, batch.num_players)
        assert np.allclose(result.values.sum(axis=1), 0, atol=1e-6)
        assert np.allclose(result.policy.sum(axis=1), 1)
        assert not result.full.any()
    assert batch.states.tobytes() == before
    batch.step(result.actions)


@each_case
def test_the_network_is_asked_once_a_round(name, options):
    batch = batch_of(name, **options)
    network = Network()
    PUCT(name, LANES, 20, seed=1).run(batch, network)
    assert len(network.asked) <= 21
    observations, masks = network.asked[0]
    if not registry.get_game(name).has_chance:
        assert len(network.asked) == 21
    assert observations.dtype == np.int8
    assert observations.tolist() == batch.observation.tolist()
    assert masks.tolist() == batch.action_mask.tolist()
    # What is shown later are positions that some action leads to.
    assert any((later != observations).any() for later, _ in network.asked[1:])


def test_leaves_are_what_the_actions_lead_to():
    batch = batch_of("kirche", 40)
    network = Network()
    result = PUCT("kirche", LANES, 1, seed=1, dirichlet_fraction=0).run(batch, network)
    batch.step(result.actions)
    observations, masks = network.asked[1]
    assert observations.tolist() == batch.observation.tolist()
    assert masks.tolist() == batch.action_mask.tolist()


def test_float32_observations():
    batch = batch_of("kirche")
    small, wide = Network(), Network()
    one = PUCT("kirche", LANES, 20, seed=1).run(batch, small)
    other = PUCT("kirche", LANES, 20, seed=1, observation_dtype=np.float32).run(batch, wide)
    assert wide.asked[0][0].dtype == np.float32
    assert same(one, other)


# The meaning of the network's answers


def test_priors_are_a_softmax_over_legal_actions():
    """An action whose logit is far above the others' gets all visits, unless it is illegal."""
    batch = batch_of("kirche", 40)
    favourites = [int(np.flatnonzero(mask)[5]) for mask in batch.action_mask]

    def evaluate(observations: Any, masks: Any) -> Any:
        logits = np.where(masks, 0.0, 50.0)
        logits[np.arange(LANES), favourites] = 40.0
        return logits, np.zeros(LANES)

    result = PUCT("kirche", LANES, 40, seed=1, dirichlet_fraction=0).run(batch, evaluate)
    assert result.visits[np.arange(LANES), favourites].tolist() == [40] * LANES


def test_logits_and_their_softmax_are_the_same_policy():
    batch = batch_of("kirche", 40)
    network = Network()

    def softmax(observations: Any, masks: Any) -> Any:
        logits, values = network(observations, masks)
        # Also over illegal actions: priors need not sum to 1 over the legal ones.
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return shares, values

    one = PUCT("kirche", LANES, 50, seed=1).run(batch, network)
    other = PUCT("kirche", LANES, 50, seed=1, policy="priors").run(batch, softmax)
    assert np.abs(one.visits - other.visits).sum() <= 0.1 * one.visits.sum()
    assert np.allclose(one.values, other.values, atol=0.05)


def test_impossible_priors_share_evenly():
    """Where the network rules out every legal action they are all alike."""
    batch = batch_of("kirche", 40)

    def evaluate(observations: Any, masks: Any) -> Any:
        return np.full(masks.shape, -np.inf), np.zeros(LANES)

    result = PUCT("kirche", LANES, 30, seed=1, dirichlet_fraction=0).run(batch, evaluate)
    assert result.visits.sum(axis=1).tolist() == [30] * LANES
    assert (result.visits.max(axis=1) <= 2).all()


@each_case
def test_values_are_the_movers(name, options):
    """After one simulation the root's values are the mean of the network's for root and leaf."""
    batch = batch_of(name, 60, **options)
    players = batch.num_players
    search = PUCT(name, LANES, 1, seed=1, dirichlet_fraction=0)
    for columns in (0, players):
        rows = np.array([0.9, -0.5, -0.3, -0.1][:players]) if columns else np.array(0.6)

        def evaluate(observations: Any, masks: Any, rows: Any = rows) -> Any:
            return np.zeros(masks.shape), np.broadcast_to(rows, (LANES, *rows.shape))

        result = search.run(batch, evaluate)
        movers = [batch.current_player, search._leaves.states["to_move"]]
        for lane in range(LANES):
            if search._leaves.states["status"][lane] != 0:
                continue
            expected = np.zeros(players)
            for mover in (int(who[lane]) for who in movers):
                for turn in range(players):
                    share = (
                        rows[turn] if columns else 0.6 * (1 if turn == 0 else -1 / (players - 1))
                    )
                    expected[(mover + turn) % players] += share / 2
            assert np.allclose(result.values[lane], expected)


def test_value_columns_of_two_players():
    batch = batch_of("kirche", 40)
    one = PUCT("kirche", LANES, 40, seed=1).run(batch, Network())
    other = PUCT("kirche", LANES, 40, seed=1).run(batch, Network(columns=2))
    assert same(one, other)


@each_game
def test_no_network_is_one_that_knows_nothing(name):
    batch = batch_of(name, 40)

    def nothing(observations: Any, masks: Any) -> Any:
        return np.zeros(masks.shape), np.zeros(len(masks))

    for fraction in (0.0, 0.25):
        one = PUCT(name, LANES, 60, seed=3, dirichlet_fraction=fraction).run(batch)
        other = PUCT(name, LANES, 60, seed=3, dirichlet_fraction=fraction).run(batch, nothing)
        assert same(one, other)


@pytest.mark.parametrize("entry", WON[:4])
def test_finished_games_are_valued_by_their_rewards(entry):
    game = registry.get_game("kirche")
    states, _, _ = game.restore(entry["snapshot"], 1)
    states = np.repeat(states, 2)
    search = PUCT("kirche", 2, 600, seed=1)
    result = search.run(states, None, temperature=0)
    assert set(result.actions.tolist()) <= set(entry["winning"])
    mover = entry["snapshot"]["to_move"]
    assert (result.values[:, mover] > 0.3).all()


# Chance


@each_game
def test_lanes_depend_neither_on_each_other_nor_on_threads(name):
    batch = batch_of(name, 30)
    network = Network()
    whole = PUCT(name, LANES, 25, seed=5).run(batch, network)
    with PUCT(name, LANES, 25, seed=5, num_threads=4) as search:
        assert same(search.run(batch, network), whole)
    for lane in range(LANES):
        alone = PUCT(name, 1, 25, seed=5 + lane).run(batch.states[lane : lane + 1], network)
        assert alone.visits[0].tolist() == whole.visits[lane].tolist()
        assert alone.actions[0] == whole.actions[lane]
    again = PUCT(name, LANES, 25, seed=5)
    first, second = again.run(batch, network), again.run(batch, network)
    assert same(first, whole)
    assert not same(second, whole)
    again.seed(5)
    assert same(again.run(batch, network), whole)
    assert same(pickle.loads(pickle.dumps(again)).run(batch, network), again.run(batch, network))


def test_choice_does_not_depend_on_hidden_hands_or_chance_to_come():
    batch = batch_of("meeples", 70, num_players=3)
    results = []
    for generator in (1, 2):
        states = batch.states.copy()
        for lane in range(LANES):
            one = states[lane : lane + 1]
            batch.game.deal_hidden(one, int(one["to_move"][0]), generator)
        results.append(PUCT("meeples", LANES, 40, seed=1).run(states, Network()))
    assert same(*results)


def test_noise_is_only_in_the_root_and_sums_to_one():
    batch = batch_of("kirche", 40)
    search = PUCT("kirche", LANES, 30, seed=1, dirichlet_fraction=1.0, dirichlet_alpha=0.5)
    search.run(batch)
    for lane in range(LANES):
        nodes, edges = search._trees.nodes[lane], search._trees.edges[lane]
        for node in range(31):
            first, tried, count = (int(nodes[node][key]) for key in ("first", "tried", "count"))
            tried_priors = nodes["prior"][edges["target"][first : first + tried]]
            logits = edges["logit"][first : first + count]
            priors = np.exp(logits - nodes[node]["log_total"])
            assert np.isclose(priors.sum(), 1, atol=1e-4) or count == 0
            assert np.allclose(tried_priors, priors[:tried], rtol=1e-4)
            even = np.allclose(priors, 1 / max(count, 1))
            assert even == (node > 0)


@pytest.mark.parametrize("shape", [0.03, 0.3, 1.0, 2.5])
def test_gamma(shape):
    @njit
    def draw(count: int) -> Any:
        numbers = np.empty(count)
        generator = np.uint64(1)
        for index in range(count):
            generator, numbers[index] = gamma(generator, shape)
        return numbers

    assert stats.kstest(draw(100_000), stats.gamma(shape).cdf).pvalue > 0.01


def test_temperature():
    lanes = 400
    states = np.repeat(batch_of("kirche", 40).states[:1], lanes)
    search = PUCT("kirche", lanes, 20, seed=1, dirichlet_fraction=0)
    network = Network()
    result = search.run(states, network, temperature=0)
    assert (result.visits == result.visits[0]).all()
    most = result.visits[0].max()
    assert (result.visits[0, result.actions] == most).all()
    tried = np.flatnonzero(result.visits[0])
    for temperature in (1.0, 0.5):
        actions = search.run(states, network, temperature=temperature).actions
        weights = result.visits[0, tried].astype(float) ** (1 / temperature)
        expected = weights / weights.sum() * lanes
        counts = np.array([(actions == action).sum() for action in tried])
        assert counts.sum() == lanes
        assert stats.chisquare(counts, expected).pvalue > 0.001


# Limits, and what is refused


def test_leaves_without_room_stay_leaves():
    batch = batch_of("kirche", 40)
    result = PUCT("kirche", LANES, 200, seed=1, max_edges=1323).run(batch, Network())
    assert result.full.all()
    assert result.visits.sum(axis=1).tolist() == [200] * LANES


def test_impossible_positions_are_named():
    search = PUCT("kirche", 2, 3)
    with pytest.raises(TypeError, match="kirche"):
        search.run(make_batch("meeples", 2))
    with pytest.raises(ValueError, match="shape"):
        search.run(make_batch("kirche", 3))
    states = make_batch("kirche", 2).states.copy()
    states["status"][1] = 1
    with pytest.raises(ValueError, match="lane 1"):
        search.run(states)


@pytest.mark.parametrize(
    ("policy", "values", "words"),
    [
        (np.zeros((2, 5)), np.zeros(2), "policy has the shape"),
        (np.zeros((2, 1323)), np.zeros(3), "values have the shape"),
        (np.zeros((2, 1323)), np.zeros((2, 3)), "values have the shape"),
        (np.full((2, 1323), np.nan), np.zeros(2), "lane 0: the network's policy"),
        (np.full((2, 1323), np.inf), np.zeros(2), "lane 0: the network's policy"),
        (np.zeros((2, 1323)), np.array([0, np.nan]), "lane 1: the network's value"),
    ],
)
def test_impossible_answers_are_named(policy, values, words):
    search = PUCT("kirche", 2, 3)
    batch = make_batch("kirche", 2, seed=1)
    with pytest.raises(ValueError, match=words):
        search.run(batch, lambda observations, masks: (policy, values))
    # The next run is not disturbed by it.
    assert search.run(batch).visits.sum() == 6


@pytest.mark.parametrize("answer", [np.zeros((2, 1323)), None, (np.zeros((2, 1323)),), "ab"])
def test_an_answer_that_is_no_pair_is_refused(answer):
    with pytest.raises(TypeError, match=r"must return a pair \(policy, values\), not"):
        PUCT("kirche", 2, 3).run(make_batch("kirche", 2), lambda observations, masks: answer)


def test_answers_of_any_memory_layout_compile_nothing():
    search, batch = PUCT("kirche", 2, 3, seed=1), make_batch("kirche", 2, seed=1)

    def read_only(observations: Any, masks: Any) -> Any:
        answers = np.zeros((2, 1323), np.float32), np.zeros(2, np.float32)
        for array in answers:
            array.flags.writeable = False
        return answers

    def strided(observations: Any, masks: Any) -> Any:
        return np.zeros((2, 2646), np.float32)[:, ::2], np.zeros((2, 2)).T[:1].T

    search.run(batch, lambda observations, masks: (np.zeros(masks.shape), np.zeros(2)))
    known = len(expand_lanes.signatures)
    for network in (read_only, strided):
        search.run(batch, network)
    assert len(expand_lanes.signatures) == known


def test_negative_priors_are_refused():
    search = PUCT("kirche", 2, 3, policy="priors")
    with pytest.raises(ValueError, match="lane 0: the network's policy"):
        search.run(make_batch("kirche", 2), lambda _, masks: (-1.0 * masks, np.zeros(2)))


def test_engine_is_not_disturbed():
    """A search draws nothing from the games' own chance."""
    batch, twin = batch_of("meeples", 30), batch_of("meeples", 30)
    PUCT("meeples", LANES, 10, seed=1).run(batch)
    for _ in range(20):
        actions = batch.sample_actions().copy()
        batch.step(actions)
        twin.step(actions)
    assert batch.observation.tolist() == twin.observation.tolist()
