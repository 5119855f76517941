"""JAX: the pure step, alone, under the transformations, beside the AEC environment, and under mctx."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs the extra jax")

import jax
import jax.numpy as jnp

from tabletop_envs import registry
from tabletop_envs.adapters import jax as adapter
from tabletop_envs.adapters.jax import Position, make_step
from tests.adapters.common import guarded, import_error_without, run_script, scripts
from tests.games import each_case, each_game, over, raw_env

# A square that is no corner: illegal as kirche's first action.
ILLEGAL = 1


def first_legal(position: Position) -> Any:
    return position.action_mask.argmax(-1)


def random_legal(key: Any, position: Position) -> Any:
    return jax.random.categorical(key, jnp.where(position.action_mask, 0.0, -1e9))


def equal(one: Any, other: Any) -> None:
    for name, own, others in zip(Position._fields, one, other, strict=True):
        assert own.dtype == others.dtype, name
        np.testing.assert_array_equal(own, others, name)


def shown(env: Any, agent: str) -> tuple[Any, Any]:
    seen = env.observe(agent)
    return seen["observation"], seen["action_mask"]


# The same games as elsewhere


@each_case
def test_plays_the_games_of_the_aec_environment(name, options):
    """Lane i is the environment's game with the seed s + i, from the start past the end."""
    options = {**options, "max_plies": min(options.get("max_plies", 60), 60)}
    init, step, _ = make_step(name, 3, **options)
    position, envs = init(2**63), [raw_env(name, **options) for _ in range(3)]
    for lane, env in enumerate(envs):
        env.reset(seed=2**63 + lane)
    rng = np.random.default_rng(1)
    for _ in range(62):
        actions = []
        for lane, env in enumerate(envs):
            observation, mask = shown(env, env.agent_selection)
            if not over(env):
                assert (
                    env.possible_agents[int(position.current_player[lane])] == env.agent_selection
                )
                np.testing.assert_array_equal(position.observation[lane], observation)
            np.testing.assert_array_equal(position.action_mask[lane], mask)
            assert bool(position.terminated[lane]) is env.terminations["player_0"]
            assert not env.truncations["player_0"]
            assert bool(position.by_limit[lane]) is (
                over(env) and env.snapshot()["outcome"]["by_limit"]
            )
            actions.append(rng.choice(np.flatnonzero(np.asarray(position.action_mask[lane]))))
        before = [over(env) for env in envs]
        if not all(before):
            with guarded() as guard:
                position = step(position.state, jnp.array(actions))
            assert guard.actions == before.count(False)
        else:
            position = step(position.state, jnp.array(actions))
        for lane, env in enumerate(envs):
            if before[lane]:
                assert not position.rewards[lane].any()
                continue
            env.step(actions[lane])
            rewards = [env.rewards[agent] for agent in env.possible_agents]
            np.testing.assert_allclose(position.rewards[lane], rewards, rtol=1e-6)
    assert all(over(env) for env in envs)


@each_game
def test_what_is_over_stays_as_it_is(name):
    init, step, _ = make_step(name, 2, max_plies=2)
    position = init(1)
    while not position.by_limit.all():
        position = step(position.state, first_legal(position))
    after = step(position.state, jnp.array([0, -5]))
    equal(after, position._replace(rewards=jnp.zeros_like(position.rewards)))


@each_game
def test_seeds_are_exact(name):
    init, step, _ = make_step(name, 4)
    for seed in ([7, 8, 9, 10], np.uint64(7), jnp.uint32(7), jnp.arange(7, 11)):
        equal(init(seed), init(7))
    equal(jax.jit(init)(jnp.uint32(7)), init(7))
    grid = init(jnp.arange(7, 11).reshape(2, 2))
    assert grid.state.shape[:2] == (2, 2)
    np.testing.assert_array_equal(grid.state.reshape(4, -1), init(7).state)
    if name != "kirche":
        assert (init(None).state != init(None).state).any()
        assert (init(7).state[1:] == init(8).state[:-1]).all()
    with pytest.raises(ValueError, match=r"uint32 must be JAX keys .*not of the shape \(3,\)"):
        init(jnp.zeros(3, jnp.uint32))
    # The rng is part of the state: what follows is the same, too.
    one, two = init(7), init(7)
    for _ in range(30):
        one, two = step(one.state, first_legal(one)), jax.jit(step)(two.state, first_legal(two))
        equal(one, two)


