"""The deal, the dice and the secrets of meeples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.adapters.open_spiel.chance import DICE_VALUES, Chance, Dice, Outcomes, copy_of
from tabletop_envs.game import Game, State
from tabletop_envs.kernels import engine
from tabletop_envs.kernels.meeples.material import (
    BLOCKS,
    FIRST_STONE,
    MAX_PLAYERS,
    NO_FIELD,
    NO_STONE,
    NOT_LAID,
    NUM_STONES,
    SETUP,
    STONE_HALVES,
    STONES,
)


class MeeplesChance(Chance):
    """The stones of meeples, each to a player or (outcome = number of players) left over; and the dice."""

    deal_length = NUM_STONES
    has_dice = True
    secret_parts = ("hand", "other_hands", "chosen_stone", "chosen_field")

    def __init__(self, game: Game, options: Mapping[str, Any]) -> None:
        super().__init__(game, options)
        hand = NUM_STONES // self.players
        self._room = [hand] * self.players + [NUM_STONES - hand * self.players]
        dice = self.players * int(options["dice_per_player"])
        self.max_outcomes = max(len(self._room), dice + 1)

    def clear(self, states: State) -> None:
        """See `Chance`."""
        states["hands"] = 0

    def deal_outcomes(self, deal: Sequence[int | None]) -> Outcomes:
        """See `Chance`."""
        dealt = Counter(deal)
        left = NUM_STONES - len(deal)
        return [
            (seat, (room - dealt[seat]) / left)
            for seat, room in enumerate(self._room)
            if dealt[seat] < room
        ]

    def put(self, states: State, place: int, outcome: int) -> None:
        """See `Chance`."""
        if outcome < self.players:
            states["hands"][0, outcome] |= np.uint32(1 << place)

    def deal_of(self, states: State) -> list[int | None]:
        """The owners of all stones but those on the table; the one being laid has its layer."""
        state = states[0]
        deal: list[int | None] = []
        for stone in range(NUM_STONES):
            held = [seat for seat in range(self.players) if int(state["hands"][seat]) >> stone & 1]
            if state["direction"][stone] != NOT_LAID:
                deal.append(None)
            elif stone == state["chosen_stone"]:
                deal.append(int(state["to_move"]))
            else:
                deal.append(held[0] if held else self.players)
        return deal

    def deal_name(self, place: int, outcome: int) -> str:
        """See `Chance`."""
        to = f"to player_{outcome}" if outcome < self.players else "to nobody"
        return f"deal {self._name(place)} {to}"

    def _name(self, stone: int) -> str:
        a, b = STONE_HALVES[stone]
        return f"{a}-{b}"

    def deal_shape(self) -> tuple[int, ...]:
        """The stones of each player in turn order, as many rows as the observation has places."""
        return (MAX_PLAYERS, NUM_STONES)

    def write_deal(
        self, deal: Sequence[int | None], player: int, planes: npt.NDArray[np.float32]
    ) -> None:
        """See `Chance`."""
        for stone, seat in enumerate(deal):
            if seat is not None and seat < self.players:
                planes[(seat - player) % self.players, stone] = 1

    # Dice

    def _rerolled(self, before: State) -> bool:
        # The other rolls open a round, after the setup or a turn with meeples.
        return bool(before["phase"][0] == BLOCKS)

    def dice_rolled(self, after: State) -> int:
        """See `Chance`."""
        return int(after["dice"].sum())

    def in_the_air(self, before: State, after: State) -> State:
        """The table with an empty pool; where a player rolls again, what comes of it is still open."""
        states = copy_of(before if self._rerolled(before) else after)
        states["dice"] = states["rng"] = 0
        return states

    def settle(
        self,
        before: State,
        after: State,
        legal: npt.NDArray[np.uint64],
        action: int,
        dice: Dice,
    ) -> State:
        """See `Chance`."""
        if self._rerolled(before):
            states = self._after_reroll(before, legal, action, dice)
        else:
            states = copy_of(after)
        states["dice"] = 0
        states["dice"][0, 1 : 1 + DICE_VALUES] = dice
        states["rng"] = 0
        return states

    def _after_reroll(
        self, before: State, legal: npt.NDArray[np.uint64], action: int, dice: Dice
    ) -> State:
        """What the rules make of the dice rolled again.

        It depends only on whether any of them fits. So the kernel rolls a single die instead, by one generator
        after the other, until it has shown one of the values that fits, or all of them without.
        """
        result = np.zeros(3 + self.players, np.int64)
        values = {value for value, number in enumerate(dice, 1) if number}
        generator = 0
        while True:
            states = copy_of(before)
            states["dice"] = 0
            states["dice"][0, 1] = 1
            states["rng"] = generator
            engine.advance_one(states, legal.copy(), engine.STEP, action, result)
            value = int(states["dice"][0].argmax())
            if value in values:
                values.remove(value)
                if states["rerolled"][0] or not values:
                    return states
            generator += 1

    # Secrets

    @property
    def has_secrets(self) -> bool:
        """See `Chance`."""
        return not self.options["open_hands"]

    def deal_seen(self, deal: Sequence[int | None], viewers: Collection[int]) -> list[int | None]:
        """The own stones, once all are dealt; all of them where hands are open."""
        if not self.has_secrets or len(viewers) == self.players:
            return list(deal)
        if len(deal) < self.deal_length:
            return []
        return [seat if seat in viewers else None for seat in deal]

    def unseen_moves(self, states: State, viewers: Collection[int]) -> int:
        """The stone that is being laid from a hand, and the field of its first half."""
        state = states[0]
        if (
            not self.has_secrets
            or int(state["to_move"]) in viewers
            or state["chosen_stone"] == NO_STONE
            or state["phase"] not in (SETUP, STONES)
        ):
            return 0
        return 2 if state["chosen_field"] != NO_FIELD else 1

    def secrets_of(self, states: State, player: int) -> str:
        """See `Chance`."""
        if not self.has_secrets:
            return ""
        state = states[0]
        hand = int(state["hands"][player])
        words = ["hand:", *(self._name(s) for s in range(NUM_STONES) if hand >> s & 1)]
        if state["to_move"] == player and self.unseen_moves(states, ()):
            words.append(f"laying: {self._name(int(state['chosen_stone']))}")
            if state["chosen_field"] != NO_FIELD:
                words.append(f"on {int(state['chosen_field'])}")
        return " ".join(words)

    def redeal(
        self,
        states: State,
        deal: Sequence[int | None],
        moves: Sequence[Any],
        player: int,
        generator: int,
    ) -> tuple[Sequence[int | None], Sequence[Any], State]:
        """The stones that `player` has not seen go to other hands (`Game.deal_hidden`)."""
        if not self.has_secrets:
            return deal, moves, states
        guess = copy_of(states)
        self.game.deal_hidden(guess, player, generator)
        state, left_over = guess[0], self.players
        chosen = int(state["chosen_stone"])
        unseen = self.unseen_moves(states, (player,))
        new_deal, new_moves = list(deal), list(moves)
        for stone in range(NUM_STONES):
            if state["direction"][stone] != NOT_LAID or deal[stone] == player:
                continue
            held = (seat for seat in range(self.players) if int(state["hands"][seat]) >> stone & 1)
            new_deal[stone] = next(held, left_over)
        if unseen:
            new_deal[chosen] = int(state["to_move"])
            if unseen <= len(new_moves):
                new_moves[-unseen] = FIRST_STONE + chosen
        return new_deal, new_moves, guess

    def rewrite(self, root: State, deal: Sequence[int | None], now: State) -> State:
        """See `Chance.rewrite`."""
        if not self.has_secrets:
            return root
        states = copy_of(root)
        state = states[0]
        if state["chosen_stone"] != NO_STONE and state["phase"] in (SETUP, STONES):
            # It was being laid already: it is still, or it lies on the table.
            chosen = int(state["chosen_stone"])
            if now[0]["direction"][chosen] == NOT_LAID:
                chosen = int(now[0]["chosen_stone"])
            state["chosen_stone"] = chosen
        else:
            chosen = NO_STONE
        for stone, seat in enumerate(deal):
            if seat is not None:
                for player in range(self.players):
                    state["hands"][player] &= ~np.uint32(1 << stone)
                if seat < self.players and stone != chosen:
                    state["hands"][seat] |= np.uint32(1 << stone)
        return states
