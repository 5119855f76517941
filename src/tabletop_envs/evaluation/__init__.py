"""How good a position looks without searching: one heuristic a game, in compiled code.

`evaluate(state, values)` and `is_settled(state)` are generic functions like those of
`tabletop_envs.kernels`: they resolve by the state's record type. `register_heuristic` gives them a
game's own; in a game without one all values are zero until it is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types
from numba.extending import overload, register_jitable

from tabletop_envs import registry
from tabletop_envs.kernels import RUNNING, Kernel
from tabletop_envs.kernels.compiling import CALLEE, INTERPRETED, SOURCES, record_dtype
from tabletop_envs.kernels.engine import MAX_PLAYERS, compiled_loop, write_rewards
from tabletop_envs.named import import_module, load_object, names_code

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv
    from tabletop_envs.game import Game, State

__all__ = [
    "evaluate",
    "has_heuristic",
    "is_settled",
    "load",
    "register_heuristic",
    "search_settings",
    "value",
    "values",
]


# Where loops have values written: Numba counts no references of an array in a record, which would
# cost a search a third of its speed.
VALUES = record_dtype(np.dtype([("values", np.float64, (MAX_PLAYERS,))], align=True))


class _Heuristic(NamedTuple):
    """What the generic functions do for a game, and the settings of its searches."""

    evaluate: Callable[..., Any]
    is_settled: Callable[..., Any]
    search: Mapping[str, Any]


# By dtype and by the record type that Numba makes of it.
_HEURISTICS: dict[Any, _Heuristic] = {}
# The functions that games are registered with, by dtype, as far as `load` has registered them.
_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _rewards_only(state: Any, values: Any) -> None:
    write_rewards(state, values)


def _always_settled(state: Any) -> bool:
    return True


_NONE = _Heuristic(_rewards_only, _always_settled, {})


def _interpreted(name: str, state: Any) -> _Heuristic:
    if not INTERPRETED:
        raise TypeError(
            f"evaluation.{name} is for compiled code, on a state whose kernel is imported"
        )
    return _HEURISTICS.get(state.dtype, _NONE)


def evaluate(state: Any, values: Any) -> None:
    """Write an estimate of every player's reward at the end into `values` (float64).

    Estimates are from −1 to 1 with the sum 0; of a finished game they are the rewards. The
    library's heuristics read only what all players see: hidden hands, and later chance, make no
    difference.
    """
    _interpreted("evaluate", state).evaluate(state, values)


def is_settled(state: Any) -> bool:
    """Whether no decision is half made: False where a stone has been chosen, say, but no place."""
    return bool(_interpreted("is_settled", state).is_settled(state))


# (A heuristic may allocate arrays.)
_OPTIONS = {**CALLEE, "_nrt": True}


@overload(evaluate, strict=False, jit_options=_OPTIONS)
def _evaluate(state, values):  # type: ignore[no-untyped-def]
    return _HEURISTICS.get(state, _NONE).evaluate if isinstance(state, types.Record) else None


@overload(is_settled, strict=False, jit_options=_OPTIONS)
def _is_settled(state):  # type: ignore[no-untyped-def]
    return _HEURISTICS.get(state, _NONE).is_settled if isinstance(state, types.Record) else None


def register_heuristic(
    kernel: Kernel,
    function: Callable[..., Any],
    *,
    settled: Callable[..., Any] = _always_settled,
    search: Mapping[str, Any] | None = None,
) -> None:
    """Make `evaluate` and `is_settled` work on records of `kernel.state`.

    Args:
        kernel: The game's kernel.
        function: A plain (not jitted) function `(state, values)` that writes the values of a
            running game.
        settled: A plain function `(state) -> bool`; left out in games where every action is a whole
            decision.
        search: Settings of the game's searches (`search.SearchConfig`) in place of the usual ones.
    """
    of_running_game = register_jitable(**_OPTIONS)(function)

    def evaluate_this(state, values):  # type: ignore[no-untyped-def]
        if state.status == RUNNING:
            of_running_game(state, values)
        else:
            write_rewards(state, values)

    record = from_dtype(kernel.state)
    heuristic = _Heuristic(evaluate_this, settled, search or {})
    _HEURISTICS[record] = _HEURISTICS[kernel.state] = heuristic
    file = function.__code__.co_filename
    if Path(file).parent != Path(__file__).parent:
        SOURCES[record] = file


def has_heuristic(kernel: Kernel) -> bool:
    """Whether a heuristic is registered (that of a registered game: once `load` has done it)."""
    return kernel.state in _HEURISTICS


def search_settings(kernel: Kernel) -> Mapping[str, Any]:
    """The settings of searches that a kernel's heuristic asks for in place of the usual ones."""
    return _HEURISTICS.get(kernel.state, _NONE).search


def load(game: Game) -> None:
    """Register the heuristic that a game is registered with, if there is one.

    ValueError where it cannot be imported, and for a module that registers none for this game.
    """
    known = registry.registration_of(game)
    heuristic = None if known is None else known.heuristic
    if isinstance(heuristic, str):
        text = f"heuristic {heuristic} of game {game.name}"
        if names_code(heuristic):
            heuristic = load_object(heuristic, "heuristic", callable)
        else:
            import_module(heuristic, text)
            if not has_heuristic(game.kernel):
                raise ValueError(
                    f"{text} must call register_heuristic for the game's kernel when it is imported"
                )
            return
    if heuristic is not None and _FUNCTIONS.get(game.kernel.state) is not heuristic:
        register_heuristic(game.kernel, heuristic)
        _FUNCTIONS[game.kernel.state] = heuristic


@compiled_loop
def _evaluate_lanes(states: Any, work: Any, estimates: Any) -> None:
    values = work[0].values
    for lane in range(len(states)):
        evaluate(states[lane], values)
        for player in range(estimates.shape[1]):
            estimates[lane, player] = values[player]


def values(game: Game, states: State) -> npt.NDArray[np.float64]:
    """The estimates of `evaluate` for many games at once, such as those of a batch.

    Args:
        game: The game, as `registry.get_game` or `batch.game` gives it.
        states: One record a lane, all with the same number of players; not changed.

    Returns:
        `float64 (lanes, players)`, every row from −1 to 1 with the sum 0.

    Raises:
        TypeError, ValueError: For what are no states of this game, naming what is wrong
            (`Game.require_states`).
    """
    game.require_states(states)
    load(game)
    estimates = np.zeros((len(states), int(states["num_players"][0])))
    # Copied where Numba would compile the loop again: arrays that are read-only, or with gaps.
    states = np.require(states, requirements=("C", "A", "W"))
    _evaluate_lanes(states, np.zeros(1, VALUES), estimates)
    return estimates


def value(env: TabletopEnv) -> list[float]:
    """The heuristic's estimate of every player's reward at the end, for an AEC environment.

    One number from −1 to 1 a player, with the sum 0; of a finished game the rewards.
    """
    game = env.unwrapped.game
    states, legal = env.unwrapped.lane()
    if not legal.any():
        return [float(reward) for reward in env.unwrapped.snapshot()["outcome"]["rewards"]]
    return [float(number) for number in values(game, states)[0]]
