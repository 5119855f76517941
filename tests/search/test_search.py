"""Search of one position at a time, and the agent that plays by it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from benchmarks.connect_four_game import GAME as CONNECT_FOUR
from benchmarks.connect_four_game import make_batch as make_connect_four
from tabletop_envs import kirche_v0, make_batch, meeples_v0, registry
from tabletop_envs.agents import make_agent
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.kernels import engine
from tabletop_envs.search import Search
from tabletop_envs.search.nodes import NODE
from tests import games
from tests.games import each_case, each_game, positions

WON = [entry for entry in positions("kirche") if entry.get("winning")]
RULES = [{}, {"priors": "none", "playout": 30}]
each_rules = pytest.mark.parametrize("rules", RULES, ids=["default", "uct"])


def batch_of(name: str, lanes: int, steps: int, seed: int = 1, **options: Any) -> BatchEnv:
    """A batch after some random actions."""
    batch = make_batch(name, lanes, seed=seed, **options)
    batch.rollout(steps)
    return batch


def legal_of(batch: BatchEnv, lane: int) -> list[int]:
    return np.flatnonzero(batch.action_mask[lane]).tolist()


def as_lists(search: Search) -> tuple[Any, Any]:
    """The tree of a search as far as it is in use."""
    nodes, _, _ = search._tree.used.tolist()
    records = search._tree.nodes[:nodes]
    blocks = [slice(node["first"], node["first"] + node["count"]) for node in records]
    fields = {name: records[name].tolist() for name in NODE.names or ()}
    return fields, [search._tree.edges[block].tolist() for block in blocks]


# Strength where it can be proved


@pytest.mark.parametrize("simulations", [1, 200])
@pytest.mark.parametrize("entry", WON)
def test_search_plays_a_winning_action(entry, simulations):
    env = kirche_v0.raw_env()
    env.restore(entry["snapshot"])
    result = Search("kirche", seed=1, max_nodes=1000).run(env, simulations)
    assert result.action in entry["winning"]
    mover = entry["snapshot"]["to_move"]
    best = result.action_values[result.actions == result.action][0]
    assert best[mover] == 1.0
    assert best[1 - mover] == -1.0


def test_uct_wins_and_blocks_in_connect_four():
    # Columns 3 and 4 are three high, of one player each: who is to move wins by a fourth stone.
    batch = make_connect_four(1, seed=1)
    for column in (3, 4, 3, 4, 3, 4):
        batch.step(np.array([column]))
    search = Search(CONNECT_FOUR, seed=1, max_nodes=3000)
    assert search.run(batch.states, 1000).action == 3
    # Another first player's stone instead of the fourth: now the second player must be stopped.
    batch = make_connect_four(1, seed=1)
    for column in (3, 0, 3, 6, 3):
        batch.step(np.array([column]))
    assert search.run(batch.states, 1000).action == 3


def test_more_simulations_are_stronger_than_random_play():
    lanes, agent, random = 20, MCTSAgent(30), make_agent("random")
    batch = make_batch("kirche", lanes, seed=3, num_houses=1)
    wins = np.zeros(lanes)
    over = np.zeros(lanes, bool)
    actions, everyone = np.zeros(lanes, np.int64), np.arange(lanes)
    while not over.all():
        own = (batch.current_player == everyone % 2) & ~over
        for player, turn in ((agent, own), (random, ~own)):
            player.choose_lanes(
                batch.game,
                batch.states,
                batch.legal_bits,
                batch._lanes.rngs,
                everyone[turn],
                actions,
            )
        batch.step(actions)
        ended = batch.terminated & ~over
        wins[ended] = batch.rewards[everyone, everyone % 2][ended]
        over |= ended
    assert wins.mean() > 0.5


# What a result says


@each_rules
@each_case
def test_result_counts_every_simulation(name, options, rules):
    batch = batch_of(name, 6, 23, **options)
    before = batch.states.tobytes()
    for lane in range(batch.num_envs):
        search = Search(name, seed=lane, max_nodes=500, **rules)
        result = search.run(batch.states[lane : lane + 1], 60)
        assert result.actions.tolist() == legal_of(batch, lane)
        assert result.action in legal_of(batch, lane)
        assert result.visits.sum() == 60
        assert result.visits[result.actions == result.action] == result.visits.max()
        assert result.principal_variation[0] == result.action
        # The root's own value, of its expansion, and those of all simulations make its mean.
        seen = result.visits > 0
        assert np.isnan(result.action_values).all(axis=1).tolist() == (~seen).tolist()
        total = (result.visits[seen, None] * result.action_values[seen]).sum(axis=0)
        own = result.values * 61 - total
        for values in (result.values, own, *result.action_values[seen]):
            assert values.shape == (batch.num_players,)
            assert abs(values.sum()) < 1e-6
            assert (np.abs(values) <= 1 + 1e-6).all()
        assert not result.full
    assert batch.states.tobytes() == before


@each_rules
@each_case
def test_same_seed_same_tree(name, options, rules):
    state = batch_of(name, 1, 31, **options).states
    trees = []
    for seed in (7, 7, 8):
        search = Search(name, seed=seed, max_nodes=500, **rules)
        search.run(state, 30)
        search.run(state, 30)
        trees.append(as_lists(search))
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


@each_case
def test_whoever_acts_chooses_for_himself(name, options):
    """Below the root, too, most visits go to what is best for the player to move there."""
    batch = batch_of(name, 1, 40, seed=5, **options)
    search = Search(name, seed=1, max_nodes=3000)
    search.run(batch.states, 2000)
    nodes = search._tree.nodes
    child = max(search._children(nodes[0]).values(), key=lambda index: nodes[index]["visits"])
    states = batch.states.copy()
    legal, result = engine.new_legal(batch.game.kernel), np.zeros(7, np.int64)
    engine.advance_one(states, legal, engine.REFRESH, 0, result)
    engine.advance_one(states, legal, engine.STEP, int(nodes[child]["action"]), result)
    if states["status"][0] != 0:
        pytest.skip("the best action ends the game")
    mover = int(states["to_move"][0])
    below = [nodes[index] for index in search._children(nodes[child]).values()]
    if len(below) < 2:
        pytest.skip("there is nothing to choose")
    means = np.array([node["total"][mover] / node["visits"] for node in below])
    visits = np.array([node["visits"] for node in below])
    assert means[visits.argmax()] > np.average(means) - 1e-9


# What a search may know


def test_choice_does_not_depend_on_hidden_hands_or_chance_to_come():
    batch = batch_of("meeples", 12, 70, num_players=3)
    for lane in range(batch.num_envs):
        results = []
        for generator in (1, 2):
            state = batch.states[lane : lane + 1].copy()
            batch.game.deal_hidden(state, int(state["to_move"][0]), generator)
            results.append(Search("meeples", seed=3, max_nodes=200).run(state, 50))
        assert results[0].visits.tolist() == results[1].visits.tolist()
        np.testing.assert_array_equal(results[0].action_values, results[1].action_values)


def test_dice_are_rolled_anew_in_every_simulation():
    """After the same actions different ones are legal: edges are added as they are met."""
    batch = batch_of("meeples", 30, 45)
    grown = 0
    for lane in range(batch.num_envs):
        search = Search("meeples", seed=1, max_nodes=3000)
        search.run(batch.states[lane : lane + 1], 1000)
        nodes = search._tree.nodes[: search._tree.used[0]]
        grown += (nodes["capacity"] > nodes["count"]).sum()
        assert (search._tree.seen[: search._tree.used[1]] >= 0).all()
    assert grown > 0


# Trees that are kept


def test_another_position_begins_a_new_tree():
    batch = batch_of("kirche", 2, 30)
    search = Search("kirche", seed=1, max_nodes=1000)
    search.run(batch.states[:1], 50)
    assert search.run(batch.states[:1], 50).visits.sum() == 100
    assert search.run(batch.states[1:], 50).visits.sum() == 50


# Limits


def test_search_stops_when_nodes_run_out():
    state = batch_of("kirche", 1, 30).states
    search = Search("kirche", seed=1, max_nodes=50)
    result = search.run(state, 1000)
    assert result.full
    assert result.nodes == 50
    assert 49 <= result.simulations < 1000
    again = search.run(state, 1000)
    assert again.full
    assert again.action in again.actions


@each_game
def test_search_goes_on_when_edges_run_out(name):
    state = batch_of(name, 1, 30).states
    least = registry.get_game(name).kernel.num_actions
    result = Search(name, seed=1, max_nodes=3000, max_edges=least).run(state, 900)
    assert result.full
    assert result.simulations >= 900
    assert result.visits.sum() == 900


def test_time_limit():
    state = batch_of("kirche", 1, 30).states
    search = Search("kirche", seed=1)
    assert search.run(state, seconds=0).simulations >= 1
    result = search.run(state, seconds=0.05)
    assert result.simulations > 1
    assert search.run(state, 5, seconds=60.0).simulations == 5


# The agent


@each_case
def test_agent_chooses_lane_by_lane(name, options):
    batch = batch_of(name, 9, 37, **options)
    before = batch.states.tobytes()
    lanes = np.array([0, 2, 3, 7, 8])
    choices, generators = [], []
    for threads, parts in ((1, [lanes]), (2, [lanes]), (3, [lanes[3:], lanes[:3]])):
        agent = MCTSAgent(40, num_threads=threads)
        actions = np.full(9, -1)
        own = batch._lanes.rngs.copy()
        for part in parts:
            agent.choose_lanes(batch.game, batch.states, batch.legal_bits, own, part, actions)
        choices.append(actions.tolist())
        generators.append(own.tolist())
    assert choices[0] == choices[1] == choices[2]
    assert generators[0] == generators[1] == generators[2]
    moved = [lane for lane in range(9) if generators[0][lane] != batch._lanes.rngs[lane]]
    assert moved == lanes.tolist()
    for lane in range(9):
        assert (
            choices[0][lane] in legal_of(batch, lane) if lane in lanes else choices[0][lane] == -1
        )
    assert batch.states.tobytes() == before


@each_game
def test_agent_is_made_by_name_and_plays_an_environment(name):
    env = games.raw_env(name)
    env.reset(seed=1)
    agent: Any = make_agent("mcts:20")
    assert agent.name == "mcts:20"
    first = agent.choose(env, np.random.default_rng(1))
    assert first in games.legal_actions(env)
    copy = pickle.loads(pickle.dumps(agent))
    assert copy.choose(env, np.random.default_rng(1)) == first


def test_agent_changes_games():
    agent = MCTSAgent(10)
    for name in ("kirche", "tuerme", "kirche"):
        env = games.raw_env(name)
        env.reset(seed=1)
        assert agent.choose(env, np.random.default_rng(1)) in games.legal_actions(env)


# What is refused


def test_impossible_positions_are_named():
    search = Search("kirche", max_nodes=100)
    other = meeples_v0.env()
    other.reset(seed=1)
    with pytest.raises(TypeError, match="meeples"):
        search.run(other)
    with pytest.raises(TypeError, match="kirche"):
        search.run(make_batch("kirche", 2).states)
    with pytest.raises(TypeError, match="environment"):
        search.run("here")
    state = make_batch("kirche", 1).states
    with pytest.raises(TypeError, match="speed"):
        MCTSAgent(1, speed=1).choose_lanes(
            registry.get_game("kirche"), state, np.zeros((1, 28)), None, np.zeros(1), None
        )
