"""The page by keyboard alone: the board, menus, buttons, the list with its filter, the form."""

from __future__ import annotations

import pytest

from tabletop_envs.play.session import Session
from tests.browser.web_page import Player, served, wait

pytest.importorskip("starlette", reason="the extra web is not installed")
KEYS = pytest.importorskip("selenium.webdriver.common.keys").Keys

FOCUSED = "const e = document.activeElement; return e.id || e.dataset.field || e.dataset.stone || e.textContent"


def focused(player: Player) -> str:
    return str(player.run(FOCUSED))


def tab_to(player: Player, wanted: str, key: str = KEYS.TAB) -> None:
    for _ in range(60):
        if focused(player) == wanted:
            return
        player.keys(key)
    raise AssertionError(f"the focus never comes to {wanted!r}, but ends at {focused(player)!r}")


def played(player: Player, count: int) -> None:
    wait(lambda: len(player.game.session.actions) >= count, f"{count} actions")
    player.wait_for_turn(count - 1)


def test_kirche_on_the_board(browser):
    with served(Session("kirche", ["human", "random"], 1, {"num_houses": 1})) as (game, address):
        player = Player(browser, game, address)
        # The lit squares are one stop of the tab key, and arrows go between them.
        for _ in range(9):
            player.keys(KEYS.TAB)
            if focused(player) in ("0", "6", "42", "48"):
                break
        assert focused(player) == "0"
        player.keys(KEYS.ARROW_RIGHT)
        assert focused(player) == "6"
        player.keys(KEYS.ARROW_DOWN)
        assert focused(player) == "48"
        player.keys(KEYS.ARROW_DOWN)
        assert focused(player) == "48"
        player.keys(KEYS.ARROW_LEFT)
        assert focused(player) == "42"
        player.keys(KEYS.SPACE)
        assert focused(player) == "place spire 6,0 horizontal"
        player.keys(KEYS.ARROW_DOWN)
        assert focused(player) == "place spire 6,0 vertical"
        player.keys(KEYS.ESCAPE)
        assert not player.all("#menu:not([hidden])")
        assert focused(player) == "42"
        player.keys(KEYS.ENTER, KEYS.ARROW_DOWN, KEYS.ENTER)
        played(player, 1)
        assert game.state()["log"][0]["name"] == "place spire 6,0 vertical"
        # The focus stays on the board: the nave's only corner, then a square for the house.
        assert focused(player) == "6"
        player.keys(KEYS.ENTER, KEYS.ENTER)
        played(player, 2)
        wait(lambda: focused(player).isdigit(), "the focus on a square")
        player.keys(KEYS.ENTER, KEYS.ENTER)
        played(player, 5)
        # Now pieces move: the piece, then where it goes.
        wait(lambda: focused(player).isdigit(), "the focus on a square")
        origin = focused(player)
        before = len(game.session.actions)
        player.keys(KEYS.ENTER)
        assert player.all(".mark.chosen")
        assert focused(player) != origin
        player.keys(KEYS.ESCAPE)
        assert not player.all(".mark.chosen")
        player.keys(KEYS.ENTER, KEYS.ENTER)
        if player.all("#menu:not([hidden])"):
            player.keys(KEYS.ENTER)
        played(player, before + 1)


def test_the_list_and_its_filter(browser):
    with served(Session("tuerme", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        names = [entry["name"] for entry in game.state()["legal"]]
        tab_to(player, "filter")
        assert [button.text for button in player.all("#legal button")] == names
        row = names[-1].split()[1]
        player.keys(*f"move {row} ")
        some = [name for name in names if all(word in name for word in ("move", row))]
        assert [button.text for button in player.all("#legal button")] == some
        player.keys(*names[-1].removeprefix(f"move {row} "))
        player.keys(KEYS.ENTER)
        played(player, 1)
        assert game.state()["log"][0]["name"] == names[-1]
        wait(lambda: focused(player) == "filter", "the focus on the filter")
        player.keys(KEYS.ARROW_DOWN, KEYS.ARROW_DOWN)
        second = [entry["name"] for entry in game.state()["legal"]][1]
        assert focused(player) == second
        player.keys(KEYS.ENTER)
        wait(lambda: len(game.session.actions) >= 3, "the action")
        assert game.state()["log"][2]["name"] == second
        player.wait_for_turn(2)
        wait(lambda: focused(player) == "filter", "the focus on the filter")
        player.keys(*"no such thing", KEYS.ENTER)
        assert "no legal action" in player.text("#legal")
        assert len(game.session.actions) == 4


def test_undo_and_a_new_game(browser):
    with served(Session("meeples", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        player.run("document.querySelector('#legal button').click()")
        played(player, 1)
        player.run("document.activeElement.blur()")
        tab_to(player, "undo")
        player.keys(KEYS.ENTER)
        wait(lambda: game.session.actions == [], "undo")
        player.wait_for_turn()
        player.run("document.activeElement.blur()")
        tab_to(player, "new")
        player.keys(KEYS.ENTER)
        wait(lambda: player.all("dialog[open]"), "the form")
        player.keys(KEYS.ESCAPE)
        wait(lambda: not player.all("dialog[open]"), "the form to close")
        player.keys(KEYS.ENTER)
        wait(lambda: player.all("dialog[open]"), "the form")
        assert focused(player) == "game"
        player.keys(*"tuerme")
        tab_to(player, "start")
        player.keys(KEYS.ENTER)
        wait(lambda: game.state()["game"] == "tuerme-v0", "the new game")
        player.wait_for_turn()


def test_what_happens_is_told_to_those_who_cannot_see_it(browser):
    with served(Session("kirche", ["human", "random"], 1)) as (game, address):
        player = Player(browser, game, address)
        status = player.all("#status")[0]
        assert status.get_attribute("role") == "status"
        assert status.text == "Your turn: Place your spire on a corner, its ridge as you like."
        svg = player.all("#board svg")[0]
        assert svg.get_attribute("aria-label") == "kirche, ply 0, light to move"
        labels = [e.get_attribute("aria-label") for e in player.all("#board .lit")]
        assert labels[0] == "place spire 0,0: 2 ways"
        unnamed = player.run(
            "return [...document.querySelectorAll('button, input, select, [role=button]')].filter("
            "(each) => !each.closest('dialog') && !(each.textContent.trim() || each.ariaLabel))"
            ".map((each) => each.outerHTML)"
        )
        assert unnamed == []
