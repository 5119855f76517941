"""The replay page in a real browser: by keyboard alone, in both themes, on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from tabletop_envs.render import svg
from tests.arena.test_replay import some
from tests.browser.conftest import DESKTOP, PHONE, set_scheme, set_viewport
from tests.browser.replay_page import (
    board,
    click,
    drawings,
    find,
    find_step,
    focus,
    place,
    press,
    wait_until,
    with_values,
)
from tests.games import each_game

# The keyboard alone


def test_keys_do_everything(browser, show):
    show(some("kirche", 60))
    press(browser, "right", "right", "right", "left")
    assert place(browser) == 2
    press(browser, "page down")
    assert place(browser) == 12
    press(browser, "page down", "page up", "page up", "page up")
    assert place(browser) == 0
    press(browser, "end")
    assert place(browser) == 60
    press(browser, "right")
    assert place(browser) == 60
    press(browser, "home", "left")
    assert place(browser) == 0


def test_the_keyboard_reaches_every_control(browser, show):
    show(some("kirche", 60), some("kirche", 10))
    seen: list[str] = []
    for _ in range(12):
        press(browser, "tab")
        seen.append(focus(browser) or find_step(browser))
        outline = browser.execute_script(
            "return getComputedStyle(document.activeElement).outlineStyle"
        )
        assert outline != "none", seen
        if seen[-1] == "step 0":
            break
    # The buttons back are of no use at the start, and the list of actions is one stop.
    assert seen == ["games", "theme", "slider", "play", "forth", "last", "speed", "step 0"]


def test_the_list_of_actions_takes_keys(browser, show):
    show(some("kirche", 60))
    browser.execute_script("document.querySelector('#actions [tabindex=\"0\"]').focus()")
    press(browser, "down", "down", "down", "up")
    assert (place(browser), find_step(browser)) == (2, "step 2")
    press(browser, "end")
    assert (place(browser), find_step(browser)) == (60, "step 60")
    press(browser, "home", "page down")
    assert (place(browser), find_step(browser)) == (10, "step 10")
    press(browser, "space")
    assert find(browser, "#play").get_attribute("aria-label") == "Pause"
    press(browser, "space")
    assert find(browser, "#play").get_attribute("aria-label") == "Play"
    press(browser, "enter")
    assert place(browser) >= 10


def test_space_on_a_button_presses_it_once(browser, show):
    show(some("kirche", 60))
    browser.execute_script("document.getElementById('speed').value = '0.5'")
    for button, step, label in (("forth", 1, "Play"), ("play", 1, "Pause"), ("play", 1, "Play")):
        browser.execute_script(f"document.getElementById('{button}').focus()")
        press(browser, "space")
        assert place(browser) == step
        assert find(browser, "#play").get_attribute("aria-label") == label


def test_the_slider_takes_keys_and_says_the_action(browser, show):
    show(some("kirche", 60))
    browser.execute_script("document.getElementById('slider').focus()")
    press(browser, "right", "right", "page down", "left")
    assert place(browser) == 11
    said = find(browser, "#slider").get_attribute("aria-valuetext")
    assert said == find(browser, "#now").text
    assert "place house" in said or "move" in said


def test_keys_with_a_modifier_stay_the_browser_s(browser, show):
    from selenium.webdriver import ActionChains, Keys

    show(some("kirche", 60))
    for key in (Keys.SHIFT, Keys.CONTROL):
        ActionChains(browser).key_down(key).send_keys(Keys.END).key_up(key).perform()
    assert place(browser) == 0


def test_keys_in_a_choice_stay_there(browser, show):
    show(some("kirche", 60))
    browser.execute_script("document.getElementById('speed').focus()")
    press(browser, "end")
    assert place(browser) == 0
    assert find(browser, "#speed").get_property("value") == "20"


# Themes and sizes


def test_the_theme_follows_the_reader_until_it_is_switched(browser, show):
    record = with_values(some("kirche", 20))
    light, dark = drawings(record), drawings(record, "dark")
    set_scheme(browser, "dark")
    show(record)
    assert board(browser) == dark[0]
    assert ground(browser) == svg.THEMES["dark"].page
    set_scheme(browser, "light")
    wait_until(browser, lambda: ground(browser) == svg.THEMES["light"].page)
    press(browser, "right")
    assert board(browser) == light[1]
    assert find(browser, "#theme").get_attribute("aria-label") == "Switch to the dark theme"
    click(browser, "#theme")
    assert board(browser) == dark[1]
    assert place(browser) == 1
    curve = find(browser, "#graph .curve").get_attribute("stroke")
    assert curve == svg.THEMES["dark"].woods[0].face
    set_scheme(browser, "dark")
    set_scheme(browser, "light")
    browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert board(browser) == dark[1]


def ground(browser: Any) -> str:
    """The page's colour, as `#rrggbb`."""
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    red, green, blue = (int(part) for part in colour[4:-1].split(", "))
    return f"#{red:02x}{green:02x}{blue:02x}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_begins_with_the_theme_that_it_was_made_with(browser, show, theme):
    set_scheme(browser, "light" if theme == "dark" else "dark")
    record = some("tuerme", 5)
    show(record, theme=theme)
    assert board(browser) == drawings(record, theme)[0]
    assert ground(browser) == svg.THEMES[theme].page


@each_game
def test_a_narrow_phone_shows_everything_without_scrolling_sideways(browser, show, name):
    set_viewport(browser, *PHONE)
    show(with_values(some(name, 30, ["a-very-long-name-" * 8, "mcts:1000"])), some(name, 4))
    for keys in ((), ("end",)):
        press(browser, *keys)
        width, right = browser.execute_script(
            "return [document.documentElement.scrollWidth,"
            "Math.max(...[...document.querySelectorAll('body *')].filter(e => e.getClientRects().length"
            " && !e.closest('#pieces, #board svg, #graph, option')).map(e => e.getBoundingClientRect().right))]"
        )
        assert width == PHONE[0]
        assert right <= PHONE[0] + 0.5
    # The board and all controls are on the first screen, large enough for fingers.
    for selector in ("#board svg", "#slider", "#first", "#back", "#play", "#forth", "#last"):
        box = find(browser, selector).rect
        assert box["y"] + box["height"] <= PHONE[1], selector
        assert box["height"] >= 24, selector


@pytest.mark.parametrize("height", [DESKTOP[1], 620])
def test_a_desktop_shows_all_of_it_at_once(browser, show, height):
    set_viewport(browser, DESKTOP[0], height)
    show(with_values(some("tuerme", 60)))
    for selector in ("#board svg", "#controls", "#players", "#graph", "#actions"):
        box = find(browser, selector).rect
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height, selector
        assert box["height"] >= 40, selector
    assert find(browser, "#board svg").rect["height"] >= height / 3
