"""Spiel der Türme: passing, the end of the game and what it is worth (T10 … T15)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.implementations import Game
from tests.rules.tuerme.boards import (
    CITY_CORNERS,
    PASS,
    before_a_city_is_full,
    blocked_deal,
    landings,
    lot_of,
    move,
    position,
    stack,
    tower,
)

# The move that fills the last lot of a city in most of these tests: from the street above into
# city 0's lot of symbol 0.
LAST_STREET, LAST_LOT = (0, 1), (1, 1)
INTO_LAST_LOT = move(LAST_STREET, LAST_LOT)
# Another stack that can move and fits vacant lots, so that the game does not end by T12.
ANOTHER_STACK = stack(7, 13, 1, 1)


def city_0_but_one(colours: tuple[int, int, int], mover: int, height: int = 1) -> list[Any]:
    """City 0's towers of the symbols 1, 2, 3, and a stack before its lot of symbol 0."""
    towers = [tower(0, symbol, colour) for symbol, colour in zip((1, 2, 3), colours, strict=True)]
    return [*towers, stack(*LAST_STREET, mover, 0, height)]


def is_over(game: Game) -> bool:
    """Whether the game is over; everything that says so must agree."""
    snapshot = game.snapshot()
    over = snapshot["outcome"] is not None
    assert snapshot["to_move"] in range(snapshot["options"]["num_players"])
    assert (game.legal_actions() == []) == over
    return over


def outcome_of(game: Game) -> dict[str, Any]:
    """The outcome of a game that must be over."""
    assert is_over(game)
    return game.snapshot()["outcome"]


def test_t10_passing_is_illegal_for_a_player_who_can_move(tuerme):
    game = tuerme.position(position(stack(3, 3, 0, 0)))
    assert PASS not in game.legal_actions()
    with pytest.raises(ValueError):
        game.step(PASS)


def test_t10_passing_is_illegal_while_a_neutral_stack_can_move(tuerme):
    game = tuerme.position(position(stack(3, 3, 2, 0)))
    assert PASS not in game.legal_actions()


def test_t10_a_player_with_no_stack_on_a_street_passes(tuerme):
    game = tuerme.position(position(stack(3, 3, 1, 0), tower(0, 1, colour=0)))
    assert game.legal_actions() == [PASS]
    game.step(PASS)
    snapshot = game.snapshot()
    assert (snapshot["to_move"], snapshot["passes"], snapshot["ply"]) == (1, 1, 121)
    assert landings(game.legal_actions(), (3, 3)) == {(2, 3), (3, 4), (4, 3), (3, 2)}


def test_t10_a_player_whose_stacks_are_all_blocked_passes(tuerme):
    # Two occupied squares in a row to the right of the corner and two below it.
    stacks = [
        stack(0, 0, 0, 0),
        stack(0, 1, 1, 1),
        stack(0, 2, 1, 2),
        stack(1, 0, 1, 1),
        stack(2, 0, 1, 2),
    ]
    assert tuerme.position(position(*stacks)).legal_actions() == [PASS]


def test_t10_foreign_stacks_do_not_help_with_four_players(tuerme):
    game = tuerme.position(position(stack(3, 3, 3, 0), num_players=4))
    for player in range(3):
        assert game.snapshot()["to_move"] == player
        assert game.legal_actions() == [PASS]
        game.step(PASS)
    assert game.snapshot()["passes"] == 3
    assert PASS not in game.legal_actions()


@pytest.mark.parametrize(
    ("mover", "blockers", "landing"),
    [
        ((0, 0), [(1, 0), (2, 0)], (0, 1)),
        ((0, 13), [(1, 13), (2, 13)], (0, 12)),
        ((7, 0), [(6, 0), (5, 0)], (7, 1)),
        ((7, 13), [(6, 13), (5, 13)], (7, 12)),
        ((0, 0), [(0, 1), (0, 2)], (1, 0)),
        ((7, 0), [(7, 1), (7, 2)], (6, 0)),
    ],
)
def test_t10_a_single_move_anywhere_forbids_to_pass(tuerme, mover, blockers, landing):
    blocking = [stack(*place, 1, symbol) for symbol, place in enumerate(blockers, 1)]
    game = tuerme.position(position(stack(*mover, 0, 0), *blocking, num_players=4))
    assert game.legal_actions() == [move(mover, landing)]


def test_t10_a_move_ends_the_row_of_passes(tuerme):
    game = tuerme.position(position(stack(3, 3, 1, 0)))
    game.step(PASS)
    game.step(move((3, 3), (3, 4)))
    assert game.snapshot()["passes"] == 0
    assert game.legal_actions() == [PASS]
    game.step(PASS)
    assert game.snapshot()["passes"] == 1
    assert not is_over(game)


