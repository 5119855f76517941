"""What the games' pages are made of is right: rule numbers, decisions, drawings, measured facts,
perft counts.
"""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.kernels import engine
from tests.docs.pages import ROOT
from tests.rules.implementations import Starter
from tests.scripts import load_script

DATA = ROOT / "docs" / "data"
GAMES = registry.game_names()
LETTERS = {"kirche": "K", "tuerme": "T", "meeples": "M"}
# What the compiled kernel, and the slow reference, count again here.
RECOUNTED, RECOUNTED_BY_REFERENCE = 1_000_000, 1500


@pytest.fixture(scope="module")
def measuring():
    """The script that measures, as a module."""
    return load_script(ROOT / "docs" / "measure_facts.py")


def rows(kind: str, game: str) -> list[dict[str, Any]]:
    return json.loads((DATA / f"{kind}-{game}.json").read_text("utf-8"))


def rules(game: str) -> list[str]:
    """The numbers of the manual's rules, in its order."""
    manual = importlib.import_module(f"tabletop_envs.envs.{game}").__doc__
    return re.findall(rf"^({LETTERS[game]}\d+) \S.*\n    ", manual, re.MULTILINE)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_page_drawings_and_data(game):
    assert (ROOT / "docs" / "games" / f"{game}.rst").is_file()
    assert re.search(rf"^{game}$", (ROOT / "docs/games/index.md").read_text("utf-8"), re.MULTILINE)
    for stage in ("opening", "middle", "end"):
        for theme in ("light", "dark"):
            assert (ROOT / "docs" / "pictures" / f"{game}-{stage}-{theme}.svg").is_file()


@pytest.mark.parametrize("game", GAMES)
def test_rules_are_numbered_without_gaps(game):
    assert rules(game) == [f"{LETTERS[game]}{number + 1}" for number in range(len(rules(game)))]


@pytest.mark.parametrize("game", GAMES)
def test_rules_that_code_and_tests_name_are_in_the_manual(game):
    cited = set()
    package = ROOT / "src" / "tabletop_envs"
    places = (package / "kernels", package / "envs", ROOT / "tests")
    for file in (file for place in places for file in place.rglob("*.py")):
        if game in file.name or game == file.parent.name or file.name == "engine.py":
            cited |= set(re.findall(rf"\b{LETTERS[game]}\d{{1,2}}\b", file.read_text("utf-8")))
            tested = re.findall(rf"test_{LETTERS[game].lower()}(\d+)_", file.read_text("utf-8"))
            cited |= {f"{LETTERS[game]}{number}" for number in tested}
    assert len(cited) > 5
    assert cited <= set(rules(game))


@pytest.mark.parametrize("game", GAMES)
def test_decisions_are_marked_and_have_a_reason(game):
    manual = " ".join(importlib.import_module(f"tabletop_envs.envs.{game}").__doc__.split())
    decisions = re.findall(r"\(D: ((?:[^()]|\([^()]*\))*)\)", manual)
    assert len(decisions) == manual.count("(D: ") >= 3
    # The first is the sentence that explains the mark.
    assert decisions.pop(0) == "…"
    for decision in decisions:
        assert "source" in decision or "not on a 0" in decision, decision
        assert re.search(r"\b(since|so that|as|because|to begin)\b|: ", decision), decision
    # Nothing that the source leaves open is decided without a mark.
    assert manual.lower().count("the source") == sum(
        d.lower().count("the source") for d in decisions
    )


@pytest.mark.parametrize("game", GAMES)
def test_facts_are_those_that_the_script_measures(game, measuring):
    described = registry.get_game(game)
    plans = list(measuring.plans(described))
    assert [(row["options"], row["agent"], row["games"]) for row in rows("facts", game)] == plans
    for row in rows("facts", game):
        assert sum(score[0] for score in row["scores"]) == pytest.approx(1)
        assert len(row["scores"]) == described.num_players(described.parse_options(row["options"]))


def test_measuring_again_gives_the_same(measuring):
    options, agent, games = {"num_houses": 1}, "greedy", 500
    expected = [
        r for r in rows("facts", "kirche") if (r["options"], r["agent"]) == (options, agent)
    ]
    measured = measuring.self_play(registry.get_game("kirche"), options, agent, games)
    assert [measured] == [row | {"games": games} for row in expected]


@pytest.mark.parametrize("game", GAMES)
def test_perft_counts_are_those_of_the_kernel(game, measuring):
    described = registry.get_game(game)
    found = list(measuring.starts(described))
    assert len(found) == len(rows("perft", game))
    for (number, options, env), row in zip(found, rows("perft", game), strict=True):
        assert (number, options, env.snapshot()["ply"]) == (
            row["position"],
            row["options"],
            row["ply"],
        )
        for depth, count in enumerate(row["counts"], 1):
            if count <= RECOUNTED:
                states = np.repeat(env.lane()[0], depth)
                assert engine.perft(states, depth) == count, (row, depth)


@pytest.mark.parametrize("game", GAMES)
def test_perft_counts_are_those_of_the_recorded_positions(game):
    file = ROOT / "tests" / "positions" / f"{game}.json"
    recorded = json.loads(file.read_text("utf-8"))["positions"]
    for row in rows("perft", game):
        if row["position"] is not None:
            entry = recorded[row["position"]]
            assert row["counts"][0] == len(entry["legal"])
            for count, expected in zip(row["counts"], entry.get("perft", []), strict=False):
                assert count == expected
        elif game == "kirche" and not row["options"]:
            assert row["counts"] == recorded[0]["perft"]


@pytest.mark.parametrize("game", GAMES)
def test_perft_counts_from_the_start_are_those_of_the_reference(game, measuring):
    starter = Starter(game, "reference")

    def count(snapshot: dict[str, Any], depth: int) -> int:
        game = starter.position(snapshot)
        if depth == 1:
            return len(game.legal_actions())
        total = 0
        for action in game.legal_actions():
            following = starter.position(snapshot)
            following.step(action)
            total += count(following.snapshot(), depth - 1)
        return total

    for number, options, env in measuring.starts(registry.get_game(game)):
        if number is None:
            counts = next(
                row["counts"]
                for row in rows("perft", game)
                if row["position"] is None and row["options"] == options
            )
            for depth, expected in enumerate(counts, 1):
                if expected <= RECOUNTED_BY_REFERENCE:
                    assert count(env.snapshot(), depth) == expected, (options, depth)
