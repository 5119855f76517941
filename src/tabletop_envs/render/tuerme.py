"""tuerme drawn for the terminal."""

from __future__ import annotations

from typing import Any

from tabletop_envs.kernels.tuerme.plan import COLUMNS, FIELDS, ROWS

NAMES = ("red", "blue", "green", "yellow")
LETTERS = "RBGY"
# Triangle, circle, square, diamond: filled on stacks, hollow on vacant lots.
STACK_SYMBOLS, LOT_SYMBOLS = "▲●■◆", "△○□◇"
# Terminal colours of the four colours.
COLOURS = ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m", "\x1b[1;33m")
PLAIN = "\x1b[0m"


def text(snapshot: dict[str, Any], colour: bool = False) -> str:
    """The board with coordinates, the scores, and whose turn it is.

    A stack is its colour's letter, its symbol and its height (`R▲3`), an empty street square a dot; lots stand in
    brackets, vacant ones with their symbol alone.
    """
    cells = [" · " if field == "." else f" {LOT_SYMBOLS[int(field)]} " for field in FIELDS]
    for stack in snapshot["stacks"]:
        cell = f"{LETTERS[stack['colour']]}{STACK_SYMBOLS[stack['symbol']]}{stack['height']}"
        tint = COLOURS[stack["colour"]]
        cells[stack["square"]] = f"{tint}{cell}{PLAIN}" if colour else cell
    framed = [
        f" {cell} " if field == "." else f"[{cell}]"
        for cell, field in zip(cells, FIELDS, strict=True)
    ]
    lines = ["  " + "".join(f"{column:^5}" for column in range(COLUMNS)).rstrip()]
    for row in range(ROWS):
        lines.append(f"{row} " + "".join(framed[row * COLUMNS : (row + 1) * COLUMNS]).rstrip())
    return "\n".join([*lines, _scores(snapshot), _caption(snapshot)]) + "\n"


def _scores(snapshot: dict[str, Any]) -> str:
    players = snapshot["options"]["num_players"]
    outcome = snapshot["outcome"]
    if outcome is not None:
        scores = outcome["scores"]
    else:
        scores = [0] * players
        for stack in snapshot["stacks"]:
            if FIELDS[stack["square"]] != "." and stack["colour"] < players:
                scores[stack["colour"]] += stack["height"]
    standing = ", ".join(f"{name} {score}" for name, score in zip(NAMES, scores, strict=False))
    neutral = " and ".join(NAMES[players:])
    return f"scores: {standing}" + (f" ({neutral} neutral)" if neutral else "")


def _caption(snapshot: dict[str, Any]) -> str:
    start = f"ply {snapshot['ply']}"
    outcome, mover = snapshot["outcome"], snapshot["to_move"]
    if outcome is None:
        return f"{start}, {NAMES[mover]} (player_{mover}) to move"
    best = max(outcome["rewards"])
    winners = [
        name for name, reward in zip(NAMES, outcome["rewards"], strict=False) if reward == best
    ]
    drawn = len(winners) == len(outcome["rewards"])
    line = f"{start}, {'drawn' if drawn else ' and '.join(winners) + ' ahead'}"
    if snapshot["ending_city"] is not None:
        return f"{line}, city {snapshot['ending_city']} ended the game and counts double"
    return f"{line} (by max_plies)" if outcome["by_limit"] else line
