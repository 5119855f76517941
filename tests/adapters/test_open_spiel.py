"""The games in OpenSpiel are those of our environments, and OpenSpiel's algorithms play them."""

from __future__ import annotations

import contextlib
import io
import pickle
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    ismcts,
    mcts,
    tabular_qlearner,
)

from benchmarks import connect_four_game  # noqa: E402
from tabletop_envs.adapters import open_spiel  # noqa: E402
from tabletop_envs.kernels.meeples.material import REROLL  # noqa: E402
from tests.adapters.common import run_script, scripts  # noqa: E402
from tests.adapters.open_spiel_walks import load, play_beside, sample, walk  # noqa: E402
from tests.games import GAMES, STRATEGIES, each_case, each_game, raw_env  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "openspiel_mcts.py"


# The same games


@each_case
def test_plays_what_our_environment_plays(name, options):
    rng = random.Random(5)
    env = raw_env(name, **options)
    play_beside(load(name, options), env, 11, 220, rng.choice)


@each_game
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_plays_what_our_environment_plays_with_any_options(name, data):
    options = data.draw(STRATEGIES[name])
    env, seed = raw_env(name, **options), data.draw(st.integers(0, open_spiel.DEALS - 1))
    choose = random.Random(data.draw(st.integers(0, 999))).choice
    play_beside(load(name, options), env, seed, data.draw(st.integers(0, 60)), choose)


def test_dice_rolled_again_fit_or_fail_as_in_our_environment():
    """Re-rolls with one, two and many dice in the pool: both branches, and what follows them."""
    seen: Counter[str] = Counter()

    def choose(legal):
        return REROLL if REROLL in legal else rng.choice(legal[:-1] or legal)

    for seed in range(4):
        rng = random.Random(seed)
        options = {"num_players": 2 + seed % 3, "dice_per_player": 1 + seed % 2, "max_plies": 300}
        env = raw_env("meeples", **options)
        seen += play_beside(load("meeples", options), env, seed, 200, choose)
    assert min(seen["fits"], seen["fails"], seen["round"]) >= 5, seen


@each_case
def test_passes_openspiels_own_test(name, options):
    game = load(name, {**options, "max_plies": min(options.get("max_plies", 999), 70)})
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_another_game_can_be_registered():
    """Our connect four, against OpenSpiel's: columns are columns in both."""
    open_spiel.register_game(connect_four_game.GAME)
    ours, theirs = pyspiel.load_game("tabletop_connect_four"), pyspiel.load_game("connect_four")
    pyspiel.random_sim_test(ours, num_sims=1, serialize=True, verbose=False)
    rng, results = random.Random(3), set()
    for _ in range(12):
        state, other = ours.new_initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            assert state.legal_actions() == other.legal_actions()
            assert state.current_player() == other.current_player()
            action = rng.choice(other.legal_actions())
            state.apply_action(action)
            other.apply_action(action)
        assert state.is_terminal() and state.returns() == other.returns()
        results.add(tuple(state.returns()))
    assert len(results) > 1


# What a game says of itself


@each_case
def test_a_game_keeps_its_parameters(name, options):
    game = load(name, options)
    assert game.get_parameters() == raw_env(name, **options).options
    for twin in (pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game))):
        assert str(twin) == str(game)
        assert twin.get_parameters() == game.get_parameters()
        assert type(twin) is type(game)
    players = options.get("num_players", 2)
    assert game.num_players() == players
    assert game.num_distinct_actions() == raw_env(name).num_actions
    assert game.max_game_length() == game.get_parameters()["max_plies"]
    assert (game.min_utility(), game.max_utility()) == (-1 / (players - 1), 1)
    assert game.utility_sum() == 0
    kind = game.get_type()
    assert kind.min_num_players <= players <= kind.max_num_players
    hides = name == "meeples" and not options.get("open_hands", False)
    assert (kind.information == kind.Information.IMPERFECT_INFORMATION) is hides
    assert (kind.chance_mode == kind.ChanceMode.DETERMINISTIC) is (name == "kirche")


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("tabletop_kirche(num_houses=9)", ValueError, "num_houses=9.*from 1 to 7"),
        ("tabletop_tuerme(slide=1)", pyspiel.SpielError, "slide"),
        ("tabletop_meeples(num_players=5)", ValueError, "num_players=5.*from 2 to 4"),
        ("tabletop_kirche(houses=2)", pyspiel.SpielError, "houses"),
    ],
)
def test_impossible_parameters_are_named(text, error, match):
    with pytest.raises(error, match=match):
        pyspiel.load_game(text)


def test_registering_again_is_harmless():
    before, kind = pyspiel.registered_names(), type(load("kirche", {}))
    open_spiel.register()
    assert pyspiel.registered_names() == before
    assert type(load("kirche", {})) is kind
    assert {f"tabletop_{name}" for name in GAMES} <= set(before)


