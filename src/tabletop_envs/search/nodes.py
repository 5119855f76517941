"""The tree of a search in compiled code: nodes and edges in arrays that are allocated once.

A *node* stands for a sequence of actions from the root; it keeps its number of visits and the sum
of every player's values, so that any player can be the one who chooses (max-n), twice in a row or
not. Positions are not kept: every simulation replays its actions from the root, which costs less
than the memory would, and with chance or hidden information leads to other positions each time.

The *edges* of a node are a block in one array, 8 bytes each: first those that have been tried,
which name the child, then those not tried yet, which name the action and the logit of its prior.
The next to be tried has the highest logit, so that choosing looks at the tried ones and at one more
only, however many actions are legal.

Without chance and hidden information a node's edges are made once. With them a node is an
*information set*: the actions that are legal after the same sequence differ. Edges are added as
they are met, only legal ones are chosen among, and `seen` counts for each edge at how many visits
it was legal, which takes the place of the node's visits in the exploration term (Cowling, Powley
and Whitehouse, "Information set Monte Carlo tree search", 2012). Otherwise `seen` has no entries.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic, register_jitable

from tabletop_envs import checks
from tabletop_envs.game import Game
from tabletop_envs.kernels import (
    RUNNING,
    deal_hidden,
    engine,
    legal_actions,
    rng,
    step,
    word_bits,
)
from tabletop_envs.kernels.bits import ONE, ZERO, lowest_square, popcount
from tabletop_envs.kernels.compiling import CALLEE

NODE = np.dtype(
    [
        ("total", np.float64, (engine.MAX_PLAYERS,)),
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
# The simulations of the first slice of a search (`threads.next_size`).
FIRST_SLICE = 1000
# Functions that only borrow arrays: to count references at every access would cost searches a
# quarter of their speed. A game's functions may allocate arrays, and count.
borrowing = register_jitable(**CALLEE, _nrt=False)
counting = register_jitable(**CALLEE, _nrt=True)

# `used`: how many nodes and edges are in use, and whether one was wanted that did not fit.
USED_NODES, USED_EDGES, FULL = 0, 1, 2


class Tree(NamedTuple):
    """The memory of a tree, or with a first axis of lanes of as many trees."""

    nodes: npt.NDArray[np.void]
    edges: npt.NDArray[np.void]
    seen: npt.NDArray[np.int32]
    used: npt.NDArray[np.int64]
    path: npt.NDArray[np.int32]


def new_tree(game: Game, max_nodes: int, max_edges: int | None, *lanes: int) -> Tree:
    """An empty tree, or one a lane.

    Memory that a search never gets to is never touched, and what was not written is never read.

    Args:
        game: The game.
        max_nodes: The room for nodes.
        max_edges: The room for edges; None: more than so many nodes have on average, and enough
            for any root.
        *lanes: How many trees.

    Raises:
        TypeError, ValueError: Where the root might find no room for its edges: every action may be
            legal there.
    """
    actions = game.kernel.num_actions
    if max_edges is None:
        max_edges = min(max_nodes * min(actions, 256) + actions, MAX_EDGES)
    max_edges = checks.integer("max_edges", max_edges, actions, MAX_EDGES)
    return Tree(
        np.empty((*lanes, max_nodes), NODE),
        np.empty((*lanes, max_edges), EDGE),
        np.empty((*lanes, max_edges if game.has_chance else 0), np.int32),
        np.zeros((*lanes, 3), np.int64),
        np.empty((*lanes, max_nodes), np.int32),
    )


@counting
def tree_of(trees: Tree, lane: int) -> Tree:
    """One lane's tree."""
    return Tree(
        trees.nodes[lane], trees.edges[lane], trees.seen[lane], trees.used[lane], trees.path[lane]
    )


