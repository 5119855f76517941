"""Positions of meeples phase by phase: what cannot be in it is refused in words."""

import re

import pytest

from tests.envs.meeples.test_drawing import FIRST_STONES, SMALL, small_position
from tests.envs.meeples.test_environment import reach
from tests.envs.meeples.test_snapshots import assert_all_refused, of, restored
from tests.envs.test_copies import assert_refused, spoil
from tests.games import play, raw_env
from tests.rules.meeples.positions import ALL_STONES, at, position

# The setup (M7, M8)


@pytest.fixture
def setup():
    """The setup of player 1, who has laid two stones."""
    return reach(
        lambda s: s["phase"] == "setup" and s["to_move"] == 1 and len(s["setup_stones"]) == 2
    )


def test_m7_impossible_setups_are_refused(setup):
    good = setup.snapshot()
    one, other = good["setup_stones"]
    earlier = [s["stone"] for s in good["stones"] if s["stone"] not in (one, other)]
    laid = {tuple(entry["stone"]): number for number, entry in enumerate(good["stones"])}
    values = {
        field: half
        for entry in good["stones"]
        for field, half in zip(entry["fields"], entry["stone"], strict=True)
    }
    field = next(f for f, v in values.items() if v and f != good["meeples"][0]["field"])
    second = [*good["meeples"], {"field": field, "player": 1}]
    assert_all_refused(
        setup,
        (["setup_stones"], [one], "the number of laid stones"),
        (["setup_stones"], [one, other, earlier[0]], "setup_stones must have at most two stones"),
        (["setup_stones"], [one, one], "setup_stones must have no stone twice"),
        (
            ["setup_stones"],
            [one, good["hands"][0][0]],
            "setup_stones has .* must have stones that are laid",
        ),
        (["to_move"], 0, "the number of laid stones"),
        (["ply"], good["ply"] + 1, "ply"),
        (["round"], 1, "round is 1, but must be 0 in the setup"),
        (["moved"], True, "moved is True, but must be False in phase 'setup'"),
        (["new_meeples"], 1, "new_meeples is 1"),
        (["stale_rounds"], 1, "stale_rounds is 1"),
        (["meeples"], [], "the supply of player 0"),
        (["phase"], "meeples", "round is 0, but must be 0 in the setup and only there"),
    )
    chosen = of(good, chosen={"stone": None, "field": field}, ply=good["ply"] + 1)
    assert_refused(
        setup, chosen, r"chosen\['field'\] must be None in phase 'setup' without a stone"
    )
    assert_refused(
        setup, of(good, meeples=[], supply=[10, 10]), "the number of meeples of player 0"
    )
    assert_refused(
        setup, of(good, meeples=second, supply=[9, 9]), "the number of meeples of player 1"
    )
    hands = [good["hands"][0][1:], [*good["hands"][1], good["hands"][0][0]]]
    assert_refused(setup, of(good, hands=hands), r"size of hands\[0\]")
    far = spoil(good, ["stones", laid[tuple(other)], "fields"], [at(0, 0), at(0, 1)])
    assert_refused(setup, far, "do not touch, but must")
    for stone in (one, other):
        row = 0 if stone == one else 1
        far = spoil(far, ["stones", laid[tuple(stone)], "fields"], [at(row, 0), at(row, 1)])
    assert_refused(setup, far, "stones must lie in one piece")


def test_m7_the_first_stone_lies_in_the_middle():
    env = raw_env("meeples")
    env.reset(seed=1)
    play(env, lambda n: 0, 3)
    good = env.snapshot()
    assert good["stones"][0]["fields"] == [at(12, 11), at(12, 12)]
    words = "stones must have one on two of the fields [275, 276, 299, 300]: the first one"
    assert_all_refused(
        env,
        (["stones", 0, "fields"], [at(12, 12), at(12, 13)], re.escape(words)),
        (["stones", 0, "fields"], [at(0, 0), at(0, 1)], re.escape(words)),
        (["ply"], 4, "ply"),
    )
    with_a_choice = of(good, chosen={"stone": good["hands"][0][0], "field": None}, ply=4)
    with_a_choice["hands"] = [good["hands"][0][1:], good["hands"][1]]
    env.restore(with_a_choice)
    assert_refused(env, of(with_a_choice, ply=3), "ply")


