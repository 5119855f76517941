"""The same work on other libraries: random legal play with new games after the end, observation and
mask every step.

Each work is that library's fastest way that we found; README.md says what else was tried. A library
is imported only when a work of it is made.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measuring import Case, Work
from benchmarks.works import (
    OURS,
    SEED,
    aec_work,
    batch_work,
    loop_work,
    make_aec,
    make_lanes,
    rollout_work,
)
from tabletop_envs import registry

# Every library: the modules it needs, and how to get them.
NEEDS = {
    OURS: (("tabletop_envs",), ""),
    "pgx": (("pgx", "jax"), "pip install pgx jax"),
    "open_spiel": (("pyspiel",), "pip install open_spiel"),
    "pettingzoo": (("pettingzoo", "pygame"), "pip install pettingzoo pygame"),
}
PGX_GAMES = ("connect_four", "hex", "othello", "backgammon", "animal_shogi")
OPEN_SPIEL_GAMES = ("connect_four", "breakthrough", "hex", "backgammon")


def missing(library: str) -> str | None:
    """Why a library cannot be measured here; None if it can."""
    modules, command = NEEDS[library]
    absent = [module for module in modules if find_spec(module) is None]
    return f"{library} is left out: no {' and no '.join(absent)} ({command})" if absent else None


def cases_of(library: str, threads: int, lanes: list[int]) -> list[Case]:
    """What is measured on a library.

    OpenSpiel and PettingZoo hold Python's lock and have no batches: one lane, one thread.
    """
    if library == OURS:
        games = ("connect_four", *registry.game_names())
        cases = [
            Case(what, OURS, game, count, threads)
            for what in (("batch", "loop", "rollout") if threads == 1 else ("batch", "rollout"))
            for count in lanes
            for game in games
        ]
        alone = [Case("aec", OURS, game) for game in registry.game_names()]
        return cases + (alone if threads == 1 else [])
    if library == "pgx":
        # Compiling takes seconds a case: one game is enough to see what calls from Python cost.
        return [
            Case(what, "pgx", game, count, threads)
            for count in lanes
            for what, games in (("batch", PGX_GAMES[:1]), ("loop", PGX_GAMES))
            for game in games
        ]
    if threads > 1:
        return []
    if library == "open_spiel":
        return [
            Case(what, "open_spiel", game)
            for what in ("batch", "rollout")
            for game in OPEN_SPIEL_GAMES
        ]
    return [Case("aec", "pettingzoo", "connect_four")]


def make_work(case: Case) -> Work:
    """The work of a case of any library."""
    return _MAKERS[case.library](case)


def _our_work(case: Case) -> Work:
    if case.what == "aec":
        return aec_work(make_aec(case.game))
    if case.what == "loop":
        return loop_work(case.game, case.lanes)
    batch = make_lanes(case.game, case.lanes, num_threads=case.threads)
    return rollout_work(batch) if case.what == "rollout" else batch_work(batch)


def _pettingzoo_work(case: Case) -> Work:
    module = importlib.import_module(f"pettingzoo.classic.{case.game}_v3")
    return aec_work(module.env())


def _pgx_work(case: Case) -> Work:
    """Compiled steps of all lanes: called from Python one by one ("batch"), or in a compiled loop
    ("loop").

    Faster than `pgx.experimental`'s `act_randomly` and `auto_reset`: the choice takes one random
    number a lane, not one an action, and finished games become copies of one fresh state a step;
    one key serves all lanes of a step. The loop carries the whole states on, so that observations
    and masks are written at every step.
    """
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    pgx: Any = importlib.import_module("pgx")
    env = pgx.make(case.game)
    lanes = case.lanes
    step_lanes = jax.vmap(env.step, in_axes=(0, 0, None))

    def choose(key: Any, mask: Any) -> Any:
        counts = jnp.cumsum(mask, axis=1, dtype=jnp.int32)
        chosen = jax.random.uniform(key, (lanes, 1)) * counts[:, -1:]
        return jnp.argmax(counts > chosen.astype(jnp.int32), axis=1).astype(jnp.int32)

    def step(_: Any, carry: Any) -> Any:
        state, key = carry
        key, choice_key, step_key, start_key = jax.random.split(key, 4)
        action = choose(choice_key, state.legal_action_mask)
        nobody = jnp.zeros(lanes, jnp.bool_)
        state = state.replace(
            terminated=nobody, truncated=nobody, rewards=jnp.zeros_like(state.rewards)
        )
        state = step_lanes(state, action, step_key)
        over = state.terminated | state.truncated
        # The result of a finished game stays readable, as in a batch of this library.
        fresh = jax.tree.map(jnp.asarray, env.init(start_key))
        fresh = fresh.replace(
            terminated=state.terminated, truncated=state.truncated, rewards=state.rewards
        )

        def choose_fresh(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape((lanes,) + (1,) * (old.ndim - 1)), new, old)

        return jax.tree.map(choose_fresh, fresh, state), key

    step_once = jax.jit(lambda carry: step(0, carry))
    step_often = jax.jit(lambda carry, steps: jax.lax.fori_loop(0, steps, step, carry))
    keys = jax.random.split(jax.random.key(SEED), lanes)
    carry = [(jax.jit(jax.vmap(env.init))(keys), jax.random.key(SEED + 1))]

    def work(steps: int) -> int:
        if case.what == "loop":
            carry[0] = step_often(carry[0], steps)
        else:
            for _ in range(steps):
                carry[0] = step_once(carry[0])
        jax.block_until_ready(carry[0])
        return steps * lanes

    return work


def _open_spiel_work(case: Case) -> Work:
    pyspiel: Any = importlib.import_module("pyspiel")
    game = pyspiel.load_game(case.game)
    return _open_spiel_bots(pyspiel, game) if case.what == "rollout" else open_spiel_loop(game)


def _open_spiel_bots(pyspiel: Any, game: Any) -> Work:
    """Whole games between its compiled random bots: no observations, no masks."""
    bots = [pyspiel.make_uniform_random_bot(player, SEED) for player in range(game.num_players())]
    seeds = random.Random(SEED)

    def work(steps: int) -> int:
        played = 0
        while played < steps:
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, seeds.getrandbits(30))
            played += sum(move.player >= 0 for move in state.full_history())
        return played

    return work


def open_spiel_loop(game: Any) -> Work:
    """A Python loop over states; its observer writes into one array, faster than lists of new
    numbers.
    """
    observation = importlib.import_module("open_spiel.python.observation").make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), np.bool_)
    chance = random.Random(SEED)

    def work(steps: int) -> int:
        played = 0
        state = game.new_initial_state()
        while played < steps:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(chance.choices(outcomes, weights)[0])
            else:
                observation.set_from(state, state.current_player())
                legal = state.legal_actions()
                mask[:] = False
                mask[legal] = True
                state.apply_action(legal[int(chance.random() * len(legal))])
                played += 1
        return played

    return work


_MAKERS: dict[str, Callable[[Case], Work]] = {
    OURS: _our_work,
    "pgx": _pgx_work,
    "open_spiel": _open_spiel_work,
    "pettingzoo": _pettingzoo_work,
}
