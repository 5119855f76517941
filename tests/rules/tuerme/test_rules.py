"""Spiel der Türme: the board, the deal and the moves (T1 … T9).

The other rules: test_end.py.
"""

from __future__ import annotations

import pytest

from tests.reference.chance import Chance, state_from_seed
from tests.rules.implementations import Game
from tests.rules.tuerme.boards import (
    PASS,
    PLAN,
    Place,
    landings,
    lot_of,
    move,
    movers,
    position,
    stack,
    stack_at,
    tower,
)

# The crossing of streets at which the mover of most tests stands: row 3 and column 3 have no lots.
CENTRE = (3, 3)
ABOVE, RIGHT, BELOW, LEFT = (2, 3), (3, 4), (4, 3), (3, 2)


def columns_to_the_right(game: Game) -> list[int]:
    """Where the stack on the crossing may land to its right."""
    places = landings(game.legal_actions(), CENTRE)
    return sorted(column for row, column in places if row == 3 and column > 3)


def test_t1_eighty_streets_and_eight_cities_of_four_lots(tuerme):
    occupied = {entry["square"] for entry in tuerme().snapshot()["stacks"]}
    picture = ["".join("." if 14 * r + c in occupied else "#" for c in range(14)) for r in range(8)]
    assert picture == [
        "..............",
        ".##.##..##.##.",
        ".##.##..##.##.",
        "..............",
        "..............",
        ".##.##..##.##.",
        ".##.##..##.##.",
        "..............",
    ]


@pytest.mark.parametrize("city", range(8))
def test_t2_every_lot_takes_only_its_own_symbol(tuerme, city):
    others = [other for other in range(8) if other != city]
    for lot in (lot_of(city, symbol) for symbol in range(4)):
        # Cities fill rows 1-2 and 5-6: the street above the upper lots, below the lower ones.
        street = (lot[0] - 1 if lot[0] in (1, 5) else lot[0] + 1, lot[1])
        taken = []
        for symbol in range(4):
            game = tuerme.position(position(stack(*street, 0, symbol), rest_cities=others))
            if lot in landings(game.legal_actions(), street):
                taken.append(str(symbol))
        assert taken == [PLAN[lot[0]][lot[1]]]


def test_t3_five_stones_of_each_colour_and_symbol(tuerme):
    kinds = [(e["colour"], e["symbol"], e["height"]) for e in tuerme(seed=3).snapshot()["stacks"]]
    assert len(kinds) == 80
    assert all(kinds.count((c, s, 1)) == 5 for c in range(4) for s in range(4))


def test_t3_the_shuffled_stones_lie_on_the_streets_in_order(tuerme):
    stones = [(colour, symbol) for colour in range(4) for symbol in range(4) for _ in range(5)]
    Chance(state_from_seed(7)).shuffle(stones)
    dealt = [(e["colour"], e["symbol"]) for e in tuerme(seed=7).snapshot()["stacks"]]
    assert dealt == stones


def test_t3_the_seed_decides_the_deal(tuerme):
    assert tuerme(seed=1).snapshot() == tuerme(seed=1).snapshot()
    assert tuerme(seed=1).snapshot()["stacks"] != tuerme(seed=2).snapshot()["stacks"]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_t3_player_0_begins_and_the_others_follow_in_order(tuerme, num_players):
    game = tuerme(seed=5, num_players=num_players)
    order = []
    for _ in range(num_players + 1):
        order.append(game.snapshot()["to_move"])
        game.step(game.legal_actions()[0])
    assert order == [*range(num_players), 0]


@pytest.mark.parametrize(
    ("num_players", "to_move", "colours"),
    [
        (2, 0, {0, 2, 3}),
        (2, 1, {1, 2, 3}),
        (3, 0, {0, 3}),
        (3, 1, {1, 3}),
        (3, 2, {2, 3}),
        (4, 0, {0}),
        (4, 1, {1}),
        (4, 2, {2}),
        (4, 3, {3}),
    ],
)
def test_t4_t5_own_and_neutral_stacks_are_moved(tuerme, num_players, to_move, colours):
    by_colour = {0: (3, 0), 1: (3, 3), 2: (3, 6), 3: (3, 10)}
    stacks = [stack(*place, colour, 0) for colour, place in by_colour.items()]
    game = tuerme.position(position(*stacks, to_move=to_move, num_players=num_players))
    assert movers(game.legal_actions()) == {by_colour[colour] for colour in colours}


def test_t5_a_stack_moves_as_a_whole(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 0, 1, height=4)))
    game.step(move(CENTRE, RIGHT))
    assert stack_at(game.snapshot(), CENTRE) is None
    assert stack_at(game.snapshot(), RIGHT) == (0, 1, 4)


