"""How a search chooses and values: the rules of `Search`, with defaults for each game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks, evaluation
from tabletop_envs.search.nodes import PUCT, SETTINGS, UCB

if TYPE_CHECKING:
    from tabletop_envs.game import Game

PRIORS = ("heuristic", "none")
MAX_PLAYOUT = 2**30


@dataclass(frozen=True)
class SearchConfig:
    """How a search chooses and values.

    Attributes:
        priors: `"heuristic"`: actions are preferred by what the game's heuristic says of the positions that they lead to (PUCT), so that
            few of hundreds of legal actions are tried. `"none"`: every action is tried once, in random order, then UCB1 chooses (UCT).
        exploration: The weight of exploration.
        temperature: Of the heuristic priors: a prior is in proportion to exp(estimate / temperature).
        playout: A leaf is valued after at most so many random actions: by the rewards if the game is over then, by the heuristic
            otherwise (zero in a game without one). 0: by the heuristic at once.
    """

    priors: str
    exploration: float
    temperature: float
    playout: int

    def __post_init__(self) -> None:
        plain = {
            "priors": checks.choice("priors", self.priors, PRIORS),
            "exploration": checks.number("exploration", self.exploration, 0.0),
            "temperature": checks.number("temperature", self.temperature, 1e-4),
            "playout": checks.integer("playout", self.playout, 0, MAX_PLAYOUT),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    def settings(self, is_open: bool) -> npt.NDArray[np.void]:
        """The rules as the compiled loops take them."""
        settings = np.zeros(1, SETTINGS)
        settings["rule"] = PUCT if self.priors == "heuristic" else UCB
        settings["estimates"] = self.priors == "heuristic"
        settings["exploration"] = self.exploration
        settings["temperature"] = self.temperature
        settings["playout"] = self.playout
        settings["open"] = is_open
        return settings


# The strongest of those tried at equal simulations. In meeples a position in the middle of a round is hard to value: some random
# actions later, with the dice fallen, the heuristic says more.
DEFAULTS = {
    "kirche": SearchConfig("heuristic", 1.5, 0.1, 0),
    "tuerme": SearchConfig("heuristic", 1.5, 0.1, 0),
    "meeples": SearchConfig("heuristic", 1.0, 0.03, 60),
}
WITH_HEURISTIC = SearchConfig("heuristic", 1.5, 0.1, 0)
WITHOUT_HEURISTIC = SearchConfig("none", 1.4, 1.0, MAX_PLAYOUT)


def default_config(game: Game) -> SearchConfig:
    """The rules of a game's searches unless others are asked for."""
    evaluation.load(game)
    if game.name in DEFAULTS:
        return DEFAULTS[game.name]
    return WITH_HEURISTIC if evaluation.has_heuristic(game.kernel) else WITHOUT_HEURISTIC


def check_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given in place of default rules, as `SearchConfig` orders it; None is left out.

    TypeError for a name that is no rule, TypeError or ValueError for a value that no game's rules
    can have.
    """
    known = [field.name for field in fields(SearchConfig)]
    for name in given:
        if name not in known:
            raise TypeError(f"{name}={given[name]!r} must be one of the rules {', '.join(known)}")
    values = {name: given[name] for name in known if given.get(name) is not None}
    checked = SearchConfig(**{**vars(WITH_HEURISTIC), **values})
    plain = {"priors": str, "playout": int}
    return {name: plain.get(name, float)(getattr(checked, name)) for name in values}


def read_config(words: Sequence[str]) -> dict[str, Any]:
    """The rules that words such as `exploration=2` give; ValueError for a word that gives none."""
    rules: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name in rules:
            raise ValueError(f"{word!r} must be RULE=VALUE, and each rule must be given once")
        if name == "priors":
            rules[name] = value
        else:
            try:
                rules[name] = int(value) if name == "playout" else float(value)
            except ValueError:
                raise ValueError(f"{word!r} must give a number") from None
    return rules


def choose_config(game: Game, **given: Any) -> SearchConfig:
    """The default rules, with what is given and not None in their place; TypeError or ValueError naming what is impossible."""
    default = default_config(game)
    values = {name: value for name, value in given.items() if value is not None}
    priors = checks.choice("priors", values.get("priors", default.priors), PRIORS)
    if priors != default.priors:
        # The weights belong to their kind of search.
        default = WITH_HEURISTIC if priors == "heuristic" else WITHOUT_HEURISTIC
    return SearchConfig(**{**vars(default), **values})
