"""How good a position looks without searching: one heuristic a game, in compiled code.

`evaluate(state, values)` and `is_settled(state)` are generic functions like those of `tabletop_envs.kernels`: they
resolve by the state's record type. `register_heuristic` gives them a game's own; a game without one is valued at zero for
everybody until it is over. A cached loop that calls them must take `workspace(kernel)` as an argument.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, njit, types
from numba.extending import overload

from tabletop_envs import registry
from tabletop_envs.kernels import RUNNING, Kernel, code_digest
from tabletop_envs.kernels.compiling import INTERPRETED, record_dtype
from tabletop_envs.kernels.engine import MAX_PLAYERS, compiled_loop, write_rewards

if TYPE_CHECKING:
    from tabletop_envs.envs.aec import TabletopEnv
    from tabletop_envs.game import Game, State

__all__ = [
    "evaluate",
    "has_heuristic",
    "is_settled",
    "load",
    "register_heuristic",
    "value",
    "values",
    "workspace",
]

# The record types that have a heuristic, each with the file that holds it.
_REGISTERED: dict[Any, str] = {}
# The functions for `NUMBA_DISABLE_JIT=1`, by name and dtype (`kernels.compiling`).
_INTERPRETED: dict[tuple[str, np.dtype[Any]], Callable[..., Any]] = {}


def evaluate(state: Any, values: Any) -> None:
    """Write an estimate of every player's reward at the end, from −1 to 1 with the sum 0, into `values` (float64).

    Of a finished game the true rewards. What the library's heuristics look at is what all players see: hands that are
    hidden, and chance to come, make no difference.
    """
    _interpret("evaluate", write_rewards, state, values)


def is_settled(state: Any) -> bool:
    """Whether no decision is half made: False where the player in turn has chosen a stone, say, but not its place."""
    return bool(_interpret("is_settled", lambda state: True, state))


def _interpret(name: str, otherwise: Callable[..., Any], state: Any, *arguments: Any) -> Any:
    if not INTERPRETED:
        raise TypeError(
            f"heuristics.{name} is for compiled code, on a state whose kernel is imported"
        )
    return _INTERPRETED.get((name, state.dtype), otherwise)(state, *arguments)


def _has_none(state: Any) -> bool:
    return isinstance(state, types.Record) and state not in _REGISTERED


@overload(evaluate, strict=False)
def _evaluate_nothing(state, values):  # type: ignore[no-untyped-def]
    def rewards_only(state, values):  # type: ignore[no-untyped-def]
        write_rewards(state, values)

    return rewards_only if _has_none(state) else None


@overload(is_settled, strict=False)
def _always_settled(state):  # type: ignore[no-untyped-def]
    return (lambda state: True) if _has_none(state) else None


def register_heuristic(
    kernel: Kernel,
    function: Callable[..., Any],
    *,
    settled: Callable[..., Any] = lambda state: True,
) -> None:
    """Make `evaluate` and `is_settled` work on records of `kernel.state`.

    Args:
        kernel: The game's kernel.
        function: A plain (not jitted) function `(state, values)` that writes the values of a running game.
        settled: A plain function `(state) -> bool`; left out in games where every action is a whole decision.
    """
    record = from_dtype(kernel.state)
    _REGISTERED[record] = function.__code__.co_filename
    of_running_game = njit(function)

    def evaluate_this(state, values):  # type: ignore[no-untyped-def]
        if state.status == RUNNING:
            of_running_game(state, values)
        else:
            write_rewards(state, values)

    _INTERPRETED["evaluate", kernel.state] = evaluate_this
    _INTERPRETED["is_settled", kernel.state] = settled
    overload(evaluate, strict=False)(
        lambda state, values: evaluate_this if state == record else None
    )
    overload(is_settled, strict=False)(lambda state: settled if state == record else None)


def has_heuristic(kernel: Kernel) -> bool:
    """Whether a heuristic is registered for a kernel's states (of the library's games: once `load` has imported it)."""
    return from_dtype(kernel.state) in _REGISTERED


def load(game: Game) -> None:
    """Import the heuristic of one of the library's games, if it has one; a custom game registers its own."""
    if game.name in registry.GAMES:
        _import(f"{__name__}.{game.name}")


@functools.cache
def _import(module: str) -> None:
    if importlib.util.find_spec(module):
        importlib.import_module(module)


def workspace(kernel: Kernel) -> npt.NDArray[np.void]:
    """One record with `values` (float64, for `evaluate`), whose type changes with the heuristic.

    Numba keys its on-disk cache on the types of a loop's arguments. A state's type carries a digest
    of the kernels' source but not of the heuristics', so this record's type does: a loop that takes
    it is compiled anew after an edit.
    """
    return np.zeros(1, _workspace_dtype(_REGISTERED.get(from_dtype(kernel.state))))


@functools.cache
def _workspace_dtype(heuristic: str | None) -> np.dtype[Any]:
    title = f"code {code_digest(__file__, *([heuristic] if heuristic else []))}"
    return record_dtype(np.dtype([((title, "values"), np.float64, (MAX_PLAYERS,))], align=True))


@compiled_loop
def _evaluate_lanes(states: Any, work: Any, values: Any) -> None:
    for lane in range(len(states)):
        evaluate(states[lane], work[0].values)
        for player in range(values.shape[1]):
            values[lane, player] = work[0].values[player]


def values(game: Game, states: State) -> npt.NDArray[np.float64]:
    """The estimates of `evaluate` for many games at once, those of a batch (`batch.states`) say.

    Args:
        game: The game, as `registry.get_game` or `batch.game` gives it.
        states: One record a lane, all with the same number of players; not changed.

    Returns:
        `float64 (lanes, players)`, every row from −1 to 1 with the sum 0.

    Raises:
        TypeError, ValueError: For what are no states of this game, naming what is wrong (`Game.require_states`).
    """
    game.require_states(states)
    load(game)
    estimates = np.zeros((len(states), int(states["num_players"][0])))
    # Copied where Numba would compile the loop again: arrays that cannot be written to, or with gaps.
    states = np.require(states, requirements=("C", "A", "W"))
    _evaluate_lanes(states, workspace(game.kernel), estimates)
    return estimates


def value(env: TabletopEnv) -> list[float]:
    """The heuristic's estimate of every player's reward at the end, for the position of an AEC environment.

    One number from −1 to 1 a player, with the sum 0; of a finished game the rewards.
    """
    game = env.unwrapped.game
    states, legal = env.unwrapped.lane()
    if not legal.any():
        return [float(reward) for reward in env.unwrapped.snapshot()["outcome"]["rewards"]]
    return [float(number) for number in values(game, states)[0]]
