"""`play --web` as a process: signals, saved games, wrong words, missing packages. No browser."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabletop_envs.arena import records
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame, serve
from tests.cli.command_line import plain, run

pytest.importorskip("starlette", reason="the extra web is not installed")


@pytest.fixture
def web():
    return WebGame(Session("kirche", ["human", "random"], 7, {"num_houses": 1}))


COMMAND = [sys.executable, "-m", "tabletop_envs.cli", "play"]
KIRCHE = ["kirche", "--opponent", "random", "--seed", "7"]


@contextlib.contextmanager
def started(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves a game, and the page's address."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*COMMAND, "--web", "--no-open", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(
            r"the game is at (http://127\.0\.0\.1:\d+/[\w-]{20,}/) until Ctrl-C\n", line
        )
        assert found, line + (process.stderr.read() if process.stderr and not line else "")
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def play_first(address: str) -> None:
    with urllib.request.urlopen(f"{address}state") as answer:
        state = json.load(answer)
    body = json.dumps({"version": 0, "action": state["legal"][0]["action"]}).encode()
    headers = {"Origin": address.rpartition("/")[0].rpartition("/")[0]}
    headers["Content-Type"] = "application/json"
    with urllib.request.urlopen(urllib.request.Request(f"{address}play", body, headers)) as answer:
        assert answer.status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_save_and_end(tmp_path, number):
    with started(tmp_path, *KIRCHE) as (process, address):
        play_first(address)
        process.send_signal(number)
        output, errors = process.communicate(timeout=300)
    assert process.returncode == (0 if number == signal.SIGINT else -signal.SIGTERM)
    assert errors == ""
    assert "saved: kirche-v0-7.jsonl" in output
    assert "resume with: tabletop-envs play --resume kirche-v0-7.jsonl" in output
    (record,) = records.read_records(tmp_path / "kirche-v0-7.jsonl")
    assert len(record.actions) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_the_given_file_is_written(tmp_path):
    with started(tmp_path, *KIRCHE, "--save", "mine.jsonl") as (process, address):
        play_first(address)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]
    assert "saved: mine.jsonl" in output


def test_a_saved_game_goes_on_in_the_browser(tmp_path):
    web = WebGame(Session("kirche", ["human", "random"], 7), path=tmp_path / "mine.jsonl")
    web.play(0, web.state()["legal"][0]["action"])
    web.save()
    with started(tmp_path, "--resume", "mine.jsonl") as (process, address):
        with urllib.request.urlopen(f"{address}state") as answer:
            assert json.load(answer)["log"] == web.state()["log"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    assert list(records.read_records(tmp_path / "mine.jsonl")) == [web.session.record()]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "80"], "--port: this goes with --web only"),
        (["--no-open"], "--no-open: this goes with --web only"),
        (["--think-seconds", "1"], "--think-seconds: this goes with --web only"),
        (
            ["--web", "--think-seconds", "0"],
            "think_seconds=0.0 must be a finite number above 0, up to 3600",
        ),
        (["--web", "--think-seconds", "nan"], "think_seconds=nan must be a finite number above 0"),
        (["--web", "--port", "70000"], "--port"),
    ],
)
def test_wrong_words_of_the_command_line(words, message):
    assert message in plain(run("play", "kirche", *words, exit_code=2).output)


def test_only_the_loopback_address_is_bound(tmp_path):
    with started(tmp_path, *KIRCHE) as (_, address):
        port = int(re.search(r":(\d+)/", address)[1])  # type: ignore[index]
        # Another address of this machine's loopback net would be reached if all were bound.
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass
        with socket.create_connection(("127.0.0.1", port), timeout=300):
            pass


def test_a_port_in_use_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = ("play", "kirche", "--web", "--no-open", "--port", str(port))
        result = run(*words, exit_code=2)
    assert f"--port: {port} cannot be used" in plain(result.output)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_its_packages_the_extra_is_named(web, monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "tabletop_envs.play.web.server")
    with pytest.raises(ImportError, match=r'pip install "tabletop-envs\[web\]"'):
        serve(web, ready=print, ended=print)


def test_the_packages_are_imported_only_on_use():
    code = (
        "import sys, tabletop_envs.play.web, tabletop_envs.cli;"
        "print(sorted({'starlette', 'uvicorn', 'typer', 'svg'} & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout == "[]\n"