@pytest.mark.parametrize("city", range(8))
def test_t11_a_city_of_one_colour_ends_the_game(tuerme, city):
    before, last_move = before_a_city_is_full(city)
    game = tuerme.position(before)
    assert not is_over(game)
    game.step(last_move)
    assert is_over(game)
    assert game.snapshot()["ending_city"] == city
    assert outcome_of(game)["by_limit"] is False


@pytest.mark.parametrize("colours", [(1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 1, 1)])
def test_t11_a_full_city_of_several_colours_does_not_end_the_game(tuerme, colours):
    game = tuerme.position(position(*city_0_but_one(colours, mover=0), ANOTHER_STACK))
    game.step(INTO_LAST_LOT)
    assert not is_over(game)
    assert game.snapshot()["ending_city"] is None


@pytest.mark.parametrize("num_players", [2, 3])
def test_t11_a_city_of_one_neutral_colour_ends_the_game(tuerme, num_players):
    stacks = city_0_but_one((3, 3, 3), mover=3)
    game = tuerme.position(position(*stacks, ANOTHER_STACK, num_players=num_players))
    game.step(INTO_LAST_LOT)
    assert is_over(game)
    assert game.snapshot()["ending_city"] == 0


def test_t11_two_neutral_colours_are_not_one_colour(tuerme):
    game = tuerme.position(position(*city_0_but_one((2, 2, 2), mover=3), ANOTHER_STACK))
    game.step(INTO_LAST_LOT)
    assert not is_over(game)


def test_t11_four_towers_of_one_colour_in_two_cities_do_not_end_the_game(tuerme):
    towers = [tower(0, 1, 0), tower(0, 2, 0), tower(1, 3, 0)]
    game = tuerme.position(position(*towers, stack(*LAST_STREET, 0, 0), ANOTHER_STACK))
    game.step(INTO_LAST_LOT)
    assert not is_over(game)


@pytest.mark.parametrize(
    ("colours", "mover"), [((1, 0, 0), 0), ((0, 1, 3), 2), ((2, 3, 2), 2), ((0, 0, 0), 0)]
)
def test_t11_with_the_option_any_full_city_ends_the_game(tuerme, colours, mover):
    stacks = city_0_but_one(colours, mover)
    game = tuerme.position(position(*stacks, ANOTHER_STACK, end_on_any_full_city=True))
    game.step(INTO_LAST_LOT)
    assert is_over(game)
    assert game.snapshot()["ending_city"] == 0


def test_t11_with_the_option_three_lots_of_a_city_do_not_end_the_game(tuerme):
    towers = [tower(0, 1, 0), tower(0, 2, 0)]
    mover = stack(*LAST_STREET, 0, 0)
    game = tuerme.position(position(*towers, mover, ANOTHER_STACK, end_on_any_full_city=True))
    game.step(INTO_LAST_LOT)
    assert not is_over(game)


def test_t12_bare_streets_end_the_game_with_no_city_doubled(tuerme):
    game = tuerme.position(position(stack(*LAST_STREET, 0, 0, 3), tower(0, 1, colour=1, height=2)))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game) == {"scores": [3, 2], "rewards": [1.0, -1.0], "by_limit": False}
    assert game.snapshot()["ending_city"] is None


def symbol_0_but_one_lot() -> list[dict[str, int]]:
    """Towers in the lots of symbol 0, one stack before the last of them, the rest on streets."""
    towers = [tower(city, 0, colour=(city - 1) % 4) for city in range(1, 8)]
    streets = [stack(4, 0, 1, 0, 5), stack(4, 13, 1, 0, 5), stack(3, 7, 2, 0, 2)]
    return [*towers, stack(*LAST_STREET, 0, 0), *streets]


def test_t12_ends_when_no_street_stack_fits_a_vacant_lot(tuerme):
    # Symbol 0 is all that is left on the streets; lots of the symbols 1, 2 and 3 stay vacant.
    game = tuerme.position(position(*symbol_0_but_one_lot()))
    game.step(INTO_LAST_LOT)
    # Colour 0 stands in the cities 0, 1 and 5, colour 1 in the cities 2 and 6.
    assert outcome_of(game) == {"scores": [3, 2], "rewards": [1.0, -1.0], "by_limit": False}
    assert game.snapshot()["ending_city"] is None


@pytest.mark.parametrize(("colour", "symbol"), [(0, 1), (1, 2), (3, 3)])
def test_t12_a_stack_that_fits_a_lot_far_away_keeps_the_game_going(tuerme, colour, symbol):
    game = tuerme.position(position(*symbol_0_but_one_lot(), stack(7, 13, colour, symbol)))
    game.step(INTO_LAST_LOT)
    assert not is_over(game)


