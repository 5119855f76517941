"""The command line `tabletop-envs` (the extra `cli`): random self-play with its speed, and the games' options.

A thin layer over `make_batch` and `BatchEnv.rollout`, which whoever wants the numbers in Python uses. Measuring
(`tabletop_envs.selfplay`) knows nothing of drawing (`results_table`, `LiveDisplay`).

`--help` and `--version` import neither Numba nor a game. Typer and Rich are imported only when they are used.
"""

# No `from __future__ import annotations` here: the commands lie within `make_app`, and Typer must be
# able to read their annotations, which name what is imported only there.

import difflib
import json
import secrets
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.selfplay import Length, Plan, Result, play_all

if TYPE_CHECKING:
    import typer
    from rich.table import Table

    from tabletop_envs.envs.game import Game

DEFAULT_SECONDS = 5.0
DEFAULT_NUM_ENVS = 1024
# The width of tables in files and pipes, which have none of their own.
FILE_WIDTH = 120
INTERRUPTED = 130  # the shell's exit code for a command ended by Ctrl-C (128 + SIGINT)


# Words


def _wrong(parameter: str, message: str) -> "typer.BadParameter":
    """The error, with exit code 2, for a word of the command line that cannot be used."""
    import typer

    return typer.BadParameter(message, param_hint=parameter)


def _nearest(word: str, known: Sequence[str]) -> str:
    """A hint at the known word that was probably meant; empty if none is near."""
    close = difflib.get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def find_games(words: Sequence[str]) -> "list[Game]":
    """The games that the words name, each once; all games without words.

    typer.BadParameter, with the nearest name, for an unknown word.
    """
    names = []
    for word in words or registry.game_names():
        try:
            names.append(registry.find_name(word))
        except ValueError as error:
            known = [*registry.game_names(), *map(registry.batch_id, registry.game_names())]
            raise _wrong("GAME", f"{error}{_nearest(word, known)}") from None
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
            raise _wrong("--option", f"{text!r} is not of the form key=value")
        if key in options:
            raise _wrong("--option", f"{key!r} is given twice")
        options[key] = _read_value(value)
    return options


def _read_value(text: str) -> int | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return text


def make_plans(games: "Sequence[Game]", given: Mapping[str, Any]) -> list[Plan]:
    """The games with the given options, each option for those games that know it.

    typer.BadParameter for an option that no game knows (with the options that there are) and for an impossible value.
    """
    names = {game.name: [option.name for option in game.options] for game in games}
    known = list(dict.fromkeys(option for options in names.values() for option in options))
    for option in given:
        if option not in known:
            there_are = "; ".join(f"{name} has {', '.join(names[name])}" for name in names)
            hint = _nearest(option, known)
            raise _wrong("--option", f"no game chosen has an option {option!r}{hint}: {there_are}")
    plans = []
    for game in games:
        own = {option: value for option, value in given.items() if option in names[game.name]}
        try:
            options = game.parse_options(own)
        except (TypeError, ValueError) as error:
            raise _wrong("--option", f"{game.name}: {error}") from None
        default = {option.name: option.default for option in game.options}
        changed = {name: value for name, value in options.items() if value != default[name]}
        plans.append(Plan(registry.batch_id(game.name), options, changed))
    return plans


# Results as data and as a table


def _share(count: float, games: int) -> float | None:
    return count / games if games else None


def result_entry(result: Result) -> dict[str, Any]:
    """One game's part of the JSON document: plain JSON types, None for means and shares without a finished game."""
    counts = result.counts
    games = counts.games
    return {
        "game": result.plan.id,
        "options": result.plan.options,
        "steps": result.steps,
        "actions": counts.actions,
        "seconds": result.seconds,
        "actions_per_second": result.actions_per_second,
        "games": games,
        "mean_length": _share(counts.plies, games),
        "longest": counts.longest if games else None,
        "truncated": counts.truncated,
        "truncated_share": _share(counts.truncated, games),
        "players": [
            {
                "agent": f"player_{player}",
                "wins": wins,
                "win_share": _share(wins, games),
                "mean_reward": reward if games else None,
                "mean_score": _share(score, games),
            }
            for player, (wins, reward, score) in enumerate(
                zip(result.wins, counts.mean_rewards, counts.scores, strict=True)
            )
        ],
    }


def _value_text(value: int | bool) -> str:
    """An option's value as it is written on the command line."""
    return str(value).lower()