@intrinsic
def keep_apart(typing_context: Any) -> Any:
    """Keep LLVM from inlining the function in which this stands."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), codegen


# A game's functions, each compiled once for all the places that call it: the generic ones are
# inlined into every caller, which would multiply the time to compile a loop.


@counting
def play(state: Any, action: int) -> None:
    """Play a legal action."""
    keep_apart()
    step(state, action)


@counting
def find_legal(state: Any, legal_bits: Any) -> None:
    """Write the set of legal actions of a running game."""
    keep_apart()
    legal_actions(state, legal_bits)


@counting
def deal(state: Any, player: int, generator: int) -> int:
    """Resample what `player` cannot see and all later chance; the advanced generator (uint64)."""
    keep_apart()
    generator = rng.advance(generator)
    deal_hidden(state, player, rng.output(generator))
    return generator


# Growing


@borrowing
def add_node(tree: Tree, action: int, prior: float) -> int:
    """A new node without edges and visits; −1 where there is no room."""
    node = tree.used[USED_NODES]
    if node == tree.nodes.size:
        tree.used[FULL] = 1
        return -1
    tree.used[USED_NODES] += 1
    new = tree.nodes[node]
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


@borrowing
def clear(tree: Tree) -> None:
    """Forget the tree but for a new root."""
    tree.used[USED_NODES] = tree.used[USED_EDGES] = tree.used[FULL] = 0
    add_node(tree, -1, 1.0)


@borrowing
def count_actions(legal_bits: Any) -> int:
    """How many actions a set holds (int64)."""
    count = 0
    for index in range(legal_bits.size):
        count += np.int64(popcount(legal_bits[index]))
    return count


@borrowing
def reserve(tree: Tree, parent: Any, count: int) -> bool:
    """Make the block of a node's edges at least `count` long; False where there is no room."""
    if count <= parent.capacity:
        return True
    capacity = count if parent.count == 0 else max(count, 2 * parent.capacity)
    start = tree.used[USED_EDGES]
    if start + capacity > tree.edges.size:
        tree.used[FULL] = 1
        return False
    for index in range(parent.count):
        tree.edges[start + index] = tree.edges[parent.first + index]
        tree.seen[start + index] = tree.seen[parent.first + index]
    parent.first = start
    parent.capacity = capacity
    tree.used[USED_EDGES] += capacity
    return True


@borrowing
def add_edges(state: Any, legal_bits: Any, tree: Tree, parent: Any, logit: float) -> bool:
    """Add an untried edge for every action of a set; False, without a change, for lack of room."""
    added = count_actions(legal_bits)
    if not reserve(tree, parent, parent.count + added):
        return False
    place = parent.first + parent.count
    bits = np.int64(word_bits(state))
    for index in range(legal_bits.size):
        word = legal_bits[index]
        while word != ZERO:
            tree.edges[place].target = index * bits + np.int64(lowest_square(word))
            tree.edges[place].logit = logit
            if tree.seen.size:
                tree.seen[place] = 0
            place += 1
            word &= word - ONE
    parent.count += added
    return True


@borrowing
def swap_edges(tree: Tree, one: int, other: int) -> None:
    """Swap two edges of a node."""
    edges, seen = tree.edges, tree.seen
    target, logit = edges[one].target, edges[one].logit
    edges[one].target, edges[one].logit = edges[other].target, edges[other].logit
    edges[other].target, edges[other].logit = target, logit
    if seen.size:
        seen[one], seen[other] = seen[other], seen[one]


@borrowing
def bring_forward(tree: Tree, parent: Any) -> None:
    """Make the untried edge with the highest logit the next to be tried."""
    place = parent.first + parent.tried
    best = place
    for other in range(place + 1, parent.first + parent.count):
        if tree.edges[other].logit > tree.edges[best].logit:
            best = other
    if best > place:
        swap_edges(tree, place, best)


@borrowing
def settle(tree: Tree, parent: Any) -> None:
    """Turn the logits of new edges into priors that sum to 1, and find the first to be tried."""
    place, end = parent.first, parent.first + parent.count
    highest = tree.edges[place].logit
    for index in range(place + 1, end):
        highest = max(highest, tree.edges[index].logit)
    total = 0.0
    for index in range(place, end):
        total += math.exp(tree.edges[index].logit - highest)
    parent.log_total = highest + math.log(total)
    bring_forward(tree, parent)


@borrowing
def open_child(tree: Tree, parent: Any) -> int:
    """A new node for the next edge to be tried; −1 where there is no room."""
    edge = tree.edges[parent.first + parent.tried]
    prior = math.exp(edge.logit - parent.log_total)
    child = add_node(tree, edge.target, prior)
    if child >= 0:
        edge.target = child
        parent.tried += 1
        if parent.tried < parent.count:
            bring_forward(tree, parent)
    return child


# What a simulation ends with


@borrowing
def back_up(tree: Tree, length: int, values: Any, players: int) -> None:
    """Count a visit, with every player's value, at the first `length` nodes of the path."""
    for index in range(length):
        node = tree.nodes[tree.path[index]]
        node.visits += 1
        for player in range(players):
            node.total[player] += values[player]


@borrowing
def is_over(state: Any) -> bool:
    """Whether a game has ended."""
    return state.status != RUNNING
