"""What a seat is worth: agents play themselves with every number of players; a table of the seats.

    python examples/study_seats.py meeples --agents greedy mcts:100 --games 400 --seed 1

Needs nothing but the library. An agent against itself is as strong in every seat, so what differs
is the seat's: without an advantage each of N players scores 1/N, ties shared. The intervals (95 %,
Wilson) say what so many games can tell; a seat whose interval leaves 1/N out is marked. One study
of one agent is `tabletop-envs tournament meeples greedy --games 400 --seed 1` on the command line.
"""

from __future__ import annotations

import argparse
import sys

from tabletop_envs import registry
from tabletop_envs.arena.ratings import Table
from tabletop_envs.arena.tournaments import tournament
from tabletop_envs.game import Game

HEADINGS = ("agent", "players", "seat", "games", "first", "score", "95 % interval", "fair")
ROW = "{:<12} {:>7}  {:<9} {:>6} {:>6} {:>7}  {:<16} {:>6} {}"


def numbers_of_players(game: Game) -> list[int]:
    """With how many players a game can be played, in ascending order."""
    for option in game.options:
        if option.name == "num_players":
            return list(range(int(option.minimum or 2), int(option.maximum or 2) + 1))
    return [game.num_players(game.parse_options({}))]


def rows(agent: str, table: Table) -> list[str]:
    """The lines of an agent's table, a seat each."""
    fair = 1 / len(table.seats)
    lines = []
    for seat in table.seats:
        mark = "" if seat.low <= fair <= seat.high else "better" if seat.low > fair else "worse"
        interval = f"{seat.low:.1%} to {seat.high:.1%}"
        place, score = f"player_{seat.seat}", f"{seat.score or 0:.1%}"
        cells = (agent, len(table.seats), place, table.games, seat.first, score, interval)
        lines.append(ROW.format(*cells, f"{fair:.1%}", mark).rstrip())
    return lines


def main(words: list[str] | None = None) -> None:
    """Run by the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help="a name, FILE.py:NAME or MODULE:NAME")
    parser.add_argument("--agents", nargs="+", default=["greedy", "mcts:100"], help="names")
    parser.add_argument("--players", type=int, nargs="+", help="how many (all that the game has)")
    parser.add_argument(
        "--games", type=int, default=400, help="of each agent and number of players"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="in how many processes")
    arguments = parser.parse_args(words)
    try:
        game = registry.import_game(arguments.game)
        numbers = numbers_of_players(game)
        chosen = arguments.players or numbers
        for players in chosen:
            if players not in numbers:
                allowed = ", ".join(map(str, numbers))
                raise ValueError(f"--players {players} must be one of {allowed} in {game.name}")
        print(ROW.format(*HEADINGS, "").rstrip())
        for agent in arguments.agents:
            for players in chosen:
                table = tournament(
                    game.name,
                    [agent],
                    arguments.games,
                    arguments.seed,
                    {"num_players": players} if len(numbers) > 1 else {},
                    workers=arguments.workers,
                )
                print("\n".join(rows(agent, table)), flush=True)
    except (ImportError, ValueError) as error:
        print(f"study_seats.py: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
