"""Batched PUCT in compiled code: every lane grows its own tree, a round adds one leaf to each.

A round is `gather_lanes` (every lane plays to a leaf and shows it), one call of the user's network
for all leaves, and `expand_lanes` (priors and values go into the trees). Lanes do not touch each
other: both loops take `first` and `last` (not included) and may run in threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tabletop_envs.kernels import engine, observe
from tabletop_envs.search.choosing import most_visited, select, take_stock
from tabletop_envs.search.nodes import (
    USED_NODES,
    Tree,
    add_edges,
    back_up,
    borrowing,
    bring_forward,
    clear,
    counting,
    deal,
    find_legal,
    is_over,
    open_child,
    play,
    settle,
    tree_of,
)
from tabletop_envs.search.noise import gamma, uniform

# How a lane's round stands: its leaf is a finished game, whose rewards are in the tree already, or
# waits for the network, or the network's answer is invalid.
DONE, WAITING, BAD_POLICY, BAD_VALUE = 0, 1, 2, 3
# The lowest prior that a logit stands for.
TINY = 1e-30


class Leaves(NamedTuple):
    """Where the lanes' simulations have come to, one row a lane.

    `rngs` (uint64) are the generators, `states` the positions of the leaves, `legal_bits` their
    sets of legal actions, and `lengths` (int64) the lengths of the paths. `status` (int8) is DONE,
    WAITING, BAD_POLICY or BAD_VALUE. `observation` (int8 or float32) and `mask` (bool) are what the
    network gets.
    """

    rngs: npt.NDArray[np.uint64]
    states: npt.NDArray[np.void]
    legal_bits: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.int64]
    status: npt.NDArray[np.int8]
    observation: npt.NDArray[np.int8 | np.float32]
    mask: npt.NDArray[np.bool_]


@borrowing
def descend(
    state: Any, legal_bits: Any, left: Any, tree: Tree, settings: Any, generator: int
) -> tuple[int, int]:
    """Play from the root, `state`, to a leaf: the advanced generator and the length of the path.

    Of a leaf whose game runs, `legal_bits` becomes the set of legal actions.
    """
    if settings.information_set:
        generator = deal(state, state.to_move, generator)
    node, length = 0, 1
    tree.path[0] = 0
    while not is_over(state):
        parent = tree.nodes[node]
        if settings.information_set or parent.count == 0:
            find_legal(state, legal_bits)
        if parent.count == 0:
            break
        if settings.information_set and take_stock(state, legal_bits, left, tree, parent) > 0:
            # What the network has not been asked for gets an average prior.
            logit = parent.log_total - math.log(parent.count)
            add_edges(state, left, tree, parent, logit)
        index = select(state, legal_bits, tree, parent, settings)
        if index < 0:
            break
        if index == parent.tried:
            node = open_child(tree, parent)
        else:
            node = tree.edges[parent.first + index].target
        play(state, np.int64(tree.nodes[node].action))
        tree.path[length] = node
        length += 1
    return generator, length


@engine.compiled_loop
def gather_lanes(
    roots: Any,
    leaves: Leaves,
    trees: Tree,
    settings: Any,
    uniform_rounds: int,
    first: int,
    last: int,
) -> None:
    """Play to a leaf in every lane and show it: its observation, its mask, and whether it waits.

    Where a game is over at the leaf, its rewards are backed up at once, and its rows are zeros (the
    mask ones). With `uniform_rounds` > 0 so many simulations are run in every lane, all leaves
    valued at 0 with even priors, and nothing is shown.
    """
    left = np.zeros(engine.legal_words(roots[0]), np.uint64)
    values = np.zeros(engine.MAX_PLAYERS)
    zeros = np.zeros(engine.MAX_PLAYERS)
    scratch = np.zeros(leaves.observation.shape[1], np.int8)
    for lane in range(first, last):
        tree, legal_bits, state = tree_of(trees, lane), leaves.legal_bits[lane], leaves.states[lane]
        if tree.used[USED_NODES] == 0:
            clear(tree)
        for _ in range(max(uniform_rounds, 1)):
            leaves.states[lane] = roots[lane]
            generator, length = descend(
                state, legal_bits, left, tree, settings[0], leaves.rngs[lane]
            )
            leaf = tree.nodes[tree.path[length - 1]]
            if is_over(state):
                engine.write_rewards(state, values)
                back_up(tree, length, values, state.num_players)
            elif uniform_rounds > 0:
                if leaf.count == 0 and add_edges(state, legal_bits, tree, leaf, 0.0):
                    leaf.log_total = math.log(leaf.count)
                    if length == 1:
                        generator = add_noise(tree, settings[0], generator)
                back_up(tree, length, zeros, state.num_players)
            leaves.rngs[lane] = generator
        if uniform_rounds > 0:
            continue
        leaves.lengths[lane] = length
        leaves.status[lane] = DONE if is_over(state) else WAITING
        if leaves.status[lane] == WAITING:
            observe(state, state.to_move, scratch)
            for index in range(scratch.size):
                leaves.observation[lane, index] = scratch[index]
            engine.write_mask(state, legal_bits, leaves.mask[lane])
        else:
            leaves.observation[lane, :] = 0
            leaves.mask[lane, :] = 1


@counting
def add_noise(tree: Tree, settings: Any, generator: int) -> int:
    """Mix Dirichlet noise into the priors of a root without tried edges; the advanced generator."""
    if settings.fraction <= 0.0:
        return generator
    root, edges = tree.nodes[0], tree.edges
    place, end = root.first, root.first + root.count
    total = 0.0
    noise = np.empty(root.count)
    for index in range(place, end):
        generator, noise[index - place] = gamma(generator, settings.alpha)
        total += noise[index - place]
    for index in range(place, end):
        prior = math.exp(edges[index].logit - root.log_total)
        share = noise[index - place] / total if total > 0.0 else 1.0 / root.count
        mixed = (1.0 - settings.fraction) * prior + settings.fraction * share
        edges[index].logit = math.log(max(mixed, TINY))
    root.log_total = 0.0
    bring_forward(tree, root)
    return generator


@borrowing
def write_logits(tree: Tree, parent: Any, policy: Any, gives_priors: bool) -> bool:
    """Give new edges the logits of `policy`, or the logarithms of its priors; False if invalid."""
    edges = tree.edges
    highest = -np.inf
    for index in range(parent.first, parent.first + parent.count):
        number = np.float64(policy[edges[index].target])
        if gives_priors:
            if not 0.0 <= number < np.inf:
                return False
            number = math.log(max(number, TINY))
        elif math.isnan(number) or number == np.inf:
            return False
        edges[index].logit = number
        highest = max(highest, number)
    for index in range(parent.first, parent.first + parent.count):
        # A finite floor: priors of zero stay (almost) zero, and if all are, they are even.
        edges[index].logit = max(edges[index].logit - highest, -70.0) if highest > -np.inf else 0.0
    settle(tree, parent)
    return True


@engine.compiled_loop
def expand_lanes(
    leaves: Leaves,
    trees: Tree,
    settings: Any,
    policy: Any,
    leaf_values: Any,
    first: int,
    last: int,
) -> None:
    """Take the network's answer for every waiting lane into its tree.

    `policy` (float32, a row of actions a lane) are logits or priors; `leaf_values` (float32) has
    one column, the value for the player to move, or one for each player, beginning with the player
    to move, in turn order. A lane whose answer is invalid gets the status BAD_POLICY or BAD_VALUE,
    and no visit.
    """
    values = np.zeros(engine.MAX_PLAYERS)
    for lane in range(first, last):
        if leaves.status[lane] != WAITING:
            continue
        state, tree, length = leaves.states[lane], tree_of(trees, lane), leaves.lengths[lane]
        players, mover = state.num_players, state.to_move
        leaf = tree.nodes[tree.path[length - 1]]
        for column in range(leaf_values.shape[1]):
            if not math.isfinite(leaf_values[lane, column]):
                leaves.status[lane] = BAD_VALUE
        if leaves.status[lane] == BAD_VALUE:
            continue
        if leaf.count == 0 and add_edges(state, leaves.legal_bits[lane], tree, leaf, 0.0):
            if not write_logits(tree, leaf, policy[lane], settings[0].gives_priors != 0):
                leaves.status[lane] = BAD_POLICY
                continue
            if length == 1:
                leaves.rngs[lane] = add_noise(tree, settings[0], leaves.rngs[lane])
        for turn in range(players):
            player = (mover + turn) % players
            if leaf_values.shape[1] > 1:
                values[player] = leaf_values[lane, turn]
            elif turn == 0:
                values[player] = leaf_values[lane, 0]
            else:
                values[player] = -leaf_values[lane, 0] / (players - 1)
        back_up(tree, length, values, players)
        leaves.status[lane] = DONE


@engine.compiled_loop
def finish_lanes(
    roots: Any, rngs: Any, trees: Tree, temperature: float, visits: Any, values: Any, actions: Any
) -> None:
    """Write every lane's visits of each action, every player's mean value, and a chosen action.

    `visits` are int32, `values` float64, `actions` int64. The action is drawn with probabilities in
    proportion to visits to the power of 1 / temperature; with temperature 0 it is the most visited.
    """
    for lane in range(roots.size):
        tree = tree_of(trees, lane)
        root = tree.nodes[0]
        visits[lane, :] = 0
        for player in range(values.shape[1]):
            values[lane, player] = root.total[player] / max(root.visits, 1)
        most = 1
        for index in range(root.tried):
            child = tree.nodes[tree.edges[root.first + index].target]
            visits[lane, child.action] = child.visits
            most = max(most, child.visits)
        actions[lane] = most_visited(tree, roots[lane].to_move)
        if temperature > 0.0 and root.tried > 0:
            total = 0.0
            for action in range(visits.shape[1]):
                if visits[lane, action] > 0:
                    total += (visits[lane, action] / most) ** (1.0 / temperature)
            rngs[lane], drawn = uniform(rngs[lane])
            remaining = drawn * total
            for action in range(visits.shape[1]):
                if visits[lane, action] > 0:
                    remaining -= (visits[lane, action] / most) ** (1.0 / temperature)
                    if remaining < 0.0:
                        actions[lane] = action
                        break
