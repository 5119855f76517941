"""The heuristics: values are expected rewards, and treat all players and directions alike."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import from_dtype, njit, types

from benchmarks import connect_four
from tabletop_envs import evaluation, kernels, make_batch
from tabletop_envs.kernels import compiling
from tests.games import STRATEGIES, each_case, each_game, over, play, raw_env


@njit
def evaluate(states: Any, values: Any) -> None:
    """What a user's own compiled code calls."""
    evaluation.evaluate(states[0], values)


def compiled_values(env: Any) -> list[float]:
    """The values of an environment's state, also of a finished game."""
    evaluation.load(env.game)
    values = np.zeros(len(env.possible_agents))
    evaluate(env.lane()[0], values)
    return [float(value) for value in values]


@each_game
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_values_are_expected_rewards(name, data):
    env = raw_env(name, **data.draw(STRATEGIES[name]))
    env.reset(seed=data.draw(st.integers(0, 2**32)))
    choose = random.Random(data.draw(st.integers(0, 2**32))).randrange
    play(env, choose, data.draw(st.integers(0, 300)))
    before = env.snapshot()
    values = evaluation.value(env)
    assert env.snapshot() == before
    assert len(values) == len(env.possible_agents)
    assert all(-1 <= value <= 1 for value in values)
    assert abs(sum(values)) < 1e-9
    assert compiled_values(env) == values


@each_case
def test_a_batch_is_valued_as_its_games_are_one_by_one(name, options):
    batch = make_batch(name, 5, seed=3, **options)
    batch.rollout(40)
    values = evaluation.values(batch.game, batch.states)
    assert values.shape == (5, batch.num_players)
    for lane, row in enumerate(values):
        assert row.tolist() == evaluation.value(batch.to_aec(lane))


@each_case
def test_finished_games_are_worth_their_rewards(name, options):
    for seed in range(3):
        env = raw_env(name, **options)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange)
        rewards = [env.rewards[agent] for agent in env.possible_agents]
        assert evaluation.value(env) == pytest.approx(rewards)
        assert compiled_values(env) == pytest.approx(rewards)


@each_game
def test_a_game_lost_by_an_illegal_action(name):
    env = raw_env(name, on_illegal="lose")
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.action_mask() == 0)[0]))
    assert over(env) and evaluation.value(env) == [-1, 1]


@each_game
def test_values_move_with_the_game(name):
    env = raw_env(name)
    env.reset(seed=4)
    values = []
    while len(values) < 100 and not over(env):
        values.append(evaluation.value(env)[0])
        play(env, random.Random(len(values)).randrange, 1)
    # Many actions change the value (of meeples, few do before the meeples stand).
    assert sum(first != second for first, second in pairwise(values)) > len(values) / 6


def test_a_game_without_heuristic_is_worth_nothing_until_it_is_over():
    states = np.zeros(1, connect_four.KERNEL.state)

    @njit
    def begin(states: Any) -> None:
        kernels.start(states[0])

    @njit
    def drop(states: Any, column: int) -> None:
        kernels.step(states[0], column)

    assert not evaluation.has_heuristic(connect_four.KERNEL)
    states["num_players"], states["max_plies"] = 2, 42
    begin(states)
    values = np.full(2, 5.0)
    for column in (0, 1, 0, 1, 0, 1):
        drop(states, column)
        evaluate(states, values)
        assert values.tolist() == [0, 0]
    drop(states, 0)
    evaluate(states, values)
    assert values.tolist() == [1, -1]


def test_the_generic_names_are_for_compiled_code():
    for function, arguments in ((evaluation.evaluate, (1, 2)), (evaluation.is_settled, (1,))):
        with pytest.raises(TypeError, match="compiled code"):
            function(*arguments)


def test_an_edit_changes_the_key_of_the_cache(tmp_path, monkeypatch):
    loop, record = evaluation._evaluate_lanes, from_dtype(connect_four.KERNEL.state)

    def key() -> Any:
        signature = (types.Array(record, 1, "C"), types.float64[:, ::1])
        return loop._cache._index_key(signature, loop.targetctx.codegen())

    keys = {key()}
    for path, source in (
        ("1/game/heuristic.py", "one"),
        ("2/game/heuristic.py", "another"),
        # The same code in another module: what Numba keeps imports the module that it came from.
        ("2/game/moved.py", "another"),
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        monkeypatch.setitem(compiling.SOURCES, record, str(file))
        keys.add(key())
        assert key() in keys
    assert len(keys) == 4


def test_a_heuristic_s_file_is_known(monkeypatch):
    record = from_dtype(connect_four.KERNEL.state)
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "_HEURISTICS", {})
        patch.setattr(evaluation, "SOURCES", {})
        evaluation.register_heuristic(connect_four.KERNEL, lambda state, values: None)
        assert evaluation.has_heuristic(connect_four.KERNEL)
        assert {record: __file__} == evaluation.SOURCES
    assert not evaluation.has_heuristic(connect_four.KERNEL)


# Symmetry


def swapped(states: Any, order: list[int], names: tuple[str, ...]) -> Any:
    """A state in which player i has what player order[i] had, in fields of one entry a player."""
    twin = states.copy()
    for name in (*names, "scores"):
        values = states[name].copy()
        values[:, : len(order)] = states[name][:, order]
        twin[name] = values
    twin["to_move"] = order.index(int(states["to_move"][0]))
    return twin


@pytest.mark.parametrize(
    ("name", "players", "fields"),
    [
        ("kirche", 2, ("pieces",)),
        ("tuerme", 2, ("colours",)),
        ("tuerme", 3, ("colours",)),
        ("meeples", 2, ("meeples", "blocks", "hands", "supply")),
        ("meeples", 4, ("meeples", "blocks", "hands", "supply")),
    ],
)
def test_players_are_treated_alike(name, players, fields):
    env = raw_env(name, **({} if name == "kirche" else {"num_players": players}))
    order = list(range(players))
    compared = 0
    for seed in range(12):
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 30 + 17 * seed)
        states, _ = env.lane()
        if over(env) or (name == "meeples" and states["phase"][0] >= 4):
            continue  # in the phase of the meeples it matters who has had the turn
        random.Random(seed).shuffle(order)
        values = np.zeros(players)
        evaluate(swapped(states, order, fields), values)
        assert values.tolist() == pytest.approx([compiled_values(env)[i] for i in order])
        compared += order != sorted(order)
    assert compared >= 3


def test_kirche_has_no_preferred_direction():
    env = raw_env("kirche")
    for seed in range(20):
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 10 + 8 * seed)
        if over(env):
            continue
        snapshot = env.snapshot()
        # Over the main diagonal, where ridges turn, too; and from left to right.
        for image, turns in (
            (lambda s: s % 7 * 7 + s // 7, True),
            (lambda s: s // 7 * 7 + 6 - s % 7, False),
        ):
            twin = raw_env("kirche")
            pieces = [
                [
                    piece
                    | {
                        "square": image(piece["square"]),
                        "ridge": {"h": "v", "v": "h"}[piece["ridge"]] if turns else piece["ridge"],
                    }
                    for piece in own
                ]
                for own in snapshot["pieces"]
            ]
            twin.restore(snapshot | {"pieces": pieces, "pastor": image(snapshot["pastor"])})
            assert evaluation.value(twin) == evaluation.value(env)
