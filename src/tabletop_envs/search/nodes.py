"""The tree of a search, in arrays that are allocated once: nodes, edges, selection and backup, in compiled code.

A *node* stands for a sequence of actions from the root; it keeps how often it was visited and the sum of every player's
values, so that any player can be the one who chooses (max-n), twice in a row or not. Positions are not kept: every
simulation plays its actions from the root anew, which costs less than the memory would, and with chance or hidden
information leads to other positions each time.

The *edges* of a node are a block in one array, 8 bytes each: first those that have been tried, which name the child,
then those not tried yet, which name the action and the logit of its prior. The next to be tried has the highest logit,
so that choosing looks at the tried ones and at one more only, however many actions are legal.

Without chance and hidden information (a *closed* game) a node's edges are made once. In an *open* game the actions that
are legal after the same sequence differ: edges are added as they are met, only legal ones are chosen among, and `seen`
counts for each edge at how many visits it was legal, which takes the place of the node's visits in the exploration term
(Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", 2012). In closed games `seen` has no entries.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from tabletop_envs import checks
from tabletop_envs.kernels import (
    RUNNING,
    Kernel,
    code_digest,
    deal_hidden,
    engine,
    legal_actions,
    rng,
    step,
    word_bits,
)
from tabletop_envs.kernels.bits import ONE, ZERO, jitable, lowest_square, popcount

# Of this package: an edit must change the key of Numba's cache (`workspace` does it for heuristics).
_DIGEST = code_digest(str(Path(__file__).with_name("__init__.py")))
NODE = np.dtype(
    [
        ((f"code {_DIGEST}", "total"), np.float64, (engine.MAX_PLAYERS,)),
        ("visits", np.int32),
        ("action", np.int32),  # that leads here
        ("prior", np.float32),
        ("log_total", np.float32),  # prior of an edge = exp(its logit - log_total)
        ("first", np.int32),  # where the block of edges begins
        ("count", np.int32),  # the edges; 0: not expanded
        ("tried", np.int32),  # how many of them have a child
        ("capacity", np.int32),  # the length of the block
    ],
    align=True,
)
EDGE = np.dtype([("target", np.int32), ("logit", np.float32)])

MAX_EDGES = 2**31 - 1
# The simulations of the first slice of a search (`envs.slices`).
FIRST_SLICE = 1000
# `used`: how many nodes and edges are in use, and whether one was wanted that did not fit.
USED_NODES, USED_EDGES, FULL = 0, 1, 2

# How edges are chosen: by UCB1, untried ones first in random order, or by PUCT, untried ones by prior.
UCB, PUCT = 0, 1
SETTINGS = np.dtype(
    [
        ("exploration", np.float64),
        ("temperature", np.float64),  # of priors: logit = estimate / temperature
        ("urgency", np.float64),  # how far an untried edge's value lies below its estimate
        ("rule", np.int64),  # UCB or PUCT
        ("estimates", np.int64),  # whether logits are estimates of values
        ("playout", np.int64),  # the most random actions of a play-out
        ("open", np.int64),  # whether chance or hidden information is dealt at every simulation
        ("alpha", np.float64),  # Dirichlet noise at the root
        ("fraction", np.float64),
    ],
    align=True,
)


class Tree(NamedTuple):
    """The memory of a tree (with a first axis of lanes, of as many trees)."""

    nodes: npt.NDArray[np.void]
    edges: npt.NDArray[np.void]
    seen: npt.NDArray[np.int32]
    used: npt.NDArray[np.int64]
    path: npt.NDArray[np.int32]


def new_tree(max_nodes: int, max_edges: int, is_open: bool, *lanes: int) -> Tree:
    """An empty tree, or one a lane.

    Memory that a search never gets to is never touched, and what was not written is never read.
    """
    return Tree(
        np.empty((*lanes, max_nodes), NODE),
        np.empty((*lanes, max_edges), EDGE),
        np.empty((*lanes, max_edges if is_open else 0), np.int32),
        np.zeros((*lanes, 3), np.int64),
        np.empty((*lanes, max_nodes), np.int32),
    )


def edges_for(kernel: Kernel, max_nodes: int) -> int:
    """Room for the edges of so many nodes: more than they have on average, enough for any root."""
    return int(min(max_nodes * min(kernel.num_actions, 256) + kernel.num_actions, MAX_EDGES))


def parse_edges(kernel: Kernel, max_edges: int | None, max_nodes: int) -> int:
    """The room for edges that a user gives; None: what so many nodes need.

    TypeError or ValueError where the root might find no room: every action may be legal there.
    """
    if max_edges is None:
        return edges_for(kernel, max_nodes)
    return checks.integer("max_edges", max_edges, kernel.num_actions, MAX_EDGES)


@intrinsic
def keep_apart(typing_context: Any) -> Any:
    """Keep LLVM from making the function in which this stands part of its callers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), codegen


# A game's functions, each compiled once for all the places that call it: the generic ones become part of every caller, which
# would multiply the time to compile a loop.


