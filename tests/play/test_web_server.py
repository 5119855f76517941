"""The web server of a game: what it gives, whom it answers, how it refuses. No browser."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tabletop_envs.arena.records import GameRecord
from tabletop_envs.play import session
from tabletop_envs.play.background import Compiling
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame

pytest.importorskip("starlette", reason="the extra web is not installed")
from starlette.testclient import TestClient

from tabletop_envs.play.web import server

PORT = 8123
HOME = f"http://127.0.0.1:{PORT}"
ORIGIN = {"origin": HOME}


@pytest.fixture
def web():
    return WebGame(Session("kirche", ["human", "random"], 7, {"num_houses": 1}))


@pytest.fixture
def client(web):
    app = server.make_app(web, port=PORT, token="secret")
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as client:
        yield client


def post(client: TestClient, path: str, body: Any, headers: dict[str, str] = ORIGIN) -> Any:
    return client.post(f"/secret/{path}", json=body, headers=headers)


# The page


def test_the_page_and_all_its_files_are_there(client):
    page = client.get("/secret/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(files) >= 3
    for file in files:
        answer = client.get(f"/secret/{file}")
        assert answer.status_code == 200
        for other in re.findall(r'from "\./([^"]+)"', answer.text):
            assert client.get(f"/secret/static/{other}").status_code == 200
    # Nothing is loaded from anywhere else, and no script or style stands in the page.
    assert not re.search(r"//[a-z]", page.text)
    assert not re.search(r"<script(?![^>]*src)|<style| style=| on\w+=", page.text)


@pytest.mark.parametrize("path", ["", "state", "choices", "static/play.js", "nothing"])
def test_every_answer_keeps_others_away(client, path):
    headers = client.get(f"/secret/{path}").headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


def test_a_game_is_played_by_requests(client, web):
    state = client.get("/secret/state").json()
    for _ in range(6):
        while not state["yours"]:
            state = post(client, "advance", {"version": state["version"]}).json()
        request = {"version": state["version"], "action": state["legal"][0]["action"]}
        state = post(client, "play?theme=dark", request).json()
    assert state["svg"] == web.state("dark")["svg"]
    assert len(web.session.actions) > 6
    assert post(client, "undo", {"version": state["version"]}).json()["yours"]
    wanted = {
        "version": web.state()["version"],
        "game": "tuerme-v0",
        "agents": ["human", "random"],
        "options": {"max_plies": 9},
        "seed": str(2**64 - 1),
    }
    answer = post(client, "new", wanted)
    assert answer.status_code == 200
    assert answer.json()["game"] == "tuerme-v0"
    assert web.session.record().seed == 2**64 - 1
    record = client.get("/secret/record")
    assert record.headers["content-disposition"].startswith("attachment;")
    assert GameRecord.from_json(record.text) == web.session.record()


def test_hints(client, web, monkeypatch):
    monkeypatch.setattr(session, "HINT_AGENT", "greedy")
    answer = post(client, "hint", {"version": 0}).json()
    hint = answer.pop("hint")
    assert answer["legal"] and hint["name"] in [entry["name"] for entry in answer["legal"]]
    assert web.session.actions == []


def test_the_page_can_ask_whether_numba_compiles():
    compiling = Compiling(print)
    web = WebGame(Session("kirche", ["human", "random"], 7), compiling=compiling)
    with TestClient(server.make_app(web, port=PORT, token="secret"), base_url=HOME) as client:
        assert client.get("/secret/compiling").json() == {"compiling": False}
        compiling.on_start(None)
        assert client.get("/secret/compiling").json() == {"compiling": True}


# Whom it answers

READ = ["", "state", "choices", "compiling", "record", "static/play.js"]
CHANGE = ["play", "advance", "undo", "new", "hint"]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1:{PORT}.evil.example",
        "",
    ],
)
@pytest.mark.parametrize("path", READ + CHANGE)
def test_other_hosts_are_refused(client, web, path, host):
    before = web.state()
    headers = {**ORIGIN, "host": host}
    if path in READ:
        answer = client.get(f"/secret/{path}", headers=headers)
    else:
        answer = post(client, path, {"version": 0, "action": 0}, headers)
    assert answer.status_code == 403
    assert f"127.0.0.1:{PORT}" in answer.json()["error"]
    assert web.state() == before


def test_localhost_is_this_host(client, web):
    host = {"host": f"localhost:{PORT}"}
    assert client.get("/secret/state", headers=host).status_code == 200
    body = {"version": 0, "action": 0}
    # The origin must be the same as the host, not only another name of it.
    assert post(client, "play", body, {**host, **ORIGIN}).status_code == 403
    assert (
        post(client, "play", body, {**host, "origin": f"http://localhost:{PORT}"}).status_code
        == 200
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "http://127.0.0.1"},
        {"origin": f"{HOME}.evil.example"},
        {**ORIGIN, "sec-fetch-site": "cross-site"},
        {**ORIGIN, "sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", CHANGE)
def test_other_pages_change_nothing(client, web, path, headers):
    before = web.state()
    answer = post(client, path, {"version": 0, "action": 0}, headers)
    assert answer.status_code == 403
    assert "page" in answer.json()["error"]
    assert web.state() == before


def test_other_pages_see_nothing(client):
    for site in ("cross-site", "same-site"):
        assert client.get("/secret/state", headers={"sec-fetch-site": site}).status_code == 403
    for site in ("none", "same-origin"):
        assert client.get("/secret/state", headers={"sec-fetch-site": site}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/state", "/play", "/wrong/state", "/Secret/state", "/secretstate"]
)
def test_nothing_is_there_without_the_token(client, web, path):
    assert client.get(path).status_code == 404
    assert client.post(path, json={"version": 0, "action": 0}, headers=ORIGIN).status_code == 404
    assert web.session.actions == []


@pytest.mark.parametrize("path", CHANGE)
def test_only_posts_change(client, web, path):
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        answer = client.request(
            method,
            f"/secret/{path}?version=0&action=0",
            headers={**ORIGIN, "content-type": "application/json"},
        )
        assert answer.status_code == 405
    assert web.session.actions == []


def test_no_file_outside_the_page_is_given(client):
    for path in ("static/../game.py", "static/%2e%2e/game.py", "static/..%2fgame.py", "static/"):
        assert client.get(f"/secret/{path}").status_code == 404


# How it refuses


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_only_json_is_taken(client, web, kind):
    answer = client.post(
        "/secret/play",
        content='{"version": 0, "action": 0}',
        headers={**ORIGIN, "content-type": kind},
    )
    assert answer.status_code == 415
    assert web.session.actions == []


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("", 400),
        ("{", 400),
        ("[]", 400),
        ("0", 400),
        ("\xff", 400),
        ("[" * 60000, 400),
        ("{}", 422),
        ('{"version": 0}', 422),
        ('{"version": true, "action": 0}', 422),
        ('{"version": "0", "action": 0}', 422),
        ('{"version": 0, "action": 0.0}', 422),
        ('{"version": 0, "action": null}', 422),
        ('{"version": 0, "action": -1}', 422),
        ('{"version": 0, "action": 1}', 422),
        ('{"version": 0, "action": 1e400}', 422),
        ('{"version": 0, "action": ' + "9" * 5000 + "}", 400),
        ('{"version": 1, "action": 0}', 409),
        ('{"version": 0, "action": 0, "more": "' + 70000 * "x" + '"}', 413),
    ],
)
def test_malformed_and_illegal_requests(client, web, content, status):
    before = web.state()
    headers = {**ORIGIN, "content-type": "application/json"}
    answer = client.post("/secret/play", content=content.encode("latin-1"), headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert web.state() == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"game": 3},
        {"game": "chess"},
        {"agents": "human"},
        {"agents": ["human", 3]},
        {"agents": ["human"]},
        {"agents": ["human", "<script>"]},
        {"agents": ["human", "this:module"]},
        {"options": []},
        {"options": {"num_houses": 99}},
        {"options": {"num_houses": None}},
        {"options": {"houses": 1}},
        {"seed": -1},
        {"seed": 2**64},
        {"seed": "one"},
        {"seed": True},
        {"seed": 1.5},
    ],
)
def test_impossible_new_games_are_refused(client, web, wrong):
    before = web.state()
    good = {"version": 0, "game": "kirche", "agents": ["human", "random"], "options": {}}
    answer = post(client, "new", {**good, **wrong})
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert web.state() == before
    assert post(client, "new", good).status_code == 200


def test_unknown_themes_are_refused(client, web):
    assert client.get("/secret/state?theme=blue").status_code == 422
    assert post(client, "play?theme=blue", {"version": 0, "action": 0}).status_code == 422
    assert web.session.actions == []


def test_a_fault_of_ours_is_told_without_details(client, web, monkeypatch):
    def fail(*arguments: Any) -> None:
        raise ValueError("a secret")

    monkeypatch.setattr(web, "state", fail)
    answer = client.get("/secret/state")
    assert answer.status_code == 500
    assert "secret" not in answer.text
