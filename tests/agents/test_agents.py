"""Agents by name: what they choose, what it depends on; greedy is better than random play."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks import connect_four_game
from tabletop_envs import evaluation, registry
from tabletop_envs.agents import GameAgent, RandomAgent, agent_names, make_agent
from tabletop_envs.agents.greedy import LONGEST_DECISION, choose_greedily
from tabletop_envs.kernels import engine
from tabletop_envs.lanes import Lanes
from tabletop_envs.search.tree import Choices
from tests.games import each_case, each_game, legal_actions, over, play, positions, raw_env

NAMES = ["random", "greedy"]
each_agent = pytest.mark.parametrize("agent", NAMES)
POSITIONS = positions("kirche")
REROLL = 609
WINNING = [entry for entry in POSITIONS if entry.get("winning")]


def some_lanes(name: str, count: int, seed: int = 1, **options: Any) -> tuple[Any, Any, Any]:
    """A game, states of running games begun by random play, and their sets of legal actions."""
    game = registry.get_game(name)
    states = game.new_states(count, game.parse_options(options))
    legal = engine.new_legal(game.kernel, count)
    for lane in range(count):
        env = raw_env(name, **options)
        env.reset(seed=seed + lane)
        play(env, random.Random(lane).randrange, 11 * lane)
        if over(env):
            env.reset(seed=seed + lane)
        states[lane], legal[lane] = (part[0] for part in env.lane())
    return game, states, legal


def choose(agent: GameAgent, game: Any, states: Any, legal: Any, samplers: Any) -> list[int]:
    """The agent's choices in all lanes."""
    actions = np.full(len(states), -1)
    agent.choose_lanes(game, states, legal, samplers, np.arange(len(states)), actions)
    return [int(action) for action in actions]


# By name


def test_names():
    assert agent_names()[:3] == ["random", "greedy", "mcts:N"]
    for name in NAMES:
        agent = make_agent(name)
        assert isinstance(agent, GameAgent) and agent.name == name
    assert isinstance(make_agent("random"), RandomAgent)


def test_agents_are_taken_as_they_are():
    def policy(observation: Any, action_mask: Any, rng: Any) -> int:
        return int(np.flatnonzero(action_mask)[0])

    agent = RandomAgent()
    assert make_agent(agent) is agent
    assert make_agent(policy) is policy


@pytest.mark.parametrize(
    "name", ["", "Random", "greedy:3", "random:", "mcts", "mcts:", "mcts:0", "mcts:-1", "mcts:x"]
)
def test_unknown_names(name):
    with pytest.raises(ValueError, match=r"mcts:") as raised:
        make_agent(name)
    assert repr(name) in str(raised.value)


@pytest.mark.parametrize("what", [None, 3, ["random"]])
def test_what_is_no_agent(what):
    with pytest.raises(TypeError, match="random, greedy, mcts:N"):
        make_agent(what)


# What a choice depends on


