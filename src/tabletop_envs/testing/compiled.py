"""A kernel's functions, each compiled by itself and called on guarded memory."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import int64, njit, typeof, uint64

from tabletop_envs import kernels
from tabletop_envs.game import State
from tabletop_envs.kernels import Kernel
from tabletop_envs.testing import signs
from tabletop_envs.testing.contract import ContractError, Played

# Unrelated memory is filled with these before two calls; differing results mean it was read.
FILLS = (0x00, 0xA5)
# Bytes before and behind everything that a function writes to.
GUARD = 4096
# Floats in compiled code, in LLVM's words.
_FLOATS = re.compile(r"\b(sitofp|uitofp|fptosi|fptoui|fadd|fsub|fmul|fdiv|fcmp)\b")

Words = npt.NDArray[np.uint64]
Observation = npt.NDArray[np.int8]


def _start(states, words, number, observation, generator):  # type: ignore[no-untyped-def]
    kernels.start(states[0])


def _legal_actions(states, words, number, observation, generator):  # type: ignore[no-untyped-def]
    kernels.legal_actions(states[0], words)


def _step(states, words, number, observation, generator):  # type: ignore[no-untyped-def]
    kernels.step(states[0], number)


def _observe(states, words, number, observation, generator):  # type: ignore[no-untyped-def]
    kernels.observe(states[0], number, observation)


def _deal_hidden(states, words, number, observation, generator):  # type: ignore[no-untyped-def]
    kernels.deal_hidden(states[0], number, generator)


_FUNCTIONS = {
    "start": _start,
    "legal_actions": _legal_actions,
    "step": _step,
    "observe": _observe,
    "deal_hidden": _deal_hidden,
}


@functools.cache
def _compiled(kernel: Kernel, name: str, allow_floats: bool) -> Callable[..., None]:
    """One of a kernel's functions, compiled in every process: Numba shows only fresh code."""
    states = np.zeros(1, kernel.state)
    words, observation = np.zeros(1, np.uint64), np.zeros(1, np.int8)
    function: Any = njit(_FUNCTIONS[name])
    where = f"the kernel with {kernel.num_actions} actions"
    try:
        function.compile((typeof(states), typeof(words), int64, typeof(observation), uint64))
    except Exception as error:  # Numba raises errors of many kinds.
        raise ContractError(
            f"{name}: it is registered (kernels.register) and Numba compiles it",
            f"{type(error).__name__}: {str(error).strip()}",
            where,
        ) from error
    mixed = next(signs.mixed_bits(function, kernel.state), None)
    if mixed:
        raise ContractError(
            f"{name}: bits are those of uint64, for Numba makes int64 of uint64 and a signed "
            "integer, whose bit 63 is a sign (write np.uint64(1) << …, fields as np.uint64)",
            mixed,
            where,
        )
    if not allow_floats:
        code = function.inspect_llvm(function.signatures[0])
        floats = sorted({match.group() for match in _FLOATS.finditer(code)})
        if floats:
            made = "; ".join(dict.fromkeys(signs.floats(function, kernel.state)))
            raise ContractError(
                f"{name}: it calculates with integers "
                "(signed and unsigned 64-bit operands mixed can give floats in Numba)",
                f"the compiled code has {', '.join(floats)}{made and ': ' + made}",
                where,
            )
    compiled: Callable[..., None] = function
    return compiled


