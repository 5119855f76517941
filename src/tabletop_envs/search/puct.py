"""Batched PUCT in compiled code: every lane grows a tree of its own, a round adds one leaf to each.

A round is `gather_lanes` (every lane plays to a leaf and shows it), one call of the user's network for all leaves, and
`expand_lanes` (priors and values go into the trees). Lanes do not touch each other: both loops take `first` and
`last` (not included) and may run in threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tabletop_envs.kernels import engine, observe
from tabletop_envs.kernels.bits import jitable
from tabletop_envs.search.choosing import most_visited, select, take_stock
from tabletop_envs.search.nodes import (
    add_edges,
    back_up,
    bring_forward,
    clear,
    deal,
    find_legal,
    is_over,
    open_child,
    play,
    settle,
)
from tabletop_envs.search.noise import gamma, uniform

# What a round finds in a lane: a leaf for the network, or a finished game, whose rewards are in the tree already.
DONE, WAITING = 0, 1
# What can be wrong with a network's answer for a lane.
FINE, BAD_POLICY, BAD_VALUE = 0, 1, 2
# The lowest prior that a logit stands for.
TINY = 1e-30


@njit(inline="always")
def descend(
    roots: Any,
    lane: int,
    leaves: Any,
    words: Any,
    left: Any,
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    settings: Any,
    generator: int,
) -> tuple[int, int]:
    """Play from a lane's root to a leaf, `leaves[lane]`: the advanced generator and the length of the path.

    Of a leaf whose game runs, `words` becomes the set of legal actions.
    """
    leaves[lane] = roots[lane]
    state = leaves[lane]
    if settings.open:
        generator = deal(state, state.to_move, generator)
    node, length = 0, 1
    path[0] = 0
    while not is_over(state):
        parent = nodes[node]
        if settings.open or parent.count == 0:
            find_legal(state, words)
        if parent.count == 0:
            break
        if settings.open and take_stock(state, words, left, nodes, parent, edges, seen) > 0:
            # What the network has not been asked for gets an average prior.
            logit = parent.log_total - math.log(parent.count)
            add_edges(state, left, parent, edges, seen, used, logit)
        index = select(state, words, nodes, parent, edges, seen, settings)
        if index < 0:
            break
        if index == parent.tried:
            node = open_child(nodes, parent, edges, seen, used)
        else:
            node = edges[parent.first + index].target
        play(state, np.int64(nodes[node].action))
        path[length] = node
        length += 1
    return generator, length


@engine.compiled_loop
def gather_lanes(
    roots: Any,
    leaves: Any,
    generators: Any,
    legal: Any,
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    lengths: Any,
    waiting: Any,
    settings: Any,
    observation: Any,
    mask: Any,
    start: bool,
    uniform_rounds: int,
    first: int,
    last: int,
) -> None:
    """Play to a leaf in every lane and show it: its observation, its mask, and in `waiting` whether it is WAITING for a value.

    With `start` the trees are begun anew. Where a game is over at the leaf, its rewards are backed up at once, and its rows are
    zeros (the mask ones). With `uniform_rounds` > 0 so many simulations are run in every lane, all leaves valued at 0 with
    even priors, and nothing is shown.
    """
    left = np.zeros(engine.legal_words(roots[0]), np.uint64)
    values = np.zeros(engine.MAX_PLAYERS)
    zeros = np.zeros(engine.MAX_PLAYERS)
    scratch = np.zeros(observation.shape[1], np.int8)
    rules = settings[0]
    for lane in range(first, last):
        own_nodes, own_edges, own_seen = nodes[lane], edges[lane], seen[lane]
        own_used, own_path, words = used[lane], path[lane], legal[lane]
        if start:
            clear(own_nodes, own_used)
        for _ in range(max(uniform_rounds, 1)):
            generators[lane], length = descend(
                roots, lane, leaves, words, left, own_nodes, own_edges, own_seen,
                own_used, own_path, rules, generators[lane],
            )  # fmt: skip
            state = leaves[lane]
            leaf = own_nodes[own_path[length - 1]]
            if is_over(state):
                engine.write_rewards(state, values)
                back_up(own_nodes, own_path, length, values, state.num_players)
            elif uniform_rounds > 0:
                if leaf.count == 0 and add_edges(
                    state, words, leaf, own_edges, own_seen, own_used, 0.0
                ):
                    leaf.log_total = math.log(leaf.count)
                    if length == 1:
                        generators[lane] = add_noise(
                            leaf, own_edges, own_seen, rules, generators[lane]
                        )
                back_up(own_nodes, own_path, length, zeros, state.num_players)
        if uniform_rounds > 0:
            continue
        lengths[lane] = length
        waiting[lane] = DONE if is_over(state) else WAITING
        if waiting[lane] == WAITING:
            observe(state, state.to_move, scratch)
            for index in range(observation.shape[1]):
                observation[lane, index] = scratch[index]
            engine.write_mask(state, words, mask[lane])
        else:
            observation[lane, :] = 0
            mask[lane, :] = 1


@jitable
def add_noise(root: Any, edges: Any, seen: Any, settings: Any, generator: int) -> int:
    """Mix Dirichlet noise into the priors of a root without tried edges; the advanced generator."""
    if settings.fraction <= 0.0:
        return generator
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
    bring_forward(root, edges, seen)
    return generator


@jitable
def write_logits(parent: Any, edges: Any, seen: Any, policy: Any, gives_priors: bool) -> bool:
    """Give new edges the network's logits (or the logarithms of its priors); False where a number is impossible."""
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
    settle(parent, edges, seen)
    return True


