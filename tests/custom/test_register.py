"""`register`: what it takes, what it refuses, games defined again, entry points, objects by name."""

from __future__ import annotations

import pickle
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import tabletop_envs
from tabletop_envs import evaluation, named, registry
from tabletop_envs.arena.workers import check_game
from tabletop_envs.envs.kirche import Kirche
from tabletop_envs.game import Game
from tabletop_envs.render import svg
from tests.custom.processes import python
from tests.registered import as_before


class Hamlet(Kirche):
    """kirche under another name."""

    name = "hamlet"


GAME = Hamlet()


def evaluate(state: Any, values: Any) -> None:
    """No idea."""


@pytest.fixture(autouse=True)
def registries():
    with as_before():
        yield


# Registering


def test_the_library_s_games_are_registered_by_the_same_call():
    for name in ("kirche", "tuerme", "meeples"):
        known = registry.registration(name)
        again = pickle.loads(pickle.dumps(known))
        registry.register(
            f"tabletop_envs.{name}_v0:GAME",
            name=name,
            heuristic=f"tabletop_envs.evaluation.{name}",
            drawing=f"tabletop_envs.render.svg.{name}",
        )
        assert registry.registration(name) == known == again


def test_registering_again_changes_only_what_is_given():
    tabletop_envs.register(GAME, heuristic=evaluate)
    tabletop_envs.register(GAME, drawing="tabletop_envs.render.svg.kirche")
    known = registry.registration("hamlet")
    assert (known.game, known.heuristic) == (GAME, evaluate)
    assert known.drawing == "tabletop_envs.render.svg.kirche"
    assert registry.game_names()[-1] == "hamlet"
    assert registry.registration_of(GAME) == known


def test_a_game_defined_again_takes_the_old_one_s_place():
    """As a notebook's cell that is run again does it, or a module that is loaded again."""
    tabletop_envs.register(GAME, heuristic=evaluate)
    again = type("Hamlet", (Kirche,), {"name": "hamlet", "__module__": __name__})
    again.__qualname__ = Hamlet.__qualname__
    new: Game = again()
    tabletop_envs.register(new)
    assert registry.get_game("hamlet") is new
    assert registry.registration("hamlet").heuristic is evaluate
    assert registry.registration_of(GAME) is None


def test_the_version_is_in_all_ids():
    tabletop_envs.register(GAME, version=3)
    assert registry.batch_id("hamlet") == "hamlet-v3"
    assert registry.gym_id("hamlet") == "tabletop_envs/Hamlet-v3"
    assert registry.module_name("hamlet") == "hamlet_v3"
    assert tabletop_envs.make_batch("tabletop_envs/hamlet-v3", 1).game is GAME
    tabletop_envs.register(GAME)  # keeps it
    assert registry.batch_id("hamlet") == "hamlet-v3"


class Kirche2(Kirche):
    """Another game called kirche."""


class Misnamed(Kirche):
    """A game with a name that is none."""

    name = "My Game"


WRONG: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (Kirche2(), {}, ValueError, r"name 'kirche' must be another: .* is not the same game"),
    (Misnamed(), {}, ValueError, "name='My Game' must begin with a small letter"),
    (Hamlet, {}, TypeError, r"game=<class .*Hamlet.*> must be a Game, or 'module:NAME'"),
    (None, {}, TypeError, "game=None must be a Game"),
    ("hamlet", {"name": "hamlet"}, ValueError, "game='hamlet' must be a Game, or 'module:NAME'"),
    ("a:GAME", {}, ValueError, "with the game's name as name"),
    ("other:GAME", {"name": "kirche"}, ValueError, "name 'kirche' must be another"),
    (GAME, {"name": "village"}, ValueError, "name='village' must be left out, or .* 'hamlet'"),
    (GAME, {"version": -1}, ValueError, "version=-1 must be an integer from 0"),
    (GAME, {"version": "1"}, TypeError, "version='1' must be an integer"),
    (GAME, {"heuristic": 3}, TypeError, r"heuristic=3 must be a function \(state, values\)"),
    (GAME, {"drawing": 3}, TypeError, r"drawing=3 must have SIZE \(width, height\) and draw"),
    (GAME, {"drawing": named}, TypeError, "must have SIZE"),
]


@pytest.mark.parametrize(("game", "more", "error", "words"), WRONG)
def test_what_cannot_be_registered_changes_nothing(game, more, error, words):
    for _ in ("before the library's games are used", "after"):
        before = dict(registry._GAMES)
        with pytest.raises(error, match=words):
            tabletop_envs.register(game, **more)
        assert before == registry._GAMES
        registry.all_games()


def test_another_version_of_a_registered_game_is_refused():
    tabletop_envs.register(GAME, version=1)
    with pytest.raises(
        ValueError, match="version=2 must be 1: the game is registered as hamlet-v1"
    ):
        tabletop_envs.register(GAME, version=2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"heuristic": "no_such_module"},
            "heuristic no_such_module of game hamlet: there is no mod",
        ),
        ({"heuristic": "json"}, "must call register_heuristic for the game's kernel"),
        ({"heuristic": "json:nothing"}, "'nothing' of module json .* must be a heuristic"),
    ],
)
def test_a_wrong_heuristic_is_named_when_it_is_used(given, words, monkeypatch):
    monkeypatch.setattr(evaluation, "_HEURISTICS", {})
    tabletop_envs.register(GAME, **given)
    with pytest.raises(ValueError, match=words):
        evaluation.load(GAME)


@pytest.mark.parametrize(
    ("drawing", "error"), [("no_such_module", ValueError), ("json", TypeError)], ids=str
)
def test_a_wrong_drawing_is_named_when_it_is_used(drawing, error):
    tabletop_envs.register(GAME, drawing=drawing)
    with pytest.raises(error, match=f"drawing {drawing} of game hamlet"):
        svg.cut_of(GAME)


