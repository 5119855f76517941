"""Spiel der Türme in plain Python, to be read beside rules T1 … T15."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from tests.reference.chance import Chance, state_from_seed

ROWS = 8
COLUMNS = 14
SQUARES = ROWS * COLUMNS
COLOURS = 4
SYMBOLS = 4
COPIES = 5
MAX_HEIGHT = 5
PASS = (COLUMNS + ROWS) * SQUARES
DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))
DEFAULT_OPTIONS = {
    "num_players": 2,
    "slide": False,
    "end_on_any_full_city": False,
    "max_plies": 500,
}


class Stack(NamedTuple):
    """A stone or a pile (T3); its colour is that of its top stone."""

    colour: int
    symbol: int
    height: int


def square_at(row: int, column: int) -> int:
    """The number of a square."""
    return row * COLUMNS + column


def cities_and_lots() -> tuple[list[list[int]], dict[int, int]]:
    """The lots of every city (T1), clockwise from the top left, and their symbols (T2)."""
    cities: list[list[int]] = []
    symbol_of_lot: dict[int, int] = {}
    for top in (1, 5):
        for left in (1, 4, 8, 11):
            city = len(cities)
            lots = [
                square_at(top, left),
                square_at(top, left + 1),
                square_at(top + 1, left + 1),
                square_at(top + 1, left),
            ]
            cities.append(lots)
            for turn, lot in enumerate(lots):
                symbol_of_lot[lot] = (city + turn) % SYMBOLS
    return cities, symbol_of_lot


CITIES, SYMBOL_OF_LOT = cities_and_lots()
STREETS = [square for square in range(SQUARES) if square not in SYMBOL_OF_LOT]


class Reference:
    """One game; its board is a dict from squares to the stacks that stand there."""

    def __init__(self, seed: int = 0, **options: Any) -> None:
        self.options: dict[str, Any] = {**DEFAULT_OPTIONS, **options}
        self.ply = 0
        self.to_move = 0  # T3 (D): player 0 begins
        self.passes = 0
        self.ending_city: int | None = None
        self.outcome: dict[str, Any] | None = None
        # T3: the stones are shuffled and laid one on each street square.
        stones = [
            Stack(colour, symbol, 1)
            for colour in range(COLOURS)
            for symbol in range(SYMBOLS)
            for _ in range(COPIES)
        ]
        Chance(state_from_seed(seed)).shuffle(stones)
        self.stacks: dict[int, Stack] = dict(zip(STREETS, stones, strict=True))

    @classmethod
    def from_snapshot(cls, snapshot: dict[str, Any]) -> Reference:
        """A game that goes on from a snapshot, which is trusted."""
        game = cls(**snapshot["options"])
        game.ply = snapshot["ply"]
        game.to_move = snapshot["to_move"]
        game.passes = snapshot["passes"]
        game.ending_city = snapshot["ending_city"]
        outcome = snapshot["outcome"]
        game.outcome = None if outcome is None else _copy_of_outcome(outcome)
        game.stacks = {
            entry["square"]: Stack(entry["colour"], entry["symbol"], entry["height"])
            for entry in snapshot["stacks"]
        }
        assert len(game.stacks) == len(snapshot["stacks"]), "at most one stack a square"
        return game

    def snapshot(self) -> dict[str, Any]:
        """The position as plain data."""
        return {
            "game": "tuerme",
            "options": dict(self.options),
            "ply": self.ply,
            "to_move": self.to_move,
            "outcome": None if self.outcome is None else _copy_of_outcome(self.outcome),
            "passes": self.passes,
            "ending_city": self.ending_city,
            "stacks": [
                {"square": square, **self.stacks[square]._asdict()}
                for square in sorted(self.stacks)
            ],
        }

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none once the game is over."""
        if self.outcome is not None:
            return []
        moves = [
            _action(start, destination)
            for start in self.stacks
            if self._may_be_moved(start)
            for destination in self._destinations(start)
        ]
        # T10: passing is legal only for a player with no legal move.
        return sorted(moves) or [PASS]

    def step(self, action: int) -> None:
        """Carry out one action of the player to move."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in this position")
        if action == PASS:
            self.passes += 1
        else:
            self._move(action)
            self.passes = 0
        self.ply += 1
        self._end_or_go_on()

    def scores(self) -> list[int]:
        """T13: the heights of the own stacks in lots, doubled in the city that ended the game."""
        scores = [0] * self.options["num_players"]
        for city, lots in enumerate(CITIES):
            for lot in lots:
                stack = self.stacks.get(lot)
                if stack is not None and stack.colour < self.options["num_players"]:
                    scores[stack.colour] += stack.height * (2 if city == self.ending_city else 1)
        return scores

    def _may_be_moved(self, start: int) -> bool:
        """T4, T5: the own stacks and the neutral ones on the streets; T9: none in a lot."""
        colour = self.stacks[start].colour
        neutral = colour >= self.options["num_players"]
        return start not in SYMBOL_OF_LOT and (colour == self.to_move or neutral)

    def _destinations(self, start: int) -> list[int]:
        """The squares where the stack on `start` may land (T6, T7, T9)."""
        mover = self.stacks[start]
        destinations: list[int] = []
        for row_step, column_step in DIRECTIONS:
            row, column = divmod(start, COLUMNS)
            distance = 0
            square_before_is_occupied = False  # the mover's own start does not count
            while True:
                row += row_step
                column += column_step
                distance += 1
                if not (0 <= row < ROWS and 0 <= column < COLUMNS):
                    break
                square = square_at(row, column)
                other = self.stacks.get(square)
                # T7: without `slide`, only the square adjacent to the start and the one right
                # behind a jumped neighbour can be landed on while empty.
                may_land_if_empty = (
                    self.options["slide"]
                    or distance == 1
                    or (distance == 2 and square_before_is_occupied)
                )
                if square in SYMBOL_OF_LOT:
                    vacant = other is None
                    fits = SYMBOL_OF_LOT[square] == mover.symbol
                    if vacant and fits and may_land_if_empty:
                        destinations.append(square)
                    break
                if other is None:
                    if may_land_if_empty:
                        destinations.append(square)
                    square_before_is_occupied = False
                    continue
                if square_before_is_occupied:
                    break
                if other.symbol == mover.symbol:
                    if mover.height + other.height <= MAX_HEIGHT:
                        destinations.append(square)
                    break
                square_before_is_occupied = True
        return destinations

    def _move(self, action: int) -> None:
        """T5: the whole stack goes; T8: onto another one, as the upper part of the sum."""
        start, destination = _start_and_destination(action)
        mover = self.stacks.pop(start)
        below = self.stacks.get(destination)
        height = mover.height + (0 if below is None else below.height)
        self.stacks[destination] = Stack(mover.colour, mover.symbol, height)

    def _end_or_go_on(self) -> None:
        """End the game by T11, T12 or T14, or give the turn to the next player."""
        players = self.options["num_players"]
        self.ending_city = self._city_that_ends_the_game()
        finished = (
            self.ending_city is not None
            or not self._a_stack_fits_a_vacant_lot()
            or self.passes == players
        )
        # T14: unless that very action ended it.
        by_limit = not finished and self.ply >= self.options["max_plies"]
        self.to_move = (self.to_move + 1) % players
        if finished or by_limit:
            scores = self.scores()
            self.outcome = {
                "scores": scores,
                "rewards": rewards_of(scores),
                "by_limit": by_limit,
            }

    def _city_that_ends_the_game(self) -> int | None:
        """T11: a city full of one colour, or with the option any full city."""
        for city, lots in enumerate(CITIES):
            if all(lot in self.stacks for lot in lots):
                colours = {self.stacks[lot].colour for lot in lots}
                if len(colours) == 1 or self.options["end_on_any_full_city"]:
                    return city
        return None

    def _a_stack_fits_a_vacant_lot(self) -> bool:
        """T12: a street stack shows a symbol of which a lot is vacant, near or far."""
        vacant = {SYMBOL_OF_LOT[lot] for lot in SYMBOL_OF_LOT if lot not in self.stacks}
        on_streets = {self.stacks[square].symbol for square in STREETS if square in self.stacks}
        return bool(vacant & on_streets)

    def check_invariants(self) -> None:
        """Assert what must hold in every position."""
        players = self.options["num_players"]
        stones_of_symbol: Counter[int] = Counter()
        stacks_of_colour: Counter[int] = Counter()
        stacks_of_kind: Counter[tuple[int, int]] = Counter()
        for square, stack in self.stacks.items():
            assert 0 <= square < SQUARES
            assert 0 <= stack.colour < COLOURS
            assert 0 <= stack.symbol < SYMBOLS
            assert 1 <= stack.height <= MAX_HEIGHT, "T3"
            assert SYMBOL_OF_LOT.get(square, stack.symbol) == stack.symbol, "T7"
            stones_of_symbol[stack.symbol] += stack.height
            stacks_of_colour[stack.colour] += 1
            stacks_of_kind[stack.colour, stack.symbol] += 1
        assert sum(stones_of_symbol.values()) == COLOURS * SYMBOLS * COPIES, "T3"
        # T7 lets only equal symbols meet, and every stack still shows a stone of its own.
        assert all(stones_of_symbol[symbol] == COLOURS * COPIES for symbol in range(SYMBOLS))
        assert max(stacks_of_colour.values()) <= SYMBOLS * COPIES
        assert max(stacks_of_kind.values()) <= COPIES

        assert self.to_move == self.ply % players
        assert 0 <= self.ply <= self.options["max_plies"]
        assert 0 <= self.passes <= min(players, self.ply)
        if self.outcome is None:
            assert self.ply < self.options["max_plies"], "T14"
            assert self.passes < players, "T12"
            assert self.ending_city is None
            assert self._city_that_ends_the_game() is None, "T11"
            assert self._a_stack_fits_a_vacant_lot(), "T12"
        else:
            assert self.ending_city == self._city_that_ends_the_game(), "T11"
            assert self.outcome["scores"] == self.scores(), "T13"
            assert len(self.outcome["rewards"]) == players
            assert abs(sum(self.outcome["rewards"])) < 1e-9, "T15"
            if self.outcome["by_limit"]:
                assert self.ply == self.options["max_plies"], "T14"
                assert self.ending_city is None, "T14"


def rewards_of(scores: list[int]) -> list[float]:
    """T15: the players with the top score share the reward, the others pay for it."""
    players = len(scores)
    sharing = scores.count(max(scores))
    of_the_best = (players / sharing - 1) / (players - 1)
    of_the_others = -1 / (players - 1)
    return [of_the_best if score == max(scores) else of_the_others for score in scores]


def _action(start: int, destination: int) -> int:
    """The number of a move: the plane says the column or the row that it goes to."""
    row, column = divmod(destination, COLUMNS)
    plane = column if row == start // COLUMNS else COLUMNS + row
    return plane * SQUARES + start


def _start_and_destination(action: int) -> tuple[int, int]:
    """The squares of a move."""
    plane, start = divmod(action, SQUARES)
    row, column = divmod(start, COLUMNS)
    if plane < COLUMNS:
        return start, square_at(row, plane)
    return start, square_at(plane - COLUMNS, column)


def _copy_of_outcome(outcome: dict[str, Any]) -> dict[str, Any]:
    """A copy that shares no list with the original."""
    return {
        "scores": list(outcome["scores"]),
        "rewards": list(outcome["rewards"]),
        "by_limit": outcome["by_limit"],
    }
