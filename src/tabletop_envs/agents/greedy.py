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
from tabletop_envs.evaluation import evaluate, is_settled
from tabletop_envs.kernels import RUNNING, deal_hidden, legal_actions, rng, step, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO, lowest_square
from tabletop_envs.kernels.engine import compiled_loop, legal_words, num_words
from tabletop_envs.search.tree import Choices
from tabletop_envs.threads import next_size

if TYPE_CHECKING:
    from tabletop_envs.game import Game, State

__all__ = ["GreedyAgent"]

# The longest decision, in actions, is of meeples: to choose a meeple and move it (2), a sidestep
# (2), a clone, a teleport.
LONGEST_DECISION = 6
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
        copies = np.zeros(LONGEST_DECISION + 1, game.kernel.state)
        work = np.zeros(1, evaluation.VALUES)
        first = 0
        while first < len(lanes):
            part = lanes[first : first + self._slice]
            begin = time.thread_time()
            choices = Choices(states, rngs, part, actions)
            choose_greedily(choices, legal_bits, copies, work)
            first += len(part)
            self._slice = next_size(self._slice, len(part), time.thread_time() - begin)


@compiled_loop
def choose_greedily(choices: Choices, legal_bits: Any, copies: Any, work: Any) -> None:
    """`GreedyAgent.choose_lanes` on scratch states `copies` and one `evaluation.VALUES`, `work`."""
    states, rngs, actions = choices.states, choices.rngs, choices.actions
    size, bits = num_words(states[0]), word_bits(states[0])
    sets = np.zeros((LONGEST_DECISION, legal_words(states[0])), np.uint64)
    next_word = np.zeros(LONGEST_DECISION, np.int64)
    values = work[0].values
    for lane in choices.lanes:
        player = states[lane].to_move
        generator = rng.advance(rngs[lane])
        copies[0] = states[lane]
        deal_hidden(copies[0], player, rng.output(generator))
        for index in range(size):
            sets[0, index] = legal_bits[lane, index]
        next_word[0] = 0
        level, first, worth = 0, np.int64(-1), -np.inf
        best, best_worth, equals = np.int64(-1), -np.inf, ZERO
        while level >= 0:
            index = next_word[level]
            while index < size and sets[level, index] == ZERO:
                index += 1
            next_word[level] = index
            if level == 0 and first >= 0:
                # All that can follow on `first` has been seen.
                if best < 0 or worth > best_worth:
                    best, best_worth, equals = first, worth, ONE
                elif worth == best_worth:
                    # Each of the equals so far stays the choice with the same probability.
                    equals += ONE
                    generator, drawn = rng.below(generator, equals)
                    if drawn == ZERO:
                        best = first
                worth = -np.inf
            if index == size:
                level -= 1
                continue
            action = index * bits + np.int64(lowest_square(sets[level, index]))
            sets[level, index] &= sets[level, index] - ONE
            if level == 0:
                first = action
            copies[level + 1] = copies[level]
            state = copies[level + 1]
            step(state, action)
            if (
                state.status == RUNNING
                and state.to_move == player
                and level + 1 < LONGEST_DECISION
                and not is_settled(state)
            ):
                level += 1
                legal_actions(state, sets[level])
                next_word[level] = 0
                continue
            evaluate(state, values)
            worth = max(worth, values[player])
        rngs[lane] = generator
        actions[lane] = best
