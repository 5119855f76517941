"""The pictures in docs/pictures are those that docs/make_pictures.py makes now."""

import pytest

from tests.games import GAMES, each_game
from tests.scripts import ROOT, load_script


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    return load_script(ROOT / "docs" / "make_pictures.py")


@each_game
def test_the_pictures_are_up_to_date(name, script):
    for file, picture in script.pictures(name).items():
        kept = (script.FOLDER / file).read_text(encoding="utf-8")
        assert kept == picture, f"{file} is stale: run python docs/make_pictures.py"


def test_there_is_no_other_picture(script):
    expected = {
        f"{name}-{stage}-{theme}.svg"
        for name in GAMES
        for stage in script.STAGES
        for theme in ("light", "dark")
    }
    # Curves have scripts of their own: benchmarks.learning, docs/draw_alphazero.py.
    curves = {file.name for file in script.FOLDER.glob("learning-*.svg")} | {"alphazero-kirche.svg"}
    assert {file.name for file in script.FOLDER.iterdir()} == expected | curves