def test_t6_a_move_goes_one_way_up_down_left_or_right(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 0, 0)))
    assert landings(game.legal_actions(), CENTRE) == {ABOVE, RIGHT, BELOW, LEFT}


def test_t6_no_diagonal_landing_on_an_equal_symbol(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 0, 0), stack(4, 4, 1, 0)))
    assert landings(game.legal_actions(), CENTRE) == {ABOVE, RIGHT, BELOW, LEFT}


def test_t6_no_move_round_a_corner_with_slide(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 0, 0), slide=True))
    row = {(3, column) for column in range(14)}
    column = {(row, 3) for row in range(8)}
    assert landings(game.legal_actions(), CENTRE) == (row | column) - {CENTRE}


def test_t7_the_edge_of_the_board_ends_the_walk(tuerme):
    corners: dict[Place, set[Place]] = {
        (0, 0): {(0, 1), (1, 0)},
        (0, 13): {(0, 12), (1, 13)},
        (7, 0): {(7, 1), (6, 0)},
        (7, 13): {(7, 12), (6, 13)},
    }
    stacks = [
        stack(*corner, colour, 0, 5) for colour, corner in zip((0, 2, 3, 0), corners, strict=True)
    ]
    game = tuerme.position(position(*stacks))
    for corner, expected in corners.items():
        assert landings(game.legal_actions(), corner) == expected


def test_t7_a_row_does_not_go_on_in_the_next_one(tuerme):
    game = tuerme.position(position(stack(3, 13, 0, 0), stack(4, 0, 1, 0), slide=True))
    assert (4, 0) not in landings(game.legal_actions(), (3, 13))
    assert landings(game.legal_actions(), (3, 13)) == {(3, c) for c in range(13)} | {
        (r, 13) for r in range(8) if r != 3
    }


# Walks to the right from CENTRE: the row from there on, a letter for the symbol of each stack (A is
# the mover's own and 2 high, E 4 high), then where the mover may land, and where with `slide`.
WALKS = {
    "a different neighbour is jumped and never landed on": ("ab.........", "  x", "  xxxxxxxxx"),
    "no empty landing behind a stack farther away": ("a.b........", " x", " x xxxxxxxx"),
    "no empty landing behind a second jump": ("ab.c.......", "  x", "  x xxxxxxx"),
    "two occupied squares in a row stop the walk": ("abc.a......", "", ""),
    "an equal symbol right behind a jumped stack is not reached": ("aba........", "", ""),
    "two occupied squares farther away stop the walk": ("a..ba......", " x", " xx"),
    "an equal neighbour is landed on and ends the walk": ("aa.a.......", " x", " x"),
    "an equal symbol is reached over empty squares": ("a........aa", " x       x", " xxxxxxxxx"),
    "an equal symbol is reached through gaps": ("ab.c..d.a..", "  x     x", "  x xx xx"),
    "the square before a far equal symbol must be empty": ("ab.c...da..", "  x", "  x xxx"),
    "an equal symbol too high to land on is not jumped": ("AE.a.......", "", ""),
    "a far equal symbol too high to land on is not jumped": ("A...E.a....", " x", " xxx"),
    "slide lands on every empty square reached": ("a.b..c..a..", " x      x", " x xx xxx"),
}


@pytest.mark.parametrize("walk", WALKS)
def test_t7_walks_along_a_row(tuerme, walk):
    row, *landing = WALKS[walk]
    squares = [(x, letter) for x, letter in enumerate(row) if letter != "."]
    symbols = {letter: "abcde".index(letter.lower()) % 4 for _, letter in squares}
    heights = {"A": 2, "E": 4}
    stacks = [stack(3, 3 + x, int(x > 0), symbols[a], heights.get(a, 1)) for x, a in squares]
    for slide, places in zip((False, True), landing, strict=True):
        game = tuerme.position(position(*stacks, slide=slide))
        assert columns_to_the_right(game) == [3 + x for x, mark in enumerate(places) if mark == "x"]


@pytest.mark.parametrize("colour", [0, 1, 2])
@pytest.mark.parametrize("height", [1, 5])
def test_t7_the_jumped_stack_may_have_any_colour_and_height(tuerme, colour, height):
    game = tuerme.position(position(stack(*CENTRE, 0, 0, 2), stack(3, 4, colour, 1, height)))
    assert columns_to_the_right(game) == [5]


def test_t7_a_jump_leaves_the_jumped_stack_alone(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 0, 0, 2), stack(3, 4, 1, 1, 3)))
    game.step(move(CENTRE, (3, 5)))
    assert stack_at(game.snapshot(), CENTRE) is None
    assert stack_at(game.snapshot(), (3, 4)) == (1, 1, 3)
    assert stack_at(game.snapshot(), (3, 5)) == (0, 0, 2)


