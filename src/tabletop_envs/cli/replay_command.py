"""`tabletop-envs replay`: recorded games as a page for the browser.

A thin layer over `tabletop_envs.arena.replay`.
"""

# No `from __future__ import annotations` here: the commands lie within functions, and Typer must be able to read
# their annotations, which name what is imported only there.

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tabletop_envs.cli.common import INTERRUPTED, CtrlC, require_output, wrong
from tabletop_envs.foreign import fault_text

if TYPE_CHECKING:
    import typer

    from tabletop_envs.arena.records import GameRecord


def choose_games(path: Path, numbers: Sequence[int]) -> list["GameRecord"]:
    """The games of a file that the numbers name, in the file's order; without numbers all.

    typer.BadParameter for a file that cannot be read, a bad record, no games, and a number that no game has.
    """
    from tabletop_envs.arena.records import read_records

    chosen, last = [], 0
    try:
        # What comes after the last game wanted is not read.
        for last, record in enumerate(read_records(path), 1):
            if not numbers or last in numbers:
                chosen.append(record)
            if numbers and last >= max(numbers):
                break
    except OSError as error:
        raise wrong("FILE", f"{path} cannot be read: {fault_text(error)}") from None
    except ValueError as error:
        raise wrong("FILE", str(error)) from None
    if not last:
        raise wrong("FILE", f"{path} has no games")
    for number in numbers:
        if not 1 <= number <= last:
            raise wrong("--game", f"{number} is impossible: {path} has the games 1 to {last}")
    return chosen


def write_whole(path: Path, text: str) -> None:
    """Write a file as a whole or not at all; an older one is replaced. OSError if that is impossible."""
    beside = path.with_name(f"{path.name}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _shown(games: Sequence["GameRecord"]) -> Iterator["GameRecord"]:
    """The games one after the other, with a bar on stderr if that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    yield from track(
        games,
        "drawing",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def add_to(app: "typer.Typer") -> None:
    """Add the command to the application."""
    import typer

    @app.command()
    def replay(
        file: Annotated[
            Path,
            typer.Argument(metavar="FILE", show_default=False, help="Recorded games, one a line."),
        ],
        output: Annotated[
            Path | None,
            typer.Option(
                "--output",
                "-o",
                show_default=False,
                help="The page; an older one is replaced. Default: beside FILE, with the ending .html.",
            ),
        ] = None,
        game: Annotated[
            list[int] | None,
            typer.Option(
                metavar="N",
                show_default=False,
                help="The N-th game of the file, from 1; may be repeated. Default: all.",
            ),
        ] = None,
        theme: Annotated[
            str,
            typer.Option(
                help="What the page begins with: light, dark, or what the reader's system prefers (auto)."
            ),
        ] = "auto",
    ) -> None:
        """Make a page that replays games in the browser: one file that needs no network."""
        from tabletop_envs.arena.replay import PAGE_THEMES, page

        if theme not in PAGE_THEMES:
            raise wrong("--theme", f"{theme!r} is impossible: allowed is {', '.join(PAGE_THEMES)}")
        target = file.with_suffix(".html") if output is None else output
        require_output("--output", target)
        if target.exists() and file.exists() and os.path.samefile(target, file):
            raise wrong("--output", f"{target} has the games: name another file")
        try:
            with CtrlC():
                games = choose_games(file, game or [])
                text = page(_shown(games), theme=theme)
                write_whole(target, text)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except ImportError as error:
            typer.echo(f"tabletop-envs: {error}", err=True)
            raise typer.Exit(1) from None
        except OSError as error:
            raise wrong("--output", f"{target} cannot be written: {fault_text(error)}") from None
        count = "1 game" if len(games) == 1 else f"{len(games)} games"
        typer.echo(f"wrote {target}: {count}, {-(-len(text) // 1000)} kB")
