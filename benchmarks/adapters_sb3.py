"""Stable-Baselines3: the adapter beside the wrapper of PettingZoo's tutorial for MaskablePPO."""

# mypy: disallow-subclassing-any=False
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pettingzoo.utils
from sb3_contrib.common.maskable.utils import get_action_masks
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.adapters_choice import choose
from benchmarks.measuring import Case, Work
from benchmarks.works import SEED, make_aec
from tabletop_envs.adapters import sb3

ADAPTER, OWN = "adapter", "PettingZoo's SB3 wrapper"
# The price of a step in a `DummyVecEnv` does not depend on how many there are.
OWN_LANES = 16


class AECWrapper(pettingzoo.utils.BaseWrapper, gymnasium.Env[Any, Any]):
    """An AEC environment as a Gymnasium one in which the learner plays all seats."""

    env: Any

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new game; what the agent to move sees."""
        self.env.reset(seed, options)
        agent = self.env.possible_agents[0]
        self.observation_space = self.env.observation_space(agent)["observation"]
        self.action_space = self.env.action_space(agent)
        return self.observe(self.env.agent_selection), {}

    def step(self, action: Any) -> Any:
        """Play an action of the agent to move; the next agent's observation and reward."""
        self.env.step(action)
        agent = self.env.agent_selection
        return (
            self.observe(agent),
            self.env._cumulative_rewards[agent],
            self.env.terminations[agent],
            self.env.truncations[agent],
            self.env.infos[agent],
        )

    def observe(self, agent: str) -> Any:
        """The observation without the mask."""
        return self.env.observe(agent)["observation"]

    def action_mask(self) -> Any:
        """The mask of the agent to move."""
        return self.env.observe(self.env.agent_selection)["action_mask"]


def _make_aec(game: str) -> Any:
    env = AECWrapper(make_aec(game))
    env.reset(seed=SEED)
    return ActionMasker(env, AECWrapper.action_mask)


def _work(env: Any) -> Work:
    env.reset()
    generator = np.random.default_rng(SEED)

    def work(steps: int) -> int:
        for _ in range(steps):
            env.step(choose(get_action_masks(env), generator))
        return steps * int(env.num_envs)

    return work


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Steps with masks fetched as MaskablePPO fetches them."""
    own = DummyVecEnv([lambda: _make_aec(game)] * OWN_LANES)
    return {
        Case("sb3, self-play", OWN, game, OWN_LANES): _work(own),
        Case("sb3, learner", ADAPTER, game, lanes): _work(sb3.make_vec_env(game, lanes, seed=SEED)),
    }