@pytest.mark.parametrize(
    ("mover", "other", "allowed"),
    [
        (1, 1, True),
        (2, 3, True),
        (3, 2, True),
        (1, 4, True),
        (4, 1, True),
        (3, 3, False),
        (2, 4, False),
        (4, 2, False),
        (1, 5, False),
        (5, 1, False),
    ],
)
@pytest.mark.parametrize("column", [4, 9])
def test_t7_the_two_heights_sum_to_at_most_5(tuerme, mover, other, allowed, column):
    stacks = [stack(*CENTRE, 0, 0, mover), stack(3, column, 1, 0, other)]
    game = tuerme.position(position(*stacks))
    assert (column in columns_to_the_right(game)) == allowed


def test_t7_every_direction_is_walked_alike(tuerme):
    # Upwards a jump, to the right a far equal symbol, downwards two in a row, to the left nothing.
    stacks = [
        stack(*CENTRE, 0, 0),
        stack(2, 3, 1, 1),
        stack(3, 8, 1, 0),
        stack(4, 3, 1, 1),
        stack(5, 3, 1, 2),
    ]
    game = tuerme.position(position(*stacks))
    assert landings(game.legal_actions(), CENTRE) == {(1, 3), (3, 4), (3, 8), (3, 2)}


def test_t7_a_vacant_lot_of_the_own_symbol_is_entered(tuerme):
    game = tuerme.position(position(stack(0, 1, 0, 0, 3)))
    assert landings(game.legal_actions(), (0, 1)) == {(0, 0), (0, 2), (1, 1)}
    game.step(move((0, 1), (1, 1)))
    assert stack_at(game.snapshot(), (1, 1)) == (0, 0, 3)
    assert game.scores() == [3, 0]


@pytest.mark.parametrize("symbol", [1, 2, 3])
@pytest.mark.parametrize("slide", [False, True])
def test_t7_a_lot_of_another_symbol_is_not_entered(tuerme, symbol, slide):
    game = tuerme.position(position(stack(0, 1, 0, symbol), slide=slide))
    assert (1, 1) not in landings(game.legal_actions(), (0, 1))


def test_t7_a_lot_right_behind_a_jumped_neighbour_is_entered(tuerme):
    game = tuerme.position(position(stack(4, 1, 0, 3), stack(3, 1, 1, 0)))
    assert (2, 1) in landings(game.legal_actions(), (4, 1))


@pytest.mark.parametrize("slide", [False, True])
def test_t7_a_lot_behind_an_empty_square_is_entered_only_with_slide(tuerme, slide):
    game = tuerme.position(position(stack(4, 1, 0, 3), slide=slide))
    assert ((2, 1) in landings(game.legal_actions(), (4, 1))) == slide


def test_t7_a_lot_behind_an_equal_symbol_is_not_entered(tuerme):
    game = tuerme.position(position(stack(4, 1, 0, 3), stack(3, 1, 1, 3)))
    assert landings(game.legal_actions(), (4, 1)) == {(3, 1), (4, 0), (4, 2)}


def test_t7_a_lot_is_entered_only_once(tuerme):
    stacks = [stack(0, 1, 0, 0), stack(1, 0, 1, 0), stack(3, 7, 1, 1)]
    game = tuerme.position(position(*stacks))
    game.step(move((0, 1), (1, 1)))
    # The other player's stack of the same symbol is adjacent to the lot too, but comes too late.
    assert landings(game.legal_actions(), (1, 0)) == {(0, 0), (2, 0)}


@pytest.mark.parametrize(
    ("start", "symbol", "behind", "expected"),
    [
        # Row 1: the lots of symbols 0 and 1, then a street.
        ((1, 0), 1, (1, 3), {(0, 0), (2, 0)}),
        ((1, 0), 0, (1, 3), {(0, 0), (2, 0), (1, 1)}),
        # Column 1: the lots of symbols 0 and 3, then a street.
        ((0, 1), 3, (3, 1), {(0, 0), (0, 2)}),
        ((0, 1), 0, (3, 1), {(0, 0), (0, 2), (1, 1)}),
    ],
)
def test_t7_vacant_lots_are_never_walked_over(tuerme, start, symbol, behind, expected):
    # Behind the first lot lies the second, and behind that a stack of the same symbol.
    game = tuerme.position(position(stack(*start, 0, symbol), stack(*behind, 1, symbol)))
    assert landings(game.legal_actions(), start) == expected


