"""tuerme alone: snapshots, deal, conservation, the observation decoded, names and drawing."""

import random

import numpy as np
import pytest
from scipy import stats

import tabletop_envs
from tabletop_envs import tuerme_v0
from tabletop_envs.kernels.tuerme import plan
from tests.envs.test_copies import assert_refused, spoil
from tests.games import legal_actions, over, play, raw_env
from tests.reference.chance import Chance
from tests.rules.tuerme.boards import PLAN, before_a_city_is_full, lot_of


def test_the_plan_has_80_streets_and_8_cities_of_four_different_symbols():
    """T1, T2."""
    fields = plan.FIELDS
    assert fields == "".join(PLAN)
    assert fields.count(".") == 80
    assert sum(field in "0123" for field in fields) == 32
    for square, field in enumerate(fields):
        assert int(plan.STREETS) >> square & 1 == (field == ".")
        assert int(plan.LOTS) >> square & 1 == (field != ".")
        for digit in range(2):
            shown = field != "." and int(field) >> digit & 1
            assert int(plan.LOT_SYMBOLS[digit]) >> square & 1 == shown
    for city in range(8):
        squares = [row * 14 + column for row, column in (lot_of(city, s) for s in range(4))]
        assert [fields[square] for square in squares] == list("0123")
        upper, lower = plan.CITY[city].tolist()
        assert upper | lower << 56 == sum(1 << square for square in squares)
        assert set(squares) == set(np.flatnonzero(city == plan.CITY_AT))


@pytest.fixture
def game():
    """A game of which many moves have been played: stacks in streets and lots."""
    env = raw_env("tuerme")
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 200)
    return env


def test_impossible_stacks_are_refused(game):
    good = game.snapshot()
    fields = plan.FIELDS
    stacks = good["stacks"]
    built = next(i for i, stack in enumerate(stacks) if fields[stack["square"]] != ".")
    street = next(i for i, stack in enumerate(stacks) if fields[stack["square"]] == ".")
    single = next(i for i, stack in enumerate(stacks) if stack["height"] == 1)
    empty_lot = next(
        square
        for square, field in enumerate(fields)
        if field not in (".", str(stacks[street]["symbol"]))
        and square not in [stack["square"] for stack in stacks]
    )
    for path, value, words in (
        (["stacks", 0, "square"], 112, "square"),
        (["stacks", 0, "square"], -1, "square"),
        (["stacks", 0, "square"], 1.0, "square"),
        (["stacks", 0, "square"], stacks[1]["square"], "two stacks"),
        (["stacks", street, "square"], empty_lot, "that lot shows"),
        (["stacks", 0, "colour"], 4, "colour"),
        (["stacks", 0, "colour"], "red", "colour"),
        (["stacks", built, "symbol"], (stacks[built]["symbol"] + 1) % 4, "lot shows"),
        (["stacks", street, "symbol"], (stacks[street]["symbol"] + 1) % 4, "symbol"),
        (["stacks", single, "height"], 0, "height"),
        (["stacks", single, "height"], 6, "height"),
        (["stacks", single, "height"], 2, "number of stones"),
        (["stacks", single], ..., "number of stones"),
        (["stacks", 0, "kind"], "house", "keys"),
        (["stacks", 0, "height"], ..., "keys"),
        (["stacks"], {}, "stacks"),
        (["stacks"], None, "stacks"),
        (["passes"], -1, "passes"),
        (["passes"], 3, "passes"),
        (["passes"], 1, "could not pass"),
        (["passes"], None, "passes"),
        (["ending_city"], 0, "ending_city"),
        (["ending_city"], 8, "ending_city"),
        (["to_move"], 2, "to_move"),
        (["options", "num_players"], 5, "num_players"),
        (["options", "slide"], 1, "slide"),
        (["rng"], 5, "rng"),
    ):
        assert_refused(game, spoil(good, path, value), words)


def test_more_stones_of_a_kind_than_there_are_are_refused():
    env = raw_env("tuerme")
    env.reset(seed=1)
    good = env.snapshot()
    other = next(i for i, s in enumerate(good["stacks"]) if s["colour"] != 0 and s["symbol"] == 0)
    assert_refused(env, spoil(good, ["stacks", other, "colour"], 0), "6 stacks show colour 0")