def test_a_drawing_may_be_any_object():
    drawing = types.SimpleNamespace(SIZE=(48, 48), draw=print, CUT=7)
    tabletop_envs.register(GAME, drawing=drawing)
    assert svg.cut_of(GAME) == 7


def test_what_no_other_process_can_import_is_refused_by_name():
    tabletop_envs.register(GAME, heuristic=lambda state, values: None)
    with pytest.raises(ValueError, match="game 'hamlet' must be picklable, with its heuristic"):
        check_game(GAME)
    nowhere = Hamlet()
    with pytest.raises(pickle.PicklingError, match=rf"module {__name__} of its class must hold it"):
        pickle.dumps(nowhere)


# Objects by name


@pytest.fixture
def modules(tmp_path, monkeypatch):
    (tmp_path / "mine_of_test.py").write_text("class Box: ball = 3\nfirst, second = 1, 2\n")
    (tmp_path / "broken_of_test.py").write_text("\n1 / 0\n")
    (tmp_path / "lacking_of_test.py").write_text("import no_such_module\n")
    (tmp_path / "json.py").write_text("GAME = 1\n")
    (tmp_path / "not-a-name.py").write_text("GAME = 1\n")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in [name for name in sys.modules if name.endswith("_of_test")]:
        del sys.modules[name]


def is_int(value: Any) -> bool:
    return isinstance(value, int)


@pytest.mark.usefixtures("modules")
def test_objects_are_found_by_module_and_by_file():
    assert named.load_object("mine_of_test.py:second", "number", is_int) == 2
    assert named.load_object("./mine_of_test.py:Box.ball", "number", is_int) == 3
    assert named.load_object("mine_of_test:first", "number", is_int) == 1
    assert named.load_object("mine_of_test.py", "number", is_int, "first") == 1
    assert sys.path[-1] != ""


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "mine_of_test.py:third",
            "'third' of module mine_of_test .*must be a number, but there is",
        ),
        ("mine_of_test.py:secnd", "did you mean 'second'.*its numbers: first, second"),
        ("mine_of_test.py:Box", "but it is of the type type"),
        ("nothing.py:GAME", "there is no file /.*nothing.py"),
        ("no_such_module:GAME", "there is no module 'no_such_module' to import .*file.py:NAME"),
        (
            "broken_of_test.py:GAME",
            "importing broken_of_test fails: ZeroDivisionError: .*line 2 of",
        ),
        ("lacking_of_test.py:GAME", "importing lacking_of_test fails: ModuleNotFoundError: No"),
        ("json.py:GAME", "the name 'json' is another module's"),
        ("not-a-name.py:GAME", "not-a-name.py must be named like a Python module"),
        ("mine_of_test.py", "must be module:NAME or file.py:NAME"),
        (":GAME", "must be module:NAME or file.py:NAME"),
    ],
)
def test_what_is_not_found_is_said_with_what_is_there(text, words):
    with pytest.raises(ValueError, match=words):
        named.load_object(text, "number", is_int)


# Entry points


def install(folder: Path, points: str) -> None:
    """What pip leaves of a package of games; its code is not there yet."""
    info = folder / "games_of_test-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: games-of-test\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tabletop_envs.games]\n{points}\n")


ENTRY_POINTS = """
import sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import tabletop_envs
from tabletop_envs import registry
assert "numba" not in sys.modules and "package_of_test" not in sys.modules
print(*registry.game_names())
print(*(warning.message for warning in caught if "entry point" in str(warning.message)), sep="\\n")
assert registry.get_game("hamlet-v2") is sys.modules["package_of_test"].GAME
assert registry.registration("hamlet").heuristic is sys.modules["package_of_test"].evaluate
try:
    registry.get_game("broken")
except ValueError as error:
    print(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(*(game.name for game in registry.all_games()))
print(caught[0].message)
import gymnasium
gymnasium.make("tabletop_envs/Hamlet-v2").reset(seed=1)
"""
PACKAGE = """
import tabletop_envs
from tabletop_envs.envs.kirche import Kirche
class Hamlet(Kirche):
    name = "hamlet"
GAME = Hamlet()
def evaluate(state, values):
    pass
tabletop_envs.register(GAME, heuristic=evaluate)  # may add to the entry point
"""


def test_installed_packages_bring_games_that_are_imported_on_use(tmp_path):
    points = ("hamlet-v2 = package_of_test:GAME", "broken = broken_of_test:GAME")
    install(tmp_path, "\n".join((*points, "kirche = package_of_test:GAME", "Odd = a:b")))
    (tmp_path / "package_of_test.py").write_text(PACKAGE)
    (tmp_path / "broken_of_test.py").write_text("1 / 0\n")
    done = python("-c", ENTRY_POINTS, cwd=tmp_path, path=tmp_path)
    assert done.returncode == 0, done.stderr
    names, *lines = done.stdout.splitlines()
    assert names == "kirche tuerme meeples hamlet broken"
    assert "entry point 'kirche' of games-of-test" in lines[0]
    assert "is left out: name 'kirche' must be another" in lines[0]
    assert "entry point 'Odd' of games-of-test" in lines[1]
    broken = "game 'broken' of entry point 'broken' of games-of-test (group tabletop_envs.games): "
    assert lines[2].startswith(broken)
    assert "importing broken_of_test fails: ZeroDivisionError" in lines[2]
    assert lines[3] == "kirche tuerme meeples hamlet"
    assert lines[4].startswith(broken) and lines[4].endswith("it is left out")
