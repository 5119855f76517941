"""A round of meeples by clicks: a stone laid, a re-roll, a pass, a meeple put and a special action."""

from __future__ import annotations

import pytest

from tabletop_envs.arena.records import GameRecord
from tabletop_envs.play.session import Session
from tests.browser.web_page import Player, served, wait

pytest.importorskip("starlette", reason="the extra web is not installed")
SPECIALS = ("land", "sidestep", "clone", "teleport")
# What the player of these tests prefers, by the beginnings of names.
WISHES = ("re-roll", "pick up", "sidestep", "clone", "teleport", "put meeple", "set block")


def choose(session: Session, played: list[str]) -> int:
    """What a player who wants to see everything does: a block, a re-roll, then a pass."""
    moves = session.legal_moves()
    if "re-roll" in played and "pass" in moves:
        return moves["pass"]
    for wish in WISHES:
        for name, action in moves.items():
            if name.startswith(wish):
                return action
    return next(iter(moves.values()))


def simulate(seed: int, rounds: int) -> GameRecord | None:
    """A game up to a round in which the player re-rolls, passes and carries out a special action,
    where there is one.
    """
    session = Session("meeples", ["human", "random"], seed)
    played: list[str] = []
    begun, now, special = session.record(), 0, False
    while not session.over and now <= rounds:
        snapshot = session.env.snapshot()
        if snapshot["round"] != now:
            if special and {"re-roll", "pass"} <= set(played):
                return begun
            begun, now, special, played = session.record(), snapshot["round"], False, []
        if not session.human_to_move:
            session.play_agent()
            continue
        special = special or snapshot["phase"] in SPECIALS
        played.append(session.play(choose(session, played)))
    return None


def round_to_play() -> GameRecord:
    """The game before such a round."""
    return next(record for seed in range(200) if (record := simulate(seed, 8)))


def test_a_round_with_a_re_roll_a_pass_and_a_special_action(browser):
    with served(Session.resume(round_to_play())) as (game, address):
        player = Player(browser, game, address)
        session = game.session
        this = session.env.snapshot()["round"]
        played: list[str] = []
        prompts: dict[str, str] = {}
        while (snapshot := session.env.snapshot())["round"] == this and not session.over:
            prompts.setdefault(snapshot["phase"], player.text("#status"))
            action = choose(session, played)
            played.append(session.env.action_to_str(action))
            if played[-1] in ("re-roll", "pass"):
                buttons = {button.text.lower() for button in player.all("#commands button")}
                assert {name for name in session.legal_moves() if name in ("re-roll", "pass")} == (
                    buttons
                )
            player.play(action)
        assert {"re-roll", "pass"} <= set(played)
        assert any(name.startswith(("put meeple", "move meeple")) for name in played)
        assert set(prompts) & set(SPECIALS)
        assert "Choose a stone of your hand" in prompts["stones"]
        assert prompts.keys() >= {"stones", "blocks", "meeples"}
        assert len(set(prompts.values())) == len(prompts)
        assert [row.text for row in player.all("#log .text")] == [
            entry["name"] for entry in game.state()["log"]
        ]


def test_several_people_before_one_screen_see_a_curtain_between_them(browser):
    with served(Session("meeples", ["human", "human"], 2)) as (game, address):
        browser.get(address)
        hidden = "return [...document.querySelectorAll('#board svg')].every((each) => getComputedStyle(each).visibility === 'hidden')"
        wait(lambda: browser.find_elements("css selector", "#curtain button"), "the curtain")
        assert browser.execute_script(hidden)
        assert not browser.find_elements("css selector", "#legal button, #hint:enabled")
        browser.find_element("css selector", "#curtain button").click()
        player = Player.__new__(Player)
        player.browser, player.game = browser, game
        assert not browser.execute_script(hidden)
        while game.session.player == 0:
            before = len(game.session.actions)
            player.run("document.querySelector('#legal button').click()")
            wait(lambda: len(game.session.actions) > before, "the action")  # noqa: B023
            if game.session.player == 0:
                player.wait_for_turn(before)
        wait(lambda: player.all("#curtain button"), "the curtain")
        assert player.text("#curtain button") == "I am B: show it"
        assert player.text("#status") == "B:"
        assert not player.all("#log li")
        assert browser.execute_script(hidden)
        assert not player.all("#legal button")