def results_table(results: Sequence[Result], caption: str) -> "Table":
    """The results, a row a game, in it a line a player; beneath, options that differ from their defaults."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("game", no_wrap=True)
    for heading in ("actions/s", "games", "mean\nlength", "longest", "truncated"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("player", no_wrap=True)
    for heading in ("wins", "mean\nreward"):
        table.add_column(heading, justify="right", no_wrap=True)

    for result in results:
        entry = result_entry(result)
        players = entry["players"]
        table.add_row(
            result.plan.id,
            f"{result.actions_per_second:,.0f}",
            f"{entry['games']:,}",
            _number(entry["mean_length"], ".1f"),
            _number(entry["longest"], ","),
            _number(entry["truncated_share"], ".1%"),
            "\n".join(player["agent"] for player in players),
            "\n".join(_number(player["win_share"], ".1%") for player in players),
            "\n".join(_number(player["mean_reward"], "+z.3f") for player in players),
        )
    table.caption = "\n".join(
        [*(_changed(result.plan) for result in results if result.plan.changed), caption]
    )
    table.caption_justify = "left"
    return table


def _changed(plan: Plan) -> str:
    options = (f"{name}={_value_text(value)}" for name, value in plan.changed.items())
    return f"{plan.id} with {', '.join(options)}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def options_table(game: "Game") -> "Table":
    """A game's ids and options."""
    from rich import box
    from rich.table import Table

    ids = f"{registry.batch_id(game.name)} (PettingZoo: {registry.aec_id(game.name)})"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, title=ids)
    table.title_justify = "left"
    for heading in ("option", "default", "allowed"):
        table.add_column(heading, no_wrap=True)
    table.add_column("meaning")
    for option in game.options:
        truth = isinstance(option.default, bool)
        allowed = "true, false" if truth else f"{option.minimum} to {option.maximum}"
        table.add_row(option.name, _value_text(option.default), allowed, option.meaning)
    return table


def game_entry(game: "Game") -> dict[str, Any]:
    """A game's ids and options in plain JSON types."""
    return {
        "name": game.name,
        "id": registry.batch_id(game.name),
        "aec_id": registry.aec_id(game.name),
        "module": f"tabletop_envs.{registry.module_name(game.name)}",
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "allowed": [False, True]
                if isinstance(option.default, bool)
                else {"minimum": option.minimum, "maximum": option.maximum},
                "meaning": option.meaning,
            }
            for option in game.options
        ],
    }


# Drawing


class LiveDisplay:
    """A line a game: its name, a bar, and its speed so far.

    It is drawn on stderr, and only on a terminal, so that stdout has the results and nothing else.
    """

    def __init__(self, plans: Sequence[Plan], length: Length) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._length = length
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),  # with the longest name and numbers it fits into 80 columns
            TextColumn("{task.fields[state]}"),
            console=Console(stderr=True, markup=False, highlight=False),
            disable=not sys.stderr.isatty(),
            transient=True,  # the table takes its place
        )
        self._tasks = {plan.id: self._progress.add_task(plan.id, state="waiting") for plan in plans}

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Older versions of Rich end even what they do not show with a new line.
        if not self._progress.disable:
            self._progress.stop()

    def compiling(self, plan: Plan) -> None:
        """Show that a game is being prepared."""
        # No total: the bar moves to and fro.
        self._progress.update(self._tasks[plan.id], total=None, state="compiling ...", refresh=True)

    def playing(self, result: Result) -> None:
        """Show a game's speed so far."""
        if self._length.steps is None:
            total, completed = self._length.seconds, result.seconds
        else:
            total, completed = float(self._length.steps), float(result.steps)
        self._progress.update(
            self._tasks[result.plan.id],
            total=total,
            completed=min(completed, total),
            state=f"{result.actions_per_second:,.0f} actions/s, {result.counts.games:,} games",
        )


def _print_tables(tables: "Sequence[Table]") -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else FILE_WIDTH
    console = Console(width=width, markup=False, highlight=False)
    for table in tables:
        console.print(table)


# Ctrl-C


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

    def __enter__(self) -> "CtrlC":
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


# The commands


