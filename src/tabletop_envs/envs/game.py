"""What an environment file says about its game: options, observation table, positions as data, action names.

A game is one subclass of `Game`; `aec.py` and `batch.py` do all the rest for every game alike.
"""

from __future__ import annotations

import operator
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tabletop_envs.envs.checks import require, require_equal, require_int, require_mapping
from tabletop_envs.kernels import BY_LIMIT, RUNNING, TERMINATED, Kernel, engine

__all__ = [
    "MAX_MAX_PLIES",
    "UINT64_MAX",
    "Game",
    "ObservationPart",
    "Option",
    "Part",
    "Snapshot",
    "State",
    "lane_seeds",
    "max_plies_option",
    "parse_seed",
    "require_count",
    "rewards_of_illegal",
    "rewards_of_scores",
]

MAX_MAX_PLIES = 2**21 - 1
UINT64_MAX = 2**64 - 1

Snapshot = dict[str, Any]
# A structured array of one record: the state of one game.
State = npt.NDArray[np.void]


@dataclass(frozen=True)
class Option:
    """An option of a game: a whole number from `minimum` to `maximum`, or a truth value."""

    name: str
    default: int | bool
    minimum: int
    maximum: int
    meaning: str

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if isinstance(self.default, bool):
            return "True or False"
        return f"a whole number from {self.minimum} to {self.maximum}"

    def parse(self, value: Any) -> int | bool:
        """The value in its plain type; TypeError or ValueError, naming option and value, if it is impossible."""
        truth = isinstance(self.default, bool)
        if truth != isinstance(value, bool | np.bool_):
            raise TypeError(
                f"option {self.name}={value!r} is impossible: allowed is {self.allowed}"
            )
        if truth:
            return bool(value)
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(
                f"option {self.name}={value!r} is impossible: allowed is {self.allowed}"
            ) from None
        if not self.minimum <= number <= self.maximum:
            raise ValueError(
                f"option {self.name}={value!r} is impossible: allowed is {self.allowed}"
            )
        return number


def max_plies_option(default: int) -> Option:
    """The option that every game has."""
    return Option("max_plies", default, 1, MAX_MAX_PLIES, "the game ends after this many actions")


class ObservationPart(NamedTuple):
    """Where a named part of an observation lies, and the shape it is read in."""

    slice: slice
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """A line of the observation table: a part's name and shape, and the range of its numbers over all options."""

    name: str
    shape: tuple[int, ...]
    high: int = 1
    low: int = 0

    @property
    def digits(self) -> int:
        """How many binary digits a number takes when it is packed."""
        return (self.high - self.low).bit_length()


