"""RLlib (Ray's new API stack): a learner against opponents on the batch engine, or all players.

The shortest complete script; `num_env_runners=0, num_learners=0` keeps everything in one process::

    from ray.rllib.algorithms.ppo import PPOConfig
    from tabletop_envs.adapters import rllib

    config = (
        PPOConfig()
        .environment(rllib.register("kirche-v0", opponents="random", num_houses=1))
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=32,
            gym_env_vectorize_mode="vector_entry_point",  # all 32 in one batch
        )
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=1024, minibatch_size=256, num_epochs=3, lr=1e-3)
        .rl_module(rl_module_spec=rllib.masked_module(fcnet_hiddens=[64, 64]))
    )
    algorithm = config.build_algo()
    for _ in range(10):
        print(algorithm.train()["env_runners"].get("episode_return_mean"))

An iteration takes about a second. RLlib's own settings for PPO (batches of 4,000 steps in 30 epochs
of minibatches of 128, two layers of 256) take minutes for each on a busy core.

All players learning, here by one shared policy (`vector_entry_point` is for one learner only)::

    config = (
        PPOConfig()
        .environment(rllib.register("kirche-v0", multi_agent=True, num_houses=1))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=1024, minibatch_size=256, num_epochs=3, lr=1e-3)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, *_, **__: "shared")
        .rl_module(rl_module_spec=rllib.masked_module("shared", fcnet_hiddens=[64, 64]))
    )

A policy for each player (`policies=set(agents)`, `policy_mapping_fn=lambda agent, *_, **__: agent`)
works alike. Observations are `{"observations": float32[L], "action_mask": int8[n]}`, as RLlib's
masking module takes them. RLlib keeps seeds (`config.debugging(seed=…)`, from which it makes those
of its environments), the number of environments and their autoreset in its own hands. Every end of
a game is a termination, one by `max_plies` included. With `vector_entry_point` and with all players
learning random actions are legal; in RLlib's other vector modes (`gym_env_vectorize_mode="sync"`)
`sample(random_actions=True)` knows no mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from tabletop_envs import registry
from tabletop_envs.adapters.masks import (
    IllegalActionWarning,
    LegalActions,
    MaskInObservation,
    MaskInObservations,
)
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tabletop_envs.extras import require
from tabletop_envs.game import Game, find_game, find_registered

require("ray.rllib", "rllib")

from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402
from ray.rllib.env.multi_agent_env import MultiAgentEnv  # noqa: E402

__all__ = [
    "TabletopMultiAgentEnv",
    "env_creator",
    "masked_module",
    "multi_agent_env_creator",
    "register",
]

if TYPE_CHECKING:
    Creator = Callable[[Mapping[str, Any]], Any]

OBSERVATION_KEY, MASK_KEY = "observations", "action_mask"
ADVICE = "Use masked_module(), or another module that heeds the mask."


def env_creator(game: Game | str, **options: Any) -> Creator:
    """What RLlib makes environments with: one learner against opponents.

    Args:
        game: A game's name or id, or the `Game`, which must be registered.
        **options: As of the Gymnasium environments: `opponents`, `seat`, `on_illegal`,
            `render_mode`, the game's options.

    Returns:
        A function of RLlib's `env_config`, whose entries override `options`. With its entry
        `num_envs` (RLlib gives it with `gym_env_vectorize_mode="vector_entry_point"`) it makes that
        many games on the batch engine (`envs.vector.TabletopVectorEnv`), otherwise one
        (`envs.gym.TabletopGymEnv`).

    Raises (as the function does):
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what it must be.
    """
    name = find_registered(game).name
    # Ray's workers import the game where this is unpickled; it need not register itself there.
    known = registry.registration(name)

    def create(env_config: Mapping[str, Any]) -> Any:
        registry.add(known, keep_version=True)
        given = {**options, **env_config}
        num_envs = given.pop("num_envs", None)
        if num_envs is None:
            return MaskInObservation(
                TabletopGymEnv(name, **given), OBSERVATION_KEY, MASK_KEY, ADVICE
            )
        vector = TabletopVectorEnv(name, num_envs, **given)
        return MaskInObservations(vector, OBSERVATION_KEY, MASK_KEY, ADVICE)

    return create


def multi_agent_env_creator(game: Game | str, **options: Any) -> Creator:
    """As `env_creator`, for environments in which all players learn (`TabletopMultiAgentEnv`)."""
    name = find_registered(game).name
    # Ray's workers import the game where this is unpickled; it need not register itself there.
    known = registry.registration(name)

    def create(env_config: Mapping[str, Any]) -> TabletopMultiAgentEnv:
        registry.add(known, keep_version=True)
        return TabletopMultiAgentEnv(name, **{**options, **env_config})

    return create


def register(
    game: Game | str, *, multi_agent: bool = False, name: str | None = None, **options: Any
) -> str:
    """Register a game with RLlib under `name`; returns the name, for `config.environment(…)`.

    Args:
        game: A game's name or id, or the `Game`, which must be registered.
        multi_agent: Whether all players learn (`TabletopMultiAgentEnv`), or one against opponents.
        name: By default the game's id. Register a game with other options under another name.
        **options: Those of `TabletopMultiAgentEnv` or `env_creator`; `env_config` may give more.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what it must be.
    """
    make = multi_agent_env_creator if multi_agent else env_creator
    creator = make(game, **options)
    # Faults show here and not in some worker's log.
    creator({}).close()
    name = registry.aec_id(find_registered(game).name) if name is None else name
    require("ray.tune.registry", "rllib").register_env(name, creator)
    return name


def masked_module(*policies: str, **model_config: Any) -> Any:
    """The specification of RLlib's own action-masking module for PPO, for `config.rl_module`.

    Args:
        *policies: The names of the policies in a multi-agent configuration; none with one learner.
        **model_config: The networks (RLlib's `DefaultModelConfig`), such as
            `fcnet_hiddens=[256, 256]`.
    """
    module = require("ray.rllib.examples.rl_modules.classes.action_masking_rlm", "rllib")

    def one() -> Any:
        return RLModuleSpec(
            module_class=module.ActionMaskingTorchRLModule, model_config=dict(model_config)
        )

    if not policies:
        return one()
    return MultiRLModuleSpec(rl_module_specs={policy: one() for policy in policies})


class TabletopMultiAgentEnv(MultiAgentEnv):
    """A game as RLlib's `MultiAgentEnv`, in which all players learn: `player_0`, `player_1`, ….

    Only the agent to move has an observation and gives an action. At the game's end all agents get
    a last observation and their rewards at once, so that losses are seen.

    Args:
        game: A game's name or id, or the `Game`.
        on_illegal: `"lose"`: an illegal action loses the game. `"raise"`: it raises `ValueError`.
        render_mode: None or one of `envs.drawing.RENDER_MODES`.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown game, or an unknown or impossible option, naming it
            and what it must be.
    """

    def __init__(
        self,
        game: Game | str,
        *,
        on_illegal: str = "lose",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.env = TabletopEnv(
            find_game(game),
            obs_key=OBSERVATION_KEY,
            on_illegal=on_illegal,
            render_mode=render_mode,
            **options,
        )
        self.render_mode = render_mode
        self.metadata = self.env.metadata
        self.possible_agents = self.env.possible_agents[:]
        self.agents = self.possible_agents[:]
        self.observation_spaces = self.env.observation_spaces
        self.action_spaces = self.env.action_spaces
        # RLlib tries an environment out, and explores at random, by sampling without a mask.
        self._legal_actions = LegalActions(self.env.num_actions, self.env.action_mask)
        self._warn = IllegalActionWarning(ADVICE)

    def get_action_space(self, agent_id: str) -> spaces.Space[Any]:
        """An agent's action space; its samples are legal for the agent to move (`LegalActions`)."""
        self.env.action_space(agent_id)  # ValueError for an unknown agent
        return self._legal_actions

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a new game: observation and info of the agent to move; see `TabletopEnv.reset`."""
        self.env.reset(seed=seed)
        return self._show([self.env.agent_selection], None)

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the action of the agent to move.

        Returns:
            Observations, rewards, terminated, truncated and infos of the agent to move now, or of
            all agents at the game's end; terminated and truncated also of `"__all__"`. Infos are
            those of the AEC environment and `illegal_action`: whether the agent has lost by one.

        Raises:
            gymnasium.error.ResetNeeded: Before the first `reset`.
            ValueError: Where `action_dict` is not of just the agent to move, and as in
                `TabletopEnv.step`.
        """
        env = self.env
        if env.agents and list(action_dict) != [env.agent_selection]:
            raise ValueError(
                f"actions are given for {list(action_dict)}, "
                f"but {env.agent_selection} alone is to move"
            )
        actor, action = env.agent_selection, action_dict.get(env.agent_selection)
        env.step(action)
        agent = env.agent_selection
        if not env.terminations[agent]:
            running = {agent: False, "__all__": False}
            observations, infos = self._show([agent], None)
            return observations, {agent: 0.0}, running, dict(running), infos
        illegal = not self._mask[action]
        self._warn(illegal)
        observations, infos = self._show(self.possible_agents, actor if illegal else None)
        return (
            observations,
            dict(env.rewards),
            {**env.terminations, "__all__": True},
            {**env.truncations, "__all__": False},
            infos,
        )

    def _show(
        self, agents: list[str], offender: str | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observations = {agent: self.env.observe(agent) for agent in agents}
        self._mask = observations[agents[0]][MASK_KEY]
        infos = {
            agent: {**self.env.infos[agent], "illegal_action": agent == offender}
            for agent in agents
        }
        return observations, infos

    def render(self) -> Any:
        """The position, as `TabletopEnv.render` gives it."""
        return self.env.render()

    def close(self) -> None:
        """Release what rendering holds; any number of times."""
        self.env.close()
