"""meeples in words: action names, the drawing, what it says of each phase and hides."""

import itertools
import textwrap

import pytest

from tabletop_envs import meeples_v0
from tests.envs.meeples.test_environment import reach
from tests.games import raw_env
from tests.rules.meeples.positions import ALL_STONES, ROLLS_3_6, across, at, down, position

# Positions of two players, and walks from them through all phases


FIRST_STONES = across(12, 11, "04 36") | down(13, 13, "13") | across(11, 14, "25")
SMALL = (
    down(8, 12, "41")
    | down(10, 12, "33")
    | across(11, 13, "00")
    | across(12, 11, "04")
    | across(12, 14, "36")
    | down(13, 12, "42")
    | down(13, 13, "13")
    | down(13, 14, "26")
)
# Each case: a position, and the actions from there on by name, each with what the caption says
# before it.
BEFORE_MEEPLES = "to put or move a meeple, or end the turn"
WALKS = {
    "stones": (
        position("stones", FIRST_STONES, {at(12, 12): 0, at(12, 13): 1}),
        [
            ("round 1, ply 24, player_0 to lay a stone", "lay 0-0"),
            ("player_0 to lay a stone; chosen: 0-0", "first half on 10,14"),
            ("player_0 to lay a stone; chosen: 0-0, first half on 10,14", "left"),
            ("round 1, ply 27, player_1 to lay a stone", "lay 2-4"),
            ("player_1 to lay a stone; chosen: 2-4", "first half on 15,13"),
            ("first half on 15,13", "down"),
            ("round 1, ply 30, player_0 to set a block, pass, or re-roll if nothing fits", "pass"),
        ],
    ),
    "blocks": (
        position(
            "blocks",
            SMALL,
            {at(12, 12): 0, at(12, 15): 1},
            dice=[4, 6],
            dice_per_player=1,
            rng=ROLLS_3_6,
        ),
        [
            ("player_0 to set a block, pass, or re-roll if nothing fits", "set block on 13,12"),
            ("player_1 to set a block, pass, or re-roll if nothing fits", "re-roll"),
            ("player_1 to set a block or pass", "set block on 12,14"),
            ("ply 37, player_0 " + BEFORE_MEEPLES, "end turn"),
        ],
    ),
    "give_up": (
        position(
            "give_up",
            SMALL,
            {at(12, 12): 0, at(12, 15): 1},
            {at(13, 12): 0},
            dice=[5],
            set_block=[True, False],
            fails=1,
        ),
        [
            ("round 2, ply 34, player_0 to give up a block", "give up block 13,12"),
            ("round 2, ply 35, player_1 to set a block, pass, or re-roll if nothing fits", "pass"),
        ],
    ),
    "meeples": (
        position(
            "meeples",
            ALL_STONES,
            {at(12, 5): 0, at(12, 18): 1},
            {at(12, 9): 0, at(12, 13): 0, at(12, 16): 0},
        ),
        [
            ("round 12, ply 134, player_0 " + BEFORE_MEEPLES, "move meeple 12,5"),
            (BEFORE_MEEPLES + "; chosen: the meeple on 12,5", "to 12,13"),
            ("to sidestep with a meeple, or decline; set off on 12,13", "sidestep 12,13"),
            ("or decline; chosen: the meeple on 12,13; set off on 12,13", "to 11,14"),
            ("player_0 " + BEFORE_MEEPLES, "put meeple on 12,9"),
            ("player_0 to put a clone; set off on 12,9", "clone to 11,9"),
            ("player_0 to teleport the meeple; set off on 11,9", "teleport to 11,5"),
            ("player_0 " + BEFORE_MEEPLES, "put meeple on 12,16"),
            ("to lay a stone elsewhere (land); set off on 12,16", "pick up 0-0"),
            ("stone elsewhere (land); chosen: 0-0; set off on 12,16", "first half on 9,7"),
            ("chosen: 0-0, first half on 9,7; set off on 12,16", "up"),
            ("player_0 " + BEFORE_MEEPLES, "end turn"),
            ("player_1 " + BEFORE_MEEPLES, "end turn"),
        ],
    ),
    "sidestep": (
        position(
            "sidestep", ALL_STONES, {at(12, 13): 0, at(12, 18): 1}, fired=[3], source=at(12, 13)
        ),
        [("player_0 to sidestep with a meeple, or decline; set off on 12,13", "decline")],
    ),
}


