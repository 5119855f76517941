"""The tests of PettingZoo and Gymnasium."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from gymnasium.utils.env_checker import check_env as gymnasium_check
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.contract import MakeEnv, Played

# Warnings that say nothing against an environment: about dict observations, and about empty boards.
_HARMLESS = (
    "probably should be gymnasium.spaces.box",
    "Observation is not a NumPy array",
    "Observation numpy array is all zeros",
)
# A game that can end after fewer actions is not for Gymnasium's test.
SHORT = 20


def check_pettingzoo(make: MakeEnv, game: Game, options: Mapping[str, Any]) -> None:
    """PettingZoo's own tests, of the AEC and of the parallel environment."""
    played = Played(game.name, options, 0)
    for mask_in, on_illegal in (
        ("observation", "raise"),
        ("observation", "lose"),
        ("info", "lose"),
    ):
        given = {**options, "mask_in": mask_in, "on_illegal": on_illegal}
        aec = partial(make, **given)
        tests = [(api_test, aec, True, 300), (seed_test, aec, False, 150)]
        if on_illegal == "lose":  # The tests of parallel environments play illegal actions.
            parallel = partial(TabletopParallelEnv, game, **given)
            tests += [
                (parallel_api_test, parallel, True, 150),
                (parallel_seed_test, parallel, False, 150),
            ]
        for test, env, made, cycles in tests:
            name = f"pettingzoo.test.{test.__name__}"
            with _silently(played, f"{name} with mask_in={mask_in!r}"):
                test(env() if made else env, num_cycles=cycles)


def check_gymnasium(game: Game, options: Mapping[str, Any]) -> None:
    """Gymnasium's own test, of one learner against opponents, where no game ends at once."""
    if options.get("max_plies", SHORT) < SHORT:
        return
    for opponents in ("random", _first_legal):
        env = TabletopGymEnv(game, render_mode="ansi", opponents=opponents, **dict(options))
        with _silently(Played(game.name, options, 0), "gymnasium.utils.env_checker.check_env"):
            # Its check of all render modes would open a window.
            gymnasium_check(env, skip_render_check=True)


def _first_legal(observation: Any, action_mask: Any, rng: Any) -> int:
    """An opponent that is a callable."""
    return int(action_mask.argmax())


@contextlib.contextmanager
def _silently(played: Played, test: str) -> Iterator[None]:
    """Run another library's test without its output; ContractError where it fails or warns."""
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
