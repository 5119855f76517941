"""`check_env`: whether an environment and its game keep the library's promises."""

from __future__ import annotations

from functools import partial
from typing import Any

from tabletop_envs import checks
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.testing.batches import check_batch
from tabletop_envs.testing.contract import MakeEnv, OptionCases, Played, chosen_cases, seed_of
from tabletop_envs.testing.env_copies import check_copies, check_refusals
from tabletop_envs.testing.env_games import (
    GameWalk,
    check_limit,
    check_losing,
    random_game,
)
from tabletop_envs.testing.env_stacks import check_gymnasium, check_pettingzoo
from tabletop_envs.testing.env_start import check_resets, check_start
from tabletop_envs.testing.symmetries import check_symmetries

# Arguments of all environments that must be one of some words.
ARGUMENTS = ("render_mode", "mask_in", "on_illegal")


def check_env(
    env: Game | TabletopEnv | MakeEnv,
    *,
    options: OptionCases = None,
    games: int = 2,
    seed: int = 0,
) -> None:
    """Play random games in a game's environments and check what they promise.

    - Before the first reset `ResetNeeded` is raised; spaces are the same objects for all agents;
      impossible options, arguments, seeds and agents are named and change nothing; resets continue
      the environment's own random stream.
    - PettingZoo's `api_test`, `seed_test`, `parallel_api_test` and `parallel_seed_test` and
      Gymnasium's `check_env` pass, without warnings of consequence, with the mask in observations
      and in infos.
    - At every ply: observations and states lie in their spaces, in fresh arrays; masks are all
      zeros for idle agents and all ones once the game is over; infos have the same numeric keys;
      rewards come at the end and have the sum zero; legal actions have different names that lead
      back to them; the text is drawn for every viewer; `clone(hide_from)` is a position that its
      agent cannot tell from the true one, in text, observation and mask.
    - Illegal actions, and what is no action, raise ValueError, named, and change nothing; or an
      illegal action loses the game; `max_plies` ends a game.
    - Snapshots are plain JSON, and positions are restored as they were; impossible ones raise
      ValueError and change nothing; clones, deep copies, pickles and restored games share nothing
      and continue identically, to the end of the game and into the next.
    - The image of a game by each of its symmetries is a game.
    - A batch has arrays of the promised shapes and dtypes, and plays, lane for lane and action for
      action, what the environment plays.

    Where everything is compiled, a game of some hundred actions takes some seconds for each of its
    options.

    Args:
        env: A function that makes the environment and takes its arguments and options (`env`,
            `raw_env`), an environment, or a game.
        options: The options to check with: one dict, several, or None: `option_cases`.
        games: How many games are walked through with each of the options: those of the seeds
            `seed`, `seed + 1`, ….
        seed: The first game's seed.

    Raises:
        ContractError: An AssertionError that names the promise, what was found, and the game.
        TypeError, ValueError: For impossible arguments.
    """
    games = checks.integer("games", games, 1, 2**31)
    seed = checks.seed("seed", seed)
    make = _maker(env)
    made = make()
    game = made.game
    # The given environment's options, or the constructor's own defaults, hold in all cases.
    cases = [{**made.options, **case} for case in chosen_cases(game, options)]
    check_options(make, game)
    for case in cases:
        check_start(make, game, case, seed)
        for walk in range(games):
            GameWalk(make, game, case, seed_of(seed, walk)).run()
        whole = random_game(make, game, case, seed)
        check_copies(make, whole)
        check_refusals(make, whole)
        check_resets(make, game, case, seed)
        check_losing(make, game, case, seed)
        check_limit(make, whole)
        check_pettingzoo(make, game, case)
        check_gymnasium(game, case)
        check_batch(make, game, case, seed)
        check_symmetries(make, game, case, seed)


def check_options(make: MakeEnv, game: Game) -> None:
    """Check that the constructor hands options on, and refuses impossible ones by name."""
    played = Played(game.name, {}, 0)
    for option in game.options:
        is_bool = isinstance(option.default, bool)
        value: int | bool = not option.default if is_bool else option.maximum
        taken = make(**{option.name: value}).options
        played.require(
            taken.get(option.name) == value,
            f"options: the constructor hands {option.name} on to the environment",
            f"{option.name}={value!r} is given, the environment has {taken}",
        )
    impossible: list[tuple[str, Any]] = [("no_such_option", 1)]
    for option in game.options:
        is_bool = isinstance(option.default, bool)
        outside = () if is_bool else (option.minimum - 1, option.maximum + 1, True)
        impossible += [(option.name, value) for value in ("many", None, 0.5, 2.0, *outside)]
    impossible += [(name, value) for name in ARGUMENTS for value in ("nonsense", 1)]
    impossible += [("obs_key", "action_mask"), ("obs_key", 1)]
    for name, value in impossible:
        found = "it is taken"
        try:
            make(**{name: value})
        except (TypeError, ValueError) as error:
            if name in str(error) and (repr(value) in str(error) or name == "no_such_option"):
                continue
            found = f"{type(error).__name__}: {error}"
        played.fail(
            f"options: {name}={value!r} raises TypeError or ValueError that names option and value",
            found,
        )


def _maker(env: Game | TabletopEnv | MakeEnv) -> MakeEnv:
    """A function that makes environments like the given one, with the checks' arguments."""
    if isinstance(env, Game):
        make = partial(TabletopEnv, env)
    elif isinstance(env, TabletopEnv):
        given: dict[str, Any] = env.options
        make = partial(type(env), env.game, **given)
    elif callable(env):
        make = partial(env)
    else:
        raise TypeError(f"env={env!r} is neither a game, nor an environment, nor makes one")
    made = make()
    if not isinstance(made, TabletopEnv):
        raise TypeError(
            f"env makes {type(made).__name__}, not a TabletopEnv: wrappers are not checked"
        )
    return partial(
        make, mask_in="observation", obs_key="observation", on_illegal="raise", render_mode=None
    )