@pytest.mark.parametrize("start", WALKS)
def test_actions_and_decisions_are_named_in_every_phase(start):
    env = raw_env("meeples", render_mode="ansi")
    snapshot, walk = WALKS[start]
    env.restore(snapshot)
    assert env.snapshot()["phase"] == start
    for caption, name in walk:
        shown = env.render().splitlines()[-1]
        assert shown.endswith(caption)
        assert shown.startswith("round ")
        action = env.str_to_action(name)
        assert env.action_to_str(action) == name
        env.step(action)


def drawn(snapshot, viewer=None, colour=False):
    """The drawing for the terminal."""
    return meeples_v0.GAME.text(snapshot, viewer, colour)


def test_actions_and_decisions_are_named_in_the_setup():
    env = raw_env("meeples", render_mode="ansi")
    env.reset(seed=1)
    first, second = (f"{a}-{b}" for a, b in env.snapshot()["hands"][0][4:6])
    for caption, name in (
        ("round 0, ply 0, player_0 to lay a stone", f"lay {first}"),
        (f"player_0 to lay a stone; chosen: {first}", "first half on 12,11"),
        (f"lay a stone; chosen: {first}, first half on 12,11", "right"),
        ("player_0 to lay a stone", f"lay {second}"),
        (f"player_0 to lay a stone; chosen: {second}", "first half on 13,11"),
        (f"chosen: {second}, first half on 13,11", "down"),
        (
            "round 0, ply 6, player_0 to put a meeple on one of the two stones",
            "put meeple on 14,11",
        ),
        ("round 0, ply 7, player_1 to lay a stone", None),
    ):
        assert env.render().splitlines()[-1].endswith(caption)
        if name is not None:
            env.step(env.str_to_action(name))


def small_position(**parts):
    """The position that the manual draws."""
    meeples = {at(10, 12): 0, at(12, 12): 0, at(14, 12): 0}
    meeples |= {at(12, 15): 1, at(13, 14): 1, at(14, 14): 1}
    blocks = {at(13, 12): 0, at(13, 13): 1, at(14, 13): 1}
    snapshot = position("meeples", SMALL, meeples, blocks, [5, 2, 5], **parts)
    env = raw_env("meeples", render_mode="ansi")
    env.restore(snapshot)
    return env


SMALL_TABLE = """\
     10 11 12 13 14 15 16
  7  ·  ·  ·  ·  ·  ·  ·

  8  ·  ·  4  ·  ·  ·  ·
           │
  9  ·  ·  1  ·  ·  ·  ·

 10  ·  ·  3A ·  ·  ·  ·
           │
 11  ·  ·  3  0──0  ·  ·

 12  ·  0──4A ·  3──6B ·

 13  ·  ·  4a 1b 2B ·  ·
           │  │  │
 14  ·  ·  2A 3b 6B ·  ·

 15  ·  ·  ·  ·  ·  ·  ·
"""
SMALL_TEXT = (
    SMALL_TABLE
    + """

dice in the pool: 2 5 5
player_0 (A): 7 meeples in supply, hand: 0-1 0-2 0-3 0-5 0-6 1-1 1-2 1-5 1-6 2-2
player_1 (B): 7 meeples in supply, hand: 2-3 2-5 3-4 3-5 4-4 4-5 4-6 5-5 5-6 6-6
round 2, ply 34, player_0 to put or move a meeple, or end the turn
"""
)


def test_a_small_position_is_drawn_exactly_and_as_in_the_manual():
    env = small_position()
    assert env.render() == SMALL_TEXT
    manual = textwrap.dedent(meeples_v0.env.__globals__["__doc__"])
    assert textwrap.indent(SMALL_TABLE, "    ") in manual


