"""The rules of kirche, one test for each thing that a rule says: the turns (K7 … K9) and the town
that wins (K10). Placing and the end are in `test_rules.py`.

Pieces are written as in "S16- N17| H30-"; `positions.py` shows the numbers of the squares.
"""

import pytest

from tests.rules.kirche.positions import (
    DARK,
    DARK_WINS,
    LIGHT,
    LIGHT_WINS,
    OPEN,
    OPEN_PIECES,
    actions_of,
    almost_won,
    assert_ended,
    assert_goes_on,
    mirrored,
    move,
    moves,
    piece,
    pieces_of,
    play,
    position,
    squares_of,
    swap,
)

# --- K7: moves ---

OPEN_TO_DARK = position(*OPEN_PIECES, pastor=3, to_move=DARK)


def test_k7_a_piece_goes_any_distance_along_its_ridge(kirche):
    # Right to 24 and 25 (dark's 26 blocks), left to 22 and 21, turned afterwards or not.
    assert actions_of(kirche.position(OPEN), 23) == [121, 170, 219, 268, 709, 758, 807, 856]


def test_k7_a_vertical_ridge_leads_up_and_down(kirche):
    game = kirche.position(OPEN_TO_DARK)
    # Down to 33, 40 and not to light's 47; up to 19, 12, 5.
    assert actions_of(game, 26) == [124, 173, 222, 271, 712, 761, 810, 859, 908, 957]


@pytest.mark.parametrize(
    ("spire", "steps"),
    [
        ("S21-", [1, 2, 3, 4, 5, 6]),
        ("S27-", [-1, -2, -3, -4, -5, -6]),
        ("S3|", [1, 2, 3, 4, 5, 6]),
        ("S45|", [-1, -2, -3, -4, -5, -6]),
        ("S20|", [1, 2, 3, -1]),
    ],
)
def test_k7_the_edge_of_the_board_ends_a_move(kirche, spire, steps):
    # Seen on an otherwise empty row or column, to the last square of it.
    game = kirche.position(position(f"{spire} N7- H36-", pastor=12))
    assert actions_of(game, piece(spire)["square"]) == moves(piece(spire)["square"], steps)


@pytest.mark.parametrize(
    ("light", "dark", "pastor"),
    [
        ("S42- N46- H23- H25-", "S0- N6- H21- H48-", 3),
        ("S42- N46- H23- H21-", "S0- N6- H25- H48-", 3),
        ("S42- N25- H23- H46-", "S0- N6- H8- H48-", 21),
        ("S21- N42- H23- H46-", "S0- N6- H8- H48-", 25),
    ],
)
def test_k7_own_pieces_foreign_pieces_and_the_pastor_block_and_are_not_jumped(
    kirche, light, dark, pastor
):
    game = kirche.position(position(light, dark, pastor=pastor))
    assert actions_of(game, 23) == moves(23, [1, -1])


@pytest.mark.parametrize(
    ("action", "house"),
    [
        (move(23, 2), "H25-"),
        (move(23, 2, turn=True), "H25|"),
        (move(23, -1), "H22-"),
        (move(23, -1, turn=True), "H22|"),
    ],
)
def test_k7_the_moved_piece_may_be_turned_or_left_and_nothing_else_changes(kirche, action, house):
    game = play(kirche.position(OPEN), action)
    assert pieces_of(game, LIGHT) == [piece("S42-"), piece("N47-"), piece(house)]
    assert pieces_of(game, DARK) == OPEN["pieces"][DARK]
    assert game.snapshot()["pastor"] == 3


def test_k7_a_vertical_ridge_turns_to_a_horizontal_one(kirche):
    game = play(kirche.position(OPEN_TO_DARK), move(26, 2, turn=True))
    assert pieces_of(game, DARK) == [piece("S0-"), piece("N6|"), piece("H40-")]


def test_k7_a_turned_piece_moves_the_other_way_the_next_time(kirche):
    game = play(kirche.position(OPEN), move(23, 1, turn=True), move(0, 1))
    # On 24, vertical: down to 31, 38, 45, up to 17, 10, and not to the pastor's 3.
    assert actions_of(game, 24) == moves(24, [1, 2, 3, -1, -2])


