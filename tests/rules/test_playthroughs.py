"""Whole games are what they were: see tests/rules/playthrough.py."""

from tests.games import each_game
from tests.rules.playthrough import FOLDER, games


@each_game
def test_golden_playthroughs(name):
    for file, content in games(name).items():
        assert content == (FOLDER / file).read_text(encoding="utf-8"), file
