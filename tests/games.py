"""The games and options that the shared tests run over: every game of the registry, every kind of
option.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tabletop_envs import registry
from tabletop_envs.envs.aec import TabletopEnv

# For each game the options of its cases; the first are the defaults.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "kirche": [{}, {"num_houses": 1}, {"num_houses": 3, "max_plies": 60}],
    "tuerme": [
        {},
        {"num_players": 3, "slide": True},
        {"num_players": 4, "end_on_any_full_city": True, "max_plies": 150},
        {"num_players": 2, "slide": True, "end_on_any_full_city": True},
    ],
    "meeples": [
        {},
        {"num_players": 3, "dice_per_player": 5},
        {"num_players": 4, "open_hands": True},
        {"num_players": 2, "dice_per_player": 1, "max_plies": 90},
    ],
}
# All options of a game at random.
STRATEGIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "kirche": st.fixed_dictionaries(
        {"num_houses": st.integers(1, 7), "max_plies": st.sampled_from([1, 5, 30, 200, 200])}
    ),
    "tuerme": st.fixed_dictionaries(
        {
            "num_players": st.integers(2, 4),
            "slide": st.booleans(),
            "end_on_any_full_city": st.booleans(),
            "max_plies": st.sampled_from([1, 40, 500, 500]),
        }
    ),
    "meeples": st.fixed_dictionaries(
        {
            "num_players": st.integers(2, 4),
            "dice_per_player": st.integers(1, 5),
            "open_hands": st.booleans(),
            "max_plies": st.sampled_from([1, 40, 1000, 1000]),
        }
    ),
}
FOLDER = Path(__file__).parent
GAMES = registry.game_names()
CASES = [
    pytest.param(name, options, id="-".join([name, *(f"{k}={v}" for k, v in options.items())]))
    for name in GAMES
    for options in OPTIONS[name]
]
each_game = pytest.mark.parametrize("name", GAMES)
each_case = pytest.mark.parametrize(("name", "options"), CASES)


def positions(name: str) -> list[dict[str, Any]]:
    """A game's positions of tests/positions, by somebody else's implementation."""
    file = FOLDER / "positions" / f"{name}.json"
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["positions"]
    return entries


def module(name: str) -> Any:
    """The module of a game, such as `tabletop_envs.kirche_v0`."""
    return importlib.import_module(f"tabletop_envs.{registry.module_name(name)}")


def raw_env(name: str, **options: Any) -> TabletopEnv:
    """A game's environment in which illegal actions raise."""
    environment: TabletopEnv = module(name).raw_env(**options)
    return environment


def legal_actions(env: TabletopEnv) -> list[int]:
    """The legal actions of the agent to move, ascending."""
    return [int(action) for action in env.action_mask().nonzero()[0]]


def over(env: TabletopEnv) -> bool:
    """Whether the game has ended."""
    return any(env.terminations.values())


def play(env: TabletopEnv, choices: Any, steps: int = 10**9) -> None:
    """Play up to `steps` actions; `choices(n)` gives the place of each among the n legal ones."""
    while steps > 0 and not over(env):
        legal = legal_actions(env)
        env.step(legal[choices(len(legal))])
        steps -= 1