def test_without_openspiel_the_error_names_the_extra():
    code = "import sys; sys.modules['pyspiel'] = None; import tabletop_envs.adapters.open_spiel"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: this needs pyspiel" in run.stderr
    assert 'pip install "tabletop-envs[openspiel]"' in run.stderr


# OpenSpiel's algorithms


@each_game
def test_its_search_plays_a_game(name):
    game = load(name, {"max_plies": 30})
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 1.4, 3, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    state, chance = game.new_initial_state(), random.Random(1)
    while not state.is_terminal():
        action = sample(state, chance) if state.is_chance_node() else bot.step(state)
        assert action in state.legal_actions()
        state.apply_action(action)
    assert state.move_number() >= 30 or state.returns()[0] != 0


def test_its_search_wins_where_it_can():
    """Kirche with one house, from the first move on: the search against random play."""
    game = pyspiel.load_game("tabletop_kirche(num_houses=1,max_plies=60)")
    rng, chance, total = np.random.RandomState(1), random.Random(1), 0.0
    for _ in range(3):
        bot = mcts.MCTSBot(game, 1.4, 40, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
        state = game.new_initial_state()
        while not state.is_terminal():
            to_search = state.current_player() == 0 and state.move_number() >= 6
            state.apply_action(bot.step(state) if to_search else sample(state, chance))
        total += state.returns()[0]
    assert total >= 2


def test_its_information_set_search_plays():
    game = load("meeples", {"max_plies": 20})
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 1.4, 4, random_state=rng)
    state = walk(game.new_initial_state(), 1, random.Random(1))
    while not state.is_terminal():
        at_chance = state.is_chance_node()
        state.apply_action(sample(state, random.Random(1)) if at_chance else bot.step(state))
    assert state.is_terminal()


def test_regret_minimisation_runs():
    solver = external_sampling_mccfr.ExternalSamplingSolver(load("meeples", {"max_plies": 3}))
    for _ in range(2):
        solver.iteration()
    policy = solver.average_policy()
    state = walk(solver._game.new_initial_state(), 1, random.Random(1))
    assert sum(policy.action_probabilities(state).values()) == pytest.approx(1)
    game = load("kirche", {"num_houses": 1, "max_plies": 2})
    whole = cfr.CFRSolver(game)
    whole.evaluate_and_update_policy()
    assert exploitability.exploitability(game, whole.average_policy()) == 0


@each_game
def test_its_reinforcement_learning_environment_runs(name):
    env = rl_environment.Environment(load(name, {"max_plies": 20}))
    env.seed(1)
    rng, step = random.Random(1), env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([rng.choice(step.observations["legal_actions"][player])])
    assert sum(step.rewards) == 0
    assert step.discounts == [0.0] * len(step.rewards)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_its_learners_learn_results_of_their_own(players):
    """Q-learning: legal choices, own views one after the other, and values of results alone."""
    game = load("tuerme", {"num_players": players, "max_plies": 16})
    env, actions = rl_environment.Environment(game), game.num_distinct_actions()
    env.seed(1)
    np.random.seed(1)
    learners = [
        tabular_qlearner.QLearner(player, actions, step_size=1.0, discount_factor=1.0)
        for player in range(players)
    ]
    results = set()
    for _ in range(6):
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            action = learners[player].step(step).action
            assert action in step.observations["legal_actions"][player]
            assert learners[player]._prev_info_state == str(step.observations["info_state"][player])
            step = env.step([action])
        for learner in learners:
            learner.step(step)
        assert env.get_state.snapshot()["outcome"]["by_limit"]
        results |= set(step.rewards)
    values = {value for one in learners for row in one._q_values.values() for value in row.values()}
    assert values <= results | {0.0}
    assert min(values) < 0 < max(values) <= 1


@each_game
def test_its_playthrough_shows_every_call(name):
    text = generate_playthrough.playthrough(
        f"tabletop_{name}(max_plies=4)", None, seed=1, observation_params_string=None
    )
    assert f'GameType.short_name = "tabletop_{name}"' in text
    assert "InformationStateString(0)" in text and "IsTerminal() = True" in text


def test_the_docstrings_script_plays_a_game():
    script, tournament = scripts(open_spiel)
    names = run_script(script, ("num_houses=1", "num_houses=1,max_plies=20"))
    assert names["state"].is_terminal()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        run_script(
            script.split("game =")[0] + tournament,
            ("1.4, 20", "1.4, 2"),
            ("games=10", "games=2"),
            ('{"num_houses": 1}', '{"num_houses": 1, "max_plies": 12}'),
        )
    assert "openspiel mcts:20" in output.getvalue()


def test_the_example_plays_and_ends_cleanly():
    game = "tabletop_kirche(num_houses=1,max_plies=30)"
    command = [sys.executable, str(EXAMPLE), game, "--simulations", "2"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("place spire")
    assert "returns: [" in run.stdout.splitlines()[-1]
