"""The rules of meeples one by one: material, setup, and the stones of a round (M1–M11)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.chance import Chance, state_from_seed
from tests.rules.implementations import Game, Starter
from tests.rules.meeples.positions import (
    ALL_STONES,
    DOWN,
    END_TURN,
    LEFT,
    PASS,
    RIGHT,
    UP,
    across,
    at,
    down,
    fields_of,
    places,
    play,
    position,
    stone,
)

# Six stones in a row, from column 8 on: 1 2 3 4 5 6 6 6 1 1 2 2
ROW = across(12, 8, "12 34 56 66 11 22")
MEEPLES = {at(12, 9): 0, at(12, 18): 1}


def lay(game: Game, first_field: int, direction: int) -> None:
    """Lay any stone of the hand."""
    for action in (game.legal_actions()[0], first_field, direction):
        game.step(action)


def finish_setup(game: Game) -> None:
    """Take the lowest legal actions until the first round begins."""
    while game.snapshot()["phase"] == "setup":
        game.step(game.legal_actions()[0])


# M1, M2: the stones


def test_m1_the_stones_are_the_double_six_set(meeples):
    hands = meeples().snapshot()["hands"]
    stones = sorted(held for hand in hands for held in hand)
    assert stones == [[first, second] for first in range(7) for second in range(first, 7)]


def test_m1_the_first_half_is_the_smaller_value(meeples):
    stones = across(12, 8, "12 34 56 66 11") | {(2, 5): (at(13, 8), at(13, 9))}
    game = meeples.position(position("meeples", stones, {at(13, 8): 0, at(13, 9): 1}))
    assert game.scores() == [2, 5]


@pytest.mark.parametrize(("num_players", "size"), [(2, 14), (3, 9), (4, 7)])
def test_m2_the_stones_are_dealt_out_evenly(meeples, num_players, size):
    hands = meeples(num_players=num_players).snapshot()["hands"]
    assert [len(hand) for hand in hands] == [size] * num_players
    assert len({tuple(held) for hand in hands for held in hand}) == size * num_players


def test_m2_the_deal_comes_from_the_seed(meeples):
    stones = [[first, second] for first in range(7) for second in range(first, 7)]
    Chance(state_from_seed(5)).shuffle(stones)
    expected = [sorted(stones[:9]), sorted(stones[9:18]), sorted(stones[18:27])]
    assert meeples(seed=5, num_players=3).snapshot()["hands"] == expected


# M3: the table


def test_m3_no_half_lies_outside_the_table(meeples):
    stones = across(12, 12, "12 34 56 66 11 22")  # up to the right edge, column 23
    game = meeples.position(position("stones", stones, {at(12, 13): 0, at(12, 16): 1}))
    play(game, stone(0, 0))
    found = places(meeples, game)
    assert (at(11, 23), UP) in found
    assert (at(11, 23), LEFT) in found
    assert (at(11, 23), RIGHT) not in found
    assert not any(field == at(13, 0) for field, _ in found)


def test_m3_no_half_lies_above_or_below_the_table(meeples):
    top = position("stones", across(0, 8, "12 34 56 66 11 22"), {at(0, 9): 0, at(0, 18): 1})
    game = meeples.position(top)
    play(game, stone(0, 0))
    # Only the places below, and those at the two ends, are on the table.
    assert {field // 24 for field in game.legal_actions()} == {0, 1, 2}
    low = position("stones", across(23, 8, "12 34 56 66 11 22"), {at(23, 9): 0, at(23, 18): 1})
    game = meeples.position(low)
    play(game, stone(0, 0))
    assert {field // 24 for field in game.legal_actions()} == {21, 22, 23}


# M4: meeples and dice


def test_m4_each_player_has_ten_meeples(meeples):
    assert meeples(num_players=4).snapshot()["supply"] == [10, 10, 10, 10]


@pytest.mark.parametrize("dice_per_player", [1, 3, 5])
def test_m4_all_dice_lie_in_one_pool(meeples, dice_per_player):
    game = meeples(num_players=3, dice_per_player=dice_per_player)
    finish_setup(game)
    assert len(game.snapshot()["dice"]) == 3 * dice_per_player


# M7, M8: the setup


def test_m7_the_first_stone_lies_in_the_middle(meeples):
    game = meeples(seed=1)
    hand = game.snapshot()["hands"][0]
    assert game.legal_actions() == [stone(*held) for held in hand]
    game.step(game.legal_actions()[0])
    assert game.legal_actions() == [at(12, 11)]
    game.step(at(12, 11))
    assert game.legal_actions() == [RIGHT]
    snapshot = play(game, RIGHT)
    assert snapshot["stones"] == [{"stone": hand[0], "fields": [at(12, 11), at(12, 12)]}]


def test_m7_a_chosen_stone_has_left_the_hand(meeples):
    game = meeples(seed=1)
    hand = game.snapshot()["hands"][0]
    snapshot = play(game, stone(*hand[3]))
    assert snapshot["chosen"] == {"stone": hand[3], "field": None}
    assert snapshot["hands"][0] == hand[:3] + hand[4:]
    assert snapshot["stones"] == []


def test_m7_the_second_stone_touches_the_first_by_an_edge(meeples):
    game = meeples()
    lay(game, at(12, 11), RIGHT)
    game.step(game.legal_actions()[0])
    found = places(meeples, game)
    assert (at(11, 11), UP) in found
    assert (at(10, 12), DOWN) in found
    assert (at(12, 10), LEFT) in found
    assert (at(11, 10), LEFT) not in found  # only a corner
    assert (at(12, 12), RIGHT) not in found  # covered
    # Above it 3 places lie and 2 stand, the same below; at each end 1 lies and 2 stand. Each in
    # two orientations.
    assert len(found) == 2 * (5 + 5 + 3 + 3)


def test_m7_the_second_stone_must_touch_the_players_own_first(meeples):
    game = meeples()
    lay(game, at(12, 11), RIGHT)
    lay(game, at(12, 13), RIGHT)
    game.step(game.legal_actions()[0])
    lay(game, at(12, 10), LEFT)  # player 1, at the left end
    game.step(game.legal_actions()[0])
    found = places(meeples, game)
    assert (at(12, 8), LEFT) in found
    assert (at(11, 10), RIGHT) in found
    assert (at(12, 15), RIGHT) not in found  # touches the layout, but not that stone


def test_m7_a_later_first_stone_touches_the_layout(meeples):
    game = meeples()
    lay(game, at(12, 11), RIGHT)
    lay(game, at(12, 13), RIGHT)
    game.step(game.legal_actions()[0])
    assert game.snapshot()["to_move"] == 1
    game.step(game.legal_actions()[0])
    found = places(meeples, game)
    assert (at(12, 10), LEFT) in found
    assert (at(12, 15), RIGHT) in found
    assert (at(11, 10), LEFT) not in found
    assert (at(5, 5), RIGHT) not in found


def pocket_in_the_setup(meeples: Starter) -> Game:
    """Player 3 is to lay; the fields (13, 11) and (13, 12) are walled in by the layout."""
    game = meeples(num_players=4)
    for first, second in [
        ((at(12, 11), RIGHT), (at(12, 10), DOWN)),
        ((at(12, 13), DOWN), (at(14, 13), LEFT)),
        ((at(14, 11), LEFT), (at(15, 11), LEFT)),
    ]:
        lay(game, *first)
        lay(game, *second)
        game.step(game.legal_actions()[-1])
    assert game.snapshot()["to_move"] == 3
    return game


def test_m7_a_first_stone_is_refused_where_the_second_could_not_touch_it(meeples):
    game = pocket_in_the_setup(meeples)
    game.step(game.legal_actions()[0])
    assert at(13, 11) not in game.legal_actions()
    assert at(13, 12) not in game.legal_actions()
    assert at(15, 12) in game.legal_actions()


# Six stones of a setup that leave the first of the next player one way out, round a corner: from
# the stone on the fields marked f to the field g and on to h. 10 11 12 13 14 15 9 10 11 12 13 14 b
# a a e x x 12 b a a b f f e 13 b f e e c c g h 14 c c f g i i d d 15 d d h
BENT_ACROSS = (
    [((12, 10), DOWN), ((12, 13), DOWN), ((12, 14), RIGHT), ((14, 11), LEFT), ((15, 12), LEFT)],
    ((13, 11), RIGHT),
)
BENT_UPRIGHT = (
    [((12, 10), DOWN), ((13, 12), RIGHT), ((14, 13), RIGHT), ((14, 10), LEFT), ((15, 11), LEFT)],
    ((13, 11), DOWN),
)


@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("bent", [BENT_ACROSS, BENT_UPRIGHT], ids=["across", "upright"])
def test_m7_a_first_stone_is_allowed_where_the_second_goes_round_a_corner(
    meeples, bent, mirrored, upside_down
):
    def turned(place: tuple[tuple[int, int], int]) -> tuple[int, int]:
        (row, column), direction = place
        if mirrored:
            column = 23 - column
            direction = {LEFT: RIGHT, RIGHT: LEFT}.get(direction, direction)
        if upside_down:
            row = 24 - row
            direction = {UP: DOWN, DOWN: UP}.get(direction, direction)
        return at(row, column), direction

    laid, wanted = bent
    game = meeples(num_players=4)
    lay(game, at(12, 11), RIGHT)  # the first of all lies there, which all turns leave as it is
    for number, place in enumerate(laid):
        lay(game, *turned(place))
        if number % 2 == 0:
            game.step(game.legal_actions()[-1])
    assert game.snapshot()["to_move"] == 3
    game.step(game.legal_actions()[0])
    field, direction = turned(wanted)
    assert (field, direction) in places(meeples, game)


def test_m7_the_second_stone_may_not_lie_apart_in_a_pocket(meeples):
    game = pocket_in_the_setup(meeples)
    lay(game, at(11, 11), UP)
    game.step(game.legal_actions()[0])
    assert at(13, 11) not in game.legal_actions()
    assert at(10, 12) in game.legal_actions()


def test_m7_such_a_pocket_is_open_in_the_rounds(meeples):
    # No second stone has to follow there.
    walls = (
        across(12, 11, "11")
        | across(14, 11, "22")
        | down(12, 10, "45")
        | down(12, 13, "35")
        | across(15, 11, "12 66")
    )
    game = meeples.position(position("stones", walls, {at(15, 13): 0, at(12, 11): 1}))
    play(game, stone(0, 0))
    assert {(at(13, 11), RIGHT), (at(13, 12), LEFT)} <= places(meeples, game)


def lay_anywhere(game: Game) -> None:
    """Lay a stone by the lowest legal actions."""
    for _ in range(3):
        game.step(game.legal_actions()[0])


SETUP_STONES = across(12, 11, "14") | across(12, 13, "05")


def setup_meeple_position() -> dict[str, Any]:
    """Player 0 has laid both stones: 1 4 0 5 from column 11 on."""
    snapshot = position("meeples", ALL_STONES, {})
    hands = [list(held) for held in ALL_STONES if held not in SETUP_STONES]
    return snapshot | {
        "phase": "setup",
        "round": 0,
        "ply": 6,
        "stones": [
            {"stone": list(laid), "fields": list(fields)} for laid, fields in SETUP_STONES.items()
        ],
        "setup_stones": [[0, 5], [1, 4]],
        "hands": [hands[:12], hands[12:]],
    }


def test_m8_the_meeple_goes_on_one_of_the_four_fields_but_not_on_a_0(meeples):
    game = meeples.position(setup_meeple_position())
    assert game.legal_actions() == [at(12, 11), at(12, 12), at(12, 14)]


def test_m8_no_special_action_follows(meeples):
    for field in (at(12, 11), at(12, 12)):  # a 1 and a 4
        snapshot = play(meeples.position(setup_meeple_position()), field)
        assert snapshot["phase"] == "setup"
        assert snapshot["to_move"] == 1
        assert snapshot["meeples"] == [{"field": field, "player": 0}]
        assert snapshot["supply"] == [9, 10]
        assert snapshot["setup_stones"] == []
        assert snapshot["new_meeples"] == 0


# M9, M10: the dice


def test_m9_dice_are_rolled_when_the_first_round_begins(meeples):
    game = meeples(seed=2)
    for _ in range(13):
        assert game.snapshot()["dice"] == []
        game.step(game.legal_actions()[0])
    before = game.snapshot()
    assert before["phase"] == "setup"
    after = play(game, game.legal_actions()[0])
    chance = Chance(before["rng"])
    assert after["dice"] == sorted(chance.below(6) + 1 for _ in range(6))
    assert after["rng"] == chance.state
    assert (after["phase"], after["round"], after["to_move"]) == ("stones", 1, 0)


def test_m9_the_dice_lie_open_while_stones_are_laid(meeples):
    game = meeples(seed=2)
    finish_setup(game)
    dice = game.snapshot()["dice"]
    lay_anywhere(game)
    lay_anywhere(game)
    snapshot = game.snapshot()
    assert snapshot["phase"] == "blocks"
    assert snapshot["dice"] == dice


def test_m10_a_new_round_takes_the_blocks_away_and_rolls_all_dice(meeples):
    blocks = {at(12, 10): 0, at(12, 17): 1}
    game = meeples.position(position("meeples", ROW, MEEPLES, blocks, [2], rng=77))
    snapshot = play(game, END_TURN, END_TURN)
    chance = Chance(77)
    assert snapshot["round"] == 2
    assert snapshot["blocks"] == []
    assert snapshot["dice"] == sorted(chance.below(6) + 1 for _ in range(6))
    assert snapshot["meeples"] == [
        {"field": at(12, 9), "player": 0},
        {"field": at(12, 18), "player": 1},
    ]


# M11: stones


def test_m11_no_half_may_be_adjacent_to_a_stone_with_an_own_meeple(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    play(game, stone(0, 0))
    found = places(meeples, game)
    # The own meeple stands on the 2 of the stone 1-2 in columns 8 and 9.
    assert (at(11, 9), UP) not in found
    assert (at(11, 8), UP) not in found  # its other half counts as well
    assert (at(10, 9), DOWN) not in found  # the second half counts as well
    assert (at(11, 10), LEFT) not in found
    assert (at(12, 7), LEFT) not in found
    assert (at(11, 10), UP) in found
    assert (at(11, 10), RIGHT) in found


def test_m11_foreign_meeples_do_not_matter(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    play(game, stone(0, 0))
    assert (at(11, 18), UP) in places(meeples, game)


def test_m11_the_stone_must_be_adjacent_to_the_layout(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    play(game, stone(0, 0))
    found = places(meeples, game)
    assert (at(12, 20), RIGHT) in found
    assert (at(12, 21), RIGHT) not in found
    assert (at(11, 20), RIGHT) not in found  # only a corner
    assert (at(12, 19), RIGHT) not in found  # covered


def test_m11_values_need_not_match(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    hand = game.snapshot()["hands"][0]
    assert game.legal_actions() == [stone(*held) for held in hand]
    fields = []
    for held in hand:
        trial = meeples.position(game.snapshot())
        trial.step(stone(*held))
        fields.append(trial.legal_actions())
    assert fields == [fields[0]] * len(hand)


def test_m11_any_place_will_do_where_every_place_is_banned(meeples):
    # Own meeples stand on every stone.
    own = {at(12, column): 0 for column in (8, 10, 12, 14, 16, 18)}
    game = meeples.position(position("stones", ROW, own | {at(12, 19): 1}, dice_per_player=5))
    play(game, stone(0, 0))
    found = places(meeples, game)
    assert (at(11, 9), UP) in found
    assert (at(12, 20), RIGHT) in found
    assert (at(12, 21), RIGHT) not in found
    # Above: 13 places lying with a half over the row's 12 fields, 12 standing; the same below;
    # at each end one lying and two standing. Each in two orientations.
    assert len(found) == 2 * (2 * (13 + 12) + 2 * 3)


def test_m11_one_place_left_is_the_only_one(meeples):
    # One stone without own meeple, at the end: the ban holds, and only the places there are left.
    own = {at(12, column): 0 for column in (8, 10, 12, 14, 16)}
    game = meeples.position(position("stones", ROW, own | {at(12, 19): 1}, dice_per_player=5))
    play(game, stone(0, 0))
    assert {field % 24 for field, _ in places(meeples, game)} == {18, 19, 20, 21}


def test_m11_each_player_lays_one_stone_in_order(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    play(game, stone(0, 0), at(12, 20), RIGHT)
    snapshot = game.snapshot()
    assert (snapshot["phase"], snapshot["to_move"]) == ("stones", 1)
    assert fields_of(snapshot, 0, 0) == [at(12, 20), at(12, 21)]
    assert snapshot["chosen"] == {"stone": None, "field": None}
    lay_anywhere(game)
    snapshot = game.snapshot()
    assert (snapshot["phase"], snapshot["to_move"]) == ("blocks", 0)
    assert [len(hand) for hand in snapshot["hands"]] == [10, 10]


def test_m11_without_stones_the_round_begins_with_the_blocks(meeples):
    game = meeples.position(position("meeples", ALL_STONES, {at(13, 6): 0, at(11, 18): 1}))
    snapshot = play(game, END_TURN, END_TURN)
    assert (snapshot["phase"], snapshot["to_move"], snapshot["round"]) == ("blocks", 0, 13)
    assert len(snapshot["dice"]) == 6


def test_m11_a_place_is_chosen_field_first_then_direction(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    play(game, stone(0, 3), at(11, 10))
    # Left of it is a field beside the stone with the own meeple, below it the row.
    assert game.legal_actions() == [UP, RIGHT]
    assert fields_of(play(game, UP), 0, 3) == [at(11, 10), at(10, 10)]


def test_m11_passing_is_not_allowed(meeples):
    game = meeples.position(position("stones", ROW, MEEPLES))
    assert PASS not in game.legal_actions()
    before = game.snapshot()
    with pytest.raises(ValueError, match=r"(?i)pass|608"):
        game.step(PASS)
    assert game.snapshot() == before
