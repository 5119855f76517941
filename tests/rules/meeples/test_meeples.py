"""The rules of meeples one by one: meeples and who may stand beside whom (M5, M6, M18–M20)."""

import pytest

from tests.rules.meeples.positions import ALL_STONES, END_TURN, across, at, owned, play, position

# Values from column 8 on:  1 5 6 2 5 6 3 6 5 5 6 6
ROW = across(12, 8, "15 62 56 36 55 66")
MEEPLES = {at(12, 12): 0, at(12, 16): 1}

# Nine meeples of player 0 on the whole set of stones, no two of them adjacent:
# on 6 4 5 6 5 6 6 of row 13 and on two 2s of row 12.
NINE_FIELDS = [at(13, column) for column in (6, 8, 10, 12, 14, 16, 18)] + [at(12, 5), at(12, 7)]


# M18: putting and moving


def test_m18_a_meeple_from_supply_goes_on_an_own_block_and_takes_its_place(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 0, at(12, 18): 1}))
    snapshot = play(game, at(12, 10))
    assert owned(snapshot["meeples"]) == MEEPLES | {at(12, 10): 0}
    assert owned(snapshot["blocks"]) == {at(12, 18): 1}
    assert snapshot["supply"] == [8, 9]
    assert snapshot["new_meeples"] == 1
    assert (snapshot["phase"], snapshot["to_move"]) == ("meeples", 0)


def test_m18_a_foreign_block_is_of_no_use(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 1, at(12, 18): 1}))
    assert game.legal_actions() == [END_TURN]


def test_m18_any_number_of_meeples_may_be_put(meeples):
    blocks = {at(12, 10): 0, at(12, 15): 0, at(12, 18): 0}
    snapshot = play(meeples.position(position("meeples", ROW, MEEPLES, blocks)), *blocks)
    assert snapshot["supply"] == [6, 9]
    assert snapshot["new_meeples"] == 3
    assert snapshot["blocks"] == []


def test_m18_an_own_meeple_may_move_to_an_own_block(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 0, at(12, 15): 0}))
    assert game.legal_actions() == [at(12, 10), at(12, 12), at(12, 15), END_TURN]
    snapshot = play(game, at(12, 12))
    assert snapshot["chosen"] == {"stone": None, "field": at(12, 12)}
    assert not snapshot["moved"]
    assert game.legal_actions() == [at(12, 10), at(12, 15)]
    snapshot = play(game, at(12, 15))
    assert owned(snapshot["meeples"]) == {at(12, 15): 0, at(12, 16): 1}
    assert owned(snapshot["blocks"]) == {at(12, 10): 0}
    assert snapshot["supply"] == [9, 9]
    assert snapshot["new_meeples"] == 0
    assert snapshot["moved"]
    assert snapshot["chosen"] == {"stone": None, "field": None}


def test_m18_foreign_meeples_are_not_moved(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 0}))
    assert at(12, 16) not in game.legal_actions()


def test_m18_only_one_move_a_turn(meeples):
    blocks = {at(12, 10): 0, at(12, 15): 0, at(12, 18): 1}
    game = meeples.position(position("meeples", ROW, MEEPLES, blocks))
    play(game, at(12, 12), at(12, 10))
    assert game.legal_actions() == [at(12, 15), END_TURN]
    # Putting still is allowed, before and after.
    assert play(game, at(12, 15))["supply"] == [8, 9]
    assert game.legal_actions() == [END_TURN]
    # The next player has a move of their own.
    assert not play(game, END_TURN)["moved"]
    assert at(12, 16) in game.legal_actions()


def test_m18_a_meeple_just_put_may_be_the_one_that_moves(meeples):
    blocks = {at(12, 10): 0, at(12, 15): 0}
    game = meeples.position(position("meeples", ROW, MEEPLES, blocks))
    snapshot = play(game, at(12, 10), at(12, 10), at(12, 15))
    assert owned(snapshot["meeples"]) == {at(12, 12): 0, at(12, 15): 0, at(12, 16): 1}


def test_m18_both_are_free_to_do_or_not(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 0, at(12, 18): 1}))
    snapshot = play(game, END_TURN)
    assert (snapshot["phase"], snapshot["to_move"]) == ("meeples", 1)
    # The blocks lie until the next round begins.
    assert owned(snapshot["blocks"]) == {at(12, 10): 0, at(12, 18): 1}


def test_m18_a_player_who_can_do_nothing_still_ends_the_turn(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 10): 0}))
    play(game, END_TURN)
    assert game.snapshot()["to_move"] == 1
    assert game.legal_actions() == [END_TURN]


def test_m18_each_player_has_one_turn_in_a_round(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES))
    snapshot = play(game, END_TURN, END_TURN)
    assert (snapshot["phase"], snapshot["round"], snapshot["to_move"]) == ("stones", 2, 0)


