"""Which edge a simulation takes, by PUCT or UCB1, and a search's final choice, in compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_envs.kernels import engine, rng, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO
from tabletop_envs.search.nodes import Tree, borrowing, count_actions, swap_edges


@borrowing
def take_stock(state: Any, legal_bits: Any, left: Any, tree: Tree, parent: Any) -> int:
    """In an information set: count every legal edge as seen; how many legal actions have no edge.

    `left` becomes the set of those.
    """
    for index in range(legal_bits.size):
        left[index] = legal_bits[index]
    bits = np.uint64(word_bits(state))
    for index in range(parent.count):
        action = np.uint64(action_of(tree, parent, index))
        bit = ONE << (action % bits)
        if left[action // bits] & bit != ZERO:
            left[action // bits] ^= bit
            tree.seen[parent.first + index] += 1
    return count_actions(left)


@borrowing
def action_of(tree: Tree, parent: Any, index: int) -> int:
    """The action of a node's edge number `index`, tried or not."""
    target = tree.edges[parent.first + index].target
    return np.int64(tree.nodes[target].action if index < parent.tried else target)


@borrowing
def find_frontier(state: Any, legal_bits: Any, tree: Tree, parent: Any) -> bool:
    """In an information set: make the best legal untried edge the next one; False without any."""
    edges = tree.edges
    place = parent.first + parent.tried
    best = -1
    for other in range(place, parent.first + parent.count):
        better = best < 0 or edges[other].logit > edges[best].logit
        if better and engine.is_legal(state, legal_bits, edges[other].target):
            best = other
    if best > place:
        swap_edges(tree, place, best)
    return best >= 0


@borrowing
def select(state: Any, legal_bits: Any, tree: Tree, parent: Any, settings: Any) -> int:
    """The number of the edge with the highest PUCT score for the player to move; −1 without any.

    Score: mean value + exploration · prior · √(visits of the node) / (1 + visits of the edge). The
    mean value of an untried edge is its estimate, or the mean of its node, less `fpu_reduction`.
    """
    edges, seen = tree.edges, tree.seen
    mover = state.to_move
    best, best_score = -1, -math.inf
    spread = settings.exploration * math.sqrt(parent.visits)
    for index in range(parent.tried):
        place = parent.first + index
        child = tree.nodes[edges[place].target]
        if seen.size:
            if not engine.is_legal(state, legal_bits, child.action):
                continue
            spread = settings.exploration * math.sqrt(seen[place])
        visits = child.visits
        score = child.total[mover] / visits + child.prior * spread / (1 + visits)
        if score > best_score:
            best, best_score = index, score
    if parent.tried < parent.count:
        if seen.size and not find_frontier(state, legal_bits, tree, parent):
            return best
        place = parent.first + parent.tried
        logit = edges[place].logit
        if seen.size:
            spread = settings.exploration * math.sqrt(seen[place])
        if settings.estimates:
            mean = logit * settings.temperature
        else:
            mean = parent.total[mover] / parent.visits
        score = mean - settings.fpu_reduction + math.exp(logit - parent.log_total) * spread
        if score > best_score:
            best = parent.tried
    return best


@borrowing
def select_ucb(
    state: Any, legal_bits: Any, tree: Tree, parent: Any, settings: Any, generator: int
) -> tuple[int, int]:
    """The advanced generator, and the number of a random untried edge, else of the best by UCB1.

    Score: mean value + exploration · √(ln(visits of the node) / visits of the edge).
    """
    edges, seen = tree.edges, tree.seen
    mover = state.to_move
    if parent.tried < parent.count:
        # Of the legal untried edges, a random one comes next.
        place, legal = parent.first + parent.tried, 0
        for other in range(place, parent.first + parent.count):
            legal += not seen.size or engine.is_legal(state, legal_bits, edges[other].target)
        if legal:
            generator, drawn = rng.below(generator, np.uint64(legal))
            nth = np.int64(drawn)
            for other in range(place, parent.first + parent.count):
                if not seen.size or engine.is_legal(state, legal_bits, edges[other].target):
                    if nth == 0:
                        swap_edges(tree, place, other)
                        break
                    nth -= 1
            return generator, parent.tried
    best, best_score = -1, -math.inf
    spread = math.log(max(parent.visits, 1))
    for index in range(parent.tried):
        place = parent.first + index
        child = tree.nodes[edges[place].target]
        if seen.size:
            if not engine.is_legal(state, legal_bits, child.action):
                continue
            spread = math.log(max(seen[place], 1))
        mean = child.total[mover] / child.visits
        score = mean + settings.exploration * math.sqrt(spread / child.visits)
        if score > best_score:
            best, best_score = index, score
    return generator, best


@borrowing
def most_visited(tree: Tree, mover: int) -> int:
    """The root's action with the most visits; ties: the higher mean value, then the lower action.

    Without any visits it is the action that would be tried first. The root has edges: there is
    always room for its own.
    """
    root = tree.nodes[0]
    best, best_visits, best_value = -1, 0, 0.0
    for index in range(root.tried):
        child = tree.nodes[tree.edges[root.first + index].target]
        if child.visits == 0:
            continue
        value = child.total[mover] / child.visits
        level = child.visits == best_visits
        if (
            child.visits > best_visits
            or (level and value > best_value)
            or (level and value == best_value and child.action < best)
        ):
            best, best_visits, best_value = child.action, child.visits, value
    if best < 0:
        best = action_of(tree, root, 0)
    return best
