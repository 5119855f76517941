"""The kernel contract: what a game gives to the engine, stated once.

A kernel is a module with the rules of one game. It gives a NumPy structured dtype, the *state*, and
four jitted functions on one record of it, and hands them to `register`. From then on the generic
names below resolve by the record's type at compile time, in `engine.py` and in a user's own `@njit`
code alike, at no cost a call.

The state has the game's own fields and these, which the engine reads and writes:

==============  ========  ========================================================================
field           dtype     meaning
==============  ========  ========================================================================
`rng`           uint64    the generator's state (`rng.py`): all randomness of the game
`ply`           int32     actions played since the start
`max_plies`     int32     the game ends after this many actions
`to_move`       int8      the player who acts, 0 … num_players − 1
`num_players`   int8      how many players
`status`        int8      `RUNNING`, `TERMINATED`, or `BY_LIMIT` (ended by `max_plies`)
`scores`        int16     array, one for each player: the standing, final once the game is over
==============  ========  ========================================================================

A set of actions is an array of `uint64` words of `word_bits` bits each: action `a` is bit
`a % word_bits` of word `a // word_bits`. A game chooses `word_bits` (1 … 64) so that its planes
fall on words.

- `start(state)`: set up a new game. Options and `rng` are there already; everything else is
  written.
- `legal_actions(state, legal_bits)`: write the set of legal actions of a running game into the
  first `num_words` of `legal_bits` (`uint64`), every one of them; at least one action is legal.
- `step(state, action)`: play a legal action (int64) in a running game, without checking it, and
  keep `ply`, `to_move`, `status` and `scores` up to date. The result of an illegal action is
  undefined, but never out of bounds.
- `observe(state, player, observation)`: write what `player` sees into `observation`
  (`int8[observation_size]`, contiguous), every entry of it, whether the game runs or is over. The
  kernel declares the parts of an observation (`Part`) once: sizes, bounds, named views and the
  manual's table follow, and `offsets` says where each part starts.
- `deal_hidden(state, player, generator)`, only in games that hide something: resample
  what `player` cannot see among all that agrees with what the player has seen, and set `rng` to
  `generator` (uint64). Elsewhere the engine only sets `rng`.

A position's *key* (`engine.key`) is a hash of the state's fields but for `rng`, `ply` and
`max_plies`. What the rules' future depends on must therefore lie in the other fields, and the same
position must have the same bytes there: cells that are no longer in use are cleared, or their field
is named in `Kernel.unkeyed`.

Arrows point one way: kernels know nothing of environments, seeds or spaces.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype
from numba.extending import overload

from tabletop_envs.kernels.compiling import CALLEE, INTERPRETED, KERNELS, code_digest, record_dtype
from tabletop_envs.kernels.fields import check_fields

RUNNING, TERMINATED, BY_LIMIT = 0, 1, 2

# Names for the type checker and readers: one record of a game's state dtype, a set of actions, an
# observation.
State = Any
LegalBits = npt.NDArray[np.uint64]
Observation = npt.NDArray[np.int8]

COMMON_FIELDS: tuple[tuple[str, type], ...] = (
    ("rng", np.uint64),
    ("ply", np.int32),
    ("max_plies", np.int32),
    ("to_move", np.int8),
    ("num_players", np.int8),
    ("status", np.int8),
)
# The common fields that no position's key has: it is the same position later on, with other dice.
UNKEYED = ("rng", "ply", "max_plies")


@dataclass(frozen=True)
class Part:
    """A part of an observation, with the range of its numbers (int8) over all options.

    Its meaning goes into the table of the game's manual.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str = ""
    high: int = 1
    low: int = 0

    @property
    def size(self) -> int:
        """How many numbers the part has."""
        return math.prod(self.shape)


def offsets(parts: Sequence[Part]) -> Any:
    """Where each part starts: a NamedTuple of int64 by the parts' names, for compiled code."""
    starts = accumulate((part.size for part in parts[:-1]), initial=0)
    # Python's integers would take the narrow types of fields that they meet without compiling.
    return namedtuple("Offsets", [part.name for part in parts])(*map(np.int64, starts))


