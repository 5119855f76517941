"""What the tests of the page to play on share: a served game, and a player's hands."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tabletop_envs.play.session import Session
from tabletop_envs.play.web import WebGame

# Long enough to compile on a busy machine; nobody waits longer than needed.
WAIT = 300.0


@contextlib.contextmanager
def served(session: Session, **arguments: Any) -> Iterator[tuple[WebGame, str]]:
    """The game behind a page, and the page's address, while it is served by a thread."""
    from tabletop_envs.play.web import server

    game = WebGame(session, **arguments)
    addresses: list[str] = []
    with socket.create_server((server.ADDRESS, 0)) as listener:
        running = server.make_server(game, listener, ready=addresses.append, ended=lambda: None)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait(lambda: running.started, "the server")
            yield game, addresses[0]
        finally:
            running.should_exit = True
            thread.join(WAIT)


def wait(condition: Callable[[], Any], what: str) -> Any:
    """Wait until something is true; its value."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


class Player:
    """A person before the page."""

    def __init__(self, browser: Any, game: WebGame, address: str) -> None:
        self.browser, self.game = browser, game
        browser.get(address)
        self.wait_for_turn()

    def all(self, selector: str) -> list[Any]:
        """The elements of a selector."""
        return list(self.browser.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.browser.find_element("css selector", selector).text)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script."""
        return self.browser.execute_script(script, *arguments)

    def click(self, selector: str) -> None:
        """Click the middle of a selector's first element, whatever lies on top of it."""
        from selenium.webdriver import ActionChains

        element = self.browser.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.browser, duration=0).move_to_element(element).click().perform()

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.browser, duration=0).send_keys(key).perform()

    def wait_for_turn(self, ply: int = -1) -> None:
        """Wait for a choice of the person, or the end, after more than `ply` actions."""

        def shown() -> bool:
            logged = len(self.all("#log li"))
            over = "The game is over" in self.text("#status")
            yours = bool(self.all("#status[data-yours]"))
            return logged > ply and (over or yours)

        wait(shown, "the person's turn")

    @property
    def over(self) -> bool:
        """Whether the page shows the end."""
        return "The game is over" in self.text("#status")

    def play(self, action: int) -> None:
        """Play a legal action by the mouse, as the page leads to it."""
        state = self.game.state()
        (entry,) = [each for each in state["legal"] if each["action"] == action]
        before = len(self.game.session.actions)
        for step in entry["steps"]:
            kind, _, name = step[0].partition(":")
            where = "#commands" if kind == "action" else "#board"
            self.click(f'{where} [data-{kind}="{name}"]')
        if len(self.game.session.actions) == before:
            time.sleep(0.05)
            menu = self.all(f'#menu:not([hidden]) [data-action="{action}"]')
            if menu:
                menu[0].click()
        wait(lambda: len(self.game.session.actions) > before, f"{entry['name']} to be played")
        assert self.game.session.actions[before] == action
        self.wait_for_turn(before)