@engine.compiled_loop
def expand_lanes(
    leaves: Any,
    generators: Any,
    legal: Any,
    nodes: Any,
    edges: Any,
    seen: Any,
    used: Any,
    path: Any,
    lengths: Any,
    waiting: Any,
    settings: Any,
    policy: Any,
    leaf_values: Any,
    gives_priors: bool,
    wrong: Any,
    first: int,
    last: int,
) -> None:
    """Take the network's answer for every waiting lane into its tree.

    `policy` (float32, a row of actions a lane) are logits or priors; `leaf_values` (float32) has one column, the value for the player
    in turn, or one for each player, beginning with the player in turn and going on in turn order. In `wrong` (int64) is said
    what is the matter with a lane's answer; its tree is as before then.
    """
    values = np.zeros(engine.MAX_PLAYERS)
    rules = settings[0]
    for lane in range(first, last):
        wrong[lane] = FINE
        if waiting[lane] != WAITING:
            continue
        state, own_nodes, own_edges = leaves[lane], nodes[lane], edges[lane]
        players, mover, length = state.num_players, state.to_move, lengths[lane]
        leaf = own_nodes[path[lane, length - 1]]
        for column in range(leaf_values.shape[1]):
            if not math.isfinite(leaf_values[lane, column]):
                wrong[lane] = BAD_VALUE
        if wrong[lane] != FINE:
            continue
        if leaf.count == 0 and add_edges(
            state, legal[lane], leaf, own_edges, seen[lane], used[lane], 0.0
        ):
            if not write_logits(leaf, own_edges, seen[lane], policy[lane], gives_priors):
                wrong[lane] = BAD_POLICY
                continue
            if length == 1:
                generators[lane] = add_noise(leaf, own_edges, seen[lane], rules, generators[lane])
        for turn in range(players):
            player = (mover + turn) % players
            if leaf_values.shape[1] > 1:
                values[player] = leaf_values[lane, turn]
            elif turn == 0:
                values[player] = leaf_values[lane, 0]
            else:
                values[player] = -leaf_values[lane, 0] / (players - 1)
        back_up(own_nodes, path[lane], length, values, players)
        waiting[lane] = DONE


@engine.compiled_loop
def finish_lanes(
    roots: Any,
    generators: Any,
    nodes: Any,
    edges: Any,
    temperature: float,
    visits: Any,
    values: Any,
    actions: Any,
) -> None:
    """Write every lane's visits of each action (int32), every player's mean value (float64), and the action chosen (int64).

    The action is drawn with probabilities in proportion to visits to the power of 1 / temperature; with temperature 0 it is the
    most visited one.
    """
    for lane in range(roots.size):
        root, own_nodes, own_edges = nodes[lane, 0], nodes[lane], edges[lane]
        visits[lane, :] = 0
        for player in range(values.shape[1]):
            values[lane, player] = root.total[player] / max(root.visits, 1)
        most = 1
        for index in range(root.tried):
            child = own_nodes[own_edges[root.first + index].target]
            visits[lane, child.action] = child.visits
            most = max(most, child.visits)
        actions[lane] = most_visited(own_nodes, own_edges, roots[lane].to_move)
        if temperature > 0.0 and root.tried > 0:
            total = 0.0
            for action in range(visits.shape[1]):
                if visits[lane, action] > 0:
                    total += (visits[lane, action] / most) ** (1.0 / temperature)
            generators[lane], drawn = uniform(generators[lane])
            remaining = drawn * total
            for action in range(visits.shape[1]):
                if visits[lane, action] > 0:
                    remaining -= (visits[lane, action] / most) ** (1.0 / temperature)
                    if remaining < 0.0:
                        actions[lane] = action
                        break
