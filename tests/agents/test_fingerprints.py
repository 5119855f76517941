"""Fingerprints: differ between agents that may play differently, never for the same agent."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tabletop_envs import agents
from tabletop_envs.agents import GameAgent, RandomAgent, fingerprint, make_agent
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.agents.mcts import MCTSAgent
from tests.arena.test_arena import environment

NAMES = ["random", "greedy", "mcts:50", "mcts:51", "mcts:50,priors=none", "mcts:50,exploration=2.0"]


def test_the_librarys_agents_are_told_apart_by_names_and_fingerprints():
    made = [make_agent(name) for name in NAMES]
    assert [agent.name for agent in made] == NAMES
    assert len({fingerprint(agent) for agent in made}) == len(NAMES)
    words = (
        f"from tabletop_envs.agents import *; print(*map(fingerprint, map(make_agent, {NAMES})))"
    )
    told = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, env=environment()
    )
    assert told.stdout.split() == [fingerprint(agent) for agent in made]
    for agent in made:
        assert fingerprint(pickle.loads(pickle.dumps(agent))) == fingerprint(agent)


def test_a_searching_agents_name_says_its_rules():
    agent = MCTSAgent(9, playout=30, priors="none", temperature=None, exploration=1)
    assert agent.name == "mcts:9,priors=none,exploration=1.0,playout=30"
    assert vars(make_agent(agent.name))["rules"] == agent.rules
    assert fingerprint(MCTSAgent(9, num_threads=2)) == fingerprint(MCTSAgent(9))
    for name in ("mcts:9,", "mcts:9,speed=1", "mcts:9,playout=x", "mcts:9,playout=1,playout=2"):
        with pytest.raises(ValueError, match=f"agent '{name}' must be mcts:N"):
            make_agent(name)
    with pytest.raises(TypeError, match="speed=1 must be one of the rules"):
        MCTSAgent(9, speed=1)


def policy(observation: Any, mask: Any, rng: Any, share: float = 0.5) -> int:
    return int(mask.argmax())


def other_policy(observation: Any, mask: Any, rng: Any, share: float = 0.5) -> int:
    return int(mask.argmax())


def closing_over(value: Any) -> Any:
    return lambda observation, mask, rng: int(mask.argmax()) if value else 0


@dataclass
class Config:
    """Settings of a policy."""

    greed: float


class Weights:
    """As PyTorch's modules."""

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def state_dict(self) -> dict[str, Any]:
        return {"weight": np.full(3, self.weight)}


class Policy:
    """A policy with settings; what begins with an underscore is its own business."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._cache: list[int] = []

    def __call__(self, observation: Any, mask: Any, rng: Any) -> int:
        self._cache.append(1)
        return int(mask.argmax())


class Last(RandomAgent):
    """A game agent."""


class Other(Last):
    """Another one, by one method."""

    def helper(self) -> int:
        return 1


def test_what_is_told_apart():
    different = [
        policy,
        other_policy,
        functools.partial(policy, share=0.1),
        functools.partial(policy, share=0.2),
        *map(closing_over, (0, 0.0, False, None, "0", b"0", [0], {0: 0}, {0}, np.zeros(1), policy)),
        lambda observation, mask, rng: 1,
        lambda observation, mask, rng: 2,
        lambda observation, mask, rng: 2.0,
        lambda observation, mask, rng: mask.argmin(),
        *(Policy(value) for value in (1, 2, np.arange(3), np.arange(3.0), np.array([None]))),
        *(Policy(value) for value in ({"a": [np.zeros(2)]}, {"a": [np.ones(2)]})),
        *(Policy(Config(greed)) for greed in (1, 2)),
        *(Policy(Weights(weight)) for weight in (1, 2)),
        Policy(1).__call__,
        RandomAgent(),
        Last(),
        Other(),
    ]
    assert len({fingerprint(agent) for agent in different}) == len(different)
    for make in (lambda: closing_over(2), lambda: Policy({"x": {3, 1, 2}, "y": 0})):
        assert fingerprint(make()) == fingerprint(make())
    used = Policy(1)
    used(None, np.ones(2), None)
    assert fingerprint(used) == fingerprint(Policy(1))


def test_what_goes_in_circles_has_an_end():
    circle: list[Any] = []
    circle += [circle, circle]
    assert fingerprint(Policy(circle)) == fingerprint(Policy(circle))


class Trained(GreedyAgent):
    """An agent that says itself what tells it apart."""

    def __init__(self, step: Any) -> None:
        super().__init__()
        self.step = step

    def fingerprint(self) -> Any:
        return self.step


def test_an_agent_may_give_its_own():
    assert fingerprint(Trained("step 3")) == "step 3"
    named: Any = closing_over(1)
    named.fingerprint = "mine"
    assert fingerprint(named) == "mine"
    for wrong in ("", 3, b"x"):
        with pytest.raises(TypeError, match=r"fingerprint of agent .* must be a text"):
            fingerprint(Trained(wrong))
    assert issubclass(Trained, GameAgent)
    assert "fingerprint" in agents.__all__