def test_t12_goes_on_while_a_lot_of_the_symbol_is_vacant(tuerme):
    game = tuerme.position(position(*symbol_0_but_one_lot()))
    game.step(move(LAST_STREET, (0, 0)))
    assert not is_over(game)


@pytest.mark.parametrize("symbol", range(4))
@pytest.mark.parametrize("vacant_city", [1, 6])
@pytest.mark.parametrize("street", [(3, 6), (4, 6)])
def test_t12_each_symbol_s_last_stack_needs_a_lot_of_its_own(tuerme, symbol, vacant_city, street):
    """All lots are full but one of another symbol, and one that is vacant or the last to be filled."""
    other = (symbol + 1) % 4
    wanted, top = lot_of(vacant_city, symbol), CITY_CORNERS[vacant_city][0]
    before = (top - 1 if wanted[0] == top else top + 2, wanted[1])
    vacant = {(vacant_city, symbol), (3, other)}
    heights = {
        (city, kind): 1 for kind in range(4) for city in range(8) if (city, kind) not in vacant
    }
    # The stones that are left over make some of the towers higher.
    for kind in range(4):
        missing = 20 - sum(kind == of for _, of in heights) - 2 * (kind == symbol)
        for city in (0, 2, 4, 5, 7):
            higher = min(4, missing)
            heights[city, kind] += higher
            missing -= higher
    full = [
        tower(city, kind, (city if kind % 2 else city + 1) % 4, height)
        for (city, kind), height in heights.items()
    ]
    stacks = [*full, stack(*street, 0, symbol), stack(*before, 0, symbol)]
    game = tuerme.position(position(*stacks))
    game.step(move(before, wanted))
    assert is_over(game)
    assert game.snapshot()["ending_city"] is None
    again = tuerme.position(position(*stacks))
    aside = (before[0], before[1] - 1)
    again.step(move(before, aside))
    assert not is_over(again)


def test_t12_a_city_of_one_colour_counts_although_the_streets_are_bare(tuerme):
    game = tuerme.position(position(*city_0_but_one((0, 0, 0), mover=0, height=2)))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game)["scores"] == [10, 0]
    assert game.snapshot()["ending_city"] == 0


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_t12_the_game_ends_when_all_players_pass_in_a_row(tuerme, num_players):
    game = tuerme.position(blocked_deal(num_players=num_players))
    for passed in range(num_players):
        assert not is_over(game)
        assert game.snapshot()["passes"] == passed
        assert game.legal_actions() == [PASS]
        game.step(PASS)
    nothing = [0] * num_players
    assert outcome_of(game) == {"scores": nothing, "rewards": nothing, "by_limit": False}
    assert game.snapshot()["ending_city"] is None


def test_t13_the_heights_of_the_own_towers_are_counted_and_streets_are_not(tuerme):
    stacks = [
        tower(0, 0, colour=0, height=3),
        tower(1, 1, colour=0, height=4),
        tower(0, 2, colour=1, height=5),
        stack(3, 3, 0, 0, 5),
        stack(3, 10, 1, 0, 2),
    ]
    assert tuerme.position(position(*stacks)).scores() == [7, 5]


def test_t13_neutral_towers_are_nobodys(tuerme):
    stacks = [
        tower(0, 0, colour=0, height=1),
        tower(0, 1, colour=1, height=2),
        tower(0, 2, colour=2, height=3),
        tower(0, 3, colour=3, height=4),
        stack(3, 3, 0, 0),
    ]
    expected = {2: [1, 2], 3: [1, 2, 3], 4: [1, 2, 3, 4]}
    for num_players, scores in expected.items():
        game = tuerme.position(position(*stacks, rest="streets", num_players=num_players))
        assert game.scores() == scores


def test_t13_the_ending_city_counts_double_and_the_others_once(tuerme):
    stacks = [
        tower(0, 1, colour=0, height=2),
        tower(0, 2, colour=0, height=3),
        tower(0, 3, colour=0, height=1),
        stack(*LAST_STREET, 0, 0, 4),
        tower(1, 0, colour=0, height=5),
        tower(1, 1, colour=1, height=3),
        ANOTHER_STACK,
    ]
    game = tuerme.position(position(*stacks))
    assert game.scores() == [11, 3]
    game.step(INTO_LAST_LOT)
    # Twice 2 + 3 + 1 + 4, and 5.
    assert outcome_of(game)["scores"] == [25, 3]
    assert game.scores() == [25, 3]


