"""The games that are registered: the library's, those of installed packages, and custom ones.

All come by the same call, `register`. Naming a game imports nothing of it; using it imports its
kernel and Numba.
"""

from __future__ import annotations

import re
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from tabletop_envs import checks
from tabletop_envs.checks import shown
from tabletop_envs.named import import_module, load_object, names_code

if TYPE_CHECKING:
    from tabletop_envs.game import Game

__all__ = [
    "ENTRY_POINTS",
    "Registration",
    "add",
    "add_entry_points",
    "aec_id",
    "all_games",
    "batch_id",
    "drawing_of",
    "find_name",
    "game_names",
    "get_game",
    "get_game_of_id",
    "gym_id",
    "import_game",
    "module_name",
    "module_of",
    "register",
    "registration",
    "registration_of",
]

# Installed packages name their games in this group of entry points: `breakthrough =
# "package.module:GAME"`, or with a version `breakthrough-v1`.
ENTRY_POINTS = "tabletop_envs.games"
# The attribute of a module that is its game, where none is named.
GAME = "GAME"
_NAME, _VERSION = re.compile(r"[a-z][a-z0-9_]*"), re.compile(r"-v(\d{1,9})$")
_HOW = (
    "a custom game must be registered before (tabletop_envs.register; on the command line "
    "module:NAME or file.py:NAME in place of the game's name)"
)


@dataclass(frozen=True)
class Registration:
    """What is known of a game by its name. It can be pickled if the game and its parts can.

    Attributes:
        name: The game's name.
        version: In the game's ids; goes up when a change makes old results incomparable.
        game: The game, or until it is used `module:NAME`.
        heuristic: None, a function, or the module that registers one, as in `register`.
        drawing: None, an object with `SIZE` and `draw`, or the module that has them.
        origin: What has registered it, for messages.
        module: The module that the game is imported from.
    """

    name: str
    version: int
    game: Game | str
    heuristic: Callable[..., Any] | str | None = None
    drawing: Any = None
    origin: str = "register"
    module: str = ""

    def __post_init__(self) -> None:
        if not self.module:
            game = self.game
            module = game.partition(":")[0] if isinstance(game, str) else type(game).__module__
            object.__setattr__(self, "module", module)


_GAMES: dict[str, Registration] = {}


# Registering


def register(
    game: Game | str,
    *,
    name: str | None = None,
    version: int | None = None,
    heuristic: Callable[..., Any] | types.ModuleType | str | None = None,
    drawing: Any = None,
) -> None:
    """Make a game known by its name everywhere: in `make_batch`, the registries of PettingZoo and
    Gymnasium, records, tournaments, play, adapters and examples.

    Its ids are `name-v0` (`make_batch`), `tabletop_envs/name-v0` (PettingZoo) and
    `tabletop_envs/Name-v0` (Gymnasium).

    Registering a game again changes only what is given. The same game is also one whose class has
    the module and name of the registered one's, as when a notebook's cell is run again: the new
    one takes its place.

    Args:
        game: The game, or `"module:NAME"`, which is imported when the game is first used.
        name: With `"module:NAME"`, the game's name; otherwise left out.
        version: The version in the ids; None: 0.
        heuristic: A plain function `(state, values)` as for `evaluation.register_heuristic`, or a
            module, or its name, that calls `register_heuristic` when it is imported. Left out,
            `greedy` plays at random unless it can end the game, and searches play games to their
            ends.
        drawing: A module, or its name, or another object, with `SIZE` and `draw`
            (`tabletop_envs.render.svg`). Left out, positions are shown as text.

    Raises:
        TypeError: For what is no game, heuristic or drawing.
        ValueError: For an invalid name, where another game has it, and for a registered game's
            other version. Nothing is changed then.
    """
    if isinstance(game, str):
        if not names_code(game) or not isinstance(name, str):
            raise ValueError(
                f"game={shown(game)} must be a Game, or 'module:NAME' with the game's name as name"
            )
    elif not _is_game(game):
        raise TypeError(f"game={shown(game)} must be a Game, or 'module:NAME'")
    elif name not in (None, game.name):
        raise ValueError(f"name={shown(name)} must be left out, or the game's own, {game.name!r}")
    else:
        name = game.name
    add(
        Registration(
            name=_check_name(name),
            version=0 if version is None else checks.integer("version", version, 0, 2**31 - 1),
            game=game,
            heuristic=_check_heuristic(heuristic),
            drawing=_check_drawing("drawing", drawing),
        ),
        keep_version=version is None,
    )


