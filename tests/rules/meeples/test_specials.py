"""The rules of meeples one by one: the special actions and their chains (M21–M26)."""

from __future__ import annotations

from typing import Any

from tests.rules.implementations import Game, Starter
from tests.rules.meeples.positions import (
    ALL_STONES,
    DECLINE,
    DOWN,
    END_TURN,
    LEFT,
    RIGHT,
    UP,
    across,
    at,
    down,
    fields_of,
    owned,
    places,
    play,
    position,
    stone,
)

# M21: land

# Values from column 8 on:  6 4 6 6 1 2 3 5 2 2 1 1
# Player 0 stands on the 2 of column 16, player 1 on the 1 of column 12.
LAND_ROW = across(12, 8, "64 66 12 35 22 11")


def land(
    meeples: Starter,
    more_meeples: dict[int, int] | None = None,
    more_blocks: dict[int, int] | None = None,
) -> Game:
    """A meeple of player 0 has just been put on the 4 in column 9."""
    standing = {at(12, 16): 0, at(12, 12): 1} | (more_meeples or {})
    blocks = {at(12, 9): 0} | (more_blocks or {})
    game = meeples.position(position("meeples", LAND_ROW, standing, blocks))
    game.step(at(12, 9))
    return game


def test_m21_any_stone_with_a_free_side_may_be_picked_up(meeples):
    game = land(meeples)
    assert game.snapshot()["phase"] == "land"
    assert game.legal_actions() == sorted(
        stone(*laid) for laid in [(1, 1), (1, 2), (2, 2), (3, 5), (4, 6), (6, 6)]
    )


def test_m21_a_stone_without_a_free_side_may_not(meeples):
    # The stone 6-6 is walled in.
    stones = (
        across(12, 11, "66")
        | across(11, 11, "11")
        | across(13, 11, "22")
        | down(12, 10, "45")
        | down(12, 13, "35")
        | across(12, 14, "12")
    )
    standing = {at(12, 15): 0, at(12, 13): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 10): 0}))
    play(game, at(12, 10))
    assert game.legal_actions() == sorted(
        stone(*laid) for laid in [(1, 1), (2, 2), (4, 5), (3, 5), (1, 2)]
    )


def test_m21_beyond_the_edge_of_the_table_there_is_no_free_side(meeples):
    #   6 6 4 5       in the corner of the table
    #   1 1 2 2
    #   3 5 1 2
    stones = across(0, 0, "66 45") | across(1, 0, "11 22") | across(2, 0, "35 12")
    standing = {at(2, 0): 0, at(2, 3): 1}
    game = meeples.position(position("meeples", stones, standing, {at(0, 2): 0}))
    play(game, at(0, 2))
    assert game.legal_actions() == sorted(stone(*laid) for laid in [(4, 5), (2, 2), (3, 5), (1, 2)])


def test_m21_a_stone_leaves_the_last_field_of_the_table(meeples):
    #     6 6 4 5     in the lower right corner of the table
    #   3 5 2 2
    #     1 1 1 2
    stones = across(21, 20, "66 45") | across(22, 19, "35 22") | across(23, 20, "11 12")
    standing = {at(22, 19): 0, at(23, 23): 1}
    game = meeples.position(position("meeples", stones, standing, {at(21, 22): 0}))
    play(game, at(21, 22))
    assert stone(1, 2) in game.legal_actions()  # the field above its 2 is bare
    snapshot = play(game, stone(1, 2), at(20, 20), UP)
    assert fields_of(snapshot, 1, 2) == [at(20, 20), at(19, 20)]
    assert owned(snapshot["meeples"]) == {at(21, 22): 0, at(22, 19): 0, at(19, 20): 1}


def test_m21_the_set_of_its_two_fields_must_change(meeples):
    game = land(meeples)
    play(game, stone(4, 6))  # its 4 lies on column 9, its 6 on column 8
    found = places(meeples, game)
    assert (at(12, 9), LEFT) not in found
    assert (at(12, 8), RIGHT) not in found  # turned round on the spot
    assert (at(12, 9), UP) in found  # one field stays
    assert (at(11, 9), DOWN) in found
    assert (at(11, 10), UP) in found


