"""`tabletop-envs list`: the games, their ids and their options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from tabletop_envs import registry
from tabletop_envs.cli.common import AsJson, find_games, new_table, print_tables, value_text

if TYPE_CHECKING:
    from tabletop_envs.game import Game


def list_games(
    game: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            help="Which games: names, or custom ones as file.py:NAME or module:NAME. Default: all.",
        ),
    ] = None,
    json_: AsJson = False,
) -> None:
    """Name the games, their ids and their options."""
    games = find_games(game or [])
    if json_:
        typer.echo(json.dumps({"games": [game_entry(game) for game in games]}, indent=2))
    else:
        print_tables(*map(options_table, games))


def options_table(game: Game) -> Table:
    """A game's ids and options."""
    ids = f"{registry.batch_id(game.name)} (PettingZoo: {registry.aec_id(game.name)})"
    narrow = [Column(heading, no_wrap=True) for heading in ("option", "default", "allowed")]
    table = new_table(*narrow, "meaning", title=ids)
    for option in game.options:
        is_bool = isinstance(option.default, bool)
        allowed = "true, false" if is_bool else f"{option.minimum} to {option.maximum}"
        table.add_row(option.name, value_text(option.default), allowed, option.meaning)
    return table


def game_entry(game: Game) -> dict[str, Any]:
    """A game's ids and options in plain JSON types."""
    return {
        "name": game.name,
        "id": registry.batch_id(game.name),
        "aec_id": registry.aec_id(game.name),
        "gym_id": registry.gym_id(game.name),
        "module": registry.module_of(game.name),
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