def test_k7_only_own_pieces_move(kirche):
    assert squares_of(kirche.position(OPEN)) == [23, 42, 47]


# --- K8, K9: the pastor ---


@pytest.mark.parametrize(
    "snapshot",
    [
        position("S42- N25| H24-", "S0- N6- H23|", pastor=5),  # between pieces of both colours
        position("S42- N17| H24|", "S0- N6- H31-", pastor=5),  # the same, up and down
        position("S23- N25| H24-", pastor=5),  # between own pieces
        position("S42- N46- H24-", "S23- N25- H8-", pastor=5),  # between foreign pieces
        position("S42- N46- H24-", "S25- N0- H8-", pastor=23),  # a piece and the pastor
    ],
)
def test_k8_a_piece_that_cannot_move_may_only_swap_with_the_pastor(kirche, snapshot):
    assert actions_of(kirche.position(snapshot), 24) == [1298]


@pytest.mark.parametrize(
    ("spire", "blocker"), [("S21-", 22), ("S27-", 26), ("S3|", 10), ("S45|", 38), ("S48|", 41)]
)
def test_k8_the_edge_of_the_board_blocks_too(kirche, spire, blocker):
    game = kirche.position(position(f"{spire} N8- H12-", f"S0- N6- H{blocker}-", pastor=36))
    square = piece(spire)["square"]
    assert actions_of(game, square) == [swap(square)]


@pytest.mark.parametrize(
    ("light", "dark", "steps"),
    [
        ("S42- N46- H24-", "S0- N6- H23-", [1, 2, 3]),  # only the right is free
        ("S42- N46- H24-", "S0- N6- H25-", [-1, -2, -3]),  # only the left
        ("S42- N46- H24|", "S0- N6- H17-", [1, 2, 3]),  # only below
        ("S42- N46- H24|", "S0- N6- H31-", [-1, -2, -3]),  # only above
        ("S26- N46- H24-", "S0- N6- H23-", [1]),  # a single square
    ],
)
def test_k8_a_piece_that_can_move_may_not_swap(kirche, light, dark, steps):
    game = kirche.position(position(light, dark, pastor=5))
    assert swap(24) not in game.legal_actions()
    assert actions_of(game, 24) == moves(24, steps)


@pytest.mark.parametrize(
    ("light", "swapped"),
    [
        ("S24- N42- H46-", "S5| N42- H46-"),
        ("S42- N24- H46-", "S42- N5| H46-"),
        ("S42- N46- H24-", "S42- N46- H5|"),
    ],
)
def test_k8_spire_nave_and_house_may_all_swap(kirche, light, swapped):
    game = kirche.position(position(light, "S23- N25- H8-", pastor=5))
    game.step(swap(24))
    assert pieces_of(game, LIGHT) == [piece(text) for text in swapped.split()]
    assert game.snapshot()["pastor"] == 24


@pytest.mark.parametrize(
    ("snapshot", "house"),
    [
        (position("S42- N25| H24-", "S0- N6- H23|", pastor=5), "H5|"),
        (position("S42- N17| H24|", "S0- N6- H31-", pastor=5), "H5-"),
    ],
)
def test_k8_the_turn_after_a_swap_is_forced_and_nothing_else_changes(kirche, snapshot, house):
    game = kirche.position(snapshot)
    assert actions_of(game, 24) == [swap(24)]  # no second action that would leave it unturned
    game.step(swap(24))
    assert pieces_of(game, LIGHT) == [*snapshot["pieces"][LIGHT][:2], piece(house)]
    assert pieces_of(game, DARK) == snapshot["pieces"][DARK]
    assert game.snapshot()["pastor"] == 24
    assert game.snapshot()["to_move"] == DARK


def test_k8_the_pastor_beside_the_piece_swaps_with_it(kirche):
    game = kirche.position(position("S42- N46- H21-", pastor=22))
    game.step(swap(21))
    assert pieces_of(game, LIGHT)[2] == {"kind": "house", "square": 22, "ridge": "v"}
    assert game.snapshot()["pastor"] == 21


