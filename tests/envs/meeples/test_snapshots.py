"""Positions of meeples as data: what the rules allow is restored, else refused in words."""

import itertools
import random

import pytest

from tests.envs.meeples.test_drawing import FIRST_STONES, SMALL, small_position
from tests.envs.meeples.test_environment import reach
from tests.envs.test_copies import assert_refused, spoil
from tests.games import module, play, raw_env
from tests.rules.meeples.positions import ALL_STONES, STONES, at, position

each_number_of_players = pytest.mark.parametrize("num_players", [2, 3, 4])


def restored(snapshot):
    """An environment in a position, which must be possible."""
    env = raw_env("meeples", num_players=snapshot["options"]["num_players"])
    env.restore(snapshot)
    return env


def assert_all_refused(env, *faults):
    """Each fault is a path into the snapshot, what is written there, and words of the refusal."""
    good = env.snapshot()
    for path, value, words in faults:
        assert_refused(env, spoil(good, path, value), words)


def of(snapshot, **parts):
    """The snapshot with parts replaced."""
    return {**snapshot, **parts}


# What is possible


@each_number_of_players
def test_every_game_ended_by_max_plies_is_restored_as_it_was(num_players):
    twin = raw_env("meeples", num_players=num_players)
    for max_plies in range(1, 200):
        env = raw_env("meeples", num_players=num_players, max_plies=max_plies)
        env.reset(seed=max_plies)
        play(env, random.Random(max_plies).randrange)
        twin.restore(env.snapshot())
        assert twin.snapshot() == env.snapshot()
        assert (twin.rewards, twin.terminations) == (env.rewards, env.terminations)
        for agent in env.possible_agents:
            one, other = (e.observe(agent)["observation"] for e in (env, twin))
            assert one.tobytes() == other.tobytes()


def test_a_snapshot_without_rng_is_restored_with_fresh_chance():
    env = reach(lambda s: s["phase"] == "meeples" and s["to_move"] == 1 and s["source"] is None)
    snapshot = env.snapshot()
    del snapshot["rng"]
    states, rolls = set(), set()
    for _ in range(10):
        env.restore(snapshot)
        states.add(env.snapshot()["rng"])
        env.step(env.str_to_action("end turn"))
        rolls.add(str(env.snapshot()["dice"]))
    assert len(states) == 10
    assert len(rolls) > 1


# Material (M1–M6)


def test_impossible_stones_are_refused():
    env = small_position()
    good = env.snapshot()
    assert [laid["stone"] for laid in good["stones"]][:3] == [[0, 0], [0, 4], [1, 3]]
    on_table = good["stones"]
    assert_all_refused(
        env,
        (["stones", 0, "stone"], [0, 4], r"\[0, 4\] lies on the table twice"),
        (["stones", 0, "stone"], [0, 1], r"\[0, 1\] is there twice"),
        (["stones", 0], ..., "must have 28 stones together, but 27 stones"),
        (["stones", 1, "stone"], [4, 0], "must have its smaller half first"),
        (["stones", 0, "stone"], [0, 7], "half of a stone in .* is 7"),
        (["stones", 0, "stone"], [-1, 0], "half of a stone in .* is -1"),
        (["stones", 0, "stone"], [0, 0.0], "half of a stone in .* is 0.0"),
        (["stones", 0, "stone"], [0], "a stone in stones has 1 entries"),
        (["stones", 0, "stone"], "00", "a stone in stones is '00'"),
        (["stones", 0, "fields"], [at(11, 13), at(11, 15)], "must lie on adjacent ones"),
        (["stones", 0, "fields"], [at(11, 13), at(10, 14)], "must lie on adjacent ones"),
        (["stones", 0, "fields"], [at(11, 13)] * 2, "must lie on adjacent ones"),
        (["stones", 0, "fields"], [at(11, 23), at(12, 0)], "must lie on adjacent ones"),
        (["stones", 0, "fields"], [at(23, 0), at(24, 0)], "a field of the stone .* is 576"),
        (["stones", 0, "fields"], [-1, 0], "a field of the stone .* is -1"),
        (["stones", 0, "fields"], [at(11, 13), None], "a field of the stone .* is None"),
        (["stones", 0, "fields"], [at(11, 13)], "the fields of the stone .* has 1"),
        (["stones", 0, "fields"], [at(11, 13), at(11, 12)], "field 276 carries .* and another"),
        (["stones", 0, "fields"], ..., "a laid stone has the keys"),
        (["stones", 0, "ridge"], "h", "a laid stone has the keys"),
        (["stones", 0], [0, 0], "a laid stone"),
        (["stones"], {}, "stones is {}"),
        (["stones"], on_table + on_table[:1], "on the table twice"),
    )


