"""The tests of PettingZoo and Gymnasium, and the batch beside the AEC environment."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.utils.env_checker import check_env as gymnasium_check
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.contract import Played
from tabletop_envs.testing.env_games import is_over

MakeEnv = Callable[..., TabletopEnv]
# Warnings that say nothing against an environment: about dict observations, and about empty boards.
_HARMLESS = (
    "probably should be gymnasium.spaces.box",
    "Observation is not a NumPy array",
    "Observation numpy array is all zeros",
)
# A game that can end after fewer actions is not for Gymnasium's test.
SHORT = 20
LANES = 3
MIN_STEPS, MAX_STEPS = 20, 1500


def check_pettingzoo(make: MakeEnv, game: Game, options: Mapping[str, Any]) -> None:
    """PettingZoo's own tests, of the AEC and of the parallel environment."""
    played = Played(game.name, options, 0)
    for mask_in in ("observation", "info"):
        arguments = {**options, "mask_in": mask_in}
        with _silently(played, f"pettingzoo.test.api_test with mask_in={mask_in!r}"):
            api_test(make(**arguments), num_cycles=200)
        with _silently(played, f"pettingzoo.test.seed_test with mask_in={mask_in!r}"):
            seed_test(lambda arguments=arguments: make(**arguments), num_cycles=100)
        losing = {**arguments, "on_illegal": "lose"}
        with _silently(played, f"pettingzoo.test.parallel_api_test with mask_in={mask_in!r}"):
            parallel_api_test(TabletopParallelEnv(game, **losing), num_cycles=100)
        with _silently(played, f"pettingzoo.test.parallel_seed_test with mask_in={mask_in!r}"):
            parallel_seed_test(
                lambda losing=losing: TabletopParallelEnv(game, **losing), num_cycles=100
            )


def check_gymnasium(game: Game, options: Mapping[str, Any]) -> None:
    """Gymnasium's own test, of one learner against random play, unless the first actions may end the game: it does not want that."""
    if options.get("max_plies", SHORT) < SHORT:
        return
    with _silently(Played(game.name, options, 0), "gymnasium.utils.env_checker.check_env"):
        # Its check of all render modes would open a window.
        gymnasium_check(
            TabletopGymEnv(game, render_mode="ansi", **dict(options)), skip_render_check=True
        )


@contextlib.contextmanager
def _silently(played: Played, test: str) -> Any:
    """Run somebody else's test without what it prints; ContractError where it fails or warns of what matters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        except Exception as error:
            played.fail(f"{test} passes", f"{type(error).__name__}: {error}")
    said = [str(warning.message) for warning in caught]
    grave = [text for text in said if not any(words in text for words in _HARMLESS)]
    played.require(not grave, f"{test} gives no warning", grave)


def check_batch(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a batch, every lane beside an AEC environment of its seed, over the end of two games a lane."""
    played = [Played(game.name, options, seed + lane) for lane in range(LANES)]
    batch = BatchEnv(game, LANES, seed=seed, **dict(options))
    envs = [make(**options) for _ in range(LANES)]
    for lane, env in enumerate(envs):
        env.reset(seed=seed + lane)
    games = steps = 0
    while steps < MIN_STEPS or (games < 2 * LANES and steps < MAX_STEPS):
        actions = batch.sample_actions().copy()
        for lane, env in enumerate(envs):
            agent = env.agent_selection
            shown = env.observe(agent)
            _compare(
                played[lane],
                "current_player",
                env.possible_agents[batch.current_player[lane]],
                agent,
            )
            _compare(played[lane], "observation", batch.observation[lane], shown["observation"])
            _compare(played[lane], "action_mask", batch.action_mask[lane], shown["action_mask"])
            env.step(int(actions[lane]))
            played[lane].actions.append(int(actions[lane]))
        batch.step(actions)
        steps += 1
        for lane, env in enumerate(envs):
            _compare_result(played[lane], batch, lane, env)
            if is_over(env):
                games += 1
                env.reset()
                played[lane].actions.clear()


def _compare_result(played: Played, batch: BatchEnv, lane: int, env: TabletopEnv) -> None:
    agents = env.possible_agents
    first = agents[0]
    _compare(played, "terminated", batch.terminated[lane], env.terminations[first])
    _compare(played, "truncations", False, env.truncations[first])
    _compare(played, "episode_length", batch.episode_length[lane], env.infos[first]["ply"])
    _compare(played, "scores", batch.scores[lane], [env.infos[agent]["score"] for agent in agents])
    rewards = np.array([env.rewards[agent] for agent in agents], np.float32)
    _compare(played, "rewards", batch.rewards[lane], rewards)


def _compare(played: Played, name: str, given: Any, expected: Any) -> None:
    if not np.array_equal(given, expected):
        played.fail(
            f"batch: {name} of a lane is that of the AEC environment of its seed",
            f"{given}, not {expected}",
        )
