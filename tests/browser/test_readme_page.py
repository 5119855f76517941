"""The README fits on two screens or a little more, as a hosting platform shows it."""

from markdown_it import MarkdownIt

from tests.browser.conftest import set_viewport
from tests.docs.pages import ROOT

SCREEN = (1280, 1080)
# Column, font and distances as on the widest hosting platform.
STYLE = """
body { box-sizing: border-box; width: 896px; margin: 0 auto; padding: 32px; font: 16px/1.5 sans-serif }
h1, h2 { margin: 24px 0 16px; padding-bottom: 0.3em; border-bottom: 1px solid; line-height: 1.25 }
h1 { font-size: 2em; margin-top: 0 }
p, table, pre { margin: 0 0 16px }
pre { padding: 16px; font: 13.6px/1.45 monospace; overflow: auto }
table { border-collapse: collapse }
td, th { padding: 6px 13px; border: 1px solid }
img { max-width: 100% }
"""


def test_two_screens(browser):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = text.replace("docs/pictures/", (ROOT / "docs" / "pictures").as_uri() + "/")
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    page = f"<!doctype html><style>{STYLE}</style>{body}"
    browser.get(ROOT.as_uri())
    set_viewport(browser, *SCREEN)
    browser.execute_script("document.open(); document.write(arguments[0]); document.close()", page)
    loaded = browser.execute_async_script(
        "const done = arguments[0]; Promise.all([...document.images].map(image => image.decode()))"
        ".then(() => done(true), () => done(false))"
    )
    assert loaded
    height = browser.execute_script("return document.documentElement.scrollHeight")
    assert 1.5 * SCREEN[1] < height < 2.4 * SCREEN[1]
