"""What falls to chance in each game, one small event after the other, as OpenSpiel's chance nodes need it.

The kernels draw by a generator in the state. OpenSpiel's algorithms want to see every outcome with its probability
instead, so here a start is dealt stone by stone and a roll of dice counted value by value. No order is made up: every
deal, and every roll of indistinguishable dice, is reached in exactly one way. The generator of these states is always 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.game import Game, State

Outcomes = list[tuple[int, float]]
# How many dice show 1 … 6.
Dice = tuple[int, ...]
DICE_VALUES = 6


def copy_of(states: State) -> State:
    """A copy of a state; NumPy's own goes through the record field by field and takes some twenty times as long."""
    return np.frombuffer(bytearray(states.tobytes()), states.dtype)


class Chance:
    """Chance in a game that has none, and what other games do otherwise: a deal at the start, dice, hidden things.

    A *deal* is a sequence of `deal_length` outcomes. *Viewers* are the players whose secrets may show.
    """

    def __init__(self, game: Game, options: Mapping[str, Any]) -> None:
        self.game = game
        self.options = dict(options)
        self.players = game.num_players(options)

    # The deal
    deal_length = 0
    max_outcomes = 0
    # Whether anything but the deal falls to chance: then every action may be followed by a roll.
    has_dice = False

    def clear(self, states: State) -> None:
        """Make of a started game one in which nothing is dealt yet."""

    def deal_outcomes(self, deal: Sequence[int | None]) -> Outcomes:
        """What may come after the outcomes in `deal`, with probabilities."""
        raise NotImplementedError

    def put(self, states: State, place: int, outcome: int) -> None:
        """Write the outcome number `place` of the deal into a state."""
        raise NotImplementedError

    def deal_of(self, states: State) -> list[int | None]:
        """The deal of a game in the midst of play; None where its state does not tell."""
        return [None] * self.deal_length

    def deal_name(self, place: int, outcome: int) -> str:
        """An outcome of the deal in words."""
        raise NotImplementedError

    def deal_shape(self) -> tuple[int, ...]:
        """The shape of a deal as 0/1 planes; `(0,)` where nothing is dealt."""
        return (0,)

    def write_deal(
        self, deal: Sequence[int | None], player: int, planes: npt.NDArray[np.float32]
    ) -> None:
        """Set the planes of a deal (zeros before) as `player` sees it; None is what is not seen."""

    # Dice

    def dice_rolled(self, after: State) -> int:
        """How many dice the action has rolled that led to `after` and drew from the generator."""
        raise NotImplementedError(f"OpenSpiel is not told of the chance in {self.game.name}")

    def in_the_air(self, before: State, after: State) -> State:
        """What is shown while those dice roll."""
        raise NotImplementedError

    def settle(
        self,
        before: State,
        after: State,
        legal: npt.NDArray[np.uint64],
        action: int,
        dice: Dice,
    ) -> State:
        """The state after `action` if the dice show `dice`; `legal` is the set of legal actions of `before`."""
        raise NotImplementedError

    # Secrets

    # The parts of an observation in which secrets may show.
    secret_parts: tuple[str, ...] = ()

    @property
    def has_secrets(self) -> bool:
        """Whether anything is hidden from anybody."""
        return False

    def deal_seen(self, deal: Sequence[int | None], viewers: Collection[int]) -> list[int | None]:
        """The deal as far as the viewers know of it, taken together."""
        return list(deal)

    def unseen_moves(self, states: State, viewers: Collection[int]) -> int:
        """How many of the last actions no viewer has seen yet."""
        return 0

    def secrets_of(self, states: State, player: int) -> str:
        """What only `player` knows, in words."""
        return ""

    def redeal(
        self,
        states: State,
        deal: Sequence[int | None],
        moves: Sequence[Any],
        player: int,
        generator: int,
    ) -> tuple[Sequence[int | None], Sequence[Any], State]:
        """Another deal, moves and state that look the same to `player`, drawn by `generator`."""
        return deal, moves, states

    def rewrite(self, root: State, deal: Sequence[int | None], now: State) -> State:
        """The state `root`, from which play began, made to agree with what `redeal` gives."""
        return root


def roll_outcomes(number: int, counts: Sequence[int]) -> Outcomes:
    """How many of `number` dice show the next value after those already counted, with probabilities (binomial)."""
    left = number - sum(counts)
    chance = 1 / (DICE_VALUES - len(counts))
    return [
        (count, math.comb(left, count) * chance**count * (1 - chance) ** (left - count))
        for count in range(left + 1)
    ]


def complete_roll(number: int, counts: Sequence[int]) -> Dice | None:
    """The roll that these counts make; None while something is open."""
    left = number - sum(counts)
    if left and len(counts) < DICE_VALUES - 1:
        return None
    return (*counts, left, *[0] * DICE_VALUES)[:DICE_VALUES]
