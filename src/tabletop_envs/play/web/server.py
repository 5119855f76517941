"""The web server of a game: loopback only, one page, and whom it answers.

Every address begins with a random token that only the terminal has shown; requests must name this server as `Host`, come
from no other page (`Sec-Fetch-Site`), and where they change something also name it as `Origin` and carry JSON. So
neither other pages nor other users of the machine can look at the game or change it. There are no cookies.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
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
LOOK = ("GET", "HEAD")


class Guard:
    """Refuses what does not come from this server's own page, and adds headers that keep others away from it."""

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
            # The private file that leads here is another page. What a window of its own shows no page can read.
            kind = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
            if (method, path, kind) != ("GET", self._page, ("navigate", "document")):
                return 403, "the request comes from another page"
        if method in LOOK:
            return None
        if headers.get("origin") != f"http://{hosts[0]}":
            return (
                403,
                f"the request does not come from this page (Origin: {headers.get('origin')})",
            )
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "the content is not application/json"
        return None


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)


class BadRequestError(ValueError):
    """What was sent is not what the page sends."""


async def _read(request: Request) -> dict[str, Any]:
    """The JSON object that was sent."""
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
    return document


def _take(document: dict[str, Any], key: str, kind: type, name: str) -> Any:
    """A value of a document by its key; `bool` is no `int` here."""
    if key not in document:
        raise BadRequestError(f"{key!r} is missing")
    value = document[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadRequestError(f"{key!r} is {value!r}, not {name}")
    return value


def _take_version(document: dict[str, Any]) -> int:
    return int(_take(document, "version", int, "a whole number"))


def _take_seed(document: dict[str, Any]) -> int | None:
    """The seed; as text, too, since JavaScript's numbers are too short for some."""
    seed = document.get("seed")
    if isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) <= 20:
        seed = int(seed)
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise BadRequestError(f"'seed' is {seed!r}, neither a whole number nor null")
    try:
        return checks.seed("seed", seed)
    except ValueError as error:
        raise BadRequestError(str(error)) from None


class Pages:
    """The answers to all requests."""

    def __init__(self, game: WebGame) -> None:
        self._game = game

    def routes(self) -> list[Route | Mount]:
        """What can be asked for, below the token."""
        return [
            Route("/", self.page),
            Route("/state", self.state),
            Route("/choices", self.choices),
            Route("/record", self.record),
            Route("/play", self._changing(self._play), methods=["POST"]),
            Route("/advance", self._changing(self._advance), methods=["POST"]),
            Route("/undo", self._changing(self._undo), methods=["POST"]),
            Route("/new", self._changing(self._new), methods=["POST"]),
            Route("/hint", self._changing(self._hint), methods=["POST"]),
            Route("/static/page.css", self.style),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    # Looking

    def page(self, request: Request) -> Response:
        """The page itself, the same for all games."""
        return FileResponse(STATIC / "index.html")

    def style(self, request: Request) -> Response:
        """What all pages begin with."""
        return FileResponse(PAGE_STYLE)

    def state(self, request: Request) -> Response:
        """All that the page shows."""
        return JSONResponse(self._game.state(_theme(request)))

    def choices(self, request: Request) -> Response:
        """What a new game can be."""
        return JSONResponse(self._game.choices())

    def record(self, request: Request) -> Response:
        """The game as a file to keep."""
        name, text = self._game.record()
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="application/x-ndjson", headers=headers)

    # Changing: each answers with the state that follows

    def _changing(
        self, change: Callable[[dict[str, Any]], dict[str, Any] | None]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            theme = _theme(request)
            document = await _read(request)

            def run() -> dict[str, Any]:
                more = change(document) or {}
                return {**self._game.state(theme), **more}

            return JSONResponse(await run_in_threadpool(run))

        return answer

    def _play(self, document: dict[str, Any]) -> None:
        action = _take(document, "action", int, "a whole number")
        self._game.play(_take_version(document), action)

    def _advance(self, document: dict[str, Any]) -> None:
        self._game.advance(_take_version(document))

    def _undo(self, document: dict[str, Any]) -> None:
        self._game.undo(_take_version(document))

    def _hint(self, document: dict[str, Any]) -> dict[str, Any]:
        action, name = self._game.hint(_take_version(document))
        return {"hint": {"action": action, "name": name}}

    def _new(self, document: dict[str, Any]) -> None:
        agents = _take(document, "agents", list, "a list of names")
        if not all(isinstance(agent, str) for agent in agents):
            raise BadRequestError(f"'agents' is {agents!r}, not a list of names")
        self._game.new_game(
            _take_version(document),
            _take(document, "game", str, "a game's name"),
            agents,
            _take(document, "options", dict, "an object of options"),
            _take_seed(document),
        )


def _theme(request: Request) -> str:
    theme = request.query_params.get("theme", "light")
    if theme not in THEMES:
        raise BadRequestError(f"theme={theme!r} is impossible: allowed is {' or '.join(THEMES)}")
    return theme


# Errors, all of them as JSON, and without a thread, which may be what is lacking


async def _refused(request: Request, error: Exception) -> Response:
    return _error(422, str(error))


async def _stale(request: Request, error: Exception) -> Response:
    return _error(409, str(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = _error(error.status_code, error.detail)
    response.headers.update(error.headers or {})
    return response


async def _unforeseen(request: Request, error: Exception) -> Response:
    return _error(500, "the server has failed: the terminal shows how")


def make_app(
    game: WebGame,
    *,
    port: int,
    token: str,
    ready: Callable[[], object] = lambda: None,
    ended: Callable[[], object] = lambda: None,
) -> Starlette:
    """The web application (ASGI).

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
        routes=[Mount(f"/{token}", routes=Pages(game).routes())],
        middleware=[Middleware(Guard, port=port, page=f"/{token}/")],
        exception_handlers={
            StaleError: _stale,
            RefusedError: _refused,
            BadRequestError: _refused,
            HTTPException: _http,
            Exception: _unforeseen,
        },
        lifespan=lifespan,
    )


def bind(port: int) -> socket.socket:
    """A socket that listens on this machine's loopback address alone; 0: on a free port. OSError if it cannot be had."""
    listener = socket.socket()
    try:
        if os.name == "posix":
            # Elsewhere it would let others take the port as well.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def make_server(
    game: WebGame,
    listener: socket.socket,
    *,
    ready: Callable[[str], object],
    ended: Callable[[], object],
) -> uvicorn.Server:
    """The server of a game on a socket, with a token of its own; `serve` in `tabletop_envs.play.web` says what is called when."""
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
        # A search that is under way may end; who waits longer is left waiting.
        timeout_graceful_shutdown=int(game.think_seconds) + 2,
    )
    return Server(config)


def run(
    game: WebGame, *, port: int, ready: Callable[[str], object], ended: Callable[[], object]
) -> None:
    """Serve a game until a signal ends it (`tabletop_envs.play.web.serve`)."""
    require("svg", "render")
    for name in ("asyncio", "uvicorn.error"):
        logging.getLogger(name).addFilter(FewMessages())
    with bind(port) as listener:
        make_server(game, listener, ready=ready, ended=ended).run(sockets=[listener])