def test_t13_an_ending_city_of_several_colours_counts_double_for_each(tuerme):
    stacks = [
        tower(0, 1, colour=1, height=3),
        tower(0, 2, colour=1, height=4),
        tower(0, 3, colour=2, height=5),
        stack(*LAST_STREET, 0, 0, 2),
        tower(1, 0, colour=0, height=1),
        ANOTHER_STACK,
    ]
    game = tuerme.position(position(*stacks, end_on_any_full_city=True))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game)["scores"] == [5, 14]


def test_t13_a_neutral_ending_city_counts_for_nobody(tuerme):
    stacks = [*city_0_but_one((2, 2, 2), mover=2), tower(1, 1, colour=1, height=3), ANOTHER_STACK]
    game = tuerme.position(position(*stacks))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game) == {"scores": [0, 3], "rewards": [-1.0, 1.0], "by_limit": False}


def test_t14_the_game_ends_after_max_plies_and_is_scored_as_it_stands(tuerme):
    stacks = [stack(3, 3, 0, 0), tower(0, 0, colour=1, height=4), tower(0, 1, colour=0, height=3)]
    game = tuerme.position(position(*stacks, max_plies=122))
    game.step(move((3, 3), (3, 4)))
    assert not is_over(game)
    game.step(game.legal_actions()[0])
    assert outcome_of(game) == {"scores": [3, 4], "rewards": [-1.0, 1.0], "by_limit": True}
    assert game.snapshot()["ply"] == 122
    assert game.snapshot()["ending_city"] is None


def test_t14_plies_are_counted_from_the_deal(tuerme):
    game = tuerme(seed=1, max_plies=3)
    for ply in range(3):
        assert not is_over(game)
        assert game.snapshot()["ply"] == ply
        game.step(game.legal_actions()[0])
    assert outcome_of(game)["by_limit"] is True


def test_t14_the_default_is_500_plies(tuerme):
    assert tuerme().snapshot()["options"]["max_plies"] == 500


def test_t14_a_pass_counts_as_an_action(tuerme):
    game = tuerme.position(position(stack(3, 3, 1, 0), max_plies=121))
    game.step(PASS)
    assert outcome_of(game)["by_limit"] is True


def test_t14_an_action_that_completes_a_city_is_no_end_by_the_limit(tuerme):
    stacks = [*city_0_but_one((0, 0, 0), mover=0), ANOTHER_STACK]
    game = tuerme.position(position(*stacks, max_plies=121))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game) == {"scores": [8, 0], "rewards": [1.0, -1.0], "by_limit": False}


def test_t14_an_action_that_bares_the_streets_is_no_end_by_the_limit(tuerme):
    game = tuerme.position(position(stack(*LAST_STREET, 0, 0), max_plies=121))
    game.step(INTO_LAST_LOT)
    assert outcome_of(game)["by_limit"] is False


def test_t14_the_last_of_all_passes_is_no_end_by_the_limit(tuerme):
    game = tuerme.position(blocked_deal(max_plies=2))
    game.step(PASS)
    game.step(PASS)
    assert outcome_of(game)["by_limit"] is False


@pytest.mark.parametrize(
    ("scores", "rewards"),
    [
        ([4, 3], [1, -1]),
        ([1, 5], [-1, 1]),
        ([2, 2], [0, 0]),
        ([5, 1, 4], [1, -1 / 2, -1 / 2]),
        ([3, 1, 3], [1 / 4, -1 / 2, 1 / 4]),
        ([2, 2, 2], [0, 0, 0]),
        ([1, 2, 3, 4], [-1 / 3, -1 / 3, -1 / 3, 1]),
        ([4, 2, 4, 3], [1 / 3, -1 / 3, 1 / 3, -1 / 3]),
        ([3, 3, 2, 3], [1 / 9, 1 / 9, -1 / 3, 1 / 9]),
        ([1, 1, 1, 1], [0, 0, 0, 0]),
    ],
)
def test_t15_the_best_share_the_reward_and_the_sum_is_zero(tuerme, scores, rewards):
    # Player i has a tower of symbol i; the next action is the last one (T14).
    towers = [tower(i % 2, i, colour=i, height=height) for i, height in enumerate(scores)]
    stacks = [*towers, stack(3, 3, 0, 0)]
    start = position(*stacks, rest="streets", num_players=len(scores), max_plies=121)
    game = tuerme.position(start)
    assert game.scores() == scores
    game.step(move((3, 3), (3, 4)))
    outcome = outcome_of(game)
    assert outcome["scores"] == scores
    assert outcome["rewards"] == pytest.approx(rewards, abs=1e-6)
    assert sum(outcome["rewards"]) == pytest.approx(0, abs=1e-6)
