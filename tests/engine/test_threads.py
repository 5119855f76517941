"""Threads, forks and Ctrl-C: one call at a time, children that play on, loops that come back."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading

import gymnasium
import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import kirche_v0, threads
from tabletop_envs.envs import batch
from tabletop_envs.kernels import engine
from tabletop_envs.threads import LaneThreads, Turn, one_at_a_time
from tests.games import each_game, raw_env
from tests.games import play as play_first


def make(num_envs=40, **arguments):
    return tabletop_envs.make_batch("kirche-v0", num_envs, seed=1, **arguments)


# One call at a time


class Waits:
    """Takes one call at a time; `call` waits until it may go on."""

    def __init__(self):
        self._turn = Turn()
        self.called, self.go_on = threading.Event(), threading.Event()

    @one_at_a_time
    def call(self):
        self.called.set()
        assert self.go_on.wait(300)

    @one_at_a_time
    def fail(self):
        raise ZeroDivisionError


def test_a_call_during_another_is_an_error_that_names_both():
    waits = Waits()
    thread = threading.Thread(target=waits.call)
    thread.start()
    assert waits.called.wait(300)
    with pytest.raises(RuntimeError, match=r"fail of a Waits .* one call at a time"):
        waits.fail()
    waits.go_on.set()
    thread.join()
    for _ in range(2):  # after an error, too, it is free again
        with pytest.raises(ZeroDivisionError):
            waits.fail()


def locked(environment):
    """The environment as if another thread were in a call of it."""
    environment._turn.lock.acquire()
    return environment


ENVIRONMENTS = {
    "batch": lambda: make(2),
    "vector": lambda: gymnasium.make_vec("tabletop_envs/Kirche-v0", 2),
    "single": lambda: gymnasium.make("tabletop_envs/Kirche-v0").unwrapped,
    "aec": kirche_v0.raw_env,
}


@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_every_kind_of_environment_takes_one_call_at_a_time(kind):
    environment = locked(ENVIRONMENTS[kind]())
    calls = {"reset": {}, "step": {"batch": [0, 0], "vector": [0, 0]}.get(kind, 0)}
    if kind == "batch":
        calls |= {"sample_actions": None, "rollout": 1}
    for name, argument in calls.items():
        with pytest.raises(RuntimeError, match=f"{name} of a .* one call at a time"):
            getattr(environment, name)(*([] if argument in (None, {}) else [argument]))
    for copied in (copy.deepcopy(environment), pickle.loads(pickle.dumps(environment))):
        copied.reset()  # a copy has its own lock
    if kind == "aec":
        environment.clone().reset()
    environment._turn.lock.release()
    environment.reset()


# Forks


def play(batch, results):
    results.put([batch.rollout(30), batch.observation.tobytes()])
    batch.close()


def test_children_play_on_after_the_parent_has_used_its_threads():
    batch = make(num_threads=3)
    batch.rollout(10)
    children = []
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        results = context.Queue()
        child = context.Process(target=play, args=(batch, results))
        child.start()
        children.append(results.get(timeout=300))
        child.join(300)
        assert child.exitcode == 0
    own = [batch.rollout(30), batch.observation.tobytes()]
    assert children == [own, own]  # with the parent's random streams


def step_learners(learners, results):
    observation, *_ = learners.step(np.zeros(2, int))
    results.put(observation.tobytes())


def test_vector_environments_play_on_in_children():
    learners = gymnasium.make_vec("tabletop_envs/Kirche-v0", 2)
    learners.reset(seed=1)
    seen = []
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        results = context.Queue()
        child = context.Process(target=step_learners, args=(learners, results))
        child.start()
        seen.append(results.get(timeout=300))
        child.join(300)
    observation, *_ = learners.step(np.zeros(2, int))
    assert seen == [observation.tobytes()] * 2


# Ctrl-C


@pytest.mark.parametrize(("lanes", "steps"), [(1, 1), (5, 1000), (100, 7), (100, 999), (33, 64)])
@pytest.mark.parametrize("size", [1, 50, 1000, 10**6])
def test_slices_cover_every_step_of_every_lane_once(monkeypatch, lanes, steps, size):
    monkeypatch.setattr(threads, "next_size", lambda size, *_: size)
    played = np.zeros(lanes + 3, int)

    def play(first, last, done, count):
        assert (last - first) * count <= max(size, engine.BLOCK)
        assert (played[first:last] == done).all()
        played[first:last] += count

    LaneThreads(1, size).run_in_slices([(3, lanes + 3)], steps, play, engine.BLOCK)
    assert played.tolist() == [0, 0, 0, *[steps] * lanes]


@pytest.mark.parametrize("num_threads", [1, 3])
def test_rollouts_do_not_depend_on_slices(monkeypatch, num_threads):
    whole = make(num_threads=num_threads)
    counts = whole.rollout(500)
    monkeypatch.setattr(threads, "next_size", lambda size, *_: size)
    monkeypatch.setattr(batch, "FIRST_SLICE", 600)
    sliced = make(num_threads=num_threads)
    assert sliced.rollout(500) == counts
    assert np.array_equal(sliced.states, whole.states)
    assert sliced.observation.tobytes() == whole.observation.tobytes()


@each_game
def test_perft_does_not_depend_on_slices(monkeypatch, name):
    env = raw_env(name)
    env.reset(seed=1)
    play_first(env, lambda number: 0, 12)
    counts = []
    for budget in (engine.PERFT_BUDGET, 1, 7):
        monkeypatch.setattr(engine, "PERFT_BUDGET", budget)
        states = np.concatenate([env.lane()[0]] * 3)
        counts.append(engine.perft(states, 3))
    assert counts[0] > 10
    assert counts == counts[:1] * 3


LOOPS = {
    "rollout": "batch.rollout(10**12)",
    "perft": "engine.perft(np.concatenate([batch.states[:1]] * 60), 60)",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_ctrl_c_ends_a_loop_and_the_batch_stays_usable(loop, num_threads):
    code = f"""
import numpy as np
import tabletop_envs
from tabletop_envs.kernels import engine
batch = tabletop_envs.make_batch("kirche-v0", 40, seed=1, num_threads={num_threads})
batch.rollout(1), batch.step(batch.sample_actions())
engine.perft(np.concatenate([batch.states[:1]] * 2), 2)
try:
    print("in the loop", flush=True)
    {LOOPS[loop]}
except KeyboardInterrupt:
    print("interrupted")
shown = batch.observation.tobytes(), batch.action_mask.tobytes()
batch._advance(engine.REFRESH, batch._actions)
print(shown == (batch.observation.tobytes(), batch.action_mask.tobytes()))
for _ in range(100):
    batch.step(batch.sample_actions())
print(batch.rollout(10).actions)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the loop\n"
        threading.Event().wait(0.5)  # into the compiled loop itself, surely
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert output.split() == ["interrupted", "True", "400"]


def test_nobody_works_on_when_an_interrupted_call_has_come_back():
    lanes = LaneThreads(3)
    at_work, ended = threading.Barrier(3), []

    def loop(first, last):
        at_work.wait(300)
        if first == 2:
            raise KeyboardInterrupt
        while not lanes.stopping:
            pass
        ended.append(first)

    with pytest.raises(KeyboardInterrupt):
        lanes.run([(0, 1), (1, 2), (2, 3)], loop)
    assert sorted(ended) == [0, 1]
    lanes.run([(0, 1)], lambda *part: None)
    assert not lanes.stopping
    lanes.close()
