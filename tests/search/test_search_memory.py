"""A search with little memory or odd numbers chooses legal actions, and reads nothing unwritten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_batch, registry
from tabletop_envs.agents import mcts
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.search import PUCT, Search, batched, nodes, single
from tests.games import each_game

LANES = 3
GARBAGE = (0x00, 0x7F, 0xFF)


@pytest.fixture
def garbage(monkeypatch):
    """The byte that the memory of new trees is full of, to be changed in the list."""
    byte = [0]

    def new_tree(*arguments: Any) -> nodes.Tree:
        tree = nodes.new_tree(*arguments)
        for array in (tree.nodes, tree.edges, tree.seen, tree.path):
            array.view(np.uint8)[...] = byte[0]
        return tree

    for module in (single, batched, mcts):
        monkeypatch.setattr(module, "new_tree", new_tree)
    return byte


def positions(name: str, steps: int = 37) -> BatchEnv:
    batch = make_batch(name, LANES, seed=2)
    batch.rollout(steps)
    return batch


def room(name: str) -> tuple[int, ...]:
    least = registry.get_game(name).kernel.num_actions
    return least, least + 1, least + 100


def same(results: list[Any]) -> bool:
    """Whether all results have the same numbers."""
    return len({repr([np.asarray(value).tolist() for value in each]) for each in results}) == 1


@each_game
@pytest.mark.parametrize("rules", [{}, {"priors": "none", "playout": 5}], ids=["default", "uct"])
def test_search_of_one_position(name, rules, garbage):
    batch = positions(name)
    for max_edges in room(name):
        for max_nodes in (1, 2, 5, 60):
            results: list[Any] = []
            for garbage[0] in GARBAGE:
                search = Search(name, max_nodes=max_nodes, max_edges=max_edges, seed=3, **rules)
                results.append([])
                for lane in range(LANES):
                    for simulations in (1, 1, 40):
                        result = search.run(batch.states[lane : lane + 1], simulations)
                        legal = np.flatnonzero(batch.action_mask[lane])
                        assert result.actions.tolist() == legal.tolist()
                        assert result.action in legal
                        assert result.nodes <= max_nodes
                        results[-1] += [result.action, result.visits, result.values]
            assert same(results)


@each_game
def test_searching_agents(name, garbage):
    batch = positions(name)
    results = []
    for garbage[0] in GARBAGE:
        results.append([])
        for agent in (MCTSAgent(1), MCTSAgent(30), MCTSAgent(30, temperature=1e300)):
            actions = np.full(LANES, -1)
            samplers = np.arange(LANES, dtype=np.uint64)
            lanes = np.arange(LANES)
            agent.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, lanes, actions)
            assert batch.action_mask[lanes, actions].all()
            results[-1] += [actions, samplers]
    assert same(results)


def constant(policy: float, value: float) -> Any:
    def network(observations: Any, masks: Any) -> tuple[Any, Any]:
        return np.full(masks.shape, policy), np.full(len(masks), value)

    return network


def every_other(observations: Any, masks: Any) -> tuple[Any, Any]:
    logits = np.where(np.arange(masks.shape[1]) % 2, -np.inf, 1e38)
    return np.tile(logits, (len(masks), 1)), np.zeros(len(masks))


NETWORKS = [
    None,
    constant(0.0, 1.0),
    constant(-np.inf, -1.0),
    constant(3e38, 3e38),
    constant(-3e38, -3e38),
    constant(1e-45, 1e-45),
    every_other,
]
ODD = [
    {},
    {"c_puct": 0.0, "fpu_reduction": -2.0},
    {"c_puct": 1e300, "fpu_reduction": 2.0},
    {"dirichlet_alpha": 1e-6, "dirichlet_fraction": 1.0},
    {"dirichlet_alpha": 1e300, "dirichlet_fraction": 1.0},
]


@each_game
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_batched_search(name, odd, garbage):
    batch = positions(name)
    for max_edges in room(name):
        for network in NETWORKS:
            results: list[Any] = []
            for garbage[0] in GARBAGE:
                search = PUCT(name, LANES, 20, seed=3, max_edges=max_edges, **odd)
                results.append([])
                for temperature in (0.0, 5e-324, 1.0, 1e308):
                    result = search.run(batch, network, temperature=temperature)
                    assert batch.action_mask[np.arange(LANES), result.actions].all()
                    assert (result.visits[~batch.action_mask] == 0).all()
                    results[-1] += [result.actions, result.visits, result.values]
            assert same(results)


@each_game
def test_a_search_without_room_for_its_root_is_refused(name):
    least = room(name)[0]
    for max_edges in (1, 5, least - 1):
        words = f"max_edges={max_edges} must be an integer from {least}"
        with pytest.raises(ValueError, match=words):
            PUCT(name, LANES, 20, max_edges=max_edges)
        with pytest.raises(ValueError, match=words):
            Search(name, max_edges=max_edges)
