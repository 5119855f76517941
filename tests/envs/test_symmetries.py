"""Symmetries: games beside their images, positions of all options, groups, batches, and that there
are no others.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabletop_envs import make_batch
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.kernels import Part
from tabletop_envs.kernels.tuerme.plan import COLUMNS, FIELDS, ROWS
from tabletop_envs.symmetries import Symmetry, square_board
from tests.games import GAMES, STRATEGIES, each_case, each_game, legal_actions, module, over, play
from tests.games import raw_env as make_env

BOARD = [
    *("identity", "flip_left_right", "flip_up_down", "rotate_180"),
    *("transpose", "rotate_270", "rotate_90", "antitranspose"),
]
MIRROR, COLOURS = "flip_left_right", "swap_neutral_colours"
NAMES = {
    ("kirche", 2): BOARD,
    ("tuerme", 2): ["identity", MIRROR, COLOURS, f"{MIRROR}, {COLOURS}"],
    ("tuerme", 3): ["identity", MIRROR],
    ("tuerme", 4): ["identity", MIRROR],
    **{("meeples", players): BOARD for players in (2, 3, 4)},
}


def game_of(name: str) -> Game:
    """The description of a game."""
    game: Game = module(name).GAME
    return game


def assert_image(symmetry: Symmetry, env: TabletopEnv, image: TabletopEnv) -> None:
    """Whether one environment's position is the other's image, in all that it shows."""
    expected = symmetry.apply_snapshot(env.snapshot())
    given = image.snapshot()
    assert given == expected, (symmetry, [key for key in given if given[key] != expected[key]])
    assert (image.rewards, image.infos) == (env.rewards, env.infos)
    for agent in env.possible_agents:
        shown, there = env.observe(agent), image.observe(agent)
        seen, mask = shown["observation"], shown["action_mask"]
        np.testing.assert_array_equal(symmetry.apply_observation(seen), there["observation"])
        mirrored = symmetry.apply_mask(mask, seen)
        np.testing.assert_array_equal(mirrored, there["action_mask"])
        np.testing.assert_array_equal(symmetry.undo_mask(mirrored, seen), mask)


@each_case
def test_a_game_and_its_image_are_played_beside_each_other(name, options):
    # Nothing is restored between the first stone and the end, so that the successors of images are
    # the images of successors, dice included.
    env, rng = make_env(name, **options), random.Random(1)
    env.reset(seed=1)
    symmetries = env.game.symmetries(env.options)
    images = [make_env(name, **options) for _ in symmetries]
    holds = np.bool_(False)
    for ply in itertools.count():
        fresh = not holds
        for symmetry, image in zip(symmetries, images, strict=True):
            if fresh:
                image.restore(symmetry.apply_snapshot(env.snapshot()))
            # A difference does not vanish: later one look in four is enough.
            if fresh or ply < 20 or over(env) or not rng.randrange(4):
                assert_image(symmetry, env, image)
        if over(env):
            break
        action, seen = rng.choice(legal_actions(env)), env.observe(env.agent_selection)
        # Only the first stone of meeples lies where it must (M7).
        holds = symmetries[-1].holds(seen["observation"])
        assert holds or (name == "meeples" and not env.snapshot()["stones"])
        for symmetry, image in zip(symmetries, images, strict=True):
            if holds:
                image.step(int(symmetry.apply_action(action, seen["observation"])))
        env.step(action)


@st.composite
def positions(draw: st.DrawFn, names: list[str]) -> TabletopEnv:
    """A position in the middle of a game, of any options."""
    name = draw(st.sampled_from(names))
    env = make_env(name, **draw(STRATEGIES[name]))
    env.reset(seed=draw(st.integers(0, 2**32)))
    rng = random.Random(draw(st.integers(0, 2**32)))
    play(env, rng.randrange, draw(st.integers(0, 250)))
    return env


@settings(max_examples=60, deadline=None)
@given(positions(GAMES))
def test_they_are_a_group(env):
    symmetries = env.game.symmetries(env.options)
    agent = env.agent_selection
    seen, snapshot = env.observe(agent)["observation"], env.snapshot()
    # In a finished game all actions are unmasked, whether they mean anything or not.
    actions = [] if over(env) else legal_actions(env)

    def views(symmetry: Symmetry, position: Any) -> tuple[Any, ...]:
        seen, actions, snapshot = position
        return (
            symmetry.apply_observation(seen),
            symmetry.apply_action(actions, seen).tolist() if actions else [],
            symmetry.apply_snapshot(snapshot),
        )

    def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        return np.array_equal(one[0], other[0]) and one[1:] == other[1:]

    here = (seen, actions, snapshot)
    images = [views(symmetry, here) for symmetry in symmetries]
    assert same(images[0], here)
    for image, then in itertools.product(images, symmetries):
        assert any(same(views(then, image), one) for one in images)
    for image in images:
        assert any(same(views(back, image), here) for back in symmetries)


@settings(max_examples=30, deadline=None)
@given(positions(["meeples"]), st.integers(0, 2**64 - 1))
def test_hidden_stones_are_dealt_alike_in_the_image(env, generator):
    for symmetry in env.game.symmetries(env.options):
        image = make_env("meeples", **env.options)
        image.restore(symmetry.apply_snapshot(env.snapshot()))
        for agent in env.possible_agents:
            guess = env.clone(hide_from=agent, rng=generator)
            there = image.clone(hide_from=agent, rng=generator)
            assert there.snapshot() == symmetry.apply_snapshot(guess.snapshot())


@pytest.mark.parametrize(("name", "players"), NAMES)
def test_their_names_and_number(name, players):
    game = game_of(name)
    symmetries = game.symmetries({"num_players": players})
    assert [symmetry.name for symmetry in symmetries] == NAMES[name, players]
    # All different, and the same objects at every call.
    maps = {(*one.observation.tolist(), *one.actions.tolist()) for one in symmetries}
    assert len(maps) == len(symmetries)
    assert game.symmetries({"num_players": players}) is symmetries


@each_game
def test_batches_of_any_shape_and_dtype_are_taken_row_by_row(name):
    batch = make_batch(name, 6, seed=1)
    for _ in range(40):
        batch.step(batch.sample_actions())
    seen, mask = batch.observation, batch.action_mask
    actions = batch.sample_actions().copy()
    for symmetry in game_of(name).symmetries(batch.options):
        image = symmetry.apply_observation(seen)
        mirrored, moved = symmetry.apply_mask(mask, seen), symmetry.apply_action(actions, seen)
        assert (image.dtype, mirrored.dtype, moved.dtype) == (np.int8, np.bool_, np.int64)
        for lane in range(6):
            np.testing.assert_array_equal(symmetry.apply_observation(seen[lane]), image[lane])
            one = symmetry.apply_mask(mask[lane], seen[lane])
            np.testing.assert_array_equal(one, mirrored[lane])
            assert symmetry.apply_action(actions[lane], seen[lane]) == moved[lane]
            assert mirrored[lane, moved[lane]]
        nested = seen.reshape(2, 3, -1).astype(np.float32)
        np.testing.assert_array_equal(
            symmetry.apply_observation(nested), image.reshape(2, 3, -1).astype(np.float32)
        )
        policy = np.random.default_rng(1).random((2, 3, batch.num_actions), np.float32)
        there = symmetry.apply_mask(policy, nested)
        assert there.dtype == np.float32
        np.testing.assert_array_equal(symmetry.undo_mask(there, nested), policy)
        np.testing.assert_array_equal(
            np.take_along_axis(there, moved.reshape(2, 3, 1), -1),
            np.take_along_axis(policy, actions.astype(np.int64).reshape(2, 3, 1), -1),
        )


def test_what_is_given_stays_as_it_is():
    env = make_env("kirche", num_houses=1)
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 20)
    snapshot, shown = env.snapshot(), env.observe(env.agent_selection)
    seen, mask = shown["observation"].copy(), shown["action_mask"].copy()
    for symmetry in env.game.symmetries(env.options):
        symmetry.apply_observation(seen)[:] = 9
        symmetry.apply_mask(mask, seen)[:] = 9
        symmetry.apply_snapshot(snapshot)["pieces"][0].clear()
    assert snapshot == env.snapshot()
    np.testing.assert_array_equal(seen, shown["observation"])
    np.testing.assert_array_equal(mask, shown["action_mask"])


def test_t1_t2_no_other_symmetry_of_the_board_fits_the_plan():
    board = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    fitting = []
    for rows, columns in itertools.product((1, -1), repeat=2):
        goes = board[::rows, ::columns].ravel()
        for symbols in itertools.permutations("0123"):
            image = dict(zip("0123.", (*symbols, "."), strict=True))
            if all(
                FIELDS[square] == image[field] for field, square in zip(FIELDS, goes, strict=True)
            ):
                fitting.append((rows, columns, "".join(symbols)))
    assert fitting == [(1, 1, "0123"), (1, -1, "0321")]


def test_m7_a_table_without_a_stone_is_its_own_image():
    env = make_env("meeples")
    env.reset(seed=1)
    for _ in range(3):
        shown, snapshot = env.observe("player_0"), env.snapshot()
        seen, mask = shown["observation"], shown["action_mask"]
        for symmetry in env.game.symmetries(env.options):
            assert not symmetry.holds(seen)
            np.testing.assert_array_equal(symmetry.apply_observation(seen), seen)
            np.testing.assert_array_equal(symmetry.apply_mask(mask, seen), mask)
            assert symmetry.apply_snapshot(snapshot) == snapshot
        env.step(legal_actions(env)[0])
    assert env.snapshot()["stones"]
    assert env.game.symmetries(env.options)[0].holds(env.observe("player_1")["observation"])


def test_squares_of_a_square_board():
    where = {name: squares[0].tolist() for name, squares in square_board(3).items()}
    assert list(where) == BOARD
    # Where the squares of the upper row go.
    assert where["flip_left_right"] == [2, 1, 0]
    assert where["flip_up_down"] == [6, 7, 8]
    assert where["rotate_90"] == [2, 5, 8]
    assert where["rotate_180"] == [8, 7, 6]
    assert where["rotate_270"] == [6, 3, 0]
    assert where["transpose"] == [0, 3, 6]
    assert where["antitranspose"] == [8, 5, 2]


KERNEL: Any = type("Small", (), {"observation": (Part("board", (2, 2, 3)), Part("rest", (2,))), "num_actions": 3})  # fmt: skip


def test_planes_and_numbers_go_where_they_are_told():
    squares = np.arange(6).reshape(2, 3)[:, ::-1]
    symmetry = Symmetry("flip", KERNEL, squares=squares, parts={"board": (1, 0)}, actions=[1, 2, 0])
    seen = np.arange(14)
    image = [8, 7, 6, 11, 10, 9, 2, 1, 0, 5, 4, 3, 12, 13]
    assert symmetry.apply_observation(seen).tolist() == image
    assert symmetry.apply_mask([5, 6, 7], seen).tolist() == [7, 5, 6]
    assert symmetry.apply_action([0, 1, 2], np.stack([seen] * 3)).tolist() == [1, 2, 0]
    one_by_one = Symmetry("swap", KERNEL, parts={"board": [1, 0, *range(2, 12)], "rest": [1, 0]})
    assert one_by_one.apply_observation(seen).tolist() == [1, 0, *range(2, 12), 13, 12]
    assert one_by_one.apply_action(2, seen) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"squares": [[0, 1, 2], [3, 4, 4]]}, "squares must have each of the 6 integers from 0"),
        ({"squares": [[0, 1], [2, 3]]}, r"squares has the shape \(2, 2\), but must have that of"),
        ({"actions": [0, 1]}, "actions must have each of the 3 integers from 0 to 2 once"),
        ({"actions": [0.0, 1.5, 2.0]}, "actions must have each of the 3 integers"),
        ({"parts": {"rest": [1, 1]}}, r"parts\['rest'\] must have each of the 2 integers"),
        ({"parts": {"bord": [1, 0]}}, "parts has 'bord', but its keys must be board, rest"),
    ],
)
def test_what_is_no_permutation_is_named(arguments, words):
    with pytest.raises(ValueError, match=f"symmetry 'flip': {words}"):
        Symmetry("flip", KERNEL, **arguments)
