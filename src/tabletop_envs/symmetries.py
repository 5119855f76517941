"""Symmetries of games: what a mirror makes of observations, masks, actions and snapshots.

>>> from tabletop_envs import kirche_v0, make_batch
>>> batch = make_batch("kirche-v0", 64, seed=1)
>>> mirror = kirche_v0.GAME.symmetries(batch.options)[1]
>>> seen = mirror.apply_observation(batch.observation)
>>> mask = mirror.apply_mask(batch.action_mask, batch.observation)

A symmetry takes each position to its *image*, so that legal actions have legal images, their
successors are each other's images again, and scores, rewards and who is to move are the same. All
indexes here say where something goes: entry 3 of `actions` is the image of action 3.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.checks import shown
from tabletop_envs.kernels import Kernel

__all__ = ["Symmetry", "square_board"]

Indexes = npt.NDArray[np.int64]


class Symmetry:
    """A symmetry of a game. The arrays that its methods give are new.

    A game whose snapshots have squares, or whose images depend on more than indexes say,
    overrides `position`, `action_images`, `holds`.

    Args:
        name: A short name, such as `"flip_left_right"`.
        kernel: The game's kernel.
        squares: Where each square of the board goes, `(rows, columns)`, numbered row by row; None
            if all stay. All parts of an observation with these rows and columns are planes of it.
        parts: By a part's name where each of its planes goes, `(shape[0],)`, or each of its
            numbers, `(size,)`.
        actions: Where each action goes, `(n,)`; None if all stay.

    Raises:
        ValueError: For what is no permutation, or of another size.

    Attributes:
        name: As given.
        squares: `int64 (squares,)`, as given, flat; empty if all stay.
        observation: `int64 (L,)`, where each number of an observation goes.
        actions: `int64 (n,)`, where each action goes (in a game in which that depends on the
            position ask `action_images`).
    """

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        *,
        squares: npt.ArrayLike | None = None,
        parts: Mapping[str, npt.ArrayLike] | None = None,
        actions: npt.ArrayLike | None = None,
    ) -> None:
        self.name = name
        board = np.zeros((0, 0), np.int64) if squares is None else np.asarray(squares)
        parts = {} if parts is None else parts
        self.squares = self._permutation("squares", board.ravel(), board.size)
        shapes = {part.name: part.shape for part in kernel.observation}
        if squares is not None and board.shape not in {shape[1:] for shape in shapes.values()}:
            raise ValueError(
                f"symmetry {name!r}: squares has the shape {board.shape}, "
                "but must have that of a plane of the observation"
            )
        for part in parts:
            if part not in shapes:
                raise ValueError(
                    f"symmetry {name!r}: parts has {shown(part)}, but its keys must be "
                    f"{', '.join(shapes)}"
                )
        places, start = [], 0
        for one in kernel.observation:
            given, label = parts.get(one.name), f"parts[{one.name!r}]"
            if given is not None and np.size(given) == one.size:
                inside = self._permutation(label, given, one.size)
            else:
                planes = self._permutation(label, given, one.shape[0])
                plane = np.arange(one.size // one.shape[0])
                if squares is not None and one.shape[1:] == board.shape:
                    plane = self.squares
                inside = (planes[:, np.newaxis] * plane.size + plane).ravel()
            places.append(start + inside)
            start += one.size
        self.observation: Indexes = np.concatenate(places)
        self.actions = self._permutation("actions", actions, kernel.num_actions)
        self._sources = np.argsort(self.observation)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _permutation(self, what: str, given: Any, size: int) -> Indexes:
        """An array as a permutation of `size` indexes, None as that which changes nothing."""
        if given is None:
            return np.arange(size)
        array = np.asarray(given)
        if array.shape != (size,) or not np.array_equal(np.sort(array), np.arange(size)):
            raise ValueError(
                f"symmetry {self.name!r}: {what} must have each of the {size} integers from 0 "
                f"to {size - 1} once"
            )
        return array.astype(np.int64)

    def apply_observation(self, observation: npt.ArrayLike) -> npt.NDArray[Any]:
        """The images of observations `(..., L)` of any dtype, by any player."""
        given = np.asarray(observation)
        return np.where(self.holds(given)[..., np.newaxis], given[..., self._sources], given)

    def apply_action(
        self, action: npt.ArrayLike, observation: npt.ArrayLike
    ) -> npt.NDArray[np.int64]:
        """The images of actions.

        Args:
            action: Integers `(...)` from 0 to n − 1, such as one for each observation.
            observation: The observations `(..., L)` at which they are chosen, by any player.

        Returns:
            `int64 (...)`.
        """
        chosen = np.asarray(action)
        images = self._images(chosen[..., np.newaxis], observation)
        return np.take_along_axis(images, chosen[..., np.newaxis], -1)[..., 0]

    def apply_mask(self, mask: npt.ArrayLike, observation: npt.ArrayLike) -> npt.NDArray[Any]:
        """The images of masks, or of other numbers of actions: policies, visits, logits.

        Args:
            mask: `(..., n)` of any dtype.
            observation: The observations `(..., L)` that they belong to, by any player.

        Returns:
            An array like `mask`.
        """
        given = np.asarray(mask)
        image = np.empty_like(given)
        np.put_along_axis(image, self._images(given, observation), given, -1)
        return image

    def undo_mask(self, image: npt.ArrayLike, observation: npt.ArrayLike) -> npt.NDArray[Any]:
        """What has a given image by `apply_mask`: `undo_mask(apply_mask(x, o), o)` is `x`.

        Args:
            image: `(..., n)` of any dtype, such as a network's policy at the image.
            observation: The observations `(..., L)`, not their images.

        Returns:
            An array like `image`.
        """
        given = np.asarray(image)
        return np.take_along_axis(given, self._images(given, observation), -1)

    def apply_snapshot(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """The image of a snapshot, the same options and randomness included.

        Lists are sorted as those of the snapshot's environment are.
        """
        return {**copy.deepcopy(dict(snapshot)), **self.position(snapshot)}

    def _images(self, values: npt.NDArray[Any], observation: npt.ArrayLike) -> Indexes:
        """`action_images` for every row of `values`."""
        images = self.action_images(np.asarray(observation))
        return np.broadcast_to(images, (*values.shape[:-1], images.shape[-1]))

    # What games may override

    def position(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a snapshot that change, with their images."""
        return {}

    def action_images(self, observation: npt.NDArray[Any]) -> Indexes:
        """Where each action goes, at observations `(..., L)`: `int64 (n,)` or `(..., n)`.

        Permutations in any case, though what is illegal may go to anything illegal.
        """
        return self.actions

    def holds(self, observation: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether positions are among those that the symmetry is one of: `bool (...)`.

        The others are their own images, and nothing is said of their successors.
        """
        return np.ones(observation.shape[:-1], np.bool_)


def square_board(side: int) -> dict[str, Indexes]:
    """Where the squares of a square board go, `(side, side)`, by the names of its 8 symmetries.

    The first is the identity; turns are clockwise. Of the place in this order bit 0 tells whether
    left and right are exchanged, bit 1 top and bottom, and bit 2 rows and columns, after those.

    TypeError or ValueError for a side that is no integer from 1 to 1024.
    """
    names = (
        *("identity", "flip_left_right", "flip_up_down", "rotate_180"),
        *("transpose", "rotate_270", "rotate_90", "antitranspose"),
    )
    side = checks.integer("side", side, 1, 2**10)
    boards = {}
    for number, name in enumerate(names):
        row, column = np.indices((side, side))
        row = side - 1 - row if number & 2 else row
        column = side - 1 - column if number & 1 else column
        boards[name] = column * side + row if number & 4 else row * side + column
    return boards
