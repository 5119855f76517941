"""kirche drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.kirche import SIZE
from tabletop_envs.render import tinted

if TYPE_CHECKING:
    from tabletop_envs.game import Game

RIDGES = {"h": "—", "v": "|"}
# The `TINTS` of light, dark and the pastor.
LIGHT, DARK, PASTOR = 3, 1, 2
DECISIONS = {"churches": "place the church", "houses": "place a house", "moves": "move or swap"}


def text(game: Game, snapshot: Mapping[str, Any], colour: bool = False) -> str:
    """The board with coordinates, and whose turn it is.

    Light's pieces are capitals, dark's small letters: s(pire), n(ave), h(ouse), each followed by
    its ridge, `—` or `|`; `+` is the pastor.
    """
    cells = [" ·"] * SIZE**2
    things = [(snapshot["pastor"], " +", PASTOR)]
    for piece in snapshot["pieces"][0]:
        things.append((piece["square"], piece["kind"][0].upper() + RIDGES[piece["ridge"]], LIGHT))
    for piece in snapshot["pieces"][1]:
        things.append((piece["square"], piece["kind"][0] + RIDGES[piece["ridge"]], DARK))
    for square, cell, tint in things:
        cells[square] = tinted(cell, tint) if colour else cell
    lines = ["     " + "   ".join(map(str, range(SIZE)))]
    lines += [f"{row}   " + "  ".join(cells[row * SIZE :][:SIZE]) for row in range(SIZE)]
    return "\n".join([*lines, _caption(game, snapshot)]) + "\n"


def _caption(game: Game, snapshot: Mapping[str, Any]) -> str:
    start, outcome, mover = f"ply {snapshot['ply']}", snapshot["outcome"], snapshot["to_move"]
    if outcome is None:
        decision = DECISIONS[snapshot["phase"]]
        return f"{start}, {game.player_names[mover]} (player_{mover}) to {decision}"
    rewards = outcome["rewards"]
    if rewards[0] == rewards[1]:
        return f"{start}, drawn{' (by max_plies)' if outcome['by_limit'] else ''}"
    return f"{start}, {game.player_names[rewards.index(max(rewards))]} wins"