def make_app() -> "typer.Typer":
    """The command line as a Typer application."""
    import typer

    app = typer.Typer(
        help="Three board games as fast reinforcement-learning environments.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    as_json = typer.Option("--json", help="Print one JSON document instead of tables.")

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"tabletop-envs {tabletop_envs.__version__}")
            raise typer.Exit

    @app.callback()
    def common(
        version: Annotated[
            bool,
            typer.Option(
                "--version", callback=show_version, is_eager=True, help="Print the version."
            ),
        ] = False,
    ) -> None: ...

    @app.command()
    def selfplay(
        game: Annotated[
            list[str] | None,
            typer.Argument(
                show_default=False,
                help=f"What to play: {', '.join(registry.game_names())}. Default: all.",
            ),
        ] = None,
        seconds: Annotated[
            float | None,
            typer.Option(
                show_default=False,
                help="How long to play each game, the time for compiling left out. "
                f"Default: {DEFAULT_SECONDS:g}.",
            ),
        ] = None,
        steps: Annotated[
            int | None,
            typer.Option(
                min=1,
                show_default=False,
                help="Instead of a time: actions in each of the games played at once. "
                "Together with --seed the counts can be reproduced.",
            ),
        ] = None,
        num_envs: Annotated[
            int, typer.Option(min=1, help="How many games of a kind are played at once.")
        ] = DEFAULT_NUM_ENVS,
        threads: Annotated[
            int,
            typer.Option(min=1, help="How many threads share them; counts do not depend on it."),
        ] = 1,
        seed: Annotated[
            int | None,
            typer.Option(
                min=0,
                max=2**64 - 1,
                show_default=False,
                help="Makes chance reproducible. Default: a new one, which is shown.",
            ),
        ] = None,
        option: Annotated[
            list[str] | None,
            typer.Option(
                metavar="KEY=VALUE",
                show_default=False,
                help="An option of the games (see `list`); may be repeated. "
                "It goes to those of the chosen games that have it.",
            ),
        ] = None,
        json_: Annotated[bool, as_json] = False,
    ) -> None:
        """Play random games in the batch engine; show speed and results.

        Ctrl-C ends it and shows what there is so far.
        """
        if seconds is not None and steps is not None:
            raise _wrong("--seconds, --steps", "they exclude each other: give one of the two")
        if seconds is not None and not 0 < seconds < float("inf"):
            raise _wrong("--seconds", f"{seconds:g} is impossible: allowed is a number above 0")
        length = Length(DEFAULT_SECONDS if seconds is None else seconds, steps)
        seed = secrets.randbits(32) if seed is None else seed
        results: dict[str, Result] = {}
        interrupted = False
        try:
            with CtrlC() as ctrl_c:
                plans = make_plans(find_games(game or []), read_options(option or []))
                with LiveDisplay(plans, length) as display:
                    for result in play_all(
                        plans,
                        length,
                        num_envs=num_envs,
                        num_threads=threads,
                        seed=seed,
                        compiling=display.compiling,
                    ):
                        results[result.plan.id] = result
                        display.playing(result)
                        ctrl_c.check()
        except KeyboardInterrupt:
            interrupted = True
        except ValueError as error:
            raise _wrong("--num-envs, --threads", str(error)) from None
        except MemoryError:
            raise _wrong("--num-envs", f"there is no memory for {num_envs} games") from None
        if json_:
            document = {
                "version": tabletop_envs.__version__,
                "seed": seed,
                "num_envs": num_envs,
                "num_threads": threads,
                "interrupted": interrupted,
                "games": [result_entry(result) for result in results.values()],
            }
            typer.echo(json.dumps(document, indent=2))
        else:
            caption = f"seed {seed}, {num_envs:,} games at once, threads: {threads}"
            if interrupted:
                caption += ", interrupted"
            _print_tables([results_table(list(results.values()), caption)])
        if interrupted:
            raise typer.Exit(INTERRUPTED)

    @app.command("list")
    def list_games(json_: Annotated[bool, as_json] = False) -> None:
        """Name the games, their ids and their options."""
        games = find_games([])
        if json_:
            typer.echo(json.dumps({"games": [game_entry(game) for game in games]}, indent=2))
        else:
            _print_tables([options_table(game) for game in games])

    return app


def main() -> None:
    """The entry point; exits with 1, naming the extra, where Typer or Rich is not installed."""
    try:
        import rich  # noqa: F401 (only to see whether it is there)
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        print(
            f"tabletop-envs: the command line needs {error.name}, which is not installed: "
            'pip install "tabletop-envs[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    make_app()(prog_name="tabletop-envs")


if __name__ == "__main__":
    main()
