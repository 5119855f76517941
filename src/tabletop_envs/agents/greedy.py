"""The greedy agent: it looks one decision ahead and takes what the game's heuristic likes best.

For every legal action it plays the action in a copy of the game and asks the heuristic
(`evaluation`) what the position that follows is worth to the player who acted. Where a decision
takes several actions (a stone, its field, its direction in meeples), the copy is played on to the
end of the decision in every possible way, and the action is worth what the best way is worth. A
finished game is worth its rewards, so a winning action is always taken. Among equals all are
equally likely.

The copy is a guess: what the player cannot see, and later chance, are resampled, once a choice and
the same for all actions, so that luck favours none of them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_envs import evaluation
from tabletop_envs.agents import fingerprints
from tabletop_envs.agents.agent import GameAgent
from tabletop_envs.kernels import rng, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO, lowest_square
from tabletop_envs.kernels.engine import compiled_loop
from tabletop_envs.search.nodes import deal, play
from tabletop_envs.search.tree import AHEAD, HERE, Choices, Scratch, best_of_decision, new_scratch
from tabletop_envs.threads import next_size

if TYPE_CHECKING:
    from tabletop_envs.game import Game, State

__all__ = ["GreedyAgent"]

# The longest decision, in actions after its first, is of meeples: to choose a meeple and move it,
# a sidestep (2), a clone, a teleport.
LONGEST_DECISION = 5
# The lanes of an agent's first slice.
FIRST_SLICE = 64


class GreedyAgent(GameAgent):
    """Takes the action whose best outcome at the end of the decision the heuristic values most."""

    name = "greedy"

    def __init__(self) -> None:
        self._slice = FIRST_SLICE

    def fingerprint(self) -> str:
        """See `agents.fingerprint`."""
        return fingerprints.of_settings(self, fingerprints.settings(self), __file__)

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        evaluation.load(game)
        scratch = new_scratch(game, LONGEST_DECISION)
        first = 0
        while first < len(lanes):
            part = lanes[first : first + self._slice]
            begin = time.thread_time()
            choose_greedily(Choices(states, rngs, part, actions), legal_bits, scratch)
            first += len(part)
            self._slice = next_size(self._slice, len(part), time.thread_time() - begin)


@compiled_loop
def choose_greedily(choices: Choices, legal_bits: Any, scratch: Scratch) -> None:
    """`GreedyAgent.choose_lanes`; the guess at a position is `scratch.states[HERE]`."""
    states = scratch.states
    bits = np.int64(word_bits(states[HERE]))
    for lane in choices.lanes:
        player = choices.states[lane].to_move
        states[HERE] = choices.states[lane]
        generator = deal(states[HERE], player, choices.rngs[lane])
        best, best_worth, equals = np.int64(-1), -np.inf, ZERO
        for index in range(legal_bits.shape[1]):
            word = legal_bits[lane, index]
            while word != ZERO:
                action = index * bits + np.int64(lowest_square(word))
                word &= word - ONE
                states[AHEAD] = states[HERE]
                play(states[AHEAD], action)
                worth = best_of_decision(scratch, player)
                if best < 0 or worth > best_worth:
                    best, best_worth, equals = action, worth, ONE
                elif worth == best_worth:
                    # Each of the equals so far stays the choice with the same probability.
                    equals += ONE
                    generator, drawn = rng.below(generator, equals)
                    if drawn == ZERO:
                        best = action
        choices.rngs[lane] = generator
        choices.actions[lane] = best
