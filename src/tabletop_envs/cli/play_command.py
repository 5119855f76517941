"""`tabletop-envs play`: against agents in the terminal (`play.terminal`), or with `--web`."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tabletop_envs import registry
from tabletop_envs.cli.common import (
    AGENT_FORMS,
    GAME_HELP,
    INTERRUPTED,
    CtrlC,
    GameOptions,
    failed,
    find_agents,
    find_games,
    game_options,
    require_output,
    seed_option,
    wrong,
)
from tabletop_envs.cli.web_command import play_web
from tabletop_envs.files import fault_text

if TYPE_CHECKING:
    from tabletop_envs.agents.naming import AgentSpec
    from tabletop_envs.play.session import Session

DEFAULT_OPPONENT = "mcts:400"
# How long a search may take for an action in the browser, where somebody waits for it.
DEFAULT_THINK_SECONDS = 5.0


def play(
    game: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help=f"The game: {GAME_HELP}. With --resume only to register a custom one.",
        ),
    ] = None,
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            show_default=False,
            help=f"{AGENT_FORMS}, or human: one for all other seats, or repeated for each. "
            f"Default: {DEFAULT_OPPONENT}.",
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            show_default=False,
            help="An agent besides: --resume needs the custom ones and checkpoints that the game "
            "names, and --web offers it for new games. May be repeated.",
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(show_default=False, help="Your seat, from 0, which begins. Default: 0."),
    ] = None,
    seed: Annotated[
        int | None, seed_option("Makes chance reproducible. Default: a new one.")
    ] = None,
    option: GameOptions = None,
    resume: Annotated[
        Path | None,
        typer.Option(show_default=False, help="Resume the game saved in this file."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="Where the game is saved at the end. Default: the resumed file, or for an "
            "unfinished game a new file in this folder.",
        ),
    ] = None,
    web: Annotated[
        bool,
        typer.Option("--web", help="Play on a page in the browser, served to this machine only."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, show_default=False, help="With --web: the port. Default: a free one."
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="With --web: do not open a browser.")
    ] = False,
    think_seconds: Annotated[
        float | None,
        typer.Option(
            show_default=False,
            help="With --web: how long a search may take for an action. "
            f"Default: {DEFAULT_THINK_SECONDS:g}.",
        ),
    ] = None,
) -> None:
    """Play against agents in the terminal or the browser: moves by name or clicks, undo, hints.

    Ctrl-C and the end of the input save the game and end.
    """
    from tabletop_envs.play.background import Compiling
    from tabletop_envs.play.reader import make_reader
    from tabletop_envs.play.session import AgentError
    from tabletop_envs.play.terminal import End, Terminal

    only_web = {
        "--port": port is not None,
        "--no-open": no_open,
        "--think-seconds": think_seconds is not None,
    }
    for flag, given in only_web.items():
        if given and not web:
            raise wrong(flag, "this goes with --web only")
    if resume is not None and (seat, seed, option) != (None, None, None):
        raise wrong("--resume", "seat, seed and options are the saved game's: leave them out")
    if resume is None and game is None:
        raise wrong("GAME", "name a game, or a saved one with --resume")
    if save is not None:
        require_output("--save", save)
        if save.exists() and save != resume:
            message = f"{save} is there already: resume it by --resume, or name another file"
            raise wrong("--save", message)
    if not web and sys.stdin is None:
        raise wrong("standard input", "there is none to read moves from (see --web)")
    terminal: Terminal | None = None
    try:
        with CtrlC(), Compiling(lambda text: typer.echo(text, err=True)) as compiling:
            more: list[AgentSpec] = list(find_agents("--agent", agent or []).items())
            if resume is not None:
                session = _resumed_session(resume, game, opponent or [], more)
            else:
                opponents = opponent or [DEFAULT_OPPONENT]
                session = _new_session(game or "", option or [], seat or 0, opponents, seed)
            if web:
                play_web(
                    session,
                    agents=more,
                    path=save or resume,
                    port=port or 0,
                    open_browser=not no_open,
                    think_seconds=DEFAULT_THINK_SECONDS if think_seconds is None else think_seconds,
                    compiling=compiling,
                )
                return
            terminal = Terminal(session, make_reader(), save or resume, compiling, more)
            with contextlib.suppress(End, EOFError):
                terminal.run()
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (ImportError, AgentError) as error:
        raise failed(error) from None
    finally:
        if terminal is not None:
            terminal.finish()


def _new_session(
    game: str, options: list[str], seat: int, opponents: list[str], seed: int | None
) -> Session:
    from tabletop_envs.play.session import Session

    (described,) = find_games([game])
    parsed = game_options(described, options)
    agents = _make_agents(described.num_players(parsed), seat, opponents)
    return Session(described.name, agents, seed, parsed)


def _resumed_session(
    path: Path, game: str | None, opponents: list[str], given: list[AgentSpec]
) -> Session:
    from tabletop_envs.play.session import Session, load

    # First: the saved game may be of a game that is registered by being named.
    named = find_games([game]) if game is not None else []
    try:
        record = load(path)
        agents = None
        if opponents:
            people = [p for p, agent in enumerate(record.agents) if agent == "human"]
            agents = _make_agents(len(record.agents), people[0] if people else 0, opponents)
        session = Session.resume(record, agents, given=given)
    except OSError as error:
        raise wrong("--resume", f"{path} cannot be read: {fault_text(error)}") from None
    except ValueError as error:
        raise wrong("--resume", str(error)) from None
    for described in named:
        if registry.batch_id(described.name) != record.game:
            raise wrong("--resume", f"{path} has a game of {record.game}, not of {described.name}")
    return session


def _make_agents(players: int, seat: int, opponents: list[str]) -> list[AgentSpec]:
    """The agents by seats: one opponent takes all other seats, several one each."""
    if not 0 <= seat < players:
        raise wrong("--seat", f"{seat} must be an integer from 0 to {players - 1}")
    if len(opponents) == 1:
        opponents = opponents * (players - 1)
    if len(opponents) != players - 1:
        message = f"there are {len(opponents)} opponents for {players - 1} other seats"
        raise wrong("--opponent", message)
    made = find_agents("--opponent", [name for name in opponents if name != "human"])
    agents = [(name, made[name]) if name in made else name for name in opponents]
    return [*agents[:seat], "human", *agents[seat:]]
