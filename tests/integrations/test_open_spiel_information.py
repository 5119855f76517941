"""The games in OpenSpiel: who knows what, in tensors and in words."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")

from open_spiel.python.observation import make_observation  # noqa: E402

from tests.games import each_case  # noqa: E402
from tests.integrations.open_spiel_walks import (  # noqa: E402
    FULL_VIEW,
    NOTHING,
    OWN_SECRETS,
    OWN_VIEW,
    PUBLIC_ONLY,
    VIEWS,
    load,
    observation_type,
    sample,
    walk,
)

RECALL, NO_RECALL = True, False


@each_case
def test_information_states_as_tensors_and_in_words_tell_the_same(name, options):
    """Over many states, the deal and dice in the air among them: tensors are equal exactly where words are."""
    game = load(name, {**options, "max_plies": 25})
    by_tensor: dict[bytes, str] = {}
    by_words: dict[str, bytes] = {}
    at_chance = 0
    for seed in range(6):
        rng = random.Random(seed // 2)  # pairs of games part after a common start
        state = game.new_initial_state()
        parting = {"kirche": 0, "tuerme": 85, "meeples": 35}[name]
        while not state.is_terminal():
            if state.move_number() == parting:
                rng = random.Random(seed)
            at_chance += state.is_chance_node()
            for player in range(game.num_players()):
                words = state.information_state_string(player)
                tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
                assert by_tensor.setdefault(tensor, words) == words
                assert by_words.setdefault(words, tensor) == tensor
            state.apply_action(sample(state, rng))
    assert len(by_words) > 30
    assert bool(at_chance) is (name != "kirche")


@pytest.mark.parametrize("view", [OWN_VIEW, PUBLIC_ONLY], ids=str)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_hidden_deals_are_told_alike_in_tensors_and_in_words(view, players):
    """With hidden hands, from the first stone of the deal on, for a player and for the public."""
    game = load("meeples", {"num_players": players, "max_plies": 12})
    observer = make_observation(game, observation_type(view, RECALL))
    by_tensor: dict[tuple[int, bytes], str] = {}
    by_words: dict[str, bytes] = {}
    for seed in range(6):
        rng = random.Random(seed // 2)
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.move_number() == 28:
                rng = random.Random(seed)
            for player in range(players):
                words = observer.string_from(state, player)
                observer.set_from(state, player)
                tensor = observer.tensor.tobytes()
                assert by_tensor.setdefault((player, tensor), words) == words
                assert by_words.setdefault(words, tensor) == tensor
            state.apply_action(sample(state, rng))


def test_a_deal_is_seen_when_it_is_complete():
    """Until then the stones lie face down: nobody sees how many have been dealt to whom."""
    game = load("meeples", {"num_players": 3})
    begun, further = (walk(game.new_initial_state(), n, random.Random(n)) for n in (5, 20))
    for player in range(3):
        for look in ("information_state_string", "information_state_tensor", "observation_string"):
            assert getattr(begun, look)(player) == getattr(further, look)(player), look
    assert str(begun) != str(further)
    dealt = walk(begun, 23, random.Random(1))
    assert dealt.information_state_string(0) != dealt.information_state_string(1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("kirche", {}),
        ("tuerme", {"num_players": 3}),
        ("meeples", {}),
        ("meeples", {"num_players": 3}),
    ],
)
def test_information_tensors_hold_the_deal_and_all_that_came_after(name, options):
    game, rng = load(name, {**options, "max_plies": 120}), random.Random(8)
    views = {
        view: make_observation(game, observation_type(view, RECALL))
        for view in (OWN_VIEW, FULL_VIEW)
    }
    state = walk(game.new_initial_state(), 400, rng)
    history = state.full_history()
    deal = state.history()[: {"kirche": 0, "tuerme": 80, "meeples": 28}[name]]
    actions = [event.action for event in history if event.player >= 0]
    rounds: list[list[int]] = []  # for each ply the outcomes of its dice, if it rolled any
    for event in history[len(deal) :]:
        if event.player >= 0:
            rounds.append([])
        else:
            rounds[-1].append(event.action)
    for player, (view, observer) in itertools.product(range(game.num_players()), views.items()):
        observer.set_from(state, player)
        parts = observer.dict
        digits = 1 << np.arange(parts["moves"].shape[1])
        assert (parts["moves"] @ digits - 1).tolist() == [*actions, *[-1] * (120 - len(actions))]
        if name == "tuerme":
            assert parts["deal"].argmax(axis=1).tolist() == deal
            assert parts["deal"].sum() == 80
        if name == "meeples":
            for place in range(game.num_players() if view == FULL_VIEW else 1):
                seat = (player + place) % game.num_players()
                assert parts["deal"][place].tolist() == [owner == seat for owner in deal]
            if view == OWN_VIEW:
                assert not parts["deal"][1:].any()
            for rolled, counts in zip(parts["rolls"].tolist(), rounds, strict=False):
                assert rolled[: len(counts)] == counts
                assert bool(sum(rolled)) is bool(counts)
            assert sum(map(bool, rounds)) > 1


def test_a_stone_picked_up_from_the_table_is_seen():
    """Landing is no secret: others see which stone it is, and where its first half is to lie."""
    state, rng, seen = load("meeples", {}).new_initial_state(), random.Random(1), 0
    while not state.is_terminal() and seen < 4:
        state.apply_action(sample(state, rng))
        snapshot = state.snapshot()
        if snapshot["phase"] == "land" and snapshot["chosen"]["stone"]:
            seen += 1
            known = [state.information_state_string(player).splitlines()[-1] for player in (0, 1)]
            assert known[0] == known[1]
            assert "?" not in known[0]
    assert seen == 4


def test_a_stone_being_laid_is_hidden_until_it_lies():
    game = load("meeples", {})
    state = walk(game.new_initial_state(), 28, random.Random(1))
    first, second = state.legal_actions()[:2]
    ways = [state.child(first), state.child(second)]
    for _ in range(2):
        for look in ("information_state_string", "observation_string", "observation_tensor"):
            own, others = ([getattr(way, look)(player) for way in ways] for player in (0, 1))
            assert own[0] != own[1], look
            assert others[0] == others[1], look
        infos = [way.information_state_tensor(1) for way in ways]
        assert infos[0] == infos[1]
        ways = [way.child(way.legal_actions()[0]) for way in ways]
    assert ways[0].information_state_string(1) != ways[1].information_state_string(1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_resampled_states_cannot_be_told_apart(players):
    game = load("meeples", {"num_players": players, "max_plies": 120})
    rng, other_hands, leftovers = random.Random(players), 0, 0
    state = walk(game.new_initial_state(), 28, rng)
    if players > 2:
        draws = [state.resample_from_infostate(0, rng.random) for _ in range(5)]
        assert len({str(draw) for draw in draws}) == 5
    while not state.is_terminal():
        for player in range(players):
            twin = state.resample_from_infostate(player, rng.random)
            assert twin.information_state_string(player) == state.information_state_string(player)
            assert twin.observation_tensor(player) == state.observation_tensor(player)
            assert twin.current_player() == state.current_player()
            if state.current_player() == player:
                assert twin.legal_actions() == state.legal_actions()
            hands, twins = state.snapshot()["hands"], twin.snapshot()["hands"]
            assert twins[player] == hands[player]
            assert [len(hand) for hand in twins] == [len(hand) for hand in hands]
            other_hands += twins != hands
            leftovers += sorted(itertools.chain(*twins)) != sorted(itertools.chain(*hands))
            # Its history is one that leads to it.
            again = game.new_initial_state()
            for event in twin.history():
                assert event in again.legal_actions()
                again.apply_action(event)
            assert again.snapshot() == twin.snapshot()
        walk(state, 3, rng)
    # Of two players each knows the other's hand, but for the stone being laid.
    assert other_hands > (5 if players == 2 else 20)
    if players == 3:
        assert leftovers > 20


def test_nothing_is_resampled_where_nothing_is_hidden():
    for name, options in (("kirche", {}), ("tuerme", {}), ("meeples", {"open_hands": True})):
        state = walk(load(name, options).new_initial_state(), 100, random.Random(1))
        twin = state.resample_from_infostate(0, random.Random(2).random)
        assert twin.history() == state.history() and twin.snapshot() == state.snapshot()
    state = load("meeples", {}).new_initial_state()
    with pytest.raises(ValueError, match="being dealt"):
        state.resample_from_infostate(0, random.Random(2).random)


@each_case
def test_public_and_own_views_together_are_the_observation(name, options):
    game = load(name, {**options, "max_plies": 60})
    views = {view: make_observation(game, observation_type(view, NO_RECALL)) for view in VIEWS}
    public, secrets, own, full = (
        views[view] for view in (PUBLIC_ONLY, OWN_SECRETS, OWN_VIEW, FULL_VIEW)
    )
    rng = random.Random(9)
    state = walk(game.new_initial_state(), 80 if name == "tuerme" else 28, rng)
    shown: Counter[str] = Counter()
    while not state.is_terminal():
        for player in range(game.num_players()):
            for view in views.values():
                view.set_from(state, player)
            for part, numbers in own.dict.items():
                together = public.dict[part] + secrets.dict.get(part, 0)
                np.testing.assert_array_equal(numbers, together, err_msg=part)
                shown[part] += bool(np.any(secrets.dict.get(part, 0)))
            assert "player" in full.string_from(state, player)
            if "hand" in full.dict:
                hands = state.snapshot()["hands"]
                order = [hands[(player + p) % len(hands)] for p in range(len(hands))]
                sizes = full.dict["other_hands"].sum(axis=1)[: len(hands) - 1].tolist()
                assert sizes == [len(hand) for hand in order[1:]]
                assert full.dict["open_hands"][0] == options.get("open_hands", False)
        walk(state, 1, rng)
    hides = name == "meeples" and not options.get("open_hands", False)
    assert ({part for part, count in shown.items() if count} != set()) is hides
    if hides:
        assert shown["hand"] and shown["chosen_stone"] and shown["chosen_field"]


def test_words_of_public_views_hold_no_secrets():
    state = walk(load("meeples", {}).new_initial_state(), 29, random.Random(1))
    game = state.get_game()
    twin = state.resample_from_infostate(1, random.Random(3).random)
    for told in (PUBLIC_ONLY, NOTHING):
        for recall in (RECALL, NO_RECALL):
            view = make_observation(game, observation_type(told, recall))
            for player in range(2):
                assert view.string_from(state, player) == view.string_from(twin, player)
                view.set_from(state, player)
                tensor = view.tensor.copy()
                view.set_from(twin, player)
                np.testing.assert_array_equal(tensor, view.tensor)
    own = make_observation(game, observation_type(OWN_SECRETS, NO_RECALL))
    assert own.string_from(state, 0).startswith("hand: ")
    assert "laying: " in own.string_from(state, 0)
    assert "laying: " not in own.string_from(state, 1)
    for name, options in (("tuerme", {}), ("meeples", {"open_hands": True})):
        state = walk(load(name, options).new_initial_state(), 85, random.Random(1))
        view = make_observation(state.get_game(), observation_type(OWN_SECRETS, RECALL))
        assert view.string_from(state, 1) == "player_1"


def test_observers_have_no_parameters():
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(load("kirche", {}), None, {"size": 3})