@jitable
def play(state: Any, action: int) -> None:
    """Play a legal action."""
    keep_apart()
    step(state, action)


@jitable
def find_legal(state: Any, words: Any) -> None:
    """Write the set of legal actions of a running game."""
    keep_apart()
    legal_actions(state, words)


@jitable
def deal(state: Any, player: int, generator: int) -> int:
    """Deal anew what `player` cannot see, and chance to come; the advanced generator (uint64)."""
    keep_apart()
    generator = rng.advance(generator)
    deal_hidden(state, player, rng.output(generator))
    return generator


# Growing


@jitable
def add_node(nodes: Any, used: Any, action: int, prior: float) -> int:
    """A new node without edges and visits; −1 where there is no room."""
    node = used[USED_NODES]
    if node == nodes.size:
        used[FULL] = 1
        return -1
    used[USED_NODES] += 1
    new = nodes[node]
    for player in range(engine.MAX_PLAYERS):
        new.total[player] = 0.0
    new.visits = 0
    new.action = action
    new.prior = prior
    new.log_total = 0.0
    new.first = 0
    new.count = 0
    new.tried = 0
    new.capacity = 0
    return node


@jitable
def clear(nodes: Any, used: Any) -> None:
    """Forget the tree but for a new root."""
    used[:] = 0
    add_node(nodes, used, -1, 1.0)


@jitable
def count_actions(words: Any) -> int:
    """How many actions a set holds (int64)."""
    count = 0
    for index in range(words.size):
        count += np.int64(popcount(words[index]))
    return count


@jitable
def reserve(parent: Any, edges: Any, seen: Any, used: Any, count: int) -> bool:
    """Make the block of a node's edges at least `count` long; False where there is no room."""
    if count <= parent.capacity:
        return True
    capacity = count if parent.count == 0 else max(count, 2 * parent.capacity)
    start = used[USED_EDGES]
    if start + capacity > edges.size:
        used[FULL] = 1
        return False
    for index in range(parent.count):
        edges[start + index] = edges[parent.first + index]
        seen[start + index] = seen[parent.first + index]
    parent.first = start
    parent.capacity = capacity
    used[USED_EDGES] += capacity
    return True


@jitable
def add_edges(
    state: Any, words: Any, parent: Any, edges: Any, seen: Any, used: Any, logit: float
) -> bool:
    """Add an untried edge for every action of the set `words`; False, and nothing is changed, where there is no room."""
    added = count_actions(words)
    if not reserve(parent, edges, seen, used, parent.count + added):
        return False
    place = parent.first + parent.count
    bits = np.int64(word_bits(state))
    for index in range(words.size):
        word = words[index]
        while word != ZERO:
            edges[place].target = index * bits + np.int64(lowest_square(word))
            edges[place].logit = logit
            if seen.size:
                seen[place] = 0
            place += 1
            word &= word - ONE
    parent.count += added
    return True


@jitable
def swap_edges(edges: Any, seen: Any, one: int, other: int) -> None:
    """Swap two edges of a node."""
    target, logit = edges[one].target, edges[one].logit
    edges[one].target, edges[one].logit = edges[other].target, edges[other].logit
    edges[other].target, edges[other].logit = target, logit
    if seen.size:
        seen[one], seen[other] = seen[other], seen[one]


@jitable
def bring_forward(parent: Any, edges: Any, seen: Any) -> None:
    """Make the untried edge with the highest logit the next to be tried."""
    place = parent.first + parent.tried
    best = place
    for other in range(place + 1, parent.first + parent.count):
        if edges[other].logit > edges[best].logit:
            best = other
    if best > place:
        swap_edges(edges, seen, place, best)


@jitable
def settle(parent: Any, edges: Any, seen: Any) -> None:
    """Turn the logits of new, untried edges into priors that sum to 1, and find the first to be tried."""
    place, end = parent.first, parent.first + parent.count
    highest = edges[place].logit
    for index in range(place + 1, end):
        highest = max(highest, edges[index].logit)
    total = 0.0
    for index in range(place, end):
        total += math.exp(edges[index].logit - highest)
    parent.log_total = highest + math.log(total)
    bring_forward(parent, edges, seen)


@jitable
def open_child(nodes: Any, parent: Any, edges: Any, seen: Any, used: Any) -> int:
    """A new node for the next edge to be tried; −1 where there is no room."""
    edge = edges[parent.first + parent.tried]
    prior = math.exp(edge.logit - parent.log_total)
    child = add_node(nodes, used, edge.target, prior)
    if child >= 0:
        edge.target = child
        parent.tried += 1
        if parent.tried < parent.count:
            bring_forward(parent, edges, seen)
    return child


# What a simulation ends with


@jitable
def back_up(nodes: Any, path: Any, length: int, values: Any, players: int) -> None:
    """Count a visit, with every player's value, at all nodes of a path."""
    for index in range(length):
        node = nodes[path[index]]
        node.visits += 1
        for player in range(players):
            node.total[player] += values[player]


@jitable
def is_over(state: Any) -> bool:
    """Whether a game has ended."""
    return state.status != RUNNING
