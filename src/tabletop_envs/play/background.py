"""Say once that Numba compiles, and compile agents while a person thinks."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

from numba.core import event

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.kernels.compiling import INTERPRETED
from tabletop_envs.play.session import HINT_AGENT, HUMAN

MESSAGE = "compiling, once: this takes up to a minute (`tabletop-envs warm` does it ahead) ..."
# Chooses as a named agent in a game.
Choose = Callable[[str, TabletopEnv], object]


class Compiling(event.Listener):  # type: ignore[misc]
    """Within `with`, `say` is told once that Numba compiles; loading from its cache is not told."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._told = False
        self._depth = 0
        self._behind: list[threading.Thread] = []
        self._behind_compiles = False
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(event.install_listener("numba:compile", self))
        # The library's own message of the same would come a second later.
        logger = logging.getLogger("tabletop_envs")
        logger.addFilter(self._silence)
        self._stack.callback(logger.removeFilter, self._silence)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _silence(self, record: logging.LogRecord) -> bool:
        return False

    @property
    def active(self) -> bool:
        """Whether Numba is compiling."""
        return self._depth > 0

    def on_start(self, _: Any) -> None:
        """Numba begins to compile."""
        # Only one thread compiles at a time: Numba has a lock.
        self._depth += 1
        if threading.current_thread() in self._behind:
            self._behind_compiles = True
        else:
            self._tell()

    def on_end(self, _: Any) -> None:
        """Numba has compiled."""
        self._depth -= 1

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self._say(MESSAGE)

    def behind(self, agents: Iterable[str], env: TabletopEnv, choose: Choose) -> None:
        """Let agents, and who gives hints, choose in a copy of a game, to have them compiled.

        A thread does it, after what was asked for before. With `NUMBA_DISABLE_JIT` nothing is done.
        """
        if INTERPRETED or any(env.terminations.values()):
            return
        names = dict.fromkeys([*agents, HINT_AGENT] if HUMAN in agents else agents)
        copy, before = env.clone(), list(self._behind)

        def work() -> None:
            for thread in before:
                thread.join()
            for name in names:
                # An error shows when the agent has to choose in the game itself.
                with contextlib.suppress(Exception):
                    if name != HUMAN:
                        choose(name, copy)

        # It ends with the process, even while it compiles.
        thread = threading.Thread(target=work, daemon=True)
        self._behind.append(thread)
        thread.start()

    def wait(self) -> None:
        """Wait until nothing is compiled in the background."""
        for thread in self._behind:
            if thread.is_alive():
                if self._behind_compiles:
                    self._tell()
                thread.join()
