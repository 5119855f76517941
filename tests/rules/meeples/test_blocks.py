"""The rules of meeples one by one: the blocks of a round (M12–M17)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.meeples.positions import (
    PASS,
    REROLL,
    ROLLS_3_6,
    ROLLS_5_5_THEN_6_2,
    ROLLS_HIGH,
    across,
    at,
    owned,
    play,
    position,
)

# Values from column 8 on:  1 2 3 4 5 6 6 6 1 1 2 2
# Player 0 stands on column 9, beside a 1 and a 3; player 1 on column 18, beside a 1 and a 2.
ROW = across(12, 8, "12 34 56 66 11 22")
MEEPLES = {at(12, 9): 0, at(12, 18): 1}

# The same from column 5 on and longer, for three players: … 0 0 0 1 3 3
# Player 2 stands on column 22, beside a 3.
ROW_OF_THREE = across(12, 5, "12 34 56 66 11 22 00 01 33")
MEEPLES_OF_THREE = {at(12, 6): 0, at(12, 15): 1, at(12, 22): 2}


def blocks_position(
    dice: list[int], blocks: dict[int, int] | None = None, **parts: Any
) -> dict[str, Any]:
    """Two players setting blocks. No value above 3 fits, but for a 4 beside a block on the 3."""
    dice_per_player = -(-(len(dice) + len(blocks or {})) // 2)
    return position("blocks", ROW, MEEPLES, blocks, dice, dice_per_player=dice_per_player, **parts)


def three_players_position(
    dice: list[int], blocks: dict[int, int] | None = None, **parts: Any
) -> dict[str, Any]:
    """Three players setting blocks. No value above 3 fits."""
    dice_per_player = -(-(len(dice) + len(blocks or {})) // 3)
    return position(
        "blocks",
        ROW_OF_THREE,
        MEEPLES_OF_THREE,
        blocks,
        dice,
        num_players=3,
        dice_per_player=dice_per_player,
        **parts,
    )


def assert_meeples_phase(snapshot: dict[str, Any]) -> None:
    """Player 0 begins the phase, and what was kept for the blocks is at its first values."""
    players = len(snapshot["supply"])
    assert (snapshot["phase"], snapshot["to_move"]) == ("meeples", 0)
    assert snapshot["passed"] == [False] * players
    assert snapshot["set_block"] == [False] * players
    assert snapshot["dice_allowed"] == [None] * players
    assert (snapshot["fails"], snapshot["rerolled"]) == (0, False)


# M12: setting a block


def test_m12_the_value_of_the_field_must_show_on_a_die(meeples):
    assert meeples.position(blocks_position([1, 3])).legal_actions() == [
        at(12, 8),
        at(12, 10),
        PASS,
    ]
    assert meeples.position(blocks_position([1, 6])).legal_actions() == [at(12, 8), PASS]


def test_m12_a_block_goes_beside_an_own_meeple_or_own_block(meeples):
    game = meeples.position(blocks_position([4, 5, 6], {at(12, 10): 0}))
    assert game.legal_actions() == [at(12, 11), PASS]


def test_m12_not_beside_foreign_meeples_or_blocks_alone(meeples):
    blocks = {at(12, 17): 1}
    game = meeples.position(blocks_position([1, 2, 6], blocks))
    # Columns 16 (a 1) and 19 (a 2) are beside things of player 1 only.
    assert game.legal_actions() == [at(12, 8), PASS]


def test_m12_diagonal_fields_are_not_beside(meeples):
    #   1 2 3 4 5 6
    #   6 6 1 1 2 2
    stones = across(12, 8, "12 34 56") | across(13, 8, "66 11 22")
    snapshot = position(
        "blocks", stones, {at(12, 9): 0, at(13, 13): 1}, dice=[1, 6], dice_per_player=1
    )
    assert meeples.position(snapshot).legal_actions() == [at(12, 8), at(13, 9), PASS]


def test_m12_a_field_with_a_meeple_or_an_own_block_is_not_available(meeples):
    meeples_beside = {at(12, 9): 0, at(12, 10): 1}
    snapshot = position("blocks", ROW, meeples_beside, {at(12, 8): 0}, [1, 2, 3], dice_per_player=2)
    game = meeples.position(snapshot)
    assert game.legal_actions() == [PASS, REROLL]


def test_m12_the_die_of_that_value_is_taken(meeples):
    snapshot = play(meeples.position(blocks_position([1, 1, 3, 6])), at(12, 8))
    assert snapshot["dice"] == [1, 3, 6]
    assert owned(snapshot["blocks"]) == {at(12, 8): 0}
    assert snapshot["set_block"] == [True, False]
    assert snapshot["to_move"] == 1


def test_m12_a_foreign_block_is_replaced_and_its_owner_keeps_the_die(meeples):
    game = meeples.position(blocks_position([3, 3, 6], {at(12, 10): 1}))
    snapshot = play(game, at(12, 10))
    assert owned(snapshot["blocks"]) == {at(12, 10): 0}
    assert snapshot["dice"] == [3, 6]
    assert snapshot["set_block"] == [True, True]


def test_m12_players_take_turns(meeples):
    game = meeples.position(blocks_position([1, 1, 2, 3]))
    assert play(game, at(12, 8))["to_move"] == 1
    assert play(game, at(12, 19))["to_move"] == 0
    assert play(game, at(12, 10))["to_move"] == 1


# M13, M16: rolling again


def test_m13_only_a_player_who_can_set_nothing_may_roll_again(meeples):
    assert REROLL not in meeples.position(blocks_position([1, 6])).legal_actions()
    assert REROLL in meeples.position(blocks_position([6, 6])).legal_actions()


def test_m16_there_is_no_third_choice(meeples):
    assert meeples.position(blocks_position([6, 6])).legal_actions() == [PASS, REROLL]


def test_m13_only_the_dice_left_in_the_pool_are_rolled(meeples):
    game = meeples.position(blocks_position([6, 6], {at(12, 8): 0, at(12, 17): 1}, rng=ROLLS_3_6))
    snapshot = play(game, REROLL)
    assert snapshot["dice"] == [3, 6]
    assert owned(snapshot["blocks"]) == {at(12, 8): 0, at(12, 17): 1}


def test_m13_if_a_die_fits_the_player_sets_at_once_or_passes(meeples):
    game = meeples.position(blocks_position([6, 6], rng=ROLLS_3_6))
    snapshot = play(game, REROLL)
    assert (snapshot["to_move"], snapshot["rerolled"], snapshot["fails"]) == (0, True, 0)
    assert game.legal_actions() == [at(12, 10), PASS]
    snapshot = play(game, at(12, 10))
    assert (snapshot["to_move"], snapshot["rerolled"]) == (1, False)


def test_m13_passing_after_rolling_again(meeples):
    game = meeples.position(blocks_position([6, 6], rng=ROLLS_3_6))
    snapshot = play(game, REROLL, PASS)
    assert snapshot["passed"] == [True, False]
    assert (snapshot["to_move"], snapshot["rerolled"]) == (1, False)


def test_m13_if_nothing_fits_the_turn_has_failed_and_the_player_stays_in(meeples):
    game = meeples.position(blocks_position([6, 6], rng=ROLLS_HIGH))
    snapshot = play(game, REROLL)
    assert snapshot["dice"] == [5, 6]
    assert (snapshot["to_move"], snapshot["fails"], snapshot["rerolled"]) == (1, 1, False)
    assert snapshot["passed"] == [False, False]
    assert snapshot["dice_allowed"] == [None, None]


def test_m13_the_dice_are_rolled_again_once_in_a_turn(meeples):
    game = meeples.position(three_players_position([6, 6, 6], rng=ROLLS_HIGH))
    # The turn that has failed is over; the next player may roll again too.
    assert play(game, REROLL)["to_move"] == 1
    assert game.legal_actions() == [PASS, REROLL]
    assert play(game, REROLL)["to_move"] == 2


def test_m13_after_an_own_block_this_round_a_failed_turn_costs_one(meeples):
    blocks = {at(12, 8): 0, at(12, 19): 1}
    game = meeples.position(blocks_position([6, 6], blocks, rng=ROLLS_HIGH))
    snapshot = play(game, REROLL)
    assert (snapshot["phase"], snapshot["to_move"]) == ("give_up", 0)
    assert (snapshot["fails"], snapshot["rerolled"]) == (1, False)
    assert game.legal_actions() == [at(12, 8)]
    snapshot = play(game, at(12, 8))
    # The die shows the value of that field.
    assert snapshot["dice"] == [1, 5, 6]
    assert owned(snapshot["blocks"]) == {at(12, 19): 1}
    assert (snapshot["phase"], snapshot["to_move"]) == ("blocks", 1)
    assert snapshot["set_block"] == [True, True]
    assert snapshot["passed"] == [False, False]


def test_m13_the_player_chooses_which_own_block_to_give_up(meeples):
    blocks = {at(12, 8): 0, at(12, 10): 0, at(12, 19): 1}
    game = meeples.position(blocks_position([6, 6, 6], blocks, rng=ROLLS_HIGH))
    play(game, REROLL)
    assert game.legal_actions() == [at(12, 8), at(12, 10)]
    assert play(game, at(12, 10))["dice"] == [3, 5, 6, 6]


def test_m13_without_an_own_block_this_round_nothing_is_given_up(meeples):
    game = meeples.position(blocks_position([6, 6, 6], {at(12, 19): 1}, rng=ROLLS_HIGH))
    snapshot = play(game, REROLL)
    assert snapshot["dice"] == [5, 6, 6]
    assert (snapshot["phase"], snapshot["to_move"]) == ("blocks", 1)
    assert owned(snapshot["blocks"]) == {at(12, 19): 1}


def test_m13_nothing_is_given_up_where_no_own_block_is_left(meeples):
    # Player 0 has set a block, which player 1 has replaced.
    meeples_beside = {at(12, 9): 0, at(12, 11): 1}
    snapshot = position(
        "blocks",
        ROW,
        meeples_beside,
        {at(12, 10): 1},
        [6, 6],
        dice_per_player=2,
        set_block=[True, True],
        rng=ROLLS_HIGH,
    )
    after = play(meeples.position(snapshot), REROLL)
    assert (after["phase"], after["to_move"], after["fails"]) == ("blocks", 1, 1)
    assert owned(after["blocks"]) == {at(12, 10): 1}


def test_m13_who_may_take_one_more_die_still_may_after_giving_up(meeples):
    blocks = {at(12, 5): 0}
    game = meeples.position(
        three_players_position(
            [6, 6], blocks, passed=[False, False, True], dice_allowed=[1, 1, 0], rng=ROLLS_HIGH
        )
    )
    snapshot = play(game, REROLL, at(12, 5))
    assert snapshot["dice_allowed"] == [1, 1, 0]
    assert snapshot["to_move"] == 1


# M14, M15: passing


@pytest.mark.parametrize("dice", [[1, 3], [6, 6]])
def test_m14_passing_is_always_allowed(meeples, dice):
    assert PASS in meeples.position(blocks_position(dice)).legal_actions()


def test_m14_who_has_passed_takes_no_more_dice(meeples):
    game = meeples.position(three_players_position([1, 1, 2, 3, 4, 6]))
    snapshot = play(game, PASS)
    assert snapshot["passed"] == [True, False, False]
    assert snapshot["to_move"] == 1
    # Both others set their last one, and the phase ends without player 0.
    snapshot = play(game, at(12, 16))
    assert snapshot["to_move"] == 2
    snapshot = play(game, at(12, 21))
    assert_meeples_phase(snapshot)
    assert set(owned(snapshot["blocks"]).values()) == {1, 2}


def test_m15_after_the_first_pass_the_others_take_one_die_at_most(meeples):
    game = meeples.position(three_players_position([1, 1, 2, 3, 4, 6]))
    snapshot = play(game, PASS)
    assert snapshot["dice_allowed"] == [0, 1, 1]
    snapshot = play(game, at(12, 14))
    assert snapshot["dice_allowed"] == [0, 0, 1]
    assert snapshot["passed"] == [True, False, False]


def test_m15_dice_taken_before_the_pass_do_not_count(meeples):
    blocks = {at(12, 5): 0, at(12, 7): 0, at(12, 14): 1, at(12, 16): 1}
    game = meeples.position(three_players_position([4, 6], blocks, to_move=2))
    snapshot = play(game, PASS)
    assert snapshot["dice_allowed"] == [1, 1, 0]
    assert snapshot["to_move"] == 0
    assert game.legal_actions() == [at(12, 8), PASS]
    assert play(game, at(12, 8))["dice_allowed"] == [0, 1, 0]


def test_m15_a_later_pass_changes_nothing_for_the_others(meeples):
    game = meeples.position(three_players_position([1, 1, 2, 3, 4, 6]))
    snapshot = play(game, PASS, PASS)
    assert snapshot["dice_allowed"] == [0, 0, 1]
    assert snapshot["passed"] == [True, True, False]
    assert snapshot["to_move"] == 2


# M17: the end of the phase


def test_m17_the_phase_ends_when_the_pool_is_empty(meeples):
    blocks = {at(12, 8): 0, at(12, 17): 1, at(12, 19): 1}
    game = meeples.position(blocks_position([3], blocks))
    snapshot = play(game, at(12, 10))
    assert_meeples_phase(snapshot)
    assert len(snapshot["blocks"]) == 4


def test_m17_the_phase_ends_when_everybody_has_passed(meeples):
    game = meeples.position(blocks_position([1, 6]))
    snapshot = play(game, PASS, PASS)
    assert_meeples_phase(snapshot)
    assert snapshot["dice"] == [1, 6]  # they stay until the next round


def test_m17_the_phase_ends_when_nobody_may_take_a_die(meeples):
    game = meeples.position(blocks_position([1, 1, 2, 3]))
    snapshot = play(game, PASS, at(12, 19))
    assert_meeples_phase(snapshot)
    assert snapshot["dice"] == [1, 1, 3]


def test_m17_the_phase_ends_after_a_full_round_without_a_block(meeples):
    game = meeples.position(three_players_position([6, 6, 6], rng=ROLLS_HIGH))
    snapshot = play(game, REROLL, REROLL)
    assert (snapshot["phase"], snapshot["to_move"], snapshot["fails"]) == ("blocks", 2, 2)
    assert_meeples_phase(play(game, REROLL))


def test_m17_setting_a_block_starts_the_count_again(meeples):
    game = meeples.position(blocks_position([6, 6], rng=ROLLS_5_5_THEN_6_2))
    assert play(game, REROLL)["fails"] == 1
    snapshot = play(game, REROLL, at(12, 19))  # player 1 sets a block on a 2
    assert (snapshot["phase"], snapshot["to_move"], snapshot["fails"]) == ("blocks", 0, 0)


def test_m17_passing_does_not_count_as_a_failed_turn(meeples):
    game = meeples.position(three_players_position([6, 6, 6], rng=ROLLS_HIGH))
    snapshot = play(game, PASS, REROLL)
    # Two are still in, one of them has failed.
    assert (snapshot["phase"], snapshot["to_move"], snapshot["fails"]) == ("blocks", 2, 1)
    assert_meeples_phase(play(game, REROLL))


def test_m17_passing_does_not_start_the_count_again(meeples):
    game = meeples.position(three_players_position([6, 6, 6], rng=ROLLS_HIGH))
    snapshot = play(game, REROLL, PASS)
    assert (snapshot["phase"], snapshot["to_move"], snapshot["fails"]) == ("blocks", 2, 1)
    assert_meeples_phase(play(game, REROLL))


def test_m17_the_check_follows_a_pass_too(meeples):
    game = meeples.position(three_players_position([6, 6, 6], rng=ROLLS_HIGH))
    assert play(game, REROLL, REROLL)["phase"] == "blocks"
    # Two failed turns, and after this pass only two are still in.
    assert_meeples_phase(play(game, PASS))


def test_m17_who_has_taken_the_last_die_allowed_is_no_longer_in(meeples):
    game = meeples.position(
        three_players_position(
            [6, 6],
            {at(12, 5): 0},
            passed=[False, False, True],
            dice_allowed=[0, 1, 0],
            to_move=1,
            rng=ROLLS_HIGH,
        )
    )
    assert_meeples_phase(play(game, REROLL))


def test_m17_the_only_player_still_in_goes_on_alone(meeples):
    game = meeples.position(
        three_players_position(
            [1, 2, 6], passed=[True, True, False], dice_allowed=[0, 0, 1], to_move=2, rng=ROLLS_3_6
        )
    )
    assert game.legal_actions() == [PASS, REROLL]
    play(game, REROLL)
    assert_meeples_phase(play(game, at(12, 21)))


def test_m17_the_block_is_given_up_before_the_phase_ends(meeples):
    blocks = {at(12, 8): 0, at(12, 19): 1}
    game = meeples.position(blocks_position([6, 6], blocks, fails=1, rng=ROLLS_HIGH))
    snapshot = play(game, REROLL)
    assert (snapshot["phase"], snapshot["fails"]) == ("give_up", 2)
    snapshot = play(game, at(12, 8))
    assert_meeples_phase(snapshot)
    assert snapshot["dice"] == [1, 5, 6]
    assert owned(snapshot["blocks"]) == {at(12, 19): 1}
