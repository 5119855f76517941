"""The games in OpenSpiel: chance falls as it does in the games, and copies are whole."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from collections import Counter
from typing import Any

import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")

from tests.games import each_case, each_game, raw_env  # noqa: E402
from tests.integrations.open_spiel_walks import (  # noqa: E402
    load,
    sample,
    walk,
)

# Chance


@pytest.mark.parametrize(
    ("name", "options", "deals"),
    [
        ("tuerme", {}, math.factorial(80) / math.factorial(5) ** 16),
        ("meeples", {"num_players": 2}, math.comb(28, 14)),
        ("meeples", {"num_players": 3}, math.factorial(28) / math.factorial(9) ** 3),
        ("meeples", {"num_players": 4}, math.factorial(28) / math.factorial(7) ** 4),
    ],
)
def test_all_deals_are_equally_likely(name, options, deals):
    game, rng = load(name, options), random.Random(2)
    for _ in range(3):
        state, log_chance = game.new_initial_state(), 0.0
        while state.is_chance_node():
            chances = dict(state.chance_outcomes())
            assert sum(chances.values()) == pytest.approx(1)
            assert max(chances) < game.max_chance_outcomes()
            outcome = sample(state, rng)
            log_chance += math.log(chances[outcome])
            state.apply_action(outcome)
        assert log_chance == pytest.approx(-math.log(deals))
        assert len(state.history()) <= game.max_chance_nodes_in_history()


def rolls(state: Any) -> dict[tuple[int, ...], float]:
    """All rolls that a chance node leads to, with their probabilities."""
    if not state.is_chance_node():
        return {tuple(state.snapshot()["dice"]): 1.0}
    found: Counter[tuple[int, ...]] = Counter()
    assert len(state.chance_outcomes()) > 1, "nothing is open"
    for outcome, chance in state.chance_outcomes():
        below = rolls(state.child(outcome))
        assert not found.keys() & below.keys(), "a roll is reached in two ways"
        found.update({dice: chance * share for dice, share in below.items()})
    return found


def test_dice_fall_as_dice_do():
    state = load("meeples", {"dice_per_player": 2}).new_initial_state()
    rng = random.Random(1)
    while state.is_chance_node() or state.snapshot()["round"] == 0:
        state.apply_action(sample(state, rng))
        if state.is_chance_node() and len(state.history()) > 28:
            break
    expected = Counter(tuple(sorted(dice)) for dice in itertools.product(range(1, 7), repeat=4))
    found = rolls(state)
    assert found.keys() == expected.keys()
    for dice, number in expected.items():
        assert found[dice] == pytest.approx(number / 6**4)


@each_game
def test_impossible_events_are_refused_and_change_nothing(name):
    state = load(name, {}).new_initial_state()
    if state.is_chance_node():
        before = str(state)
        with pytest.raises(ValueError, match="outcome 99 is impossible"):
            state.apply_action(99)
        assert (str(state), state.history()) == (before, [])
        walk(state, 100 if name == "tuerme" else 40, random.Random(1))
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


@each_case
def test_copies_play_on_by_themselves(name, options):
    game = load(name, {**options, "max_plies": min(options.get("max_plies", 999), 150)})
    rng = random.Random(7)
    state = game.new_initial_state()
    # In the deal, right after it, with dice in the air (meeples), later on, at the end.
    for steps in (10, 90, 1, 1, 1, 5, 40, 999):
        walk(state, steps, rng)
        snapshot, history = state.snapshot(), state.history()
        for twin in copies(game, state):
            assert twin.snapshot() == snapshot
            assert twin.history() == history
            assert twin.current_player() == state.current_player()
            assert twin.information_state_string(0) == state.information_state_string(0)
            walk(twin, 3, random.Random(steps))
            assert state.snapshot() == snapshot and state.history() == history
            if not state.is_terminal():
                again = walk(state.clone(), 3, random.Random(steps))
                assert twin.snapshot() == again.snapshot()


def test_copies_are_whole_while_dice_roll():
    game, rng = load("meeples", {}), random.Random(4)
    state, seen = game.new_initial_state(), 0
    while not state.is_terminal() and seen < 12:
        state.apply_action(sample(state, rng))
        if state.is_chance_node() and len(state.history()) > 28:
            seen += 1
            assert state.snapshot()["dice"] == []
            for twin in copies(game, state):
                assert twin.chance_outcomes() == state.chance_outcomes()
                outcome = state.chance_outcomes()[0][0]
                assert twin.child(outcome).snapshot() == state.child(outcome).snapshot()
    assert seen == 12
    at_chance = [event.player == pyspiel.PlayerId.CHANCE for event in state.full_history()]
    assert sum(at_chance) <= game.max_chance_nodes_in_history() == 28 + 5 * 1000


@each_case
def test_our_environment_goes_on_from_a_state(name, options):
    state = walk(load(name, options).new_initial_state(), 120, random.Random(6))
    while state.is_chance_node():
        walk(state, 1, random.Random(6))
    env = raw_env(name, **options)
    env.restore(state.snapshot())
    snapshot = env.snapshot()
    snapshot.pop("rng", None)
    assert snapshot == state.snapshot()