def test_setup_stones_after_the_setup_are_refused():
    env = small_position()
    assert_all_refused(
        env, (["setup_stones"], [[0, 4]], "setup_stones must be empty in phase 'meeples'")
    )
    # Rounds have brought more stones than these: too few actions.
    assert_all_refused(env, (["ply"], 25, "ply is 25, but must be at least 26"))


def test_m11_impossible_turns_of_laying_are_refused():
    env = restored(position("stones", FIRST_STONES, {at(12, 12): 0, at(12, 13): 1}))
    assert_all_refused(
        env,
        (["to_move"], 1, r"size of hands\[0\]"),
        (["round"], 2, r"size of hands\[0\]"),
        (["stones", 2, "fields"], [at(0, 0), at(0, 1)], "stones must lie in one piece"),
    )
    env = restored(position("blocks", ALL_STONES, {at(12, 5): 0, at(12, 18): 1}, dice=[1] * 6))
    good = env.snapshot()
    one_more = of(good, phase="stones", round=13)
    assert_refused(env, one_more, "to_move is 0, but must be a player with a stone to lay")


# Blocks (M12–M17)


@pytest.mark.parametrize("phase", ["stones", "meeples"])
def test_bookkeeping_of_blocks_outside_their_phase_is_refused(phase):
    if phase == "stones":
        env = restored(position(phase, FIRST_STONES, {at(12, 12): 0, at(12, 13): 1}))
    else:
        env = small_position()
    words = f"in phase '{phase}'"
    assert_all_refused(
        env,
        (["passed", 1], True, f"passed is .* must be .* {words}"),
        (["set_block", 0], True, f"set_block is .* {words}"),
        (["dice_allowed"], [1, None], f"dice_allowed is .* {words}"),
        (["fails"], 1, f"fails is 1, but must be 0 {words}"),
        (["rerolled"], True, f"rerolled is True, but must be False {words}"),
    )


def blocks_position(**parts):
    """Player 0 has set a block and taken a 4; player 1 is beside the 3 of 3-6, with the 6."""
    return position(
        parts.pop("phase", "blocks"),
        SMALL,
        {at(12, 12): 0, at(12, 15): 1},
        parts.pop("blocks", {at(13, 12): 0}),
        parts.pop("dice", [3, 5, 5, 5, 5]),
        **{"set_block": [True, False], "to_move": 1, **parts},
    )


def test_impossible_bookkeeping_of_blocks_is_refused():
    env = restored(blocks_position())
    assert_all_refused(
        env,
        (["passed", 0], True, r"dice_allowed of player 0 is None, but must be 0 or 1"),
        (["dice_allowed"], [1, 1], r"dice_allowed of player 0 is 1, but must be None"),
        (["set_block", 0], False, "set_block of player 0 is False, but must be True"),
        (["dice"], [], "dice must not be empty"),
        (["fails"], 2, "fails is 2, but must be less than the 2 players still in"),
        (["moved"], True, "moved is True, but must be False in phase 'blocks'"),
        (["new_meeples"], 1, "new_meeples is 1, but must be at most 0"),
        (["phase"], "give_up", "fails is 0, but must be from 1 to"),
    )
    passed = blocks_position(passed=[True, False], dice_allowed=[0, 1])
    env.restore(passed)
    assert_all_refused(
        env,
        (
            ["dice_allowed"],
            [1, 1],
            "dice_allowed of player 0 is 1, but must be 0, since the player has passed",
        ),
        (["dice_allowed"], [0, None], "dice_allowed of player 1 is None, but must be 0 or 1"),
        (["dice_allowed"], [0, 0], "dice_allowed of player 1 is 0, but must be 1, since"),
        (["to_move"], 0, "to_move is 0, but must be a player who may take dice"),
        (["fails"], 1, "fails is 1, but must be less than the 1 players still in"),
    )
    none_set = blocks_position(blocks={}, set_block=[False, False], dice=[3] * 6)
    env.restore(none_set)
    assert_all_refused(env, (["dice"], [3] * 5, "dice must be complete, or set_block True"))