def test_either_player_may_be_to_move_in_a_puzzle(game):
    snapshot = {**game.snapshot(), "to_move": 1, "ply": 7}
    game.restore(snapshot)
    assert game.snapshot() == snapshot
    assert game.agent_selection == "player_1"
    game.step(legal_actions(game)[0])
    assert game.agent_selection == "player_0"


def finished(options, seed):
    """A game played to its end by the rules, not by max_plies."""
    rng = random.Random(seed)
    while True:
        env = raw_env("tuerme", **options)
        env.reset(seed=rng.randrange(2**32))
        play(env, rng.randrange)
        if not env.snapshot()["outcome"]["by_limit"]:
            return env


def test_finished_games_say_how_they_ended():
    env = finished({"end_on_any_full_city": True, "slide": True}, 3)
    good = env.snapshot()
    assert good["ending_city"] is not None
    for path, value, words in (
        (["ending_city"], None, "ending_city"),
        (["ending_city"], (good["ending_city"] + 1) % 8, "ending_city"),
        (["outcome"], None, "over"),
        (["outcome", "scores", 0], good["outcome"]["scores"][0] + 1, "scores"),
        (
            ["outcome", "rewards"],
            [0.0, 0.0] if good["outcome"]["rewards"][0] else [1, -1],
            "rewards",
        ),
        (["outcome", "by_limit"], True, "by_limit"),
    ):
        assert_refused(env, spoil(good, path, value), words)


def deals(count):
    """The kinds (colour * 4 + symbol) of the stones on the 80 streets, of many deals: (count, 80)."""
    batch = tabletop_envs.make_batch("tuerme-v0", count, seed=5, num_players=4)
    parts = batch.split_observation(batch.observation)
    streets = [square for square, field in enumerate("".join(PLAN)) if field == "."]
    colours = parts["colours"].reshape(count, 4, -1)[:, :, streets].argmax(axis=1)
    symbols = parts["symbols"].reshape(count, 4, -1)[:, :, streets].argmax(axis=1)
    return colours * 4 + symbols


def unfairness(kinds):
    """The probability that a fair deal is at least as uneven: 16 kinds of stones on 80 streets."""
    counts = np.stack([(kinds == kind).sum(axis=0) for kind in range(16)])
    expected = len(kinds) * 5 / 80
    # Rows and columns of a deal have fixed sums; the streets of one deal differ by 80/79 more than
    # by chance alone.
    statistic = ((counts - expected) ** 2 / expected).sum() * 79 / 80
    return stats.chi2.sf(statistic, 15 * 79)


def test_t3_every_stone_is_equally_likely_on_every_street():
    assert unfairness(deals(4000)) > 1e-6


def test_t3_a_biased_shuffle_would_be_found_out():
    """The usual mistake: swap every place with any other."""
    chance, biased = Chance(1), []
    for _ in range(4000):
        stones = [kind for kind in range(16) for _ in range(5)]
        for place in range(80):
            other = chance.below(80)
            stones[place], stones[other] = stones[other], stones[place]
        biased.append(stones)
    assert unfairness(np.array(biased)) < 1e-6


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_stones_are_conserved_in_random_games(num_players):
    """80 stones, 20 of each symbol, heights 1 … 5, no more stacks of a kind than stones."""
    batch = tabletop_envs.make_batch("tuerme-v0", 64, seed=6, num_players=num_players)
    for _ in range(550):
        parts = batch.split_observation(batch.observation)
        heights, stacks = parts["heights"][:, 0], parts["symbols"].sum(axis=1)
        assert (heights.sum(axis=(1, 2)) == 80).all()
        assert ((heights[:, None] * parts["symbols"]).sum(axis=(2, 3)) == 20).all()
        assert ((heights > 0) == (stacks == 1)).all()
        assert (heights <= 5).all()
        assert (stacks == parts["colours"].sum(axis=1)).all()
        kinds = np.einsum("ncij,nsij->ncs", parts["colours"].astype(int), parts["symbols"])
        assert (kinds <= 5).all()
        batch.step(batch.sample_actions())


