"""What an environment file says about its game: options, observation table, positions as data,
action names.

A game is one subclass of `Game`; `aec.py` and `batch.py` do all the rest for every game alike.
"""

from __future__ import annotations

import pickle
import secrets
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tabletop_envs import checks, registry
from tabletop_envs.checks import (
    UINT64_MAX,
    require,
    require_bool,
    require_choice,
    require_equal,
    require_int,
    require_list,
    require_mapping,
    shown,
)
from tabletop_envs.kernels import BY_LIMIT, RUNNING, TERMINATED, Kernel, engine

__all__ = [
    "MAX_MAX_PLIES",
    "UINT64_MAX",
    "Game",
    "Move",
    "ObservationPart",
    "ObservationView",
    "Option",
    "Snapshot",
    "State",
    "find_game",
    "find_registered",
    "lane_seeds",
    "max_plies_option",
    "rewards_of_illegal",
    "rewards_of_scores",
]

MAX_MAX_PLIES = 2**21 - 1

Snapshot = dict[str, Any]
# A structured array of one record: the state of one game.
State = npt.NDArray[np.void]


@dataclass(frozen=True)
class Option:
    """An option of a game: an integer from `minimum` to `maximum`, or a bool."""

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
        return f"an integer from {self.minimum} to {self.maximum}"

    def parse(self, value: Any) -> int | bool:
        """The value in its plain type; TypeError or ValueError, naming option, value and what it
        must be.
        """
        if isinstance(self.default, bool):
            return checks.boolean(self.name, value)
        return checks.integer(self.name, value, self.minimum, self.maximum)


def max_plies_option(default: int) -> Option:
    """The option that every game has."""
    return Option("max_plies", default, 1, MAX_MAX_PLIES, "the game ends after this many actions")


class ObservationPart(NamedTuple):
    """Where a named part of an observation lies, and the shape it is read in."""

    slice: slice
    shape: tuple[int, ...]


class Move(NamedTuple):
    """What an action means in a position.

    Attributes:
        name: A short readable name, different for different legal actions.
        kind: What is done, in a word or two that the game chooses: `"move"`, `"pass"`, …
        origin: The squares where what is moved stands, any of which stands for it; empty for none.
        target: The square it leads to, or None.
        stone: What is taken from a hand, as drawings name it (`"2-5"`), or None.
    """

    name: str
    kind: str
    origin: tuple[int, ...] = ()
    target: int | None = None
    stone: str | None = None


