"""Keys of positions: equal for equal positions, whatever led to them, and else different."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from numba import njit

from tabletop_envs import kernels, make_batch, registry
from tabletop_envs.kernels import engine
from tests.games import each_case, each_game, legal_actions, over, play, raw_env

MASK = 2**64 - 1


def position(env: Any) -> str:
    """What keys stand for, told by the snapshot: without the dice to come, the count of actions and
    what no rule looks at.
    """
    snapshot = env.snapshot()
    snapshot["options"].pop("max_plies")
    for name in ("rng", "ply", "round"):
        snapshot.pop(name, None)
    if env.game.name == "meeples":
        for laid in snapshot["stones"]:
            if laid["stone"][0] == laid["stone"][1]:
                laid["fields"].sort()
    return json.dumps(snapshot, sort_keys=True)


@each_case
def test_keys_are_equal_where_positions_are(name, options):
    env, twin = raw_env(name, **options), raw_env(name, **options)
    keys: dict[str, int] = {}
    for seed in range(4):
        env.reset(seed=seed)
        rng = random.Random(seed)
        while not over(env):
            assert keys.setdefault(position(env), env.key()) == env.key()
            if rng.random() < 0.05:
                twin.restore(env.snapshot())
                assert twin.key() == env.key()
            env.step(rng.choice(legal_actions(env)))
        keys.setdefault(position(env), env.key())
    assert len(set(keys.values())) == len(keys) > 50


@each_game
def test_counts_and_dice_to_come_are_no_part_of_it_and_options_are(name):
    env, other = raw_env(name), raw_env(name)
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 60)
    snapshot = env.snapshot()
    given = {**snapshot, "options": {**snapshot["options"], "max_plies": 5000}}
    given["ply"] += 2
    given.pop("rng", None)
    other.restore(given)
    assert other.key() == env.key()
    twin = env.clone()
    assert twin.key() == env.key()
    keys = {env.key()}
    for option in env.game.options:
        if option.name in ("max_plies", "num_players"):
            continue
        value = not option.default if isinstance(option.default, bool) else option.maximum - 1
        states = env.lane()[0].copy()
        states[option.name] = value
        key = np.zeros(1, np.uint64)
        engine.write_keys(states, key)
        keys.add(int(key[0]))
        assert len(keys) > 1
    assert len(keys) == len(env.game.options) - ("num_players" in env.options)


@pytest.mark.parametrize("name", ["kirche", "tuerme"])
def test_two_orders_of_moves_lead_to_the_same_key(name):
    env = raw_env(name)
    env.reset(seed=1)
    rng = random.Random(1)
    play(env, rng.randrange, 8)
    met = 0
    for _ in range(200):
        one, other = env.clone(), env.clone()
        actions = []
        for _ in range(3):
            actions.append(rng.choice(legal_actions(one)))
            one.step(actions[-1])
        for action in reversed(actions):
            if action not in legal_actions(other):
                break
            other.step(action)
        else:
            if actions[0] != actions[2] and position(one) == position(other):
                met += 1
                assert one.key() == other.key()
    assert met > 5


def test_which_half_of_a_double_lies_first_does_not_matter():
    env, other = raw_env("meeples"), raw_env("meeples")
    env.reset(seed=1)
    play(env, random.Random(1).randrange, 120)
    snapshot = env.snapshot()
    doubles = [laid for laid in snapshot["stones"] if laid["stone"][0] == laid["stone"][1]]
    assert doubles
    for laid in doubles:
        laid["fields"].reverse()
    other.restore(snapshot)
    assert other.key() == env.key()
    assert other.snapshot() != env.snapshot()


@each_game
def test_batches_and_custom_compiled_code_have_the_same_keys(name):
    @njit
    def after(states: Any, action: int) -> int:
        kernels.step(states[0], action)
        return engine.key(states[0])

    batch = make_batch(name, 3, seed=1)
    for _ in range(20):
        batch.step(batch.sample_actions())
    keys = batch.keys()
    assert keys.dtype == np.uint64
    assert keys.tolist() == [batch.to_aec(lane).key() for lane in range(3)]
    action = int(batch.legal_actions()[0][0])
    env = batch.to_aec(0)
    assert type(env.key()) is int
    states = batch.states[:1].copy()
    env.step(action)
    assert int(after(states, action)) == env.key()


@each_game
def test_the_hash_is_that_of_the_record_s_bytes_on_every_machine(name):
    """SplitMix64 of each word, summed: the same on every machine."""
    batch = make_batch(name, 1, seed=1)
    batch.rollout(30)
    kernel = registry.get_game(name).kernel
    # Field by field: what lies between fields does not count.
    state = np.zeros(1, kernel.state)
    for field in kernel.state.names:
        if field not in ("rng", "ply", "max_plies", *kernel.unkeyed):
            state[field] = batch.states[field]
    key = 0
    for place, word in enumerate(np.frombuffer(state.tobytes(), "<u8").tolist(), 1):
        z = word ^ (place * 0x9E3779B97F4A7C15 & MASK)
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        key = (key + (z ^ (z >> 31))) & MASK
    assert key == batch.keys()[0]


def test_a_kernel_leaves_out_only_fields_of_its_own():
    kernel = registry.get_game("kirche").kernel
    for field in ("bishop", "status"):
        other = kernels.Kernel(
            kernel.state, kernel.num_actions, kernel.word_bits, kernel.observation, (field,)
        )
        with pytest.raises(ValueError, match=f"unkeyed='{field}' must be one of the game's own"):
            other.key_masks()