@pytest.mark.parametrize("slide", [False, True])
def test_t7_occupied_lots_are_never_jumped(tuerme, slide):
    # Row 1: a tower of symbol 0, then the vacant lot of symbol 1, which is the mover's.
    game = tuerme.position(position(stack(1, 0, 0, 1), tower(0, 0, colour=1), slide=slide))
    assert not [place for place in landings(game.legal_actions(), (1, 0)) if place[1] > 0]


def test_t7_slide_does_not_walk_over_lots(tuerme):
    game = tuerme.position(position(stack(1, 0, 0, 1), stack(1, 3, 1, 1), slide=True))
    column = {(row, 0) for row in range(8)} - {(1, 0)}
    assert landings(game.legal_actions(), (1, 0)) == column


@pytest.mark.parametrize(
    ("mover", "covered"), [(0, 1), (0, 0), (0, 2), (2, 0), (2, 1), (2, 2), (2, 3), (3, 2)]
)
def test_t8_the_stack_takes_the_colour_of_the_mover(tuerme, mover, covered):
    stacks = [stack(*CENTRE, mover, 2, 2), stack(3, 4, covered, 2, 3)]
    game = tuerme.position(position(*stacks))
    game.step(move(CENTRE, RIGHT))
    assert stack_at(game.snapshot(), CENTRE) is None
    assert stack_at(game.snapshot(), RIGHT) == (mover, 2, 5)


def test_t8_a_captured_stack_is_moved_by_its_new_owner_only(tuerme):
    stacks = [stack(*CENTRE, 0, 2), stack(3, 4, 1, 2), stack(4, 13, 0, 0), stack(3, 13, 1, 1)]
    game = tuerme.position(position(*stacks))
    game.step(move(CENTRE, RIGHT))
    assert movers(game.legal_actions()) == {(3, 13)}
    game.step(move((3, 13), (2, 13)))
    assert movers(game.legal_actions()) == {RIGHT, (4, 13)}


def test_t8_a_stack_under_a_neutral_stone_is_neutral(tuerme):
    game = tuerme.position(position(stack(*CENTRE, 3, 2), stack(3, 4, 1, 2)))
    game.step(move(CENTRE, RIGHT))
    assert movers(game.legal_actions()) == {RIGHT}
    game.step(move(RIGHT, CENTRE))
    assert movers(game.legal_actions()) == {CENTRE}


@pytest.mark.parametrize("colour", [0, 2])
@pytest.mark.parametrize("height", [1, 5])
def test_t9_a_stack_in_a_lot_never_moves(tuerme, colour, height):
    # Streets, a street stack and a lot of the next city would be in reach.
    stacks = [tower(0, 0, colour, height), stack(0, 1, 1, 0), stack(7, 13, 0, 1)]
    game = tuerme.position(position(*stacks))
    assert movers(game.legal_actions()) == {(7, 13)}


@pytest.mark.parametrize("colour", [0, 1, 2])
@pytest.mark.parametrize("slide", [False, True])
def test_t9_a_stack_in_a_lot_is_never_landed_on(tuerme, colour, slide):
    # One mover is adjacent to the tower, one has a jumped stack in between.
    stacks = [tower(0, 3, colour), stack(2, 0, 0, 3), stack(4, 1, 0, 3), stack(3, 1, 1, 0)]
    game = tuerme.position(position(*stacks, slide=slide))
    assert (2, 1) not in landings(game.legal_actions(), (2, 0))
    assert (2, 1) not in landings(game.legal_actions(), (4, 1))


def test_t9_a_single_stone_in_a_lot_is_a_tower(tuerme):
    game = tuerme.position(position(stack(0, 1, 0, 0), stack(7, 13, 1, 1)))
    game.step(move((0, 1), (1, 1)))
    assert game.scores() == [1, 0]


@pytest.mark.parametrize("action", [move(CENTRE, (3, 5)), move(LEFT, CENTRE), PASS, 2465, -1])
def test_an_illegal_action_leaves_the_position_unchanged(tuerme, action):
    game = tuerme.position(position(stack(*CENTRE, 0, 0)))
    before = game.snapshot()
    with pytest.raises(ValueError):
        game.step(action)
    assert game.snapshot() == before


def test_legal_actions_are_numbered_by_destination_and_start(tuerme):
    # The mover stands on square 3 * 14 + 3 = 45: to columns 2 and 4, to rows 2 and 4.
    game = tuerme.position(position(stack(*CENTRE, 0, 0)))
    assert game.legal_actions() == [
        2 * 112 + 45,
        4 * 112 + 45,
        (14 + 2) * 112 + 45,
        (14 + 4) * 112 + 45,
    ]
