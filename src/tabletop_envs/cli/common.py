"""What all commands share: reading games and options, printing tables, Ctrl-C. Typer and Rich are imported on use."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tabletop_envs import registry
from tabletop_envs.checks import nearest
from tabletop_envs.foreign import fault_text, require_regular_file

if TYPE_CHECKING:
    import typer
    from rich.progress import ProgressColumn
    from rich.table import Table
    from typer.core import TyperCommand

    from tabletop_envs.game import Game

# The width of tables in files and pipes, which have none of their own.
FILE_WIDTH = 120
INTERRUPTED = 130  # the shell's exit code for a command ended by Ctrl-C (128 + SIGINT)


# Words


def wrong(parameter: str, message: str) -> typer.BadParameter:
    """The error, with exit code 2, for a word of the command line that cannot be used."""
    import typer

    return typer.BadParameter(message, param_hint=parameter)


def find_agent(flag: str, name: str) -> None:
    """See to it that a name is an agent's; typer.BadParameter, with the full name that was probably meant."""
    from tabletop_envs.agents import agent_names, make_agent

    try:
        make_agent(name)
    except ValueError as error:
        # A name in full, to be typed as it stands.
        hint = nearest(name, agent_names()).replace(":N", ":400")
        raise wrong(flag, f"{error}{hint or '; mcts:400, for example'}") from None


def require_output(flag: str, path: Path) -> None:
    """See to it that a file can be written; typer.BadParameter for a device or pipe, a folder, and where there is none."""
    try:
        require_regular_file(path)
        is_folder, is_in_folder = path.is_dir(), path.absolute().parent.is_dir()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise wrong(flag, f"{path} cannot be written: {fault_text(error)}") from None
    if is_folder:
        raise wrong(flag, f"{path} must be a file, not a directory")
    if not is_in_folder:
        raise wrong(flag, f"there is no folder {path.parent}")


def seed_option(meaning: str) -> Any:
    """The option `--seed` of a command, for `Annotated`."""
    import typer

    return typer.Option(min=0, max=2**64 - 1, show_default=False, help=meaning)


def options_option() -> Any:
    """The option `--option` of a command with one game, for `Annotated`."""
    import typer

    return typer.Option(
        metavar="KEY=VALUE ...", show_default=False, help="Options of the game (see `list`)."
    )


def find_games(words: Sequence[str]) -> list[Game]:
    """The games that the words name, each once; all games without words.

    typer.BadParameter, with the nearest name, for an unknown word.
    """
    names = []
    for word in words or registry.game_names():
        try:
            names.append(registry.find_name(word))
        except ValueError as error:
            known = [*registry.game_names(), *map(registry.batch_id, registry.game_names())]
            raise wrong("GAME", f"{error}{nearest(word, known)}") from None
    return [registry.get_game(name) for name in dict.fromkeys(names)]


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """The options that texts such as `num_houses=3` and `slide=true` give, whole numbers and truth values as such.

    Everything else stays a text, for the game to refuse in its own words. typer.BadParameter for a text that is no
    `key=value`, and for an option given twice.
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
    """All options of a game with the given ones, such as `num_houses=3`; typer.BadParameter for wrong ones."""
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


def taking_several(*flags: str) -> type[TyperCommand]:
    """The class of a command whose options `flags` take several values: `--agents a b` is `--agents a --agents b`."""
    from typer.core import TyperCommand

    class Command(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, spread(args, flags))

    return Command


def spread(words: Sequence[str], flags: Sequence[str]) -> list[str]:
    """The words with every flag repeated before each of its values; a flag without any comes last, where it is missed."""
    result: list[str] = []
    bare: list[str] = []
    flag = None
    for word in words:
        if word in flags:
            flag = word
            bare.append(flag)
        elif word.startswith("-"):
            flag = None
            result.append(word)
        elif flag is not None:
            result += [flag, word]
            if flag in bare:
                bare.remove(flag)
        else:
            result.append(word)
    return result + bare


# Printing


def value_text(value: int | bool) -> str:
    """An option's value as it is written on the command line."""
    return str(value).lower()


def number_text(value: float | None, form: str) -> str:
    """A number in a form of `format`; a dash where there is none."""
    return "-" if value is None else format(value, form)


def print_tables(tables: Sequence[Table]) -> None:
    """Print Rich tables on stdout: in its colours and width on a terminal, plainly elsewhere."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else FILE_WIDTH
    console = Console(width=width, markup=False, highlight=False)
    for table in tables:
        console.print(table)


# Ctrl-C


class Live:
    """Lines that show how far something is, on stderr and only on a terminal, so that stdout has the results and nothing else.

    A context manager; at its end the lines vanish, and what is printed then takes their place.
    """

    def __init__(self, *columns: ProgressColumn) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(
            *columns,
            console=Console(stderr=True, markup=False, highlight=False),
            disable=not sys.stderr.isatty(),
            transient=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Older versions of Rich end even what they do not show with a new line.
        if not self._progress.disable:
            self._progress.stop()


class Interrupt(KeyboardInterrupt):
    """Ctrl-C, in a class of its own.

    Where KeyboardInterrupt itself passes through `exec`, which Numba's compiler uses, CPython does not forget it: it
    ends by the signal instead of our exit code, even after the exception has been handled.
    """


class CtrlC:
    """Within `with`, Ctrl-C raises `Interrupt`, and is remembered in case that the exception gets lost.

    It does get lost in a finaliser, of which Numba's compiler has many. Where Ctrl-C has another meaning already, or
    signals cannot be had (outside the main thread), everything stays as it is.
    """

    def __init__(self) -> None:
        self._pressed = False
        self._installed = False

    def __enter__(self) -> CtrlC:
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
