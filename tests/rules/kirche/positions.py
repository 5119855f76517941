"""Positions and actions of kirche in short notation, for the tests of its rules.

Pieces are written as kind, square and ridge: "S16- N17| H30-" is a spire on square 16 with a
horizontal ridge, a nave on 17 with a vertical one and a house on 30. The squares are

     0  1  2  3  4  5  6
     7  8  9 10 11 12 13
    14 15 16 17 18 19 20
    21 22 23 24 25 26 27
    28 29 30 31 32 33 34
    35 36 37 38 39 40 41
    42 43 44 45 46 47 48
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from tests.rules.implementations import Game

LIGHT, DARK = 0, 1
KINDS = {"S": "spire", "N": "nave", "H": "house"}
RIDGES = {"-": "h", "|": "v"}

# Three pieces that neither win nor stand in the way, for the player who does not matter.
ELSEWHERE = "S0- N6- H48-"

LIGHT_WINS = {"scores": [1, 0], "rewards": [1, -1], "by_limit": False}
DARK_WINS = {"scores": [0, 1], "rewards": [-1, 1], "by_limit": False}
DRAW = {"scores": [0, 0], "rewards": [0, 0], "by_limit": True}


def piece(text: str) -> dict[str, Any]:
    """A piece of a snapshot, from for example "S16-"."""
    return {"kind": KINDS[text[0]], "square": int(text[1:-1]), "ridge": RIDGES[text[-1]]}


def position(
    light: str,
    dark: str = ELSEWHERE,
    *,
    pastor: int = 45,
    to_move: int = LIGHT,
    ply: int | None = None,
    max_plies: int = 200,
) -> dict[str, Any]:
    """A position in which all pieces are placed."""
    return {
        "game": "kirche",
        "options": {"num_houses": light.count("H"), "max_plies": max_plies},
        "ply": 60 + to_move if ply is None else ply,
        "to_move": to_move,
        "outcome": None,
        "phase": "moves",
        "pastor": pastor,
        "pieces": [[piece(text) for text in light.split()], [piece(text) for text in dark.split()]],
    }


def placing(light: str, dark: str, *, to_move: int, num_houses: int = 7) -> dict[str, Any]:
    """A position in which houses are still to be placed."""
    snapshot = position(light, dark, pastor=24, to_move=to_move)
    snapshot["options"]["num_houses"] = num_houses
    snapshot["ply"] = len(light.split()) + len(dark.split())
    snapshot["phase"] = "houses"
    return snapshot


def almost_won(player: int, ply: int | None = None, max_plies: int = 200) -> dict[str, Any]:
    """A player wins by the house on 31 going up to 24, beside the nave."""
    almost = ["S16- N17- H31|", ELSEWHERE]
    light, dark = almost if player == LIGHT else reversed(almost)
    return position(light, dark, to_move=player, ply=ply, max_plies=max_plies)


def mirrored(snapshot: dict[str, Any]) -> dict[str, Any]:
    """The same position with the colours exchanged, and the other player to move."""
    other = copy.deepcopy(snapshot)
    other["pieces"].reverse()
    other["to_move"] = 1 - snapshot["to_move"]
    other["ply"] = 60 + other["to_move"]
    return other


def place(square: int, ridge: str = "-") -> int:
    """The action that places a piece."""
    return {"-": 0, "|": 1}[ridge] * 49 + square


def move(square: int, steps: int, turn: bool = False) -> int:
    """The action that moves a piece: right or down, with a negative number left or up."""
    offset = steps - 1 if steps > 0 else 5 - steps
    return (2 + 2 * offset + turn) * 49 + square


def moves(square: int, all_steps: Iterable[int]) -> list[int]:
    """The actions that move a piece so many steps, each with and without the turn."""
    return sorted(move(square, steps, turn) for steps in all_steps for turn in (False, True))


def swap(square: int) -> int:
    """The action that swaps a piece with the pastor."""
    return 26 * 49 + square


def actions_of(game: Game, square: int) -> list[int]:
    """The legal actions of the piece on a square."""
    return [action for action in game.legal_actions() if action % 49 == square]


def squares_of(game: Game) -> list[int]:
    """The squares of the legal actions."""
    return sorted({action % 49 for action in game.legal_actions()})


def pieces_of(game: Game, player: int) -> list[dict[str, Any]]:
    """A player's pieces, as in a snapshot."""
    return game.snapshot()["pieces"][player]


def play(game: Game, *actions: int) -> Game:
    """The game after some actions."""
    for action in actions:
        game.step(action)
    return game


def assert_goes_on(game: Game, to_move: int) -> None:
    """Assert that nobody has won and who is to move."""
    snapshot = game.snapshot()
    assert snapshot["outcome"] is None
    assert snapshot["to_move"] == to_move
    assert game.scores() == [0, 0]
    assert game.legal_actions() != []


def assert_ended(game: Game, outcome: dict[str, Any]) -> None:
    """Assert that the game is over and how."""
    snapshot = game.snapshot()
    assert snapshot["outcome"] == outcome
    assert snapshot["to_move"] in (0, 1)
    assert game.scores() == outcome["scores"]
    assert game.legal_actions() == []


# A board with room to move: on row 3, light's house 23 and dark's house 26.
OPEN_PIECES = ("S42- N47- H23-", "S0- N6| H26|")
OPEN = position(*OPEN_PIECES, pastor=3)
