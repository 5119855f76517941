"""What the tests of the adapters share: a guard before the kernels, scripts from docstrings, and
missing extras.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.kernels import engine

WORD_BITS = {
    registry.get_game(name).kernel.state: registry.get_game(name).kernel.word_bits
    for name in registry.game_names()
}
# Options with which random play seldom ends in a draw, where the defaults make it do so.
DECISIVE: dict[str, dict[str, Any]] = {"kirche": {"num_houses": 1}}
# All games, 2 to 4 players: most of them end by `max_plies`, which a learner must take for any
# other end.
ENDING: list[tuple[str, dict[str, Any]]] = [
    ("kirche", {"num_houses": 1}),
    ("tuerme", {"max_plies": 40}),
    ("tuerme", {"max_plies": 40, "num_players": 4}),
    ("meeples", {"max_plies": 60, "num_players": 3}),
]


class Guard:
    """Looks at every action on its way into a compiled loop: how many there were, and what illegal
    ones.
    """

    def __init__(self) -> None:
        self.actions = 0
        self.illegal: list[int] = []

    def look(self, states: Any, legal: Any, lanes: Any, actions: Any) -> None:
        """Count the actions of `lanes`; AssertionError where one is not in its lane's set of legal
        actions.
        """
        bits = WORD_BITS[states.dtype]
        words, shifts = np.divmod(actions[lanes], bits)
        inside = (words >= 0) & (words < legal.shape[1])
        found = legal[lanes, np.where(inside, words, 0)] >> shifts.astype(np.uint64) & np.uint64(1)
        wrong = actions[lanes][~(inside & (found == 1))]
        self.actions += len(lanes)
        self.illegal += wrong.tolist()
        assert not wrong.size, f"illegal actions {wrong.tolist()} reach the kernel"


@contextmanager
def guarded() -> Iterator[Guard]:
    """Every action that reaches a kernel from Python within must be legal, and some must."""
    guard = Guard()

    def some(loop: Callable[..., Any]) -> Callable[..., Any]:
        def guarded_loop(arrays: Any, random: Any, chosen: Any, command: int, actions: Any) -> Any:
            if command == engine.STEP:
                lanes = engine.LaneArrays(*arrays)
                guard.look(lanes.states, lanes.legal_bits, chosen, actions)
            return loop(arrays, random, chosen, command, actions)

        return guarded_loop

    def one(loop: Callable[..., Any]) -> Callable[..., Any]:
        def guarded_loop(states: Any, words: Any, command: int, action: int, result: Any) -> Any:
            if command == engine.STEP:
                guard.look(states, words[np.newaxis], np.zeros(1, np.int64), np.array([action]))
            return loop(states, words, command, action, result)

        return guarded_loop

    def lanes(loop: Callable[..., Any]) -> Callable[..., Any]:
        def guarded_loop(
            states: Any,
            legal: Any,
            shown: Any,
            starts: Any,
            command: int,
            actions: Any,
            *others: Any,
        ) -> Any:
            if command == engine.STEP:
                guard.look(states, legal, np.arange(*others[-2:]), actions)
            return loop(states, legal, shown, starts, command, actions, *others)

        return guarded_loop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "advance_some", some(engine.advance_some))
        patch.setattr(engine, "advance_one", one(engine.advance_one))
        patch.setattr(engine, "advance_lanes", lanes(engine.advance_lanes))
        yield guard
    # A stack may have caught the error.
    assert not guard.illegal
    assert guard.actions


def scripts(module: ModuleType) -> list[str]:
    """The indented scripts of a module's docstring, in order."""
    blocks = re.findall(r"(?:^(?: {4}.*|)\n)+", f"{module.__doc__}\n", re.MULTILINE)
    return [textwrap.dedent(block).strip() + "\n" for block in blocks if block.strip()]


def run_script(script: str, *shorter: tuple[str, str], **names: Any) -> dict[str, Any]:
    """Run a script with numbers replaced by smaller ones, all of which must occur in it.

    `names` are defined before. Returns all names that are defined then.
    """
    for long, short in shorter:
        assert long in script, long
        script = script.replace(long, short)
    exec(compile(script, "<docstring>", "exec"), names)
    return names


def import_error_without(package: str, module: str) -> str:
    """The message of the ImportError that importing an adapter raises where a stack's package is
    missing.
    """
    code = f"""
import sys
sys.modules[{package!r}] = None
try:
    import {module}
except ImportError as error:
    print(error)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return answer.stdout.strip()
