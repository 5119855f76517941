"""Every public entry point refuses arguments of a wrong type or value by name, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import griffe
import numpy as np
import pytest

import tabletop_envs
from tabletop_envs import checks, kirche_v0, registry, symmetries, tuerme_v0
from tabletop_envs.agents.mcts import MCTSAgent
from tabletop_envs.arena import records, replay, tournaments
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tabletop_envs.game import lane_seeds
from tabletop_envs.kirche_v0 import GAME
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame
from tabletop_envs.render import svg
from tabletop_envs.search import PUCT, Search, SearchConfig
from tabletop_envs.testing import check_env, check_kernel
from tests.house import public_api

HUGE = 10**5000  # Python refuses to write out an integer of so many digits
NOT_INTEGERS: list[Any] = [
    *(True, np.True_, np.array(True), 42.9, np.float64(1), "42", b"1", 1j),
    *([1], np.array([1]), {"a": 1}, object(), np.timedelta64(1, "s")),
]
INTEGERS = [*NOT_INTEGERS, -1, HUGE, -HUGE]
COUNTS = [*INTEGERS, 0, None]
SEEDS = [*INTEGERS, 2**64]
LANE_SEEDS = [
    *(seed for seed in SEEDS if not isinstance(seed, list | np.ndarray)),
    *([1], [1, 2, 3], [1, True], [1, None, 2], [1, 2.0], np.array([True, False])),
    *(np.array(1.0), np.array([0.5, 1]), np.array([[1], [2]]), [-1, 0], [0, 2**64]),
]
BOOLS: list[Any] = ["no", "yes", "", 0, 1, np.int64(1), 0.0, [], [True], np.array([True]), object()]
NOT_NUMBERS: list[Any] = [
    "1",
    "x",
    True,
    np.True_,
    [1.0],
    np.array([1.0]),
    1j,
    np.timedelta64(1, "s"),
]
NUMBERS = [*NOT_NUMBERS, float("nan"), float("inf"), -float("inf"), 10**400, HUGE, -1.0]
WORDS: list[Any] = ["smell", "", b"raise", 0, True, ["ansi"], np.array(["ansi", "human"]), {}]
OPTIONS: list[Any] = [0, "", [], "num_houses=3", [("num_houses", 3)], 1.5, True]
ACTIONS = [*NOT_INTEGERS, -1, 1323, HUGE, None]
LANE_ACTIONS: list[Any] = [
    *(None, 5, "ab", [0], [0, 1, 2], [[0, 1]], [0.0, 1.0], [True, False], [0, True], [None, 1]),
    *(["0", "1"], [[0], [1, 2]], np.array([True, False]), np.array([0, np.nan]), [0, HUGE]),
    *(np.array([0, 1], object), np.array(["a", "b"]), np.array([0, 1], "m8[s]"), object()),
    *([0, -1], [0, 1323], np.array([0, 2**63], np.uint64)),
]


class Case(NamedTuple):
    """An entry point (by its public name), one of its arguments, and values it must refuse."""

    entry: str
    argument: str
    values: list[Any]
    call: Callable[[Any], object]
    named: str | None = None  # what messages name instead of the argument


def _named(entry: str, call: Callable[..., object], **values: list[Any]) -> Iterator[Case]:
    """A case for each argument, given by its name."""
    for argument, bad in values.items():
        yield Case(entry, argument, bad, lambda value, a=argument: call(**{a: value}))


# Made when they are asked for first, not when the tests are collected.


@cache
def _aec() -> TabletopEnv:
    env = kirche_v0.raw_env(render_mode="ansi", num_houses=1)
    env.reset(seed=1)
    return env


@cache
def _parallel() -> TabletopParallelEnv:
    env = TabletopParallelEnv(GAME, num_houses=1)
    env.reset(seed=1)
    return env


@cache
def _gym() -> TabletopGymEnv:
    env = TabletopGymEnv(GAME, num_houses=1)
    env.reset(seed=1)
    return env


@cache
def _vector() -> TabletopVectorEnv:
    env = TabletopVectorEnv(GAME, 2, num_houses=1)
    env.reset(seed=1)
    return env


@cache
def _two() -> BatchEnv:
    return BatchEnv(GAME, 2, seed=1, num_houses=1)


@cache
def _session() -> Session:
    return Session("kirche", ["human", "human"], 1)


def _state() -> list[Any]:
    """What no refused call may change."""
    batch = _two()
    arrays = (batch.states, batch._lanes.rngs, batch.observation, batch.action_mask, batch.rewards)
    lanes = (_vector()._lanes, _gym()._lanes)
    return [
        *(array.tobytes() for array in arrays),
        *(array.tobytes() for one in lanes for array in (one.states, one.rngs, one.seats)),
        *(env.lane()[0].tobytes() for env in (_aec(), _parallel().aec_env, _session().env)),
        _session().actions,
    ]


def _of(make: Callable[[], Any], method: str) -> Callable[..., object]:
    return lambda *values, **given: getattr(make(), method)(*values, **given)


RECORD = Path(__file__)  # is read only after the arguments have been checked
PLAIN_SEARCH: dict[str, Any] = {"max_nodes": 100}

SHARED = {"render_mode": [*WORDS, HUGE], "num_houses": [*COUNTS, 8], "max_plies": [*COUNTS, 2**21]}
LEARNING = {**SHARED, "seat": [*INTEGERS, 2], "on_illegal": [*WORDS, None]}
BATCHES = {
    **{**SHARED, "num_envs": COUNTS, "num_threads": COUNTS, "check": [*BOOLS, None]},
    "seed": LANE_SEEDS,
}
PLAYED = {"seed": SEEDS, "options": OPTIONS, "agents": [None, "random", b"random", 3, {"random"}]}
TOURNAMENT = {**PLAYED, "games": COUNTS, "workers": COUNTS, "ratings": [*BOOLS, "x", None]}
RULES = {
    **{"exploration": NUMBERS, "temperature": [*NUMBERS, 0], "playout": INTEGERS},
    "priors": WORDS,
}
RULES_GIVEN: dict[str, Any] = {"priors": "none", "exploration": 1, "temperature": 1, "playout": 0}


def _make_batch(**given: Any) -> object:
    return tabletop_envs.make_batch("kirche-v0", **{"num_envs": 2, **given})


def _batch(**given: Any) -> object:
    return BatchEnv(GAME, **{"num_envs": 2, **given})


def _puct(**given: Any) -> PUCT:
    return PUCT("kirche", **{"num_envs": 2, "num_simulations": 1, **given})


def _search(**given: Any) -> Search:
    return Search("kirche", **{**PLAIN_SEARCH, **given})


def _tournament(call: Callable[..., object]) -> Callable[..., object]:
    return lambda **given: call("kirche", **{"agents": ["random", "greedy"], "games": 1, **given})


def _record_of(value: Any) -> object:
    return records.record_of(_aec(), 1, [value], ["a", "b"])


def _draw(**given: Any) -> object:
    return svg.draw(_aec().snapshot(), **given)


CASES = [
    *_named("make_batch", _make_batch, **BATCHES),
    *_named("envs.batch.BatchEnv", _batch, **BATCHES),
    *_named("envs.batch.BatchEnv.reset", _of(_two, "reset"), seed=LANE_SEEDS),
    *_named("envs.batch.BatchEnv.rollout", _of(_two, "rollout"), steps=COUNTS),
    *_named(
        "envs.batch.BatchEnv.to_aec", _of(_two, "to_aec"), lane=[*NOT_INTEGERS, -3, 2, HUGE, None]
    ),
    Case(
        "envs.batch.BatchEnv.restore",
        "lane",
        [*NOT_INTEGERS, -3, 2, HUGE, None],
        lambda value: _two().restore(value, _aec().snapshot()),
    ),
    *_named(
        "register", lambda **g: tabletop_envs.register(GAME, **g), version=[*NOT_INTEGERS, -1, HUGE]
    ),
    *_named("warm", lambda **given: tabletop_envs.warm("kirche", **given), workers=COUNTS),
    *_named("symmetries.square_board", symmetries.square_board, side=COUNTS),
    Case("envs.batch.BatchEnv.step", "actions", LANE_ACTIONS, _of(_two, "step"), "action"),
    Case("envs.batch.BatchEnv.step", "check", BOOLS, lambda v: _two().step([0, 0], check=v)),
    *_named("envs.aec.TabletopEnv", lambda **given: TabletopEnv(GAME, **given), **SHARED),
    *_named(
        "envs.aec.TabletopEnv",
        lambda **given: TabletopEnv(GAME, **given),
        on_illegal=[*WORDS, None],
        mask_in=[*WORDS, None],
        obs_key=[*WORDS[1:], "action_mask"],
        no_such_option=[1, HUGE],
    ),
    *_named("envs.aec.TabletopEnv.reset", _of(_aec, "reset"), seed=SEEDS),
    Case("envs.aec.TabletopEnv.step", "action", ACTIONS, _of(_aec, "step")),
    Case("envs.aec.TabletopEnv.action_to_str", "action", ACTIONS, _of(_aec, "action_to_str")),
    Case(
        "envs.aec.TabletopEnv.observe",
        "agent",
        [0, None, "player_2", [], HUGE],
        _of(_aec, "observe"),
    ),
    Case(
        "envs.aec.TabletopEnv.str_to_action",
        "action",
        [0, None, "x", [], HUGE],
        _aec().str_to_action,
    ),
    Case("envs.aec.TabletopEnv.clone", "rng", SEEDS, lambda value: _aec().clone("player_0", value)),
    *_named("envs.aec.TabletopEnv.render", _of(_aec, "render"), colour=[*BOOLS, None]),
    Case(
        "envs.aec.TabletopEnv.render",
        "size",
        [*NUMBERS, 0],
        lambda value: TabletopEnv._draw(_aec(), None, "light", value),
    ),
    *_named(
        "envs.aec.TabletopEnv.svg",
        _of(_aec, "svg"),
        size=[*NUMBERS, 0],
        legal=[*BOOLS, None],
        last_action=[*BOOLS, None],
        theme=[*WORDS, None],
    ),
    *_named("envs.parallel.TabletopParallelEnv.reset", _of(_parallel, "reset"), seed=SEEDS),
    Case(
        "envs.parallel.TabletopParallelEnv.step",
        "action",
        ACTIONS,
        lambda value: _parallel().step({_parallel().agent_in_turn: value}),
    ),
    *_named(
        "envs.gym.TabletopGymEnv", lambda **given: TabletopGymEnv("kirche", **given), **LEARNING
    ),
    *_named("envs.gym.TabletopGymEnv.reset", _of(_gym, "reset"), seed=SEEDS),
    Case("envs.gym.TabletopGymEnv.step", "action", ACTIONS, _of(_gym, "step")),
    *_named(
        "envs.vector.TabletopVectorEnv",
        lambda **given: TabletopVectorEnv("kirche", **{"num_envs": 2, **given}),
        **LEARNING,
        num_envs=COUNTS,
        copy=[*BOOLS, None],
        max_episode_steps=[*NOT_INTEGERS, -2, 0, HUGE],
        autoreset_mode=[*WORDS, None],
    ),
    *_named(
        "envs.vector.TabletopVectorEnv.reset",
        _of(_vector, "reset"),
        seed=LANE_SEEDS,
        options=[*OPTIONS, {"reset_mask": [True, False]}, {"reset_mask": np.array([1, 0])}],
    ),
    *_named(
        "envs.vector.TabletopVectorEnv.to_aec", _of(_vector, "to_aec"), lane=[*NOT_INTEGERS, -3, 2]
    ),
    Case(
        "envs.vector.TabletopVectorEnv.step",
        "actions",
        LANE_ACTIONS,
        _of(_vector, "step"),
        "action",
    ),
    *_named("search.SearchConfig", lambda **g: SearchConfig(**{**RULES_GIVEN, **g}), **RULES),
    *_named(
        "search.Search", _search, **RULES, max_nodes=COUNTS, max_edges=[*INTEGERS, 0], seed=SEEDS
    ),
    *_named(
        "search.Search.run",
        lambda **given: _search().run(_aec(), **given),
        simulations=[*INTEGERS, 0],
        seconds=NUMBERS,
    ),
    *_named(
        "search.PUCT",
        _puct,
        num_envs=COUNTS,
        num_simulations=COUNTS,
        c_puct=[*NUMBERS, None],
        dirichlet_alpha=[*NUMBERS, 0, None],
        dirichlet_fraction=[*NUMBERS, 1.1, None],
        fpu_reduction=[*NUMBERS[:-1], 2.1, None],
        policy=[*WORDS, None],
        observation_dtype=["float99", "i8", float, None, object(), 3, True],
        max_edges=[*INTEGERS, 0],
        seed=LANE_SEEDS,
        num_threads=COUNTS,
    ),
    *_named("search.PUCT.seed", _of(_puct, "seed"), seed=LANE_SEEDS),
    *_named(
        "search.PUCT.run",
        lambda **given: _puct().run(_two(), **given),
        temperature=[*NUMBERS, None],
    ),
    *_named(
        "agents.mcts.MCTSAgent",
        lambda **given: MCTSAgent(**{"simulations": 5, **given}),
        simulations=[*COUNTS, 2**21 + 1],
        num_threads=COUNTS,
        exploration=NUMBERS,
        temperature=[*NUMBERS, 0],
    ),
    *_named("arena.tournaments.tournament", _tournament(tournaments.tournament), **TOURNAMENT),
    *_named("arena.tournaments.Tournament", _tournament(tournaments.Tournament), **TOURNAMENT),
    *_named(
        "arena.tournaments.play_match",
        lambda **given: tournaments.play_match("kirche", **{"agents": ["random"] * 2, **given}),
        **PLAYED,
    ),
    *_named(
        "play.session.Session",
        lambda **given: Session("kirche", **{"agents": ["human"] * 2, **given}),
        **PLAYED,
    ),
    Case("play.session.Session.play", "action", ACTIONS, _of(_session, "play")),
    Case("arena.records.record_of", "actions", ACTIONS, _record_of),
    Case(
        "arena.records.record_of",
        "seed",
        SEEDS,
        lambda v: records.record_of(_aec(), v, [], ["a", "b"]),
    ),
    *_named(
        "arena.records.GameRecord",
        lambda **g: records.GameRecord(
            **{
                "game": "kirche-v0",
                "options": {},
                "agents": ["a", "b"],
                "actions": [],
                "seed": 1,
                **g,
            }
        ),
        seed=SEEDS,
        format=[True, 1.0, "1", 2, None],
        options=OPTIONS,
        actions=[[action] for action in ACTIONS],
    ),
    *_named(
        "arena.records.read_records",
        lambda **given: next(records.read_records(RECORD, **given)),
        rules=[*BOOLS, None],
        half_line=[*BOOLS, None],
    ),
    Case("game.lane_seeds", "seed", LANE_SEEDS, lambda value: lane_seeds(value, 2)),
    Case("game.Game.parse_options", "options", [*OPTIONS, None], GAME.parse_options),
    *_named(
        "testing.check_env", lambda **g: check_env(GAME, **g), games=COUNTS, seed=[*SEEDS, None]
    ),
    *_named(
        "testing.check_kernel",
        lambda **given: check_kernel(GAME, **given),
        games=COUNTS,
        seed=[*SEEDS, None],
        allow_floats=[*BOOLS, None],
    ),
    *_named("arena.replay.page", lambda **g: replay.page([], **g), theme=[*WORDS, None]),
    *_named(
        "render.svg.draw",
        _draw,
        viewer=[*INTEGERS, 2],
        size=[*NUMBERS, 0],
        fields=[*BOOLS, None],
        symbols=[*BOOLS, None],
        theme=[*WORDS, None],
        legal=[[action] for action in (*NOT_INTEGERS, -1, HUGE, None)],
    ),
    *_named(
        "render.svg.draw_text",
        lambda **given: svg.draw_text("a", "b", **given),
        size=[*NUMBERS, 0],
        theme=[*WORDS, None],
    ),
    *_named(
        "play.web.WebGame",
        lambda **given: WebGame(_session(), **given),
        think_seconds=[*NUMBERS, 0, 3601, None],
    ),
]


NO_GAMES: list[Any] = [
    5,
    None,
    True,
    b"kirche",
    "chess",
    "",
    "kirche-v9",
    [],
    ["kirche"],
    HUGE,
    int,
]
MAKERS: dict[str, Callable[[Any], object]] = {
    "make_batch": lambda value: tabletop_envs.make_batch(value, 2),
    "BatchEnv": lambda value: BatchEnv(value, 2),
    "TabletopEnv": TabletopEnv,
    "TabletopParallelEnv": TabletopParallelEnv,
    "TabletopGymEnv": TabletopGymEnv,
    "TabletopVectorEnv": TabletopVectorEnv,
    "Search": Search,
    "PUCT": lambda value: PUCT(value, 2, 2),
    "tournament": lambda value: tournaments.tournament(value, ["random", "greedy"], 1),
    "play_match": lambda value: tournaments.play_match(value, ["random"] * 2),
    "Session": lambda value: Session(value, ["human"] * 2),
    "get_game": registry.get_game,
}
CASES += [Case(name, "game", NO_GAMES, make) for name, make in MAKERS.items()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.entry}-{case.argument}")
def test_what_an_argument_cannot_be_is_refused_by_name(case):
    before = _state()
    for value in case.values:
        words = checks.shown(value)
        try:
            case.call(value)
        except (TypeError, ValueError) as error:
            message = str(error)
        else:
            pytest.fail(f"{case.argument}={words} is taken")
        assert (case.named or case.argument) in message, f"{words}: {message}"
        assert len(message) < 500, f"{words}: {message}"
    assert _state() == before


@pytest.mark.parametrize("five", [5, np.int8(5), np.uint64(5), np.array(5), np.array(5, np.uint8)])
def test_numpy_integers_and_arrays_without_dimensions_are_integers(five):
    env = kirche_v0.env(num_houses=five)
    env.reset(seed=five)
    other = kirche_v0.env(num_houses=5)
    other.reset(seed=5)
    assert env.snapshot() == other.snapshot()
    env.step(five)
    other.step(5)
    assert env.snapshot() == other.snapshot()
    batch, plain = BatchEnv(GAME, 2, seed=five), BatchEnv(GAME, 2, seed=5)
    assert (batch.states == plain.states).all()
    assert lane_seeds(five, 2).tolist() == [5, 6]
    assert PUCT("kirche", 2, five, c_puct=five).num_simulations == 5
    assert _vector().reset(seed=five)[0].shape[0] == 2
    assert MCTSAgent(five).name == "mcts:5"


@pytest.mark.parametrize("yes", [True, np.True_, np.array(True)])
def test_numpy_bools_are_bools(yes):
    assert BatchEnv(GAME, 1, check=yes).check is True
    assert tuerme_v0.raw_env(slide=yes).options["slide"] is True


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5)])
def test_numpy_floats_are_numbers(value):
    assert SearchConfig("none", value, 1, 0).exploration == 0.5


# All signatures

# The annotations of arguments that a table can check.
KINDS = ("int", "bool", "float", "int | None", "float | None", "int | Sequence[int] | None")
# Modules and names whose arguments are not looked at, with the reason.
LEFT_OUT = {
    "kernels": "compiled code, whose contract says what it takes",
    "adapters": "tests/adapters/test_arguments.py",
    "networks": "needs PyTorch: tests/adapters/test_foreign_checkpoints.py",
    "registry.add": "made by register, which has checked",
    "registry.register": "the same as register",
    "registry.Registration": "made by register, which has checked",
    "training": "for examples: checkpoints, which its own tests damage",
    "testing.Reference": "a protocol",
    "play.web.": "versions come from the server, which checks them; `serve` hands its port to the system",
    "game.Game.": "what a game implements, called by environments that have checked",
    "game.Option": "a declaration",
    "game.max_plies_option": "a declaration",
    "game.rewards_of_illegal": "called with what has been checked",
    "lanes.": "for environments and adapters, which have checked",
    "play.session.Session.chooser": "called by the page, which has checked",
    "game.lane_seeds": "`num_lanes` is the caller's own",
    "envs.aec.TabletopEnv.put": "takes the engine's own states",
    "envs.opponents.Opponents": "made by environments that have checked",
    "envs.batch.RolloutCounts": "a result",
    "search.SearchResult": "a result",
    "render.svg.draw_symbols": "takes what `draw` takes",
    "arena.tournaments.Plan": "made by Tournament, which has checked",
    "arena.tournaments.Progress": "a result",
    "arena.ratings": "results, and what makes them of checked games",
}


def _signatures() -> Iterator[tuple[str, str]]:
    """Entry points and those of their arguments that are integers, bools or floats."""
    for entry, described in public_api.members(public_api.load()).items():
        if entry.startswith(tuple(set(LEFT_OUT) - {"play.web."})):
            continue
        if entry.startswith("play.web.") and entry != "play.web.WebGame":
            continue
        if isinstance(described, griffe.Function | griffe.Class):
            for one in described.parameters:
                if str(one.annotation) in KINDS:
                    yield entry, one.name


def test_every_public_signature_has_a_case():
    there = {(case.entry, case.argument) for case in CASES}
    missing = sorted({pair for pair in _signatures() if pair not in there})
    assert not missing
