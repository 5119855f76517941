"""What each heuristic's docstring says, worked out once more in plain Python from snapshots."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from tabletop_envs import evaluation
from tabletop_envs.evaluation import kirche as kirche_heuristic
from tabletop_envs.evaluation import meeples as meeples_heuristic
from tabletop_envs.evaluation import tuerme as tuerme_heuristic
from tests.games import over, play, raw_env
from tests.rules.tuerme.boards import CITY_CORNERS, PLAN

SQUARES_OF_KIRCHE = range(49)


def kirche_slides(square: int, ridge: str, empty: set[int]) -> set[int]:
    """The squares that a piece can slide to."""
    reached = set()
    for step in (1, -1) if ridge == "h" else (7, -7):
        following = square + step
        while following in empty and (ridge == "v" or following // 7 == square // 7):
            reached.add(following)
            following += step
    return reached


def kirche_turns(
    piece: dict[str, Any], goals: set[int], empty: set[int], pastor: int | None
) -> int:
    """The turns of a piece to one of the goals, at most 4; without a swap if `pastor` is None."""
    edge = {(piece["square"], piece["ridge"])}
    for turns in range(1, 4):
        reached = {t for square, ridge in edge for t in kirche_slides(square, ridge, empty)}
        if reached & goals:
            return turns
        if turns == 1 and not reached and pastor is not None:
            if pastor in goals:
                return 1
            # The swap turns the piece.
            turned = {"square": pastor, "ridge": {"h": "v", "v": "h"}[piece["ridge"]]}
            return min(4, 1 + kirche_turns(turned, goals, empty, None))
        edge = {(target, ridge) for target in reached for ridge in "hv"}
    return 4


def kirche_turns_left(snapshot: dict[str, Any], player: int) -> float:
    """What the docstring of the heuristic says."""
    h = kirche_heuristic
    taken = {piece["square"] for own in snapshot["pieces"] for piece in own} | {snapshot["pastor"]}
    empty = set(SQUARES_OF_KIRCHE) - taken
    inner = {s for s in SQUARES_OF_KIRCHE if 0 < s // 7 < 6 and 0 < s % 7 < 6}
    pastor = snapshot["pastor"]
    own = snapshot["pieces"][player]
    houses = [piece for piece in own if piece["kind"] == "house"]
    church = [piece for piece in own if piece["kind"] != "house"]
    total = h.UNPLACED * (snapshot["options"]["num_houses"] + 2 - len(own))

    def beside(squares: set[int]) -> set[int]:
        return {
            t
            for s in squares
            for t in (s - 7, s + 7, *([s - 1] if s % 7 else []), *([s + 1] if s % 7 < 6 else []))
            if t in SQUARES_OF_KIRCHE
        }

    inside = [piece for piece in church if piece["square"] in inner]
    if not inside:
        nearer = min((kirche_turns(p, inner, empty, pastor) for p in church), default=0)
        if len(church) < 2:
            nearer = 0  # a piece not yet placed needs none
        return total + h.APART + nearer + h.NO_CORE * len(houses)
    spire, nave = (next(p for p in church if p["kind"] == kind) for kind in ("spire", "nave"))
    squares = {piece["square"] for piece in own}
    if len(inside) < 2 or nave["square"] not in beside({spire["square"]}):
        turns = [4]
        for still, moving in ((spire, nave), (nave, spire)):
            if still in inside:
                goals = beside({still["square"]}) & inner
                turns.append(kirche_turns(moving, goals, empty, pastor))
        total += min(turns)
    core = {(spire if spire in inside else nave)["square"]}
    while core != core | beside(core) & squares:
        core |= beside(core) & squares
    for house in houses:
        if house["square"] not in core:
            total += kirche_turns(house, beside(core), empty, pastor)
    return total


def test_kirche_counts_turns():
    counted = 0
    for seed in range(60):
        env = raw_env("kirche", num_houses=1 + seed % 7)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 3 * seed)
        if over(env):
            continue
        snapshot = env.snapshot()
        turns = [kirche_turns_left(snapshot, player) for player in (0, 1)]
        turns[snapshot["to_move"]] -= kirche_heuristic.TEMPO
        expected = kirche_heuristic.SCALE * math.log((turns[1] + 1) / (turns[0] + 1))
        assert math.atanh(evaluation.value(env)[0]) == pytest.approx(expected)
        counted += len(snapshot["pieces"][1]) > 2
    assert counted > 30


def tuerme_estimates(snapshot: dict[str, Any], scores: list[int]) -> tuple[list[float], int]:
    """What the docstring of the heuristic says, for each player; and the number of vacant lots."""
    h = tuerme_heuristic
    stacks = {stack["square"]: stack for stack in snapshot["stacks"]}
    lots = {s: int(PLAN[s // 14][s % 14]) for s in range(112) if PLAN[s // 14][s % 14] != "."}
    vacant = {s for s in lots if s not in stacks}
    estimates = [float(score) for score in scores]

    def beside(squares: set[int]) -> set[int]:
        return {
            t
            for s in squares
            for t in (
                s - 14,
                s + 14,
                *([s - 1] if s % 14 else []),
                *([s + 1] if s % 14 < 13 else []),
            )
            if 0 <= t < 112 and t not in lots
        }

    for symbol in range(4):
        goals = {s for s in vacant if lots[s] == symbol}
        if not goals:
            continue
        steps: dict[int, int] = {}
        squares = goals
        for distance in (1, 2, 3):
            squares = {s for s in beside(squares) if s not in steps}
            steps |= dict.fromkeys(squares, distance)
            squares = {s for s in squares if s not in stacks}
        for square, stack in stacks.items():
            if square not in lots and stack["symbol"] == symbol and stack["colour"] < len(scores):
                promise = h.STACK[stack["height"]] + stack["height"] * h.NEAR[steps.get(square, 0)]
                estimates[stack["colour"]] += promise
    for row, column in CITY_CORNERS:
        city = {(row + i) * 14 + column + j for i in (0, 1) for j in (0, 1)}
        colours = {stacks[s]["colour"] for s in city if s in stacks}
        if len(colours) == 1 and min(colours) < len(scores):
            estimates[min(colours)] += h.CITY_PROMISE[len(city - vacant)]
    return estimates, len(vacant)


def values_of_estimates(estimates: list[float], temperature: float) -> list[float]:
    """Expected rewards; chances to be first are in proportion to exp(estimate / temperature)."""
    weights = [math.exp(estimate / temperature) for estimate in estimates]
    n = len(estimates)
    return [(n * weight / sum(weights) - 1) / (n - 1) for weight in weights]


def test_tuerme_estimates_points():
    for seed in range(30):
        env = raw_env("tuerme", num_players=2 + seed % 3, slide=seed % 2 == 0)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 13 * seed)
        if over(env):
            continue
        scores = [env.infos[agent]["score"] for agent in env.possible_agents]
        estimates, vacant = tuerme_estimates(env.snapshot(), scores)
        h = tuerme_heuristic
        expected = values_of_estimates(estimates, h.TEMPERATURE + h.TEMPERATURE_LOT * vacant)
        assert evaluation.value(env) == pytest.approx(expected)


def meeples_estimate(snapshot: dict[str, Any], player: int, score: int) -> float:
    """What the docstring of the heuristic says."""
    h = meeples_heuristic
    values: dict[int, int] = {}
    for stone in snapshot["stones"]:
        values |= dict(zip(stone["fields"], stone["stone"], strict=True))

    def beside(fields: set[int]) -> set[int]:
        return {
            t
            for f in fields
            for t in (
                f - 24,
                f + 24,
                *([f - 1] if f % 24 else []),
                *([f + 1] if f % 24 < 23 else []),
            )
        }

    def of(kind: str) -> set[int]:
        return {entry["field"] for entry in snapshot[kind] if entry["player"] == player}

    own, blocks = of("meeples"), of("blocks")
    taken = {entry["field"] for entry in snapshot["meeples"]}
    free = {field for field, value in values.items() if value > 0} - taken
    estimate = score + h.SUPPLY * snapshot["supply"][player]
    done = ("setup", "stones", "blocks", "give_up")
    if snapshot["phase"] in done or player >= snapshot["to_move"]:
        places = blocks - beside(own)
        estimate += h.BLOCK * len(places) + h.BLOCK_VALUE * sum(values[f] for f in places)
        estimate += h.BRIDGE * len(blocks & beside(own))
    steps = beside(own) & free
    reach = beside(steps | blocks) & free - beside(own)
    estimate += h.STEP * len(steps) + h.REACH * len(reach)
    return float(estimate + h.REACH_VALUE * sum(values[f] for f in reach))


def test_meeples_estimates_points():
    phases = set()
    for seed in range(60):
        env = raw_env("meeples", num_players=2 + seed % 3)
        env.reset(seed=seed)
        play(env, random.Random(seed).randrange, 5 * seed)
        if over(env):
            continue
        snapshot = env.snapshot()
        phases.add(snapshot["phase"])
        scores = [env.infos[agent]["score"] for agent in env.possible_agents]
        estimates = [meeples_estimate(snapshot, p, score) for p, score in enumerate(scores)]
        h = meeples_heuristic
        temperature = h.TEMPERATURE + h.TEMPERATURE_MEEPLE * min(snapshot["supply"])
        assert evaluation.value(env) == pytest.approx(values_of_estimates(estimates, temperature))
    assert {"blocks", "meeples", "stones"} <= phases
