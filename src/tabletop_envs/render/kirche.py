"""kirche drawn for the terminal."""

from __future__ import annotations

from typing import Any

SIZE = 7
LETTERS = {"spire": "S", "nave": "N", "house": "H"}
RIDGES = {"h": "—", "v": "|"}
PLAYERS = ("light", "dark")
# Terminal colours of light, dark and the pastor.
COLOURS = ("\x1b[1;33m", "\x1b[1;34m", "\x1b[1;32m")
PLAIN = "\x1b[0m"


def text(snapshot: dict[str, Any], colour: bool = False) -> str:
    """The board with coordinates, and whose turn it is.

    Light's pieces are capitals, dark's small letters: s(pire), n(ave), h(ouse), each followed by its ridge,
    `—` or `|`; `+` is the pastor.
    """
    cells = [[" ·"] * SIZE for _ in range(SIZE)]

    def put(square: int, cell: str, tint: int) -> None:
        row, column = divmod(square, SIZE)
        cells[row][column] = f"{COLOURS[tint]}{cell}{PLAIN}" if colour else cell

    put(snapshot["pastor"], " +", 2)
    for player, pieces in enumerate(snapshot["pieces"]):
        for piece in pieces:
            letter = LETTERS[piece["kind"]]
            put(
                piece["square"],
                (letter.lower() if player else letter) + RIDGES[piece["ridge"]],
                player,
            )
    lines = ["     " + "   ".join(str(column) for column in range(SIZE))]
    lines += [f"{row}   " + "  ".join(cells[row]) for row in range(SIZE)]
    return "\n".join([*lines, _caption(snapshot)]) + "\n"


def _caption(snapshot: dict[str, Any]) -> str:
    start = f"ply {snapshot['ply']}"
    outcome = snapshot["outcome"]
    if outcome is None:
        mover = PLAYERS[snapshot["to_move"]]
        what = {
            "churches": "place the church",
            "houses": "place a house",
            "moves": "move or swap",
        }[snapshot["phase"]]
        return f"{start}, {mover} (player_{snapshot['to_move']}) to {what}"
    rewards = outcome["rewards"]
    if rewards[0] == rewards[1]:
        return f"{start}, drawn{' (by max_plies)' if outcome['by_limit'] else ''}"
    return f"{start}, {PLAYERS[rewards.index(max(rewards))]} wins"
