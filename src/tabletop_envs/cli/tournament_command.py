"""`tabletop-envs tournament`: agents against each other, with a cross table and ratings.

A thin layer over `tabletop_envs.arena.tournaments`, which does all but the drawing.
"""

# No `from __future__ import annotations` here: the commands lie within functions, and Typer must be able to read
# their annotations, which name what is imported only there.

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tabletop_envs
from tabletop_envs.cli.common import (
    INTERRUPTED,
    CtrlC,
    Live,
    find_agent,
    find_games,
    game_options,
    number_text,
    options_option,
    print_tables,
    require_output,
    seed_option,
    taking_several,
    value_text,
    wrong,
)
from tabletop_envs.foreign import fault_text

if TYPE_CHECKING:
    import typer
    from rich.table import Table as RichTable

    from tabletop_envs.arena.ratings import Count, Table
    from tabletop_envs.arena.tournaments import Progress

# Up to so many agents fit side by side into 80 columns; more are shown as a list of pairs.
MAX_COLUMNS = 4


def _new_table(title: str) -> "RichTable":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), title=title)
    table.title_justify = table.caption_justify = "left"
    return table


def _interval(low: float, high: float) -> str:
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def _balance(count: "Count") -> str:
    return f"+{count.wins} ={count.draws} −{count.losses}"


def _cell(count: "Count") -> str:
    lines = (number_text(count.score, ".1%"), _interval(count.low, count.high), _balance(count))
    return "\n".join(lines)


def standings_table(table: "Table") -> "RichTable":
    """The agents, the best first."""
    rich = _new_table(_title(table))
    rich.add_column("agent")
    for heading in ("games", "first", "shared", "score", "95 % interval"):
        rich.add_column(heading, justify="right", no_wrap=True)
    rated = any(standing.mu is not None for standing in table.standings)
    if rated:
        rich.add_column("rating", justify="right", no_wrap=True)
    for standing in table.standings:
        row = [
            standing.agent,
            f"{standing.games:,}",
            f"{standing.first:,}",
            f"{standing.shared:,}",
            number_text(standing.score, ".1%"),
            _interval(standing.low, standing.high),
        ]
        if rated:
            row.append(f"{standing.mu:.1f} ± {standing.sigma:.1f}")
        rich.add_row(*row)
    return rich


def _title(table: "Table") -> str:
    options = ", ".join(f"{name}={value_text(value)}" for name, value in table.options.items())
    return f"{table.game} ({options}), seed {table.seed}"


def _pairs_table(table: "Table", agents: list[str]) -> "RichTable":
    rich = _new_table("Each agent against each other")
    for heading in ("agent", "other"):
        rich.add_column(heading)
    for heading in ("result", "score", "95 % interval", "moving\nfirst", "different\ngames"):
        rich.add_column(heading, justify="right", no_wrap=True)
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


def cross_table(table: "Table") -> "RichTable":
    """Each agent against each other: wins, draws, losses, score and its interval."""
    agents = [standing.agent for standing in table.standings]
    rich = _new_table("The agent of the row against that of the column")
    if len(agents) > MAX_COLUMNS:
        return _pairs_table(table, agents)
    rich.show_lines = True
    rich.add_column("")
    for agent in agents:
        rich.add_column(agent, justify="right")
    cells = {(pair.agent, pair.other): _cell(pair.count) for pair in table.pairs}
    for agent in agents:
        rich.add_row(agent, *(cells.get((agent, other), "") for other in agents))
    alike = [
        f"{pair.agent} – {pair.other}: only {pair.distinct:,} of {pair.count.games:,} games differ; "
        "the interval takes them all for independent"
        for pair in table.pairs
        if pair.agent < pair.other and pair.distinct < pair.count.games
    ]
    rich.caption = "\n".join(alike) or None
    return rich


def seats_table(table: "Table") -> "RichTable":
    """What a seat is worth."""
    rich = _new_table("Seats, all agents together")
    for heading in ("seat", "first", "score", "95 % interval", "without advantage"):
        rich.add_column(heading, justify="right", no_wrap=True)
    for seat in table.seats:
        rich.add_row(
            f"player_{seat.seat}",
            f"{seat.first:,}",
            number_text(seat.score, ".1%"),
            _interval(seat.low, seat.high),
            f"{1 / len(table.seats):.1%}",
        )
    rich.caption = (
        f"{table.games:,} of {table.planned:,} games, mean length {number_text(table.mean_length, '.1f')}, "
        f"ended by max_plies: {table.by_limit:,}"
    )
    return rich