def test_m21_it_must_be_adjacent_to_the_layout_without_it(meeples):
    game = land(meeples)
    play(game, stone(4, 6))
    found = places(meeples, game)
    assert (at(12, 8), LEFT) not in found
    assert (at(12, 7), RIGHT) not in found
    assert (at(11, 8), UP) not in found
    assert (at(12, 20), RIGHT) in found


def test_m21_everything_on_it_comes_along(meeples):
    game = land(meeples, more_blocks={at(12, 8): 1})
    snapshot = play(game, stone(4, 6), at(11, 14), UP)
    assert fields_of(snapshot, 4, 6) == [at(11, 14), at(10, 14)]
    assert owned(snapshot["meeples"]) == {at(11, 14): 0, at(12, 16): 0, at(12, 12): 1}
    assert owned(snapshot["blocks"]) == {at(10, 14): 1}
    assert snapshot["phase"] == "meeples"
    assert (snapshot["source"], snapshot["fired"]) == (None, [])
    assert snapshot["chosen"] == {"stone": None, "field": None}


def test_m21_until_it_is_laid_it_still_lies_where_it_was(meeples):
    game = land(meeples)
    snapshot = play(game, stone(4, 6), at(11, 14))
    assert snapshot["chosen"] == {"stone": [4, 6], "field": at(11, 14)}
    assert fields_of(snapshot, 4, 6) == [at(12, 9), at(12, 8)]
    assert owned(snapshot["meeples"])[at(12, 9)] == 0


def test_m21_the_layout_may_fall_apart(meeples):
    game = land(meeples)
    snapshot = play(game, stone(3, 5), at(12, 7), LEFT)
    assert fields_of(snapshot, 3, 5) == [at(12, 7), at(12, 6)]
    # Either part will do.
    game = land(meeples)
    play(game, stone(3, 5))
    found = places(meeples, game)
    assert {(at(12, 20), RIGHT), (at(12, 7), LEFT)} <= found


def test_m21_the_ban_of_m11_does_not_apply(meeples):
    game = land(meeples)
    play(game, stone(3, 5))
    assert (at(11, 16), UP) in places(meeples, game)


def test_m21_it_may_not_bring_two_meeples_of_a_colour_together(meeples):
    game = land(meeples)
    play(game, stone(4, 6))  # with the meeple on its 4
    found = places(meeples, game)
    assert (at(11, 16), UP) not in found
    assert (at(10, 16), DOWN) in found  # only the empty half comes beside the other meeple
    assert (at(11, 12), UP) in found  # beside a foreign meeple


def test_m21_foreign_meeples_may_not_be_brought_together_either(meeples):
    game = land(meeples, more_meeples={at(12, 19): 1})
    play(game, stone(1, 1))  # the meeple of player 1 stands on its second half
    found = places(meeples, game)
    assert (at(10, 12), DOWN) not in found
    assert (at(11, 12), UP) in found


def pair_on_one_stone(meeples: Starter) -> Game:
    """A meeple on a 2 has cloned itself onto the 4 of the same stone; a land follows.

    Values from column 8 on: 2 4 6 6 1 2 …; the pair stands on columns 8 and 9.
    """
    stones = across(12, 8, "24 66 12 35 22 11")
    standing = {at(12, 16): 0, at(12, 12): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 8): 0}))
    play(game, at(12, 8), at(12, 9))
    return game


def test_m6_a_pair_may_travel_on_one_stone(meeples):
    game = pair_on_one_stone(meeples)
    snapshot = play(game, stone(2, 4), at(12, 21), LEFT)
    assert owned(snapshot["meeples"]) == {
        at(12, 21): 0,
        at(12, 20): 0,
        at(12, 16): 0,
        at(12, 12): 1,
    }


def test_m6_a_pair_may_stay_while_another_stone_moves(meeples):
    game = pair_on_one_stone(meeples)
    assert stone(6, 6) in game.legal_actions()
    snapshot = play(game, stone(1, 1), at(11, 12), UP)
    assert {at(12, 8), at(12, 9)} <= owned(snapshot["meeples"]).keys()


def pair_on_two_stones(meeples: Starter) -> Game:
    """A meeple on a 2 has cloned itself onto the 4 of the next stone; a land follows.

    Values from column 8 on: 6 2 4 6 1 2 …; the pair stands on columns 9 and 10.
    """
    stones = across(12, 8, "62 46 12 35 22 11")
    standing = {at(12, 16): 0, at(12, 12): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 9): 0}))
    play(game, at(12, 9), at(12, 10))
    return game


