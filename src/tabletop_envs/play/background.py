"""Say once that Numba compiles, and compile agents while a person thinks."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any, Self

from numba.core import event

from tabletop_envs.envs.aec import TabletopEnv

MESSAGE = "compiling for the first use: this takes up to a minute ..."
# Chooses as a named agent in a game.
Choose = Callable[[str, TabletopEnv], object]


class Compiling(event.Listener):  # type: ignore[misc]
    """Within `with`, `say` is told once that Numba compiles; loading from its cache is not told."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._told = False
        self._behind: threading.Thread | None = None
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

    def on_start(self, _: Any) -> None:
        """Numba begins to compile."""
        if threading.current_thread() is self._behind:
            self._behind_compiles = True
        else:
            self._tell()

    def on_end(self, _: Any) -> None:
        """Numba has compiled."""

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self._say(MESSAGE)

    def behind(self, agents: Iterable[str], env: TabletopEnv, choose: Choose) -> None:
        """Let agents choose in a copy of a game, in a thread, to have them compiled in time."""
        names = sorted(set(agents) - {"human", "random"})
        copy = env.clone()

        def work() -> None:
            for name in names:
                # An error shows when the agent has to choose in the game itself.
                with contextlib.suppress(Exception):
                    choose(name, copy)

        self._behind = threading.Thread(target=work, daemon=True)
        self._behind.start()

    def wait(self) -> None:
        """Wait until nothing is compiled in the background."""
        if self._behind is not None and self._behind.is_alive():
            if self._behind_compiles:
                self._tell()
            self._behind.join()
