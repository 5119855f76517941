"""The command line `tabletop-envs` (the extra `cli`): a file a command, each thin over a module.

`--help` and `--version` import neither Numba nor a game. Only `make_app` imports the commands,
which import Typer and Rich.
"""

# No `from __future__ import annotations` here: Typer must be able to read the annotations of
# `common`, which name what is imported within `make_app`.

import sys
from typing import TYPE_CHECKING, Annotated

import tabletop_envs

if TYPE_CHECKING:
    import typer


def make_app() -> "typer.Typer":
    """Make the command line as a Typer application."""
    import typer

    from tabletop_envs.cli.games_command import list_games
    from tabletop_envs.cli.play_command import play
    from tabletop_envs.cli.replay_command import replay
    from tabletop_envs.cli.selfplay_command import selfplay
    from tabletop_envs.cli.tournament_command import tournament
    from tabletop_envs.cli.warm_command import warm

    app = typer.Typer(
        help="Three board games as fast reinforcement-learning environments.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

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

    for command in (selfplay, tournament, play, replay, warm):
        app.command()(command)
    app.command("list")(list_games)
    return app


def main() -> None:
    """Run the command line; exit with 1 and say why without Typer, Rich or an output."""
    from tabletop_envs.cli.streams import standard_streams

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
    with standard_streams():
        make_app()(prog_name="tabletop-envs")
