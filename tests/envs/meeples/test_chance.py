"""Deal, dice and guesses at hidden hands are fair, by tests that slightly unfair ones fail."""

import functools
import itertools

import numpy as np
import pytest
from scipy import stats

import tabletop_envs
from tests.envs.meeples.test_environment import reach
from tests.reference.chance import Chance
from tests.rules.meeples.positions import HAND_SIZE, REROLL, STONES

# Fair chance fails one in a million such tests. The seeds are fixed: what passes once passes
# always.
BOUND = 1e-6
each_number_of_players = pytest.mark.parametrize("num_players", [2, 3, 4])


def unfairness(places):
    """The probability that fair deals are at least as uneven: how often each stone came to each
    place.

    `places`: (deals, stones), the number of the place (a hand, say) where each stone is. All deals
        have as many
    stones in a place.
    """
    deals, stones = places.shape
    sizes = np.bincount(places[0])
    assert all((np.bincount(deal, minlength=sizes.size) == sizes).all() for deal in places)
    counts = np.stack([(places == place).sum(axis=0) for place in range(sizes.size)], axis=1)
    expected = deals * sizes / stones
    # Rows and columns of a deal have fixed sums: stones of one deal differ by that factor more than
    # by chance alone.
    statistic = ((counts - expected) ** 2 / expected).sum() * (stones - 1) / stones
    return stats.chi2.sf(statistic, (stones - 1) * (sizes.size - 1))


def clustering(places):
    """The probability, at most, that any two stones of fair deals are together as much too often or
    too seldom.
    """
    deals, stones = places.shape
    sizes = np.bincount(places[0])
    chance = (sizes * (sizes - 1)).sum() / (stones * (stones - 1))
    pairs = list(itertools.combinations(range(stones), 2))
    together = np.array([(places[:, one] == places[:, other]).sum() for one, other in pairs])
    scores = (together - deals * chance) / np.sqrt(deals * chance * (1 - chance))
    return min(1.0, len(pairs) * 2 * stats.norm.sf(abs(scores).max()))


# The deal (M2)


@functools.cache
def deals(num_players, count=6000):
    """Who holds each stone in so many new games: (count, 28); the one left over comes last."""
    batch = tabletop_envs.make_batch(
        "meeples-v0", count, seed=1, num_players=num_players, open_hands=True
    )
    parts = batch.split_observation(batch.observation)
    hands = np.concatenate([parts["hand"][:, None], parts["other_hands"]], axis=1)[:, :num_players]
    held = hands.any(axis=1)
    assert (hands.sum(axis=1) == held).all()
    assert (hands.sum(axis=2) == HAND_SIZE[num_players]).all()
    return np.where(held, hands.argmax(axis=1), num_players)


def dealt_by(shuffle, num_players, count=6000):
    """The same by a shuffle of one's own, of a list in place."""
    places = np.zeros((count, 28), int)
    for deal in places:
        deck = list(range(28))
        shuffle(deck)
        deal[deck] = np.arange(28) // HAND_SIZE[num_players]
    return places


def naive_shuffle(chance, items):
    """The usual mistake: swap every place with any other."""
    for place in range(len(items)):
        other = chance.below(len(items))
        items[place], items[other] = items[other], items[place]


def cut(chance, items):
    """A pack that is only cut: every stone is everywhere as often, but beside the same ones."""
    place = chance.below(len(items))
    items[:] = items[place:] + items[:place]


@each_number_of_players
def test_m2_every_stone_is_equally_likely_in_every_hand(num_players):
    assert unfairness(deals(num_players)) > BOUND
    assert clustering(deals(num_players)) > BOUND


@each_number_of_players
def test_m2_unfair_deals_would_be_found_out(num_players):
    chance = Chance(1)
    assert unfairness(dealt_by(chance.shuffle, num_players)) > BOUND
    naive = dealt_by(functools.partial(naive_shuffle, chance), num_players)
    assert unfairness(naive) < BOUND
    pack = dealt_by(functools.partial(cut, chance), num_players)
    assert clustering(pack) < BOUND


# Dice (M9, M13)


@functools.cache
def rolls():
    """How many dice show 1 … 6 when rounds start, and in re-rolls: (rolls, 6) each."""
    batch = tabletop_envs.make_batch("meeples-v0", 512, seed=2, dice_per_player=5)
    names = ("dice", "round")
    before = {name: batch.split_observation(batch.observation)[name].copy() for name in names}
    rounds, rerolls = [], []
    for _ in range(400):
        actions = batch.sample_actions().copy()
        batch.step(actions)
        parts = batch.split_observation(batch.observation)
        new_round = (parts["round"] != before["round"])[:, 0] & (parts["round"][:, 0] > 0)
        rounds.append(parts["dice"][new_round])
        rerolls.append(parts["dice"][actions == REROLL])
        before = {name: parts[name].copy() for name in names}
    return np.concatenate(rounds), np.concatenate(rerolls)


def loading(dice):
    """The probability that fair dice show their six faces as unevenly."""
    return stats.chisquare(dice.sum(axis=0)).pvalue


def linkage(dice):
    """The probability that the sixes in a roll of ten fair, independent dice vary as oddly."""
    counts = np.bincount(dice[:, 5], minlength=11)
    expected = stats.binom.pmf(np.arange(11), 10, 1 / 6) * len(dice)
    # Six sixes or more are too few to be counted apart.
    counts, expected = (np.append(n[:6], n[6:].sum()) for n in (counts, expected))
    return stats.chisquare(counts, expected).pvalue


