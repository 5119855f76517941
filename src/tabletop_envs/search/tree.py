"""UCT and its kin in compiled code: one tree a position, leaves valued by play-outs, by a heuristic or by both.

`search_lanes` is the only loop that Python calls; it serves one position whose tree lives on as
well as many positions that are searched one after the other in the same memory. It runs a limited
number of simulations and continues where it stopped, so that Python can handle signals in between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tabletop_envs import evaluation
from tabletop_envs.kernels import engine, rng, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO, jitable, lowest_square
from tabletop_envs.search.choosing import action_of, most_visited, select, select_ucb, take_stock
from tabletop_envs.search.nodes import (
    FULL,
    PUCT,
    UCB,
    USED_EDGES,
    USED_NODES,
    add_edges,
    back_up,
    clear,
    count_actions,
    deal,
    find_legal,
    is_over,
    keep_apart,
    open_child,
    play,
    settle,
)
from tabletop_envs.search.noise import uniform

# The places in `scratch`: the position of a simulation, and the first of those to look ahead.
HERE, AHEAD = 0, 1
# The longest decision, in actions after its first.
LONGEST_DECISION = 3
# How far chance moves the logits of actions: far enough to tell equals apart.
TIES = 1e-3
NUM_SCRATCH = AHEAD + LONGEST_DECISION + 1

# Where a call of `search_lanes` stopped: the place in `lanes` of the lane being searched, how many
# simulations it still needs (NEW: its search has not begun), and the generator to continue with.
PROGRESS = np.dtype([("place", np.int64), ("left", np.int64), ("generator", np.uint64)], align=True)
NEW = -1


def new_progress(place: int = 0) -> npt.NDArray[np.void]:
    """The progress of a search that begins with the lane at a place of `lanes`."""
    return np.array([(place, NEW, 0)], PROGRESS)


@jitable
def value(state: Any, values: Any) -> None:
    """Every player's value of a position: the rewards of a game that is over, the heuristic's estimate otherwise."""
    keep_apart()
    evaluation.evaluate(state, values)


@jitable
def goes_on(state: Any, mover: int) -> bool:
    """Whether a decision that `mover` has begun is not made yet."""
    return not is_over(state) and state.to_move == mover and not evaluation.is_settled(state)


@njit(inline="always")
def best_of_decision(scratch: Any, sets: Any, mover: int, values: Any) -> float:
    """What `scratch[AHEAD]` is worth to `mover`: the best that the rest of the decision in hand can lead to.

    The records behind `AHEAD`, and a row of `sets` for each action more, are overwritten.
    """
    if not goes_on(scratch[AHEAD], mover):
        value(scratch[AHEAD], values)
        return values[mover]
    bits = np.int64(word_bits(scratch[AHEAD]))
    best, level = -np.inf, 0
    find_legal(scratch[AHEAD], sets[0])
    while level >= 0:
        words = sets[level]
        index = 0
        while index < words.size and words[index] == ZERO:
            index += 1
        if index == words.size:
            level -= 1
            continue
        action = index * bits + np.int64(lowest_square(words[index]))
        words[index] &= words[index] - ONE
        state = scratch[AHEAD + level + 1]
        scratch[AHEAD + level + 1] = scratch[AHEAD + level]
        play(state, action)
        if level + 1 < LONGEST_DECISION and goes_on(state, mover):
            level += 1
            find_legal(state, sets[level])
        else:
            value(state, values)
            best = max(best, values[mover])
    return best


@njit(inline="always")
def look_ahead(
    scratch: Any,
    sets: Any,
    nodes: Any,
    parent: Any,
    edges: Any,
    start: int,
    to_the_end: bool,
    settings: Any,
    values: Any,
    generator: int,
) -> int:
    """Set the logits of a node's edges from number `start` on by what the positions behind them are worth to the mover.

    With `to_the_end` it is what the best way to the end of the decision is worth. Which of equals comes first is left to
    chance: the advanced generator.
    """
    mover = scratch[HERE].to_move
    for index in range(start, parent.count):
        scratch[AHEAD] = scratch[HERE]
        play(scratch[AHEAD], action_of(nodes, parent, edges, index))
        if to_the_end:
            estimate = best_of_decision(scratch, sets, mover, values)
        else:
            value(scratch[AHEAD], values)
            estimate = values[mover]
        generator, drawn = uniform(generator)
        edges[parent.first + index].logit = estimate / settings.temperature + TIES * drawn
    return generator


@njit(inline="always")
def play_out(state: Any, words: Any, counts: Any, generator: int, limit: int) -> int:
    """Play up to `limit` uniformly random actions; the advanced generator."""
    while limit > 0 and not is_over(state):
        find_legal(state, words)
        generator, action = engine.choose(state, words, counts, generator)
        play(state, action)
        limit -= 1
    return generator


@njit(inline="always")
def simulate(
    roots: Any,
    lane: int,
    scratch: Any,
    words: Any,
    left: Any,
    sets: Any,
    counts: Any,
    values: Any,
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    settings: Any,
    generator: int,
) -> int:
    """One simulation: from the root to a leaf, its expansion, its value, and the value on the way back; the generator."""
    scratch[HERE] = roots[lane]
    state = scratch[HERE]
    if settings.open:
        generator = deal(state, state.to_move, generator)
    node, length = 0, 1
    path[0] = 0
    # The decision in hand at the root is looked at to its end; for others that would take too long.
    mover, first_decision = state.to_move, settings.rule == PUCT
    while not is_over(state):
        parent = nodes[node]
        if settings.open or parent.count == 0:
            find_legal(state, words)
        known = parent.count
        if known == 0:
            if not add_edges(state, words, parent, edges, seen, used, 0.0):
                break
        elif settings.open and take_stock(state, words, left, nodes, parent, edges, seen) > 0:
            add_edges(state, left, parent, edges, seen, used, 0.0)
        if parent.count > known and settings.rule == PUCT:
            generator = look_ahead(
                scratch, sets, nodes, parent, edges, known, first_decision, settings, values,
                generator,
            )  # fmt: skip
        if known == 0:
            settle(parent, edges, seen)
            if length == 1 or not first_decision:
                break
        if settings.rule == UCB:
            generator, index = select_ucb(
                state, words, nodes, parent, edges, seen, settings, generator
            )
        else:
            index = select(state, words, nodes, parent, edges, seen, settings)
        if index < 0:
            # Legal are only actions that there was no room for.
            break
        if index == parent.tried:
            node = open_child(nodes, parent, edges, seen, used)
            if node < 0:
                break
        else:
            node = edges[parent.first + index].target
        play(state, np.int64(nodes[node].action))
        path[length] = node
        length += 1
        first_decision = first_decision and goes_on(state, mover)
    generator = play_out(state, words, counts, generator, settings.playout)
    value(state, values)
    back_up(nodes, path, length, values, state.num_players)
    return generator


@engine.compiled_loop
def search_lanes(
    roots: Any,
    samplers: Any,
    lanes: Any,
    actions: Any,
    simulations: int,
    resume: bool,
    limit: int,
    progress: Any,
    scratch: Any,
    work: Any,
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    settings: Any,
    last: int,
) -> int:
    """Search the positions of the lanes `lanes[place:last]` (int64) one after the other.

    None of the games `roots[lane]` is over.

    `progress` (a record of `PROGRESS`) has the place, and is moved on; results do not depend on the
    calls' `limit`, the most simulations that each runs. All chance of a lane comes from its place
    in `samplers` (uint64), and its choice is written to its place in `actions` (int64). With
    `resume` the tree is kept and grows by `simulations`, otherwise it is begun anew in every lane,
    and a lane with one legal action is not searched (which counts as a simulation here). `scratch`
    are `NUM_SCRATCH` records, `work` is `evaluation.workspace`. `edges` has room for all actions of
    the game at least. A search ends early once there is no room for a node. The number of
    simulations run.
    """
    words = np.zeros(engine.legal_words(roots[0]), np.uint64)
    left = np.zeros_like(words)
    sets = np.zeros((LONGEST_DECISION, words.size), np.uint64)
    counts = np.zeros(words.size // engine.GROUP, np.uint64)
    values = work[0].values
    rules = settings[0]
    place, wanted, generator = progress[0].place, progress[0].left, progress[0].generator
    run = 0
    while place < last and run < limit:
        lane = lanes[place]
        if wanted == NEW:
            samplers[lane] = rng.advance(samplers[lane])
            generator = rng.output(samplers[lane])
            if not resume or used[USED_NODES] == 0:
                clear(nodes, used)
                find_legal(roots[lane], words)
                if not resume and count_actions(words) == 1:
                    actions[lane] = first_action(roots[lane], words)
                    place += 1
                    run += 1
                    continue
            wanted = simulations + (nodes[0].visits == 0)
        count = min(wanted, limit - run)
        wanted -= count
        for _ in range(count):
            generator = simulate(
                roots, lane, scratch, words, left, sets, counts, values,
                nodes, edges, seen, used, path, rules, generator,
            )  # fmt: skip
            run += 1
            if used[FULL] and used[USED_NODES] == nodes.size:
                wanted = 0
                break
        actions[lane] = most_visited(nodes, edges, roots[lane].to_move)
        if wanted == 0:
            place += 1
            wanted = NEW
    progress[0].place, progress[0].left, progress[0].generator = place, wanted, generator
    return run


@jitable
def first_action(state: Any, words: Any) -> int:
    """The lowest action of a set that is not empty."""
    action = 0
    while not engine.is_legal(state, words, action):
        action += 1
    return action


@engine.compiled_loop
def move_tree(
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    root: int,
    new_nodes: Any,
    new_edges: Any,
    new_seen: Any,
    new_used: Any,
    new_path: Any,
) -> None:
    """Copy the part of a tree behind the node `root` into an empty tree of at least the same size, whose root it becomes."""
    # The new tree's nodes serve as the queue of what is still to be copied: `path` says where each comes from.
    new_used[:] = 0
    new_nodes[0] = nodes[root]
    path[0] = root
    count, place, node = 1, 0, 0
    while node < count:
        new = new_nodes[node]
        old_first = new.first
        new.first = place
        new.capacity = new.count
        for index in range(new.count):
            new_edges[place + index] = edges[old_first + index]
            if seen.size:
                new_seen[place + index] = seen[old_first + index]
            if index < new.tried:
                child = edges[old_first + index].target
                new_nodes[count] = nodes[child]
                path[count] = child
                new_edges[place + index].target = count
                count += 1
        place += new.count
        node += 1
    new_used[USED_NODES] = count
    new_used[USED_EDGES] = place
