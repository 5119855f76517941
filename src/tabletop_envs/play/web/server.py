"""The web server of a game: loopback only, one page, and which requests it answers.

Every address begins with a random token that only the terminal has shown; requests must name this
server as `Host`, come from no other page (`Sec-Fetch-Site`), and where they change something also
name it as `Origin` and carry JSON. So neither other pages nor other users of the machine can look
at the game or change it. There are no cookies.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabletop_envs import checks
from tabletop_envs.extras import require
from tabletop_envs.play.web.page import RefusedError, StaleError, WebGame
from tabletop_envs.render.svg.themes import THEMES

require("starlette", "web")
require("uvicorn", "web")

import uvicorn  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.concurrency import run_in_threadpool  # noqa: E402
from starlette.datastructures import Headers, MutableHeaders  # noqa: E402
from starlette.exceptions import HTTPException  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402
from starlette.requests import ClientDisconnect, Request  # noqa: E402
from starlette.responses import FileResponse, JSONResponse, Response  # noqa: E402
from starlette.routing import Mount, Route  # noqa: E402
from starlette.staticfiles import StaticFiles  # noqa: E402

from tabletop_envs.play.web.connections import FewMessages, Server, limits  # noqa: E402

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ADDRESS = "127.0.0.1"
MAX_BODY = 2**16
STATIC = Path(__file__).with_name("static")
PAGE_STYLE = Path(__file__).parents[2] / "render" / "page.css"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# What requests may contain: the types of the values by their keys (a bool is no integer here).
CONTENT: dict[str, tuple[type, ...]] = {
    "version": (int,),
    "action": (int,),
    "game": (str,),
    "agents": (list,),
    "options": (dict,),
    "seed": (int, str, type(None)),
}


class Guard:
    """Refuses what does not come from this server's page, and adds headers that keep others off."""

    def __init__(self, app: ASGIApp, port: int, page: str) -> None:
        self._app = app
        self._page = page
        self._hosts = [f"{name}:{port}" for name in (ADDRESS, "localhost")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        fault = self._fault(scope["method"], scope["path"], Headers(scope=scope))
        app = self._app if fault is None else _error(*fault)
        await app(scope, receive, send_guarded)

    def _fault(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 403, f"this server is {self._hosts[0]}, not {', '.join(hosts) or 'nameless'}"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            # The private file that leads here is another page. No page can read what a window of
            # its own shows.
            kind = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
            if (method, path, kind) != ("GET", self._page, ("navigate", "document")):
                return 403, "the request comes from another page"
        if method in ("GET", "HEAD"):
            return None
        if headers.get("origin") != f"http://{hosts[0]}":
            origin = headers.get("origin")
            return 403, f"the request does not come from this page (Origin: {origin})"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "the content is not application/json"
        return None


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


async def _read(request: Request) -> dict[str, Any]:
    """The JSON object that was sent, its values of the types that `CONTENT` has."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise HTTPException(413, f"the content must have at most {MAX_BODY} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "the request has ended early") from None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the content is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise HTTPException(400, "the content is not a JSON object")
    for key, value in document.items():
        if type(value) not in CONTENT.get(key, ()):
            raise HTTPException(422, f"{checks.shown(key)} must not be {checks.shown(value)}")
    return document


def _theme(request: Request) -> str:
    theme = request.query_params.get("theme", "light")
    if theme not in THEMES:
        raise HTTPException(422, f"theme={checks.shown(theme)} must be {' or '.join(THEMES)}")
    return theme


def _routes(game: WebGame) -> list[Route | Mount]:
    """What can be asked for, below the token. Changes are answered with the state after them."""

    def state(request: Request) -> Response:
        return JSONResponse(game.state(_theme(request)))

    def record(request: Request) -> Response:
        name, text = game.record()
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="application/x-ndjson", headers=headers)

    def hint(version: int) -> dict[str, Any]:
        action, name = game.hint(version)
        return {"hint": {"action": action, "name": name}}

    def changing(change: Callable[..., Any]) -> Callable[..., Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            theme, document = _theme(request), await _read(request)
            try:
                inspect.signature(change).bind(**document)
            except TypeError as error:
                raise HTTPException(422, str(error)) from None

            def run() -> dict[str, Any]:
                more = change(**document) or {}
                return {**game.state(theme), **more}

            return JSONResponse(await run_in_threadpool(run))

        return answer

    changes: dict[str, Callable[..., Any]] = {
        "/play": game.play,
        "/advance": game.advance,
        "/undo": game.undo,
        "/new": game.new_game,
        "/hint": hint,
    }
    return [
        Route("/", lambda request: FileResponse(STATIC / "index.html")),
        Route("/state", state),
        Route("/choices", lambda request: JSONResponse(game.choices())),
        Route("/compiling", lambda request: JSONResponse({"compiling": game.is_compiling})),
        Route("/record", record),
        *(Route(path, changing(change), methods=["POST"]) for path, change in changes.items()),
        Route("/static/page.css", lambda request: FileResponse(PAGE_STYLE)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


# Errors, all of them as JSON, and without a thread: there may be none left


def _answering(status: int, message: str = "") -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        return _error(status, message or str(error))

    return answer


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = _error(error.status_code, error.detail)
    response.headers.update(error.headers or {})
    return response


def make_app(
    game: WebGame,
    *,
    port: int,
    token: str,
    ready: Callable[[], object] = lambda: None,
    ended: Callable[[], object] = lambda: None,
) -> Starlette:
    """Make the web application (ASGI).

    Args:
        game: The game.
        port: The port that it is served on, which requests must name.
        token: What all its addresses begin with.
        ready: Called when requests begin to be answered.
        ended: Called when no more are answered.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        ready()
        try:
            yield
        finally:
            ended()

    return Starlette(
        routes=[Mount(f"/{token}", routes=_routes(game))],
        middleware=[Middleware(Guard, port=port, page=f"/{token}/")],
        exception_handlers={
            StaleError: _answering(409),
            RefusedError: _answering(422),
            HTTPException: _http,
            Exception: _answering(500, "the server has failed: the terminal shows how"),
        },
        lifespan=lifespan,
    )


def make_server(
    game: WebGame,
    listener: socket.socket,
    *,
    ready: Callable[[str], object],
    ended: Callable[[], object],
) -> uvicorn.Server:
    """Make the server of a game on a socket, with a new token (see `play.web.serve`)."""
    token, port = secrets.token_urlsafe(16), listener.getsockname()[1]
    address = f"http://{ADDRESS}:{port}/{token}/"
    app = make_app(game, port=port, token=token, ready=lambda: ready(address), ended=ended)
    config = uvicorn.Config(
        app,
        **limits(),
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        # A search that is under way may end; longer ones get no answer.
        timeout_graceful_shutdown=int(game.think_seconds) + 2,
    )
    return Server(config)


def run(
    game: WebGame, *, port: int, ready: Callable[[str], object], ended: Callable[[], object]
) -> None:
    """Serve a game until a signal ends it (see `play.web.serve`)."""
    require("svg", "render")
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(FewMessages())
    with socket.create_server((ADDRESS, port)) as listener:
        make_server(game, listener, ready=ready, ended=ended).run(sockets=[listener])
