"""Without the page's secret nobody can read it off the machine or stop the page."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any

import pytest

import tabletop_envs.play.web
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame
from tests.browser.web_page import served
from tests.cli.command_line import run
from tests.cli.test_web_command import COMMAND, KIRCHE, started

pytest.importorskip("starlette", reason="the extra web is not installed")

from tabletop_envs.play.web import connections
from tabletop_envs.play.web.launch import private_page


@pytest.fixture
def session():
    return Session("kirche", ["human", "random"], 7, {"num_houses": 1})


def place(address: str) -> tuple[str, int]:
    parts = urllib.parse.urlsplit(address)
    assert parts.hostname is not None and parts.port is not None
    return parts.hostname, parts.port


def status(address: str) -> int:
    """What a request of the player's is answered, within five minutes of trying."""
    end = time.monotonic() + 300
    while True:
        try:
            with urllib.request.urlopen(address, timeout=300) as answer:
                return int(answer.status)
        except (OSError, urllib.error.URLError):
            if time.monotonic() > end:
                raise


# The secret address


def test_the_browser_is_given_a_private_file_that_is_gone_at_the_end(monkeypatch):
    seen: dict[str, Any] = {}
    arrived = threading.Event()

    def open_page(address: str) -> None:
        file = Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))
        seen.update(address=address, file=file, text=file.read_text(encoding="utf-8"))
        seen["modes"] = [stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file)]
        arrived.set()

    def serve_at_once(game: WebGame, *, port: int, ready: Any, ended: Any) -> None:
        ready(f"http://127.0.0.1:{port}/secret/")
        assert arrived.wait(300)
        ended()
        # A signal may end the process right after this.
        assert not seen["file"].parent.exists()

    monkeypatch.setattr(webbrowser, "open", open_page)
    monkeypatch.setattr(tabletop_envs.play.web, "serve", serve_at_once)
    result = run("play", "kirche", "--opponent", "random", "--web", "--port", "4000")
    assert result.output == "the game is at http://127.0.0.1:4000/secret/ until Ctrl-C\n"
    assert seen["address"].startswith("file:///") and "secret" not in seen["address"]
    assert 'content="0; url=http://127.0.0.1:4000/secret/"' in seen["text"]
    if os.name == "posix":
        assert seen["modes"] == [0o700, 0o600]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no /proc")
def test_no_process_shows_the_address(tmp_path):
    # A browser that notes its words and waits, as the real one runs on.
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/words.part\n'
        f"mv {tmp_path}/words.part {tmp_path}/words\nexec sleep 20 > /dev/null 2>&1\n"
    )
    browser.chmod(0o700)
    process = subprocess.Popen(
        [*COMMAND, "--web", *KIRCHE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "BROWSER": f"{browser} %s &"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/([\w-]{20,})/", process.stdout.readline())
        assert found
        end = time.monotonic() + 300
        while not (tmp_path / "words").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert (tmp_path / "words").read_text().startswith("file:///")
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                shown = (folder / "cmdline").read_bytes()
                assert found[1].encode() not in shown
                if int(folder.name) != os.getpid():
                    assert found[1].encode() not in (folder / "environ").read_bytes()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert found[1] not in errors
    assert not Path(urllib.request.url2pathname((tmp_path / "words").read_text()[7:-1])).exists()


def test_the_private_file_needs_no_page_of_ours(tmp_path):
    with private_page("http://127.0.0.1:1/a&b/") as address:
        file = Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))
        assert "http://127.0.0.1:1/a&amp;b/" in file.read_text(encoding="utf-8")
    assert not file.exists()


# Connections

HALF_OPEN = 1100


@pytest.mark.skipif(sys.platform != "linux", reason="a process's limit is set from outside")
def test_half_open_connections_do_not_stop_the_page(tmp_path):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * HALF_OPEN:
        pytest.skip(f"this process may have {hard} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * HALF_OPEN), hard))
    with started(tmp_path, *KIRCHE) as (process, address), contextlib.ExitStack() as stack:
        # The usual limit.
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        for _ in range(HALF_OPEN):
            attacker = stack.enter_context(socket.create_connection(place(address), 300))
            with contextlib.suppress(OSError):
                attacker.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
        assert status(f"{address}state") == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert errors == ""


POST = "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
POST += "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    ["", "GET ", "GET / HTTP/1.1\r\nHost: ", POST, POST + "{{", POST.replace("{path}", "/nothing")],
    ids=["nothing", "a word", "half the headers", "no body", "half the body", "half, elsewhere"],
)
def test_who_says_nothing_for_long_is_cut_off(session, monkeypatch, sent, caplog):
    monkeypatch.setattr(connections, "SECONDS", 0.2)
    with served(session) as (_, address):
        path = urllib.parse.urlsplit(address).path + "play"
        host = "{}:{}".format(*place(address))
        with socket.create_connection(place(address), 300) as attacker:
            attacker.sendall(sent.format(path=path, host=host).encode())
            with contextlib.suppress(ConnectionResetError):
                while attacker.recv(4096):
                    pass
        assert status(f"{address}state") == 200
    assert session.actions == []
    assert not caplog.records


def test_who_waits_for_a_long_thought_is_not_cut_off(session, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS", 0.1)
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    begun = threading.Event()
    state = WebGame.state

    def think(game: WebGame, theme: str) -> dict[str, Any]:
        begun.set()
        time.sleep(1)
        return state(game, theme)

    monkeypatch.setattr(WebGame, "state", think)
    with served(session) as (_, address), contextlib.ExitStack() as stack:
        answers: list[int] = []
        thread = threading.Thread(target=lambda: answers.append(status(f"{address}state")))
        thread.start()
        assert begun.wait(300)
        for _ in range(10):
            stack.enter_context(socket.create_connection(place(address), 300))
        thread.join(300)
    assert answers == [200]


def test_rubbish_fills_no_log(tmp_path):
    rubbish = [b"\x16\x03\x01\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"G" * 2**16]
    rubbish += [b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"]
    rubbish += [b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 2**14]
    with started(tmp_path, *KIRCHE) as (process, address):
        for _ in range(20):
            for each in rubbish:
                with (
                    contextlib.suppress(OSError),
                    socket.create_connection(place(address), 300) as attacker,
                ):
                    attacker.sendall(each)
        assert status(f"{address}state") == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert errors == ""


def test_only_the_first_messages_are_shown():
    few = connections.FewMessages()
    records = [logging.makeLogRecord({"msg": f"message {n}"}) for n in range(100)]
    shown = [record.getMessage() for record in records if few.filter(record)]
    assert len(shown) == connections.MAX_MESSAGES
    assert shown[0] == "message 0"
    assert shown[-1] == "further messages are left out"
