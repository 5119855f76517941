"""A real browser for the tests of pages. Every test also fails by what its page has to complain
about in the console.

Tests are skipped where Selenium or the browser is not installed, unless `REQUIRE_BROWSER=1` says
that they must run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from typing import Any, NoReturn

import pytest

from tabletop_envs.arena.records import GameRecord

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
DESKTOP, PHONE = (1280, 860), (360, 740)


def _missing(what: str) -> NoReturn:
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The browser, started once for all tests; tests take `browser`."""
    if importlib.util.find_spec("selenium") is None:
        _missing('selenium is not installed (pip install "tabletop-envs[test]")')
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        _missing(f"there is no browser: none of {', '.join(BROWSERS)} is installed")
    service = shutil.which("chromedriver")
    if service is None:
        _missing("chromedriver is not installed")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    yield started
    started.quit()


@pytest.fixture
def browser(driver):
    """The browser with an empty page of desktop size; afterwards the console must hold no errors."""
    driver.get("about:blank")
    set_viewport(driver, *DESKTOP)
    set_scheme(driver, "light")
    driver.get_log("browser")
    yield driver
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    driver.get("about:blank")
    assert errors == []


@pytest.fixture
def show(browser, tmp_path):
    """Opens the replay page of some records, which must not ask for anything but itself."""
    from tabletop_envs.arena import replay

    def show_games(*games: GameRecord, theme: str = "auto") -> None:
        file = tmp_path / "page.html"
        file.write_text(replay.page(games, theme=theme), encoding="utf-8")
        browser.get(file.as_uri())

    yield show_games
    asked = browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    assert asked == []


def set_viewport(browser: Any, width: int, height: int) -> None:
    """Give the page a size, also one narrower than a window can be."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def set_scheme(browser: Any, scheme: str) -> None:
    """What the page learns of the reader's wish (`prefers-color-scheme`): `light` or `dark`."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
