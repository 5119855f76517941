"""Compiled loops over any game: starting, stepping, observing and sampling, one game or many.

Each function resolves a kernel's functions by the record type of `states` (see
`tabletop_envs.kernels`), so it is compiled once a game, cached on disk, and callable from
user-defined `@njit` code.

A *lane* is one game of many: its record in `states`, its row in every other array, and in `rngs`
the generator (`uint64`) that draws its random actions. `legal_bits` holds the sets of legal
actions, `legal_words(state)` words each. Lanes do not touch each other: loops take `first` and
`last` (not included) and may run in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from tabletop_envs.kernels import (
    BY_LIMIT,
    RUNNING,
    TERMINATED,
    Kernel,
    deal_hidden,
    key_masks,
    legal_actions,
    num_actions,
    observation_size,
    observe,
    start,
    step,
    word_bits,
)
from tabletop_envs.kernels.bits import (
    ONE,
    ZERO,
    jit_inline,
    jitable,
    lowest_square,
    nth_square,
    popcount,
    prefetch_row,
    write_bytes,
)
from tabletop_envs.kernels.compiling import compile_loop
from tabletop_envs.kernels.llvm import record_word
from tabletop_envs.kernels.rng import advance, below, from_seed, output, sampler_from_seed

MAX_PLAYERS = 4
# REWARDS[n, k]: the rewards of the k players who share the top score among n, and of the others
# (T15).
REWARDS = np.array(
    [
        [
            ((n / k - 1) / (n - 1), -1 / (n - 1)) if 1 <= k <= n >= 2 else (0.0, 0.0)
            for k in range(MAX_PLAYERS + 1)
        ]
        for n in range(MAX_PLAYERS + 1)
    ]
)
# A tally of finished games, integers only, so that sums do not depend on their order: games, those
# ended by `max_plies`, their actions, the longest; then for each player how often they shared the
# top score with k − 1 others (k = 1 … 4), and the sum of their scores.
TALLY_GAMES, TALLY_BY_LIMIT, TALLY_PLIES, TALLY_LONGEST, TALLY_PLAYERS = 0, 1, 2, 3, 4
TALLY_PLAYER_SIZE = MAX_PLAYERS + 1
TALLY_SIZE = TALLY_PLAYERS + MAX_PLAYERS * TALLY_PLAYER_SIZE

# What a lane is to do.
START, STEP, REFRESH = 0, 1, 2

# Words are counted in groups of this many: choosing an action then takes two short searches.
GROUP = 4
# Lanes that random play advances alternately: enough for the processor to work on several at once,
# few enough for their states to stay in L1.
BLOCK = 16
# Positions that `perft` looks at between two looks at signals: some 0.1 s.
PERFT_BUDGET = 2**18


class LaneArrays(NamedTuple):
    """The arrays of games that are stepped together, a row a lane (`lanes.Lanes` describes them).

    Loops take these arrays, and `ShownArrays`, as plain tuples, which Numba reads faster than
    NamedTuples (by 0.6 µs a call), and name them inside.
    """

    states: Any
    legal_bits: Any
    rngs: Any
    rewards: Any
    offended: Any
    seats: Any


class ShownArrays(NamedTuple):
    """What a batch shows, a row a lane (`envs.batch.BatchEnv` describes it)."""

    action_mask: Any
    observation: Any
    current_player: Any
    rewards: Any
    terminated: Any
    by_limit: Any
    scores: Any
    episode_length: Any


class StartArrays(NamedTuple):
    """What new games start from: a position drawn for each, or none and the start of the rules."""

    positions: Any  # running games, any number
    has_rng: Any  # bool, a place a position: whether its randomness is its own
    rngs: Any  # a place a lane: the generator of draws, and of randomness that is not


def compiled_loop(function: Callable[..., Any]) -> Any:
    """A loop that Python calls: cached on disk, and run without the interpreter's lock.

    Numba keeps the cache beside this file, in the user's cache folder where that is read-only, or
    where `NUMBA_CACHE_DIR` says. Where none can be written or read, loops are compiled in every
    process instead, and a RuntimeWarning says so once.
    """
    return compile_loop(function)


@jit_inline
def num_words(state: Any) -> int:
    """How many words of `word_bits(state)` bits hold a set of actions."""
    return (num_actions(state) + word_bits(state) - 1) // word_bits(state)


@jit_inline
def legal_words(state: Any) -> int:
    """The length of a set of actions as the engine keeps it: whole groups of words."""
    return (num_words(state) + GROUP - 1) // GROUP * GROUP


def new_legal(kernel: Kernel, *lanes: int) -> npt.NDArray[np.uint64]:
    """Empty sets of actions as the engine keeps them: one, or one for each lane (for Python)."""
    return np.zeros((*lanes, -(-kernel.num_words // GROUP) * GROUP), np.uint64)


@jit_inline
def is_legal(state: Any, legal_bits: Any, action: int) -> bool:
    """Whether an action (int64, any value) is in the set of actions `legal_bits`."""
    if action < 0 or action >= num_actions(state):
        return False
    bits = np.uint64(word_bits(state))
    return (legal_bits[np.uint64(action) // bits] >> (np.uint64(action) % bits)) & ONE != ZERO


@jit_inline
def choose(state: Any, legal_bits: Any, counts: Any, rng: int) -> tuple[int, int]:
    """The advanced generator and an action of the set `legal_bits`, all equally likely.

    `counts` is scratch space of `legal_words(state) // GROUP` words. The searches are sums over all
    places, without early exit: it would be an unpredictable branch.
    """
    groups = np.uint64(legal_words(state) // GROUP)
    total = ZERO
    for group in range(groups):
        for index in range(np.uint64(GROUP) * group, np.uint64(GROUP) * (group + ONE)):
            total += popcount(legal_bits[index])
        counts[group] = total
    rng, remaining = below(rng, total)
    index, before = ZERO, ZERO
    for group in range(groups - ONE):
        if counts[group] <= remaining:
            index += np.uint64(GROUP)
            before = counts[group]
    remaining -= before
    total, before = ZERO, ZERO
    first = index
    for place in range(first, first + np.uint64(GROUP - 1)):
        total += popcount(legal_bits[place])
        if total <= remaining:
            index += ONE
            before = total
    square = nth_square(legal_bits[index], remaining - before)
    # Where illegal actions have led to a position without legal ones: any of the space.
    last = np.uint64(num_actions(state) - 1)
    return rng, np.int64(min(index * np.uint64(word_bits(state)) + square, last))


@jit_inline
def write_mask(state: Any, legal_bits: Any, mask: Any) -> None:
    """Write a set of actions as `num_actions(state)` bytes of 0 or 1 into `mask`."""
    bits, actions = word_bits(state), num_actions(state)
    last = num_words(state) - 1
    for index in range(last):
        write_bytes(mask, index * bits, legal_bits[index], bits)
    write_bytes(mask, last * bits, legal_bits[last], actions - last * bits)


@jit_inline
def fill(array: Any, number: int) -> None:
    """Write a number into all places of a one-dimensional array (`array[:]` compiles slowly)."""
    for index in range(array.size):
        array[index] = number


@jit_inline
def sharers(state: Any) -> int:
    """How many players share the top score."""
    top, count = state.scores[0], 0
    for player in range(state.num_players):
        if state.scores[player] > top:
            top, count = state.scores[player], 1
        elif state.scores[player] == top:
            count += 1
    return count


@jit_inline
def top_score(state: Any) -> int:
    """The highest score."""
    top = state.scores[0]
    for player in range(1, state.num_players):
        top = max(top, state.scores[player])
    return top


@jit_inline
def write_rewards(state: Any, rewards: Any) -> None:
    """Write every player's reward as the game stands: zero while it runs."""
    for player in range(state.num_players):
        rewards[player] = 0.0
    if state.status != RUNNING:
        count, top = sharers(state), top_score(state)
        for player in range(state.num_players):
            behind = 0 if state.scores[player] == top else 1
            rewards[player] = REWARDS[state.num_players, count, behind]


