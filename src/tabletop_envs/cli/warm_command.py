"""`tabletop-envs warm`: everything of some games compiled ahead (`warming`)."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, TimeElapsedColumn

from tabletop_envs.cli.common import GAME_HELP, INTERRUPTED, CtrlC, Live, failed, find_games

if TYPE_CHECKING:
    from tabletop_envs.game import Game
    from tabletop_envs.warming import Progress


def warm(
    game: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            help=f"What to compile: {GAME_HELP}. Default: all.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            show_default=False,
            help="How many processes compile at the same time. Default: one a core.",
        ),
    ] = None,
) -> None:
    """Compile everything of some games ahead, for images, clusters and CI.

    Later processes find it in Numba's cache, which NUMBA_CACHE_DIR may name. What is there already
    stays.
    """
    from tabletop_envs.warming import cache_folder, compile_ahead

    begin = time.monotonic()
    # What the library would say of compiling is what is shown anyway.
    logging.getLogger("tabletop_envs").addFilter(_silence)
    try:
        with CtrlC() as ctrl_c:
            games = find_games(game or [])
            with LiveParts(games) as live:
                for progress in compile_ahead(games, workers or _cores()):
                    live.show(progress)
                    ctrl_c.check()
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except RuntimeError as error:
        raise failed(error) from None
    finally:
        logging.getLogger("tabletop_envs").removeFilter(_silence)
    names = ", ".join(each.name for each in games)
    seconds = time.monotonic() - begin
    typer.echo(f"compiled {names} in {seconds:.0f} s, kept in {cache_folder()}")


def _silence(record: logging.LogRecord) -> bool:
    return False


def _cores() -> int:
    # Those that this process may use, where the system tells.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LiveParts(Live):
    """A line a game: its name, a bar of its parts, the time, and what was compiled last."""

    def __init__(self, games: Sequence[Game]) -> None:
        super().__init__(
            "{task.description}",
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            "{task.fields[state]}",
        )
        self._lines = {
            game.name: self.add_task(game.name, total=None, state="compiling ...") for game in games
        }

    def show(self, progress: Progress) -> None:
        """Show that a part is compiled."""
        self.update(
            self._lines[progress.game],
            total=progress.total,
            completed=progress.done,
            state=f"{progress.done} of {progress.total}: {progress.part}",
            refresh=True,
        )
