"""Options of all entry points at random: taken where right, else refused by a wrong name."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import tabletop_envs
from tabletop_envs import registry
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tabletop_envs.game import Game
from tabletop_envs.threads import MAX_THREADS
from tests.fuzz.values import SEED, as_bool, as_integer, random_value, report, show
from tests.games import each_game, module

pytestmark = pytest.mark.fuzz

ROUNDS = 500  # for each entry point and game
NAMES = ("num_house", "numhouses", "Slide", "max plies", "", "ü", "__class__", "self", "board")
MODES = (None, "ansi", "rgb_array", "human")
AUTORESET = ("NextStep", "SameStep", "Disabled")
# A batch of so many games at most is really made.
MOST_LANES = 64


def _one_of(*words: Any) -> Callable[[Any, int], bool]:
    return lambda value, players: isinstance(value, str | None) and value in words


def _count(most: int) -> Callable[[Any, int], bool]:
    return lambda value, players: 1 <= (as_integer(value) or 0) <= most


def _truth(value: Any, players: int) -> bool:
    return as_bool(value) is not None


def _seat(value: Any, players: int) -> bool:
    number = as_integer(value)
    return value is None or (number is not None and 0 <= number < players)


# The arguments of each entry point besides the game's options: whether a value is right, and some
# that are.
MODE = {"render_mode": (_one_of(*MODES), MODES)}
LOSING = {"on_illegal": (_one_of("raise", "lose"), ("raise", "lose"))}
AEC = {
    **MODE,
    **LOSING,
    "mask_in": (_one_of("observation", "info"), ("observation", "info")),
    "obs_key": (lambda v, p: isinstance(v, str) and v not in ("", "action_mask"), ("observation",)),
}
LEARNER = {**MODE, **LOSING, "seat": (_seat, (None, 0, 1))}
SEATED = {name: LEARNER[name] for name in ("on_illegal", "seat")}
VECTOR = {
    **LEARNER,
    "num_envs": (_count(2**31 - 1), (1, 2)),
    "copy": (_truth, (True, False)),
    "autoreset_mode": (_one_of(*AUTORESET), AUTORESET),
}
BATCH = {
    **MODE,
    "num_envs": (_count(2**31 - 1), (1, 2)),
    "num_threads": (_count(MAX_THREADS), (1, 2)),
    "check": (_truth, (True, False)),
}


def _aec(name: str, **given: Any) -> Any:
    return module(name).env(**given)


def _raw(name: str, **given: Any) -> Any:
    return module(name).raw_env(**given)


def _parallel(name: str, **given: Any) -> Any:
    return module(name).parallel_env(**given).aec_env


def _gym(name: str, **given: Any) -> Any:
    return TabletopGymEnv(name, **given)


def _vector(name: str, **given: Any) -> Any:
    return TabletopVectorEnv(name, **given)


def _batch(name: str, **given: Any) -> Any:
    return tabletop_envs.make_batch(name, **{"num_envs": 1, **given})


ENTRIES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "env": (_aec, AEC),
    "raw_env": (_raw, AEC),
    "parallel_env": (_parallel, AEC),
    "gym": (_gym, LEARNER),
    "vector": (_vector, VECTOR),
    "batch": (_batch, BATCH),
}


def _random_options(game: Game, own: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for _ in range(rng.randrange(4)):
        draw = rng.random()
        if draw < 0.55:
            option = rng.choice(game.options)
            right = rng.choice((option.minimum, option.default, option.maximum))
            if isinstance(option.default, bool):
                right = bool(right)
            given[option.name] = right if rng.random() < 0.5 else random_value(rng)
        elif draw < 0.9:
            name = rng.choice(list(own))
            given[name] = rng.choice(own[name][1]) if rng.random() < 0.6 else random_value(rng)
        else:
            given[rng.choice(NAMES)] = random_value(rng)
    lanes = as_integer(given.get("num_envs"))
    if lanes is not None and MOST_LANES < lanes < 2**31:
        given["num_envs"] = MOST_LANES
    given.pop("self", None)
    return given


def _wrong(game: Game, own: dict[str, Any], given: dict[str, Any]) -> set[str]:
    """The names of what must be refused, by rules of their own."""
    options = {option.name: option for option in game.options}
    wrong, right = set(given) - set(options) - set(own), {}
    for name in set(given) & set(options):
        option = options[name]
        if isinstance(option.default, bool):
            value: Any = as_bool(given[name])
        else:
            value = as_integer(given[name])
            if value is not None and not option.minimum <= value <= option.maximum:
                value = None
        right[name] = value
        if value is None:
            wrong.add(name)
    players = right.get("num_players") or 2
    for name in set(given) & set(own):
        if not own[name][0](given[name], players):
            wrong.add(name)
    return wrong


@each_game
@pytest.mark.parametrize("entry", ENTRIES)
def test_options_are_taken_or_refused_by_name(name, entry, capsys):
    game, rng, counts = registry.get_game(name), random.Random(f"{SEED} {name} {entry}"), Counter()
    make, own = ENTRIES[entry]
    for _ in range(ROUNDS):
        given = _random_options(game, own, rng)
        wrong = _wrong(game, own, given)
        try:
            env = make(name, **given)
        except (TypeError, ValueError) as error:
            assert wrong, f"{show(given)} is right, but: {error}"
            assert any(one in str(error) for one in wrong), f"{show(given)}: {error}"
            assert len(str(error)) < 500, show(given)
            counts["refused"] += 1
            continue
        except BaseException as error:
            pytest.fail(f"{show(given)}: {type(error).__name__}: {error}")
        assert not wrong, f"{show(given)} is taken, but {wrong} are wrong"
        for option in game.options:
            if option.name in given:
                expected = as_bool if isinstance(option.default, bool) else as_integer
                assert env.options[option.name] == expected(given[option.name]), show(given)
                assert type(env.options[option.name]) in (int, bool), show(given)
        env.close()
        counts["taken"] += 1
    assert min(counts["taken"], counts["refused"]) > ROUNDS / 20, counts
    report(capsys, f"options of {name}, {entry}", counts)


@each_game
def test_gymnasium_hands_options_on(name, capsys):
    game, rng, counts = registry.get_game(name), random.Random(f"{SEED} {name}"), Counter()
    for _ in range(ROUNDS // 10):
        # What cannot be shown fails in Gymnasium's own messages, and it reads the render mode
        # itself.
        given = {
            option: value
            for option, value in _random_options(game, SEATED, rng).items()
            if "<" not in show(value)
        }
        wrong = _wrong(game, SEATED, given)
        try:
            env = gymnasium.make(registry.gym_id(name), disable_env_checker=True, **given)
        except (TypeError, ValueError) as error:
            assert wrong, f"{show(given)} is right, but: {error}"
            assert any(one in str(error) for one in wrong), f"{show(given)}: {error}"
            counts["refused"] += 1
            continue
        assert not wrong, f"{show(given)} is taken, but {wrong} are wrong"
        env.close()
        counts["taken"] += 1
    report(capsys, f"options of {name}, gymnasium.make", counts)


WORDS = (
    "true",
    "FALSE",
    "yes",
    "1",
    "0",
    "3",
    "-1",
    "+2",
    "1_0",
    "2.0",
    "1e1",
    "0x3",
    "٣",
    "nan",
    "",
)


@each_game
def test_the_command_line_takes_options_or_names_them(name, capsys):
    typer = pytest.importorskip("typer")
    from tabletop_envs.cli.common import game_options

    game, rng, counts = registry.get_game(name), random.Random(f"{SEED} {name}"), Counter()
    names = [option.name for option in game.options]
    pieces = [*names, *NAMES, *WORDS, "=", "==", " ", "\x00", "9" * 5000, "ü", ","]
    for _ in range(ROUNDS):
        texts = []
        for _ in range(rng.randrange(3)):
            if rng.random() < 0.7:
                texts.append(f"{rng.choice(names)}={rng.choice((*WORDS, '9' * 5000))}")
            else:
                texts.append("".join(rng.choices(pieces, k=rng.randrange(1, 4))))
        try:
            options = game_options(game, texts)
        except typer.BadParameter as error:
            keys = {text.partition("=")[0].strip() for text in texts}
            named = any(key[:50] in error.message for key in keys)
            assert named or any(repr(text) in error.message for text in texts), (texts, error)
            assert len(error.message) < 12_000, texts
            counts["refused"] += 1
            continue
        except Exception as error:
            pytest.fail(f"{texts}: {type(error).__name__}: {error}")
        assert list(options) == names
        assert game.parse_options(options) == options
        counts["taken"] += 1
    assert counts["taken"], counts
    assert counts["refused"], counts
    report(capsys, f"options of {name}, command line", counts)