def test_k8_a_foreign_piece_may_not_swap(kirche):
    game = kirche.position(position("S42- N46- H1-", "S0- N6- H48-", pastor=30))
    # Dark's spire on 0 is blocked by the edge and light's house, but light is to move.
    assert swap(0) not in game.legal_actions()


def test_k9_where_no_piece_can_move_each_of_them_may_swap(kirche):
    game = kirche.position(position("S0- N6- H42|", "S1- N5- H35-", pastor=24))
    assert game.legal_actions() == [1274, 1280, 1316]
    assert play(game, 1316).snapshot()["pastor"] == 42


# --- K10: the town ---


@pytest.mark.parametrize("turn", [False, True])
def test_k10_a_move_that_completes_the_town_wins(kirche, turn):
    assert_ended(play(kirche.position(almost_won(LIGHT)), move(31, -1, turn)), LIGHT_WINS)
    assert_ended(play(kirche.position(almost_won(DARK)), move(31, -1, turn)), DARK_WINS)


def test_k10_nothing_can_be_played_after_a_win(kirche):
    game = play(kirche.position(almost_won(LIGHT)), move(31, -1))
    with pytest.raises(ValueError):
        game.step(move(0, 1))


def test_k10_a_swap_that_completes_the_town_wins(kirche):
    # The house on 42 cannot move and goes to the pastor's 18, beside the nave.
    snapshot = position("S16- N17- H42-", "S43- N6- H48-", pastor=18)
    assert_ended(play(kirche.position(snapshot), swap(42)), LIGHT_WINS)
    assert_ended(play(kirche.position(mirrored(snapshot)), swap(42)), DARK_WINS)


def test_k10_a_town_may_touch_foreign_pieces_and_the_pastor(kirche):
    # Light's 16-17 and 24 stand beside dark's 9 and 25 and the pastor on 23.
    game = kirche.position(position("S16- N17- H31|", "S9- N6- H25-", pastor=23))
    assert_ended(play(game, move(31, -1)), LIGHT_WINS)


@pytest.mark.parametrize("mover", ["S16|", "N16|"])
def test_k10_the_church_may_complete_the_town_itself(kirche, mover):
    other = "N24-" if mover[0] == "S" else "S24-"
    game = kirche.position(position(f"{mover} {other} H25-"))
    assert_ended(play(game, move(16, 1)), LIGHT_WINS)


def test_k10_the_longest_row_of_pieces_is_one_group(kirche):
    # 16-17-18-11-4-3-2-1 and, from 7, the corner 0.
    light = "S16- N17- H1- H2- H3- H4- H7| H11- H18-"
    dark = "S42- N48- H29- H31- H33- H35- H37- H39- H41-"
    game = kirche.position(position(light, dark, pastor=24))
    assert_ended(play(game, move(7, -1)), LIGHT_WINS)


def test_k10_houses_may_stand_on_the_edge(kirche):
    game = kirche.position(position("S8- N9- H3- H7|", "S42- N6- H48- H34-"))
    assert_ended(play(game, move(3, -1)), LIGHT_WINS)  # houses on 2 and 7


@pytest.mark.parametrize(
    ("edge", "inside", "house", "steps"),
    [(3, 10, "H24|", -1), (45, 38, "H24|", 1), (21, 22, "H24-", -1), (27, 26, "H24-", 1)],
)
@pytest.mark.parametrize("on_the_edge", ["spire", "nave"])
def test_k10_a_town_with_the_church_on_the_edge_does_not_win(
    kirche, edge, inside, house, steps, on_the_edge
):
    spire, nave = (edge, inside) if on_the_edge == "spire" else (inside, edge)
    game = kirche.position(position(f"S{spire}- N{nave}- {house}", pastor=5))
    assert_goes_on(play(game, move(24, steps)), DARK)