def rebuild(parts):
    """The part of a snapshot that an observation shows."""
    players = 2 + int(parts["num_players"].argmax())
    seat = int(parts["seat"].argmax())
    # Planes of colours: the players' in turn from the observer on, then the neutral ones by number.
    owned = [(seat + turn) % players for turn in range(players)]
    order = [*owned, *range(players, 4)]
    to_move = parts["to_move"]
    stacks = [
        {
            "square": int(square),
            "colour": order[int(parts["colours"].reshape(4, -1)[:, square].argmax())],
            "symbol": int(parts["symbols"].reshape(4, -1)[:, square].argmax()),
            "height": int(parts["heights"].flat[square]),
        }
        for square in np.flatnonzero(parts["heights"])
    ]
    ending = parts["ending_city"]
    return {
        "ply": int(parts["ply"] @ [1, 128, 128**2]),
        # Nobody acts once the game is over.
        **({"to_move": owned[int(to_move.argmax())]} if to_move.any() else {}),
        "stacks": stacks,
        "passes": int(parts["passes"][0]),
        "ending_city": int(ending.argmax()) if ending.any() else None,
    }


@pytest.mark.parametrize(
    "options",
    [{}, {"num_players": 3, "slide": True}, {"num_players": 4, "end_on_any_full_city": True}],
)
def test_the_snapshot_can_be_rebuilt_from_every_observation(options):
    env = raw_env("tuerme", **options)
    env.reset(seed=7)
    rng = random.Random(7)
    players = len(env.possible_agents)
    while True:
        snapshot = env.snapshot()
        for player, agent in enumerate(env.possible_agents):
            parts = env.split_observation(env.observe(agent)["observation"])
            assert rebuild(parts) == {key: snapshot[key] for key in rebuild(parts)}
            scores = [info["score"] for info in env.infos.values()]
            in_turn = [scores[(player + turn) % players] for turn in range(players)]
            assert parts["scores"].tolist() == in_turn + [0] * (4 - players)
            assert parts["slide"][0] == snapshot["options"]["slide"]
            assert parts["end_on_any_full_city"][0] == snapshot["options"]["end_on_any_full_city"]
            movable = {
                stack["square"]
                for stack in snapshot["stacks"]
                if stack["colour"] in (player, *range(players, 4))
                and plan.FIELDS[stack["square"]] == "."
            }
            assert set(np.flatnonzero(parts["movable"])) == movable
            taken = {stack["square"] for stack in snapshot["stacks"]}
            for symbol, plane in enumerate(parts["vacant_lots"]):
                vacant = {
                    square
                    for square, field in enumerate(plan.FIELDS)
                    if field == str(symbol) and square not in taken
                }
                assert set(np.flatnonzero(plane)) == vacant
        if over(env):
            break
        play(env, rng.randrange, 1 + rng.randrange(5))


@pytest.mark.parametrize("city", range(8))
def test_the_observation_shows_which_city_has_ended_the_game(city):
    before, last_move = before_a_city_is_full(city)
    env = raw_env("tuerme")
    env.reset(seed=1)
    env.restore(before)
    for agent in env.possible_agents:
        seen = env.split_observation(env.observe(agent)["observation"])
        assert not seen["ending_city"].any()
    env.step(last_move)
    for agent in env.possible_agents:
        seen = env.split_observation(env.observe(agent)["observation"])
        assert np.flatnonzero(seen["ending_city"]).tolist() == [city]


def test_action_names():
    env = raw_env("tuerme")
    env.reset(seed=1)
    assert env.action_to_str(3 * 112 + 5) == "move 0,5 to 0,3"
    assert env.action_to_str((14 + 7) * 112 + 5) == "move 0,5 to 7,5"
    assert env.action_to_str(2464) == "pass"


def test_the_drawing_shows_colour_symbol_and_height_with_and_without_terminal_colours(game):
    snapshot = game.snapshot()
    plain, coloured = (tuerme_v0.GAME.text(snapshot, None, colour) for colour in (False, True))
    assert "\x1b" not in plain
    lines = plain.splitlines()
    for row in range(8):
        assert lines[1 + row].startswith(f"{row} ")
    for entry in snapshot["stacks"]:
        row, column = divmod(entry["square"], 14)
        cell = lines[1 + row][2 + 5 * column + 1 : 2 + 5 * column + 4]
        assert cell == f"{'RBGY'[entry['colour']]}{'▲●■◆'[entry['symbol']]}{entry['height']}"
    for colour, tint in enumerate((31, 34, 32, 33)):
        shown = sum(entry["colour"] == colour for entry in snapshot["stacks"])
        assert coloured.count(f"\x1b[1;{tint}m") == shown
    vacant = 32 - sum(plan.FIELDS[s["square"]] != "." for s in snapshot["stacks"])
    assert sum(plain.count(symbol) for symbol in "△○□◇") == vacant
    assert "green and yellow neutral" in plain
