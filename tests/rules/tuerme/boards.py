"""Small positions of tuerme for the rule tests, filled up to the 80 stones of the game (T3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

COLUMNS = 14
SQUARES = 8 * COLUMNS
PASS = 2464

# T1, T2: the symbol of every lot, and "." for a street.
PLAN = """
..............
.01.12..23.30.
.32.03..10.21.
..............
..............
.01.12..23.30.
.32.03..10.21.
..............
""".split()

# Row and column of every city's top left lot.
CITY_CORNERS = ((1, 1), (1, 4), (1, 8), (1, 11), (5, 1), (5, 4), (5, 8), (5, 11))

# Symbols of 80 single stones of which none can move: no two equal symbols are adjacent, and no
# stone is adjacent to a lot of its symbol or has one right behind a neighbour (T7).
BLOCKED_DEAL = """
21012023012010
3..3..30..1..2
1..1..02..3..3
21032121321021
02313012012132
3..0..03..0..1
2..3..20..3..3
01023032310321
""".split()

Place = tuple[int, int]


def stack(row: int, column: int, colour: int, symbol: int, height: int = 1) -> dict[str, int]:
    """A stack as a snapshot writes it."""
    square = row * COLUMNS + column
    return {"square": square, "colour": colour, "symbol": symbol, "height": height}


def lot_of(city: int, symbol: int) -> Place:
    """The row and column of the lot of a symbol in a city, read off the plan."""
    top, left = CITY_CORNERS[city]
    for row in (top, top + 1):
        for column in (left, left + 1):
            if PLAN[row][column] == str(symbol):
                return row, column
    raise AssertionError("every city has a lot of each symbol")


def tower(city: int, symbol: int, colour: int, height: int = 1) -> dict[str, int]:
    """A stack that stands in the lot of its symbol in a city."""
    return stack(*lot_of(city, symbol), colour, symbol, height)


def rest_in_lots(
    stacks: Iterable[dict[str, int]], cities: Iterable[int], colours: tuple[int, int]
) -> list[dict[str, int]]:
    """The stones that are missing from a position, as high towers where they disturb nothing.

    Each city keeps the lot of symbol `city % 4` free, so that the rest fills no city (T11).
    """
    stacks, cities = list(stacks), list(cities)
    rest: list[dict[str, int]] = []
    for symbol in range(4):
        missing = 20 - sum(entry["height"] for entry in stacks if entry["symbol"] == symbol)
        free = [city for city in cities if city % 4 != symbol]
        for turn, city in enumerate(free):
            if missing == 0:
                break
            height = min(5, missing)
            rest.append(tower(city, symbol, colours[turn % 2], height))
            missing -= height
        assert missing == 0, "the cities given cannot take the rest"
    return rest


def rest_on_streets(
    stacks: Iterable[dict[str, int]], colours: tuple[int, int]
) -> list[dict[str, int]]:
    """The stones that are missing from a position, as high stacks along the lower border."""
    stacks = list(stacks)
    border = [(7, column) for column in range(COLUMNS)] + [(6, 0), (6, 13)]
    rest: list[dict[str, int]] = []
    for symbol in range(4):
        missing = 20 - sum(entry["height"] for entry in stacks if entry["symbol"] == symbol)
        while missing > 0:
            height = min(5, missing)
            row, column = border[len(rest)]
            rest.append(stack(row, column, colours[len(rest) % 2], symbol, height))
            missing -= height
    return rest


def position(
    *stacks: dict[str, int],
    to_move: int = 0,
    rest: str = "lots",
    rest_cities: Iterable[int] = range(2, 8),
    rest_colours: tuple[int, int] = (3, 2),
    **options: Any,
) -> dict[str, Any]:
    """A position in the middle of a game, with the stacks given and the rest of the 80 stones.

    The rest stands in lots of the cities 2 … 7 or on the lower border. 120 or a few more actions
    have been played, enough for all the building that any position shows.
    """
    if rest == "lots":
        filling = rest_in_lots(stacks, rest_cities, rest_colours)
    else:
        filling = rest_on_streets(stacks, rest_colours)
    return {
        "game": "tuerme",
        "options": {
            "num_players": 2,
            "slide": False,
            "end_on_any_full_city": False,
            "max_plies": 500,
            **options,
        },
        "ply": 120 + to_move,
        "to_move": to_move,
        "outcome": None,
        "passes": 0,
        "ending_city": None,
        "stacks": sorted([*stacks, *filling], key=lambda entry: entry["square"]),
    }


def blocked_deal(**options: Any) -> dict[str, Any]:
    """A deal in which nobody can move: the start of a game in which all players pass."""
    stacks: list[dict[str, int]] = []
    dealt = [0, 0, 0, 0]
    for row, symbols in enumerate(BLOCKED_DEAL):
        for column, symbol in enumerate(symbols):
            if symbol != ".":
                stacks.append(stack(row, column, dealt[int(symbol)] % 4, int(symbol)))
                dealt[int(symbol)] += 1
    return {**position(*stacks, **options), "ply": 0}


def move(start: Place, destination: Place) -> int:
    """The action that moves a stack from one row and column to another."""
    plane = destination[1] if start[0] == destination[0] else COLUMNS + destination[0]
    return plane * SQUARES + start[0] * COLUMNS + start[1]


def landings(actions: Iterable[int], start: Place) -> set[Place]:
    """Where the stack on `start` may land, by the legal actions given."""
    found: set[Place] = set()
    for action in actions:
        plane, square = divmod(action, SQUARES)
        if action != PASS and square == start[0] * COLUMNS + start[1]:
            found.add((start[0], plane) if plane < COLUMNS else (plane - COLUMNS, start[1]))
    return found


def movers(actions: Iterable[int]) -> set[Place]:
    """Where the stacks stand that may be moved, by the legal actions given."""
    return {divmod(action % SQUARES, COLUMNS) for action in actions if action != PASS}


def stack_at(snapshot: dict[str, Any], place: Place) -> tuple[int, int, int] | None:
    """Colour, symbol and height of what stands on a square, or None."""
    for entry in snapshot["stacks"]:
        if entry["square"] == place[0] * COLUMNS + place[1]:
            return entry["colour"], entry["symbol"], entry["height"]
    return None


def before_a_city_is_full(city: int) -> tuple[dict[str, Any], int]:
    """A position in which player 0 has all lots of a city but the top left one, and the move into
    that.
    """
    top, left = CITY_CORNERS[city]
    last_symbol = int(PLAN[top][left])
    towers = [tower(city, symbol, 0) for symbol in range(4) if symbol != last_symbol]
    mover = stack(top - 1, left, 0, last_symbol)
    # Another stack can move and fits vacant lots, so that the game does not end by T12.
    another = stack(7, 13, 1, 1)
    others = [other for other in range(8) if other != city]
    return (
        position(*towers, mover, another, rest_cities=others),
        move((top - 1, left), (top, left)),
    )
