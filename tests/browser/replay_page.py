"""What the tests of the replay page share: records, what is read from the page and done in it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from tabletop_envs.arena import records
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.render import svg

Open = Callable[..., None]
KEYS = {
    "left": "\ue012",
    "up": "\ue013",
    "right": "\ue014",
    "down": "\ue015",
    "home": "\ue011",
    "end": "\ue010",
    "page up": "\ue00e",
    "page down": "\ue00f",
    "tab": "\ue004",
    "enter": "\ue007",
    "space": " ",
}
# Actions a second: the fastest that the page offers.
SPEED_OF_TESTS = "20"


def with_values(record: GameRecord, seed: int = 1) -> GameRecord:
    """The record with made-up values, some of them missing."""
    rng = random.Random(seed)
    values = [
        [round(rng.uniform(-1, 1), 2) if rng.random() < 0.8 else None for _ in record.agents]
        for _ in record.actions
    ]
    return GameRecord(**{**vars(record), "values": values})


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def find_all(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def click(browser: Any, selector: str) -> None:
    find(browser, selector).click()


def press(browser: Any, *keys: str) -> None:
    """Press keys, wherever the focus is."""
    for key in keys:
        browser.switch_to.active_element.send_keys(KEYS[key])


def focus(browser: Any) -> str:
    """The id of the element with the focus."""
    return str(browser.execute_script("return document.activeElement.id"))


def place(browser: Any) -> int:
    """How many actions have been played on the board, on which all of the page must agree."""
    step = int(find(browser, "#slider").get_property("value"))
    current = find_all(browser, "#actions [aria-current]")
    assert [button.get_attribute("data-step") for button in current] == [str(step)]
    assert find(browser, "#now").text.startswith(f"{step} / ")
    return step


def board(browser: Any) -> str:
    """The board's drawing in canonical form."""
    text = browser.execute_script(
        "return new XMLSerializer().serializeToString(document.querySelector('#board > svg'))"
    )
    return ElementTree.canonicalize(text)


def drawings(record: GameRecord, theme: str = "light") -> list[str]:
    """The drawings that the page must show, in canonical form."""
    drawn, previous = [], None
    for env in records.replay(record):
        snapshot = env.snapshot()
        drawn.append(
            ElementTree.canonicalize(
                svg.draw(snapshot, theme=theme, previous=previous, fields=False, symbols=False)
            )
        )
        previous = snapshot
    return drawn


def wait_until(browser: Any, condition: Callable[[], bool]) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 300, poll_frequency=0.05).until(lambda _: condition())


def find_step(browser: Any) -> str:
    """The entry of the list of actions that has the focus."""
    step = browser.execute_script("return document.activeElement.dataset.step ?? null")
    return "" if step is None else f"step {step}"