@dataclass(frozen=True)
class Kernel:
    """A registered game: its state's dtype, its set of actions, its observation.

    `unkeyed` names fields of the game's own that a position's key leaves out: what follows from
    other fields, and counters that no rule looks at.
    """

    state: np.dtype[Any]
    num_actions: int
    word_bits: int
    observation: tuple[Part, ...]
    unkeyed: tuple[str, ...] = ()

    @cached_property
    def observation_size(self) -> int:
        """The length of an observation."""
        return sum(part.size for part in self.observation)

    @property
    def num_words(self) -> int:
        """How many words of `word_bits` bits a set of actions takes."""
        return -(-self.num_actions // self.word_bits)

    def key_masks(self) -> npt.NDArray[np.uint64]:
        """The bits of a record, as words of eight bytes, that a position's key is made of.

        ValueError where `unkeyed` names a field that the state does not have, or a common one.
        """
        names, common = self.state.names or (), [name for name, _ in COMMON_FIELDS]
        for name in self.unkeyed:
            if name not in names or name in common:
                raise ValueError(f"unkeyed={name!r} must be one of the game's own fields")
        masks = np.zeros(self.state.itemsize, np.uint8)
        for name in names:
            if name not in (*UNKEYED, *self.unkeyed):
                field, offset = self.state.fields[name][:2]  # type: ignore[index]
                masks[offset : offset + field.itemsize] = 255
        return masks.view(np.uint64)


def state_dtype(
    max_players: int, *fields: tuple[Any, ...], code: str | None = None
) -> np.dtype[Any]:
    """The structured dtype of a state: the game's own fields, widest first, and the common ones.

    Numba keys its on-disk cache on the file that holds a loop and on the types of its arguments, so
    by itself it would not see that a kernel has changed. Therefore the dtype carries a digest of
    the kernels' source, as the title of its field `rng`.

    Args:
        max_players: The length of `scores`.
        *fields: What `numpy.dtype` takes: (name, dtype) or (name, dtype, shape).
        code: The file of a kernel outside this package (`__file__`), for the digest.
    """
    title = f"code {code_digest(*([code] if code else []))}"
    (rng_name, rng_dtype), *common = COMMON_FIELDS
    return record_dtype(
        np.dtype(
            [
                *fields,
                ((title, rng_name), rng_dtype),
                *common,
                ("scores", np.int16, (max_players,)),
            ],
            align=True,
        )
    )


# The functions of the kernels, by generic name and dtype, for `NUMBA_DISABLE_JIT=1`.
_INTERPRETED: dict[tuple[str, np.dtype[Any]], Callable[..., Any]] = {}


def _interpret(name: str, state: State, *arguments: Any) -> Any:
    function = _INTERPRETED.get((name, state.dtype)) if INTERPRETED else None
    if function is None:
        raise TypeError(f"kernels.{name} is for compiled code, on a state whose kernel is imported")
    return function(state, *arguments)


def start(state: State) -> None:
    """Set up a new game in `state` (see the contract above)."""
    _interpret("start", state)


def legal_actions(state: State, legal_bits: LegalBits) -> None:
    """Write the set of legal actions into `legal_bits` (see the contract above)."""
    _interpret("legal_actions", state, legal_bits)


def step(state: State, action: int) -> None:
    """Play a legal action (see the contract above)."""
    _interpret("step", state, action)


def observe(state: State, player: int, observation: Observation) -> None:
    """Write what `player` sees into `observation` (see the contract above)."""
    _interpret("observe", state, player, observation)


def deal_hidden(state: State, player: int, generator: int) -> None:
    """Resample what `player` cannot see, and all randomness to come (see the contract above)."""
    _interpret("deal_hidden", state, player, generator)


def num_actions(state: State) -> int:
    """The size of the action space, a constant of the game."""
    return int(_interpret("num_actions", state))


def word_bits(state: State) -> int:
    """How many actions a word of a set of actions holds, a constant of the game."""
    return int(_interpret("word_bits", state))


def observation_size(state: State) -> int:
    """The length of an observation, a constant of the game."""
    return int(_interpret("observation_size", state))


def key_masks(state: State) -> npt.NDArray[np.uint64]:
    """`Kernel.key_masks`, a constant of the game."""
    masks: npt.NDArray[np.uint64] = _interpret("key_masks", state)
    return masks


def _deal_chance(state: State, player: int, generator: int) -> None:
    state.rng = generator


def register(
    kernel: Kernel,
    *,
    start_function: Any,
    legal_actions_function: Any,
    step_function: Any,
    observe_function: Any,
    deal_hidden_function: Any = None,
) -> Kernel:
    """Make the generic functions work on records of the dtype `kernel.state`; returns `kernel`.

    Called once by every kernel, at the end of its file. The functions are chosen by the record's
    type, so that the engine's compiled loops need neither closures nor function arguments: both
    would keep them out of the on-disk cache.

    Compiling raises TypeError, with file and line, where one of the functions names a field that
    the state does not have.
    """
    record = from_dtype(kernel.state)
    module = start_function.__module__
    own = module.removeprefix(f"{__name__}.")
    KERNELS[record] = module if own == module else own.partition(".")[0]
    # (A game's functions may allocate arrays.)
    options = {**CALLEE, "forceinline": True, "_nrt": True}

    def resolve(generic: Callable[..., Any], function: Callable[..., Any]) -> None:
        # The plain function behind a jitted one: an overload is compiled within its caller.
        implementation = getattr(function, "py_func", function)
        _INTERPRETED[generic.__name__, kernel.state] = implementation

        def implementation_for(state, *others):  # type: ignore[no-untyped-def]
            if state != record:
                return None
            # Called where something is compiled; what comes from the cache has passed.
            check_fields(implementation, kernel.state.names or ())
            return implementation

        overload(generic, strict=False, jit_options=options)(implementation_for)

    resolve(start, start_function)
    resolve(legal_actions, legal_actions_function)
    resolve(step, step_function)
    resolve(observe, observe_function)
    resolve(deal_hidden, deal_hidden_function or _deal_chance)
    actions, bits, size = kernel.num_actions, kernel.word_bits, kernel.observation_size
    resolve(num_actions, lambda state: actions)
    resolve(word_bits, lambda state: bits)
    resolve(observation_size, lambda state: size)
    masks = kernel.key_masks()
    resolve(key_masks, lambda state: masks)
    return kernel