def test_impossible_hands_are_refused():
    env = small_position()
    good = env.snapshot()
    one, other = good["hands"]
    assert_all_refused(
        env,
        (["hands", 0, 0], one[1], r"hands\[0\] must have no stone twice"),
        (["hands", 0, 0], other[0], r"\[2, 3\] is there twice"),
        (["hands", 0, 0], [0, 0], r"\[0, 0\] is there twice"),
        (["hands", 0, 0], ..., "27 stones"),
        (["hands", 1], None, r"hands\[1\] is None"),
        (["hands"], [one], "hands has 1 entries"),
        (["hands"], [one, other, []], "hands has 3 entries"),
        (["hands"], [[*one, other[0]], other[1:]], r"size of hands\[0\] is 11"),
        (["hands"], [one[1:], [*other, one[0]]], r"size of hands\[0\] is 9"),
    )
    assert_refused(env, of(good, round=3), r"size of hands\[0\] is 10")
    # The stone left over with three players is nobody's.
    env = reach(lambda s: s["round"] == 2, num_players=3)
    good = env.snapshot()
    seen = [laid["stone"] for laid in good["stones"]] + list(itertools.chain(*good["hands"]))
    left_over = next([a, b] for a, b in STONES if [a, b] not in seen)
    assert_refused(
        env,
        spoil(good, ["hands", 2], [*good["hands"][2], left_over]),
        "must have 27 stones together, but 28 stones",
    )


def test_impossible_meeples_and_blocks_are_refused():
    env = small_position()
    good = env.snapshot()
    for kind in ("meeple", "block"):
        things = f"{kind}s"
        assert_all_refused(
            env,
            (
                [things, 0, "field"],
                at(5, 5),
                f"a {kind} stands on 125, but must stand on a field of value",
            ),
            (
                [things, 0, "field"],
                at(11, 13),
                f"a {kind} stands on 277, but must stand on a field of value",
            ),
            ([things, 0, "field"], at(24, 0), f"the field of a {kind} is 576"),
            ([things, 0, "field"], -1, f"the field of a {kind} is -1"),
            ([things, 0, "field"], "252", f"the field of a {kind} is '252'"),
            ([things, 0, "field"], None, f"the field of a {kind} is None"),
            ([things, 0, "field"], good[things][1]["field"], f"two {kind}s stand on field"),
            ([things, 0, "player"], 2, f"the player of the {kind} is 2"),
            ([things, 0, "player"], True, f"the player of the {kind} is True"),
            ([things, 0, "player"], ..., f"a {kind} has the keys"),
            ([things], good[things] * 2, f"two {kind}s stand on field"),
            ([things], None, f"{things} is None"),
        )
    assert_all_refused(
        env,
        (["blocks", 0, "field"], at(12, 12), r"a meeple and a block stand on \[300\]"),
        (["supply", 0], 8, "the supply of player 0"),
        (["supply", 1], 6, "the supply of player 1"),
        (["supply", 1], 11, "supply of player 1 is 11"),
        (["supply", 1], -1, "supply of player 1 is -1"),
        (["supply"], [7], "supply has 1 entries"),
        (["meeples", 0], ..., "the supply of player 0"),
        (["meeples", 0, "player"], 1, "the supply of player 0"),
    )
    alone = [meeple for meeple in good["meeples"] if meeple["player"] == 0]
    assert_refused(
        env, of(good, meeples=alone, supply=[7, 10], new_meeples=0), "player 1 has no meeple"
    )