def test_m13_what_cannot_follow_a_re_roll_is_refused():
    env = restored(blocks_position(rerolled=True))
    assert_all_refused(
        env,
        (
            ["dice"],
            [5, 5, 5, 5, 5],
            "phase is 'blocks', but must be 'give_up': after the re-roll no die fits",
        ),
    )
    give_up = blocks_position(phase="give_up", to_move=0, fails=1, dice=[5] * 5)
    env.restore(give_up)
    assert_all_refused(
        env,
        (["rerolled"], True, "rerolled is True, but must be False in phase 'give_up'"),
        (["to_move"], 1, "to_move is 1, but must be a player with a block to give up"),
        (["fails"], 0, "fails is 0, but must be from 1 to"),
        (["dice", 0], 2, "phase is 'give_up', but must be 'blocks': after the re-roll a die fits"),
    )
    limited = of(give_up, passed=[False, True], dice_allowed=[1, 0], fails=2)
    assert_refused(env, limited, "fails is 2, but must be from 1 to 1 in phase 'give_up'")


# Special actions (M19–M26)


def test_running_special_actions_outside_them_are_refused():
    env = small_position()
    assert_all_refused(
        env,
        (["source"], at(12, 12), "source is 300, but must be None in phase 'meeples'"),
        (["fired"], [4], r"fired is \[4\], but must be empty in phase 'meeples'"),
    )
    env.restore(blocks_position())
    assert_all_refused(
        env,
        (["source"], at(12, 12), "source is 300, but must be None in phase 'blocks'"),
        (["fired"], [4], r"fired is \[4\], but must be empty in phase 'blocks'"),
    )


def test_impossible_special_actions_are_refused():
    clone = position(
        "clone", ALL_STONES, {at(12, 9): 0, at(12, 18): 1}, fired=[2], source=at(12, 9)
    )
    env = restored(clone)
    fired = "but must have 2 and no others than 2 and 3 in phase 'clone'"
    assert_all_refused(
        env,
        (["source"], None, "must be a field of value 2 in phase 'clone'"),
        (["source"], at(12, 18), "must be a field of value 2 in phase 'clone'"),
        (["source"], at(0, 0), "must be a field of value 2 in phase 'clone'"),
        (["source"], at(12, 11), "source is 299, but must be a field with a meeple"),
        (["to_move"], 1, "to_move, like the owner of the meeple on source, is 0, but must be 1"),
        (["fired"], [], fired),
        (["fired"], [3], fired),
        (["fired"], [1, 2], fired),  # a teleport sets off nothing further
        (["fired"], [2, 4], fired),
        (["fired"], [2, 2], r"fired is \[2, 2\], but must have no value twice"),
        (["phase"], "teleport", "must be a field of value 1 in phase 'teleport'"),
        (["phase"], "meeples", "source is 297, but must be None in phase 'meeples'"),
    )
    env.restore({**clone, "fired": [2, 3]})  # a sidestep has come before


def test_m25_a_special_action_that_cannot_be_carried_out_is_refused():
    meeples = {at(12, 9): 0, at(12, 18): 1}
    around = {at(11, 9): 1, at(13, 9): 1, at(12, 8): 1, at(12, 10): 1}
    clone = position("clone", ALL_STONES, meeples, fired=[2], source=at(12, 9))
    env = restored(clone)
    blocked = position("clone", ALL_STONES, meeples, around, fired=[2], source=at(12, 9))
    assert_refused(env, blocked, "phase is 'clone', but must be one that can be carried out")


