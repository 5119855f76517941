"""`tabletop-envs play --web`: a game on a page of this machine until Ctrl-C (`play.web`)."""

from __future__ import annotations

import contextlib
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tabletop_envs.cli.common import wrong
from tabletop_envs.files import fault_text

if TYPE_CHECKING:
    from tabletop_envs.agents.naming import AgentSpec
    from tabletop_envs.play.background import Compiling
    from tabletop_envs.play.session import Session


def play_web(
    session: Session,
    *,
    agents: Sequence[AgentSpec],
    path: Path | None,
    port: int,
    open_browser: bool,
    think_seconds: float,
    compiling: Compiling,
) -> None:
    """Serve a game on 127.0.0.1 until Ctrl-C, then save what would be lost.

    Args:
        session: The game to begin with.
        agents: More agents that new games are offered.
        path: The file for the records of all games played; None: an unfinished one gets a new file.
        port: The port; 0: a free one.
        open_browser: Whether to open the page in a browser.
        think_seconds: How long an agent's search may take for one action.
        compiling: Compiles the agents of games in the background.

    Raises:
        ImportError: Without the extra `web` or `render`.
        typer.BadParameter: If the port or `think_seconds` cannot be used.
    """
    from tabletop_envs.play.web import WebGame, serve
    from tabletop_envs.play.web.launch import private_page

    try:
        game = WebGame(
            session,
            agents=agents,
            think_seconds=think_seconds,
            path=path,
            say=typer.echo,
            compiling=compiling,
        )
    except ValueError as error:
        raise wrong("--think-seconds", str(error)) from None
    private = contextlib.ExitStack()

    def ready(address: str) -> None:
        typer.echo(f"the game is at {address} until Ctrl-C")
        game.compile_behind()
        if not open_browser:
            return
        try:
            page = private.enter_context(private_page(address))
        except OSError as error:
            typer.echo(f"no browser is opened: {fault_text(error)}", err=True)
            return
        # Some browsers hold up the process that starts them.
        threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    def ended() -> None:
        # A signal may end the process after this.
        private.close()
        saved = game.save()
        if saved is None:
            return
        typer.echo(f"saved: {saved}")
        if not game.session.over and game.games_saved == 1:
            typer.echo(f"resume with: tabletop-envs play --resume {saved}")

    try:
        serve(game, port=port, ready=ready, ended=ended)
    except KeyboardInterrupt:
        # How a server is ended: the games are saved by now.
        return
    except OSError as error:
        raise wrong("--port", f"{port} cannot be used: {fault_text(error)}") from None
    finally:
        private.close()