@each_agent
@each_case
def test_choices_are_legal_and_leave_the_game_alone(name, options, agent):
    game, states, legal = some_lanes(name, 8, **options)
    before, legal_before = states.copy(), legal.copy()
    samplers = np.arange(8, dtype=np.uint64)
    lanes, actions = np.array([6, 1, 4]), np.full(8, -7)
    make_agent(agent).choose_lanes(game, states, legal, samplers, lanes, actions)
    assert (states == before).all() and (legal == legal_before).all()
    for lane in range(8):
        if lane in lanes:
            bits = game.kernel.word_bits
            word = int(legal[lane, actions[lane] // bits])
            assert word >> int(actions[lane] % bits) & 1
            assert samplers[lane] != lane
        else:
            assert actions[lane] == -7 and samplers[lane] == lane


@each_agent
@each_game
def test_a_lane_is_chosen_for_alone(name, agent):
    game, states, legal = some_lanes(name, 8)
    samplers = np.arange(100, 108, dtype=np.uint64)
    together = choose(make_agent(agent), game, states, legal, samplers.copy())
    for lane in reversed(range(8)):
        one = slice(lane, lane + 1)
        alone = choose(make_agent(agent), game, states[one], legal[one], samplers[one].copy())
        assert alone == [together[lane]]


@each_agent
@each_case
def test_choosing_for_an_environment(name, options, agent):
    env = raw_env(name, **options)
    env.reset(seed=5)
    for step in range(25):
        before = env.snapshot()
        action = make_agent(agent).choose(env, np.random.default_rng(step))
        assert env.snapshot() == before and action in legal_actions(env)
        samplers = np.random.default_rng(step).integers(2**64, size=1, dtype=np.uint64)
        assert choose(make_agent(agent), env.game, *env.lane(), samplers) == [action]
        play(env, random.Random(step).randrange, 3)
        if over(env):
            break


@each_agent
@each_game
def test_nothing_to_choose_once_the_game_is_over(name, agent):
    env = raw_env(name, max_plies=1)
    env.reset(seed=1)
    play(env, lambda n: 0)
    with pytest.raises(ValueError, match=f"{agent} has nothing to choose"):
        make_agent(agent).choose(env, np.random.default_rng(1))


@each_agent
@pytest.mark.parametrize("options", [{}, {"num_players": 4}, {"num_players": 3}])
def test_hidden_hands_and_chance_to_come_make_no_difference(options, agent):
    chooser, differing = make_agent(agent), 0
    for seed in range(12):
        env = raw_env("meeples", **options)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 12 * seed)
        if over(env):
            continue
        twin = env.clone(hide_from=env.agent_selection, rng=seed)
        states, others = env.lane()[0], twin.lane()[0]
        assert states["rng"] != others["rng"]
        differing += bool((states["hands"] != others["hands"]).any())
        choices = [chooser.choose(each, np.random.default_rng(seed)) for each in (env, twin)]
        assert choices[0] == choices[1]
    # Between two players all stones are dealt: each knows the other's hand.
    assert differing > 3 or not options


@pytest.mark.parametrize("players", [2, 3, 4])
def test_greedy_looks_at_a_guess(players):
    evaluation.load(registry.get_game("meeples"))
    differing = 0
    for seed in range(12):
        env = raw_env("meeples", num_players=players)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 8 * seed)
        if over(env):
            continue
        guesses = []
        for each in (env, env.clone(hide_from=env.agent_selection, rng=seed)):
            copies = np.zeros(LONGEST_DECISION + 1, env.game.kernel.state)
            work = np.zeros(1, evaluation.VALUES)
            states, legal_bits = each.lane()
            rngs, first, action = np.array([seed], np.uint64), np.zeros(1, int), np.zeros(1, int)
            choices = Choices(states, rngs, first, action)
            choose_greedily(choices, legal_bits, copies, work)
            guesses.append(copies[:1])
            differing += bool((guesses[-1]["hands"] != states["hands"]).any())
        # All that the guess is made from is what the player knows, and the generator.
        assert guesses[0] == guesses[1]
        assert guesses[0]["rng"] != env.lane()[0]["rng"]
    assert differing > 3 or players == 2


def test_random_play_is_uniform():
    game, states, legal = some_lanes("kirche", 1)
    lanes = 24_000
    states, legal = np.repeat(states, lanes), np.repeat(legal, lanes, axis=0)
    samplers = np.random.default_rng(3).integers(2**64, size=lanes, dtype=np.uint64)
    _, counts = np.unique(choose(RandomAgent(), game, states, legal, samplers), return_counts=True)
    assert counts.size == 8  # four corners, two ridges
    assert stats.chisquare(counts).pvalue > 1e-4


# What greedy play takes


