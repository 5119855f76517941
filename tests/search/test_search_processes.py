"""Searches and agents in forked and spawned processes, and in several threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_batch
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.search import PUCT, Search
from tests.arena.test_arena import environment

CHILDREN = """
import multiprocessing
import numpy as np
from tabletop_envs import make_batch, search
from tabletop_envs.agents import make_agent
from tabletop_envs.agents.mcts import MCTSAgent

batch = make_batch("kirche-v0", 4, seed=1)
puct = search.PUCT("kirche-v0", 4, 20, num_threads=2)
tree = search.Search("kirche-v0", seed=1, max_nodes=100)
agents = MCTSAgent(20, num_threads=2), make_agent("greedy")

def work():
    puct.seed(1)
    found = [puct.run(batch).visits.tolist()]
    for agent in agents:
        actions, samplers = np.zeros(4, np.int64), np.arange(4, dtype=np.uint64)
        agent.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, np.arange(4), actions)
        found.append(actions.tolist())
    return found, tree.run(batch.states[:1], 5).action

if __name__ == "__main__":
    found, _ = work()
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply_async(work).get(timeout=300)[0] == found
        print(method)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks a process that has threads")
def test_children_search_as_their_parent_does(tmp_path):
    script = tmp_path / "children.py"
    script.write_text(CHILDREN, encoding="utf-8")
    told = subprocess.run(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert told.stdout.split() == ["fork", "spawn"]


def test_a_search_takes_one_call_at_a_time():
    batch = make_batch("kirche", 2, seed=1)
    puct, tree = PUCT("kirche", 2, 3, seed=1), Search("kirche", seed=1, max_nodes=100)
    refused = []

    def network(observations: Any, masks: Any) -> tuple[Any, Any]:
        for call in (lambda: puct.run(batch), lambda: puct.seed(1)):
            with pytest.raises(RuntimeError, match="PUCT in which another call is still running"):
                call()
            refused.append(call)
        return np.zeros(masks.shape), np.zeros(len(masks))

    puct.run(batch, network)
    assert refused
    with tree._turn.lock, pytest.raises(RuntimeError, match="Search in which another call"):
        tree.run(batch.states[:1], 5)
    assert tree.run(batch.states[:1], 5).simulations


def test_an_agents_calls_from_several_threads_take_turns():
    batch, agent = make_batch("kirche", 40, seed=1), MCTSAgent(60)
    choices = []

    def choose() -> None:
        actions, samplers = np.zeros(40, np.int64), np.arange(40, dtype=np.uint64)
        lanes = np.arange(40)
        agent.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, lanes, actions)
        choices.append(actions.tolist())

    threads = [threading.Thread(target=choose) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert choices == choices[:1] * 4