def add(new: Registration, *, keep_version: bool = False) -> None:
    """Register a game as another process, or an entry point, has it (`register`)."""
    known = _GAMES.get(new.name)
    if known is not None:
        if not _is_again(known.game, new.game):
            raise ValueError(
                f"name {new.name!r} must be another: {known.game!r} is registered under it "
                f"(by {known.origin}), and {new.game!r} is not the same game"
            )
        if new.version != known.version and not keep_version:
            raise ValueError(
                f"version={new.version} must be {known.version}: the game is registered as "
                f"{batch_id(known.name)}"
            )
        new = replace(
            known,
            game=known.game if isinstance(new.game, str) else new.game,
            heuristic=known.heuristic if new.heuristic is None else new.heuristic,
            drawing=known.drawing if new.drawing is None else new.drawing,
        )
    _GAMES[new.name] = new
    _add_to_gymnasium(new.name)
    _add_to_pettingzoo(new.name)


def add_entry_points() -> None:
    """Register the games of installed packages; nothing of them is imported yet."""
    for point in metadata.entry_points(group=ENTRY_POINTS):
        package = f" of {point.dist.name}" if point.dist is not None else ""
        origin = f"entry point {point.name!r}{package} (group {ENTRY_POINTS})"
        name, version = _VERSION.sub("", point.name), _VERSION.search(point.name)
        try:
            add(
                Registration(
                    _check_name(name),
                    0 if version is None else int(version[1]),
                    f"{point.module}:{point.attr or GAME}",
                    origin=origin,
                )
            )
        except ValueError as error:
            # A fault of one package must not keep the others from being used.
            warnings.warn(f"{origin} is left out: {error}", RuntimeWarning, stacklevel=2)


def _is_game(value: Any) -> bool:
    # Whoever has a game has imported this module; the registry does not, for it needs Numba.
    described = sys.modules.get("tabletop_envs.game")
    return described is not None and isinstance(value, described.Game)


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"name={shown(name)} must begin with a small letter, followed by small letters, digits "
            "and _ alone"
        )
    return name


def _check_heuristic(heuristic: Any) -> Any:
    if isinstance(heuristic, types.ModuleType):
        return heuristic.__name__
    if heuristic is None or isinstance(heuristic, str) or callable(heuristic):
        return heuristic
    raise TypeError(
        f"heuristic={shown(heuristic)} must be a function (state, values), or a module that calls "
        "register_heuristic, or its name"
    )


def _check_drawing(name: str, drawing: Any) -> Any:
    if drawing is None or isinstance(drawing, str):
        return drawing
    if not callable(getattr(drawing, "draw", None)) or not hasattr(drawing, "SIZE"):
        raise TypeError(f"{name}={shown(drawing)} must have SIZE (width, height) and draw")
    return drawing.__name__ if isinstance(drawing, types.ModuleType) else drawing


def _is_again(known: Game | str, given: Game | str) -> bool:
    """Whether both are the same game, or the given one is the known one defined again."""
    known, given = _if_imported(known), _if_imported(given)
    if isinstance(known, str) or isinstance(given, str):
        # Not imported yet, or within this very import: the package tells.
        return _package(known) == _package(given)
    kinds = [(type(game).__module__, type(game).__qualname__) for game in (known, given)]
    return known is given or kinds[0] == kinds[1]


def _if_imported(game: Game | str) -> Game | str:
    if not isinstance(game, str):
        return game
    module, _, name = game.partition(":")
    found = getattr(sys.modules.get(module), name or GAME, None)
    return game if found is None else found


def _package(game: Game | str) -> str:
    module = game if isinstance(game, str) else type(game).__module__
    return module.partition(":")[0].partition(".")[0]


def _add_to_pettingzoo(name: str) -> None:
    """Put a game into PettingZoo's registry, as AEC and as parallel environment, where there is
    one.
    """
    try:
        from pettingzoo import aec_registry, parallel_registry, register
    except ImportError:
        return
    given = {"game": name, "on_illegal": "lose"}
    if aec_id(name) not in aec_registry:
        register(
            "aec", aec_id(name), entry_point="tabletop_envs.envs.aec:TabletopEnv", kwargs=given
        )
    if aec_id(name) not in parallel_registry:
        register(
            "parallel",
            aec_id(name),
            entry_point="tabletop_envs.envs.parallel:TabletopParallelEnv",
            kwargs=dict(given),
        )


def _add_to_gymnasium(name: str) -> None:
    """Put a game into Gymnasium's registry, as a single and as a vector environment."""
    from gymnasium.envs.registration import register, registry

    if gym_id(name) not in registry:
        register(
            gym_id(name),
            entry_point="tabletop_envs.envs.gym:TabletopGymEnv",
            vector_entry_point="tabletop_envs.envs.vector:TabletopVectorEnv",
            kwargs={"game": name},
        )


# Names and ids


