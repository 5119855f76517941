"""The rules of meeples one by one: the end of the game and the scores (M27–M29, T15)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.meeples.positions import (
    ALL_STONES,
    END_TURN,
    PASS,
    across,
    at,
    owned,
    play,
    position,
)

# Ten fields of the whole set of stones, no two adjacent: 6 4 5 6 5 6 6 in row 13, 2 2 2 in row 12.
TEN_FIELDS = [at(13, column) for column in (6, 8, 10, 12, 14, 16, 18)] + [
    at(12, column) for column in (5, 7, 9)
]

# Two meeples far from each other, on a 6 and on a 2.
FAR_APART = {at(13, 6): 0, at(11, 18): 1}


def last_turn(meeples: dict[int, int], **parts: Any) -> dict[str, Any]:
    """All hands are empty; the last player of the round is to end the turn."""
    return position("meeples", ALL_STONES, meeples, to_move=1, **parts)


# M27: all ten meeples


def test_m27_the_game_ends_when_a_player_has_put_out_all_meeples(meeples):
    standing = dict.fromkeys(TEN_FIELDS, 0) | {at(11, 18): 1}
    game = meeples.position(last_turn(standing))
    snapshot = play(game, END_TURN)
    assert snapshot["outcome"] == {"scores": [44, 2], "rewards": [1, -1], "by_limit": False}
    assert snapshot["to_move"] == 0
    assert game.legal_actions() == []


def test_m27_only_at_the_end_of_the_round(meeples):
    standing = dict.fromkeys(TEN_FIELDS[:9], 0) | {at(11, 8): 1}
    blocks = {at(11, 18): 0, at(11, 16): 1}
    game = meeples.position(position("meeples", ALL_STONES, standing, blocks))
    snapshot = play(game, at(11, 18))
    assert snapshot["supply"] == [0, 9]
    assert snapshot["outcome"] is None
    # The other player still has a turn, and uses it.
    snapshot = play(game, END_TURN)
    assert (snapshot["to_move"], snapshot["outcome"]) == (1, None)
    snapshot = play(game, at(11, 16), END_TURN)
    assert snapshot["outcome"]["scores"] == [44, 8]


def test_m27_nine_meeples_are_not_enough(meeples):
    standing = dict.fromkeys(TEN_FIELDS[:9], 0) | {at(11, 18): 1}
    snapshot = play(meeples.position(last_turn(standing)), END_TURN)
    assert (snapshot["outcome"], snapshot["round"]) == (None, 13)


# M27: no field left


def test_m27_the_game_ends_when_every_field_but_the_0s_is_occupied(meeples):
    #   0 0 0 1 0 2 0 3 0 4 0 5      from column 8 on
    stones = across(12, 8, "00 01 02 03 04 05")
    standing = {at(12, 11): 0, at(12, 13): 1, at(12, 15): 0, at(12, 17): 1, at(12, 19): 0}
    game = meeples.position(position("meeples", stones, standing, to_move=1))
    snapshot = play(game, END_TURN)
    assert snapshot["outcome"] == {"scores": [9, 6], "rewards": [1, -1], "by_limit": False}


def test_m27_the_game_goes_on_while_there_is_a_field(meeples):
    stones = across(12, 8, "00 01 02 03 04 05")
    standing = {at(12, 11): 0, at(12, 13): 1, at(12, 15): 0, at(12, 19): 0}
    snapshot = play(meeples.position(position("meeples", stones, standing, to_move=1)), END_TURN)
    assert (snapshot["outcome"], snapshot["round"]) == (None, 2)


#   0 1 2 3 0 4 0 5 0 6 0 0      from column 8 on
GAP_STONES = across(12, 8, "01 23 04 05 06 00")


def test_m27_a_field_where_m6_lets_nobody_stand_does_not_count(meeples):
    # The one field without meeple, the 2, is beside meeples of both players.
    standing = {at(12, 9): 0, at(12, 11): 1, at(12, 13): 0, at(12, 15): 1, at(12, 17): 0}
    game = meeples.position(position("meeples", GAP_STONES, standing, to_move=1))
    assert play(game, END_TURN)["outcome"]["scores"] == [11, 8]


def test_m27_a_field_for_one_player_is_enough(meeples):
    # On the 2 player 1 might stand.
    standing = {at(12, 9): 0, at(12, 11): 0, at(12, 13): 0, at(12, 15): 1, at(12, 17): 0}
    game = meeples.position(position("meeples", GAP_STONES, standing, to_move=1))
    assert play(game, END_TURN)["outcome"] is None


def test_m27_a_block_does_not_take_a_field_away(meeples):
    standing = {at(12, 9): 0, at(12, 11): 0, at(12, 13): 0, at(12, 15): 1, at(12, 17): 0}
    game = meeples.position(position("meeples", GAP_STONES, standing, {at(12, 10): 0}, to_move=1))
    assert play(game, END_TURN)["outcome"] is None


# M27: three rounds without a new meeple


def test_m27_the_game_ends_after_three_rounds_without_a_new_meeple(meeples):
    game = meeples.position(last_turn(FAR_APART, round=15, stale_rounds=2))
    snapshot = play(game, END_TURN)
    assert snapshot["outcome"] == {"scores": [6, 2], "rewards": [1, -1], "by_limit": False}
    assert snapshot["stale_rounds"] == 3


def test_m27_two_rounds_are_not_enough(meeples):
    snapshot = play(meeples.position(last_turn(FAR_APART, round=14, stale_rounds=1)), END_TURN)
    assert (snapshot["outcome"], snapshot["stale_rounds"]) == (None, 2)


def test_m27_three_rounds_played(meeples):
    game = meeples.position(last_turn(FAR_APART))
    for stale_rounds in (1, 2):
        snapshot = play(game, END_TURN)
        assert (snapshot["phase"], snapshot["stale_rounds"]) == ("blocks", stale_rounds)
        play(game, PASS, PASS, END_TURN)
    assert play(game, END_TURN)["outcome"] is not None


def test_m27_a_meeple_from_supply_starts_the_count_again(meeples):
    game = meeples.position(last_turn(FAR_APART, blocks={at(13, 18): 1}, round=15, stale_rounds=2))
    snapshot = play(game, at(13, 18), END_TURN)
    assert (snapshot["outcome"], snapshot["stale_rounds"]) == (None, 0)
    assert snapshot["new_meeples"] == 0  # counted anew in the next round


def test_m27_a_move_does_not(meeples):
    game = meeples.position(last_turn(FAR_APART, blocks={at(13, 18): 1}, round=15, stale_rounds=2))
    snapshot = play(game, at(11, 18), at(13, 18), END_TURN)
    assert snapshot["outcome"]["scores"] == [6, 6]


def test_m27_a_clone_counts_too(meeples):
    # The meeple moves from one 2 to the other, and clones itself there.
    game = meeples.position(last_turn(FAR_APART, blocks={at(11, 8): 1}, round=15, stale_rounds=2))
    snapshot = play(game, at(11, 18), at(11, 8))
    assert snapshot["phase"] == "clone"
    snapshot = play(game, at(12, 8))
    while snapshot["phase"] != "meeples":  # a 4 has been occupied: some land
        snapshot = play(game, game.legal_actions()[0])
    assert snapshot["new_meeples"] == 1
    assert play(game, END_TURN)["stale_rounds"] == 0


def test_m27_the_round_that_lays_the_last_stones_counts(meeples):
    snapshot = play(meeples.position(last_turn(FAR_APART, round=12)), END_TURN)
    assert snapshot["stale_rounds"] == 1


def test_m27_rounds_with_stones_in_hand_do_not_count(meeples):
    stones = across(12, 8, "12 34 56 66 11 22")
    game = meeples.position(position("meeples", stones, {at(12, 9): 0, at(12, 18): 1}))
    assert play(game, END_TURN, END_TURN)["stale_rounds"] == 0


def test_m27_the_blocks_lie_where_they_are_when_the_game_ends(meeples):
    game = meeples.position(last_turn(FAR_APART, blocks={at(13, 18): 1}, round=15, stale_rounds=2))
    assert owned(play(game, END_TURN)["blocks"]) == {at(13, 18): 1}


# M28, T15: scores and rewards


def test_m28_each_meeple_counts_the_value_of_its_field(meeples):
    stones = across(12, 8, "12 34 56 66 11 22")
    standing = {at(12, 8): 0, at(12, 10): 0, at(12, 12): 0, at(12, 15): 1, at(12, 18): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 13): 0}))
    assert game.scores() == [1 + 3 + 5, 6 + 2]


def test_m28_a_tie_is_worth_nothing(meeples):
    game = meeples.position(last_turn({at(13, 6): 0, at(13, 18): 1}, round=15, stale_rounds=2))
    assert play(game, END_TURN)["outcome"] == {
        "scores": [6, 6],
        "rewards": [0, 0],
        "by_limit": False,
    }


@pytest.mark.parametrize(
    ("columns", "scores", "rewards"),
    [
        ((18, 6, 16), [6, 6, 6], [0, 0, 0]),
        ((18, 6, 11), [6, 6, 4], [0.25, 0.25, -0.5]),
        ((18, 8, 11), [6, 4, 4], [1, -0.5, -0.5]),
    ],
)
def test_m28_the_top_scorers_share_the_gain(meeples, columns, scores, rewards):
    stones = dict(ALL_STONES)
    del stones[0, 0]  # out of the game
    standing = {at(13, column): player for player, column in enumerate(columns)}
    snapshot = position(
        "meeples", stones, standing, num_players=3, to_move=2, round=15, stale_rounds=2
    )
    outcome = play(meeples.position(snapshot), END_TURN)["outcome"]
    assert outcome["scores"] == scores
    assert outcome["rewards"] == pytest.approx(rewards)


# M29: the limit


def test_m29_the_game_ends_after_max_plies_actions(meeples):
    stones = across(12, 8, "12 34 56 66 11 22")
    snapshot = position(
        "meeples", stones, {at(12, 9): 0, at(12, 18): 1}, {at(12, 12): 0}, max_plies=40, ply=38
    )
    game = meeples.position(snapshot)
    assert play(game, at(12, 12))["outcome"] is None
    after = play(game, END_TURN)
    assert after["ply"] == 40
    assert after["outcome"] == {"scores": [7, 2], "rewards": [1, -1], "by_limit": True}
    assert after["to_move"] == 1
    assert game.legal_actions() == []


def test_m29_every_small_decision_counts(meeples):
    game = meeples(max_plies=2)
    first = game.legal_actions()[0]
    assert play(game, first)["outcome"] is None
    snapshot = play(game, at(12, 11))
    assert snapshot["outcome"] == {"scores": [0, 0], "rewards": [0, 0], "by_limit": True}


def test_m29_not_by_the_limit_where_that_very_action_ends_the_game(meeples):
    game = meeples.position(last_turn(FAR_APART, round=15, stale_rounds=2, max_plies=200, ply=199))
    snapshot = play(game, END_TURN)
    assert snapshot["ply"] == 200
    assert snapshot["outcome"]["by_limit"] is False