@pytest.mark.parametrize("make_key", [jax.random.key, jax.random.PRNGKey])
def test_a_key_gives_different_games(make_key):
    """The habit from Pgx: every game its own, the same ones for the same key."""
    init, _, deal_hidden = make_step("meeples", 64, num_players=3)

    def different(states: Any) -> int:
        return len({state.tobytes() for state in np.asarray(states).reshape(-1, states.shape[-1])})

    start = init(make_key(0))
    assert start.state.shape[0] == different(start.state) == 64
    equal(init(make_key(0)), start)
    equal(jax.jit(init)(make_key(0)), start)
    assert different(jnp.concatenate([start.state, init(make_key(1)).state])) == 128
    # Keys give a game each, as they are and by `vmap` of one game.
    keys = jax.random.split(make_key(3), 5)
    alone, _, _ = make_step("meeples", 1, num_players=3)
    many = init(keys)
    assert many.state.shape[0] == different(many.state) == 5
    assert different(jax.vmap(alone)(keys).state) == 5
    # So do guesses.
    root = jnp.broadcast_to(start.state[0], start.state.shape)
    guesses = deal_hidden(root, make_key(0))
    assert different(guesses) == 64
    np.testing.assert_array_equal(jax.jit(deal_hidden)(root, make_key(0)), guesses)
    assert different(deal_hidden(root[:5], keys)) == 5


# Transformations


@each_game
def test_jit_vmap_and_scan_agree(name):
    init, step, _ = make_step(name, 6)
    position = init(3)
    plain, keys = position, jax.random.split(jax.random.key(1), 20)

    def advance(position: Position, key: Any) -> tuple[Position, Any]:
        after = step(position.state, random_legal(key, position))
        return after, after.rewards

    for key in keys:
        plain, _ = advance(plain, key)
    scanned, rewards = jax.jit(lambda start: jax.lax.scan(advance, start, keys))(position)
    assert rewards.shape == (20, 6, plain.rewards.shape[1])
    equal(scanned, plain)
    actions = first_legal(plain)
    after = step(plain.state, actions)
    equal(jax.vmap(step)(plain.state, actions), after)
    halves = jax.jit(jax.vmap(step))(plain.state.reshape(2, 3, -1), actions.reshape(2, 3))
    equal(jax.tree.map(lambda half: half.reshape(6, *half.shape[2:]), halves), after)
    # One state, many actions: as a search expands a root.
    spread = jax.vmap(step, in_axes=(None, 0))(plain.state[0], jnp.stack([actions[0]] * 3))
    equal(jax.tree.map(lambda row: row[2], spread), jax.tree.map(lambda row: row[0], after))
    alone = step(plain.state[0], actions[0])
    equal(alone, jax.tree.map(lambda row: row[0], after))


def test_a_step_leaves_its_arguments_alone():
    init, step, _ = make_step("tuerme", 3)
    position = init(1)
    state = np.array(position.state)
    after = step(position.state, first_legal(position))
    step(after.state, first_legal(after))
    np.testing.assert_array_equal(position.state, state)
    # Nor does the callback, which may be given memory that others read.
    host, writable = adapter._Host(registry.get_game("tuerme"), {}), state.copy()
    host.step(writable, np.asarray(first_legal(position)))
    host.deal_hidden(writable, np.zeros((3, 2), np.uint32))
    np.testing.assert_array_equal(writable, state)


# What is hidden


def test_guesses_deal_anew_what_cannot_be_seen():
    init, step, deal_hidden = make_step("meeples", 5, num_players=3)
    position = init(1)
    seeds = jnp.arange(5)
    guess = deal_hidden(position.state, seeds)
    np.testing.assert_array_equal(jax.jit(deal_hidden)(position.state, seeds), guess)
    assert (deal_hidden(position.state, seeds + 5) != guess).any(-1).all()
    assert (guess != position.state).any(-1).all()
    # The player to move sees no difference: look by a step that nobody can make, which ends the
    # game.
    for state in (guess, position.state):
        assert step(state, jnp.full(5, -1)).terminated.all()
    own, guessed = (step(state, jnp.full(5, -1)).observation for state in (position.state, guess))
    np.testing.assert_array_equal(guessed, own)