@jitable
def take_position(states: Any, starts: tuple[Any, ...], lane: int) -> None:
    """Start a lane's game from a drawn position of a `StartArrays` that has some."""
    positions, has_rng, rngs = starts
    rng, place = below(rngs[lane], np.uint64(positions.size))
    states[lane] = positions[place]
    if not has_rng[place]:
        states[lane].rng = sampler_from_seed(rng)
    rngs[lane] = rng


@jitable
def begin(states: Any, starts: tuple[Any, ...], lane: int) -> None:
    """Start a lane's new game as `starts`, a `StartArrays`, has it."""
    if starts[0].size == 0:
        start(states[lane])
    else:
        take_position(states, starts, lane)


@jitable
def key(state: Any) -> int:
    """The key of a position (uint64): equal for equal positions, and different for others but for
    a chance of about 2^−64.

    Equal are positions of which the rules say the same from here on, hidden parts included: `rng`,
    `ply` and `max_plies` do not count, nor what the kernel leaves out (`Kernel.unkeyed`).
    """
    masks = key_masks(state)
    result, salt = ZERO, ZERO
    # A sum, so that no word's hash waits for another's.
    for index in range(masks.size):
        salt = advance(salt)
        result += output((record_word(state, index) & masks[index]) ^ salt)
    return result


