"""`tabletop-envs tournament`: agents against each other (`arena.tournaments`), in tables."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
from rich.table import Column
from rich.table import Table as RichTable

import tabletop_envs
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
    game_options,
    new_table,
    number_text,
    numbers,
    print_tables,
    require_output,
    seed_option,
    value_text,
    wrong,
)
from tabletop_envs.files import fault_text

if TYPE_CHECKING:
    from tabletop_envs.arena.ratings import Count, Table
    from tabletop_envs.arena.tournaments import Progress

# How many agents fit side by side into 80 columns; more are shown as a list of pairs.
MAX_COLUMNS = 4


def tournament(
    game: Annotated[str, typer.Argument(show_default=False, help=f"The game: {GAME_HELP}.")],
    agents: Annotated[
        list[str],
        typer.Argument(
            show_default=False,
            metavar="AGENT...",
            help=f"{AGENT_FORMS}. One alone plays against itself, which shows what the seats are "
            "worth.",
        ),
    ],
    games: Annotated[
        int,
        typer.Option(
            min=1,
            help="Games of each pair; with 3 or 4 players of each group; of an agent alone. Seats "
            "rotate on the same deals.",
        ),
    ] = 100,
    seed: Annotated[
        int | None,
        seed_option(
            "Makes the tournament reproducible. Default: that of the output file, or a new one, "
            "which is shown."
        ),
    ] = None,
    option: GameOptions = None,
    output: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="A file for the games, one record a line, from which an interrupted tournament is "
            "resumed.",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, max=1024, help="In how many processes; results do not depend on it."),
    ] = 1,
    json_: AsJson = False,
) -> None:
    """Play agents against each other; show a cross table, the seats' advantage and ratings.

    Ctrl-C ends it and shows what there is so far. With --output the same command resumes it later,
    even if it was killed.
    """
    (described,) = find_games([game])
    options = game_options(described, option or [])
    _check_names(agents)
    made = find_agents("AGENT", agents)
    if output is not None:
        require_output("--output", output)
    played = None
    interrupted = False
    try:
        with CtrlC() as ctrl_c, LiveScore(described.name) as live:
            from tabletop_envs.arena.tournaments import Tournament

            specs = [(name, made[name]) for name in agents]
            try:
                played = Tournament(
                    described.name, specs, games, seed, options, output, workers=workers
                )
            except ValueError as error:
                raise wrong("--output", str(error)) from None
            for progress in played.play():
                live.show(progress)
                ctrl_c.check()
    except KeyboardInterrupt:
        interrupted = True
    except (ImportError, RuntimeError, ValueError) as error:
        raise failed(error) from None
    except OSError as error:
        raise wrong("--output", f"{output} cannot be used: {fault_text(error)}") from None
    if played is not None:
        table = played.table()
        if json_:
            head = {"version": tabletop_envs.__version__, "interrupted": interrupted}
            typer.echo(json.dumps({**head, **table.to_dict()}, indent=2))
        else:
            print_tables(*tables(table))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_names(names: list[str]) -> None:
    """An agent may be repeated where it plays against itself, but not among others."""
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None and len(set(names)) > 1:
        raise wrong("AGENT", f"{repeated!r} is given twice beside others")


class LiveScore(Live):
    """A bar with the games and the scores so far."""

    def __init__(self, title: str) -> None:
        super().__init__(
            "{task.description}",
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            "{task.fields[scores]}",
        )
        self._line = self.add_task(title, total=None, scores="")

    def show(self, progress: Progress) -> None:
        """Show how far the tournament is."""
        known = [(score, agent) for agent, score in progress.scores.items() if score is not None]
        scores = "  ".join(f"{agent} {score:.1%}" for score, agent in sorted(known, reverse=True))
        self.update(self._line, total=progress.total, completed=progress.done, scores=scores)


# Tables


def tables(table: Table) -> list[RichTable]:
    """All that is shown of a tournament: of an agent alone only what the seats are worth."""
    seats = seats_table(table)
    alone = len(table.standings) == 1
    return [seats] if alone else [standings_table(table), cross_table(table), seats]


def _interval(low: float, high: float) -> str:
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _balance(count: Count) -> str:
    return f"+{count.wins} ={count.draws} −{count.losses}"


def _cell(count: Count) -> str:
    lines = (number_text(count.score, ".1%"), _interval(count.low, count.high), _balance(count))
    return "\n".join(lines)


def standings_table(table: Table) -> RichTable:
    """The agents, the best first."""
    columns = numbers("games", "first", "shared", "score", "95 % interval", "rating")
    rated = any(standing.mu is not None for standing in table.standings)
    rich = new_table("agent", *columns[: 5 + rated], title=_title(table), padding=1)
    for standing in table.standings:
        row = [
            standing.agent,
            f"{standing.games:,}",
            f"{standing.first:,}",
            f"{standing.shared:,}",
            number_text(standing.score, ".1%"),
            _interval(standing.low, standing.high),
            f"{standing.mu:.1f} ± {standing.sigma:.1f}" if rated else "",
        ]
        rich.add_row(*row[: 6 + rated])
    return rich


def _title(table: Table) -> str:
    options = ", ".join(f"{name}={value_text(value)}" for name, value in table.options.items())
    return f"{table.game} ({options}), seed {table.seed}"


def _pairs_table(table: Table, agents: list[str]) -> RichTable:
    columns = numbers("result", "score", "95 % interval", "moving\nfirst", "different\ngames")
    title = "Each agent against each other"
    rich = new_table("agent", "other", *columns, title=title, padding=1)
    met = {(pair.agent, pair.other): pair for pair in table.pairs}
    for agent, other in combinations(agents, 2):
        pair = met.get((agent, other))
        if pair is not None:
            rich.add_row(
                agent,
                other,
                _balance(pair.count),
                number_text(pair.count.score, ".1%"),
                _interval(pair.count.low, pair.count.high),
                number_text(pair.by_seat[0], ".1%"),
                f"{pair.distinct:,}",
            )
    return rich


def cross_table(table: Table) -> RichTable:
    """Each agent against each other: wins, draws, losses, score and its interval."""
    agents = [standing.agent for standing in table.standings]
    if len(agents) > MAX_COLUMNS:
        return _pairs_table(table, agents)
    columns = [Column(agent, justify="right") for agent in agents]
    title = "The agent of the row against that of the column"
    rich = new_table("", *columns, title=title, padding=1)
    rich.show_lines = True
    cells = {(pair.agent, pair.other): _cell(pair.count) for pair in table.pairs}
    for agent in agents:
        rich.add_row(agent, *(cells.get((agent, other), "") for other in agents))
    alike = [
        f"{pair.agent} – {pair.other}: only {pair.distinct:,} of {pair.count.games:,} games "
        "differ; the interval takes them all for independent"
        for pair in table.pairs
        if pair.agent < pair.other and pair.distinct < pair.count.games
    ]
    rich.caption = "\n".join(alike) or None
    return rich


def seats_table(table: Table) -> RichTable:
    """What a seat is worth."""
    columns = numbers("seat", "first", "score", "95 % interval", "without advantage")
    alone = len(table.standings) == 1
    title = f"{_title(table)}\n{table.standings[0].agent} against itself, by seats"
    rich = new_table(*columns, title=title if alone else "Seats, all agents together", padding=1)
    for seat in table.seats:
        rich.add_row(
            f"player_{seat.seat}",
            f"{seat.first:,}",
            number_text(seat.score, ".1%"),
            _interval(seat.low, seat.high),
            f"{1 / len(table.seats):.1%}",
        )
    rich.caption = (
        f"{table.games:,} of {table.planned:,} games, mean length "
        f"{number_text(table.mean_length, '.1f')}, ended by max_plies: {table.by_limit:,}"
    )
    if alone and table.distinct < table.games:
        rich.caption += (
            f"\nonly {table.distinct:,} of them differ; the intervals take them all for independent"
        )
    return rich
