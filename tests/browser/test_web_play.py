"""Games played in a real browser: by the mouse in each game, undo, new games, records, errors."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tabletop_envs.arena import records
from tabletop_envs.play import session as sessions
from tabletop_envs.play.background import Compiling
from tabletop_envs.play.session import Session
from tabletop_envs.play.web import page
from tabletop_envs.play.web.launch import private_page
from tests.browser.conftest import DESKTOP, PHONE, set_scheme, set_viewport
from tests.browser.web_page import Player, served, wait

pytest.importorskip("starlette", reason="the extra web is not installed")


def first(player: Player, wanted: Callable[[str], Any] = bool) -> int:
    """The first legal action whose name is as wanted."""
    legal = player.game.state()["legal"]
    return next(int(entry["action"]) for entry in legal if wanted(entry["name"]))


def assert_shown(player: Player) -> None:
    """The page shows the game as the server has it: the fields' contents, scores, the log."""
    state = player.game.state()
    drawn = player.run(
        "return [...document.querySelectorAll('#board svg use')].map((each) => each.getAttribute('href'))"
    )
    assert drawn == re.findall(r'<use [^>]*?href="([^"]+)"', state["svg"])
    assert [row.text for row in player.all("#log .text")] == [e["name"] for e in state["log"]]
    scores = [int(row.text) for row in player.all("#players .score")]
    assert scores == [each["score"] for each in state["players"]]


def test_a_whole_game_of_kirche_by_clicks(browser, tmp_path):
    options = {"num_houses": 1, "max_plies": 16}
    path = tmp_path / "game.jsonl"
    rng = random.Random(4)
    with served(Session("kirche", ["human", "random"], 4, options), path=path) as (game, address):
        player = Player(browser, game, address)
        assert "Place your spire on a corner" in player.text("#status")
        while not player.over:
            player.play(rng.choice([e["action"] for e in game.state()["legal"]]))
        assert_shown(player)
        assert game.session.over
        assert "ended by max_plies" in player.text("#status") or "won" in player.text("#status")
        (record,) = records.read_records(path)
        assert record == game.session.record()


def test_choosing_a_piece_lights_up_where_it_can_go(browser):
    with served(Session("kirche", ["human", "random"], 1, {"num_houses": 1})) as (game, address):
        player = Player(browser, game, address)
        corners = ["0", "6", "42", "48"]
        assert sorted(e.get_attribute("data-field") for e in player.all(".lit")) == sorted(corners)
        for _ in range(3):
            player.play(first(player))
        legal = game.state()["legal"]
        origins = {e["steps"][0][0] for e in legal}
        lit = {f"field:{e.get_attribute('data-field')}" for e in player.all("#board .lit")}
        assert lit == origins
        # A piece that can go to one square or more; another one after it; then none.
        by_origin: dict[str, set[str]] = {}
        for entry in legal:
            by_origin.setdefault(entry["steps"][0][0], set()).add(entry["steps"][1][0])
        assert len(by_origin) > 1
        for origin, goals in by_origin.items():
            player.click(f'#board [data-field="{origin.removeprefix("field:")}"]')
            lit = {f"field:{e.get_attribute('data-field')}" for e in player.all("#board .lit")}
            assert lit == goals
        player.click(f'#board [data-field="{origin.removeprefix("field:")}"]')
        lit = {f"field:{e.get_attribute('data-field')}" for e in player.all("#board .lit")}
        assert lit == origins
        assert game.session.actions == game.session.record().actions
        # Turned or not is asked in a menu.
        goal = sorted(by_origin[origin])[0]
        for key in (origin, goal):
            player.click(f'#board [data-field="{key.removeprefix("field:")}"]')
        names = [e["name"] for e in legal if e["steps"] == [[origin], [goal]]]
        if len(names) > 1:
            assert [button.text for button in player.all("#menu button")] == names