# Rounds and the end (M27)


def test_impossible_counts_of_rounds_are_refused():
    env = small_position()
    assert_all_refused(
        env,
        (["new_meeples"], 5, "new_meeples is 5, but must be at most 4"),
        (["stale_rounds"], 1, "stale_rounds is 1, but must be at most 0"),
        (["round"], 1, "size of hands"),
    )
    late = position("meeples", ALL_STONES, {at(12, 5): 0, at(12, 18): 1}, round=14, ply=200)
    env.restore(of(late, stale_rounds=2))
    assert_refused(
        env, of(late, stale_rounds=2, round=13), "stale_rounds is 2, but must be at most 1"
    )
    assert_refused(env, of(late, stale_rounds=3), "stale_rounds is 3, but must be less")


def test_a_game_that_goes_on_with_an_empty_supply_is_refused():
    # Ten fields of which no two are adjacent.
    values = {f: v for s, fields in ALL_STONES.items() for f, v in zip(fields, s, strict=True)}
    ten = [f for f in sorted(values) if values[f] and sum(divmod(f, 24)) % 2][:10]
    meeples = dict.fromkeys(ten, 0) | {at(13, 18): 1}
    env = restored(position("meeples", ALL_STONES, meeples, new_meeples=1))
    good = env.snapshot()
    assert good["supply"] == [0, 9]
    earlier = of(good, phase="blocks", dice=[1] * 6, new_meeples=0)
    assert_refused(env, earlier, "supply must not have a 0 from an earlier round")


def test_a_running_game_that_is_over_is_refused():
    env = reach(lambda s: s["outcome"] is not None and s["outcome"]["rewards"] == [1.0, -1.0])
    good = env.snapshot()
    assert not good["outcome"]["by_limit"]
    assert_all_refused(
        env,
        (["outcome"], None, "outcome"),
        (["outcome", "scores", 0], good["outcome"]["scores"][0] + 1, "scores"),
        (["outcome", "rewards"], [0.0, 0.0], "stale_rounds is 3, but must be less unless outcome"),
        (["outcome", "rewards"], [0.5, -0.5], "stale_rounds is 3, but must be less unless outcome"),
        (["outcome", "by_limit"], True, "by_limit|stale_rounds"),
        (["moved"], True, "stale_rounds is 3, but must be less unless outcome"),
        (["phase"], "clone", "phase 'clone'"),
    )


def test_a_finished_game_that_goes_on_is_refused():
    env = small_position()
    scores = [info["score"] for info in env.infos.values()]

    def ended(snapshot, rewards, by_limit=False):
        outcome = {"scores": scores, "rewards": rewards, "by_limit": by_limit}
        return of(snapshot, to_move=rewards.index(min(rewards)), outcome=outcome)

    good = env.snapshot()
    # Either player may have lost by an illegal action.
    for rewards in ([-1.0, 1.0], [1.0, -1.0]):
        assert restored(ended(good, rewards)).snapshot()["outcome"]["rewards"] == rewards
    assert_refused(env, ended(good, [0.0, 0.0]), "the game continues in this position")
    assert_refused(env, ended(good, [-1.0, 1.0], by_limit=True), "by_limit")
    assert_refused(env, ended(of(good, round=3), [-1.0, 1.0]), "size of hands")
    # Here only the owner of the meeple on the source was in turn.
    clone = position("clone", SMALL, {at(14, 12): 0, at(12, 15): 1}, fired=[2], source=at(14, 12))
    env = restored(clone)
    scores = [2, 6]
    assert restored(ended(clone, [-1.0, 1.0])).terminations["player_0"]
    assert_refused(
        env, ended(clone, [1.0, -1.0]), "to_move, like the owner of the meeple on source,"
    )
