"""Connect four for batches and environments (docs/add-a-game.md explains it), and batches of it.

>>> from benchmarks.connect_four_game import make_batch
>>> batch = make_batch(1024, seed=1)
>>> batch.step(batch.sample_actions())
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks import connect_four as rules
from tabletop_envs.checks import require, require_int, require_list
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import Game, Move, Snapshot, max_plies_option

SIGNS = ("x", "o")


class ConnectFour(Game):
    """Connect four."""

    name = "connect_four"
    kernel = rules.KERNEL
    options = (max_plies_option(rules.SQUARES),)
    snapshot_keys = ("stones",)

    def position(self, state: Any) -> Snapshot:
        """The squares that each player's stones lie on, ascending."""
        return {
            "stones": [
                [square for square in range(rules.SQUARES) if int(stones) >> square & 1]
                for stones in state["stones"]
            ]
        }

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        """Write the stones, and the score of who has a line, into a state."""
        ply = int(state["ply"])
        taken: set[int] = set()
        for player, squares in enumerate(require_list("stones", snapshot["stones"], 2)):
            count = (ply + 1 - player) // 2
            for square in require_list(f"stones of player {player}", squares, count):
                require_int("a stone's square", square, 0, rules.SQUARES - 1)
                require(square not in taken, f"two stones lie on square {square}")
                taken.add(square)
                state["stones"][player] |= np.uint64(1 << square)
        for square in taken:
            below = square + rules.COLUMNS
            require(
                below >= rules.SQUARES or below in taken,
                f"the stone on square {square} has nothing below it (C2)",
            )
        mover = ply % 2
        require(state["to_move"] == mover, f"to_move must be {mover} at ply {ply} (C2)")
        last = 1 - mover
        require(
            not rules.has_line(state["stones"][mover]),
            f"player {mover} has a line, but the other player moved last (C3)",
        )
        won = bool(rules.has_line(state["stones"][last]))
        state["scores"][last] = won
        return won or ply == rules.SQUARES

    def decode(self, action: int, position: Mapping[str, Any]) -> Move:
        """The column, counted from 1 as players do, and the square where the stone comes to lie."""
        taken = {square for stones in position["stones"] for square in stones}
        column = range(action, rules.SQUARES, rules.COLUMNS)
        empty = [square for square in column if square not in taken]
        return Move(f"column {action + 1}", "drop", target=empty[-1] if empty else None)

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        """The board, `x` for the first player's stones and `o` for the second's."""
        signs = ["."] * rules.SQUARES
        for sign, stones in zip(SIGNS, snapshot["stones"], strict=True):
            for square in stones:
                signs[square] = sign
        rows = (signs[i : i + rules.COLUMNS] for i in range(0, rules.SQUARES, rules.COLUMNS))
        return "\n".join(" ".join(row) for row in rows)


GAME = ConnectFour()


def make_batch(num_envs: int, **arguments: Any) -> BatchEnv:
    """Make a batch of `num_envs` games; `arguments` as for `tabletop_envs.make_batch`."""
    return BatchEnv(GAME, num_envs, **arguments)
