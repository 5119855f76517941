"""Connections that cannot stop the page: few at a time, none silent for long, few messages.

Any user of the machine can connect, with or without the secret. Requests without it are refused at
once, so only connections whose request or answer does not end could pile up: these are closed.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

from tabletop_envs.extras import require

require("uvicorn", "web")

import uvicorn  # noqa: E402
from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: E402

# More than browsers open to one server (6). Several times as many are accepted before the first is
# looked at: all of them must be fewer than a process may have open (1,024, on some systems 256).
MAX_CONNECTIONS = 40
# How many wait in the system without a descriptor of ours.
MAX_QUEUE = 1024
# How long a request may take to arrive, and an answer to be fetched; thinking does not count.
SECONDS = 10.0
MAX_HEADERS = 2**14
MAX_MESSAGES = 20


class Connection(H11Protocol):
    """A connection that is closed when it makes no progress, or when others need its place."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if need be that of another connection."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._answers = 0
        self._timer = self.loop.call_later(SECONDS, self._look, 0)
        if len(self.connections) > MAX_CONNECTIONS:
            # Those that never had an answer first, then the oldest. Thinking ones stay.
            waiting = [one for one in self._all() if not one._is_thinking()]
            least = min(waiting, key=lambda one: (one._answers > 0, one._since))
            # Now, not once it is closed: the next one must not choose it again.
            self.connections.discard(least)
            least.transport.abort()

    def _all(self) -> list[Connection]:
        return [one for one in self.connections if isinstance(one, Connection)]

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Note the progress."""
        self._answers += 1
        super().on_response_complete()

    def _is_thinking(self) -> bool:
        """Whether a whole request is there whose answer has not begun: the game is at work."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_started

    def _look(self, answers: int) -> None:
        if self._answers == answers and not self._is_thinking():
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS, self._look, self._answers)


class FewMessages(logging.Filter):
    """Lets only the first messages of a logger through, so that they cannot fill a disk."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MAX_MESSAGES

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is shown; the last one says that it is the last."""
        self._left -= 1
        if self._left == 0:
            record.msg, record.args, record.exc_info = "further messages are left out", (), None
        return self._left >= 0


class Server(uvicorn.Server):
    """A server before which connections queue up where more come at once than it accepts."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets=sockets)
        for listener in sockets or ():
            listener.listen(MAX_QUEUE)


def limits() -> dict[str, Any]:
    """The arguments of `uvicorn.Config` that make a server keep these limits."""
    return {
        "http": Connection,
        # How many are accepted at once before any is looked at.
        "backlog": MAX_CONNECTIONS,
        "h11_max_incomplete_event_size": MAX_HEADERS,
        # Warnings are about what others send.
        "log_level": "error",
    }
