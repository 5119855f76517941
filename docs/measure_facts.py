"""Measures the strategy facts and perft counts of the games' pages: `python docs/measure_facts.py`
writes docs/data/*.json.

Self-play: every seat has the same agent, game `i` has the seed `i`, and its agents' chance comes
from `i`, too: the same command writes the same file everywhere. It takes some seven minutes of one
core.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tabletop_envs import registry
from tabletop_envs.agents import make_agent
from tabletop_envs.arena.match import Match, play_matches
from tabletop_envs.arena.ratings import Outcome, wilson
from tabletop_envs.game import Game
from tabletop_envs.kernels import engine, legal_actions, step
from tabletop_envs.kernels.bits import popcount

DATA = Path(__file__).parent / "data"
POSITIONS = Path(__file__).parent.parent / "tests" / "positions"

# How many games each agent plays against itself with the default options; other options are played
# half as often.
GAMES = {"random": 2000, "greedy": 1000, "mcts:100": 300}
# Which other options are played, and by whom.
MORE_PLAYERS: list[dict[str, Any]] = [{"num_players": 3}, {"num_players": 4}]
OTHERS: dict[str, list[tuple[dict[str, Any], tuple[str, ...]]]] = {
    "kirche": [({"num_houses": houses}, tuple(GAMES)) for houses in (3, 1)],
    "tuerme": [(options, ("random", "greedy")) for options in MORE_PLAYERS],
    "meeples": [(options, ("random", "greedy")) for options in MORE_PLAYERS],
}
# The seed of the starts that sequences are counted from, and the chance of recorded positions,
# which come without.
SEED = 1
# Counts of a position end before one that would be larger (by the growth so far).
MOST_FROM_START, MOST_FROM_POSITION = 100_000_000, 3_000_000


@njit
def count_choices(states: Any, words: Any, actions: Any, choices: Any) -> None:
    """Play `actions` in `states[0]`; write how many actions were legal before each into `choices`."""
    for index in range(len(actions)):
        legal_actions(states[0], words)
        count = 0
        for word in words:
            count += np.int64(popcount(word))
        choices[index] = count
        step(states[0], actions[index])


def make_env(game: Game, options: Mapping[str, Any]) -> Any:
    """The AEC environment of a game."""
    module = importlib.import_module(f"tabletop_envs.{registry.module_name(game.name)}")
    return module.raw_env(**options)


def choices_of(game: Game, env: Any, seed: int, actions: list[int]) -> npt.NDArray[np.int64]:
    """How many actions were legal before each action of a game."""
    env.reset(seed=seed)
    words = np.zeros(game.kernel.num_words, np.uint64)
    choices = np.zeros(len(actions), np.int64)
    count_choices(env.lane()[0].copy(), words, np.array(actions, np.int64), choices)
    return choices


def self_play(game: Game, options: Mapping[str, Any], agent: str, games: int) -> dict[str, Any]:
    """What the games of an agent against itself are like."""
    parsed = game.parse_options(options)
    players = game.num_players(parsed)
    matches = (Match((agent,) * players, number, (number,), {}) for number in range(games))
    played = play_matches(game, parsed, {agent: make_agent(agent)}, matches)
    records = sorted(
        (record for ended in played for record in ended), key=lambda record: record.seed or 0
    )
    outcomes = [Outcome.of(number, record) for number, record in enumerate(records)]
    env = make_env(game, options)
    choices = [choices_of(game, env, n, record.actions) for n, record in enumerate(records)]
    short, median, long = np.percentile([outcome.plies for outcome in outcomes], [5, 50, 95])
    scores = [fmean(outcome.shares[seat] for outcome in outcomes) for seat in range(players)]
    return {
        "game": game.name,
        "options": dict(options),
        "agent": agent,
        "games": games,
        "distinct": len({outcome.digest for outcome in outcomes}),
        "branching": float(np.concatenate(choices).mean()),
        "most_choices": int(max(counts.max() for counts in choices)),
        "tree_log10": fmean(float(np.log10(counts).sum()) for counts in choices),
        "length": [float(short), float(median), float(long)],
        "by_limit": sum(outcome.by_limit for outcome in outcomes),
        "drawn": sum(len(set(outcome.scores)) == 1 for outcome in outcomes),
        "points": [fmean(outcome.scores[seat] for outcome in outcomes) for seat in range(players)],
        "scores": [[score, *wilson(score, games)] for score in scores],
    }


def plans(game: Game) -> Iterator[tuple[dict[str, Any], str, int]]:
    """What is measured: options, agent, number of games."""
    for agent, games in GAMES.items():
        yield {}, agent, games
    for options, agents in OTHERS.get(game.name, []):
        for agent in agents:
            yield options, agent, GAMES[agent] // 2


def starts(game: Game) -> Iterator[tuple[int | None, dict[str, Any], Any]]:
    """The positions that sequences are counted from: their number in tests/positions, options, the
    environment.

    Those without a number are starts. Of the recorded positions, with the default options, there is
    one of each phase, or where a game has no phases, of each ply.
    """
    for options in [{}, *(options for options, _ in OTHERS.get(game.name, []))]:
        env = make_env(game, options)
        env.reset(seed=SEED)
        yield None, options, env
    recorded = json.loads((POSITIONS / f"{game.name}.json").read_text("utf-8"))["positions"]
    seen = {"setup", "churches", 0}
    for number, entry in enumerate(recorded):
        snapshot = entry["snapshot"]
        kind = snapshot.get("phase", snapshot["ply"])
        if snapshot["options"] == game.parse_options({}) and kind not in seen:
            seen.add(kind)
            env = make_env(game, {})
            env.reset()
            env.restore(snapshot | ({"rng": SEED} if game.has_chance else {}))
            yield number, {}, env


def count_sequences(game: Game) -> Iterator[dict[str, Any]]:
    """Perft: how many sequences of 1, 2, … legal actions lead on from each position."""
    for number, options, env in starts(game):
        most = MOST_FROM_START if number is None else MOST_FROM_POSITION
        counts: list[int] = []
        while len(counts) < 2 or counts[-1] ** 2 / counts[-2] <= most:
            states = np.repeat(env.lane()[0], len(counts) + 1)
            counts.append(int(engine.perft(states, len(counts) + 1)))
        position = env.snapshot()
        yield {
            "position": number,
            "options": options,
            "ply": position["ply"],
            "phase": position.get("phase"),
            "counts": counts,
        }


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Write a list as a file of JSON, a row a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    (DATA / name).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main() -> None:
    """Measure and write everything."""
    DATA.mkdir(exist_ok=True)
    games = [registry.get_game(name) for name in registry.game_names()]
    for game in games:
        write(f"perft-{game.name}.json", list(count_sequences(game)))
    for game in games:
        rows = []
        for options, agent, number in plans(game):
            rows.append(self_play(game, options, agent, number))
            print(json.dumps(rows[-1]), flush=True)
        write(f"facts-{game.name}.json", rows)


if __name__ == "__main__":
    main()
