"""The turn-based parallel environment of every game, for stacks that speak only PettingZoo's
parallel interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import error, spaces
from pettingzoo import ParallelEnv

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game, ObservationView

__all__ = ["TabletopParallelEnv"]


class TabletopParallelEnv(ObservationView, ParallelEnv):
    """A game as a parallel environment: all agents are asked at every step; the action of the agent
    to move counts.

    Made by a game's `parallel_env`. The other agents' actions are ignored, whatever they are.
    Observations, rewards and the end of the game come for all agents at every step; all agents end
    together.

    Args:
        game: The game, or its name or id.
        **options: The arguments of `TabletopEnv` (`render_mode`, `mask_in`, `obs_key`,
            `on_illegal`) and the game's options.

    Raises:
        TypeError, ValueError: For an unknown or invalid option, naming it and what is allowed.

    `infos[agent]` has the numbers `score`, `ply` and `to_act`: 1 for the agent whose action the
    next step plays, else 0. The mask of an agent that is not to act allows action 0 alone: a masked
    policy then has one choice, with the probability 1, no entropy and no gradient, so that steps at
    which it only waits teach it nothing. (All zeros, the AEC environment's mask, turn softmaxes
    into NaN.) Once the game is over the masks are all ones.

    Attributes:
        aec_env: The AEC environment inside, for snapshots, names of actions and search. Play by
            `step` here, not there.
    """

    def __init__(self, game: Game | str, **options: Any) -> None:
        self.aec_env = TabletopEnv(game, **options)
        self.game = self.aec_env.game
        self.possible_agents: list[str] = self.aec_env.possible_agents[:]
        self.agents: list[str] = []
        self.render_mode: str | None = self.aec_env.render_mode
        self.metadata = {**self.aec_env.metadata, "is_parallelizable": True}

    # Spaces

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of observations: the same object for all agents and at every call."""
        return self.aec_env.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """`Discrete(n)`: the same object for all agents and at every call."""
        return self.aec_env.action_space(agent)

    @property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of observations of every possible agent."""
        return self.aec_env.observation_spaces

    @property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The action space of every possible agent."""
        return self.aec_env.action_spaces

    @property
    def state_space(self) -> spaces.Space[Any]:
        """The space of `state()`."""
        return self.aec_env.state_space

    # Playing

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new game (`TabletopEnv.reset`): all agents' observations and infos."""
        self.aec_env.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        return self._show()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Play the action of the agent to move (`agent_in_turn`).

        Returns:
            Observations, rewards, terminations, truncations and infos of all agents.

        Raises:
            gymnasium.error.ResetNeeded: Before the first `reset`, and after the game's end.
            TypeError: Where `actions` is not a dict.
            ValueError: Where the agent to move has no action in it, for what is no action of the
                action space, and with `on_illegal="raise"` for an illegal one. The game is
                untouched then.
        """
        if not self.agents:
            raise error.ResetNeeded("there is no game to step in: call reset() first")
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions are a dict of agents and their actions, not {actions!r}")
        agent = self.agent_in_turn
        if agent not in actions:
            raise ValueError(f"actions lack the one of {agent}, who is to act: {actions!r}")
        self.aec_env.step(actions[agent])
        observations, infos = self._show()
        rewards, terminations, truncations = (
            dict(self.aec_env.rewards),
            dict(self.aec_env.terminations),
            dict(self.aec_env.truncations),
        )
        if self._over:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    @property
    def agent_in_turn(self) -> str:
        """The agent whose action the next step plays."""
        return self.aec_env.agent_selection

    @property
    def _over(self) -> bool:
        agent = self.possible_agents[0]
        return self.aec_env.terminations[agent] or self.aec_env.truncations[agent]

    # Looking

    def _show(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        over = self._over
        observations, infos = {}, {}
        for agent in self.possible_agents:
            acts = agent == self.agent_in_turn and not over
            observation = self.aec_env.observe(agent)
            info = {**self.aec_env.infos[agent], "to_act": int(acts)}
            if self.aec_env.mask_in == "info":
                mask = info["action_mask"]
            else:
                mask = observation["action_mask"]
            if not acts:
                mask[0] = 1
            observations[agent], infos[agent] = observation, info
        return observations, infos

    def state(self) -> npt.NDArray[np.float32]:
        """The full state `float32[L]`, hidden parts included (`TabletopEnv.state`)."""
        return self.aec_env.state()

    def render(self) -> Any:
        """What the AEC environment's `render` gives."""
        return self.aec_env.render()

    def svg(self, **arguments: Any) -> str:
        """The position as an SVG document: arguments and errors are those of `TabletopEnv.svg`."""
        return self.aec_env.svg(**arguments)

    def _repr_svg_(self) -> str | None:
        return self.aec_env._repr_svg_()

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        self.aec_env.close()
