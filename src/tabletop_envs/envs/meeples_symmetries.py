"""The symmetries of meeples: the 8 of the square table, from the first stone on.

- *The table.* From the first stone on, M1–M29 know edges, corners and the table's sides, no
  directions, and dice and hands have no place: an image has the same, randomness included. Only the
  first stone has one way to lie (M7). So a table without a stone is its own image, and the action
  that lays the first one leads to no image; a game and its image are played beside each other from
  that stone on.
- *Values* may not be exchanged: they count what they show (M28), those from 1 to 4 set off
  different actions (M20), and nothing stands on a 0 (M5).
- *Players* may not: player 0 begins every phase (M9).
- *The halves of a double* are told apart by its action only, field by field; an exchange would
  have to know the direction before it is chosen.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.kernels.meeples import KERNEL
from tabletop_envs.kernels.meeples.material import FIRST_DIRECTION, NUM_ACTIONS
from tabletop_envs.kernels.meeples.observation import AT, DOUBLES
from tabletop_envs.kernels.meeples.table import DOWN, FIELDS, LEFT, RIGHT, SIDE, STEPS, UP
from tabletop_envs.symmetries import Indexes, Symmetry, square_board

CENTRE = SIDE // 2 * SIDE + SIDE // 2


class TableSymmetry(Symmetry):
    """A symmetry of the table."""

    def __init__(self, name: str, squares: Indexes) -> None:
        goes = squares.ravel()
        steps = [int(goes[CENTRE + step] - goes[CENTRE]) for step in STEPS]
        directions = np.array([STEPS.index(step) for step in steps])
        # Whether stones that lie across, stand upright, have their other half on the left, or on
        # top, in the mirror.
        self._reversed = directions[RIGHT] in (UP, LEFT), directions[DOWN] in (UP, LEFT)
        # A stone is shown at its left or upper half. There is none that goes over the edge, so what
        # is rolled over it is always 0.
        halves = [
            np.roll(squares, -1, axis) if reverse else squares
            for axis, reverse in zip((1, 0), self._reversed, strict=True)
        ]
        turned = directions[RIGHT] in (UP, DOWN)
        stones = np.stack((halves[0] + FIELDS * turned, halves[1] + FIELDS * (not turned)))
        actions = np.arange(NUM_ACTIONS)
        actions[:FIELDS] = goes
        actions[FIRST_DIRECTION : FIRST_DIRECTION + len(STEPS)] = FIRST_DIRECTION + directions
        super().__init__(
            name, KERNEL, squares=squares, parts={"stones": stones.ravel()}, actions=actions
        )

    def apply_observation(self, observation: npt.ArrayLike) -> npt.NDArray[Any]:
        """See `Symmetry`: the first half of a double may come to be the right or lower one."""
        given = np.asarray(observation)
        image = super().apply_observation(given)
        if any(self._reversed):
            values = given[..., AT.values : AT.values + FIELDS]
            stones = given[..., AT.stones : AT.owners].reshape(*values.shape[:-1], 2, FIELDS)
            turned = image[..., AT.turned_doubles : AT.turned_doubles + len(DOUBLES)]
            for plane, reverse in enumerate(self._reversed):
                if reverse:
                    other_half = np.roll(values, -(1, SIDE)[plane], -1)
                    doubles = (stones[..., plane, :] != 0) & (values == other_half)
                    for double in range(len(DOUBLES)):
                        lies = (doubles & (values == double + 1)).any(-1)
                        turned[..., double] = np.where(
                            lies, 1 - turned[..., double], turned[..., double]
                        )
        return image

    def action_images(self, observation: npt.NDArray[Any]) -> Indexes:
        """See `Symmetry`."""
        holds = self.holds(observation)
        if holds.all():
            return self.actions
        return np.where(holds[..., np.newaxis], self.actions, np.arange(NUM_ACTIONS))

    def holds(self, observation: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """See `Symmetry`: wherever a stone lies."""
        values = observation[..., AT.values : AT.values + FIELDS]
        return np.asarray(values.any(-1))

    def position(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """See `Symmetry`."""
        if not snapshot["stones"]:
            return {}

        def image(field: int | None) -> int | None:
            return None if field is None else int(self.squares[field])

        def images(things: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
            moved = [{"field": image(one["field"]), "player": one["player"]} for one in things]
            return sorted(moved, key=lambda one: int(one["field"]))

        return {
            "stones": [
                {"stone": list(laid["stone"]), "fields": [image(field) for field in laid["fields"]]}
                for laid in snapshot["stones"]
            ],
            "blocks": images(snapshot["blocks"]),
            "meeples": images(snapshot["meeples"]),
            "chosen": {
                "stone": copy.copy(snapshot["chosen"]["stone"]),
                "field": image(snapshot["chosen"]["field"]),
            },
            "source": image(snapshot["source"]),
        }


@functools.cache
def symmetries() -> tuple[Symmetry, ...]:
    """All of them, the identity first."""
    return tuple(TableSymmetry(name, board) for name, board in square_board(SIDE).items())
