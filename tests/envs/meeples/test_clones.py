"""`clone(hide_from=…)`: a copy in which all that an agent cannot see is dealt anew."""

import itertools
import random

import numpy as np
import pytest

from tests.envs.meeples.test_environment import assert_material_is_whole, positions, reach
from tests.envs.meeples.test_hidden import assert_same_to
from tests.envs.test_copies import assert_same
from tests.games import legal_actions, over, play, raw_env
from tests.rules.meeples.positions import REROLL, STONES

each_number_of_players = pytest.mark.parametrize("num_players", [2, 3, 4])
HIDDEN = ("hands", "chosen", "rng")


def middle_of_a_game(seed=1, **options):
    """A game of which a third or so has been played."""
    env = raw_env("meeples", **options)
    env.reset(seed=seed)
    play(env, random.Random(seed).randrange, 70)
    return env


def assert_a_guess(env, twin, player):
    """The copy is a position that the player may take for the true one."""
    agent = env.possible_agents[player]
    assert_same_to(agent, env, twin)
    true, guess = env.snapshot(), twin.snapshot()
    assert [len(hand) for hand in guess["hands"]] == [len(hand) for hand in true["hands"]]
    assert guess["hands"][player] == true["hands"][player]
    assert (guess["chosen"]["stone"] is None) == (true["chosen"]["stone"] is None)
    assert guess["chosen"]["field"] == true["chosen"]["field"]
    if true["phase"] == "land" or (true["to_move"] == player and not over(env)):
        assert guess["chosen"] == true["chosen"]
    for key in true.keys() - HIDDEN:
        assert guess[key] == true[key], key
    assert_material_is_whole(guess)


@each_number_of_players
def test_every_copy_is_a_whole_position_that_looks_the_same_to_its_agent(num_players):
    for env in positions(num_players, num_players=num_players):
        before = env.snapshot()
        for player, agent in enumerate(env.possible_agents):
            twins = [env.clone(hide_from=agent, rng=rng) for rng in (1, 1, 2)]
            for twin in twins:
                assert_a_guess(env, twin, player)
            assert twins[0].snapshot() == twins[1].snapshot()
            assert twins[0].snapshot()["rng"] != twins[2].snapshot()["rng"]
        assert env.snapshot() == before


def test_copies_differ_in_all_that_is_hidden():
    env = reach(
        lambda s: s["phase"] == "stones" and s["chosen"]["stone"] is not None, num_players=3
    )
    mover = env.snapshot()["to_move"]
    agent = f"player_{(mover + 1) % 3}"
    guesses = [env.clone(hide_from=agent, rng=rng).snapshot() for rng in range(40)]
    for player in range(3):
        hands = {str(guess["hands"][player]) for guess in guesses}
        assert len(hands) == (1 if player == (mover + 1) % 3 else len(guesses))
    assert len({str(guess["chosen"]["stone"]) for guess in guesses}) > 5
    left_over = set()
    for guess in guesses:
        seen = [laid["stone"] for laid in guess["stones"]] + [guess["chosen"]["stone"]]
        seen += itertools.chain(*guess["hands"])
        left_over |= set(STONES) - set(map(tuple, seen))
    assert len(left_over) > 5
    # Whoever lays the stone knows which.
    own = [env.clone(hide_from=f"player_{mover}", rng=rng).snapshot() for rng in range(10)]
    assert all(guess["chosen"] == env.snapshot()["chosen"] for guess in own)


def test_fresh_entropy_and_numpy_generators():
    env = middle_of_a_game(num_players=4)
    fresh = [env.clone(hide_from="player_2").snapshot() for _ in range(2)]
    assert fresh[0]["hands"] != fresh[1]["hands"]
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    first, again = (env.clone(hide_from="player_2", rng=g).snapshot() for g in (one, other))
    assert first == again
    # The generator goes on: the next guess is another one.
    assert env.clone(hide_from="player_2", rng=one).snapshot()["hands"] != first["hands"]
    for rng in (0, 2**64 - 1, np.uint64(7), np.int32(7)):
        assert_a_guess(env, env.clone(hide_from="player_2", rng=rng), 2)


def test_dice_to_come_are_rolled_anew():
    """A search that could foresee the true dice would be no search."""
    env = reach(lambda s: s["phase"] == "meeples" and s["to_move"] == 1 and not s["source"])
    rolls = []
    for twin in [env.clone(), *(env.clone(hide_from="player_0", rng=n) for n in range(30))]:
        while twin.snapshot()["phase"] == "meeples":
            twin.step(twin.str_to_action("end turn"))
        rolls.append(tuple(twin.snapshot()["dice"]))
    assert len(set(rolls)) > 20
    env = reach(lambda s: s["phase"] == "blocks" and len(s["dice"]) == 6 and s["fails"] == 0)
    while REROLL not in legal_actions(env):
        play(env, random.Random(1).randrange, 1)
    rerolls = []
    for n in range(30):
        twin = env.clone(hide_from=env.agent_selection, rng=n)
        twin.step(REROLL)
        rerolls.append(tuple(twin.snapshot()["dice"]))
    assert len(set(rerolls)) > 10


@each_number_of_players
def test_copies_play_on_to_the_end_and_the_original_as_before(num_players):
    env = middle_of_a_game(num_players=num_players)
    expected = env.clone()
    for agent in env.possible_agents:
        twin = env.clone(hide_from=agent, rng=1)
        rng = random.Random(3)
        while not over(twin):
            play(twin, rng.randrange, 1)
            assert_material_is_whole(twin.snapshot())
        assert sum(twin.rewards.values()) == pytest.approx(0, abs=1e-12)
        twin.reset()
        assert_same(env, expected)
    rng = random.Random(4)
    while not over(env):
        action = rng.choice(legal_actions(env))
        env.step(action)
        expected.step(action)
        assert_same(env, expected)


def test_copies_of_copies_and_of_finished_games():
    env = middle_of_a_game(num_players=3)
    twin = env.clone(hide_from="player_1", rng=1)
    assert_a_guess(env, twin.clone(hide_from="player_1", rng=2), 1)
    assert_same(twin, twin.clone())
    play(env, random.Random(5).randrange)
    for agent in env.possible_agents:
        ended = env.clone(hide_from=agent, rng=1)
        assert_same_to(agent, env, ended)
        assert ended.rewards == env.rewards
        assert ended.snapshot()["outcome"] == env.snapshot()["outcome"]


def test_with_open_hands_nothing_is_dealt_anew():
    for env in positions(9, num_players=3, open_hands=True):
        agent = env.possible_agents[0]
        twin = env.clone(hide_from=agent, rng=1)
        assert {**twin.snapshot(), "rng": 0} == {**env.snapshot(), "rng": 0}
        assert twin.snapshot()["rng"] != env.snapshot()["rng"]
        for each in env.possible_agents:
            assert_same_to(each, env, twin)