def test_m6_neighbours_of_one_colour_are_a_clone_and_its_source_or_refused():
    env = small_position()
    good = env.snapshot()
    pair = [thing["field"] for thing in good["meeples"][3::2]]
    assert pair == [at(13, 14), at(14, 14)]  # of player 1 on a 2 and a 6: allowed
    beside = "stand on .* only a clone may be beside its source on a 2"
    assert_all_refused(
        env,
        # A 3 and a 4.
        (["meeples", 0, "field"], at(11, 12), r"player 0 stand on \[276, 300\]"),
        # Three in a row, two of them by a 2.
        (["meeples", 2, "field"], at(12, 14), beside),
    )
    # On the 2 of the same stone instead of its 6 a pair would be possible: between two 3s it is
    # not.
    threes = of(good, meeples=[dict(m) for m in good["meeples"]])
    threes["meeples"][1]["field"] = at(11, 12)
    assert_refused(env, threes, r"player 0 stand on \[252, 276\]")
    # Neighbours of two colours are nobody's business.
    other = spoil(good, ["meeples", 2, "field"], at(12, 14))
    other["meeples"][2]["player"] = 0
    other["supply"] = [6, 8]
    assert restored(other).snapshot()["supply"] == [6, 8]


# Dice (M4, M9–M12)


def test_impossible_dice_are_refused():
    env = small_position()
    assert_all_refused(
        env,
        (["dice", 0], 7, r"dice\[0\] is 7"),
        (["dice", 0], 0, r"dice\[0\] is 0"),
        (["dice", 0], "3", r"dice\[0\] is '3'"),
        (["dice"], 5, "dice is 5"),
        (["dice"], [1, 2, 3, 4], "must be 6 at most together, but 4 dice and 3 blocks"),
        (["options", "dice_per_player"], 2, "must be 4 at most together, but 3 dice and 3 blocks"),
    )
    env = raw_env("meeples")
    env.reset(seed=1)
    assert_all_refused(env, (["dice"], [1], "phase is 'setup'"))
    env = restored(position("stones", FIRST_STONES, {at(12, 12): 0, at(12, 13): 1}))
    block = {"field": at(12, 14), "player": 1}
    assert_all_refused(
        env,
        (["dice"], [1, 2, 3, 4, 5], "dice has 5 entries, but must have 6"),
        (["dice"], [1] * 7, "dice has 7 entries, but must have 6"),
        (["blocks"], [block], "blocks must be empty, but there are blocks: phase is 'stones'"),
    )


# Phases and what has been chosen


def test_unknown_phases_and_wrong_types_are_refused():
    env = small_position()
    good = env.snapshot()
    assert_all_refused(
        env,
        (["phase"], "castling", "phase is 'castling', but must be one of setup, stones"),
        (["phase"], 4, "phase is 4"),
        (["phase"], None, "phase is None"),
        (["round"], 2.0, "round is 2.0"),
        (["round"], 121, "round is 121"),
        (["round"], 0, "round is 0, but must be 0 in the setup and only there: phase is 'meeples'"),
        (["moved"], 1, "moved is 1, but must be True or False"),
        (["moved"], None, "moved is None"),
        (["rerolled"], 0, "rerolled is 0"),
        (["fails"], False, "fails is False"),
        (["fails"], 3, "fails is 3"),
        (["passed"], [False], "passed has 1 entries"),
        (["passed", 0], 0, "passed of player 0 is 0"),
        (["set_block", 1], "no", "set_block of player 1 is 'no'"),
        (["dice_allowed", 1], -1, "dice_allowed of player 1 is -1"),
        (["dice_allowed", 1], 2, "dice_allowed of player 1 is 2"),
        (["dice_allowed", 1], False, "dice_allowed of player 1 is False"),
        (["fired"], None, "fired is None"),
        (["fired"], [5], r"fired\[0\] is 5"),
        (["source"], 576, "source is 576"),
        (["source"], "12,12", "source is '12,12'"),
        (["chosen"], None, "chosen is None"),
        (["chosen"], {}, "chosen has the keys"),
        (["chosen", "direction"], 1, "chosen has the keys"),
        (["chosen", "field"], 576, r"chosen\['field'\] is 576"),
        (["chosen", "stone"], [0, 9], "half of a stone in .* is 9"),
        (["setup_stones"], None, "setup_stones is None"),
        (["new_meeples"], -1, "new_meeples is -1"),
        (["stale_rounds"], 4, "stale_rounds is 4"),
        (["rng"], -1, "rng is -1"),
        (["rng"], 2**64, "rng is 18446744073709551616"),
        (["rng"], 1.5, "rng is 1.5"),
        (["rng"], None, "rng is None"),
        (["to_move"], 2, "to_move is 2"),
        (["options", "num_players"], 3, "hands has 2 entries"),
        (["options", "num_players"], 5, "num_players=5"),
        (["options", "dice_per_player"], 6, "dice_per_player=6"),
        (["options", "open_hands"], 1, "open_hands=1"),
    )
    for key in module("meeples").GAME.snapshot_keys:
        assert_refused(env, spoil(good, [key], ...), f"lacks '{key}'")


