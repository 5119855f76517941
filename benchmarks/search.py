"""How many simulations a second searches run, beside OpenSpiel's, on one core.

    python -m benchmarks.search [GAME …] [--json FILE]

Three kinds of work, each warmed up, in several repeats, interleaved:

- *play-outs*: UCT from the first position of connect four, random play to the end of the game at
  every leaf: this library's on the yardstick game, OpenSpiel's C++ `MCTSBot` with
  `RandomRolloutEvaluator` and its Python `MCTSBot` on its own connect four; the same number of
  simulations a search, the same exploration, no solver;
- *search*: what `mcts:N` does, by the game's default settings, from positions after 30 random
  actions;
- *puct*: batched PUCT from such positions in every lane, with even priors and values of zero: from
  a NumPy function called once a round (`numpy`), and without leaving compiled code (`none`).

The ratio is to OpenSpiel's C++ search of the same run. A missing library is left out, with a note.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.compare import hold_on_cores
from benchmarks.measuring import Case, Figure, Work, human, measure, percent, report, show_table
from benchmarks.works import OURS, SEED, find_game, make_lanes
from tabletop_envs import registry
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.search import PUCT

YARDSTICK = "connect_four"
EXPLORATION = 2.0
CPP, PYTHON = "open_spiel (C++)", "open_spiel (Python)"
RANDOM_ACTIONS = 30
UNIT = "simulations/s"


def playout_work(simulations: int) -> Work:
    """UCT with full play-outs on the yardstick game."""
    agent = MCTSAgent(simulations, priors="none", exploration=EXPLORATION)
    batch = make_lanes(YARDSTICK, 1)
    return agent_work(agent, batch)


def agent_work(agent: MCTSAgent, batch: Any) -> Work:
    """Choices of an agent in all lanes of a batch, which stays where it is."""
    states, lanes = batch.states, np.arange(batch.num_envs)
    legal = np.zeros((batch.num_envs, 1), np.uint64)
    rngs = np.arange(batch.num_envs, dtype=np.uint64)
    actions = np.zeros(batch.num_envs, np.int64)

    def work(steps: int) -> int:
        for _ in range(steps):
            agent.choose_lanes(batch.game, states, legal, rngs, lanes, actions)
        return steps * agent.simulations * len(lanes)

    return work


def open_spiel_work(library: str, simulations: int) -> Work:
    """The same search by OpenSpiel, on its connect four."""
    pyspiel: Any = importlib.import_module("pyspiel")
    game = pyspiel.load_game(YARDSTICK)
    state = game.new_initial_state()
    if library == CPP:
        evaluator = pyspiel.RandomRolloutEvaluator(1, SEED)
        bot = pyspiel.MCTSBot(game, evaluator, EXPLORATION, simulations, 1000, False, SEED, False)
    else:
        mcts: Any = importlib.import_module("open_spiel.python.algorithms.mcts")
        random = np.random.RandomState(SEED)
        evaluator = mcts.RandomRolloutEvaluator(1, random)
        bot = mcts.MCTSBot(
            game, EXPLORATION, simulations, evaluator, solve=False, random_state=random
        )

    def work(steps: int) -> int:
        for _ in range(steps):
            bot.mcts_search(state)
        return steps * simulations

    return work


def search_work(game: str, simulations: int) -> Work:
    """What `mcts:N` does, in 8 positions with something to choose."""
    batch = make_lanes(game, 8)
    batch.rollout(RANDOM_ACTIONS)
    while (batch.action_mask.sum(axis=1) < 2).any():
        batch.rollout(1)
    return agent_work(MCTSAgent(simulations), batch)


def puct_work(game: str, lanes: int, simulations: int, called: bool) -> Work:
    """Batched PUCT with a network that knows nothing, called from Python or left out."""
    batch = make_lanes(game, lanes)
    batch.rollout(RANDOM_ACTIONS)
    search = PUCT(find_game(game), lanes, simulations, seed=SEED)

    def evaluate(observations: Any, masks: Any) -> Any:
        return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)

    def work(steps: int) -> int:
        for _ in range(steps):
            search.run(batch, evaluate if called else None)
        return steps * simulations * lanes

    return work


def make_works(
    games: list[str], simulations: int, lanes: int, rounds: int
) -> tuple[dict[Case, Work], list[str]]:
    """All works, and notes on what was left out."""
    notes = []
    works = {Case("play-outs", OURS, YARDSTICK): playout_work(simulations)}
    if find_spec("pyspiel") is None:
        notes.append("open_spiel is left out: no pyspiel (pip install open_spiel)")
    else:
        for library in (CPP, PYTHON):
            works[Case("play-outs", library, YARDSTICK)] = open_spiel_work(library, simulations)
    for game in games:
        works[Case("search", OURS, game)] = search_work(game, simulations)
    for game in (YARDSTICK, *games):
        for called in (True, False):
            case = Case("puct, numpy" if called else "puct, none", OURS, game, lanes)
            works[case] = puct_work(game, lanes, rounds, called)
    return works, notes


def show_figures(figures: list[Figure]) -> None:
    """Print a table for every kind of work."""
    by_case = {figure.case: figure for figure in figures}
    peer = by_case.get(Case("play-outs", CPP, YARDSTICK))
    for what in ("play-outs", "search", "puct"):
        rows = []
        for figure in figures:
            case = figure.case
            if case.what.partition(",")[0] != what:
                continue
            ratio = f"{figure.ratio_to(peer):.3g}" if peer and what == "play-outs" else "–"
            speed = [human(figure.median), percent(figure.spread), ratio]
            rows.append([f"{case.library}: {case.game}", case.what, str(case.lanes), *speed])
        header = ["library: game", "work", "lanes", UNIT, "spread", "to OpenSpiel C++"]
        show_table(what, header, rows)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.search", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add(
        "games", nargs="*", metavar="GAME", help="names, or file.py:NAME (default: all)"
    )
    add("--simulations", type=int, default=1000, help="a search (default: 1000)")
    add("--lanes", type=int, default=256, help="of batched PUCT (default: 256)")
    add("--rounds", type=int, default=64, help="simulations a lane of it (default: 64)")
    add("--repeats", type=int, default=7, help="repeats of every measurement (default: 7)")
    add("--seconds", type=float, default=0.3, help="length of a repeat (default: 0.3)")
    add("--json", metavar="FILE", help="all figures as JSON lines; - for the standard output")
    options = parser.parse_args(arguments)
    try:
        options.games = [registry.import_game(game).name for game in options.games]
    except ValueError as error:
        parser.error(str(error))
    options.games = options.games or registry.game_names()
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure and show."""
    options = parse_arguments(arguments)
    hold_on_cores(1)
    works, notes = make_works(options.games, options.simulations, options.lanes, options.rounds)
    figures = [
        Figure(figure.case, figure.values, UNIT)
        for figure in measure(works, options.repeats, options.seconds)
    ]
    records = [figure.record() for figure in figures]
    report(options.json, records, lambda: show_figures(figures), notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