# What is not allowed


@each_case
def test_an_illegal_action_loses(name, options):
    init, step, _ = make_step(name, 3, **options)
    position, state = init(1), registry.get_game(name).kernel.state
    while position.current_player[1] == 0:
        position = step(position.state, first_legal(position))
    actions = np.array(first_legal(position))
    illegal = int(np.flatnonzero(~np.asarray(position.action_mask[1]))[0])
    for action in (illegal, -1, position.action_mask.shape[1]):
        actions[1] = action
        after = step(position.state, actions)
        # Nothing has been played: the game has ended, else it is as it was.
        old, new = (np.array(one.state[1]).view(state)[0] for one in (position, after))
        assert [field for field in state.names if (old[field] != new[field]).any()] == ["status"]
        mover, players = int(position.current_player[1]), after.rewards.shape[1]
        expected = np.full(players, 1 / (players - 1), np.float32)
        expected[mover] = -1
        np.testing.assert_array_equal(after.rewards[1], expected)
        assert after.terminated.tolist() == [False, True, False]
        assert after.action_mask[1].all()
        assert not after.rewards[::2].any()
        assert not step(after.state, actions).rewards[1].any()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: make_step("chess", 2), ValueError, "no game 'chess'"),
        (lambda: make_step("kirche", 0), ValueError, "num_envs=0"),
        (lambda: make_step("kirche", "2"), TypeError, "num_envs='2'"),
        (lambda: make_step("kirche", 2, num_houses=9), ValueError, "num_houses=9"),
        (lambda: make_step("kirche", 2, colour=1), TypeError, "colour"),
        (lambda: make_step("kirche", 2).init(-1), ValueError, "seed=-1"),
        (lambda: make_step("kirche", 2).init([1]), ValueError, "1 numbers for 2 lanes"),
        (lambda: make_step("kirche", 2).init(jnp.float32(1)), TypeError, "float32"),
        (lambda: call_step(actions=jnp.zeros(2)), TypeError, "float32"),
        (lambda: call_step(actions=jnp.zeros(3, int)), ValueError, "(3,)"),
        (lambda: call_step(size=1), ValueError, "(2, 1)"),
        (lambda: call_step(dtype=jnp.int8), TypeError, "int8"),
        (lambda: call_step(dtype=jnp.bool_), TypeError, "bool"),
    ],
)
def test_impossible_arguments_are_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def call_step(actions: Any = (0, 0), size: int | None = None, dtype: Any = jnp.uint8) -> Any:
    init, step, _ = make_step("kirche", 2)
    return step(init(1).state[:, :size].astype(dtype), jnp.asarray(actions))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("field", "others"),
    [
        ("num_players", {"num_players": 4}),
        ("max_plies", {"max_plies": 9}),
        ("slide", {"slide": True}),
    ],
)
def test_states_of_other_options_are_refused(field, others, compiled):
    """By a ValueError, under `jit` by JAX's own error with its words; never by a crash."""
    init, _, _ = make_step("tuerme", 64, **others)
    _, step, deal_hidden = make_step("tuerme", 64)
    position = init(1)
    arguments = position.state, first_legal(position)
    error = jax.errors.JaxRuntimeError if compiled else ValueError
    for function in (step, deal_hidden):
        run = jax.jit(function) if compiled else function
        with pytest.raises(error, match=rf"state of tuerme: {field}=\d+ must be"):
            jax.block_until_ready(run(*arguments))


def test_bytes_that_are_no_game_are_refused():
    init, step, _ = make_step("kirche", 2)
    state = jnp.zeros_like(init(1).state)
    with pytest.raises(ValueError, match=r"state of kirche: .*must be"):
        step(state, jnp.zeros(2, int))


def test_absent_package_names_the_extra():
    message = import_error_without("jax", "tabletop_envs.adapters.jax")
    assert "tabletop-envs[jax]" in message