def test_m6_the_former_partner_may_not_be_joined_again(meeples):
    game = pair_on_two_stones(meeples)
    play(game, stone(4, 6))
    found = places(meeples, game)
    assert (at(11, 9), UP) not in found  # the clone above its source
    assert (at(10, 9), DOWN) in found  # the empty half above it
    assert (at(11, 11), UP) not in found  # away from the layout that is left
    assert (at(11, 12), UP) in found


def test_m6_nor_where_the_half_with_the_clone_is_laid_on_its_old_field(meeples):
    # The stone is picked up, which parts the two, so laying it would join them anew.
    game = pair_on_two_stones(meeples)
    play(game, stone(4, 6))
    assert (at(12, 10), UP) not in places(meeples, game)
    assert (at(12, 10), DOWN) not in places(meeples, game)


# M22: sidestep

#   3 6 5 0 1 2      columns 8 to 13
#   5 5 6 6 1 1
SQUARE = across(12, 8, "36 50 12") | across(13, 8, "55 66 11")


def sidestep(
    meeples: Starter, standing: dict[int, int], blocks: dict[int, int] | None = None
) -> Game:
    """A meeple of player 0 has just been put on the 3 in the upper left corner."""
    blocks = {at(12, 8): 0} | (blocks or {})
    game = meeples.position(position("meeples", SQUARE, standing, blocks))
    game.step(at(12, 8))
    return game


def test_m22_any_meeple_may_step_to_a_diagonal_neighbour(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1})
    assert game.snapshot()["phase"] == "sidestep"
    assert game.legal_actions() == [at(12, 8), at(12, 13), at(13, 13), DECLINE]
    snapshot = play(game, at(12, 13))
    assert snapshot["chosen"] == {"stone": None, "field": at(12, 13)}
    assert game.legal_actions() == [at(13, 12)]
    snapshot = play(game, at(13, 12))
    assert owned(snapshot["meeples"]) == {at(12, 8): 0, at(13, 13): 0, at(13, 12): 1}
    assert (snapshot["phase"], snapshot["to_move"]) == ("meeples", 0)


def test_m22_it_is_free_to_do_or_not(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1})
    snapshot = play(game, DECLINE)
    assert (snapshot["phase"], snapshot["to_move"], snapshot["fired"]) == ("meeples", 0, [])
    assert owned(snapshot["meeples"]) == {at(12, 8): 0, at(13, 13): 0, at(12, 13): 1}


def test_m22_once_a_meeple_is_chosen_it_steps(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1})
    play(game, at(12, 8))
    assert game.legal_actions() == [at(13, 9)]


def test_m22_not_onto_a_field_with_a_block_or_a_meeple(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1}, blocks={at(13, 9): 1})
    assert at(12, 8) not in game.legal_actions()
    game = sidestep(meeples, {at(13, 13): 0, at(13, 9): 1})
    assert at(12, 8) not in game.legal_actions()


def test_m22_not_beside_a_meeple_of_its_colour(meeples):
    # From the corner to the 5 on (13, 9), beside the own meeple on (13, 10).
    game = sidestep(meeples, {at(13, 10): 0, at(12, 13): 1})
    assert game.legal_actions() == [at(12, 13), DECLINE]
    # The rule holds for foreign meeples as well: (13, 9) is beside the one on (13, 8).
    game = sidestep(meeples, {at(13, 12): 0, at(12, 10): 1, at(13, 8): 1})
    play(game, at(12, 10))
    assert game.legal_actions() == [at(13, 11)]


def test_m22_never_onto_a_0(meeples):
    # The only diagonal neighbours of (13, 10) are a 6 beside the own meeple, and a 0.
    game = sidestep(meeples, {at(13, 10): 0, at(12, 13): 1})
    assert at(13, 10) not in game.legal_actions()


# M23: clone

#   2 6 5 3 6 6      columns 8 to 13
#   0 1 5 5 1 1
CLONE_STONES = across(12, 8, "26 53 66") | across(13, 8, "01 55 11")


