"""Ctrl-C ends long calls of searches and agents, loses nothing, and slices change no result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from tabletop_envs import make_batch, threads
from tabletop_envs.agents import greedy, make_agent, mcts
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.arena import records
from tabletop_envs.search import PUCT, Search, single
from tabletop_envs.threads import next_size
from tests.arena.test_arena import environment
from tests.games import each_game

SIZES = (1, 7, 64, 10**6)
LANES = 5
LIMIT_SECONDS = 30


@pytest.fixture
def slices(monkeypatch):
    """Slices keep the size that they are given."""
    for module in (single, threads, mcts, greedy):
        monkeypatch.setattr(module, "next_size", lambda size, *_: size)


def test_slices_take_about_the_time_they_should():
    assert next_size(1000, 1000, 0.02, 0.02) == 1000
    assert next_size(1000, 1000, 0.08, 0.02) == 250
    assert next_size(1000, 1000, 0.0, 0.02) == 2000
    assert next_size(1000, 500, 0.02, 0.02) == 500
    assert next_size(3, 3, 100.0, 0.02) == 1


@each_game
def test_slices_change_no_result(name, slices):
    batch = make_batch(name, LANES, seed=4)
    batch.rollout(30)
    lanes = np.arange(LANES)
    found = set()
    for size in SIZES:
        results: list[Any] = []
        for rules in ({}, {"priors": "none", "playout": 9}):
            search = Search(name, seed=1, max_nodes=700, **rules)
            search._slice = size
            for simulations in (1, 90, 20):
                result = search.run(batch.states[:1], simulations)
                results += [result.action, result.visits, result.action_values, result.simulations]
        for agent in (MCTSAgent(30), MCTSAgent(30, num_threads=2), make_agent("greedy")):
            vars(agent)["_slice"] = size
            actions, samplers = np.zeros(LANES, np.int64), np.arange(LANES, dtype=np.uint64)
            agent.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, lanes, actions)
            results += [actions, samplers]
        for num_threads in (1, 2):
            with PUCT(name, LANES, 40, seed=1, num_threads=num_threads) as puct:
                puct._threads.slice_size = size
                found_there = puct.run(batch)
                results += [found_there.visits, found_there.values, found_there.actions]
        found.add(repr([np.asarray(each).tolist() for each in results]))
    assert len(found) == 1


# Calls that would take minutes, after short ones that compile them; each says when it begins and
# how it ended.
CALLS = """
import signal
import numpy as np
from tabletop_envs import kirche_v0, make_batch, search
from tabletop_envs.agents import make_agent
from tabletop_envs.agents.mcts import MCTSAgent

signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background
env = kirche_v0.env()
env.reset(seed=1)
batch = make_batch("kirche-v0", 4, seed=1)
rng = np.random.default_rng(1)
tree = search.Search("kirche-v0", seed=1, max_nodes=2**24)
threads, greedy = MCTSAgent(10**6, num_threads=2), make_agent("greedy")
short = search.PUCT("kirche-v0", 4, 5, seed=1)
even = search.PUCT("kirche-v0", 4, 2**22, seed=1, num_threads=2, max_edges=10**6)
few, many, actions = np.arange(4), np.zeros(10**7, np.int64), np.zeros(4, np.int64)

def choose(agent, lanes):
    samplers = np.arange(4, dtype=np.uint64)
    agent.choose_lanes(batch.game, batch.states, batch.legal_bits, samplers, lanes, actions)

def ask(name):
    return make_agent(name).choose(env, rng)

calls = [
    (lambda: tree.run(env, 10), lambda: tree.run(env, 2 * 10**7)),
    (lambda: ask("mcts:5"), lambda: ask("mcts:2000000")),
    (lambda: None, lambda: choose(threads, few)),
    (lambda: choose(greedy, few), lambda: choose(greedy, many)),
    (lambda: short.run(batch), lambda: even.run(batch)),
]
for short_call, long_call in calls:
    short_call()
    try:
        print("begins", flush=True)
        long_call()
        print("ended", flush=True)
    except KeyboardInterrupt:
        short_call()
        print("interrupted", flush=True)
result = tree.run(env, 10)
assert result.action in np.flatnonzero(env.unwrapped.action_mask())
assert result.nodes > 100, "what had been searched is lost"
"""

# A tournament whose games are slow once the first have ended.
TOURNAMENT = """
import signal, sys, time
from tests.arena.test_arena import drawn, play_small

def slow(observation, mask, rng):
    if finished:
        print("begins", flush=True)
        time.sleep(300)
    return drawn(observation, mask, rng)

slow.fingerprint = "drawn"
finished = False

def progress(step):
    global finished
    finished = step.done >= 2

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        play_small(sys.argv[1], 40, agents=["random", ("drawn", slow)], progress=progress)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def interrupted(process: subprocess.Popen[str], pause: float) -> None:
    """Wait until a process says that it begins, press Ctrl-C, and wait until it says so."""
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    time.sleep(pause)
    process.send_signal(signal.SIGINT)
    # Long enough for a busy machine, far too short for the call to end by itself.
    limit = threading.Timer(LIMIT_SECONDS, process.kill)
    limit.start()
    try:
        assert process.stdout.readline() == "interrupted\n"
    finally:
        limit.cancel()


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
def test_ctrl_c_ends_long_calls():
    words = [sys.executable, "-c", CALLS]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        for _ in range(5):
            interrupted(process, 0.2)
        assert process.wait() == 0


@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT")
def test_ctrl_c_leaves_a_tournament_its_finished_games(tmp_path):
    path, script = tmp_path / "games.jsonl", tmp_path / "slow.py"
    script.write_text(TOURNAMENT, encoding="utf-8")
    words = [sys.executable, str(script), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        interrupted(process, 0.0)
        assert process.wait() == 0
    assert len(list(records.read_records(path))) >= 2