@functools.cache
def _field_bytes(dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Which bytes of a record belong to a field: the others are padding."""
    used = np.zeros(dtype.itemsize, np.bool_)
    for field in (dtype.fields or {}).values():
        used[field[1] : field[1] + field[0].itemsize] = True
    return used


def _bytes_of(states: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return states.view(np.uint8)


def differing_fields(one: State, other: State) -> list[str]:
    """The fields in which two states differ; bytes between fields do not count."""
    if not ((_bytes_of(one) != _bytes_of(other)) & _field_bytes(one.dtype)).any():
        return []
    names = one.dtype.names or ()
    return [name for name in names if not np.array_equal(one[name], other[name])]


def actions_of(kernel: Kernel, words: Words) -> list[int]:
    """The actions that a kernel's words say are legal, ascending."""
    return [
        index * kernel.word_bits + bit
        for index, word in enumerate(words.tolist())
        for bit in range(word.bit_length())
        if word >> bit & 1
    ]


class Rules:
    """The functions of a kernel on states of one record each, without side effects.

    Every call is made twice, with other bytes in all memory that the function is not to read: the
    results must be the same, and nothing may be written but what the contract says.

    Raises (all methods):
        ContractError: Where a promise is broken.
    """

    def __init__(self, kernel: Kernel, played: Played, allow_floats: bool = False) -> None:
        self.kernel = kernel
        self.played = played
        self._allow_floats = allow_floats
        size = kernel.state.itemsize
        margin = -(-GUARD // size)
        # The state, the words and the observation, each with memory around it that must stay.
        self._memory = np.zeros((2 * margin + 1) * size, np.uint8)
        self._states = self._memory.view(kernel.state)[margin : margin + 1]
        self._word_memory = np.zeros(8 * kernel.num_words + 2 * GUARD, np.uint8)
        self._words = self._word_memory[GUARD:-GUARD].view(np.uint64)
        self._bytes = np.zeros(kernel.observation_size + 2 * GUARD, np.uint8)
        self._observation = self._bytes[GUARD:-GUARD].view(np.int8)
        # By function: what it writes to, the memory, and the margin around what it may write.
        own = ("its own state", self._memory, margin * size)
        self._guarded = {
            **dict.fromkeys(("start", "step", "deal_hidden"), (own,)),
            "legal_actions": (own, ("its words", self._word_memory, GUARD)),
            "observe": (own, ("its observation", self._bytes, GUARD)),
        }

    def start(self, state: State, kept: tuple[str, ...]) -> State:
        """The state after `start`, which may read the fields in `kept` alone."""
        results = []
        for fill in FILLS:
            garbage = np.frombuffer(
                bytearray([fill]) * self.kernel.state.itemsize, self.kernel.state
            )
            for name in kept:
                garbage[name] = state[name]
            results.append(self._call("start", garbage, 0, fill=fill))
        return self._same(
            "start", "it writes every field but the options, reading them and rng alone", *results
        )

    def legal_actions(self, state: State) -> Words:
        """The words that `legal_actions` writes: `uint64[num_words]`."""
        return self._written(
            "legal_actions", state, 0, self._words, f"all {self.kernel.num_words} words"
        )

    def step(self, state: State, action: int) -> State:
        """The state after an action."""
        results = [self._call("step", state, action, fill=fill) for fill in FILLS]
        return self._same("step", "the same state and action lead to the same state", *results)

    def step_illegally(self, state: State, action: int) -> None:
        """Play an action that is not legal, which may lead anywhere but out of bounds."""
        self._call("step", state, action, fill=FILLS[1])

    def observe(self, state: State, player: int) -> Observation:
        """What `observe` writes: `int8[observation_size]`."""
        return self._written("observe", state, player, self._observation, "every entry")

    def _written(
        self, name: str, state: State, number: int, array: npt.NDArray[Any], all_of_it: str
    ) -> npt.NDArray[Any]:
        """What a function writes into an array, leaving the state as it is."""
        written = []
        for fill in FILLS:
            fields = differing_fields(state, self._call(name, state, number, fill=fill))
            self.played.require(
                not fields,
                f"{name}: it leaves the state as it is",
                f"it changes {', '.join(fields)}",
            )
            written.append(array.copy())
        wrong = np.flatnonzero(written[0] != written[1])
        self.played.require(
            not wrong.size,
            f"{name}: it writes {all_of_it}, and reads nothing but the state",
            f"{wrong.size} depend on what was there before, the first of them number {wrong[:1]}",
        )
        return written[0]

    def deal_hidden(self, state: State, player: int, generator: int) -> State:
        """The state after what `player` cannot see has been resampled."""
        results = [self._call("deal_hidden", state, player, generator, fill=fill) for fill in FILLS]
        return self._same("deal_hidden", "all its randomness comes from the generator", *results)

    def _call(
        self, name: str, state: State, number: int, generator: int = 0, *, fill: int
    ) -> State:
        guarded = self._guarded[name]
        for _, memory, _ in guarded:
            memory[:] = fill
        np.copyto(_bytes_of(self._states), _bytes_of(state), where=_field_bytes(state.dtype))
        function = _compiled(self.kernel, name, self._allow_floats)
        function(self._states, self._words, number, self._observation, np.uint64(generator))
        for what, memory, margin in guarded:
            guard = bytes([fill]) * margin
            if memory[:margin].tobytes() != guard or memory[-margin:].tobytes() != guard:
                self.played.fail(
                    f"{name}: it writes to nothing but {what}",
                    "memory before or behind it has changed",
                )
        return np.frombuffer(bytearray(self._states.tobytes()), self.kernel.state)

    def _same(self, name: str, promise: str, one: State, other: State) -> State:
        fields = differing_fields(one, other)
        self.played.require(
            not fields,
            f"{name}: {promise}",
            f"{', '.join(fields)}: the same call twice, on other memory, gives different values",
        )
        return one