def test_a_game_of_tuerme_by_clicks(browser):
    options = {"num_players": 3, "max_plies": 15}
    with served(Session("tuerme", ["random", "human", "greedy"], 4, options)) as (game, address):
        player = Player(browser, game, address)
        rng = random.Random(1)
        while not player.over:
            player.play(rng.choice([e["action"] for e in game.state()["legal"]]))
        assert_shown(player)
        assert len(game.session.actions) == 15


def test_undo_and_a_new_game(browser):
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        assert not player.all("#undo:enabled")
        actions = [first(player)]
        player.play(actions[0])
        player.play(first(player))
        player.click("#undo")
        wait(lambda: len(game.session.actions) == 1, "undo")
        player.wait_for_turn()
        player.click("#undo")
        wait(lambda: game.session.actions == [], "undo")
        wait(lambda: not player.all("#undo:enabled"), "the button to be off")
        player.click("#new")
        wait(lambda: player.all("dialog[open]"), "the form")
        player.run("arguments[0].value = 'tuerme-v0'", player.all("#game")[0])
        player.run("document.getElementById('game').dispatchEvent(new Event('change'))")
        players = player.all("#options [name=num_players]")[0]
        players.clear()
        players.send_keys("3\t")
        wait(lambda: len(player.all("#agents select")) == 3, "three players")
        player.all("#options [name=slide]")[0].click()
        player.all("#agents select")[2].send_keys("greedy")
        player.all("#seed")[0].send_keys("77")
        player.click("#start")
        wait(lambda: game.state()["game"] == "tuerme-v0", "the new game")
        player.wait_for_turn()
        assert game.session.record().seed == 77
        assert game.session.agents == ["human", "random", "greedy"]
        assert game.session.record().options["slide"] is True
        assert player.text("h1") == "tuerme-v0"
        assert not player.all("dialog[open]")


def test_undo_and_a_new_game_while_an_opponent_thinks(browser, monkeypatch):
    thinks, go_on = threading.Event(), threading.Event()
    chosen = sessions.choose

    def choose(*arguments: Any) -> int:
        thinks.set()
        go_on.wait(300)
        return chosen(*arguments)

    monkeypatch.setattr(sessions, "choose", choose)
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        player.play(first(player))
        for button in ("#undo", "#new"):
            thinks.clear()
            go_on.clear()
            player.run("document.querySelector('#legal button').click()")
            assert thinks.wait(300)
            assert "random thinks" in player.text("#status")
            assert player.text("#legal") == "it is not your turn"
            player.click(button)
            if button == "#new":
                wait(lambda: player.all("dialog[open]"), "the form")
                player.click("#start")
                wait(lambda: game.session.actions == [], "the new game")
            else:
                wait(lambda: len(game.session.actions) == 1, "undo")
            go_on.set()
            player.wait_for_turn()
            assert player.text("#notice") == ""
        assert game.session.actions == []
        assert_shown(player)


