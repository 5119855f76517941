"""`tabletop-envs list`: the games, their ids and their options."""

# No `from __future__ import annotations` here: the commands lie within functions, and Typer must be able to read
# their annotations, which name what is imported only there.

import json
from typing import TYPE_CHECKING, Annotated, Any

from tabletop_envs import registry
from tabletop_envs.cli.common import find_games, print_tables, value_text

if TYPE_CHECKING:
    import typer
    from rich.table import Table

    from tabletop_envs.game import Game


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
        table.add_row(option.name, value_text(option.default), allowed, option.meaning)
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


def add_to(app: "typer.Typer") -> None:
    """Add the command to the application."""
    import typer

    @app.command("list")
    def list_games(
        json_: Annotated[
            bool, typer.Option("--json", help="Print one JSON document instead of tables.")
        ] = False,
    ) -> None:
        """Name the games, their ids and their options."""
        games = find_games([])
        if json_:
            typer.echo(json.dumps({"games": [game_entry(game) for game in games]}, indent=2))
        else:
            print_tables([options_table(game) for game in games])
