"""kirche alone: impossible snapshots, the observation decoded, action names, the drawing."""

import random

import numpy as np
import pytest

from tests.envs.test_copies import assert_refused, spoil
from tests.games import legal_actions, over, play, raw_env


@pytest.fixture
def moving():
    """A game of which some moves have been played."""
    env = raw_env("kirche")
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 60)
    return env


@pytest.fixture
def placing():
    """A game in which half of the houses stand."""
    env = raw_env("kirche")
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 12)
    return env


def test_impossible_pieces_are_refused(moving):
    good = moving.snapshot()
    house = good["pieces"][0][5]
    other = good["pieces"][1][4]
    for path, value, words in (
        (["pastor"], [24, 25], "pastor"),
        (["pastor"], 49, "pastor"),
        (["pastor"], -1, "pastor"),
        (["pastor"], None, "pastor"),
        (["pastor"], house["square"], "the pastor"),
        (["pieces", 0, 5, "square"], 49, "square"),
        (["pieces", 0, 5, "square"], -1, "square"),
        (["pieces", 0, 5, "square"], 3.0, "square"),
        (["pieces", 0, 5, "square"], other["square"], "both"),
        (["pieces", 0, 5, "ridge"], "x", "ridge"),
        (["pieces", 0, 5, "ridge"], None, "ridge"),
        (["pieces", 0, 5, "kind"], "tower", "kind"),
        (["pieces", 0, 5, "kind"], "spire", "number of light"),
        (["pieces", 0, 5], ..., "number of light"),
        (["pieces", 0, 5, "colour"], "red", "keys"),
        (["pieces", 0, 5, "ridge"], ..., "keys"),
        (["pieces", 0], good["pieces"][0] * 2, "both"),
        (["pieces"], good["pieces"][:1], "pieces"),
        (["pieces"], {}, "pieces"),
        (["phase"], "houses", "phase"),
        (["phase"], "castles", "phase"),
        (["phase"], 2, "phase"),
        (["ply"], 10, "phase"),
        (["options", "num_houses"], 8, "num_houses"),
        (["options", "num_houses"], 6, "number of light"),
        (["rng"], 5, "rng"),
    ):
        assert_refused(moving, spoil(good, path, value), words)


def test_nine_houses_are_refused(moving):
    snapshot = moving.snapshot()
    taken = {piece["square"] for pieces in snapshot["pieces"] for piece in pieces}
    taken.add(snapshot["pastor"])
    free = [square for square in range(49) if square not in taken][:2]
    snapshot["pieces"][1] += [{"kind": "house", "square": square, "ridge": "h"} for square in free]
    assert_refused(moving, snapshot, "number of dark")


def test_impossible_placements_are_refused(placing):
    good = placing.snapshot()
    spire = good["pieces"][0][0]["square"]
    beside = spire + (7 if spire < 42 else -7)
    for path, value, words in (
        (["pastor"], 17, "K1"),
        (["pieces", 0, 0, "square"], 16 if spire != 16 else 17, "K3"),
        (["pieces", 0, 2, "square"], beside, "K4"),
        (["phase"], "moves", "phase"),
        (["to_move"], 1, "to_move"),
        (["pieces", 1, 5], ..., "number of dark"),
    ):
        assert_refused(placing, spoil(good, path, value), words)
    swapped = spoil(good, ["pieces", 0, 1, "square"], good["pieces"][1][0]["square"])
    swapped["pieces"][1][0]["square"] = good["pieces"][0][1]["square"]
    assert_refused(placing, swapped, "K3")


def test_either_player_may_be_to_move_in_a_puzzle(moving):
    snapshot = {**moving.snapshot(), "to_move": 1}
    moving.restore(snapshot)
    assert moving.snapshot() == snapshot
    assert moving.agent_selection == "player_1"
    moving.step(legal_actions(moving)[0])
    assert moving.agent_selection == "player_0"
    assert moving.snapshot()["pieces"][0] == snapshot["pieces"][0]
    assert moving.snapshot()["pieces"][1] != snapshot["pieces"][1]


def test_a_town_that_is_complete_already_wins_nothing_for_its_owner():
    """K10: the opponent is never made to win by one's own move."""
    env = raw_env("kirche", num_houses=1)
    env.reset(seed=1)
    town = {
        **env.snapshot(),
        "ply": 40,
        "phase": "moves",
        "to_move": 0,
        "pieces": [
            [
                {"kind": "spire", "square": 0, "ridge": "h"},
                {"kind": "nave", "square": 48, "ridge": "h"},
                {"kind": "house", "square": 42, "ridge": "h"},
            ],
            [
                {"kind": "spire", "square": 16, "ridge": "h"},
                {"kind": "nave", "square": 17, "ridge": "h"},
                {"kind": "house", "square": 18, "ridge": "h"},
            ],
        ],
    }
    env.restore(town)
    env.step(legal_actions(env)[0])
    assert not over(env)
    assert env.infos["player_1"]["score"] == 0
    # Its own next move wins if the town is whole after it, and the finished game can be restored.
    env.restore({**town, "to_move": 1})
    env.step(env.str_to_action("move house 2,4 right 1"))
    assert not over(env)
    env.step(legal_actions(env)[0])
    env.step(env.str_to_action("move house 2,5 left 1"))
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    ended = env.snapshot()
    env.reset(seed=1)
    env.restore(ended)
    assert env.snapshot() == ended
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


