"""A registered game in a real browser: the one of docs/add-a-game.md, by clicks on its drawing and,
without one, by buttons.
"""

from __future__ import annotations

import pytest

from tabletop_envs import registry
from tabletop_envs.play.session import Session
from tests.browser.web_page import Player, served
from tests.registered import as_before

pytest.importorskip("starlette", reason="the extra web is not installed")


@pytest.mark.usefixtures("registered_game")
def test_it_is_played_by_clicks_on_its_drawing(browser):
    with served(Session("connect_four", ["human", "random"], 1, {"max_plies": 4})) as (
        web,
        address,
    ):
        player = Player(browser, web, address)
        assert len(player.all("#board svg .field")) == 42
        while not player.over:
            player.play(web.state()["legal"][0]["action"])
        assert len(player.all("#board svg circle")) >= 4
        assert "connect_four" in player.text("body")


def test_without_a_drawing_it_is_played_by_buttons(browser, unregistered_game):
    with as_before():
        registry.register(unregistered_game)
        with served(Session("connect_four", ["human", "human"], 1)) as (web, address):
            player = Player(browser, web, address)
            assert not player.all("#board svg .field")
            assert ". . . . . . ." in player.text("#board").replace("\N{NO-BREAK SPACE}", " ")
            player.play(3)
            assert web.session.actions == [3]
            assert ". . . x . . ." in player.text("#board").replace("\N{NO-BREAK SPACE}", " ")