def test_m18_without_supply_only_the_move_is_left(meeples):
    own = dict.fromkeys([*NINE_FIELDS, at(12, 9)], 0)
    blocks = {at(11, 16): 0}  # on a 6, away from all of them
    game = meeples.position(position("meeples", ALL_STONES, own | {at(11, 8): 1}, blocks))
    assert game.snapshot()["supply"] == [0, 9]
    assert game.legal_actions() == sorted([*own, END_TURN])


# M6: no two of one colour side by side


def test_m6_a_meeple_beside_an_own_one_is_refused(meeples):
    blocks = {at(12, 11): 0, at(12, 18): 0}
    game = meeples.position(position("meeples", ROW, MEEPLES, blocks))
    assert at(12, 18) in game.legal_actions()
    assert at(12, 11) not in game.legal_actions()


def test_m6_a_meeple_beside_a_foreign_one_is_allowed(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 15): 0}))
    assert at(12, 15) in game.legal_actions()


def test_m6_a_moved_meeple_does_not_count_where_it_was(meeples):
    game = meeples.position(position("meeples", ROW, MEEPLES, {at(12, 13): 0}))
    # Too close to be put there, but the neighbour itself may step aside to it.
    assert game.legal_actions() == [at(12, 12), END_TURN]
    assert owned(play(game, at(12, 12), at(12, 13))["meeples"])[at(12, 13)] == 0


def test_m6_a_move_beside_another_own_meeple_is_refused(meeples):
    own = {at(12, 8): 0, at(12, 12): 0, at(12, 16): 1}
    game = meeples.position(position("meeples", ROW, own, {at(12, 9): 0, at(12, 18): 0}))
    play(game, at(12, 12))
    assert game.legal_actions() == [at(12, 18)]


def test_m6_diagonal_neighbours_do_not_matter(meeples):
    #   1 5 6 2 5 6
    #   3 6 5 5 6 6
    stones = across(12, 8, "15 62 56") | across(13, 8, "36 55 66")
    own = {at(12, 10): 0, at(12, 13): 1}
    game = meeples.position(position("meeples", stones, own, {at(13, 9): 0, at(13, 10): 0}))
    assert at(13, 9) in game.legal_actions()
    assert at(13, 10) not in game.legal_actions()


# M19, M20: what sets off a special action


@pytest.mark.parametrize("column", [17, 10])
def test_m20_a_5_and_a_6_set_off_nothing(meeples, column):
    snapshot = play(
        meeples.position(position("meeples", ROW, MEEPLES, {at(12, column): 0})), at(12, column)
    )
    assert snapshot["phase"] == "meeples"
    assert snapshot["source"] is None
    assert snapshot["fired"] == []


def test_m19_putting_and_moving_both_set_off_the_special_action(meeples):
    # The 2 on column 11 has an empty 6 on its left.
    put = meeples.position(position("meeples", ROW, {at(12, 8): 0, at(12, 16): 1}, {at(12, 11): 0}))
    snapshot = play(put, at(12, 11))
    assert (snapshot["phase"], snapshot["source"]) == ("clone", at(12, 11))
    assert snapshot["fired"] == [2]
    moved = meeples.position(
        position("meeples", ROW, {at(12, 8): 0, at(12, 16): 1}, {at(12, 11): 0})
    )
    snapshot = play(moved, at(12, 8), at(12, 11))
    assert (snapshot["phase"], snapshot["source"]) == ("clone", at(12, 11))
    assert snapshot["moved"]


def test_m19_the_player_whose_turn_it_is_carries_it_out(meeples):
    own = {at(12, 8): 0, at(12, 16): 1}
    game = meeples.position(position("meeples", ROW, own, {at(12, 11): 1}))
    snapshot = play(game, END_TURN, at(12, 11))
    assert (snapshot["phase"], snapshot["to_move"]) == ("clone", 1)
    snapshot = play(game, at(12, 10))
    assert (snapshot["phase"], snapshot["to_move"]) == ("meeples", 1)
    assert owned(snapshot["meeples"])[at(12, 10)] == 1


def test_m19_a_new_action_starts_a_new_chain(meeples):
    #   2 5 6 2 5 6
    #   3 6 5 5 6 6
    # Two 2s: each of them clones, since each is an action of its own.
    stones = across(12, 8, "25 62 56") | across(13, 8, "36 55 66")
    own = {at(13, 13): 0, at(12, 13): 1}
    blocks = {at(12, 8): 0, at(12, 11): 0}
    game = meeples.position(position("meeples", stones, own, blocks))
    play(game, at(12, 8), at(12, 9))
    snapshot = play(game, at(12, 11))
    assert (snapshot["phase"], snapshot["fired"]) == ("clone", [2])
    snapshot = play(game, at(12, 12))
    assert snapshot["supply"] == [5, 9]
    assert snapshot["new_meeples"] == 4