def test_the_record_is_downloaded(browser, tmp_path):
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        player.play(first(player))
        player.click("#record")
        path = tmp_path / "kirche-v0-1.jsonl"
        wait(path.exists, "the file")
        assert list(records.read_records(path)) == [game.session.record()]
    with served(Session("meeples", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        assert not player.all("#record:enabled")


def test_a_hint_is_told_and_shown(browser, monkeypatch):
    monkeypatch.setattr(sessions, "HINT_AGENT", "greedy")
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        player.click("#hint")
        wait(lambda: "would choose" in player.text("#notice"), "the hint")
        assert player.text("#notice").startswith("greedy would choose: place spire")
        assert player.all(".mark.hinted")
        assert game.session.actions == []


def test_an_older_page_shows_the_newest_state(browser):
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        game.play(0, first(player))
        player.run("document.querySelector('#legal button').click()")
        wait(lambda: "advanced elsewhere" in player.text("#notice"), "the notice")
        player.wait_for_turn(0)
        assert_shown(player)
        # The refused request is no error of the page, but the browser reports it as one.
        log = browser.get_log("browser")
        assert [entry["message"] for entry in log if "409" not in entry["message"]] == []


def test_a_server_that_has_ended_is_told(browser):
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
    player.run("document.querySelector('#legal button').click()")
    wait(lambda: "does not answer" in player.text("#notice"), "the notice")
    browser.get_log("browser")


def test_the_private_file_leads_to_the_page(browser):
    session = Session("kirche", ["human", "random"], 1)
    with served(session) as (_, address), private_page(address) as file:
        browser.get(file)
        wait(lambda: browser.find_elements("css selector", "#legal button"), "the game")
        assert browser.current_url == address
        assert browser.execute_script("return document.referrer") == ""


def test_whoever_waits_for_compiling_is_told(browser, monkeypatch):
    go_on, compiling = threading.Event(), Compiling(print)
    monkeypatch.setattr(sessions, "choose", lambda *_: int(go_on.wait(300)) - 1)
    session = Session("kirche", ["human", "greedy"], 1)
    with served(session, compiling=compiling) as (game, address):
        player = Player(browser, game, address)
        player.run("document.querySelector('#hint').click()")
        wait(lambda: "thinks" in player.text("#notice"), "the notice of a search")
        compiling.on_start(None)
        wait(lambda: "Compiling, once" in player.text("#notice"), "the notice")
        compiling.on_end(None)
        go_on.set()
        wait(lambda: "would choose" in player.text("#notice"), "the hint")


def test_a_new_game_that_is_compiled_is_told_in_its_form(browser, monkeypatch):
    go_on, compiling = threading.Event(), Compiling(print)
    with served(Session("kirche", ["human", "random"], 1), compiling=compiling) as (game, address):
        player = Player(browser, game, address)
        monkeypatch.setattr(page, "Session", lambda *words: go_on.wait(300) and Session(*words))
        player.click("#new")
        wait(lambda: player.all("dialog[open]"), "the form")
        compiling.on_start(None)
        player.run("document.querySelector('#start').click()")
        wait(lambda: "Compiling, once" in player.text("#setup-error"), "the notice")
        compiling.on_end(None)
        go_on.set()
        wait(lambda: not player.all("dialog[open]"), "the new game")


def test_script_text_in_names_is_shown_as_text(browser):
    name = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        game.session.agents[1] = name
        player = Player(browser, game, address)
        assert player.all("#players .agent")[1].text == name
        player.click("#new")
        wait(lambda: player.all("dialog[open]"), "the form")
        assert not player.all("#agents img, #players img, body script:not([src])")
        assert "kirche-v0" in browser.title


def test_hidden_hands_do_not_reach_the_browser(browser):
    with served(Session("meeples", ["random", "human"], 3)) as (game, address):
        player = Player(browser, game, address)
        hands = game.session.env.snapshot()["hands"]
        shown = {e.get_attribute("data-stone") for e in player.all("[data-stone]")}
        assert shown == {f"{a}-{b}" for a, b in hands[1]}


@pytest.mark.parametrize("game_name", ["kirche", "tuerme", "meeples"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE, (320, 600)])
def test_the_page_fits(browser, game_name, size):
    set_viewport(browser, *size)
    set_scheme(browser, "dark")
    with served(Session(game_name, ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        assert player.run("return document.documentElement.dataset.theme") == "dark"
        player.play(first(player))
        assert player.run("return document.documentElement.scrollWidth") <= size[0]
        beyond = player.run(
            "return [...document.querySelectorAll('button, input, select, p, li, h1')]"
            ".filter((each) => each.getBoundingClientRect().right > innerWidth + 1)"
            ".map((each) => each.outerHTML)"
        )
        assert beyond == []
        # What can be clicked is wide enough for a finger, and in one piece.
        widths = player.run(
            "return [...document.querySelectorAll('.lit')].map((each) => each.getBoundingClientRect().width)"
        )
        assert widths and min(widths) >= 19
        player.click("#theme")
        wait(lambda: player.run("return document.documentElement.dataset.theme") == "light", "it")
        player.click("#new")
        wait(lambda: player.all("dialog[open]"), "the form")
        assert player.run("return document.documentElement.scrollWidth") <= size[0]
        assert json.dumps(game.state())