def clone_position(
    standing: dict[int, int], blocks: dict[int, int] | None = None
) -> dict[str, Any]:
    """Player 0 may put a meeple on the 2 in the upper left corner."""
    return position("meeples", CLONE_STONES, standing, {at(12, 8): 0} | (blocks or {}))


def test_m23_a_meeple_from_supply_appears_beside_the_source(meeples):
    game = meeples.position(clone_position({at(13, 12): 0, at(12, 13): 1}))
    play(game, at(12, 8))
    # Not below, where a 0 is. M6 allows it beside its source.
    assert game.legal_actions() == [at(12, 9)]
    snapshot = play(game, at(12, 9))
    assert owned(snapshot["meeples"]) == {at(12, 8): 0, at(12, 9): 0, at(13, 12): 0, at(12, 13): 1}
    assert snapshot["supply"] == [7, 9]
    assert snapshot["new_meeples"] == 2
    assert snapshot["phase"] == "meeples"


def test_m23_not_beside_another_own_meeple(meeples):
    game = meeples.position(clone_position({at(13, 9): 0, at(12, 13): 1}))
    snapshot = play(game, at(12, 8))
    # The one empty field beside the source is beside the meeple on (13, 9) too.
    assert (snapshot["phase"], snapshot["supply"]) == ("meeples", [8, 9])


def test_m23_beside_a_foreign_meeple_is_allowed(meeples):
    game = meeples.position(clone_position({at(13, 12): 0, at(13, 9): 1}))
    play(game, at(12, 8))
    assert game.legal_actions() == [at(12, 9)]


def test_m23_not_onto_a_block_whoever_owns_it(meeples):
    for owner in (0, 1):
        game = meeples.position(clone_position({at(13, 12): 0, at(12, 13): 1}, {at(12, 9): owner}))
        assert play(game, at(12, 8))["phase"] == "meeples"


def test_m23_without_supply_it_falls_away(meeples):
    fields = [at(13, column) for column in (6, 8, 10, 12, 14, 16, 18)] + [at(12, 5), at(12, 7)]
    standing = dict.fromkeys(fields, 0) | {at(11, 8): 1}
    snapshot = position("meeples", ALL_STONES, standing, {at(11, 18): 0})
    after = play(meeples.position(snapshot), at(11, 18))
    assert after["supply"] == [0, 9]
    assert (after["phase"], after["to_move"]) == ("meeples", 0)


# M24: teleport

#   1 6 5 5 0 1      columns 8 to 13
#   1 1 6 6 1 2
TELEPORT_STONES = across(12, 8, "16 55 01") | across(13, 8, "11 66 12")


def test_m24_the_meeple_goes_to_another_empty_1(meeples):
    standing = {at(13, 10): 0, at(12, 10): 1}
    game = meeples.position(position("meeples", TELEPORT_STONES, standing, {at(12, 8): 0}))
    play(game, at(12, 8))
    # (13, 9) is beside the meeple on (13, 10). (13, 8) is beside the old field, which no longer
    # counts.
    assert game.legal_actions() == [at(12, 13), at(13, 8), at(13, 12)]
    snapshot = play(game, at(13, 8))
    assert owned(snapshot["meeples"]) == standing | {at(13, 8): 0}
    assert snapshot["supply"] == [8, 9]
    assert snapshot["new_meeples"] == 1
    assert snapshot["phase"] == "meeples"


def test_m24_meeples_blocks_and_own_neighbours_bar_the_way(meeples):
    # Player 0 on (13, 13) bars (12, 13) and (13, 12); on (13, 9) is a meeple, on (13, 8) a block.
    standing = {at(13, 13): 0, at(13, 9): 1}
    blocks = {at(12, 8): 0, at(13, 8): 1}
    game = meeples.position(position("meeples", TELEPORT_STONES, standing, blocks))
    snapshot = play(game, at(12, 8))
    assert snapshot["phase"] == "meeples"
    assert owned(snapshot["meeples"])[at(12, 8)] == 0


def test_m24_never_onto_a_0(meeples):
    standing = {at(13, 10): 0, at(12, 10): 1}
    game = meeples.position(position("meeples", TELEPORT_STONES, standing, {at(12, 8): 0}))
    play(game, at(12, 8))
    assert at(12, 12) not in game.legal_actions()


