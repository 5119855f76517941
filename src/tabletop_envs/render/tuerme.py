"""tuerme drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.tuerme.plan import COLUMNS, FIELDS, ROWS
from tabletop_envs.render import tinted

if TYPE_CHECKING:
    from tabletop_envs.game import Game

# Triangle, circle, square, diamond: filled on stacks, hollow on vacant lots.
STACK_SYMBOLS, LOT_SYMBOLS = "▲●■◆", "△○□◇"


def text(game: Game, snapshot: Mapping[str, Any], colour: bool = False) -> str:
    """The board with coordinates, the scores, and whose turn it is.

    A stack is its colour's letter, its symbol and its height (`R▲3`), an empty street square a
    dot; lots stand in brackets, vacant ones with their symbol alone.
    """
    cells = [" · " if field == "." else f" {LOT_SYMBOLS[int(field)]} " for field in FIELDS]
    for stack in snapshot["stacks"]:
        letter = game.player_names[stack["colour"]][0].upper()
        cell = f"{letter}{STACK_SYMBOLS[stack['symbol']]}{stack['height']}"
        cells[stack["square"]] = tinted(cell, stack["colour"]) if colour else cell
    framed = [
        f" {cell} " if field == "." else f"[{cell}]"
        for cell, field in zip(cells, FIELDS, strict=True)
    ]
    lines = ["  " + "".join(f"{column:^5}" for column in range(COLUMNS)).rstrip()]
    for row in range(ROWS):
        lines.append(f"{row} " + "".join(framed[row * COLUMNS :][:COLUMNS]).rstrip())
    return "\n".join([*lines, _scores(game, snapshot), _caption(game, snapshot)]) + "\n"


def standing(snapshot: Mapping[str, Any]) -> list[int]:
    """The players' scores as they stand (T13), final once the game is over."""
    if snapshot["outcome"] is not None:
        return [int(score) for score in snapshot["outcome"]["scores"]]
    scores = [0] * int(snapshot["options"]["num_players"])
    for stack in snapshot["stacks"]:
        if FIELDS[stack["square"]] != "." and stack["colour"] < len(scores):
            scores[stack["colour"]] += stack["height"]
    return scores


def _scores(game: Game, snapshot: Mapping[str, Any]) -> str:
    names, scores = game.player_names, standing(snapshot)
    line = ", ".join(f"{name} {score}" for name, score in zip(names, scores, strict=False))
    neutral = " and ".join(names[len(scores) :])
    return f"scores: {line}" + (f" ({neutral} neutral)" if neutral else "")


def _caption(game: Game, snapshot: Mapping[str, Any]) -> str:
    start, outcome, mover = f"ply {snapshot['ply']}", snapshot["outcome"], snapshot["to_move"]
    if outcome is None:
        return f"{start}, {game.player_names[mover]} (player_{mover}) to move"
    rewards = outcome["rewards"]
    ahead = [game.player_names[i] for i, reward in enumerate(rewards) if reward == max(rewards)]
    line = f"{start}, {'drawn' if len(ahead) == len(rewards) else ' and '.join(ahead) + ' ahead'}"
    if snapshot["ending_city"] is not None:
        return f"{line}, city {snapshot['ending_city']} ended the game and counts double"
    return f"{line} (by max_plies)" if outcome["by_limit"] else line
