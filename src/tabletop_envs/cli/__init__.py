"""The command line `tabletop-envs` (the extra `cli`): a file a command, each a thin layer over what Python offers, too.

`--help` and `--version` import neither Numba nor a game. Typer and Rich are imported only when they are used.
"""

# No `from __future__ import annotations` here: the commands lie within functions, and Typer must be able to read
# their annotations, which name what is imported only there.

import sys
from typing import TYPE_CHECKING, Annotated

import tabletop_envs

if TYPE_CHECKING:
    import typer


def make_app() -> "typer.Typer":
    """The command line as a Typer application."""
    import typer

    from tabletop_envs.cli import (
        games_command,
        play_command,
        replay_command,
        selfplay_command,
        tournament_command,
    )

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

    for command in (
        selfplay_command,
        tournament_command,
        play_command,
        replay_command,
        games_command,
    ):
        command.add_to(app)
    return app


def main() -> None:
    """The entry point; exits with 1, saying why, where Typer or Rich is not installed or there is no output."""
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