def thrown(weights, count):
    """The same for `count` rolls of ten dice whose faces have these weights."""
    chances = np.array(weights) / sum(weights)
    return np.random.default_rng(3).multinomial(10, chances, size=count)


def test_m9_all_dice_are_rolled_at_the_start_of_every_round_and_are_fair():
    dice, _ = rolls()
    assert len(dice) > 8000
    assert (dice.sum(axis=1) == 10).all()
    assert loading(dice) > BOUND
    assert linkage(dice) > BOUND


def test_m13_re_rolled_dice_are_fair():
    _, dice = rolls()
    assert dice.sum() > 20000
    assert loading(dice) > BOUND


def test_m9_loaded_and_linked_dice_would_be_found_out():
    count = len(rolls()[0])
    fair = thrown([1, 1, 1, 1, 1, 1], count)
    assert loading(fair) > BOUND
    assert linkage(fair) > BOUND
    # A six in 17.9 % of the throws instead of 16.7 %.
    assert loading(thrown([1, 1, 1, 1, 1, 1.09], count)) < BOUND
    # There are fewer re-rolls: a six in 19.4 %.
    assert loading(thrown([1, 1, 1, 1, 1, 1.2], rolls()[1].sum() // 10)) < BOUND
    # One die of the ten always shows what another one shows.
    nine = np.random.default_rng(4).integers(6, size=(count, 9))
    linked = np.stack([(np.c_[nine, nine[:, 0]] == face).sum(axis=1) for face in range(6)], axis=1)
    assert linkage(linked) < BOUND


def repetition(one, other):
    """The probability that any faces of two independent rolls go together as much; games without
    either are left out.
    """
    played = one.any(axis=1) & other.any(axis=1)
    assert played.sum() > 1900
    faces = itertools.product(one[played].T, other[played].T)
    return 36 * min(stats.pearsonr(left, right).pvalue for left, right in faces)


def test_m9_rolls_of_one_game_do_not_hang_together():
    batch = tabletop_envs.make_batch("meeples-v0", 2000, seed=4, dice_per_player=5)
    shown = [np.zeros((2000, 6)) for _ in range(3)]
    for _ in range(140):
        parts = batch.split_observation(batch.observation)
        for number, dice in enumerate(shown, 1):
            first = (parts["round"][:, 0] == number) & ~dice.any(axis=1)
            dice[first] = parts["dice"][first]
        batch.step(batch.sample_actions())
    one, two, three = shown
    for left, right in ((one, two), (two, three), (one, three)):
        assert repetition(left, right) > BOUND
    # One game in five rolls the same twice.
    two[::5] = one[::5]
    assert repetition(one, two) < BOUND


# Guesses at what is hidden


def hidden_position(num_players):
    """A game in which the last player has just taken up a stone, and its snapshot."""
    env = reach(
        lambda s: (
            (s["round"], s["to_move"], s["phase"]) == (2, num_players - 1, "stones")
            and s["chosen"]["stone"] is not None
        ),
        num_players=num_players,
    )
    return env, env.snapshot()


def hidden_places(snapshot, player, hidden):
    """Where each hidden stone is: in another's hand (by place), taken up, or left over."""
    hands = [hand for other, hand in enumerate(snapshot["hands"]) if other != player]
    where = {tuple(stone): place for place, hand in enumerate(hands) for stone in hand}
    where[tuple(snapshot["chosen"]["stone"])] = len(hands)
    return [where.get(stone, len(hands) + 1) for stone in hidden]


def hidden_stones(snapshot, player):
    """The stones that the player does not see."""
    seen = [laid["stone"] for laid in snapshot["stones"]] + snapshot["hands"][player]
    return [stone for stone in STONES if list(stone) not in seen]


@each_number_of_players
def test_every_hidden_stone_is_equally_likely_in_every_hidden_place(num_players):
    env, snapshot = hidden_position(num_players)
    hidden = hidden_stones(snapshot, 0)
    places = np.array(
        [
            hidden_places(env.clone(hide_from="player_0", rng=rng).snapshot(), 0, hidden)
            for rng in range(4000)
        ]
    )
    assert places.shape[1] == sum(map(len, snapshot["hands"][1:])) + 1 + (num_players == 3)
    assert unfairness(places) > BOUND
    assert clustering(places) > BOUND


@each_number_of_players
def test_guesses_that_lean_to_the_truth_would_be_found_out(num_players):
    """One guess in ten keeps the stone that was taken up; else they are fair."""
    _, snapshot = hidden_position(num_players)
    hidden = hidden_stones(snapshot, 0)
    true = hidden_places(snapshot, 0, hidden)
    taken_up = hidden.index(tuple(snapshot["chosen"]["stone"]))
    chance, places = Chance(2), []
    for _ in range(4000):
        places.append(list(true))
        if chance.below(10):
            chance.shuffle(places[-1])
        else:
            others = [place for stone, place in enumerate(true) if stone != taken_up]
            chance.shuffle(others)
            places[-1] = [*others[:taken_up], true[taken_up], *others[taken_up:]]
    assert unfairness(np.array(places)) < BOUND