class Game(ABC):
    """All that is particular to one game outside its kernel.

    The one instance of a game is called `GAME` in the module of its class.
    """

    name: ClassVar[str]
    kernel: ClassVar[Kernel]
    options: ClassVar[tuple[Option, ...]]
    parts: ClassVar[tuple[Part, ...]]
    # The keys of a snapshot besides those that all games share.
    snapshot_keys: ClassVar[tuple[str, ...]]
    # Whether dice fall after the start or anything is hidden from a player: searches then deal both anew.
    has_chance: ClassVar[bool] = False

    def __reduce__(self) -> str:
        # Copies and pickles of a game are the one that its module holds.
        return "GAME"

    # Options

    def parse_options(self, given: Mapping[str, Any]) -> dict[str, int | bool]:
        """All options with their values, in the table's order.

        TypeError for an unknown name or a wrong type, ValueError for an impossible value.
        """
        known = {option.name: option for option in self.options}
        unknown = [name for name in given if name not in known]
        if unknown:
            # Python's own words: TorchRL's `GymEnv` tries again without an argument so named.
            raise TypeError(
                f"{self.name} got an unexpected keyword argument {unknown[0]!r}"
                f"={given[unknown[0]]!r}: its options are {', '.join(known)}"
            )
        return {
            name: option.parse(given.get(name, option.default)) for name, option in known.items()
        }

    def num_players(self, options: Mapping[str, Any]) -> int:
        """How many players these options make."""
        return int(options.get("num_players", 2))

    def new_states(self, count: int, options: Mapping[str, Any]) -> State:
        """`count` states with their options written, not yet started."""
        states = np.zeros(count, self.kernel.state)
        states["num_players"] = self.num_players(options)
        for name, value in options.items():
            states[name] = value
        return states

    def indexes(self, states: State) -> Sequence[tuple[str, npt.NDArray[Any], int, int]]:
        """The game's own fields by which compiled code indexes: name, values, lowest, highest."""
        return ()

    # Observations

    @property
    def observation(self) -> dict[str, ObservationPart]:
        """Each named part of an observation: its slice and its shape."""
        table, start = {}, 0
        for part in self.parts:
            stop = start + int(np.prod(part.shape))
            table[part.name] = ObservationPart(slice(start, stop), part.shape)
            start = stop
        if start != self.kernel.observation_size:
            raise AssertionError(
                f"{self.name}: the table has {start} numbers, the kernel {self.kernel.observation_size}"
            )
        return table

    def bounds(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """The lowest and the highest value of every number of an observation."""
        low = np.concatenate([np.full(np.prod(p.shape), p.low, np.int8) for p in self.parts])
        high = np.concatenate([np.full(np.prod(p.shape), p.high, np.int8) for p in self.parts])
        return low, high

    def split_observation(self, observation: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The named views of one observation `(L,)` or of a batch `(..., L)`; planes as `(planes, rows, columns)`.

        ValueError if the last axis has another length.
        """
        array = np.asarray(observation)
        size = self.kernel.observation_size
        if array.ndim == 0 or array.shape[-1] != size:
            raise ValueError(
                f"an observation of {self.name} has {size} numbers on its last axis, "
                f"not the shape {array.shape}"
            )
        return {
            name: array[..., part.slice].reshape(array.shape[:-1] + part.shape)
            for name, part in self.observation.items()
        }

    def open_state(self, states: State) -> State:
        """A copy of a state in which nothing is hidden from player 0 (for `AECEnv.state`)."""
        return states

    def deal_hidden(self, states: State, player: int, generator: int) -> None:
        """Deal anew in `states[0]` what a player cannot see; chance goes on from `generator` (uint64)."""
        engine.deal_hidden_one(states, player, np.uint64(generator))

    # Positions as data

    def snapshot(self, states: State, options: Mapping[str, Any]) -> Snapshot:
        """The position of `states[0]` as plain JSON types, `outcome` not considered."""
        state = states[0]
        snapshot: Snapshot = {
            "game": self.name,
            "options": dict(options),
            "ply": int(state["ply"]),
            "to_move": int(state["to_move"]),
            "outcome": None,
            **self.position(state),
        }
        if self.has_chance:
            snapshot["rng"] = int(state["rng"])
        return snapshot

    def restore(
        self, snapshot: Mapping[str, Any], fresh_rng: int
    ) -> tuple[State, dict[str, int | bool], int | None]:
        """The state, the options and the player who lost by an illegal action (or None) of a snapshot.

        `fresh_rng` is the generator's state where the snapshot has none. ValueError, naming what is
        impossible, for anything that the rules cannot lead to.
        """
        require(
            isinstance(snapshot, Mapping), f"a snapshot is a dict, not {type(snapshot).__name__}"
        )
        common = ("game", "options", "ply", "to_move", "outcome")
        allowed = {*common, *self.snapshot_keys, *(("rng",) if self.has_chance else ())}
        for key in (*common, *self.snapshot_keys):
            require(key in snapshot, f"the snapshot lacks {key!r}")
        for key in snapshot:
            require(key in allowed, f"the snapshot has {key!r}, which {self.name} does not know")
        require(
            snapshot["game"] == self.name,
            f"game is {snapshot['game']!r}, but this environment plays {self.name!r}",
        )
        given = require_mapping(snapshot["options"], "options")
        try:
            options = self.parse_options(given)
        except TypeError as error:
            raise ValueError(str(error)) from None
        states = self.new_states(1, options)
        state = states[0]
        state["rng"] = require_int(snapshot.get("rng", fresh_rng), "rng", 0, UINT64_MAX)
        state["ply"] = require_int(snapshot["ply"], "ply", 0, int(options["max_plies"]))
        outcome = snapshot["outcome"]
        players = self.num_players(options)
        state["to_move"] = require_int(snapshot["to_move"], "to_move", 0, players - 1)
        ended = self.read_position(state, snapshot)
        if ended:
            state["status"] = TERMINATED
        elif state["ply"] >= state["max_plies"]:
            state["status"] = BY_LIMIT
        else:
            state["status"] = RUNNING
        offender = self._check_outcome(state, outcome, players)
        if offender is not None:
            state["status"] = TERMINATED
        return states, options, offender

    def _check_outcome(self, state: Any, outcome: Any, players: int) -> int | None:
        """Whether the outcome given is that of the position; the offender of a game lost by an illegal action."""
        over = state["status"] != RUNNING
        if outcome is None:
            require(not over, "outcome is None, but the game is over in this position")
            return None
        given = require_mapping(outcome, "outcome")
        require(
            set(given) == {"scores", "rewards", "by_limit"},
            f"outcome has the keys {sorted(given)}, not scores, rewards, by_limit",
        )
        scores = [int(score) for score in state["scores"][:players]]
        require_equal(given["scores"], scores, "outcome['scores']")
        by_limit = bool(state["status"] == BY_LIMIT)
        require(
            given["by_limit"] is by_limit,
            f"outcome['by_limit'] is {given['by_limit']!r}, but the position says {by_limit}",
        )
        if over:
            require_equal(given["rewards"], rewards_of_scores(scores), "outcome['rewards']")
            return None
        offender = int(state["to_move"])
        if given["rewards"] == rewards_of_illegal(offender, players):
            return offender
        raise ValueError(
            f"outcome says the game is over with rewards {given['rewards']!r}, "
            "but by the rules it goes on in this position"
        )

    @abstractmethod
    def position(self, state: Any) -> Snapshot:
        """The game's own part of a snapshot (`snapshot_keys`)."""

    @abstractmethod
    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        """Write the game's own part of a snapshot into a state; whether the rules end the game here.

        Options, `rng`, `ply` and `to_move` are there already; `scores`
        are to be written. ValueError, naming what is impossible.
        """

    # Words

    @abstractmethod
    def action_to_str(self, state: Any, action: int) -> str:
        """A short readable name of an action in a state (different for different legal actions).

        It must give some name to every action of the action space, legal or not.
        """

    @abstractmethod
    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        """A drawing of a position for the terminal, as `viewer` (None: everybody) may see it."""


def rewards_of_scores(scores: Sequence[int]) -> list[float]:
    """The rewards at the end of a game, in the players' order (T15; K12 and M28 are the same)."""
    top = max(scores)
    sharers = sum(score == top for score in scores)
    return [
        float(engine.REWARDS[len(scores), sharers, 0 if score == top else 1]) for score in scores
    ]


def rewards_of_illegal(offender: int, players: int) -> list[float]:
    """The rewards of a game that a player lost by an illegal action."""
    return [-1.0 if player == offender else 1.0 / (players - 1) for player in range(players)]


def parse_seed(seed: Any, name: str = "seed") -> int:
    """A seed as a plain int; ValueError or TypeError if it is not a whole number from 0 to 2^64 − 1."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"{name}={seed!r} is not a whole number") from None
    if not 0 <= number <= UINT64_MAX:
        raise ValueError(f"{name}={seed!r} is not from 0 to 2**64 - 1")
    return number


def lane_seeds(seed: Any, num_lanes: int) -> npt.NDArray[np.uint64]:
    """The seeds of lanes (`uint64`): lane i of a number `s` gets `s + i` (modulo 2^64), of a list or array its own.

    None gives fresh entropy. ValueError or TypeError for an impossible seed.
    """
    if isinstance(seed, list | tuple | np.ndarray):
        if len(seed) != num_lanes:
            raise ValueError(f"seed has {len(seed)} numbers for {num_lanes} lanes")
        return np.array([parse_seed(one) for one in seed], np.uint64)
    first = secrets.randbits(64) if seed is None else parse_seed(seed)
    # Sums of arrays wrap around without a warning.
    seeds: npt.NDArray[np.uint64] = np.arange(num_lanes, dtype=np.uint64)
    seeds += np.full(num_lanes, first, np.uint64)
    return seeds


def require_count(name: str, value: Any, maximum: int) -> int:
    """A whole number from 1 to `maximum`; TypeError or ValueError naming it otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} is not a whole number")
    if not 1 <= value <= min(maximum, UINT64_MAX):
        raise ValueError(
            f"{name}={value!r} is impossible: allowed is a whole number from 1 to {maximum}"
        )
    return int(value)
