"""OpenSpiel states that begin at a position of ours, and OpenSpiel's bots among our agents."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")

from open_spiel.python.algorithms import ismcts, mcts  # noqa: E402
from open_spiel.python.bots import uniform_random  # noqa: E402

from tabletop_envs.adapters import open_spiel  # noqa: E402
from tabletop_envs.adapters.open_spiel import BotAgent  # noqa: E402
from tabletop_envs.arena import tournaments  # noqa: E402
from tests.adapters.open_spiel_walks import assert_same, load, step_both, walk  # noqa: E402
from tests.games import each_case, each_game, legal_actions, over, raw_env  # noqa: E402


def played(name: str, options: dict[str, Any], seed: int, plies: int) -> Any:
    """An environment after some random actions."""
    env, rng = raw_env(name, **options), random.Random(seed)
    env.reset(seed=seed)
    for _ in range(plies):
        if not over(env):
            env.step(rng.choice(legal_actions(env)))
    return env


@each_case
def test_a_state_begins_at_an_environment_s_position(name, options):
    """From the start, in the midst and at the end; and both play on alike."""
    for seed, plies in ((1, 0), (2, 1), (3, 31), (4, 58), (5, 400)):
        env, rng = played(name, {**options, "max_plies": 90}, seed, plies), random.Random(seed)
        state = open_spiel.state_of(env)
        assert state.history() == []
        for _ in range(25):
            assert_same(state, env)
            if over(env):
                break
            step_both(state, env, rng.choice(legal_actions(env)), rng)
        for twin in (
            state.clone(),
            state.get_game().deserialize_state(state.serialize()),
            pickle.loads(pickle.dumps(state)),
        ):
            assert_same(twin, env)
            assert twin.history() == state.history()
            for player in range(state.num_players()):
                words = state.information_state_string(player)
                assert twin.information_state_string(player) == words


@pytest.mark.parametrize("players", [2, 3, 4])
def test_states_that_begin_at_a_position_are_resampled(players):
    """No player can tell the guess, whether a stone was being laid there or lies there since."""
    rng, others, laying = random.Random(players), 0, 0
    for plies in range(14):
        env = played("meeples", {"num_players": players, "max_plies": 90}, 1, plies)
        state = open_spiel.state_of(env)
        laying += env.snapshot()["chosen"]["stone"] is not None
        for _ in range(5):
            for player in range(players):
                twin = state.resample_from_infostate(player, rng.random)
                words = state.information_state_string(player)
                assert twin.information_state_string(player) == words
                assert twin.observation_tensor(player) == state.observation_tensor(player)
                if state.current_player() == player:
                    assert twin.legal_actions() == state.legal_actions()
                hands, twins = state.snapshot()["hands"], twin.snapshot()["hands"]
                assert twins[player] == hands[player]
                assert [len(hand) for hand in twins] == [len(hand) for hand in hands]
                others += twins != hands
            walk(state, 1, rng)
    assert laying > 3
    assert others > 20 or players == 2


def test_information_states_tell_where_play_began():
    states = [open_spiel.state_of(played("meeples", {}, seed, 20)) for seed in (1, 2)]
    for player in range(2):
        assert len({state.information_state_string(player) for state in states}) == 2


def test_positions_that_do_not_fit_are_refused():
    env = played("kirche", {"num_houses": 3}, 1, 9)
    with pytest.raises(ValueError, match="num_houses=3 must be 7"):
        load("kirche", {}).new_initial_state(env.snapshot())
    with pytest.raises(ValueError, match="the snapshot"):
        load("tuerme", {}).new_initial_state(env.snapshot())
    env.on_illegal = "lose"
    env.step(int(np.flatnonzero(env.action_mask() == 0)[0]))
    with pytest.raises(ValueError, match="lost by an illegal action"):
        open_spiel.state_of(env)


# Bots as agents


def make_search(game: Any, player: int, rng: np.random.RandomState) -> Any:
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    return mcts.MCTSBot(game, 1.4, 30, evaluator, random_state=rng)


def make_hidden_search(game: Any, player: int, rng: np.random.RandomState) -> Any:
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    return ismcts.ISMCTSBot(game, evaluator, 1.4, 4, random_state=rng)


def make_random(game: Any, player: int, rng: np.random.RandomState) -> Any:
    return uniform_random.UniformRandomBot(player, rng)


def finished(name: str, agents: list[Any], games: int, options: dict[str, Any]) -> list[Any]:
    """The outcomes of a tournament's games."""
    tournament = tournaments.Tournament(name, agents, games, 1, options, ratings=False)
    for _ in tournament.play():
        pass
    return [tournament.finished[number] for number in sorted(tournament.finished)]


@each_game
def test_bots_play_tournaments(name):
    make = make_hidden_search if name == "meeples" else make_random
    agents = [BotAgent(make, f"openspiel {make.__name__}"), "random"]
    games = [finished(name, agents, 4, {"max_plies": 16}) for _ in range(2)]
    assert len(games[0]) == 4
    assert games[0] == games[1]


def test_a_bot_that_searches_beats_random_play():
    agents = [BotAgent(make_search, "openspiel mcts:30"), "random"]
    options = {"num_houses": 1, "max_plies": 60}
    wins = dict.fromkeys(("openspiel mcts:30", "random"), 0)
    for game in finished("kirche", agents, 4, options):
        for seat, agent in enumerate(game.seats):
            wins[agent] += game.scores[seat]
    assert wins["openspiel mcts:30"] >= 2 + wins["random"]


def test_a_bot_is_an_opponent():
    import gymnasium

    env = gymnasium.make(
        "tabletop_envs:tabletop_envs/Kirche-v0",
        opponents=BotAgent(make_random, "openspiel random"),
        max_plies=12,
    )
    _, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
    assert info["by_limit"]
