"""The replay page in a real browser: stepping, playing, jumping, evaluations, hostile texts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tests.arena.test_records import finished
from tests.arena.test_replay import TAMPERED, some
from tests.browser.replay_page import (
    SPEED_OF_TESTS,
    board,
    click,
    drawings,
    find,
    find_all,
    place,
    press,
    wait_until,
    with_values,
)
from tests.games import each_game

# Stepping


@each_game
def test_stepping_to_the_end_shows_the_board_of_the_record(browser, show, name):
    env, record = finished(name, max_plies=30)
    show(record)
    expected = drawings(record)
    assert board(browser) == expected[0]
    for step in range(1, len(expected)):
        assert find(browser, "#last").is_enabled()
        press(browser, "right")
        assert place(browser) == step
        assert board(browser) == expected[step]
    assert not find(browser, "#forth").is_enabled()
    assert find(browser, "#now").text.endswith("ended by max_plies)")
    # The environment that the game was recorded from draws the same, but for its fields that take
    # clicks.
    final = re.sub(r"<defs>.*</defs>|<rect [^>]*pointer-events=[^>]*>(</rect>)?", "", env.svg())
    assert board(browser) == ElementTree.canonicalize(final)


@each_game
def test_the_pieces_on_the_board_are_drawn(browser, show, name):
    show(some(name, 30))
    press(browser, "end")
    # A piece whose definition is missing has no extent.
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('#board use')].map(use => use.getBBox().width)"
    )
    assert len(sizes) > 5
    assert min(sizes) > 0


def test_buttons_slider_and_list_jump(browser, show):
    record = some("kirche", 40)
    expected = drawings(record)
    show(record)

    def shows(step: int) -> bool:
        return place(browser) == step and board(browser) == expected[step]

    click(browser, "#last")
    assert shows(40)
    click(browser, "#back")
    assert shows(39)
    click(browser, "#first")
    assert shows(0)
    click(browser, "#forth")
    assert shows(1)
    click(browser, "#actions button[data-step='5']")
    assert shows(5)
    browser.execute_script(
        "const slider = document.getElementById('slider'); slider.value = 23;"
        "slider.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert shows(23)
    # The list has scrolled to the action, the page has not.
    top, bottom, inner_top, inner_bottom = browser.execute_script(
        "const list = document.getElementById('actions').getBoundingClientRect(),"
        "current = document.querySelector('#actions [aria-current]').getBoundingClientRect();"
        "return [list.top, list.bottom, current.top, current.bottom]"
    )
    assert top - 1 <= inner_top < inner_bottom <= bottom + 1
    assert browser.execute_script("return window.scrollY") == 0


def test_actions_are_listed_by_name_and_player(browser, show):
    record = some("tuerme", 12)
    show(record)
    rows = find_all(browser, "#actions button")
    names = [row.find_element("css selector", ".text").text for row in rows]
    expected = []
    for env in records.replay(record):
        if len(expected) < len(record.actions):
            expected.append(env.action_to_str(record.actions[len(expected)]))
    assert names == ["start", *expected]
    assert rows[3].get_attribute("aria-label") == f"3, red: {expected[2]}"
    click(browser, "#actions li:nth-child(4) button")
    assert find(browser, "#now").text == f"3 / 12 red: {expected[2]}"


# Playing


def test_playing_stops_at_the_end_and_begins_anew(browser, show):
    record = some("kirche", 12)
    show(record)
    browser.execute_script(f"document.getElementById('speed').value = '{SPEED_OF_TESTS}'")
    assert find(browser, "#play").get_attribute("aria-label") == "Play"
    click(browser, "#play")
    assert find(browser, "#play").get_attribute("aria-label") == "Pause"
    wait_until(browser, lambda: find(browser, "#play").get_attribute("aria-label") == "Play")
    assert place(browser) == 12
    assert board(browser) == drawings(record)[-1]
    browser.execute_script("document.getElementById('speed').value = '0.5'")
    click(browser, "#play")
    assert place(browser) < 12
    click(browser, "#play")


def test_pausing_keeps_the_position(browser, show):
    show(some("kirche", 150))
    browser.execute_script(f"document.getElementById('speed').value = '{SPEED_OF_TESTS}'")
    press(browser, "space")
    wait_until(browser, lambda: int(find(browser, "#slider").get_property("value")) >= 3)
    # What changes by itself is not read aloud.
    assert find(browser, "#now").get_attribute("aria-live") == "off"
    press(browser, "space")
    step = place(browser)
    browser.execute_async_script("setTimeout(arguments[0], 200)")
    assert place(browser) == step < 150
    press(browser, "right")
    assert find(browser, "#now").get_attribute("aria-live") == "polite"


def test_the_speed_can_be_changed_while_it_plays(browser, show):
    show(some("kirche", 100))
    # The page's timers, as many milliseconds as it asks for.
    browser.execute_script(
        "window.asked = []; const real = window.setInterval;"
        "window.setInterval = (run, wait) => { window.asked.push(wait); return real(run, 1e8); }"
    )
    click(browser, "#play")
    select = find(browser, "#speed")
    for value in ("0.5", "1", "5", "10", "20"):
        select.find_element("css selector", f"option[value='{value}']").click()
    asked = browser.execute_script("return window.asked")
    assert asked == [500, 2000, 1000, 200, 100, 50]
    assert find(browser, "#play").get_attribute("aria-label") == "Pause"


def test_any_jump_pauses(browser, show):
    show(some("kirche", 60))
    for selector in ("#back", "#forth", "#last", "#first", "#actions button[data-step='1']"):
        browser.execute_script("jump(30); document.getElementById('speed').value = '0.5'; play()")
        assert find(browser, "#play").get_attribute("aria-label") == "Pause"
        click(browser, selector)
        assert find(browser, "#play").get_attribute("aria-label") == "Play", selector


# Evaluation, several games


def test_the_evaluation_is_drawn_and_jumps(browser, show):
    from selenium.webdriver import ActionChains

    record = with_values(some("kirche", 40))
    show(record)
    assert find(browser, "#evaluation").is_displayed()
    assert record.values is not None
    paths = [curve.get_attribute("d") for curve in find_all(browser, "#graph .curve")]
    for player, path in enumerate(paths):
        points = [
            (float(x), -float(y)) for x, y in (pair.split(" ") for pair in path[1:].split("L"))
        ]
        assert points == [
            (index, row[player])
            for index, row in enumerate(record.values)
            if row[player] is not None
        ]
    assert len(paths) == 2
    graph = find(browser, "#graph")
    width = graph.size["width"]
    ActionChains(browser).move_to_element_with_offset(graph, round(width / 4), 0).click().perform()
    assert place(browser) == 30
    assert find(browser, "#graph .cursor").get_attribute("d") == "M30 -1V1"
    for step in (7, 8):
        click(browser, f"#actions button[data-step='{step}']")
        texts = [element.text for element in find_all(browser, "#players .value")]
        assert texts == [
            "" if value is None else f"{value:+.2f}".replace("-", "−").replace("+0.00", "0.00")
            for value in record.values[step]
        ]


def test_without_values_there_is_no_evaluation(browser, show):
    show(some("kirche", 5))
    assert not find(browser, "#evaluation").is_displayed()
    assert not find(browser, "#chooser").is_displayed()
    assert not find(browser, "#notes").is_displayed()


def test_games_are_chosen(browser, show):
    games = [
        with_values(some("kirche", 20)),
        some("tuerme", 15, ["a", "b", "c"], num_players=3),
        some("meeples", 25, num_players=4),
    ]
    show(*games)
    for number, record in ((1, games[1]), (2, games[2]), (0, games[0])):
        press(browser, "end")
        find(browser, f"#games option[value='{number}']").click()
        assert place(browser) == 0
        browser.execute_script("document.activeElement.blur()")
        press(browser, "end")
        assert board(browser) == drawings(record)[-1]
        assert find(browser, "#title").text == record.game
        agents = [element.text for element in find_all(browser, "#players .agent")]
        assert agents == record.agents
        assert browser.title == f"{record.game}: {' – '.join(record.agents)}"
        assert find(browser, "#evaluation").is_displayed() == (number == 0)


def test_a_game_without_actions_is_shown(browser, show):
    record = GameRecord("kirche-v0", {}, ["a", "b"], [], 1, values=[])
    show(record)
    assert place(browser) == 0
    assert board(browser) == drawings(record)[0]
    click(browser, "#play")
    assert find(browser, "#play").get_attribute("aria-label") == "Play"
    press(browser, "right", "end", "left")
    assert place(browser) == 0


def test_the_winner_is_marked(browser, show):
    _, record = finished("tuerme", max_plies=30)
    assert record.result is not None
    rewards = record.result["rewards"]
    assert rewards[0] != rewards[1], "the test needs another seed"
    show(record)
    rows = find_all(browser, "#players li")
    assert ["won" in row.text for row in rows] == [reward > 0 for reward in rewards]
    assert "red won" in find(browser, "#result").text or "blue won" in find(browser, "#result").text


# Tampered records


def test_scripts_in_names_and_notes_are_text(browser, show):
    from selenium.common.exceptions import NoAlertPresentException

    # A lone surrogate is no text that a browser could show.
    names = [name.replace("\ud800", "") for name in TAMPERED]
    record = some("meeples", 5, agents=names, num_players=4)
    record = GameRecord(**{**vars(record), "notes": {names[0]: names[2]}})
    show(record, some("meeples", 5, agents=names, num_players=4))
    press(browser, "end")
    agents = browser.execute_script(
        "return [...document.querySelectorAll('#players .agent')].map(e => e.textContent)"
    )
    assert agents == names
    assert names[0] in browser.title
    click(browser, "#notes summary")
    assert names[2] in find(browser, "#notes pre").text
    options = [option.get_property("textContent") for option in find_all(browser, "#games option")]
    assert all(name in option for option in options for name in names)
    assert len(find_all(browser, "script")) == 2
    assert find_all(browser, "img") == []
    with pytest.raises(NoAlertPresentException):
        _ = browser.switch_to.alert.text


def test_the_policy_stops_scripts_all_the_same(browser, show):
    show(some("kirche", 3))
    browser.execute_script(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true';"
        "document.body.append(script)"
    )
    assert browser.execute_script("return window.ran ?? null") is None
    # It is what the console must complain of here, and of nothing else.
    errors = [entry["message"] for entry in browser.get_log("browser")]
    assert len(errors) == 1
    assert "Content Security Policy" in errors[0]