class LiveScore(Live):
    """A bar with the games and the scores so far."""

    def __init__(self, title: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            Remaining(),
            TextColumn("{task.fields[scores]}"),
        )
        self._task = self._progress.add_task(title, total=None, scores="")

    def show(self, progress: "Progress") -> None:
        """Show how far the tournament is."""
        known = [(score, agent) for agent, score in progress.scores.items() if score is not None]
        scores = "  ".join(f"{agent} {score:.1%}" for score, agent in sorted(known, reverse=True))
        self._progress.update(
            self._task, total=progress.total, completed=progress.done, scores=scores
        )


def _check_agents(names: list[str]) -> None:
    if len(names) < 2:
        raise wrong(
            "--agents", f"there must be two agents or more, and {names[0]!r} is the only one"
        )
    for name in names:
        find_agent("--agents", name)
        if names.count(name) > 1:
            raise wrong("--agents", f"{name!r} is given twice")


def _players_option(game: Any, players: int | None, texts: list[str]) -> list[str]:
    """The texts of options with the number of players, where it is given apart."""
    if players is None:
        return texts
    option = next((option for option in game.options if option.name == "num_players"), None)
    fixed = game.num_players(game.parse_options({}))
    least, most = (fixed, fixed) if option is None else (option.minimum, option.maximum)
    if not least <= players <= most:
        allowed = f"{least}" if least == most else f"an integer from {least} to {most}"
        raise wrong("--players", f"{players} must be {allowed} in {game.name}")
    if option is None:
        return texts
    if any(text.partition("=")[0].strip() == "num_players" for text in texts):
        raise wrong("--players", "--option num_players says the same: give one of the two")
    return [*texts, f"num_players={players}"]


def add_to(app: "typer.Typer") -> None:
    """Add the command to the application."""
    import typer

    @app.command(cls=taking_several("--agents", "--option"))
    def tournament(
        game: Annotated[str, typer.Argument(show_default=False, help="The game (see `list`).")],
        agents: Annotated[
            list[str],
            typer.Option(
                show_default=False,
                metavar="AGENT ...",
                help="Two or more agents: random, greedy, mcts:N (N simulations an action).",
            ),
        ],
        games: Annotated[
            int,
            typer.Option(
                min=1,
                help="Games of each pair; with 3 or 4 players of each group. Seats rotate on the same deals.",
            ),
        ] = 100,
        seed: Annotated[
            int | None,
            seed_option(
                "Makes the tournament reproducible. Default: that of the output file, or a new one, which is shown."
            ),
        ] = None,
        option: Annotated[
            list[str] | None,
            options_option(),
        ] = None,
        players: Annotated[
            int | None,
            typer.Option(
                min=2, show_default=False, help="How many play a game: short for num_players."
            ),
        ] = None,
        output: Annotated[
            Path | None,
            typer.Option(
                show_default=False,
                help="A file for the games, one record a line. An interrupted tournament goes on from it.",
            ),
        ] = None,
        workers: Annotated[
            int,
            typer.Option(
                min=1, max=1024, help="How many processes play; results do not depend on it."
            ),
        ] = 1,
        json_: Annotated[
            bool, typer.Option("--json", help="Print one JSON document instead of tables.")
        ] = False,
    ) -> None:
        """Play agents against each other; show a cross table, the seats' advantage and ratings.

        Ctrl-C ends it and shows what there is so far. With --output the same command goes on later, even if it was killed.
        """
        (described,) = find_games([game])
        options = game_options(described, _players_option(described, players, option or []))
        _check_agents(agents)
        if output is not None:
            require_output("--output", output)
        played = None
        interrupted = False
        try:
            with CtrlC() as ctrl_c, LiveScore(described.name) as live:
                from tabletop_envs.arena.tournaments import Tournament

                played = Tournament(
                    described.name, agents, games, seed, options, output, workers=workers
                )
                for progress in played.play():
                    live.show(progress)
                    ctrl_c.check()
        except KeyboardInterrupt:
            interrupted = True
        except (ImportError, RuntimeError) as error:
            typer.echo(f"tabletop-envs: {error}", err=True)
            raise typer.Exit(1) from None
        except OSError as error:
            raise wrong("--output", f"{output} cannot be used: {fault_text(error)}") from None
        except ValueError as error:
            raise wrong("--output", str(error)) from None
        if played is not None:
            table = played.table()
            if json_:
                document = {
                    "version": tabletop_envs.__version__,
                    "interrupted": interrupted,
                    **table.to_dict(),
                }
                typer.echo(json.dumps(document, indent=2))
            else:
                print_tables([standings_table(table), cross_table(table), seats_table(table)])
        if interrupted:
            raise typer.Exit(INTERRUPTED)
