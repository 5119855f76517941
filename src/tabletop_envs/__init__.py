"""Three board games as environments for training agents: kirche, tuerme and meeples.

- `tabletop_envs.kirche_v0.env()` and so on: PettingZoo AEC environments.
- `gymnasium.make("tabletop_envs/Kirche-v0")` and `gymnasium.make_vec(…)`: one learner against
  opponents.
- `tabletop_envs.make_batch("kirche-v0", 1024)`: many games at once in compiled code.
- `tabletop_envs.kernels`: the rules, callable from user-defined `@njit` code.
- `tabletop_envs.register(game)`: a custom game beside these, everywhere.

Importing this package puts the games into the registries of PettingZoo and Gymnasium; it imports
neither Numba nor a graphics library, and compiles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tabletop_envs import registry
from tabletop_envs.registry import register

if TYPE_CHECKING:
    from tabletop_envs.envs.batch import BatchEnv
    from tabletop_envs.game import Game

__version__ = "0.1.0"
__all__ = ["__version__", "make_batch", "register", "warm"]


def make_batch(
    id: str,
    num_envs: int,
    seed: int | Sequence[int] | None = None,
    num_threads: int = 1,
    *,
    check: bool = True,
    render_mode: str | None = None,
    **options: Any,
) -> BatchEnv:
    """A batch of `num_envs` games, stepped together in compiled code.

    Args:
        id: The game: `"kirche-v0"` (also `"tabletop_envs/kirche-v0"` and `"kirche"`), or the id of
            a registered one.
        num_envs: How many games.
        seed: A number `s` (lane `i` gets `s + i`), one number for each lane, or None for fresh
            entropy.
        num_threads: How many threads share the lanes; results do not depend on it.
        check: Whether `step` checks that actions are legal, unless it is told otherwise.
        render_mode: None, `"ansi"`, `"rgb_array"` or `"human"`: what `render` gives.
        **options: The game's options, as in its environment.

    Raises:
        ValueError: For an unknown game, and for an invalid number or option, which it names.
        TypeError: For an unknown option or a wrong type.
    """
    from tabletop_envs.envs.batch import BatchEnv

    game = registry.get_game(id)
    return BatchEnv(
        game,
        num_envs,
        seed=seed,
        num_threads=num_threads,
        check=check,
        render_mode=render_mode,
        **options,
    )


def warm(*games: Game | str, workers: int = 1) -> None:
    """Compile everything of some games ahead: later processes find it in the cache on disk.

    All ways in are compiled: environments, batches, rollouts, opponents, agents and searches, some
    half a minute to two minutes a game. What is in the cache already is only loaded.

    Args:
        *games: Names or ids of games, or `Game` objects, also custom ones; none: all of the
            registry.
        workers: How many processes compile. With 1 it is this one, which keeps what it has
            compiled; with more, a script needs `if __name__ == "__main__":`, and a custom game must
            be the `GAME` of a module that can be imported.

    Raises:
        TypeError, ValueError: For what is no game, naming those that there are, and for an invalid
            number.
        RuntimeError: Where compiled code cannot be kept, where a process dies, and with
            `NUMBA_DISABLE_JIT`: nothing is compiled then.
    """
    from tabletop_envs.warming import compile_ahead

    for _ in compile_ahead(games or registry.game_names(), workers):
        pass


registry.add_entry_points()
