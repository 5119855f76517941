"""JAX: the games as a pure `step`, for jitted search and training, by a callback to the CPU.

The shortest complete script: 32 games in which Gumbel MuZero search (mctx) plays both sides::

    import jax
    import jax.numpy as jnp
    import mctx
    from tabletop_envs.adapters.jax import make_step

    init, step, _ = make_step("kirche", 32, num_houses=1, max_plies=60)

    def evaluate(position):  # a network's logits and value go here
        logits = jnp.where(position.action_mask, 0.0, -1e9)
        return {"prior_logits": logits, "value": jnp.zeros(position.terminated.shape)}

    def recurrent(params, key, actions, before):
        after = step(before.state, actions)
        same = after.current_player == before.current_player
        reward = jnp.take_along_axis(after.rewards, before.current_player[:, None], 1)[:, 0]
        discount = jnp.where(after.terminated, 0.0, jnp.where(same, 1.0, -1.0))  # of two players
        output = mctx.RecurrentFnOutput(reward=reward, discount=discount, **evaluate(after))
        return output, after

    @jax.jit
    def play(position, key):
        root = mctx.RootFnOutput(embedding=position, **evaluate(position))
        found = mctx.gumbel_muzero_policy(
            None, key, root, recurrent, num_simulations=32, invalid_actions=~position.action_mask
        )
        return step(position.state, found.action)

    position, wins = init(jax.random.key(1)), jnp.zeros(2, int)
    for key in jax.random.split(jax.random.key(1), 60):
        position = play(position, key)
        wins += (position.rewards > 0).sum(0)
    print("won by light and dark:", wins)

mctx keeps an `embedding` for each node of its trees: where memory is scarce, give it `state` and
`current_player` alone. A search that uses the states as they are foresees dice and looks into
hidden hands; `deal_hidden` gives it guesses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks
from tabletop_envs.extras import require
from tabletop_envs.game import Game, State, find_game, lane_seeds
from tabletop_envs.kernels import BY_LIMIT, rng
from tabletop_envs.lanes import Lanes

require("jax", "jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["Functions", "Position", "make_step"]


class Position(NamedTuple):
    """Games of any leading shape `(…)`, usually `(N,)`; P players. A pytree.

    Attributes:
        state: `uint8 (…, S)`, the bytes of the games' records: all that `step` needs.
        observation: `int8 (…, L)`, what the player to move sees.
        action_mask: `bool (…, n)`, that player's legal actions; all ones once a game is over.
        current_player: `int32 (…)`, the player to move.
        rewards: `float32 (…, P)`, every player's, of the step that led here: zero unless it ended
            the game.
        terminated: `bool (…)`, whether the game is over.
        by_limit: `bool (…)`, whether `max_plies` ended it.
    """

    state: Any
    observation: Any
    action_mask: Any
    current_player: Any
    rewards: Any
    terminated: Any
    by_limit: Any


class Functions(NamedTuple):
    """What `make_step` gives: functions for use as they are and under `jit`, `vmap` and `lax.scan`.

    Attributes:
        init: `init(seed) -> Position`: new games. `seed` is an integer `s` (lane i of `num_envs` is
            the game of the other environments' `reset(seed=s + i)`), a list with one for each lane,
            or None (fresh entropy). A JAX array of integers, traced or not, is taken modulo 2^32: a
            scalar is `s`, any other shape `(…)` gives games of that shape. A JAX key
            (`jax.random.key`, or `PRNGKey`: arrays of `uint32` are always keys) gives `num_envs`
            games drawn from it, keys of the shape `(…)` one game each.
        step: `step(state, actions) -> Position`: one action (integers `(…)`) in every game of
            `state` (`uint8 (…, S)`).
            An illegal action loses: the game ends, its player gets −1 and the others +1/(P − 1)
            each. A game that is over stays as it is, and rewards are zero.
        deal_hidden: `deal_hidden(state, seeds) -> state`: what the player to move cannot see, and
            dice to come, resampled from `seeds` (integers `(…)` modulo 2^32, or keys as above): a
            guess at the games from that player's seat.

    `step` and `deal_hidden` raise ValueError for a `state` of other options than theirs, or of no
    game, naming the field. In compiled programs JAX shows it as a runtime error of its own with the
    same words.
    """

    init: Any
    step: Any
    deal_hidden: Any


def make_step(game: str | Game, num_envs: int, **options: Any) -> Functions:
    """The functions `(init, step, deal_hidden)` of a game (`Functions` describes them).

    They are pure: what they give depends on their arguments alone. The work is done on the CPU by
    `jax.pure_callback`, for all games of a call at once, also under `vmap`.

    Args:
        game: The game: `"kirche"`, `"kirche-v0"`, …
        num_envs: How many games `init` starts; `step` takes any number.
        **options: The game's options.

    Raises:
        TypeError, ValueError: For an unknown or impossible argument or option, naming it and what
            it must be.
    """
    described = find_game(game)
    count = checks.integer("num_envs", num_envs, 1, 2**31 - 1)
    host = _Host(described, options)

    def init(seed: Any = None) -> Position:
        if not isinstance(seed, jax.Array):
            return Position(*map(jnp.asarray, host.init(lane_seeds(seed, count))))
        seeds = _keys("seed", seed)
        if seeds is None:
            seeds = _require_integers("seed", seed).astype(jnp.uint32)
            if seeds.ndim == 0:
                seeds = seeds + jnp.arange(count, dtype=jnp.uint32)
            words = _words(seeds)
        else:
            words = _drawn_words(seeds, (count,))
        started: Position = _call(host.start, host.shapes(words.shape[:-1]), words)
        return started

    def step(state: Any, actions: Any) -> Position:
        state, actions = jnp.asarray(state), _require_integers("actions", actions)
        host.require_state(state, "actions", actions.shape)
        after: Position = _call(host.step, host.shapes(actions.shape), state, actions)
        return after

    def deal_hidden(state: Any, seeds: Any) -> jax.Array:
        state, keys = jnp.asarray(state), _keys("seeds", seeds)
        if keys is None:
            words = _words(_require_integers("seeds", seeds).astype(jnp.uint32))
        else:
            words = _drawn_words(keys, state.shape[:-1])
        host.require_state(state, "seeds", words.shape[:-1])
        shape = jax.ShapeDtypeStruct(state.shape, jnp.uint8)
        dealt: jax.Array = _call(host.deal_hidden, shape, state, words)
        return dealt

    return Functions(init, step, deal_hidden)


def _call(function: Any, shapes: Any, *arguments: Any) -> Any:
    # The functions take any leading shape: all games that vmap adds are stepped in one call.
    return jax.pure_callback(function, shapes, *arguments, vmap_method="broadcast_all")


def _require_integers(name: str, value: Any) -> jax.Array:
    array = jnp.asarray(value)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    return array


def _keys(name: str, value: Any) -> jax.Array | None:
    """Keys of either kind as typed ones; None for what is none."""
    array = jnp.asarray(value)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return array
    if array.dtype != jnp.uint32 or array.ndim == 0:
        return None
    words = jax.eval_shape(jax.random.PRNGKey, 0).shape[0]
    if array.shape[-1] != words:
        raise ValueError(
            f"{name}: an array of uint32 must be JAX keys (…, {words}), "
            f"not of the shape {array.shape}; integers must be int32 or int64"
        )
    return jax.random.wrap_key_data(array)


# Seeds of 64 bits go to the callbacks as two words, lowest first: JAX has none by default.


def _words(seeds: jax.Array) -> jax.Array:
    return jnp.stack([seeds, jnp.zeros_like(seeds)], -1)


def _drawn_words(keys: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Words drawn from one key for all games of a shape, or from a key for each."""
    if keys.ndim == 0:
        return jax.random.bits(keys, (*shape, 2), jnp.uint32)
    drawn: jax.Array = jax.vmap(lambda key: jax.random.bits(key, (2,), jnp.uint32))(keys.ravel())
    return drawn.reshape(*keys.shape, 2)


class _Host:
    """The callbacks' other side: NumPy arrays in, NumPy arrays out."""

    def __init__(self, game: Game, options: dict[str, Any]) -> None:
        self.game = game
        self.options = game.parse_options(options)
        self.players = game.num_players(self.options)
        self.size = game.kernel.state.itemsize

    def shapes(self, shape: tuple[int, ...]) -> Position:
        """The shapes and types of a position with the leading shape `shape`."""
        kernel = self.game.kernel

        def array(dtype: Any, *inner: int) -> Any:
            return jax.ShapeDtypeStruct((*shape, *inner), dtype)

        return Position(
            array(jnp.uint8, self.size),
            array(jnp.int8, kernel.observation_size),
            array(jnp.bool_, kernel.num_actions),
            array(jnp.int32),
            array(jnp.float32, self.players),
            array(jnp.bool_),
            array(jnp.bool_),
        )

    def require_state(self, state: Any, name: str, shape: tuple[int, ...]) -> None:
        """Raise unless `state` is the bytes of games with the leading shape `shape`."""
        if state.dtype != jnp.uint8:
            raise TypeError(f"state must be uint8, not {state.dtype}")
        if state.shape != (*shape, self.size):
            raise ValueError(
                f"state of {self.game.name} must have the shape (…, {self.size}) and {name} (…), "
                f"not {state.shape} and {shape}"
            )
        if not isinstance(state, jax.core.Tracer):
            # The callbacks check it as well, but their errors reach the user as JAX's.
            self._records(state)

    def init(self, seeds: Any) -> Position:
        """New games, one for each seed."""
        seeds = np.asarray(seeds)
        lanes = Lanes(self.game, seeds.size, self.options)
        lanes.seed(lanes.all_lanes, _flat(seeds, np.uint64))
        lanes.start(lanes.all_lanes)
        return self._show(seeds.shape, lanes)

    def start(self, words: Any) -> Position:
        """New games, one for each seed in two words."""
        return self.init(_seeds(words))

    def step(self, state: Any, actions: Any) -> Position:
        """One action in each game."""
        actions, states = np.asarray(actions), self._records(state)
        lanes = Lanes(self.game, states.size, self.options, states=states)
        over = lanes.over()
        lanes.rewards[over] = 0.0
        lanes.step(np.flatnonzero(~over), _flat(actions, np.int64))
        return self._show(actions.shape, lanes)

    def deal_hidden(self, state: Any, words: Any) -> npt.NDArray[np.uint8]:
        """The states with what their players to move cannot see resampled."""
        states = self._records(state)
        for lane, seed in enumerate(_seeds(words).reshape(-1)):
            own = states[lane : lane + 1]
            self.game.deal_hidden(own, int(own["to_move"][0]), int(rng.from_seed(seed)))
        return states.view(np.uint8).reshape(np.shape(state))

    def _records(self, state: Any) -> State:
        """The games of `uint8 (…, S)`, checked, copied: callbacks must not write to arguments."""
        states = np.array(state, np.uint8, order="C").reshape(-1).view(self.game.kernel.state)
        if states.size:
            self.game.require_states(states, self.options, "state")
        return states

    def _show(self, shape: tuple[int, ...], lanes: Lanes) -> Position:
        kernel, states = self.game.kernel, lanes.states
        observation = np.empty((states.size, kernel.observation_size), np.int8)
        mask = np.empty((states.size, kernel.num_actions), np.bool_)
        lanes.observe(out=(observation, mask))
        return Position(
            states.view(np.uint8).reshape(*shape, self.size),
            observation.reshape(*shape, -1),
            mask.reshape(*shape, -1),
            lanes.seats.astype(np.int32).reshape(shape),
            lanes.rewards.astype(np.float32).reshape(*shape, self.players),
            lanes.over().reshape(shape),
            (states["status"] == BY_LIMIT).reshape(shape),
        )


def _flat(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array, dtype).reshape(-1)


def _seeds(words: Any) -> npt.NDArray[np.uint64]:
    low, high = np.moveaxis(np.asarray(words, np.uint64), -1, 0)
    seeds: npt.NDArray[np.uint64] = low | high << np.uint64(32)
    return seeds