class Game(ABC):
    """All that is particular to one game outside its kernel.

    The one instance of a game stands in the module of its class, as `GAME` or under another name:
    pickles name it.
    """

    name: ClassVar[str]
    kernel: ClassVar[Kernel]
    options: ClassVar[tuple[Option, ...]]
    # The keys of a snapshot besides those that all games share.
    snapshot_keys: ClassVar[tuple[str, ...]]
    # Whether dice fall after the start or anything is hidden from a player: searches then resample
    # both.
    has_chance: ClassVar[bool] = False
    # What people call the players, in their order, and the colours of drawings that are theirs.
    player_names: ClassVar[tuple[str, ...]] = ("player 0", "player 1", "player 2", "player 3")
    palette: ClassVar[Literal["tints", "woods"]] = "tints"

    # Copies and pickles of a game are the one that its module holds.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> str:
        module = type(self).__module__
        for name, value in list(vars(sys.modules[module]).items()):
            if value is self:
                return name
        raise pickle.PicklingError(
            f"the game {self.name} cannot be pickled: module {module} of its class must hold it, "
            "such as by GAME = …"
        )

    def __repr__(self) -> str:
        return f"<game {self.name}, {type(self).__module__}.{type(self).__qualname__}>"

    # Options

    def parse_options(self, given: Mapping[str, Any]) -> dict[str, int | bool]:
        """All options with their values, in the table's order.

        TypeError for an unknown name or a wrong type, ValueError for an invalid value.
        """
        known = {option.name: option for option in self.options}
        checks.mapping("options", given)
        unknown = [name for name in given if name not in known]
        if unknown:
            # Python's own words: TorchRL's `GymEnv` tries again without an argument so named.
            raise TypeError(
                f"{self.name} got an unexpected keyword argument {shown(unknown[0])}"
                f"={shown(given[unknown[0]])}: its options are {', '.join(known)}"
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

    def require_states(
        self, states: Any, options: Mapping[str, Any] | None = None, name: str = "states"
    ) -> None:
        """Raise unless compiled code, which checks nothing, can run on states from elsewhere.

        Args:
            states: Records of `kernel.state`, at least one, in an array of any shape.
            options: The options that they must have; None: any that are allowed, with one number
                of players.
            name: What messages call them.

        Raises:
            TypeError: For what is no array of such records.
            ValueError: For an empty array, and for a field out of its range, naming it.
        """
        if not isinstance(states, np.ndarray) or states.dtype != self.kernel.state:
            raise TypeError(f"{name} must be an array of states of {self.name}")
        if not states.size:
            raise ValueError(f"{name} must be at least one game")
        ranges = {option.name: (option.minimum, option.maximum) for option in self.options}
        ranges.setdefault("num_players", (2, 2))
        if options is None:
            # One is in range if the first is, and then all must be like it.
            first, (fewest, most) = int(states["num_players"].flat[0]), ranges["num_players"]
            players = min(max(first, fewest), most)
        else:
            players = self.num_players(options)
            ranges.update((option, (int(value), int(value))) for option, value in options.items())
        ranges["num_players"] = (players, players)
        ranges["status"] = (RUNNING, BY_LIMIT)
        ranges["to_move"] = (0, players - 1)
        ranges["ply"] = (0, ranges["max_plies"][1])
        fields = [(field, states[field], low, high) for field, (low, high) in ranges.items()]
        for field, values, low, high in [*fields, *self.indexes(states)]:
            if values.min() < low or values.max() > high:
                wrong = values[(values < low) | (values > high)][0]
                allowed = str(low) if low == high else f"from {low} to {high}"
                raise ValueError(f"{name} of {self.name}: {field}={wrong} must be {allowed}")

    # Observations

    @property
    def observation(self) -> dict[str, ObservationPart]:
        """Each named part of an observation: its slice and its shape."""
        table, start = {}, 0
        for part in self.kernel.observation:
            table[part.name] = ObservationPart(slice(start, start + part.size), part.shape)
            start += part.size
        return table

    def bounds(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """The lowest and the highest value of every number of an observation."""
        low, high = (
            np.concatenate(
                [
                    np.full(part.size, getattr(part, end), np.int8)
                    for part in self.kernel.observation
                ]
            )
            for end in ("low", "high")
        )
        return low, high

    def split_observation(self, observation: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The named views of one observation `(L,)` or of a batch `(..., L)`; planes as
        `(planes, rows, columns)`.

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
        """Resample in `states[0]` what a player cannot see; randomness continues from `generator`
        (uint64).
        """
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
        """The state, the options and the player who lost by an illegal action (or None) of a
        snapshot.

        A position is checked, not its history: what passes can be played to the end within the
        spaces, and every later snapshot can be restored. `fresh_rng` is the generator's state where
        the snapshot has none. ValueError, naming the field and what it must be, for everything
        else.
        """
        require(
            isinstance(snapshot, Mapping),
            f"a snapshot must be a dict, not {type(snapshot).__name__}",
        )
        common = ("game", "options", "ply", "to_move", "outcome")
        allowed = (*common, *self.snapshot_keys, *(("rng",) if self.has_chance else ()))
        for key in (*common, *self.snapshot_keys):
            require(key in snapshot, f"the snapshot lacks {key!r}: it must have one")
        for key in snapshot:
            require(
                key in allowed,
                f"the snapshot has {shown(key)}, but its keys must be {', '.join(allowed)}",
            )
        require_choice("game", snapshot["game"], (self.name,))
        given = require_mapping("options", snapshot["options"])
        known = [option.name for option in self.options]
        for key in given:
            require(
                key in known, f"options has {shown(key)}, but its keys must be {', '.join(known)}"
            )
        try:
            options = self.parse_options(given)
        except TypeError as error:
            raise ValueError(str(error)) from None
        players = self.num_players(options)
        states = self.new_states(1, options)
        state = states[0]
        state["rng"] = require_int("rng", snapshot.get("rng", fresh_rng), 0, UINT64_MAX)
        state["ply"] = require_int("ply", snapshot["ply"], 0, int(options["max_plies"]))
        state["to_move"] = require_int("to_move", snapshot["to_move"], 0, players - 1)
        outcome = _parse_outcome(snapshot["outcome"], players)
        if self.read_position(state, {**snapshot, "outcome": outcome}):
            state["status"] = TERMINATED
        elif state["ply"] >= state["max_plies"]:
            state["status"] = BY_LIMIT
        else:
            state["status"] = RUNNING
        return states, options, _check_outcome(state, outcome, players)

    @abstractmethod
    def position(self, state: Any) -> Snapshot:
        """The game's own part of a snapshot (`snapshot_keys`)."""

    @abstractmethod
    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        """Write the game's own part of a snapshot into a state; whether the rules end the game
        here.

        Options, `rng`, `ply` and `to_move` are there already, and the snapshot has all
        `snapshot_keys`; its `outcome` is None, or a dict whose values have the right types.
        `scores` are to be written. ValueError, naming the field and what it must be, for every
        other position and for data of any other type.
        """

    # Actions and positions in words

    def decode(self, action: int, position: Mapping[str, Any]) -> Move:
        """What an action of the action space, legal or not, means in a position.

        Of `position` the keys of `snapshot_keys` and `to_move` are read.
        """
        return Move(f"action {action}", "action")

    def action_to_str(self, state: Any, action: int) -> str:
        """The name of an action in a state (`Move.name`)."""
        position = {"to_move": int(state["to_move"]), **self.position(state)}
        return self.decode(action, position).name

    def prompt(self, position: Mapping[str, Any], moves: Collection[Move]) -> str:
        """The decision to be made, said to the player to move, who has these legal moves."""
        return "Choose an action."

    def occupied(self, position: Mapping[str, Any]) -> list[int]:
        """The squares on which something lies or stands."""
        return []

    def has_secrets(self, options: Mapping[str, Any]) -> bool:
        """Whether players do not see everything of each other."""
        return False

    def num_untold(self, position: Mapping[str, Any], viewer: int | None) -> int:
        """How many of the last actions `viewer` (None: a spectator) must not know yet."""
        return 0

    @abstractmethod
    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        """A drawing of a position for the terminal, as `viewer` (None: a spectator) may see it."""


def observation_table(kernel: Kernel) -> str:
    """The parts of an observation as a table in reStructuredText, 100 columns wide, for the game's
    manual.
    """
    rows = [("part", "shape", "range", "meaning")]
    for part in kernel.observation:
        between = ", " if part.high - part.low == 1 else " … "
        numbers = f"{part.low}{between}{part.high}".replace("-", "−")
        rows.append((f"`{part.name}`", str(part.shape), numbers, part.meaning))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    widths.append(100 - sum(width + 2 for width in widths))
    rule = "  ".join("=" * width for width in widths)
    lines = []
    for name, shape, numbers, meaning in rows:
        first, *more = textwrap.wrap(meaning, widths[3]) or [""]
        lines += [(name, shape, numbers, first), *(("", "", "", line) for line in more)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join((rule, table[0], rule, *table[1:], rule))


class ObservationView:
    """What every environment shows of the layout of its observations."""

    game: Game

    @property
    def OBSERVATION(self) -> dict[str, ObservationPart]:  # noqa: N802 (as the games' modules)
        """Each named part of an observation: its slice and its shape."""
        return self.game.observation

    def split_observation(self, observation: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
        """The named views of observations (`Game.split_observation`)."""
        return self.game.split_observation(observation)


def find_game(game: Game | str) -> Game:
    """The game of a name or id, or a `Game` as it is; TypeError or ValueError for anything else."""
    return game if isinstance(game, Game) else registry.get_game(game)


def find_registered(game: Game | str) -> Game:
    """As `find_game`, for what names games by their ids, as records do: ValueError for a `Game`
    that is not registered.
    """
    described = find_game(game)
    registered = registry.get_game(registry.batch_id(described.name))
    if described is not registered:
        raise ValueError(
            f"game={shown(game)} must be the one that is registered as {described.name!r}, "
            f"{registered!r}"
        )
    return described


def _parse_outcome(outcome: Any, players: int) -> dict[str, Any] | None:
    """The outcome of a snapshot, its types checked."""
    if outcome is None:
        return None
    given = require_mapping("outcome", outcome, ("scores", "rewards", "by_limit"))
    scores = require_list("outcome['scores']", given["scores"], players)
    rewards = require_list("outcome['rewards']", given["rewards"], players)
    for reward in rewards:
        require(
            isinstance(reward, int | float | np.integer | np.floating)
            and not isinstance(reward, bool),
            f"outcome['rewards'] has {shown(reward)}, but must have numbers",
        )
    low, high = -(2**15), 2**15 - 1  # what states hold
    return {
        "scores": [require_int("a score in outcome", score, low, high) for score in scores],
        "rewards": rewards,
        "by_limit": require_bool("outcome['by_limit']", given["by_limit"]),
    }


def _check_outcome(state: Any, outcome: dict[str, Any] | None, players: int) -> int | None:
    """Whether the outcome given is that of the position; the player who lost by an illegal action,
    or None.
    """
    over = bool(state["status"] != RUNNING)
    if outcome is None:
        require(not over, "outcome is None, but must not be: the game is over in this position")
        return None
    scores = [int(score) for score in state["scores"][:players]]
    by_limit = bool(state["status"] == BY_LIMIT)
    require_equal("outcome['scores']", outcome["scores"], scores)
    require_equal("outcome['by_limit']", outcome["by_limit"], by_limit)
    if over:
        require_equal("outcome['rewards']", outcome["rewards"], rewards_of_scores(scores))
        return None
    # By the rules the game continues here: only an illegal action can have ended it.
    offender = int(state["to_move"])
    lost = rewards_of_illegal(offender, players)
    require(
        outcome["rewards"] == lost,
        f"outcome['rewards'] is {shown(outcome['rewards'])}, but the game continues in this "
        f"position: outcome must be None, or the rewards {lost} of an illegal action of player "
        f"{offender}",
    )
    state["status"] = TERMINATED
    return offender


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


def lane_seeds(seed: Any, num_lanes: int) -> npt.NDArray[np.uint64]:
    """The seeds of lanes (`uint64`): lane i of a number `s` gets `s + i` (modulo 2^64), of a list
    or array its own.

    None gives fresh entropy. ValueError or TypeError for an invalid seed.
    """
    listed = checks.seed_list(seed, num_lanes)
    if listed is not None:
        each = [checks.seed(f"seed[{lane}]", one) for lane, one in enumerate(listed)]
        return np.array(each, np.uint64)
    first = secrets.randbits(64) if seed is None else checks.seed("seed", seed)
    # Sums of arrays wrap around without a warning.
    seeds: npt.NDArray[np.uint64] = np.arange(num_lanes, dtype=np.uint64)
    seeds += np.full(num_lanes, first, np.uint64)
    return seeds
