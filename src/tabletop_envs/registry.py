"""The only list of games. Naming a game imports nothing of it; using it imports its kernel and
Numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tabletop_envs.checks import shown

if TYPE_CHECKING:
    from tabletop_envs.game import Game

__all__ = [
    "GAMES",
    "aec_id",
    "batch_id",
    "find_name",
    "game_names",
    "get_game",
    "gym_id",
    "module_name",
    "register_aec",
    "register_gym",
]

# Each name is also that of the game's kernel, environment file and drawing. The version goes up
# when a change makes old results incomparable.
GAMES: dict[str, int] = {
    "kirche": 0,
    "tuerme": 0,
    "meeples": 0,
}


def game_names() -> list[str]:
    """The names of all games, in the list's order."""
    return list(GAMES)


def batch_id(name: str) -> str:
    """The id of a game in `make_batch`, such as `kirche-v0`; ValueError for a game that is not in
    the list.
    """
    if name not in GAMES:
        raise ValueError(f"game {name!r} must be one of the registry's: {', '.join(GAMES)}")
    return f"{name}-v{GAMES[name]}"


def module_name(name: str) -> str:
    """The name of a game's module, such as `kirche_v0`; a user-defined game has the version 0."""
    return f"{name}_v{GAMES.get(name, 0)}"


def aec_id(name: str) -> str:
    """The id of a game in PettingZoo's registry, such as `tabletop_envs/kirche-v0`."""
    return f"tabletop_envs/{batch_id(name)}"


def gym_id(name: str) -> str:
    """The id of a game in Gymnasium's registry, such as `tabletop_envs/Kirche-v0`."""
    return f"tabletop_envs/{batch_id(name).capitalize()}"


def find_name(identifier: str) -> str:
    """The name of the game that an id or a bare name means: `kirche-v0`, `tabletop_envs/kirche-v0`,
    `kirche`.

    TypeError or ValueError, naming the games, for anything else.
    """
    known = ", ".join(batch_id(name) for name in GAMES)
    if not isinstance(identifier, str):
        raise TypeError(f"game={shown(identifier)} must be a game's name or id: {known}")
    for name in GAMES:
        if identifier in (name, batch_id(name), aec_id(name), gym_id(name)):
            return name
    raise ValueError(f"there is no game {shown(identifier)}: the games are {known}")


def get_game(identifier: str) -> Game:
    """The description of a game, its kernel imported (compiled only when it is first used)."""
    name = find_name(identifier)
    game: Game = importlib.import_module(f"tabletop_envs.envs.{name}").GAME
    return game


def register_aec() -> None:
    """Put every game into PettingZoo's registry, as AEC and as parallel environment, where
    PettingZoo has one.
    """
    try:
        from pettingzoo import aec_registry, parallel_registry, register
    except ImportError:
        return
    for name in GAMES:
        if aec_id(name) not in aec_registry:
            register("aec", aec_id(name), entry_point=f"tabletop_envs.{module_name(name)}:env")
        if aec_id(name) not in parallel_registry:
            register(
                "parallel",
                aec_id(name),
                entry_point=f"tabletop_envs.{module_name(name)}:parallel_env",
            )


def register_gym() -> None:
    """Put every game into Gymnasium's registry, as a single and as a vector environment."""
    from gymnasium.envs.registration import register, registry

    for name in GAMES:
        if gym_id(name) not in registry:
            register(
                gym_id(name),
                entry_point="tabletop_envs.envs.gym:TabletopGymEnv",
                vector_entry_point="tabletop_envs.envs.vector:TabletopVectorEnv",
                kwargs={"game": name},
            )
