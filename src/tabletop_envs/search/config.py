"""Settings of searches: what users choose (`SearchConfig`), and what compiled loops take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks, evaluation

if TYPE_CHECKING:
    from tabletop_envs.game import Game

# How edges are chosen: by UCB1, untried ones first in random order, or by PUCT, untried ones by
# prior.
UCB, PUCT = 0, 1
SETTINGS = np.dtype(
    [
        ("exploration", np.float64),
        ("temperature", np.float64),  # of priors: logit = estimate / temperature
        ("fpu_reduction", np.float64),  # how far an untried edge's value lies below its estimate
        ("rule", np.int64),  # UCB or PUCT
        ("estimates", np.int64),  # whether logits are estimates of values
        ("playout", np.int64),  # the most random actions of a play-out
        ("information_set", np.int64),  # whether nodes are information sets (`Game.has_chance`)
        ("gives_priors", np.int64),  # whether a network gives priors instead of logits
        ("alpha", np.float64),  # Dirichlet noise at the root
        ("fraction", np.float64),
    ],
    align=True,
)

PRIORS = ("heuristic", "none")
MAX_PLAYOUT = 2**30


def new_settings(game: Game, **values: float) -> npt.NDArray[np.void]:
    """The settings of a game's search for the compiled loops, zero where no value is given."""
    settings = np.zeros(1, SETTINGS)
    settings["information_set"] = game.has_chance
    for name, value in values.items():
        settings[name] = value
    return settings


@dataclass(frozen=True)
class SearchConfig:
    """How a search chooses and values.

    Attributes:
        priors: `"heuristic"`: actions are preferred by what the game's heuristic says of the
            positions that they lead to (PUCT), so that few of hundreds of legal actions are tried.
            `"none"`: every action is tried once, in random order, then UCB1 chooses (UCT).
        exploration: The weight of exploration.
        temperature: Of the heuristic priors: a prior is in proportion to exp(estimate /
            temperature).
        playout: The most random actions after which a leaf is valued: by the rewards if the game
            is over then, by the heuristic otherwise (zero in a game without one). 0: by the
            heuristic at once.

    Raises:
        TypeError, ValueError: For an invalid value, naming it and what it must be.
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
        self.__dict__.update(plain)

    def settings(self, game: Game) -> npt.NDArray[np.void]:
        """The same for the compiled loops."""
        by_heuristic = self.priors == "heuristic"
        return new_settings(
            game,
            rule=PUCT if by_heuristic else UCB,
            estimates=by_heuristic,
            exploration=self.exploration,
            temperature=self.temperature,
            playout=self.playout,
        )


# The strongest of those tried at equal simulations; a heuristic may come with others.
WITH_HEURISTIC = SearchConfig("heuristic", 1.5, 0.1, 0)
WITHOUT_HEURISTIC = SearchConfig("none", 1.4, 1.0, MAX_PLAYOUT)


def default_config(game: Game) -> SearchConfig:
    """The settings of a game's searches unless others are asked for."""
    evaluation.load(game)
    if not evaluation.has_heuristic(game.kernel):
        return WITHOUT_HEURISTIC
    return replace(WITH_HEURISTIC, **evaluation.search_settings(game.kernel))


def choose_config(game: Game, **given: Any) -> SearchConfig:
    """The default settings with what is given and not None in their place.

    TypeError or ValueError for an invalid value.
    """
    default = default_config(game)
    values = {name: value for name, value in given.items() if value is not None}
    priors = checks.choice("priors", values.get("priors", default.priors), PRIORS)
    if priors != default.priors:
        # The weights belong to their kind of search.
        default = WITH_HEURISTIC if priors == "heuristic" else WITHOUT_HEURISTIC
    return replace(default, **values)


def check_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given in place of default settings, as `SearchConfig` orders it, without None.

    TypeError for an unknown name, TypeError or ValueError for an invalid value.
    """
    known = [field.name for field in fields(SearchConfig)]
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{name}={value!r} must be one of the rules {', '.join(known)}")
    named = {name: given[name] for name in known if given.get(name) is not None}
    checked = replace(WITH_HEURISTIC, **named)
    return {name: getattr(checked, name) for name in named}


def read_config(words: Sequence[str]) -> dict[str, Any]:
    """The settings that words such as `exploration=2` give; ValueError for other words."""
    read = {"priors": str, "exploration": float, "temperature": float, "playout": int}
    rules: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name in rules:
            raise ValueError(f"{word!r} must be RULE=VALUE, and each rule must be given once")
        try:
            rules[name] = read.get(name, str)(value)
        except ValueError:
            raise ValueError(f"{word!r} must give a number") from None
    return rules