# M25: what must be done, and what falls away


def test_m25_land_clone_and_teleport_must_be_carried_out(meeples):
    assert DECLINE not in land(meeples).legal_actions()
    game = meeples.position(clone_position({at(13, 12): 0, at(12, 13): 1}))
    play(game, at(12, 8))
    assert DECLINE not in game.legal_actions()
    standing = {at(13, 10): 0, at(12, 10): 1}
    game = meeples.position(position("meeples", TELEPORT_STONES, standing, {at(12, 8): 0}))
    play(game, at(12, 8))
    assert DECLINE not in game.legal_actions()


def test_m25_a_sidestep_that_nobody_can_make_falls_away(meeples):
    # In one row there is no diagonal neighbour.
    game = meeples.position(
        position("meeples", LAND_ROW, {at(12, 16): 0, at(12, 12): 1}, {at(12, 14): 0})
    )
    snapshot = play(game, at(12, 14))
    assert snapshot["phase"] == "meeples"
    assert (snapshot["source"], snapshot["fired"]) == (None, [])
    assert game.legal_actions() == [END_TURN]


# M26: chains


def test_m26_a_clone_sets_off_the_value_of_its_field(meeples):
    snapshot = pair_on_one_stone(meeples).snapshot()
    assert (snapshot["phase"], snapshot["source"]) == ("land", at(12, 9))
    assert snapshot["fired"] == [2, 4]


def test_m26_an_own_meeple_that_sidesteps_sets_off_the_value_of_its_field(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1})
    snapshot = play(game, at(13, 13), at(12, 12))
    assert (snapshot["phase"], snapshot["source"]) == ("teleport", at(12, 12))
    assert snapshot["fired"] == [1, 3]
    assert game.legal_actions() == [at(13, 12), at(13, 13)]
    # And a teleport sets off nothing further.
    snapshot = play(game, at(13, 12))
    assert (snapshot["phase"], snapshot["fired"]) == ("meeples", [])


def test_m26_a_foreign_meeple_that_sidesteps_sets_off_nothing(meeples):
    game = sidestep(meeples, {at(13, 13): 0, at(12, 13): 1})
    snapshot = play(game, at(12, 13), at(13, 12))  # onto a 1, and other 1s are empty
    assert snapshot["phase"] == "meeples"


def test_m26_a_land_sets_off_nothing(meeples):
    # The stone that moves carries the meeple on the 4, and a meeple of player 0 on a 3.
    game = land(meeples, more_meeples={at(12, 14): 0})
    snapshot = play(game, stone(3, 5), at(12, 7), LEFT)
    assert snapshot["phase"] == "meeples"


def test_m26_each_value_goes_off_once_in_a_chain(meeples):
    # A clone from one 2 onto another 2 does not clone again.
    stones = across(12, 8, "22 66") | across(13, 8, "16 55 11 12")
    standing = {at(13, 14): 0, at(13, 12): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 8): 0}))
    play(game, at(12, 8))
    assert game.legal_actions() == [at(12, 9), at(13, 8)]
    snapshot = play(game, at(12, 9))
    assert (snapshot["phase"], snapshot["new_meeples"]) == ("meeples", 2)


def test_m26_a_chain_of_three(meeples):
    # Put on the 2, clone onto the 3 beside it, sidestep with the clone onto the 4 below: land.
    #   2 3 6 6 1 1
    #   5 5 4 6 1 5
    stones = across(12, 8, "23 66 11") | across(13, 8, "55 46 15")
    standing = {at(13, 13): 0, at(13, 11): 1}
    game = meeples.position(position("meeples", stones, standing, {at(12, 8): 0}))
    play(game, at(12, 8))
    assert game.legal_actions() == [at(12, 9), at(13, 8)]
    snapshot = play(game, at(12, 9))
    assert (snapshot["phase"], snapshot["source"]) == ("sidestep", at(12, 9))
    assert snapshot["fired"] == [2, 3]
    play(game, at(12, 9))
    assert game.legal_actions() == [at(13, 10)]  # (13, 8) is beside the source of the clone
    snapshot = play(game, at(13, 10))
    assert (snapshot["phase"], snapshot["source"]) == ("land", at(13, 10))
    assert snapshot["fired"] == [2, 3, 4]
