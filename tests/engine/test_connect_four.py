"""Connect four, the benchmarks' kernel: its rules, perft, and random play by a reference."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from benchmarks import connect_four as kernel
from benchmarks.connect_four_game import GAME, make_batch
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.kernels import engine

ROWS, COLUMNS = 6, 7
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
# Sequences of 1, 2, 3, … actions (finished games have none): the reference counted seven.
PERFT = (7, 49, 343, 2401, 16807, 117649, 823536, 5673234, 39394572)


class PlainGame:
    """A naive connect four: rows, row 0 at the top; lines are looked at square by square."""

    def __init__(self) -> None:
        self.rows: list[list[int | None]] = [[None] * COLUMNS for _ in range(ROWS)]
        self.player, self.winner, self.stones = 0, None, 0

    @property
    def over(self) -> bool:
        return self.winner is not None or self.stones == ROWS * COLUMNS

    def legal(self) -> list[int]:
        return [] if self.over else [c for c in range(COLUMNS) if self.rows[0][c] is None]

    def play(self, column: int) -> None:
        row = max(r for r in range(ROWS) if self.rows[r][column] is None)
        self.rows[row][column] = self.player
        self.stones += 1
        if any(
            self._line(r, c, d) for r in range(ROWS) for c in range(COLUMNS) for d in DIRECTIONS
        ):
            self.winner = self.player
        self.player = 1 - self.player

    def _line(self, row: int, column: int, direction: tuple[int, int]) -> bool:
        squares = [(row + i * direction[0], column + i * direction[1]) for i in range(4)]
        return all(
            0 <= r < ROWS and 0 <= c < COLUMNS and self.rows[r][c] == self.player
            for r, c in squares
        )

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        count = 0
        for column in self.legal():
            after = copy.deepcopy(self)
            after.play(column)
            count += after.perft(depth - 1)
        return count


def play(columns: list[int]) -> BatchEnv:
    """A batch of one game after some actions, all of them legal."""
    batch = make_batch(1, seed=0)
    for column in columns:
        assert not batch.terminated[0]
        batch.step([column])
    return batch


@pytest.mark.parametrize(
    ("columns", "direction"),
    [
        ([0, 0, 1, 1, 2, 2, 3], "across"),
        ([6, 5, 6, 5, 6, 5, 6], "down"),
        ([0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3], "up to the right"),
        ([6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3], "up to the left"),
    ],
)
def test_four_in_a_line_win(columns, direction):
    batch = play(columns)
    assert batch.terminated[0], direction
    assert batch.rewards[0].tolist() == [1, -1]
    assert batch.scores[0].tolist() == [1, 0]
    assert batch.episode_length[0] == len(columns)


def test_the_second_player_wins_too():
    batch = play([6, 0, 0, 1, 1, 2, 2, 3])
    assert batch.rewards[0].tolist() == [-1, 1]


@pytest.mark.parametrize("first", range(ROWS * COLUMNS))
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_lines_are_those_on_the_board(first, direction):
    """Four squares a fixed number apart are a line only where the line does not leave the board."""
    row, column = divmod(first, COLUMNS)
    last_row, last_column = row + 3 * direction[0], column + 3 * direction[1]
    stride = direction[0] * COLUMNS + direction[1]
    squares = [first + i * stride for i in range(4)]
    if squares[-1] >= ROWS * COLUMNS:
        return
    stones = np.uint64(sum(1 << square for square in squares))
    assert kernel.has_line(stones) == (last_row < ROWS and 0 <= last_column < COLUMNS)


def test_a_full_board_is_a_draw():
    columns = [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0]
    columns = columns + [c + 2 for c in columns] + [c + 4 for c in columns] + [6] * 6
    batch = play(columns)
    assert batch.terminated[0]
    assert batch.episode_length[0] == ROWS * COLUMNS
    assert batch.rewards[0].tolist() == [0, 0]


def test_a_full_column_is_illegal():
    batch = play([3] * ROWS)
    assert batch.action_mask[0].tolist() == [True, True, True, False, True, True, True]
    with pytest.raises(ValueError, match=r"column 4.*illegal"):
        batch.step([3])


def test_perft():
    states = GAME.new_states(len(PERFT) + 1, GAME.parse_options({}))
    for depth, expected in enumerate(PERFT, 1):
        kernel.start(states[0])
        assert engine.perft(states, depth) == expected, depth


def test_perft_of_the_reference():
    for depth, expected in enumerate(PERFT[:4], 1):
        assert PlainGame().perft(depth) == expected


def test_observation_is_that_of_pettingzoo():
    pytest.importorskip("pygame", reason="pettingzoo.classic needs pygame")
    connect_four_v3 = pytest.importorskip("pettingzoo.classic.connect_four_v3")
    peer = connect_four_v3.raw_env()
    peer.reset()
    batch = make_batch(1, seed=5)
    for _ in range(6):
        seen = peer.observe(peer.agent_selection)
        own_and_other = batch.observation[0].reshape(2, ROWS, COLUMNS)
        assert (seen["observation"] == np.moveaxis(own_and_other, 0, -1)).all()
        assert (seen["action_mask"] == batch.action_mask[0]).all()
        action = batch.sample_actions()
        peer.step(int(action[0]))
        batch.step(action)


def test_batches_can_be_copied_and_drawn():
    batch = play([3, 3, 4])
    twin = pickle.loads(pickle.dumps(batch))
    assert twin.game is GAME
    assert (twin.observation == batch.observation).all()
    drawing = GAME.text(GAME.snapshot(batch.states, batch.options), None, False).splitlines()
    assert drawing[-2:] == [". . . o . . .", ". . . x x . ."]
