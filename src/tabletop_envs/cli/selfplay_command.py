"""`tabletop-envs selfplay`: self-play in a batch with its speed and results (`arena.selfplay`)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn
from rich.table import Column, Table

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.arena.selfplay import Length, Plan, Result, play_all
from tabletop_envs.checks import nearest
from tabletop_envs.cli.common import (
    AGENT_FORMS,
    GAME_HELP,
    INTERRUPTED,
    AsJson,
    CtrlC,
    GameOptions,
    Live,
    failed,
    find_agents,
    find_games,
    new_table,
    number_text,
    numbers,
    print_tables,
    read_options,
    seed_option,
    value_text,
    wrong,
)

if TYPE_CHECKING:
    from tabletop_envs.game import Game

DEFAULT_SECONDS = 5.0
DEFAULT_NUM_ENVS = 1024


def selfplay(
    game: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            help=f"What to play: {GAME_HELP}. Default: all.",
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
    num_threads: Annotated[
        int,
        typer.Option(min=1, help="How many threads share them; counts do not depend on it."),
    ] = 1,
    seed: Annotated[
        int | None,
        seed_option("Makes chance reproducible. Default: a new one, which is shown."),
    ] = None,
    option: GameOptions = None,
    agent: Annotated[
        str, typer.Option(metavar="AGENT", help=f"Who plays all seats: {AGENT_FORMS}.")
    ] = "random",
    json_: AsJson = False,
) -> None:
    """Play games in the batch engine, at random or by an agent; show speed and results.

    An option goes to those games that have it. Ctrl-C ends it and shows what there is so far.
    """
    if seconds is not None and steps is not None:
        raise wrong("--seconds, --steps", "they exclude each other: give one of the two")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise wrong("--seconds", f"{seconds:g} must be a finite number above 0")
    length = Length(DEFAULT_SECONDS if seconds is None else seconds, steps)
    seed = secrets.randbits(32) if seed is None else seed
    results: dict[str, Result] = {}
    interrupted = False
    try:
        with CtrlC() as ctrl_c:
            plans = make_plans(find_games(game or []), read_options(option or []))
            made = None if agent == "random" else find_agents("--agent", [agent])[agent]
            with LiveSpeed(plans, length) as live:
                for result in play_all(
                    plans,
                    length,
                    num_envs=num_envs,
                    num_threads=num_threads,
                    seed=seed,
                    compiling=live.compiling,
                    agent=made,
                ):
                    results[result.plan.id] = result
                    live.playing(result)
                    ctrl_c.check()
    except KeyboardInterrupt:
        interrupted = True
    except RuntimeError as error:
        raise failed(error) from None
    except ValueError as error:
        raise wrong("--num-envs, --num-threads", str(error)) from None
    except MemoryError:
        raise wrong("--num-envs", f"there is no memory for {num_envs} games") from None
    if json_:
        document = {
            "version": tabletop_envs.__version__,
            "seed": seed,
            "num_envs": num_envs,
            "num_threads": num_threads,
            "agent": agent,
            "interrupted": interrupted,
            "games": [result_entry(result) for result in results.values()],
        }
        typer.echo(json.dumps(document, indent=2))
    else:
        caption = f"{agent}, seed {seed}, {num_envs:,} games at once, threads: {num_threads}"
        if interrupted:
            caption += ", interrupted"
        print_tables(results_table(list(results.values()), caption))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def make_plans(games: Sequence[Game], given: Mapping[str, Any]) -> list[Plan]:
    """The games with the given options, each option for those games that have it.

    typer.BadParameter for an option that no game has (with those that there are) and for a wrong
    value.
    """
    names = {game.name: [option.name for option in game.options] for game in games}
    known = list(dict.fromkeys(option for options in names.values() for option in options))
    for option in given:
        if option not in known:
            there_are = "; ".join(f"{name} has {', '.join(names[name])}" for name in names)
            hint = nearest(option, known)
            raise wrong("--option", f"no game chosen has an option {option!r}{hint}: {there_are}")
    plans = []
    for game in games:
        own = {option: value for option, value in given.items() if option in names[game.name]}
        try:
            options = game.parse_options(own)
        except (TypeError, ValueError) as error:
            raise wrong("--option", f"{game.name}: {error}") from None
        default = {option.name: option.default for option in game.options}
        changed = {name: value for name, value in options.items() if value != default[name]}
        plans.append(Plan(registry.batch_id(game.name), options, changed))
    return plans


# Results as data and as a table


def _share(count: float, games: int) -> float | None:
    return count / games if games else None


def result_entry(result: Result) -> dict[str, Any]:
    """One game's part of the JSON document; None for means and shares without a finished game."""
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
        "by_limit": counts.by_limit,
        "by_limit_share": _share(counts.by_limit, games),
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


def results_table(results: Sequence[Result], caption: str) -> Table:
    """The results: a row a game, a line a player; below, options that are not the defaults."""
    table = new_table(
        Column("game", no_wrap=True),
        *numbers("actions/s", "games", "mean\nlength", "longest", "by\nlimit"),
        Column("player", no_wrap=True),
        *numbers("wins", "mean\nreward"),
    )
    for result in results:
        entry = result_entry(result)
        players = entry["players"]
        table.add_row(
            result.plan.id,
            f"{result.actions_per_second:,.0f}",
            f"{entry['games']:,}",
            number_text(entry["mean_length"], ".1f"),
            number_text(entry["longest"], ","),
            number_text(entry["by_limit_share"], ".1%"),
            "\n".join(player["agent"] for player in players),
            "\n".join(number_text(player["win_share"], ".1%") for player in players),
            "\n".join(number_text(player["mean_reward"], "+z.3f") for player in players),
        )
    table.caption = "\n".join(
        [*(_changed(result.plan) for result in results if result.plan.changed), caption]
    )
    return table


def _changed(plan: Plan) -> str:
    options = (f"{name}={value_text(value)}" for name, value in plan.changed.items())
    return f"{plan.id} with {', '.join(options)}"


# Progress


class LiveSpeed(Live):
    """A line a game: its name, a bar, and its speed so far."""

    def __init__(self, plans: Sequence[Plan], length: Length) -> None:
        # With the longest name and numbers it fits into 80 columns.
        super().__init__("{task.description}", BarColumn(bar_width=20), "{task.fields[state]}")
        self._length = length
        self._lines = {plan.id: self.add_task(plan.id, state="waiting") for plan in plans}

    def compiling(self, plan: Plan) -> None:
        """Show that a game is being prepared."""
        # No total: the bar moves to and fro.
        self.update(self._lines[plan.id], total=None, state="compiling ...", refresh=True)

    def playing(self, result: Result) -> None:
        """Show a game's speed so far."""
        if self._length.steps is None:
            total, completed = self._length.seconds, result.seconds
        else:
            total, completed = float(self._length.steps), float(result.steps)
        self.update(
            self._lines[result.plan.id],
            total=total,
            completed=min(completed, total),
            state=f"{result.actions_per_second:,.0f} actions/s, {result.counts.games:,} games",
        )
