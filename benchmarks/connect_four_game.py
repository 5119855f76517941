"""What the batch engine must know of connect four beside its kernel, and batches of it.

>>> from benchmarks.connect_four_game import make_batch
>>> batch = make_batch(1024, seed=1)
>>> batch.step(batch.sample_actions())
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks import connect_four as rules
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.game import Game, Part, Snapshot, max_plies_option

SIGNS = ("x", "o")


class ConnectFour(Game):
    """Connect four, described for the batch engine; its positions are read, not restored."""

    name = "connect_four"
    kernel = rules.KERNEL
    options = (max_plies_option(rules.SQUARES),)
    parts = (
        Part("own_stones", (1, rules.ROWS, rules.COLUMNS)),
        Part("other_stones", (1, rules.ROWS, rules.COLUMNS)),
    )
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
        """NotImplementedError: the benchmarks have no use for restored positions."""
        raise NotImplementedError("positions of connect_four are not restored")

    def action_to_str(self, state: Any, action: int) -> str:
        """The column, counted from 1 as players do."""
        return f"column {action + 1}"

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
    """A batch of `num_envs` games of connect four; `arguments` as for `tabletop_envs.make_batch`."""
    return BatchEnv(GAME, num_envs, **arguments)
