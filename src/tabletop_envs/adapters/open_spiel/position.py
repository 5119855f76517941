"""A game as OpenSpiel walks through it: positions that never change, and chance events between the actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tabletop_envs.adapters.open_spiel.chance import (
    Chance,
    Dice,
    Outcomes,
    complete_roll,
    copy_of,
    roll_outcomes,
)
from tabletop_envs.adapters.open_spiel.meeples import MeeplesChance
from tabletop_envs.adapters.open_spiel.tuerme import TuermeChance
from tabletop_envs.game import Game, Snapshot, State, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, engine

# OpenSpiel's numbers for who is to move when no player is (`pyspiel.PlayerId`).
CHANCE, OVER = -1, -4
# The games in which something falls to chance.
_CHANCES: dict[str, type[Chance]] = {"tuerme": TuermeChance, "meeples": MeeplesChance}
_NO_OBSERVATION = np.empty(0, np.float32)

# The outcomes of a deal; None for what is not known of it.
Deal = tuple["int | None", ...]
# What has happened after the deal, newest first: actions, and complete rolls of dice.
Moves = tuple["Moves", "int | Dice"] | None


class Rules:
    """A game with its options, and the chance in it."""

    def __init__(self, game: Game, options: Mapping[str, Any]) -> None:
        self.game = game
        self.options = game.parse_options(options)
        self.players = game.num_players(self.options)
        self.chance = _CHANCES.get(game.name, Chance)(game, self.options)


class Roll(NamedTuple):
    """Dice in the air: the action that rolled them, from which position it led to which state, and what lies already."""

    origin: Position
    action: int
    after: State
    number: int
    counts: Dice


class Position:
    """A position: immutable, so that a copy is the same object.

    Attributes:
        states: The state, an array of one record; not to be written to.
        legal: The set of legal actions as the engine keeps it (none at chance events and once the game is over).
        player: Who acts: a player, `CHANCE` or `OVER`.
        deal: The outcomes of the deal so far; None for what a given position does not tell.
        moves: What has happened since (`Moves`).
        roll: The dice in the air, or None.
        root: The position from which play began, where that is not the start of a game.
    """

    __slots__ = (
        "_actions",
        "_outcomes",
        "deal",
        "legal",
        "moves",
        "player",
        "roll",
        "root",
        "rules",
        "states",
    )

    def __init__(
        self,
        rules: Rules,
        states: State,
        deal: Deal,
        moves: Moves = None,
        roll: Roll | None = None,
        root: Position | None = None,
    ) -> None:
        self.rules, self.states, self.deal, self.moves, self.roll = rules, states, deal, moves, roll
        self.root = root
        self._actions: list[int] | None = None
        self._outcomes: Outcomes | None = None
        self.legal = engine.new_legal(rules.game.kernel)
        if roll is not None or len(deal) < rules.chance.deal_length:
            self.player = CHANCE
            return
        result = np.empty(3 + rules.players, np.int64)
        engine.advance_one(states, self.legal, engine.REFRESH, 0, result)
        self.player = int(result[1]) if result[0] == RUNNING else OVER

    @classmethod
    def start(cls, rules: Rules) -> Position:
        """The start of a game, before the deal.

        NotImplementedError for a game with a deal that OpenSpiel is not told of.
        """
        states = rules.game.new_states(1, rules.options)
        legal, result = (
            engine.new_legal(rules.game.kernel),
            np.empty(3 + rules.players, np.int64),
        )
        engine.advance_one(states, legal, engine.START, 0, result)
        if states["rng"][0] and not rules.chance.deal_length:
            raise NotImplementedError(f"OpenSpiel is not told of the deal in {rules.game.name}")
        states["rng"] = 0
        rules.chance.clear(states)
        return cls(rules, states, ())

    @classmethod
    def begin_at(cls, rules: Rules, states: State) -> Position:
        """The position of a state, to play on from; it is copied, and must have the same options."""
        rules.game.require_states(states, rules.options)
        states = copy_of(states)
        states["rng"] = 0
        position = cls(rules, states, tuple(rules.chance.deal_of(states)))
        position.root = position
        return position

    # Copies: the same object. Pickles: what has happened, played again when read.

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        counts = () if self.roll is None else self.roll.counts
        moves = self.move_list()
        if self.roll is not None:
            moves.append(self.roll.action)
        rules, root = self.rules, None if self.root is None else self.root.states.tobytes()
        return replay, (rules.game, rules.options, self.deal, tuple(moves), counts, root)

    # Going on

    def after(self, event: int) -> Position:
        """The position after an action, or after an outcome at a chance event.

        ValueError, naming it, for one that is not possible here.
        """
        if self.player == CHANCE:
            return self._after_outcome(event)
        states, legal = copy_of(self.states), self.legal.copy()
        result = np.empty(3 + self.rules.players, np.int64)
        if not engine.advance_one(states, legal, engine.STEP, event, result):
            raise ValueError(f"action {event} is illegal here")
        if states["rng"][0]:
            number = self.rules.chance.dice_rolled(states)
            return self._roll(Roll(self, event, states, number, ()))
        successor = object.__new__(Position)
        successor.rules, successor.deal, successor.roll = self.rules, self.deal, None
        successor.root = self.root
        successor.states, successor.legal = states, legal
        successor.moves = (self.moves, event)
        successor._actions = successor._outcomes = None
        successor.player = int(result[1]) if result[0] == RUNNING else OVER
        return successor

    def _after_outcome(self, outcome: int) -> Position:
        if all(outcome != possible for possible, _ in self.outcomes()):
            raise ValueError(f"outcome {outcome} is impossible here")
        if self.roll is not None:
            return self._roll(self.roll._replace(counts=(*self.roll.counts, outcome)))
        states = copy_of(self.states)
        self.rules.chance.put(states, len(self.deal), outcome)
        return Position(self.rules, states, (*self.deal, outcome))

    def _roll(self, roll: Roll) -> Position:
        chance, origin = self.rules.chance, roll.origin
        dice = complete_roll(roll.number, roll.counts)
        if dice is None:
            shown = chance.in_the_air(origin.states, roll.after)
            return Position(self.rules, shown, self.deal, origin.moves, roll, self.root)
        states = chance.settle(origin.states, roll.after, origin.legal, roll.action, dice)
        moves = ((origin.moves, roll.action), dice)
        return Position(self.rules, states, self.deal, moves, None, self.root)

    # Looking

    def outcomes(self) -> Outcomes:
        """The outcomes of the chance event that comes now, with their probabilities."""
        if self._outcomes is None:
            if self.roll is not None:
                self._outcomes = roll_outcomes(self.roll.number, self.roll.counts)
            else:
                self._outcomes = self.rules.chance.deal_outcomes(self.deal)
        return self._outcomes

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending."""
        if self._actions is None:
            mask = np.zeros(self.rules.game.kernel.num_actions, np.int8)
            if self.player >= 0:
                scratch = np.empty(0, np.int8)
                engine.observe_one(
                    self.states, self.legal, self.player, scratch, _NO_OBSERVATION, mask
                )
            self._actions = mask.view(np.bool_).nonzero()[0].tolist()
        return self._actions

    def event_name(self, event: int, by_chance: bool) -> str:
        """An action, or an outcome of the chance event that comes now, in words."""
        if not by_chance:
            return self.rules.game.action_to_str(self.states[0], event)
        if self.roll is not None:
            return f"{event} dice show {len(self.roll.counts) + 1}"
        return self.rules.chance.deal_name(len(self.deal), event)

    def scores(self) -> list[int]:
        """Every player's score as it stands, final once the game is over."""
        return [int(score) for score in self.states["scores"][0, : self.rules.players]]

    def rewards(self) -> list[float]:
        """Every player's reward: zeros before the end."""
        return (
            rewards_of_scores(self.scores()) if self.player == OVER else [0.0] * self.rules.players
        )

    def seen(self, everybody: bool) -> State:
        """The state as players see it: hidden hands lie face down until all are dealt."""
        chance = self.rules.chance
        if everybody or not chance.has_secrets or len(self.deal) == chance.deal_length:
            return self.states
        states = copy_of(self.states)
        chance.clear(states)
        return states

    def snapshot(self, states: State | None = None) -> Snapshot:
        """The position as plain JSON types, as `TabletopEnv.snapshot` gives it, without a generator of chance."""
        states = self.states if states is None else states
        snapshot = self.rules.game.snapshot(states, self.rules.options)
        snapshot.pop("rng", None)
        if self.player == OVER:
            snapshot["outcome"] = {
                "scores": self.scores(),
                "rewards": self.rewards(),
                "by_limit": bool(self.states["status"][0] == BY_LIMIT),
            }
        return snapshot

    def text(self, viewer: int | None) -> str:
        """A drawing for the eyes of a player; of a spectator who sees everything (None), or no hand at all (−1)."""
        states = self.seen(everybody=viewer is None)
        drawing = self.rules.game.text(self.snapshot(states), viewer, colour=False)
        if self.roll is not None:
            return f"{drawing}{self.roll.number} dice are rolled: {self.roll.counts}\n"
        left = self.rules.chance.deal_length - len(self.deal)
        if states is not self.states:
            return f"{drawing}stones are being dealt\n"
        return f"{drawing}{left} stones are still to be dealt\n" if left else drawing

    def move_list(self) -> list[int | Dice]:
        """What has happened after the deal, in order; not the action whose dice are in the air."""
        moves, cell = [], self.moves
        while cell is not None:
            cell, move = cell
            moves.append(move)
        moves.reverse()
        return moves


def events_of(deal: Sequence[Any], moves: Sequence[int | Dice], counts: Dice = ()) -> list[int]:
    """All outcomes and actions, as OpenSpiel's `history()` lists them."""
    events: list[int] = list(deal)
    for move in moves:
        if not isinstance(move, tuple):
            events.append(move)
            continue
        number = sum(move)
        for length in range(len(move) - 1):
            if complete_roll(number, move[:length]) is None:
                events.append(move[length])
    return [*events, *counts]


def replay(
    game: Game,
    options: Mapping[str, Any],
    deal: Deal,
    moves: Sequence[int | Dice],
    counts: Dice,
    root: bytes | None,
) -> Position:
    """The position that these outcomes and actions lead to; ValueError for one that is not possible."""
    rules = Rules(game, options)
    if root is None:
        position = Position.start(rules)
    else:
        position, deal = Position.begin_at(rules, np.frombuffer(root, game.kernel.state)), ()
    for event in events_of(deal, moves, counts):
        position = position.after(event)
    return position
