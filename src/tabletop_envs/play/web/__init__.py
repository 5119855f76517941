"""Play in the browser (the extra `web`): a page on this machine's loopback address.

- `page.py`: the game behind the page, a `Session` for several requests at once; no web.
- `server.py`, `connections.py`: the web server, and which requests it answers; its limits.
- `launch.py`: a private file that leads to the page's secret address.
- `static/`: the page.

The server and its packages are imported only by `serve`.
"""

from __future__ import annotations

from collections.abc import Callable

from tabletop_envs.play.web.page import WebGame

__all__ = ["WebGame", "serve"]


def serve(
    game: WebGame, *, port: int = 0, ready: Callable[[str], object], ended: Callable[[], object]
) -> None:
    """Serve a game on 127.0.0.1 until Ctrl-C or a signal to terminate.

    Args:
        game: The game.
        port: The port; 0: a free one.
        ready: Called once with the page's address, as soon as it can be opened.
        ended: Called when no request is answered any more, before the signal takes its usual
            course.

    Raises:
        ImportError: Without the extra `web` or `render`.
        OSError: If the port cannot be used.
    """
    from tabletop_envs.play.web.server import run

    run(game, port=port, ready=ready, ended=ended)
