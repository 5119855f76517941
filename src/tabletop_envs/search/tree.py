"""UCT and its kin in compiled code: one tree a position, leaves valued by play-outs or heuristics.

`search_lanes` is the only loop that Python calls; it serves one position whose tree is kept as well
as many positions that are searched one after the other in the same memory. It runs a limited number
of simulations and continues where it stopped, so that Python can handle signals in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tabletop_envs import evaluation
from tabletop_envs.game import Game
from tabletop_envs.kernels import engine, rng, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO, lowest_square
from tabletop_envs.search.choosing import most_visited, select, select_ucb, take_stock
from tabletop_envs.search.config import PUCT, UCB
from tabletop_envs.search.nodes import (
    FULL,
    USED_NODES,
    Tree,
    add_edges,
    back_up,
    borrowing,
    clear,
    count_actions,
    counting,
    deal,
    find_legal,
    is_over,
    keep_apart,
    open_child,
    play,
    settle,
)
from tabletop_envs.search.noise import uniform

# The places in `Scratch.states`: the position of a simulation, and the first of those to look
# ahead.
HERE, AHEAD = 0, 1
# The longest decision that a search looks at, in actions after its first.
LONGEST_DECISION = 3
# How far chance moves the logits of actions: far enough to tell equals apart.
TIES = 1e-3

# What calls of `search_lanes` are to do and how far they have come: simulations for each of the
# lanes at the places up to `last`; the place of the lane being searched, how many simulations it
# still needs (NEW: its search has not begun), and the generator to continue with.
JOB = np.dtype(
    [
        ("simulations", np.int64),
        ("keep", np.int64),  # whether the tree is kept, and grows
        ("last", np.int64),
        ("place", np.int64),
        ("left", np.int64),
        ("generator", np.uint64),
    ],
    align=True,
)
NEW = -1


class Choices(NamedTuple):
    """Positions, of which those of `lanes` are searched, their generators, and the choices."""

    states: npt.NDArray[np.void]
    rngs: npt.NDArray[np.uint64]
    lanes: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """What a simulation works in: positions, sets of actions, counts of them, and values."""

    states: npt.NDArray[np.void]
    legal_bits: npt.NDArray[np.uint64]
    left: npt.NDArray[np.uint64]
    sets: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint64]
    values: npt.NDArray[np.void]


def new_scratch(game: Game, longest_decision: int = LONGEST_DECISION) -> Scratch:
    """Scratch space, with the longest decision that is looked at (in actions after its first)."""
    legal_bits = engine.new_legal(game.kernel)
    return Scratch(
        np.zeros(AHEAD + longest_decision + 1, game.kernel.state),
        legal_bits,
        legal_bits.copy(),
        engine.new_legal(game.kernel, longest_decision),
        np.zeros(legal_bits.size // engine.GROUP, np.uint64),
        np.zeros(1, evaluation.VALUES),
    )


def new_job(simulations: int, first: int, last: int, *, keep: bool = False) -> npt.NDArray[np.void]:
    """The job of searching the lanes at the places from `first` up to `last` (not included)."""
    return np.array([(simulations, keep, last, first, NEW, 0)], JOB)


@counting
def value(state: Any, values: Any) -> None:
    """Every player's value: the rewards of a finished game, else the heuristic's estimate."""
    keep_apart()
    evaluation.evaluate(state, values)


@counting
def goes_on(state: Any, mover: int) -> bool:
    """Whether a decision that `mover` has begun is not made yet."""
    return not is_over(state) and state.to_move == mover and not evaluation.is_settled(state)


@counting
def best_of_decision(scratch: Scratch, mover: int) -> float:
    """What `scratch.states[AHEAD]` is worth to `mover` after the best rest of the decision in hand.

    The states behind `AHEAD`, and a row of `scratch.sets` for each action more, are overwritten.
    """
    states, sets, values = scratch.states, scratch.sets, scratch.values[0].values
    if not goes_on(states[AHEAD], mover):
        value(states[AHEAD], values)
        return values[mover]
    bits = np.int64(word_bits(states[AHEAD]))
    best, level = -np.inf, 0
    find_legal(states[AHEAD], sets[0])
    while level >= 0:
        legal_bits = sets[level]
        index = 0
        while index < legal_bits.size and legal_bits[index] == ZERO:
            index += 1
        if index == legal_bits.size:
            level -= 1
            continue
        action = index * bits + np.int64(lowest_square(legal_bits[index]))
        legal_bits[index] &= legal_bits[index] - ONE
        state = states[AHEAD + level + 1]
        states[AHEAD + level + 1] = states[AHEAD + level]
        play(state, action)
        if level + 1 < len(sets) and goes_on(state, mover):
            level += 1
            find_legal(state, sets[level])
        else:
            value(state, values)
            best = max(best, values[mover])
    return best


@counting
def look_ahead(
    scratch: Scratch,
    tree: Tree,
    parent: Any,
    start: int,
    to_the_end: bool,
    settings: Any,
    generator: int,
) -> int:
    """Set the logits of a node's untried edges from number `start` on; the advanced generator.

    They say what the positions behind the edges are worth to the mover, or with `to_the_end` what
    the best way to the end of the decision is worth. Which of equals comes first is left to chance.
    """
    states, values = scratch.states, scratch.values[0].values
    mover = states[HERE].to_move
    for index in range(start, parent.count):
        states[AHEAD] = states[HERE]
        edge = tree.edges[parent.first + index]
        play(states[AHEAD], np.int64(edge.target))
        if to_the_end:
            estimate = best_of_decision(scratch, mover)
        else:
            value(states[AHEAD], values)
            estimate = values[mover]
        generator, drawn = uniform(generator)
        edge.logit = estimate / settings.temperature + TIES * drawn
    return generator


@counting
def play_out(state: Any, scratch: Scratch, generator: int, limit: int) -> int:
    """Play up to `limit` uniformly random actions; the advanced generator."""
    while limit > 0 and not is_over(state):
        find_legal(state, scratch.legal_bits)
        generator, action = engine.choose(state, scratch.legal_bits, scratch.counts, generator)
        play(state, action)
        limit -= 1
    return generator


@counting
def simulate(root: Any, scratch: Scratch, tree: Tree, settings: Any, generator: int) -> int:
    """Run one simulation; the advanced generator.

    It goes from the root to a leaf, expands and values it, and takes the value back along its path.
    """
    state, values = scratch.states[HERE], scratch.values[0].values
    legal_bits, left = scratch.legal_bits, scratch.left
    scratch.states[HERE] = root
    if settings.information_set:
        generator = deal(state, state.to_move, generator)
    node, length = 0, 1
    tree.path[0] = 0
    # The decision in hand at the root is looked at to its end; for others it would take too long.
    mover, first_decision = state.to_move, settings.rule == PUCT
    while not is_over(state):
        parent = tree.nodes[node]
        if settings.information_set or parent.count == 0:
            find_legal(state, legal_bits)
        known = parent.count
        if known == 0:
            if not add_edges(state, legal_bits, tree, parent, 0.0):
                break
        elif settings.information_set and take_stock(state, legal_bits, left, tree, parent) > 0:
            add_edges(state, left, tree, parent, 0.0)
        if parent.count > known and settings.rule == PUCT:
            generator = look_ahead(
                scratch, tree, parent, known, first_decision, settings, generator
            )
        if known == 0:
            settle(tree, parent)
            if length == 1 or not first_decision:
                break
        if settings.rule == UCB:
            generator, index = select_ucb(state, legal_bits, tree, parent, settings, generator)
        else:
            index = select(state, legal_bits, tree, parent, settings)
        if index < 0:
            # Legal are only actions that there was no room for.
            break
        if index == parent.tried:
            node = open_child(tree, parent)
            if node < 0:
                break
        else:
            node = tree.edges[parent.first + index].target
        play(state, np.int64(tree.nodes[node].action))
        tree.path[length] = node
        length += 1
        first_decision = first_decision and goes_on(state, mover)
    generator = play_out(state, scratch, generator, settings.playout)
    value(state, values)
    back_up(tree, length, values, state.num_players)
    return generator


@engine.compiled_loop
def search_lanes(
    choices: Choices, tree: Tree, scratch: Scratch, settings: Any, jobs: Any, limit: int
) -> int:
    """Continue a job, one lane after the other, by up to `limit` simulations; how many were run.

    Results do not depend on `limit`. All randomness of a lane comes from its place in
    `choices.rngs`, and its choice is written to its place in `choices.actions`; none of the games
    is over. Unless the job keeps the tree, it is begun anew in every lane, and a lane with one
    legal action is not searched (which counts as a simulation here). A search ends early once there
    is no room for a node.

    Args:
        choices: The lanes.
        tree: Its `edges` have room for all actions of the game at least.
        scratch: `new_scratch`.
        settings: A record of `SETTINGS`.
        jobs: A record of `JOB`, which is moved on.
        limit: The most simulations of this call.
    """
    job, rules = jobs[0], settings[0]
    place, left, generator = job.place, job.left, job.generator
    run = 0
    while place < job.last and run < limit:
        lane = choices.lanes[place]
        root = choices.states[lane]
        if left == NEW:
            choices.rngs[lane] = rng.advance(choices.rngs[lane])
            generator = rng.output(choices.rngs[lane])
            if not job.keep or tree.used[USED_NODES] == 0:
                clear(tree)
                find_legal(root, scratch.legal_bits)
                if not job.keep and count_actions(scratch.legal_bits) == 1:
                    choices.actions[lane] = first_action(root, scratch.legal_bits)
                    place += 1
                    run += 1
                    continue
            left = job.simulations + (tree.nodes[0].visits == 0)
        count = min(left, limit - run)
        left -= count
        for _ in range(count):
            generator = simulate(root, scratch, tree, rules, generator)
            run += 1
            if tree.used[FULL] and tree.used[USED_NODES] == tree.nodes.size:
                left = 0
                break
        choices.actions[lane] = most_visited(tree, root.to_move)
        if left == 0:
            place += 1
            left = NEW
    job.place, job.left, job.generator = place, left, generator
    return run


@borrowing
def first_action(state: Any, legal_bits: Any) -> int:
    """The lowest action of a set that is not empty."""
    action = 0
    while not engine.is_legal(state, legal_bits, action):
        action += 1
    return action