@pytest.mark.parametrize(
    ("light", "action"),
    [
        ("S1- N2- H23|", move(23, -2)),  # top: the house goes to 9
        ("S46- N45- H24|", move(24, 2)),  # bottom: to 38
        ("S14- N21- H24-", move(24, -2)),  # left: to 22
        ("S27- N34- H31-", move(31, 2)),  # right: to 33
    ],
)
def test_k10_nor_does_one_with_the_whole_church_on_the_edge(kirche, light, action):
    game = kirche.position(position(light, pastor=5))
    assert_goes_on(play(game, action), DARK)


def test_k10_a_group_with_the_spire_apart_from_the_nave_does_not_win(kirche):
    # 9-16-23 with a house between spire and nave, and the house on 25 joins them.
    game = kirche.position(position("S9- N23- H16- H25-", "S0- N6- H48- H34-"))
    assert_goes_on(play(game, move(25, -1)), DARK)


@pytest.mark.parametrize(
    ("light", "action"),
    [
        ("S16- N17- H32|", move(32, -1)),  # to 25, diagonal to the nave
        ("S16- N24- H32|", move(32, -1)),  # beside the nave, but the spire is diagonal to it
        ("S16- N17- H31| H34-", move(31, -1)),  # one house is far away
        ("S16- N17- H31| H40- H41-", move(31, -1)),  # two groups
    ],
)
def test_k10_all_pieces_must_form_one_group_by_edges(kirche, light, action):
    dark = "S0- N6- H48- H28- H2-".split()[: len(light.split())]
    game = kirche.position(position(light, " ".join(dark)))
    assert_goes_on(play(game, action), DARK)


@pytest.mark.parametrize(
    ("light", "action"),
    [
        ("S18- N19- H20- H21- H4|", move(4, 1)),  # 18-19-20 and 11, apart from 21
        ("S23- N22- H21- H20- H9|", move(9, 1)),  # 21-22-23 and 16, apart from 20
    ],
)
def test_k10_the_end_of_a_row_is_not_beside_the_start_of_the_next(kirche, light, action):
    game = kirche.position(position(light, "S0- N6- H48- H42- H36-", pastor=38))
    assert_goes_on(play(game, action), DARK)


@pytest.mark.parametrize(("dark", "pastor"), [("S0- N6- H18- H48-", 45), ("S0- N6- H36- H48-", 18)])
def test_k10_neither_a_foreign_piece_nor_the_pastor_links_a_group(kirche, dark, pastor):
    # Light's house on 19 is linked with the rest only by what stands on 18.
    game = kirche.position(position("S16- N17- H19- H31|", dark, pastor=pastor))
    assert_goes_on(play(game, move(31, -1)), DARK)


def test_k10_a_move_into_the_gap_of_the_opponents_town_does_not_complete_it(kirche):
    # Dark's 16-17 and 19 lack only 18; light's house goes there.
    snapshot = position("S36- N40- H25|", "S16- N17- H19-")
    assert_goes_on(play(kirche.position(snapshot), move(25, -1)), DARK)
    assert_goes_on(play(kirche.position(mirrored(snapshot)), move(25, -1)), LIGHT)


def test_k10_nor_does_a_swap_that_brings_the_pastor_there(kirche):
    snapshot = position("S11- N25- H18|", "S16- N17- H19-", pastor=40)
    game = play(kirche.position(snapshot), swap(18))
    assert game.snapshot()["pastor"] == 18
    assert_goes_on(game, DARK)


def test_k10_the_opponent_wins_only_by_a_turn_of_its_own(kirche):
    # Whatever light does, dark's town lacks the last move; then dark makes it.
    snapshot = position("S36- N40- H6|", "S16- N17- H31|", pastor=45)
    for action in kirche.position(snapshot).legal_actions():
        assert_goes_on(play(kirche.position(snapshot), action), DARK)
    assert_ended(play(kirche.position(snapshot), move(6, 1), move(31, -1)), DARK_WINS)


@pytest.mark.parametrize("num_houses", [1, 2, 3, 4, 5, 6, 7])
def test_k10_placement_never_wins(kirche, num_houses):
    game = kirche(num_houses=num_houses)
    for ply in range(4 + 2 * num_houses):
        assert game.snapshot()["outcome"] is None
        actions = game.legal_actions()
        game.step(actions[ply * 5 % len(actions)])
    assert_goes_on(game, LIGHT)