def test_what_cannot_have_been_chosen_is_refused():
    env = small_position()
    good = env.snapshot()
    assert_all_refused(
        env,
        (["chosen", "stone"], [0, 1], r"\[0, 1\] is there twice"),
        (
            ["chosen", "field"],
            at(12, 15),
            r"chosen\['field'\] is 303, but must be legal",
        ),  # not own
        (
            ["chosen", "field"],
            at(13, 12),
            r"chosen\['field'\] is 324, but must be legal",
        ),  # a block
        (["chosen", "field"], at(5, 5), r"chosen\['field'\] is 125, but must be legal"),
    )
    taken_up = spoil(good, ["stones", 0], ...)
    taken_up["chosen"]["stone"] = [0, 0]
    assert_refused(env, taken_up, r"chosen\['stone'\] must be None in phase 'meeples'")
    moved = of(good, chosen={"stone": None, "field": at(10, 12)}, moved=True)
    assert_refused(env, moved, r"chosen\['field'\] is 252, but must be legal")

    env = reach(lambda s: s["phase"] == "stones" and s["chosen"]["field"] is not None)
    good = env.snapshot()
    assert_all_refused(
        env,
        (["chosen", "field"], at(0, 0), r"chosen\['field'\] is 0, but must be legal"),
        (
            ["chosen", "field"],
            good["stones"][0]["fields"][0],
            r"chosen\['field'\] is .* must be legal",
        ),
        (["chosen", "stone"], good["stones"][0]["stone"], "is there twice"),
        (["chosen", "stone"], None, "27 stones"),
    )
    back = of(good, chosen={"stone": None, "field": good["chosen"]["field"]})
    back["hands"] = [list(hand) for hand in good["hands"]]
    back["hands"][good["to_move"]].append(good["chosen"]["stone"])
    assert_refused(env, back, r"chosen\['field'\] must be None in phase 'stones' without a stone")

    env = restored(position("blocks", SMALL, {at(12, 12): 0, at(12, 15): 1}, dice=[1] * 6))
    assert_all_refused(
        env, (["chosen", "field"], at(12, 12), r"chosen\['field'\] must be None in phase 'blocks'")
    )

    sidestep = position(
        "sidestep", ALL_STONES, {at(12, 13): 0, at(12, 18): 1}, fired=[3], source=at(12, 13)
    )
    env = restored(of(sidestep, chosen={"stone": None, "field": at(12, 18)}))
    assert_all_refused(
        env, (["chosen", "field"], at(12, 12), r"chosen\['field'\] is 300, but must be legal")
    )

    land = position("land", SMALL, {at(13, 12): 0, at(12, 15): 1}, fired=[4], source=at(13, 12))
    env = restored(of(land, chosen={"stone": [0, 0], "field": None}))
    assert_all_refused(
        env,
        (["chosen", "stone"], [0, 1], r"chosen\['stone'\] is \[0, 1\], but must be legal"),
        (["chosen", "field"], at(0, 0), r"chosen\['field'\] is 0, but must be legal"),
        (["chosen"], {"stone": None, "field": at(9, 11)}, "without a stone"),
    )
