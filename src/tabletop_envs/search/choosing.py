"""Which edge a simulation takes, by PUCT or by UCB1, and which action a search chooses in the end, in compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_envs.kernels import engine, rng, word_bits
from tabletop_envs.kernels.bits import ONE, ZERO, jitable
from tabletop_envs.search.nodes import count_actions, swap_edges


@jitable
def take_stock(
    state: Any, words: Any, left: Any, nodes: Any, parent: Any, edges: Any, seen: Any
) -> int:
    """In an open game: count every legal edge of a node as seen; how many legal actions have no edge.

    `left` becomes the set of those.
    """
    for index in range(words.size):
        left[index] = words[index]
    bits = np.uint64(word_bits(state))
    for index in range(parent.count):
        place = parent.first + index
        action = np.uint64(action_of(nodes, parent, edges, index))
        bit = ONE << (action % bits)
        if left[action // bits] & bit != ZERO:
            left[action // bits] ^= bit
            seen[place] += 1
    return count_actions(left)


@jitable
def action_of(nodes: Any, parent: Any, edges: Any, index: int) -> int:
    """The action of a node's edge number `index`, tried or not."""
    target = edges[parent.first + index].target
    return np.int64(nodes[target].action if index < parent.tried else target)


@jitable
def find_frontier(state: Any, words: Any, parent: Any, edges: Any, seen: Any) -> bool:
    """In an open game: make the legal untried edge with the highest logit the next to be tried; False if there is none."""
    place = parent.first + parent.tried
    best = -1
    for other in range(place, parent.first + parent.count):
        better = best < 0 or edges[other].logit > edges[best].logit
        if better and engine.is_legal(state, words, edges[other].target):
            best = other
    if best > place:
        swap_edges(edges, seen, place, best)
    return best >= 0


@jitable
def select(
    state: Any, words: Any, nodes: Any, parent: Any, edges: Any, seen: Any, settings: Any
) -> int:
    """The number of the edge with the highest PUCT score for the player in turn.

    Score: mean value + exploration · prior · √(visits of the node) / (1 + visits of the edge). The mean value of an untried
    edge is its estimate, or the mean of its node, less `urgency`.
    """
    mover = state.to_move
    best, best_score = -1, -math.inf
    spread = settings.exploration * math.sqrt(parent.visits)
    for index in range(parent.tried):
        place = parent.first + index
        child = nodes[edges[place].target]
        if seen.size:
            if not engine.is_legal(state, words, child.action):
                continue
            spread = settings.exploration * math.sqrt(seen[place])
        visits = child.visits
        score = child.total[mover] / visits + child.prior * spread / (1 + visits)
        if score > best_score:
            best, best_score = index, score
    if parent.tried < parent.count:
        if seen.size and not find_frontier(state, words, parent, edges, seen):
            return best
        place = parent.first + parent.tried
        logit = edges[place].logit
        if seen.size:
            spread = settings.exploration * math.sqrt(seen[place])
        if settings.estimates:
            mean = logit * settings.temperature
        else:
            mean = parent.total[mover] / parent.visits
        score = mean - settings.urgency + math.exp(logit - parent.log_total) * spread
        if score > best_score:
            best = parent.tried
    return best


@jitable
def select_ucb(
    state: Any,
    words: Any,
    nodes: Any,
    parent: Any,
    edges: Any,
    seen: Any,
    settings: Any,
    generator: int,
) -> tuple[int, int]:
    """The advanced generator, and the number of a random untried edge, or where all are tried of the best by UCB1.

    Score: mean value + exploration · √(ln(visits of the node) / visits of the edge).
    """
    mover = state.to_move
    if parent.tried < parent.count:
        # Of the legal untried edges, a random one comes next.
        place, legal = parent.first + parent.tried, 0
        for other in range(place, parent.first + parent.count):
            legal += not seen.size or engine.is_legal(state, words, edges[other].target)
        if legal:
            generator, drawn = rng.below(generator, np.uint64(legal))
            nth = np.int64(drawn)
            for other in range(place, parent.first + parent.count):
                if not seen.size or engine.is_legal(state, words, edges[other].target):
                    if nth == 0:
                        swap_edges(edges, seen, place, other)
                        break
                    nth -= 1
            return generator, parent.tried
    best, best_score = -1, -math.inf
    spread = math.log(max(parent.visits, 1))
    for index in range(parent.tried):
        place = parent.first + index
        child = nodes[edges[place].target]
        if seen.size:
            if not engine.is_legal(state, words, child.action):
                continue
            spread = math.log(max(seen[place], 1))
        score = child.total[mover] / child.visits + settings.exploration * math.sqrt(
            spread / child.visits
        )
        if score > best_score:
            best, best_score = index, score
    return generator, best


@jitable
def most_visited(nodes: Any, edges: Any, mover: int) -> int:
    """The root's action with the most visits; ties go to the higher mean value, then to the lower action.

    Without any visits it is the action that would be tried first. The root has edges: there is
    always room for its own.
    """
    root = nodes[0]
    best, best_visits, best_value = -1, 0, 0.0
    for index in range(root.tried):
        child = nodes[edges[root.first + index].target]
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
        best = action_of(nodes, root, edges, 0)
    return best