def test_hands_are_drawn_for_whom_they_are_open():
    env = small_position()
    own, other = SMALL_TEXT.splitlines()[-3:-1]
    for viewer, hidden in (("player_0", other), ("player_1", own)):
        size_alone = hidden.partition("hand:")[0] + "10 stones in hand"
        assert env.render(viewer=viewer) == SMALL_TEXT.replace(hidden, size_alone)
    snapshot = env.snapshot()
    snapshot["options"]["open_hands"] = True
    env.restore(snapshot)
    for viewer in (None, "player_0", "player_1"):
        assert env.render(viewer=viewer) == SMALL_TEXT


def test_a_stone_being_laid_is_drawn_only_for_whom_it_is_open():
    env = reach(lambda s: s["phase"] == "stones" and s["chosen"]["field"] is not None)
    snapshot = env.snapshot()
    mover = snapshot["to_move"]
    a, b = snapshot["chosen"]["stone"]
    for viewer, shown in ((None, True), (mover, True), (1 - mover, False)):
        caption = drawn(snapshot, viewer).splitlines()[-1]
        assert (f"; chosen: {a}-{b}, first half on" in caption) == shown
        assert caption.endswith("to lay a stone") != shown
    snapshot["options"]["open_hands"] = True
    assert drawn(snapshot, 1 - mover) == drawn(snapshot)


def test_the_drawing_in_terminal_colours_is_the_same_drawing():
    snapshot = small_position().snapshot()
    coloured = drawn(snapshot, colour=True)
    letters = "".join(f"{value}{mark}" for value, mark in itertools.product("123456", "AaBb"))
    for player, tint in enumerate((31, 34)):
        assert coloured.count(f"\x1b[1;{tint}m") == (4, 5)[player]
        for piece in coloured.split(f"\x1b[1;{tint}m")[1:]:
            assert piece[:2] in letters
            assert piece[1] in "AaBb"[2 * player : 2 * player + 2]
            assert piece[2:].startswith("\x1b[0m")
        coloured = coloured.replace(f"\x1b[1;{tint}m", "")
    assert coloured.replace("\x1b[0m", "") == SMALL_TEXT
    assert "\x1b" not in SMALL_TEXT
    # Four players: a letter and a colour each.
    env = reach(lambda s: s["round"] == 1, num_players=4)
    coloured = drawn(env.snapshot(), colour=True)
    for letter, tint in zip("ABCD", (31, 34, 32, 33), strict=True):
        assert coloured.count(f"\x1b[1;{tint}m") == 1
        assert coloured.split(f"\x1b[1;{tint}m")[1][1] == letter


def test_the_drawing_ends_at_the_edges_of_the_table():
    corners = {(0, 1): (at(0, 0), at(0, 1)), (2, 3): (at(23, 23), at(22, 23))}
    lines = drawn(
        position("stones", SMALL, {})
        | {"stones": [{"stone": list(s), "fields": list(f)} for s, f in corners.items()]}
    ).splitlines()
    assert lines[0] == "     " + "".join(f"{column:<3}" for column in range(24)).rstrip()
    assert lines[1] == "  0  0──1  " + "·  " * 21 + "·"
    assert [line[:3] for line in lines[1:49:2]] == [f"{row:>3}" for row in range(24)]
    assert lines[45].endswith("·  3")
    assert lines[46].endswith(" │")
    assert lines[47] == " 23  " + "·  " * 23 + "2"


def test_the_drawing_says_who_has_passed_and_how_a_game_ended():
    env = reach(lambda s: 1 in s["dice_allowed"] and True in s["passed"])
    snapshot = env.snapshot()
    passed = snapshot["passed"].index(True)
    lines = drawn(snapshot).splitlines()
    assert "in supply, has passed, hand" in lines[-3 + passed]
    assert "in supply, may take 1 more, hand" in lines[-2 - passed]
    env = reach(lambda s: s["outcome"] is not None)
    scores = " : ".join(map(str, env.snapshot()["outcome"]["scores"]))
    ended = env.snapshot()
    start = f"round {ended['round']}, ply {ended['ply']}, over"
    assert drawn(ended).splitlines()[-1] == f"{start}, scores {scores}"
    env = reach(lambda s: s["outcome"] is not None, max_plies=5)
    assert drawn(env.snapshot()).splitlines()[-1] == (
        "round 0, ply 5, over (by max_plies), scores 0 : 0"
    )
    assert "dice in the pool: none" in drawn(env.snapshot())
