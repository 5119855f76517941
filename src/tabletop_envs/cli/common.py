"""What all commands share: games, agents and options by name, tables, progress, Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Column, Table

from tabletop_envs import registry
from tabletop_envs.checks import nearest
from tabletop_envs.files import fault_text, require_regular_file

if TYPE_CHECKING:
    from tabletop_envs.agents import GameAgent
    from tabletop_envs.game import Game

# The width of tables in files and pipes, which have none of their own.
FILE_WIDTH = 120
INTERRUPTED = 130  # the shell's exit code for a command ended by Ctrl-C (128 + SIGINT)

# How a game is named, for the help of arguments.
GAME_HELP = "see `list`, or a custom one as file.py:NAME or module:NAME"

# Options that several commands have.
GameOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        show_default=False,
        help="An option of the game (see `list`); may be repeated.",
    ),
]
# What names an agent has, for the help of options.
AGENT_FORMS = (
    "random, greedy, mcts:N (N simulations an action), FILE.py:OBJECT, MODULE:OBJECT or a "
    "checkpoint FILE.pt"
)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, not tables.")]


def seed_option(meaning: str) -> Any:
    """The option `--seed` of a command, for `Annotated`."""
    return typer.Option(min=0, max=2**64 - 1, show_default=False, help=meaning)


# Errors


def wrong(parameter: str, message: str) -> typer.BadParameter:
    """The error, with exit code 2, for an argument or option that cannot be used."""
    return typer.BadParameter(message, param_hint=parameter)


def failed(error: Exception) -> typer.Exit:
    """Exit code 1, after an error has been printed on stderr."""
    typer.echo(f"tabletop-envs: {error}", err=True)
    return typer.Exit(1)


# Reading


def find_agents(parameter: str, names: Sequence[str]) -> dict[str, GameAgent]:
    """The agents of some names, each made once.

    typer.BadParameter, with the nearest name, for what is none; typer.Exit without PyTorch.
    """
    from tabletop_envs.agents.naming import make_agent, own_names

    made: dict[str, GameAgent] = {}
    for name in dict.fromkeys(names):
        try:
            made[name] = make_agent(name)
        except ValueError as error:
            # A name in full, to be typed as it stands.
            hint = nearest(name, own_names()).replace(":N", ":400")
            raise wrong(parameter, f"{error}{hint}") from None
        except ImportError as error:
            raise failed(error) from None
    return made


def require_output(parameter: str, path: Path) -> None:
    """Check that a file can be written; typer.BadParameter for a device, a pipe or a folder."""
    try:
        require_regular_file(path)
        is_folder, is_in_folder = path.is_dir(), path.absolute().parent.is_dir()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise wrong(parameter, f"{path} cannot be written: {fault_text(error)}") from None
    if is_folder:
        raise wrong(parameter, f"{path} must be a file, not a directory")
    if not is_in_folder:
        raise wrong(parameter, f"there is no folder {path.parent}")


def find_games(names: Sequence[str]) -> list[Game]:
    """The games of some names, each once; without names all games.

    `module:NAME` and `file.py:NAME` are imported and registered. typer.BadParameter, with the
    nearest name, for an unknown one, and for what is no game there.
    """
    found = []
    for name in names:
        try:
            found.append(registry.import_game(name))
        except (TypeError, ValueError) as error:
            known = [*registry.game_names(), *map(registry.batch_id, registry.game_names())]
            raise wrong("GAME", f"{error}{nearest(name, known)}") from None
    return list({game.name: game for game in found or registry.all_games()}.values())


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """The options that texts such as `num_houses=3` and `slide=true` give: integers and bools.

    Everything else stays a string, for the game to refuse. typer.BadParameter for a text that is
    not `key=value`, and for an option given twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise wrong("--option", f"{text!r} is not of the form key=value")
        if key in options:
            raise wrong("--option", f"{key!r} is given twice")
        options[key] = _read_value(value)
    return options


def _read_value(text: str) -> int | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return text


def game_options(game: Game, texts: Sequence[str]) -> dict[str, int | bool]:
    """All options of a game, with the given ones; typer.BadParameter for wrong ones."""
    given = read_options(texts)
    known = [option.name for option in game.options]
    try:
        return game.parse_options(given)
    except TypeError as error:
        unknown = [name for name in given if name not in known]
        hint = nearest(unknown[0], known) if unknown else ""
        raise wrong("--option", f"{error}{hint}") from None
    except ValueError as error:
        raise wrong("--option", f"{game.name}: {error}") from None


# Printing


def value_text(value: int | bool) -> str:
    """An option's value as it is written on the command line."""
    return str(value).lower()


def number_text(value: float | None, form: str) -> str:
    """A number in a form of `format`; a dash where there is none."""
    return "-" if value is None else format(value, form)


def numbers(*headings: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(heading, justify="right", no_wrap=True) for heading in headings]


def new_table(*columns: Column | str, title: str | None = None, padding: int = 0) -> Table:
    """A Rich table in the look that all commands share."""
    return Table(
        *columns,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, padding),
        title=title,
        title_justify="left",
        caption_justify="left",
    )


def print_tables(*tables: Table) -> None:
    """Print tables on stdout: in its colours and width on a terminal, plainly elsewhere."""
    width = None if sys.stdout.isatty() else FILE_WIDTH
    console = Console(width=width, markup=False, highlight=False)
    for table in tables:
        console.print(table)


class Live(Progress):
    """Progress on stderr, and only on a terminal: stdout has the results and nothing else.

    It vanishes at its end, and what is printed then takes its place.
    """

    def __init__(self, *columns: str | ProgressColumn) -> None:
        super().__init__(
            *columns,
            console=Console(stderr=True, markup=False, highlight=False),
            disable=not sys.stderr.isatty(),
            transient=True,
        )

    def stop(self) -> None:
        """Stop, where something has been shown: older versions of Rich print a line otherwise."""
        if not self.disable:
            super().stop()


# Ctrl-C


class Interrupt(KeyboardInterrupt):
    """Ctrl-C, in a class of its own.

    Where KeyboardInterrupt itself passes through `exec`, which Numba's compiler uses, CPython
    remembers it and ends by the signal instead of our exit code, even after it was handled.
    """


class CtrlC:
    """Within `with`, Ctrl-C raises `Interrupt`, and is remembered in case the exception is lost.

    It is lost in a finaliser, of which Numba's compiler has many. Where Ctrl-C has another meaning
    already, or signals cannot be set (outside the main thread), everything stays as it is.
    """

    def __init__(self) -> None:
        self._pressed = False
        self._installed = False

    def __enter__(self) -> Self:
        main_thread = threading.current_thread() is threading.main_thread()
        if main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._press)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, *_: object) -> None:
        self._pressed = True
        raise Interrupt

    def check(self) -> None:
        """Raise `Interrupt` if Ctrl-C has been pressed."""
        if self._pressed:
            raise Interrupt