@compiled_loop
def advance_one(states: Any, legal_bits: Any, command: int, action: int, result: Any) -> bool:
    """START a game in `states[0]`, STEP `action` in it, or REFRESH it as it stands.

    Afterwards `legal_bits` holds the legal actions (none once the game is over), and `result`
    (int64) status, player to move, ply and the scores. An action that is not in the set
    `legal_bits` is not played: False then, and nothing is changed.
    """
    # One loop for three commands, because each loop compiles the game's functions again.
    state = states[0]
    if command == STEP:
        if not is_legal(state, legal_bits, action):
            return False
        step(state, action)
    elif command == START:
        start(state)
    if state.status == RUNNING:
        legal_actions(state, legal_bits)
    else:
        fill(legal_bits, ZERO)
    result[0] = state.status
    result[1] = state.to_move
    result[2] = state.ply
    for player in range(state.num_players):
        result[3 + player] = state.scores[player]
    return True


@compiled_loop
def advance_some(
    arrays: tuple[Any, ...], random: Any, chosen: Any, command: int, actions: Any
) -> None:
    """START a game, STEP an action, or REFRESH the game in each of the lanes in `chosen` (int64);
    then let random players reply.

    `arrays` are those of a `LaneArrays` as a plain tuple. `random[k]` (bool) says whether the
    player k seats after the one in `seats` plays at random. A lane stops at the first turn of
    somebody else or at the game's end. Afterwards its row of `legal_bits` holds the legal actions
    (none once a game is over) and that of `rewards` every player's reward. An illegal action loses
    the game, which `offended` then says.
    """
    # The game's functions are called once each: every further call would be compiled again.
    lanes = LaneArrays(*arrays)
    counts = np.empty(legal_words(lanes.states[0]) // GROUP, np.uint64)
    for lane in chosen:
        state, legal_bits, rewards = lanes.states[lane], lanes.legal_bits[lane], lanes.rewards[lane]
        playing, action = command == STEP, actions[lane]
        if command == START:
            start(state)
            lanes.offended[lane] = False
        elif playing and not is_legal(state, legal_bits, action):
            fill(legal_bits, ZERO)
            state.status = TERMINATED
            lanes.offended[lane] = True
            for player in range(state.num_players):
                rewards[player] = 1.0 / (state.num_players - 1)
            rewards[state.to_move] = -1.0
            continue
        while True:
            if playing:
                step(state, action)
            if state.status != RUNNING:
                fill(legal_bits, ZERO)
                break
            legal_actions(state, legal_bits)
            seats_after = np.int64(state.to_move) - lanes.seats[lane]
            if not random[seats_after % np.int64(state.num_players)]:
                break
            lanes.rngs[lane], action = choose(state, legal_bits, counts, lanes.rngs[lane])
            playing = True
        write_rewards(state, rewards)


@compiled_loop
def observe_some(
    states: Any, legal_bits: Any, lanes: Any, players: Any, observation: Any, mask: Any
) -> None:
    """Write what player `players[lane]` sees in each of the lanes in `lanes` (int64), a row for
    each.

    Observations are written in the type of `observation`, masks as by `observe_one`.
    """
    scratch = np.zeros(observation_size(states[0]), np.int8)
    for row in range(lanes.size):
        lane = lanes[row]
        state = states[lane]
        observe(state, players[lane], scratch)
        for index in range(observation.shape[1]):
            observation[row, index] = scratch[index]
        if state.status != RUNNING:
            fill(mask[row], 1)
        elif state.to_move != players[lane]:
            fill(mask[row], 0)
        else:
            write_mask(state, legal_bits[lane], mask[row])


@compiled_loop
def observe_one(
    states: Any, legal_bits: Any, player: int, scratch: Any, observation: Any, mask: Any
) -> None:
    """Write what `player` sees of `states[0]`: the observation (float32, by way of the int8
    `scratch`) and the mask.

    The mask (int8) is all zeros for a player who is not to move and all ones once the
    game is over; either array may have the length 0 and is left out then.
    """
    state = states[0]
    if observation.size:
        observe(state, player, scratch)
        for index in range(observation.size):
            observation[index] = scratch[index]
    if mask.size:
        if state.status != RUNNING:
            fill(mask, 1)
        elif state.to_move != player:
            fill(mask, 0)
        else:
            write_mask(state, legal_bits, mask)


@compiled_loop
def deal_hidden_one(states: Any, player: int, rng: int) -> None:
    """Resample what `player` cannot see in `states[0]`; later randomness is that of `rng`."""
    deal_hidden(states[0], player, rng)


@compiled_loop
def seed_lanes(states: Any, rngs: Any, seeds: Any) -> None:
    """Give each lane the streams of its seed (uint64): the game's and that of random actions."""
    for lane in range(states.size):
        states[lane].rng = from_seed(seeds[lane])
        rngs[lane] = sampler_from_seed(seeds[lane])


@compiled_loop
def first_illegal(states: Any, legal_bits: Any, lanes: Any, actions: Any) -> int:
    """The first of the lanes in `lanes` (int64) whose action in `actions` is not legal, −1 where
    all are.
    """
    for lane in lanes:
        if not is_legal(states[lane], legal_bits[lane], actions[lane]):
            return int(lane)
    return -1


@compiled_loop
def advance_lanes(
    states: Any,
    legal_bits: Any,
    arrays: tuple[Any, ...],
    starts: tuple[Any, ...],
    command: int,
    actions: Any,
    check: bool,
    first: int,
    last: int,
) -> int:
    """START new games in lanes, STEP one legal action each, or REFRESH them as they stand, and show
    what has become of them.

    Where an action ends a game its results are written and a new game is started at once. `arrays`
    are those of a `ShownArrays` as a plain tuple, `starts` those of a `StartArrays`. With `check`,
    the first lane whose action is not legal is returned, and nothing is changed; −1 otherwise.
    """
    if check:
        for lane in range(first, last):
            if not is_legal(states[lane], legal_bits[lane], actions[lane]):
                return lane
    shown = ShownArrays(*arrays)
    for lane in range(first, last):
        state = states[lane]
        if lane + 1 < last:
            # A lane's rows are kilobytes that are written at once: without this the processor waits
            # for L2, or for memory, at every lane.
            prefetch_row(states, lane + 1)
            prefetch_row(shown.action_mask, lane + 1)
            prefetch_row(shown.observation, lane + 1)
        if command == STEP:
            step(state, actions[lane])
        elif command == START:
            begin(states, starts, lane)
        shown.terminated[lane] = state.status != RUNNING
        shown.by_limit[lane] = state.status == BY_LIMIT
        shown.episode_length[lane] = state.ply
        for player in range(state.num_players):
            shown.scores[lane, player] = state.scores[player]
        write_rewards(state, shown.rewards[lane])
        if state.status != RUNNING:
            begin(states, starts, lane)
        legal_actions(state, legal_bits[lane])
        write_mask(state, legal_bits[lane], shown.action_mask[lane])
        observe(state, state.to_move, shown.observation[lane])
        shown.current_player[lane] = state.to_move
    return -1


@compiled_loop
def sample_lanes(
    states: Any, legal_bits: Any, rngs: Any, actions: Any, first: int, last: int
) -> None:
    """Draw a uniformly random legal action for each lane into `actions` (int64)."""
    counts = np.empty(legal_words(states[0]) // GROUP, np.uint64)
    for lane in range(first, last):
        rngs[lane], actions[lane] = choose(states[lane], legal_bits[lane], counts, rngs[lane])


@compiled_loop
def sample_some(states: Any, legal_bits: Any, rngs: Any, lanes: Any, actions: Any) -> None:
    """Draw a uniformly random legal action for each of the lanes in `lanes` (int64) into its place
    in `actions`.
    """
    counts = np.empty(legal_words(states[0]) // GROUP, np.uint64)
    for lane in lanes:
        rngs[lane], actions[lane] = choose(states[lane], legal_bits[lane], counts, rngs[lane])


@jitable
def tally_game(state: Any, tally: Any) -> None:
    """Count a finished game."""
    tally[TALLY_GAMES] += 1
    tally[TALLY_BY_LIMIT] += state.status == BY_LIMIT
    tally[TALLY_PLIES] += state.ply
    tally[TALLY_LONGEST] = max(tally[TALLY_LONGEST], state.ply)
    count, top = sharers(state), top_score(state)
    for player in range(state.num_players):
        place = TALLY_PLAYERS + player * TALLY_PLAYER_SIZE
        if state.scores[player] == top:
            tally[place + count - 1] += 1
        tally[place + MAX_PLAYERS] += state.scores[player]


@compiled_loop
def rollout_lanes(
    states: Any,
    rngs: Any,
    starts: tuple[Any, ...],
    steps: int,
    tally: Any,
    first: int,
    last: int,
) -> None:
    """Play `steps` uniformly random actions in each lane, games one after the other; count the
    finished ones.
    """
    legal_bits = np.zeros(legal_words(states[0]), np.uint64)
    counts = np.empty(legal_words(states[0]) // GROUP, np.uint64)
    for block in range(first, last, BLOCK):
        for _ in range(steps):
            for lane in range(block, min(block + BLOCK, last)):
                state = states[lane]
                legal_actions(state, legal_bits)
                rngs[lane], action = choose(state, legal_bits, counts, rngs[lane])
                step(state, action)
                if state.status != RUNNING:
                    tally_game(state, tally)
                    begin(states, starts, lane)


@compiled_loop
def take_positions(states: Any, starts: tuple[Any, ...], lanes: Any) -> None:
    """Start the games of the lanes in `lanes` (int64) from drawn positions of a `StartArrays`."""
    for lane in lanes:
        take_position(states, starts, lane)


@compiled_loop
def count_legal(states: Any, legal_bits: Any, offsets: Any) -> None:
    """Write where each lane's legal actions begin in their list into `offsets` (int64), the
    lists' end behind the last.
    """
    offsets[0] = 0
    for lane in range(states.size):
        total = ZERO
        for index in range(num_words(states[lane])):
            total += popcount(legal_bits[lane, index])
        offsets[lane + 1] = offsets[lane] + np.int64(total)


@compiled_loop
def list_legal(states: Any, legal_bits: Any, offsets: Any, actions: Any) -> None:
    """Write each lane's legal actions, ascending, into `actions` (int32), from its offset on."""
    for lane in range(states.size):
        place, bits = offsets[lane], word_bits(states[lane])
        for index in range(num_words(states[lane])):
            word = legal_bits[lane, index]
            while word != ZERO:
                actions[place] = index * bits + np.int64(lowest_square(word))
                word &= word - ONE
                place += 1


@compiled_loop
def write_keys(states: Any, keys: Any) -> None:
    """Write the key of each position into `keys` (uint64)."""
    for lane in range(states.size):
        keys[lane] = key(states[lane])


@compiled_loop
def count_legal_words(states: Any) -> int:
    """`legal_words` for Python."""
    return legal_words(states[0])


@compiled_loop
def perft_some(states: Any, legal: Any, progress: Any, budget: int) -> None:
    """Some of `perft`'s work, up to `budget` positions.

    `legal` has a set of actions for each level of depth. `progress` (int64) has the level, −1 when
    all has been counted, the count so far, and whether the level's set has yet to be written. (No
    array is returned: Ctrl-C while one is wrapped for Python ends in a SystemError of Numba's.)
    """
    words, bits, depth = num_words(states[0]), word_bits(states[0]), legal.shape[0]
    level, count, entered = progress[0], progress[1], progress[2] != 0
    while level >= 0 and (budget > 0 or entered):
        if entered:
            legal_actions(states[level], legal[level])
            entered = False
            budget -= 1
        if level == depth - 1:
            for index in range(words):
                count += np.int64(popcount(legal[level, index]))
            level -= 1
            continue
        index = 0
        while index < words and legal[level, index] == ZERO:
            index += 1
        if index == words:
            level -= 1
            continue
        square = np.int64(nth_square(legal[level, index], ZERO))
        legal[level, index] &= legal[level, index] - ONE
        states[level + 1] = states[level]
        step(states[level + 1], index * bits + square)
        if states[level + 1].status == RUNNING:
            level += 1
            entered = True
    progress[0], progress[1], progress[2] = level, count, entered


@register_jitable
def perft(states: Any, depth: int) -> int:
    """How many sequences of `depth` legal actions lead on from `states[0]`.

    A sequence that ends the game is counted only at its own length. `states` has at least `depth`
    records, which are overwritten; chance falls as the state's generator has it.
    """
    if states[0]["status"] != RUNNING or depth < 1:
        return 1 if depth == 0 else 0
    legal = np.zeros((depth, count_legal_words(states)), np.uint64)
    progress = np.array([0, 0, 1])
    while progress[0] >= 0:
        # Between calls Python handles signals.
        perft_some(states, legal, progress, PERFT_BUDGET)
    return int(progress[1])
