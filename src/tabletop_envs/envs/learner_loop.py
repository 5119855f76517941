"""The compiled loop of the Gymnasium environments: the learner's action and the random opponents' replies."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_envs.kernels import RUNNING, TERMINATED, legal_actions, rng, start, step
from tabletop_envs.kernels.engine import (
    GROUP,
    START,
    STEP,
    choose,
    compiled_loop,
    is_legal,
    legal_words,
    write_rewards,
)


@compiled_loop
def play_to_learner(
    states: Any,
    legal: Any,
    lanes: Any,
    command: int,
    actions: Any,
    lose: bool,
    offended: Any,
    seats: Any,
    seat_streams: Any,
    draw_seats: bool,
    random: Any,
    samplers: Any,
    rewards: Any,
) -> int:
    """START a game, or STEP an action, in each of the lanes in `lanes` (int64), then let random opponents reply.

    `random[k]` says whether the player k seats after the learner plays at random. A lane stops at the first turn of
    somebody else or at the game's end. Afterwards its rows of `legal` and `rewards` are as `engine.advance_some` leaves
    them. With `draw_seats` a START draws the learner's seat.

    An illegal action loses the learner's game with `lose`, which `offended` (bool) then says; otherwise the first lane
    with one is returned, and nothing is changed. −1 otherwise.
    """
    if command == STEP and not lose:
        for lane in lanes:
            if not is_legal(states[lane], legal[lane], actions[lane]):
                return int(lane)
    # The game's functions are called once each: every further call would be compiled again.
    counts = np.empty(legal_words(states[0]) // GROUP, np.uint64)
    for lane in lanes:
        state = states[lane]
        action = actions[lane]
        playing = command == STEP
        if command == START:
            start(state)
            offended[lane] = False
            if draw_seats:
                seat_streams[lane], seat = rng.below(
                    seat_streams[lane], np.uint64(state.num_players)
                )
                seats[lane] = np.int64(seat)
        elif lose and not is_legal(state, legal[lane], action):
            legal[lane][:] = np.uint64(0)
            state.status = TERMINATED
            offended[lane] = True
            for player in range(state.num_players):
                rewards[lane, player] = 1.0 / (state.num_players - 1)
            rewards[lane, seats[lane]] = -1.0
            continue
        while True:
            if playing:
                step(state, action)
            if state.status != RUNNING:
                legal[lane][:] = np.uint64(0)
                break
            legal_actions(state, legal[lane])
            if not random[(np.int64(state.to_move) - seats[lane]) % np.int64(state.num_players)]:
                break
            samplers[lane], action = choose(state, legal[lane], counts, samplers[lane])
            playing = True
        write_rewards(state, rewards[lane])
    return -1
