"""`tabletop-envs replay`: recorded games as a page for the browser (`arena.replay`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tabletop_envs.cli.common import (
    INTERRUPTED,
    CtrlC,
    Live,
    failed,
    find_games,
    require_output,
    wrong,
)
from tabletop_envs.files import fault_text, replacing

if TYPE_CHECKING:
    from tabletop_envs.arena.records import GameRecord


def replay(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", show_default=False, help="Recorded games, one a line."),
    ],
    custom: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME]...",
            show_default=False,
            help="Custom games that FILE has, as file.py:NAME or module:NAME: what a file names is "
            "never imported by itself.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            show_default=False,
            help="The page; an older one is replaced. Default: FILE with the ending .html.",
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
        typer.Option(help="How the page begins: light, dark, or as the reader's system (auto)."),
    ] = "auto",
) -> None:
    """Make a page that replays games in the browser: one file that needs no network."""
    from tabletop_envs.arena.replay import PAGE_THEMES, page

    if theme not in PAGE_THEMES:
        raise wrong("--theme", f"{theme!r} must be one of {', '.join(PAGE_THEMES)}")
    if custom:
        find_games(custom)
    target = file.with_suffix(".html") if output is None else output
    require_output("--output", target)
    if target.exists() and file.exists() and os.path.samefile(target, file):
        raise wrong("--output", f"{target} has the games: name another file")
    try:
        with CtrlC(), Live() as live:
            games = choose_games(file, game or [])
            text = page(live.track(games, description="drawing"), theme=theme)
            with replacing(target) as beside:
                beside.write_text(text, encoding="utf-8", newline="\n")
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except ImportError as error:
        raise failed(error) from None
    except OSError as error:
        raise wrong("--output", f"{target} cannot be written: {fault_text(error)}") from None
    count = "1 game" if len(games) == 1 else f"{len(games)} games"
    typer.echo(f"wrote {target}: {count}, {-(-len(text) // 1000)} kB")


def choose_games(path: Path, numbers: Sequence[int]) -> list[GameRecord]:
    """The games of a file with the given numbers, in the file's order; without numbers all.

    typer.BadParameter for a file that cannot be read, a bad record, no games, and a number that no
    game has.
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
            raise wrong("--game", f"{path} has no game {number}")
    return chosen
