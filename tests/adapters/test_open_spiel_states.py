"""The games in OpenSpiel: randomness, copies, and who knows what."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")

from open_spiel.python.observation import make_observation  # noqa: E402

from tabletop_envs.adapters.open_spiel import DEALS, ROLLS  # noqa: E402
from tests.adapters.open_spiel_walks import load, sample, walk  # noqa: E402
from tests.games import each_case, each_game, raw_env  # noqa: E402

# Randomness


@pytest.mark.parametrize("name", ["tuerme", "meeples"])
def test_a_game_begins_with_one_of_many_deals(name):
    game = load(name, {})
    state = game.new_initial_state()
    outcomes, chances = zip(*state.chance_outcomes(), strict=True)
    assert outcomes == tuple(range(DEALS)) and game.max_chance_outcomes() == DEALS
    assert sum(chances) == pytest.approx(1) and len(set(chances)) == 1
    assert len({str(state.child(deal)) for deal in range(200)}) == 200
    for player in range(2):
        assert not any(state.observation_tensor(player))
    with pytest.raises(ValueError, match="before the deal"):
        state.snapshot()


def rolls_of_a_game(options: dict[str, Any], seed: int) -> list[list[list[int]]]:
    """At each chance node of a game after its start, the dice that each outcome gives."""
    state, rng, rolls = load("meeples", options).new_initial_state(), random.Random(seed), []
    walk(state, 1, rng)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert outcomes == tuple(range(ROLLS))
            assert sum(chances) == pytest.approx(1) and len(set(chances)) == 1
            rolls.append([state.child(outcome).snapshot()["dice"] for outcome in outcomes])
        walk(state, 1, rng)
    assert len(state.history()) <= 300 + state.get_game().max_chance_nodes_in_history()
    assert state.get_game().max_chance_nodes_in_history() == 301
    return rolls


def test_dice_fall_as_dice_do():
    rolls = rolls_of_a_game({"dice_per_player": 3, "max_plies": 300}, 1)
    assert len(rolls) > 10
    # A copy cannot tell what is to come, and no two chance nodes are alike.
    assert all(
        len({tuple(dice) for dice in node}) > ROLLS / 4 for node in rolls if len(node[0]) > 2
    )
    assert len({str(node) for node in rolls}) == len(rolls)
    values = Counter(value for node in rolls for dice in node for value in dice)
    total = sum(values.values())
    assert total > 2000
    for value in range(1, 7):
        assert values[value] / total == pytest.approx(1 / 6, abs=0.02)


@each_game
def test_impossible_events_are_refused_and_change_nothing(name):
    state = load(name, {}).new_initial_state()
    if state.is_chance_node():
        before = str(state)
        with pytest.raises(ValueError, match=f"outcome {DEALS} is impossible"):
            state.apply_action(DEALS)
        assert (str(state), state.history()) == (before, [])
        walk(state, 1, random.Random(1))
    assert not state.is_chance_node()
    before, history = str(state), state.history()
    illegal = next(a for a in range(2000) if a not in state.legal_actions())
    with pytest.raises(ValueError, match=f"action {illegal} is illegal"):
        state.apply_action(illegal)
    assert (str(state), state.history()) == (before, history)
    with pytest.raises(ValueError, match="no chance node"):
        state.chance_outcomes()


# Copies


def copies(game: Any, state: Any) -> list[Any]:
    text = pyspiel.serialize_game_and_state(game, state)
    return [
        state.clone(),
        copy.deepcopy(state),
        pickle.loads(pickle.dumps(state)),
        game.deserialize_state(state.serialize()),
        pyspiel.deserialize_game_and_state(text)[1],
    ]


def assert_copies_play_on(game: Any, state: Any, seed: int) -> None:
    look, history = str(state), state.history()
    for twin in copies(game, state):
        assert (str(twin), twin.history()) == (look, history)
        assert twin.current_player() == state.current_player()
        assert twin.information_state_string(0) == state.information_state_string(0)
        walk(twin, 3, random.Random(seed))
        assert (str(state), state.history()) == (look, history)
        if not state.is_terminal():
            again = walk(state.clone(), 3, random.Random(seed))
            assert twin.snapshot() == again.snapshot()


@each_case
def test_copies_play_on_by_themselves(name, options):
    game = load(name, {**options, "max_plies": min(options.get("max_plies", 999), 150)})
    rng, state = random.Random(7), game.new_initial_state()
    # Before the deal, after it, later on, at the end.
    for steps in (0, 1, 1, 5, 40, 999):
        walk(state, steps, rng)
        assert_copies_play_on(game, state, steps)


def test_copies_are_whole_while_dice_roll():
    game, rng = load("meeples", {}), random.Random(4)
    state, seen = game.new_initial_state(), 0
    while not state.is_terminal() and seen < 12:
        state.apply_action(sample(state, rng))
        if state.is_chance_node():
            seen += 1
            assert_copies_play_on(game, state, seen)
    assert seen == 12


@each_case
def test_our_environment_goes_on_from_a_state(name, options):
    state = walk(load(name, options).new_initial_state(), 90, random.Random(6))
    env = raw_env(name, **options)
    env.restore(state.snapshot())
    assert env.snapshot() == state.snapshot()


# Information


@each_case
def test_information_states_tell_all_that_a_player_has_seen_and_done(name, options):
    """And nothing else: of games that part after a common start."""
    game = load(name, {**options, "max_plies": 25})
    seen_of: dict[str, Any] = {}
    of_seen: dict[Any, str] = {}
    for seed in range(6):
        known: list[tuple[Any, ...]] = [(player,) for player in range(game.num_players())]
        rng, state = random.Random(seed // 2), game.new_initial_state()
        while not state.is_terminal():
            if state.move_number() == 5:
                rng = random.Random(seed)
            event, player = sample(state, rng), state.current_player()
            if not state.is_chance_node():
                known[player] = (*known[player], event)
            state.apply_action(event)
            if state.is_chance_node():
                continue
            for viewer in range(game.num_players()):
                if game.hides:
                    look = hash(tuple(state.observation_tensor(viewer)))
                    known[viewer] = (*known[viewer], look)
                    seen = known[viewer]
                else:
                    seen = (viewer, *state.history())
                words = state.information_state_string(viewer)
                assert seen_of.setdefault(words, seen) == seen
                assert of_seen.setdefault(seen, words) == words
    assert len(seen_of) > 30


def test_a_stone_picked_up_from_the_table_is_seen():
    """Landing is no secret: others see which stone it is, and where its first half is to lie."""
    state, rng, seen = load("meeples", {}).new_initial_state(), random.Random(1), 0
    while not state.is_terminal() and seen < 4:
        before = state.clone()
        state.apply_action(sample(state, rng))
        if state.is_chance_node():
            continue
        snapshot = state.snapshot()
        if (
            snapshot["phase"] == "land"
            and snapshot["chosen"]["stone"]
            and len(before.legal_actions()) > 1
        ):
            seen += 1
            other = next(a for a in before.legal_actions() if a != state.history()[-1])
            for player in (0, 1):
                known = state.information_state_string(player)
                assert known != before.child(other).information_state_string(player)
    assert seen == 4


def test_a_stone_being_laid_is_hidden_until_it_lies():
    state = walk(load("meeples", {}).new_initial_state(), 1, random.Random(1))
    first, second = state.legal_actions()[:2]
    ways = [state.child(first), state.child(second)]
    for _ in range(2):
        for look in ("information_state_string", "observation_string", "observation_tensor"):
            own, others = ([getattr(way, look)(player) for way in ways] for player in (0, 1))
            assert own[0] != own[1], look
            assert others[0] == others[1], look
        ways = [way.child(way.legal_actions()[0]) for way in ways]
    assert ways[0].information_state_string(1) != ways[1].information_state_string(1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_resampled_states_cannot_be_told_apart(players):
    game = load("meeples", {"num_players": players, "max_plies": 120})
    rng, other_hands, leftovers = random.Random(players), 0, 0
    state = walk(game.new_initial_state(), 1, rng)
    if players > 2:
        draws = [state.resample_from_infostate(0, rng.random) for _ in range(5)]
        assert len({str(draw) for draw in draws}) == 5
    while not state.is_terminal():
        for player in range(players):
            twin = state.resample_from_infostate(player, rng.random)
            assert twin.information_state_string(player) == state.information_state_string(player)
            assert twin.observation_tensor(player) == state.observation_tensor(player)
            assert twin.observation_string(player) == state.observation_string(player)
            assert twin.current_player() == state.current_player()
            if state.current_player() == player:
                assert twin.legal_actions() == state.legal_actions()
            hands, twins = state.snapshot()["hands"], twin.snapshot()["hands"]
            assert twins[player] == hands[player]
            assert [len(hand) for hand in twins] == [len(hand) for hand in hands]
            other_hands += twins != hands
            leftovers += sorted(itertools.chain(*twins)) != sorted(itertools.chain(*hands))
            walk(twin, 40, random.Random(1))
        walk(state, 3, rng)
    # Of two players each knows the other's hand, but for the stone being laid.
    assert other_hands > (5 if players == 2 else 20)
    if players == 3:
        assert leftovers > 20


def test_resampling_does_not_tell_what_is_to_come():
    """The dice after an outcome are others in every guess."""
    state, rng = load("meeples", {}).new_initial_state(), random.Random(3)
    while not state.is_chance_node() or state.position.pending < 0:
        state.apply_action(sample(state, rng))
    guesses = [state.resample_from_infostate(0, rng.random) for _ in range(10)]
    assert all(guess.is_chance_node() for guess in guesses)
    assert len({str(guess.child(0).snapshot()["dice"]) for guess in guesses}) > 3


def test_nothing_is_resampled_where_nothing_is_hidden():
    for name, options in (("kirche", {}), ("tuerme", {}), ("meeples", {"open_hands": True})):
        state = walk(load(name, options).new_initial_state(), 20, random.Random(1))
        twin = state.resample_from_infostate(0, random.Random(2).random)
        assert twin.history() == state.history() and twin.snapshot() == state.snapshot()
    state = load("meeples", {}).new_initial_state()
    assert state.resample_from_infostate(0, random.Random(2).random).is_chance_node()


def test_observers_show_the_parts_of_an_observation():
    game = load("kirche", {})
    state = walk(game.new_initial_state(), 9, random.Random(1))
    observer = make_observation(game)
    observer.set_from(state, 1)
    parts = game.game.split_observation(np.array(state.observation_tensor(1), np.float32))
    assert observer.dict.keys() == parts.keys()
    for name, part in parts.items():
        np.testing.assert_array_equal(observer.dict[name], part)
    assert observer.string_from(state, 1) == state.observation_string(1)


def test_there_are_no_observers_of_other_views():
    game, private = load("meeples", {}), pyspiel.PrivateInfoType
    views = ((True, private.NONE), (True, private.ALL_PLAYERS), (False, private.SINGLE_PLAYER))
    for public, secrets in views:
        kind = pyspiel.IIGObservationType(public, False, secrets)
        assert make_observation(game, kind) is None
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(game, None, {"size": 3})