# Search


def test_the_script_of_the_docstring_searches():
    """Gumbel MuZero search: the tree tries illegal actions, the moves that are played are legal."""
    pytest.importorskip("mctx", reason="needs the extra jax")
    output = io.StringIO()
    with guarded() as guard, contextlib.redirect_stdout(output):
        names = run_script(
            scripts(adapter)[0],
            ('"kirche", 32, num_houses=1, max_plies=60', '"meeples", 3, max_plies=12'),
            ("num_simulations=32", "num_simulations=8"),
            ("split(jax.random.key(1), 60)", "split(jax.random.key(1), 13)"),
        )
    assert "won by light and dark" in output.getvalue()
    assert guard.actions > 3 * 12 * 8 / 2
    assert names["position"].by_limit.all()
    # What the tree is told: nothing beyond the end, and values of who moves next with their sign.
    position, turns = names["init"](3), set()
    for _ in range(12):
        output, after = names["recurrent"](None, None, first_legal(position), position)
        mover, following = position.current_player, after.current_player
        own = jnp.take_along_axis(after.rewards, mover[:, None], 1)[:, 0]
        np.testing.assert_array_equal(output.reward, own)
        assert (abs(output.reward) <= 1).all()
        signs = np.where(after.terminated, 0, np.where(mover == following, 1, -1))
        np.testing.assert_array_equal(output.discount, signs)
        turns |= set(signs.tolist())
        position = after
    assert position.by_limit.all()
    assert turns == {-1, 0, 1}


def test_muzero_search_plays_a_move_that_wins():
    """Where one action wins and others do not, search by the true rewards finds it; masks are kept."""
    mctx = pytest.importorskip("mctx", reason="needs the extra jax")
    init, step, _ = make_step("kirche", 1, num_houses=1)
    states = winning_states(init, step)

    def evaluate(position: Position) -> dict[str, Any]:
        logits = jnp.where(position.action_mask, 0.0, -1e9)
        return {"prior_logits": logits, "value": jnp.zeros(position.terminated.shape)}

    def recurrent(params: Any, key: Any, actions: Any, before: Position) -> Any:
        after = step(before.state, actions)
        reward = jnp.take_along_axis(after.rewards, before.current_player[:, None], 1)[:, 0]
        discount = jnp.where(after.terminated, 0.0, -1.0)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, **evaluate(after)), after

    root = mctx.RootFnOutput(embedding=states, **evaluate(states))
    for policy in (mctx.gumbel_muzero_policy, mctx.muzero_policy):
        extra = {"dirichlet_fraction": 0.0} if policy is mctx.muzero_policy else {}
        if policy is mctx.gumbel_muzero_policy:
            extra = {"max_num_considered_actions": 64}
        found = jax.jit(
            lambda root, policy=policy, extra=extra: policy(
                None,
                jax.random.key(1),
                root,
                recurrent,
                num_simulations=64,
                invalid_actions=~root.embedding.action_mask,
                **extra,
            )
        )(root)
        legal = jnp.take_along_axis(states.action_mask, found.action[:, None], 1)
        assert legal.all()
        after = step(states.state, found.action)
        mover = states.current_player[:, None]
        assert (jnp.take_along_axis(after.rewards, mover, 1) == 1).all()


def winning_states(init: Any, step: Any, count: int = 2) -> Position:
    """Positions in which some actions win, found by trying all actions in random games."""

    @jax.jit
    def advance(position: Position, key: Any) -> Any:
        actions = jnp.arange(position.action_mask.shape[1])
        tried = jax.vmap(step, in_axes=(None, 0))(position.state[0], actions)
        wins = tried.rewards[:, position.current_player[0]] == 1
        return wins, step(position.state, random_legal(key, position))

    found: list[Position] = []
    position = init(1)
    for key in jax.random.split(jax.random.key(5), 2000):
        wins, after = advance(position, key)
        if wins.any():
            found.append(position)
        if len(found) == count:
            return jax.tree.map(lambda *rows: jnp.concatenate(rows), *found)
        position = init(1) if after.terminated[0] else after
    raise AssertionError("random games led to too few positions with a winning action")
