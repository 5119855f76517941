"""The rules of kirche, one test for each thing that a rule says: placing (K1 … K6) and the end
(K11, K12). The turns between them (K7 … K10) are in `test_turns.py`.

Pieces are written as in "S16- N17| H30-"; `positions.py` shows the numbers of the squares.
"""

import random

import pytest

from tests.reference.kirche import Reference
from tests.rules.kirche.positions import (
    DARK,
    DARK_WINS,
    DRAW,
    LIGHT,
    OPEN,
    almost_won,
    assert_ended,
    assert_goes_on,
    move,
    moves,
    piece,
    pieces_of,
    place,
    placing,
    play,
    position,
    squares_of,
    swap,
)

# --- K1, K2: the start ---


def test_k1_only_the_pastor_stands_on_the_board_at_first_and_on_the_centre(kirche):
    assert kirche().snapshot() == {
        "game": "kirche",
        "options": {"num_houses": 7, "max_plies": 200},
        "ply": 0,
        "to_move": 0,
        "outcome": None,
        "phase": "churches",
        "pastor": 24,
        "pieces": [[], []],
    }


def test_k1_the_seed_changes_nothing(kirche):
    assert kirche(seed=5).snapshot() == kirche(seed=0).snapshot()


@pytest.mark.parametrize("num_houses", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("choice", [0, -1])
def test_k2_each_player_places_spire_nave_and_num_houses_houses(kirche, num_houses, choice):
    game = kirche(num_houses=num_houses)
    for _ in range(4 + 2 * num_houses):
        assert game.snapshot()["phase"] in ("churches", "houses")
        game.step(game.legal_actions()[choice])
    assert game.snapshot()["phase"] == "moves"
    for player in (LIGHT, DARK):
        kinds = [each["kind"] for each in pieces_of(game, player)]
        assert kinds == ["spire", "nave"] + ["house"] * num_houses


@pytest.mark.parametrize("num_houses", [-1, 0, 8])
def test_k2_other_numbers_of_houses_are_refused(kirche, num_houses):
    with pytest.raises(ValueError, match="num_houses"):
        kirche(num_houses=num_houses)


# --- K3: churches ---


def test_k3_light_begins_with_the_spire_on_any_corner_with_either_ridge(kirche):
    assert kirche().legal_actions() == [0, 6, 42, 48, 49, 55, 91, 97]


def test_k3_the_spire_goes_before_the_nave(kirche):
    game = play(kirche(), place(6, "|"))
    assert pieces_of(game, LIGHT) == [{"kind": "spire", "square": 6, "ridge": "v"}]
    game.step(place(42, "-"))
    assert pieces_of(game, LIGHT) == [
        {"kind": "spire", "square": 6, "ridge": "v"},
        {"kind": "nave", "square": 42, "ridge": "h"},
    ]


@pytest.mark.parametrize(("corner", "opposite"), [(0, 48), (6, 42), (42, 6), (48, 0)])
def test_k3_the_nave_goes_on_the_diagonally_opposite_corner(kirche, corner, opposite):
    game = play(kirche(), place(corner))
    assert game.snapshot()["to_move"] == LIGHT
    assert game.legal_actions() == [place(opposite, "-"), place(opposite, "|")]


def test_k3_dark_takes_the_corners_left(kirche):
    game = play(kirche(), place(48), place(0))
    assert game.snapshot()["to_move"] == DARK
    assert game.legal_actions() == [6, 42, 55, 91]
    game.step(place(42, "|"))
    assert game.snapshot()["to_move"] == DARK
    assert game.legal_actions() == [6, 55]
    game.step(place(6, "-"))
    assert pieces_of(game, DARK) == [piece("S42|"), piece("N6-")]


def test_k3_the_four_churches_are_placed_by_light_light_dark_dark(kirche):
    game = kirche()
    seen = []
    for action in (place(0), place(48), place(6), place(42)):
        seen.append((game.snapshot()["to_move"], game.snapshot()["phase"]))
        game.step(action)
    assert seen == [(0, "churches"), (0, "churches"), (1, "churches"), (1, "churches")]
    assert (game.snapshot()["to_move"], game.snapshot()["phase"]) == (0, "houses")


# --- K4, K5: houses ---


def test_k4_light_begins_and_the_players_place_one_house_each_in_turn(kirche):
    game = kirche.position(placing("S0- N48-", "S6- N42-", to_move=LIGHT, num_houses=2))
    seen = []
    for square in (2, 30, 26, 12):
        seen.append(game.snapshot()["to_move"])
        game.step(place(square))
    assert seen == [0, 1, 0, 1]
    assert pieces_of(game, LIGHT) == [piece("S0-"), piece("N48-"), piece("H2-"), piece("H26-")]


def test_k4_a_house_may_not_be_placed_beside_an_own_piece(kirche):
    game = kirche.position(placing("S0- N48-", "S6- N42-", to_move=LIGHT))
    # Not: the corners, the pastor's 24, and 1, 7 and 41, 47 beside the own church.
    squares = [2, 3, 4, 5, *range(8, 24), *range(25, 41), 43, 44, 45, 46]
    assert game.legal_actions() == squares + [49 + square for square in squares]


def test_k4_houses_bar_their_four_neighbours_and_not_the_diagonal_ones(kirche):
    game = kirche.position(placing("S0- N48- H16|", "S6- N42- H32-", to_move=LIGHT))
    squares = squares_of(game)
    assert not {9, 15, 16, 17, 23} & set(squares)
    assert {8, 10, 22} <= set(squares)


def test_k4_the_pieces_of_the_opponent_only_take_their_own_squares(kirche):
    game = kirche.position(placing("S0- N48- H16-", "S6- N42-", to_move=DARK))
    squares = squares_of(game)
    assert 16 not in squares
    assert {9, 15, 17, 23} <= set(squares)  # beside light's house
    assert {1, 7, 41, 47} <= set(squares)  # beside light's church
    assert not {5, 13, 35, 43} & set(squares)  # beside the own church


def test_k4_a_house_may_stand_beside_the_pastor_but_not_on_his_square(kirche):
    game = kirche.position(placing("S0- N48-", "S6- N42-", to_move=LIGHT))
    assert {17, 23, 25, 31} <= set(squares_of(game))
    assert 24 not in squares_of(game)


def test_k4_every_placement_chooses_the_ridge(kirche):
    game = kirche.position(placing("S0- N48-", "S6- N42-", to_move=LIGHT))
    play(game, place(16, "|"), place(11, "-"))
    assert pieces_of(game, LIGHT)[2] == {"kind": "house", "square": 16, "ridge": "v"}
    assert pieces_of(game, DARK)[2] == {"kind": "house", "square": 11, "ridge": "h"}


def test_k5_a_square_is_left_even_where_the_board_is_crowded(kirche):
    light = "S0- N48- H3- H17- H20- H23- H31- H34- H45-"
    dark = "S6- N42- H9- H11- H14- H26- H29- H39-"
    game = kirche.position(placing(light, dark, to_move=DARK))
    assert game.legal_actions() == [1, 37, 41, 44, 47, 50, 86, 90, 93, 96]


# --- K6: from placing to moving ---


def test_k6_light_begins_the_movement_when_all_pieces_are_placed(kirche):
    game = kirche.position(placing("S0- N48- H2-", "S6- N42-", to_move=DARK, num_houses=1))
    game.step(place(30))
    assert game.snapshot()["phase"] == "moves"
    assert game.snapshot()["to_move"] == LIGHT
    # House 2: right to 3, 4, 5, left to 1; spire 0: right to 1; nave 48: left to 47 … 43.
    assert game.legal_actions() == sorted(
        moves(2, [1, 2, 3, -1]) + moves(0, [1]) + moves(48, [-1, -2, -3, -4, -5])
    )


def test_k6_the_players_take_turns(kirche):
    game = kirche.position(position("S8- N12- H23-", "S36- N40- H33-", pastor=3))
    play(game, move(8, 1))
    assert game.snapshot()["to_move"] == DARK
    play(game, move(36, 1))
    assert game.snapshot()["to_move"] == LIGHT
    assert game.snapshot()["ply"] == 62


# --- K11, K12: the end ---


@pytest.mark.parametrize(("ply", "max_plies"), [(199, 200), (61, 62), (999, 1000)])
def test_k11_the_last_ply_without_a_winner_is_a_draw(kirche, ply, max_plies):
    game = kirche.position(almost_won(DARK, ply, max_plies))
    assert_ended(play(game, move(31, 1)), DRAW)


def test_k11_the_ply_before_the_last_does_not_end_the_game(kirche):
    game = kirche.position(almost_won(LIGHT, 198))
    assert_goes_on(play(game, move(31, 1)), DARK)


def test_k11_a_win_on_the_last_ply_is_a_win(kirche):
    game = kirche.position(almost_won(DARK, 199))
    assert_ended(play(game, move(31, -1)), DARK_WINS)


def test_k11_placements_count(kirche):
    assert_ended(play(kirche(max_plies=3), place(0), place(48), place(6)), DRAW)
    game = play(kirche(num_houses=1, max_plies=6), place(0), place(48), place(6), place(42))
    assert_goes_on(play(game, place(2)), DARK)
    assert_ended(play(game, place(30)), DRAW)


def test_k12_the_winner_gets_1_and_the_loser_minus_1(kirche):
    game = play(kirche.position(almost_won(LIGHT)), move(31, -1))
    assert game.snapshot()["outcome"]["rewards"] == [1, -1]
    game = play(kirche.position(almost_won(DARK)), move(31, -1))
    assert game.snapshot()["outcome"]["rewards"] == [-1, 1]


def test_k12_a_draw_gives_0_and_0(kirche):
    game = play(kirche(max_plies=1), place(0))
    assert game.snapshot()["outcome"]["rewards"] == [0, 0]


# --- the interface ---


@pytest.mark.parametrize(
    "action",
    [
        place(24),  # K6: nothing is placed any more
        move(23, 3),  # K7: dark's 26 blocks
        move(24, 1),  # K7: an empty square
        move(0, 1),  # K7: a piece of dark
        move(47, 2),  # K7: over the edge of the board
        swap(23),  # K8: it can move
        swap(24),  # K8: no piece
        swap(0),  # K8: a piece of dark
        -1,
        1323,
    ],
)
def test_illegal_actions_are_refused_and_change_nothing(kirche, action):
    game = kirche.position(OPEN)
    before = game.snapshot()
    assert action not in game.legal_actions()
    with pytest.raises(ValueError):
        game.step(action)
    assert game.snapshot() == before


@pytest.mark.parametrize("action", [place(1), place(24), move(0, 1), swap(0), 26 * 49 + 48])
def test_illegal_placements_are_refused_and_change_nothing(kirche, action):
    game = kirche()
    with pytest.raises(ValueError):
        game.step(action)
    assert game.snapshot() == kirche().snapshot()


def test_snapshots_list_spire_nave_and_houses_by_square(kirche):
    game = kirche.position(position("H23- H9| N42- H2- S46|", "N0- H25- S6- H20- H48-"))
    assert pieces_of(game, LIGHT) == [piece(t) for t in "S46| N42- H2- H9| H23-".split()]
    assert pieces_of(game, DARK) == [piece(t) for t in "S6- N0- H20- H25- H48-".split()]


@pytest.mark.parametrize("num_houses", [1, 2, 3, 4, 5, 6, 7])
def test_reference_keeps_its_invariants_in_random_games(num_houses):
    chooser = random.Random(num_houses)
    for _ in range(3):
        game = Reference(num_houses=num_houses, max_plies=150)
        while game.outcome is None:
            game.check_invariants()
            assert Reference.from_snapshot(game.snapshot()).snapshot() == game.snapshot()
            game.step(chooser.choice(game.legal_actions()))
        game.check_invariants()