def test_greedy_takes_equals_with_the_same_probability():
    game, states, legal = some_lanes("kirche", 1)
    lanes = 4000
    states, legal = np.repeat(states, lanes), np.repeat(legal, lanes, axis=0)
    samplers = np.random.default_rng(3).integers(2**64, size=lanes, dtype=np.uint64)
    choices = choose(make_agent("greedy"), game, states, legal, samplers)
    _, counts = np.unique(choices, return_counts=True)
    assert counts.size == 8  # all corners and ridges are alike
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("entry", WINNING)
def test_greedy_wins_where_it_can(entry):
    env = raw_env("kirche")
    env.restore(entry["snapshot"])
    for seed in range(20):
        action = make_agent("greedy").choose(env, np.random.default_rng(seed))
        assert action in entry["winning"]


class TooMany(Exception):  # noqa: N818 (not an error)
    """A decision with more ways to make it than a test should walk in Python."""


def best_outcome(env: Any, action: int, player: int, ways: list[int]) -> float:
    """The most that a decision which begins with an action can be worth, found in clones."""
    ways[0] -= 1
    if ways[0] < 0:
        raise TooMany
    twin = env.clone()
    twin.step(action)
    if not over(twin) and twin.agent_selection == env.agent_selection:
        snapshot = twin.snapshot()
        half_made = any(snapshot.get("chosen", {}).values())
        if half_made or snapshot.get("phase") in ("sidestep", "clone", "teleport"):
            return max(best_outcome(twin, each, player, ways) for each in legal_actions(twin))
    return evaluation.value(twin)[player]


@each_case
def test_greedy_takes_what_the_heuristic_likes_best(name, options):
    checked = 0
    for seed in range(40):
        env = raw_env(name, **options)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 7 * seed)
        if over(env):
            continue
        legal = legal_actions(env)
        snapshot = env.snapshot()
        if name == "meeples" and (REROLL in legal or snapshot["phase"] in ("setup", "land")):
            continue  # a re-roll, which greedy guesses at; thousands of ways to lay a stone
        player = env.possible_agents.index(env.agent_selection)
        choice = make_agent("greedy").choose(env, np.random.default_rng(seed))
        ways = [300]
        try:
            worth = {action: best_outcome(env, action, player, ways) for action in legal}
        except TooMany:
            continue
        assert worth[choice] == max(worth.values())
        checked += len(legal) > 1
    assert checked >= 2


def test_greedy_in_a_game_without_heuristic_still_wins_at_once():
    game = connect_four_game.GAME
    batch = connect_four_game.make_batch(num_envs=1, seed=1)
    for column in (3, 0, 3, 0, 3, 0):
        batch.step(np.array([column]))
    for seed in range(8):
        samplers = np.array([seed], np.uint64)
        choices = choose(make_agent("greedy"), game, batch.states, batch.legal_bits, samplers)
        assert choices == [3]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("kirche", {}),
        ("kirche", {"num_houses": 2}),
        ("tuerme", {"max_plies": 200}),
        ("tuerme", {"num_players": 4, "max_plies": 200}),
        ("meeples", {}),
        ("meeples", {"num_players": 3}),
    ],
)
def test_greedy_beats_random(name, options):
    game = registry.get_game(name)
    parsed = game.parse_options(options)
    players, games = game.num_players(parsed), 24
    played, lanes = Lanes(game, games, parsed, on_illegal="raise"), np.arange(games)
    played.seed(lanes, lanes.astype(np.uint64))
    played.states["rng"] = lanes // players
    played.start(lanes)
    actions, seats = np.zeros(games, np.int64), lanes % players
    while lanes.size:
        greedy = played.seats[lanes] == seats[lanes]
        for agent, own in (("greedy", lanes[greedy]), ("random", lanes[~greedy])):
            make_agent(agent).choose_lanes(
                game, played.states, played.legal_bits, played.rngs, own, actions
            )
        played.step(lanes, actions)
        lanes = np.flatnonzero(~played.over())
    # By chance alone the mean of the rewards is 0, and rarely (in less than 1 %) above 0.6.
    assert played.rewards[np.arange(games), seats].mean() > 0.6
