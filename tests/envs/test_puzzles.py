"""Positions that no game leads to: taken where they can be played to the end, and their later
snapshots restored; else refused.

The fuzz step looks for more of them (`tests/fuzz`).
"""

import copy
import random

import numpy as np
import pytest

from tests.envs.meeples.test_environment import reach
from tests.envs.test_copies import assert_refused, spoil
from tests.fuzz.mutations import Hostile, nested
from tests.games import each_game, legal_actions, module, over, play, raw_env
from tests.rules.meeples.positions import ALL_STONES, across, at, down, position
from tests.rules.tuerme.boards import blocked_deal

HUGE = 10**5000  # of more digits than Python shows


def assert_played(snapshot):
    """A position is taken and played to its end within the spaces; all snapshots are restored."""
    options = snapshot["options"]
    given = {"num_players": options["num_players"]} if "num_players" in options else {}
    env, twin = raw_env(snapshot["game"], **given), raw_env(snapshot["game"], **given)
    env.restore(snapshot)
    rng = random.Random(1)
    while True:
        for agent in env.possible_agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        twin.restore(env.snapshot())
        assert twin.snapshot() == env.snapshot()
        if over(env):
            return env
        legal = legal_actions(env)
        env.step(rng.choice(legal))


# All games


@each_game
def test_foreign_data_of_any_type_is_refused_by_name(name):
    env = raw_env(name)
    env.reset(seed=1)
    play(env, lambda n: n // 2, 20)
    good = env.snapshot()
    strange = (
        *(HUGE, -HUGE, float("nan"), float("inf"), 0.5, "20", b"20"),
        *(nested(1000), nested(100_000), {1: 2, "a": 3, None: 4}, {1, 2}, range(3), [Hostile()]),
        *(np.arange(3), np.zeros((2, 2)), np.float32("nan"), object(), [["a"]], [100], [[HUGE]]),
    )
    for key in set(good) - {"rng"}:
        for value in strange:
            assert_refused(env, {**good, key: value}, f"{key.removesuffix('s')}.* must ")
    for value in strange:
        for path in (["options", "max_plies"], ["options", 3], ["outcome"]):
            assert_refused(env, spoil(good, path, value), "(option|max_plies|outcome).* must ")
        assert_refused(env, {**good, 3: value}, "snapshot has 3, but its keys must be")


@each_game
def test_outcomes_of_any_type_are_refused_by_name(name):
    env = raw_env(name, max_plies=20)
    env.reset(seed=1)
    play(env, lambda n: n // 2)
    good = env.snapshot()
    for key in good["outcome"]:
        for value in (HUGE, None, "x", [HUGE] * 2, [None] * 2, [Hostile()] * 2, [float("nan")] * 2):
            assert_refused(env, spoil(good, ["outcome", key], value), f"{key[:-1]}.* must")
        assert_refused(env, spoil(good, ["outcome", key], np.zeros(2)), f"outcome.*{key}.* must")
    mixed = {**good["outcome"], 1: 2, None: 3}
    assert_refused(env, {**good, "outcome": mixed}, "outcome has the keys .* must have")


@each_game
def test_numpy_s_numbers_and_tuples_are_taken_as_plain_ones(name):
    env = raw_env(name)
    env.reset(seed=1)
    play(env, lambda n: n // 2, 30)
    good = env.snapshot()

    def of_numpy(value):
        if isinstance(value, dict):
            return {key: of_numpy(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return tuple(of_numpy(inner) for inner in value)
        if isinstance(value, bool):
            return np.bool_(value)
        return np.uint64(value) if isinstance(value, int) else value

    env.reset()
    env.restore(of_numpy(good))
    assert env.snapshot() == good
    assert type(env.snapshot()["ply"]) is int


@each_game
def test_a_game_lost_by_an_illegal_action_names_its_offender_in_every_position(name):
    """The result may look like that of the scores, or the rules' end may seem to have come."""
    env, twin = module(name).env(), raw_env(name)
    for seed in range(60):
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, seed * 7)
        if over(env):
            continue
        offender = env.agent_selection
        env.step(next(a for a in range(env.num_actions) if not env.action_mask()[a]))
        snapshot = env.snapshot()
        assert snapshot["to_move"] == int(offender[-1])
        twin.restore(snapshot)
        assert twin.snapshot() == snapshot
        assert twin.rewards == env.rewards
        for player in range(len(env.possible_agents)):
            if player != snapshot["to_move"]:
                assert_refused(twin, {**snapshot, "to_move": player}, "must")


# tuerme


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_tuerme_a_puzzle_ended_by_the_limit_after_a_pass_says_who_has_passed(num_players):
    for mover in range(num_players):
        puzzle = {**blocked_deal(num_players=num_players, max_plies=8), "ply": 7, "to_move": mover}
        env = assert_played(puzzle)
        ended = env.snapshot()
        assert ended["outcome"]["by_limit"]
        assert (ended["passes"], ended["to_move"]) == (1, (mover + 1) % num_players)


# meeples


def test_meeples_ply_counts_the_actions_of_the_stone_being_laid():
    for condition in (
        lambda s: s["phase"] == "stones" and s["chosen"]["stone"] and s["chosen"]["field"] is None,
        lambda s: s["phase"] == "stones" and s["chosen"]["field"] is not None,
    ):
        env = reach(condition)
        good = env.snapshot()
        chosen = 1 + (good["chosen"]["field"] is not None)
        least = 14 + 3 * (len(good["stones"]) - 4) + chosen
        assert_played({**good, "ply": least})
        for ply in range(least - chosen, least):
            assert_refused(env, {**good, "ply": ply}, f"ply is {ply}, but must be at least {least}")


def late(round_number, meeples, **parts):
    """A position of the end game, with all stones laid."""
    ply = parts.pop("ply", 500)
    return position("meeples", ALL_STONES, meeples, round=round_number, ply=ply, **parts)


@pytest.mark.parametrize(
    ("parts", "highest"),
    [
        # 2 · 8 meeples may each put the end off by three rounds, two rounds without any may come
        # first.
        ({}, 120 - 3 * 16 - 2),
        ({"stale_rounds": 1}, 120 - 3 * 16 - 1),
        ({"stale_rounds": 2}, 120 - 3 * 16),
    ],
)
def test_m27_round_is_only_as_high_as_leaves_the_rounds_that_may_follow(parts, highest):
    meeples = {at(12, 5): 0, at(12, 18): 1}
    env = raw_env("meeples")
    env.restore(late(highest, meeples, **parts))
    assert_refused(
        env,
        late(highest + 1, meeples, **parts),
        f"round is {highest + 1}, but must be at most {highest}",
    )
    ended = assert_played(late(highest, meeples, max_plies=2000, **parts)).snapshot()
    assert not ended["outcome"]["by_limit"]
    assert highest <= ended["round"] <= 120


def test_m27_the_last_round_of_all_can_be_played():
    # Nobody has a meeple to spare, and two rounds were without any.
    values = {f: v for s, fields in ALL_STONES.items() for f, v in zip(fields, s, strict=True)}
    apart = [f for f in sorted(values) if values[f] and sum(divmod(f, 24)) % 2]
    meeples = dict.fromkeys(apart[:9], 0) | dict.fromkeys(apart[9:18], 1)
    env = assert_played(late(120, meeples, stale_rounds=2))
    assert env.snapshot()["round"] == 120
    assert_refused(env, late(120, meeples, stale_rounds=1), "round is 120, but must be at most 119")


def test_meeples_an_illegal_action_after_the_last_meeple_is_no_end_by_m27():
    """Player 0 is behind with an empty supply: M27's rewards are those of the illegal action."""
    values = {f: v for s, fields in ALL_STONES.items() for f, v in zip(fields, s, strict=True)}
    apart = sorted((f for f in values if values[f] and sum(divmod(f, 24)) % 2), key=values.get)
    four = next(f for f in apart if values[f] == 4)
    low = [four, *[f for f in apart if f != four][:9]]
    meeples = dict.fromkeys(low, 0) | dict.fromkeys(apart[-9:], 1)
    land = position("land", ALL_STONES, meeples, fired=[4], source=four, new_meeples=1)
    env = module("meeples").env()
    env.reset(seed=1)
    env.restore(land)
    env.step(next(a for a in range(610) if not env.action_mask()[a]))
    ended = env.snapshot()
    assert ended["supply"][0] == 0
    assert ended["outcome"]["scores"][0] < ended["outcome"]["scores"][1]
    twin = raw_env("meeples")
    twin.restore(ended)
    assert twin.snapshot() == ended


def test_m8_nobody_else_s_meeple_stands_on_the_stones_of_a_setup():
    env = reach(
        lambda s: s["phase"] == "setup" and s["to_move"] == 1 and len(s["setup_stones"]) == 2
    )
    good = env.snapshot()
    laid = next(s for s in good["stones"] if s["stone"] in good["setup_stones"] and s["stone"][1])
    spoiled = spoil(good, ["meeples", 0, "field"], laid["fields"][1])
    assert_refused(env, spoiled, "meeples has one on .* must have none on the stones of setup_st")


def test_m7_a_setup_s_first_stone_leaves_room_for_the_second():
    env = raw_env("meeples", num_players=4)
    env.reset(seed=1)
    ring = across(12, 11, "11 12") | down(13, 14, "13") | across(14, 12, "14")
    ring |= {(1, 5): (at(13, 11), at(13, 10)), (1, 6): (at(12, 15), at(12, 16))}
    stones = ring | {(2, 2): (at(13, 12), at(13, 13))}
    held = [s for s in ((a, b) for a in range(7) for b in range(a, 7)) if s not in stones]
    hands = [held[0:5], held[5:10], held[10:15], held[15:21]]
    enclosed = {
        **position("meeples", ALL_STONES, {}, num_players=4),
        **{"phase": "setup", "round": 0, "ply": 24, "to_move": 3, "setup_stones": [[2, 2]]},
        "stones": [{"stone": list(s), "fields": list(f)} for s, f in stones.items()],
        "hands": [[list(s) for s in hand] for hand in hands],
        "meeples": [{"field": at(12, 11 + 2 * p), "player": p} for p in range(3)],
        "supply": [9, 9, 9, 10],
    }
    assert_refused(env, enclosed, "stones must leave player 3 a place for the next one")
    opened = copy.deepcopy(enclosed)
    stone = next(s for s in opened["stones"] if s["stone"] == [1, 4])
    stone["fields"] = [at(12, 17), at(12, 18)]
    assert_played(opened)


def test_m6_the_source_of_a_clone_has_no_partner_yet():
    source, partner = at(12, 9), at(12, 10)
    clone = position("clone", ALL_STONES, {source: 0, at(12, 18): 1}, fired=[2], source=source)
    assert_played(clone)
    env = raw_env("meeples")
    env.reset(seed=1)
    paired = position(
        "clone", ALL_STONES, {source: 0, partner: 0, at(12, 18): 1}, fired=[2], source=source
    )
    assert_refused(env, paired, "source is 297, but must be beside no other meeple of player 0")
