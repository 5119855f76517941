"""The replay page without a browser: what its data says, and that it is safe and small."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabletop_envs.arena import records, replay
from tabletop_envs.arena.compact import Store, deltas, split
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.render import svg
from tests.arena.test_records import finished, play_some
from tests.games import each_case, each_game, raw_env

TAMPERED = (
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(2)>",
    "\"'&amp; \u2028 $data \ud800",
)


class Page(HTMLParser):
    """A page taken apart: elements with attributes, texts of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        ((_, text), (_, self.script)) = [pair for pair in self.texts if pair[0] == "script"]
        ((_, self.style),) = [pair for pair in self.texts if pair[0] == "style"]
        self.data: dict[str, Any] = json.loads(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, text = self.texts[-1]
            self.texts[-1] = (tag, text + data)

    def part(self, number: int, theme: int) -> str:
        """A part as it reads in a theme."""
        words = (self.data["words"][word] for word in self.data["parts"][number])
        return "".join(word if isinstance(word, str) else word[theme] for word in words)

    def drawings(self, game: int, theme: int) -> list[str]:
        """All drawings of a game."""
        parts: list[int] = []
        drawn = []
        for changes in self.data["games"][game]["drawings"]:
            apply(parts, changes)
            drawn.append("".join(self.part(number, theme) for number in parts))
        return drawn


def apply(numbers: list[int], changes: list[list[int]]) -> None:
    for place, gone, *come in changes:
        numbers[place : place + gone] = come


def some(name: str, steps: int, agents: list[str] | None = None, **options: Any) -> GameRecord:
    """The record of the first actions of a random game."""
    env = raw_env(name, **options)
    actions = play_some(env, 3, steps)
    return records.record_of(env, 3, actions, agents or list(env.possible_agents))


# What the page shows


@each_case
def test_the_drawings_are_those_of_the_positions(name, options):
    record = some(name, 40, **options)
    page = Page(replay.page(record))
    for index, theme in enumerate(svg.THEMES):
        expected, previous = [], None
        for env in records.replay(record):
            snapshot = env.snapshot()
            expected.append(
                svg.draw(snapshot, theme=theme, previous=previous, fields=False, symbols=False)
            )
            previous = snapshot
        assert page.drawings(0, index) == expected


@each_game
def test_every_piece_of_a_drawing_is_in_the_page_once(name):
    records_shown = [some(name, 20), some(name, 40)]
    page = Page(replay.page(records_shown))
    positions = [env.snapshot() for record in records_shown for env in records.replay(record)]
    for index, theme in enumerate(svg.THEMES):
        pieces = [page.part(number, index) for number in page.data["pieces"]]
        known = [ElementTree.fromstring(piece).attrib["id"] for piece in pieces]
        used = {
            piece
            for game in (0, 1)
            for drawing in page.drawings(game, index)
            for piece in re.findall(r'href="#([^"]+)"', drawing)
        }
        assert len(known) == len(set(known))
        assert used
        assert used <= set(known)
        assert sorted(pieces) == sorted(
            split(f"<defs>{svg.draw_symbols(positions, theme=theme)}</defs>")[1:-1]
        )


@each_case
def test_actions_are_there_by_name_and_player(name, options):
    record = some(name, 50, **options)
    (game,) = Page(replay.page(record)).data["games"]
    names, movers = [], []
    for env in records.replay(record):
        if len(names) < len(record.actions):
            names.append(env.action_to_str(record.actions[len(names)]))
            movers.append(env.possible_agents.index(env.agent_selection))
    assert game["actions"] == names
    assert game["movers"] == movers
    assert len(game["drawings"]) == len(names) + 1
    assert [player["agent"] for player in game["players"]] == record.agents
    assert game["game"] == record.game
    assert "seed 3" in game["setting"]


@each_game
def test_a_finished_game_says_who_won(name):
    _, record = finished(name, max_plies=40)
    (game,) = Page(replay.page(record)).data["games"]
    assert record.result is not None
    rewards = record.result["rewards"]
    best = [player for player, reward in enumerate(rewards) if reward == max(rewards)]
    assert game["winners"] == ([] if len(best) == len(rewards) else best)
    for player in game["winners"]:
        assert game["players"][player]["name"] in game["result"]
    assert game["result"].endswith("ended by max_plies")
    scores = " : ".join(map(str, record.result["scores"]))
    assert f"scores {scores}," in game["result"]


def test_an_unfinished_game_says_so():
    (game,) = Page(replay.page(some("kirche", 10))).data["games"]
    assert (game["result"], game["winners"]) == ("unfinished", [])


@each_game
def test_a_game_lost_by_an_illegal_action_ends_with_it(name):
    env = raw_env(name, on_illegal="lose")
    actions = play_some(env, 3, 12)
    illegal = int((env.action_mask() == 0).nonzero()[0][0])
    mover = env.possible_agents.index(env.agent_selection)
    env.step(illegal)
    record = records.record_of(env, 3, [*actions, illegal], list(env.possible_agents))
    (game,) = Page(replay.page(record)).data["games"]
    assert len(game["actions"]) == 13
    assert game["actions"][-1].endswith(" (illegal)")
    assert game["movers"][-1] == mover
    assert game["result"].endswith("an illegal action")
    assert mover not in game["winners"]
    assert len(game["drawings"]) == 14


def test_values_stand_beside_the_positions_and_the_result_at_the_end():
    env, record = finished("kirche", max_plies=30)
    values: list[list[float | None]] = [[0.25, -0.123456], [None, 1]] + [[0.5, -0.5]] * 28
    record = records.record_of(env, 5, record.actions, record.agents, values=values)
    (game,) = Page(replay.page(record)).data["games"]
    assert game["values"][:3] == [[0.25, -0.1235], [None, 1], [0.5, -0.5]]
    assert record.result is not None
    assert game["values"][-1] == record.result["rewards"]
    assert len(game["values"]) == len(game["drawings"])
    unfinished = some("kirche", 3)
    unfinished = GameRecord(**{**vars(unfinished), "values": [[0.1, None]] * 3})
    (game,) = Page(replay.page(unfinished)).data["games"]
    assert game["values"] == [[0.1, None]] * 3 + [[None, None]]


@each_game
def test_a_game_from_a_position_begins_there(name):
    env = raw_env(name)
    play_some(env, 3, 20)
    start = env.snapshot()
    actions = play_some(env, None, 5)
    record = records.record_of(env, None, actions, list(env.possible_agents), start=start)
    page = Page(replay.page(record))
    assert page.drawings(0, 0)[0] == svg.draw(start, fields=False, symbols=False)
    assert len(page.drawings(0, 0)) == 6
    assert "from a given position" in page.data["games"][0]["setting"]


def test_making_a_page_does_not_depend_on_how_the_records_come():
    games = [some("kirche", 20), some("tuerme", 20, num_players=3)]
    assert replay.page(iter(games)) == replay.page(games)
    assert replay.page(games[0]) == replay.page(games[:1])


@each_game
def test_a_page_is_small_enough_to_mail(name):
    def size(steps: int) -> int:
        return len(replay.page(some(name, steps)))

    # 1,000 actions stay under a megabyte; drawn one by one they would be 6 to 16.
    assert size(0) < 60_000
    assert (size(80) - size(40)) / 40 < 1_000


# That it is safe


def test_what_a_record_says_stays_text():
    record = some("meeples", 5, agents=list(TAMPERED), num_players=4)
    record = GameRecord(**{**vars(record), "notes": {TAMPERED[0]: list(TAMPERED[1:])}})
    html = replay.page(record)
    page = Page(html)
    (game,) = page.data["games"]
    assert [player["agent"] for player in game["players"]] == list(TAMPERED)
    assert json.loads(game["notes"]) == record.notes
    plain = Page(replay.page(some("meeples", 5, num_players=4)))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert (page.script, page.style) == (plain.script, plain.style)
    # Even a comment would change how the rest of a script is read.
    assert "<!--" not in html
    html.encode()


def test_nothing_but_the_script_and_style_of_the_page_may_run():
    page = Page(replay.page(some("kirche", 5)))
    policies = [
        element[1]["content"]
        for element in page.elements
        if element[1].get("http-equiv") == "Content-Security-Policy"
    ]
    (policy,) = policies
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for name, text in (("script-src", page.script), ("style-src", page.style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), tag
        assert "style" not in attributes, tag
        assert "src" not in attributes, tag


def test_the_page_needs_no_network():
    html = replay.page([some("kirche", 20), some("tuerme", 20), some("meeples", 20)])
    addresses = set(re.findall(r"\bhttps?://[^\s\"'<>\\)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    script = Page(html).script
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|fetch\(|import\(", script)


# Themes, bad input


def test_the_page_has_the_ground_of_the_drawings():
    style = Page(replay.page(some("kirche", 1))).style
    assert re.findall(r"--page: (#\w+);", style) == [theme.page for theme in svg.THEMES.values()]


@pytest.mark.parametrize("theme", replay.PAGE_THEMES)
def test_a_page_begins_with_its_theme(theme):
    page = Page(replay.page(some("kirche", 1), theme=theme))
    assert page.elements[0] == ("html", {"lang": "en", "data-theme": theme})


def test_a_page_needs_games():
    with pytest.raises(ValueError, match="no games"):
        replay.page([])


def test_a_game_that_breaks_the_rules_is_named():
    good = some("kirche", 5)
    bad = GameRecord(**{**vars(good), "actions": [*good.actions[:-1], 1322]})
    with pytest.raises(ValueError, match=r"^game 2: actions\[4\]: action 1322"):
        replay.page([good, bad])


def test_without_svg_py_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "svg", None)
    with pytest.raises(ImportError, match=r"tabletop-envs\[render\]"):
        replay.page(some("kirche", 5))


# How drawings are kept


def test_a_drawing_is_split_into_its_children():
    text = '<svg a="ä">x<g id="p"><path/><path></path></g>\n<use/><title>ö &lt;</title></svg>'
    parts = split(text)
    assert "".join(parts) == text
    assert parts[0] == '<svg a="ä">x'
    assert parts[1:] == [
        '<g id="p"><path/><path></path></g>\n',
        "<use/>",
        "<title>ö &lt;</title>",
        "</svg>",
    ]


@given(st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=6))
@settings(max_examples=200, deadline=None)
def test_lists_come_back_from_their_changes(lists):
    numbers: list[int] = []
    for changes, expected in zip(deltas(lists), lists, strict=True):
        apply(numbers, changes)
        assert numbers == expected


def test_changes_are_few():
    before = list(range(300))
    after = [*before[:100], 900, *before[101:200], *before[201:], 901]
    assert deltas([before, after])[1] == [[300, 0, 901], [200, 1], [100, 1, 900]]


def test_words_that_differ_by_theme_are_kept_in_both():
    store = Store()
    first = store.add(('<a fill="#1" x="2"/>', '<a fill="#3" x="2"/>'))
    assert store.add(('<a fill="#1" x="2"/>', '<a fill="#3" x="2"/>')) == first
    second = store.add(('<a fill="#1" x="4"/>', '<a fill="#3" x="4"/>'))
    assert store.words() == [['<a fill="#1"', '<a fill="#3"'], ' x="2"/>', ' x="4"/>']
    assert [store.parts()[number] for number in (first, second)] == [[0, 1], [0, 2]]


def test_drawings_of_different_build_are_refused():
    with pytest.raises(ValueError, match="longer"):
        Store().add(("<a/>", '<a b="1" c="2"/>'))
