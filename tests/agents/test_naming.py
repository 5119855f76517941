"""Agents by name: custom code, what it may be, what is told where it is none, and what runs it."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.agents import GameAgent, RandomAgent, fingerprint, make_agent
from tabletop_envs.agents.naming import CallableAgent, NamedAgent, own_agent
from tests.agents.custom_agents import write_hostile, write_mine
from tests.arena.test_arena import environment
from tests.games import raw_env


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    return write_mine(tmp_path_factory.mktemp("agents"), "named_agents")


@pytest.fixture(autouse=True)
def _beside_them(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("first", CallableAgent),
        ("make", CallableAgent),
        ("Mine", RandomAgent),
        ("ready", RandomAgent),
        ("Policy", CallableAgent),
        ("called", CallableAgent),
        ("called.last", CallableAgent),
    ],
)
def test_what_an_object_may_be(mine, name, kind):
    whole = f"{mine.name}:{name}"
    agent = make_agent(whole)
    assert isinstance(agent, NamedAgent) and isinstance(agent, GameAgent)
    assert agent.name == whole and isinstance(agent.agent, kind)
    env = raw_env("kirche")
    env.reset(seed=1)
    legal = np.flatnonzero(env.action_mask()).tolist()
    action = agent.choose(env, np.random.default_rng(1))
    assert action in legal
    if kind is CallableAgent:
        assert action == (legal[-1] if name.endswith("last") else legal[0])


def test_a_module_is_named_without_its_file(monkeypatch, mine):
    monkeypatch.syspath_prepend(mine.parent)
    by_module, by_file = (make_agent(f"{place}:Mine") for place in (mine.stem, mine))
    assert fingerprint(by_module) == fingerprint(by_file)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gredy", ["no agent 'gredy'", "random, greedy, mcts:N, MODULE:OBJECT, FILE.py:OBJECT"]),
        ("no_such.py:agent", ["there is no file", "no_such.py"]),
        ("no_such_module:agent", ["no module 'no_such_module'", "random, greedy, mcts:N"]),
        ("{mine}", ["must be module:NAME or file.py:NAME"]),
        ("{mine}:frist", ["'frist'", "did you mean 'first'?", "there is none", "draw"]),
        ("{mine}:number", ["of the type int"]),
        ("{mine}:two", ["must be a GameAgent, a callable (observation", "function two"]),
        ("{mine}:wrong", ["called without arguments: it returned 'nothing'"]),
        ("{mine}:broken", ["has failed: RuntimeError: no weights"]),
        ("bad_agents.py:agent", ["importing", "ZeroDivisionError: division by zero", "line 2"]),
        ("greedy:learned", ["no evaluation 'learned'", "by which 'greedy' plays"]),
        ("mcts:40:{mine}:first", ["no evaluation", "by which 'mcts:40' plays"]),
        ("no_such.pt", ["no_such.pt is not there", "ppo_selfplay.py"]),
        ("folder.pt", ["is no file"]),
    ],
)
def test_what_was_looked_for_and_found(tmp_path, monkeypatch, name, expected):
    monkeypatch.chdir(tmp_path)
    write_mine(tmp_path, "told_agents")
    Path("bad_agents.py").write_text("agent = 1\n1 / 0\n")
    Path("folder.pt").mkdir()
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("told_agents", None)
    whole = name.format(mine="told_agents.py")
    with pytest.raises(ValueError, match=r"agent") as raised:
        make_agent(whole)
    for part in (whole, *expected):
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("outside", "is outside the action space"), ("nothing", "must be an integer")],
)
def test_an_answer_that_is_no_action_names_the_agent(mine, name, message):
    env = raw_env("kirche")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"agent '.*:{name}' answered .*{message}"):
        make_agent(f"{mine}:{name}").choose(env, np.random.default_rng(1))


def test_a_callable_draws_from_its_lane_alone(mine):
    agent, game = make_agent(f"{mine}:draw"), registry.get_game("kirche")
    env = raw_env("kirche")
    env.reset(seed=1)
    state, legal = env.lane()
    states, legal_bits = np.repeat(state, 5), np.repeat(legal, 5, axis=0)
    rngs = np.arange(5, dtype=np.uint64)
    together, alone = np.full(5, -1), np.full(5, -1)
    agent.choose_lanes(game, states, legal_bits, rngs, np.arange(1, 5), together)
    assert together[0] == -1 and rngs[0] == 0 and (rngs[1:] != np.arange(1, 5)).all()
    for lane in (3, 1, 4, 2):
        own = np.arange(5, dtype=np.uint64)
        agent.choose_lanes(game, states, legal_bits, own, np.array([lane]), alone)
    assert alone.tolist() == together.tolist()


def test_a_checkpoint_without_pytorch_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("tabletop_envs.networks")]:
        monkeypatch.delitem(sys.modules, name)
    path = tmp_path / "checkpoint.pt"
    path.touch()
    with pytest.raises(ImportError, match=r"tabletop-envs\[train\]"):
        make_agent(str(path))


# What tells them apart

SHOW = "import sys; from tabletop_envs.agents import *; print(fingerprint(make_agent(sys.argv[1])))"


def told(path: Path, name: str = "first") -> str:
    """A fingerprint in another process."""
    return subprocess.run(
        [sys.executable, "-c", SHOW, f"{path}:{name}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    ).stdout.strip()


def test_a_changed_file_makes_another_agent_and_a_moved_one_does_not(tmp_path):
    path = write_mine(tmp_path, "changing_agents")
    agent = make_agent(f"{path}:first")
    other = make_agent(f"{path}:draw")
    assert fingerprint(agent) != fingerprint(other)
    (tmp_path / "elsewhere").mkdir()
    moved = write_mine(tmp_path / "elsewhere", "changing_agents")
    assert told(moved) == fingerprint(agent)
    again = pickle.loads(pickle.dumps(agent))
    assert again.name == agent.name and fingerprint(again) == fingerprint(agent)
    data = pickle.dumps(agent)
    # What the agent finds elsewhere in its file counts, too.
    path.write_text(path.read_text().replace("number = 3", "number = 4"))
    assert told(path) != fingerprint(agent)
    for load in (lambda: make_agent(f"{path}:first"), lambda: pickle.loads(data)):
        with pytest.raises(ValueError, match="has changed since its code was run"):
            load()


def test_a_copy_is_an_agent_of_its_own(mine):
    agent = make_agent(f"{mine}:Policy")
    twin = copy.deepcopy(agent)
    assert isinstance(agent, NamedAgent) and isinstance(twin, NamedAgent)
    assert twin.agent is not agent.agent and fingerprint(twin) == fingerprint(agent)


# What runs code


def test_own_names_run_nothing(tmp_path):
    path, marker = write_hostile(tmp_path, "hostile_named")
    for name in (f"{path}:agent", f"greedy:{path}:agent", f"mcts:9:{path}:agent", f"{path}", ""):
        with pytest.raises(ValueError, match="random, greedy, mcts:N"):
            own_agent(name)
    assert not marker.exists()
    make_agent(f"{path}:agent")
    assert marker.exists()


def test_a_pair_or_a_game_agent_has_a_name():
    from tabletop_envs.agents.naming import split_spec

    def policy(observation: Any, action_mask: Any, rng: Any) -> int:
        return 0

    agent = RandomAgent()
    assert split_spec(agent) == ("random", agent)
    assert split_spec(("mine", policy)) == ("mine", policy)
    assert split_spec("random")[0] == "random"
    wrong: list[Any] = [policy, ("", policy), ("mine", policy, 1), (1, policy), None]
    for spec in wrong:
        with pytest.raises(TypeError, match="agent"):
            split_spec(spec)