def game_names() -> list[str]:
    """The names of all games, in the order in which they were registered."""
    return list(_GAMES)


def registration(name: str) -> Registration:
    """What is registered under a game's name; ValueError for a game that is not registered."""
    if name not in _GAMES:
        raise ValueError(
            f"game {shown(name)} must be a registered one: {', '.join(_GAMES)}; {_HOW}"
        )
    return _GAMES[name]


def batch_id(name: str) -> str:
    """The id of a game in `make_batch`, such as `kirche-v0`; ValueError for a game that is not
    registered.
    """
    return f"{name}-v{registration(name).version}"


def module_name(name: str) -> str:
    """A game's name with its version as a module's, such as `kirche_v0`; 0 if not registered."""
    return f"{name}_v{_GAMES[name].version if name in _GAMES else 0}"


def module_of(name: str) -> str:
    """The module that a game is imported from, such as `tabletop_envs.kirche_v0`."""
    return registration(name).module


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
    known = ", ".join(batch_id(name) for name in _GAMES)
    if not isinstance(identifier, str):
        raise TypeError(f"game={shown(identifier)} must be a game's name or id: {known}")
    for name in _GAMES:
        if identifier in (name, batch_id(name), aec_id(name), gym_id(name)):
            return name
    raise ValueError(f"there is no game {shown(identifier)}: the games are {known}; {_HOW}")


# Games


def get_game(identifier: str) -> Game:
    """The description of a game, its kernel imported (compiled only when it is first used).

    TypeError or ValueError for an unknown game, and for one that cannot be imported.
    """
    known = registration(find_name(identifier))
    if not isinstance(known.game, str):
        return known.game
    try:
        game: Game = load_object(known.game, "game", _is_game, GAME)
        if game.name != known.name:
            raise ValueError(f"the game is called {game.name!r}, not {known.name!r}")
    except ValueError as error:
        raise ValueError(f"game {known.name!r} of {known.origin}: {error}") from error
    # Importing it may have registered it once more.
    _GAMES[known.name] = replace(_GAMES[known.name], game=game)
    return game


def get_game_of_id(identifier: str) -> Game:
    """As `get_game`, for the id in a file: `kirche-v0` and no other name of the game.

    ValueError for anything else. Nothing that the file says is imported but a registered game.
    """
    if identifier not in [batch_id(name) for name in _GAMES]:
        known = ", ".join(batch_id(name) for name in _GAMES)
        raise ValueError(f"game is {shown(identifier)}: the games are {known}; {_HOW}")
    return get_game(identifier)


def import_game(text: str) -> Game:
    """The game that a command line names: by name or id, or as `module:NAME` or `file.py:NAME`
    (without NAME its GAME), which is imported and registered.

    TypeError or ValueError, saying what was looked for and found, for anything else.
    """
    if not isinstance(text, str) or not names_code(text):
        return get_game(text)
    game: Game = load_object(text, "game", _is_game, GAME)
    register(game)
    return game


def all_games() -> list[Game]:
    """All games. One that cannot be imported is left out, with a RuntimeWarning."""
    games = []
    for name in game_names():
        try:
            games.append(get_game(name))
        except ValueError as error:
            warnings.warn(f"{error}: it is left out", RuntimeWarning, stacklevel=2)
    return games


def registration_of(game: Game) -> Registration | None:
    """What is registered of this very game; None where nothing is, or another game of its name."""
    known = _GAMES.get(game.name)
    return known if known is not None and _if_imported(known.game) is game else None


def drawing_of(game: Game) -> Any:
    """What draws a game: an object with `SIZE` and `draw`, imported now; None without one.

    ValueError or TypeError where it cannot be imported, and for what is no drawing.
    """
    known = registration_of(game)
    drawing = None if known is None else known.drawing
    if not isinstance(drawing, str):
        return drawing
    text = f"drawing {drawing} of game {game.name}"
    if names_code(drawing):
        found = load_object(drawing, "drawing", lambda one: hasattr(one, "draw"))
    else:
        found = import_module(drawing, text)
    _check_drawing(text, found)
    return found


# The library's own games

register(
    "tabletop_envs.kirche_v0:GAME",
    name="kirche",
    heuristic="tabletop_envs.evaluation.kirche",
    drawing="tabletop_envs.render.svg.kirche",
)
register(
    "tabletop_envs.tuerme_v0:GAME",
    name="tuerme",
    heuristic="tabletop_envs.evaluation.tuerme",
    drawing="tabletop_envs.render.svg.tuerme",
)
register(
    "tabletop_envs.meeples_v0:GAME",
    name="meeples",
    heuristic="tabletop_envs.evaluation.meeples",
    drawing="tabletop_envs.render.svg.meeples",
)