def test_a_win_that_is_none_is_refused(moving):
    running = moving.snapshot()
    won = {"scores": [1, 0], "rewards": [1.0, -1.0], "by_limit": False}
    assert_refused(moving, {**running, "to_move": 1, "outcome": won}, "scores")


def rebuild(parts):
    """The part of a snapshot that an observation shows, from the observing player's side."""
    seat = int(parts["seat"].argmax())
    pieces = [[], []]
    for owner, name in ((seat, "own_pieces"), (1 - seat, "other_pieces")):
        for kind, plane in zip(("spire", "nave", "house"), parts[name], strict=True):
            for square in np.flatnonzero(plane):
                ridge = "h" if parts["ridges"][0].flat[square] else "v"
                assert parts["ridges"][:, square // 7, square % 7].sum() == 1
                pieces[owner].append({"kind": kind, "square": int(square), "ridge": ridge})
    to_move = parts["to_move"]
    return {
        "ply": int(parts["ply"] @ [1, 128, 128**2]),
        # Nobody acts once the game is over.
        **({"to_move": (seat + int(to_move.argmax())) % 2} if to_move.any() else {}),
        "phase": ("churches", "houses", "moves")[int(parts["phase"].argmax())],
        "pastor": int(parts["pastor"].argmax()),
        "pieces": pieces,
    }


@pytest.mark.parametrize("num_houses", [1, 4, 7])
def test_the_snapshot_can_be_rebuilt_from_either_observation(num_houses):
    env = raw_env("kirche", num_houses=num_houses)
    env.reset(seed=num_houses)
    rng = random.Random(num_houses)
    while True:
        snapshot = env.snapshot()
        for player, agent in enumerate(env.possible_agents):
            parts = env.split_observation(env.observe(agent)["observation"])
            assert rebuild(parts) == {key: snapshot[key] for key in rebuild(parts)}
            assert parts["seat"].tolist() == [player == 0, player == 1]
            placed = [sum(p["kind"] == "house" for p in own) for own in snapshot["pieces"]]
            assert parts["houses_left"].tolist() == [
                num_houses - placed[player],
                num_houses - placed[1 - player],
            ]
        if over(env):
            break
        play(env, rng.randrange, 1)


def test_a_long_game_s_ply_is_seen_whole():
    env = raw_env("kirche", max_plies=2**21 - 1)
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 100)
    snapshot = env.snapshot()
    snapshot["ply"] += 1_234_568 - 100
    env.restore(snapshot)
    parts = env.split_observation(env.observe("player_0")["observation"])
    assert parts["ply"] @ [1, 128, 128**2] == 1_234_568


def test_action_names():
    env = raw_env("kirche", num_houses=1)
    env.reset(seed=1)
    names = [env.action_to_str(0)]
    for action in (0, 97, 6, 91, 16, 81):
        env.step(action)
        names.append(env.action_to_str(legal_actions(env)[0]))
    assert names == [
        "place spire 0,0 horizontal",
        "place nave 6,6 horizontal",
        "place spire 0,6 horizontal",
        "place nave 6,0 horizontal",
        "place house 0,2 horizontal",
        "place house 0,1 horizontal",
        "move spire 0,0 right 1",
    ]


def test_the_drawing_shows_pieces_ridges_and_the_pastor():
    env = raw_env("kirche", num_houses=1, render_mode="ansi")
    env.reset(seed=1)
    for action in (0, 97, 55, 42, 16):
        env.step(action)
    assert env.render().splitlines() == [
        "     0   1   2   3   4   5   6",
        "0   S—   ·   ·   ·   ·   ·  s|",
        "1    ·   ·   ·   ·   ·   ·   ·",
        "2    ·   ·  H—   ·   ·   ·   ·",
        "3    ·   ·   ·   +   ·   ·   ·",
        "4    ·   ·   ·   ·   ·   ·   ·",
        "5    ·   ·   ·   ·   ·   ·   ·",
        "6   n—   ·   ·   ·   ·   ·  N|",
        "ply 5, dark (player_1) to place a house",
    ]
    plain, coloured = (env.game.text(env.snapshot(), None, colour) for colour in (False, True))
    assert plain == env.render()
    assert coloured.count("\x1b[1;33m") == 3
    assert coloured.count("\x1b[1;34m") == 2
