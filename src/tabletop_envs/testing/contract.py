"""What the checks share: the error that names a broken promise, the game in which it was found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game

MakeEnv = Callable[..., TabletopEnv]
OptionCases = Mapping[str, Any] | Iterable[Mapping[str, Any]] | None
# What an environment shows beside observations and its state.
SHOWN = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "options")


class ContractError(AssertionError):
    """A promise that a kernel or an environment breaks.

    Attributes:
        promise: What should hold, beginning with the function or attribute that breaks it.
        found: What was found instead.
        where: The game, its options and seed, and the actions before.
    """

    def __init__(self, promise: str, found: str, where: str) -> None:
        super().__init__(f"{promise}\n  found: {found}\n  in:    {where}")
        self.promise, self.found, self.where = promise, found, where

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.promise, self.found, self.where)


@dataclass
class Played:
    """A game that a check plays: what it takes to see a failure again.

    Attributes:
        name: The game.
        options: Its options.
        seed: Its seed, also of the checks' random actions.
        actions: The actions so far.
    """

    name: str
    options: Mapping[str, Any]
    seed: int
    actions: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        last = ", ".join(map(str, self.actions[-12:]))
        actions = f"[{'… ' if len(self.actions) > 12 else ''}{last}]"
        return (
            f"{self.name}, options={dict(self.options)}, seed={self.seed}, "
            f"at ply {len(self.actions)}, after the actions {actions}"
        )

    def fail(self, promise: str, found: object) -> NoReturn:
        """ContractError."""
        raise ContractError(promise, str(found), str(self))

    def require(self, holds: bool, promise: str, found: object) -> None:
        """ContractError unless the promise holds."""
        if not holds:
            self.fail(promise, found)


def option_cases(game: Game) -> list[dict[str, Any]]:
    """The defaults, then each option's lowest and highest value alone.

    The highest `max_plies` is left out: it changes nothing but the time that games take.
    """
    cases: list[dict[str, Any]] = [{}]
    for option in game.options:
        is_bool = isinstance(option.default, bool)
        ends: Sequence[int | bool] = (
            (False, True) if is_bool else sorted({option.minimum, option.maximum})
        )
        for value in ends:
            if value != option.default and (option.name != "max_plies" or value == option.minimum):
                cases.append({option.name: value})
    return cases


def seed_of(seed: int, number: int) -> int:
    """The seed of a lane or of one of several games: seeds go on from 2^64 − 1 to 0."""
    return (seed + number) % 2**64


def is_over(env: TabletopEnv) -> bool:
    """Whether the game has ended."""
    return any(env.terminations.values()) or any(env.truncations.values())


def legal_actions(env: TabletopEnv) -> list[int]:
    """The legal actions of the agent to move, ascending."""
    actions: list[int] = np.flatnonzero(env.action_mask()).tolist()
    return actions


def part_of(game: Game, entry: int) -> str:
    """The part of the observation in which an entry lies."""
    return next(name for name, part in game.observation.items() if entry < part.slice.stop)


def out_of_range(game: Game, observation: npt.NDArray[Any]) -> str:
    """The first entry of an observation that is out of its part's range, in words; or ""."""
    low, high = game.bounds()
    outside = np.flatnonzero((observation < low) | (observation > high))
    if not outside.size:
        return ""
    entry = int(outside[0])
    return (
        f"entry {entry} ({part_of(game, entry)}) is {observation[entry]}, "
        f"its range {low[entry]} to {high[entry]}"
    )


def chosen_cases(game: Game, options: OptionCases) -> list[dict[str, Any]]:
    """The options to check: those given (one dict or several), or `option_cases`."""
    if options is None:
        return option_cases(game)
    given = [options] if isinstance(options, Mapping) else list(options)
    if not given:
        raise ValueError("options is empty: give one dict of options, several, or None")
    for case in given:
        game.parse_options(case)
    return [dict(case) for case in given]


def look(env: TabletopEnv) -> dict[str, Any]:
    """All that an environment shows, in copies."""
    view = {name: copy.deepcopy(getattr(env, name)) for name in SHOWN}
    observations = {agent: env.observe(agent) for agent in env.possible_agents}
    return {**view, "snapshot": env.snapshot(), "state": env.state(), "observations": observations}


def differing(one: dict[str, Any], other: dict[str, Any]) -> str:
    """The names of what two views differ in, separated by commas."""
    return ", ".join(name for name in one if not _equal(one[name], other[name]))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def require_error(played: Played, name: str, call: Callable[[], Any], word: str) -> None:
    """ContractError unless a call raises TypeError or ValueError with a word in its message."""
    found = "nothing is raised"
    try:
        call()
    except (TypeError, ValueError) as error:
        if word in str(error):
            return
        found = f"{type(error).__name__}: {error}"
    except Exception as error:  # Whatever it is, it is not what was promised.
        found = f"{type(error).__name__}: {error}"
    played.fail(f"{name}: an error that names {word}", found)
