"""An environment before its first reset, its spaces and resets, and wrong seeds and agents."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.contract import (
    MakeEnv,
    Played,
    differing,
    is_over,
    legal_actions,
    look,
    require_error,
)


def check_start(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Check what there is before the first reset, the spaces, and arguments of wrong values."""
    played = Played(game.name, options, seed)
    require, env = played.require, make(render_mode="ansi", **options)
    agents = env.possible_agents
    calls: dict[str, Callable[[], Any]] = {
        "step": lambda: env.step(0),
        "observe": lambda: env.observe(agents[0]),
        "state": env.state,
        "snapshot": env.snapshot,
        "render": env.render,
        "clone(hide_from)": lambda: env.clone(hide_from=agents[0]),
    }
    for name, call in calls.items():
        found = "nothing is raised"
        try:
            call()
        except ResetNeeded:
            continue
        except Exception as error:  # Whatever it is, it is not what was promised.
            found = f"{type(error).__name__}: {error}"
        played.fail(f"{name}: ResetNeeded before the first reset", found)
    spaces = [
        (env.observation_space(agent), env.action_space(agent)) for agent in (*agents, *agents)
    ]
    require(
        all(one is first for pair in spaces for one, first in zip(pair, spaces[0], strict=True))
        and env.action_space(agents[0]) == Discrete(env.num_actions),
        "observation_space, action_space: the same objects for all agents and at every call, "
        "actions as Discrete(num_actions)",
        spaces,
    )
    renamed = make(**{**played.options, "obs_key": "board"})
    renamed.reset(seed=played.seed)
    shown = renamed.observe(agents[0])
    space = renamed.observation_space(agents[0])
    require(
        list(shown) == ["board", "action_mask"] and space.contains(shown),
        "obs_key: the name of the observation, in the space as well",
        list(shown),
    )
    stop = 0
    for name, part in game.observation.items():
        views = env.split_observation(np.stack([shown["board"]] * 3))
        require(
            part.slice.start == stop and views[name].shape == (3, *part.shape),
            "split_observation: the parts lie one behind the other, of their shapes",
            f"{name}: {part}, {views[name].shape}",
        )
        stop = part.slice.stop
    require(stop == shown["board"].size, "split_observation: all of the observation", stop)
    env.reset(seed=seed)
    _check_refusals(env, played)


def _check_refusals(env: TabletopEnv, played: Played) -> None:
    """Check that impossible seeds and agents are named and change nothing."""
    before = look(env)
    impossible: tuple[Any, ...] = (-1, 2**64, 1.5, "1", True)
    for seed in impossible:
        call: Any = partial(env.reset, seed=seed)
        require_error(played, f"reset(seed={seed!r})", call, "seed")
    for name in ("observe", "observation_space", "action_space"):
        call = partial(getattr(env, name), "player_9")
        require_error(played, name, call, "player_9")
    require_error(played, "clone(rng)", partial(env.clone, rng=1), "hide_from")
    for name, argument in (("render", "viewer"), ("clone", "hide_from")):
        call = partial(getattr(env, name), **{argument: "player_9"})
        require_error(played, f"{name}({argument})", call, "player_9")
    different = differing(before, look(env))
    played.require(not different, "errors change nothing", different)


def check_resets(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Check that resets continue an environment's own random stream."""
    played = Played(game.name, options, seed)
    alone, beside, other, *unseeded = (make(**options) for _ in range(5))
    for env in (alone, beside):
        env.reset(seed=seed)
    other.reset(seed=seed)
    for env in (alone, beside):
        for _ in range(2):
            rng = random.Random(seed)
            while not is_over(env):
                env.step(rng.choice(legal_actions(env)))
            if env is beside:
                other.reset()
            env.reset()
    different = differing(look(alone), look(beside))
    played.require(
        not different,
        "reset: without a seed it continues the environment's own random stream",
        f"{different} of two environments of the same seed differ",
    )
    for env in unseeded:
        env.reset()
    played.require(
        not game.has_chance or unseeded[0].snapshot() != unseeded[1].snapshot(),
        "reset: the first one without a seed is from fresh entropy",
        "two environments play the same",
    )
