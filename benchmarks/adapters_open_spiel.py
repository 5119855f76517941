"""OpenSpiel: random play of a game through the adapter, beside OpenSpiel's own games.

OpenSpiel has no way for PettingZoo's environments, so its own games are the yardstick: its one
board game in Python, and connect four in C++, for which we have a kernel as well.
"""

from __future__ import annotations

import importlib
from typing import Any

import pyspiel

from benchmarks.connect_four_game import GAME as CONNECT_FOUR
from benchmarks.measuring import Case, Work
from benchmarks.peers import open_spiel_loop
from tabletop_envs.adapters import open_spiel

ADAPTER, PYTHON_GAME, CPP_GAME = "adapter", "OpenSpiel's own in Python", "OpenSpiel's own in C++"


def works(game: str, lanes: int) -> dict[Case, Work]:
    """Random actions with observation and mask, one game after the other; chance is not counted.

    OpenSpiel has no batches: `lanes` has no meaning here.
    """
    importlib.import_module("open_spiel.python.games.tic_tac_toe")
    open_spiel.register_game(CONNECT_FOUR)
    names = {
        (PYTHON_GAME, "tic_tac_toe"): "python_tic_tac_toe",
        (CPP_GAME, "connect_four"): "connect_four",
        (ADAPTER, game): f"tabletop_{game}",
        (ADAPTER, "connect_four"): "tabletop_connect_four",
    }
    load: Any = pyspiel.load_game
    return {
        Case("open_spiel, self-play", way, name, 1): open_spiel_loop(load(loaded))
        for (way, name), loaded in names.items()
    }
