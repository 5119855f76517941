"""`check_kernel`: whether a kernel keeps the promises of the contract (`tabletop_envs.kernels`)."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from tabletop_envs import checks
from tabletop_envs.game import Game, Snapshot, State, max_plies_option
from tabletop_envs.kernels import BY_LIMIT, COMMON_FIELDS, RUNNING, TERMINATED, Kernel, engine, rng
from tabletop_envs.testing.batches import check_engine
from tabletop_envs.testing.compiled import Rules, Words, actions_of, differing_fields
from tabletop_envs.testing.contract import (
    OptionCases,
    Played,
    chosen_cases,
    out_of_range,
    part_of,
    seed_of,
)

# Illegal actions tried in a position.
ILLEGAL = 2


class Reference(Protocol):
    """A game in plain Python, slow and obvious, that shares no code with the kernel.

    Made by `reference(seed=…, **options)`. It may have a method `observe(player)`, which gives the
    numbers of an observation, and is then compared as well.
    """

    to_move: int

    def legal_actions(self) -> Sequence[int]:
        """The legal actions in any order; none once the game is over."""

    def step(self, action: int) -> None:
        """Play a legal action."""

    def scores(self) -> Sequence[int]:
        """The score of every player."""


def check_kernel(
    kernel: Kernel | Game,
    *,
    options: OptionCases = None,
    reference: Callable[..., Reference] | None = None,
    perft: Sequence[int] | None = None,
    games: int = 5,
    seed: int = 0,
    allow_floats: bool = False,
) -> None:
    """Play random games on a kernel and check its contract at every ply.

    Checked are what functions write and leave alone, what results depend on, legal sets, who is to
    move, scores, endings and the limit, every player's observation, hidden information, randomness,
    illegal actions, types of calculation, and that the engine's loops play the same: one game, a
    batch, random play in compiled code. The functions are compiled once more for it.

    Args:
        kernel: A kernel, or a game, whose options and `has_chance` are checked as well.
        options: The options to play with: one dict, several, or None: `option_cases` of a game. For
            a kernel alone these are fields of its state; `num_players` is 2 and `max_plies` 1000
            unless they are given.
        reference: Makes a plain game (`Reference`), played in step with the kernel.
        perft: How many sequences of 1, 2, … legal actions a new game of the first of the options
            with the seed `seed` has.
        games: How many games are played with each of the options: those of the seeds `seed`,
            `seed + 1`, ….
        seed: The first game's seed.
        allow_floats: Whether the rules may calculate with floats. Otherwise they may not, since
            Numba silently makes floats of signed and unsigned 64-bit integers in some operations
            (`min`, `max`, true division).

    Raises:
        ContractError: An AssertionError that names the promise, what was found, and the game.
        TypeError, ValueError: For impossible arguments.
    """
    games = checks.integer("games", games, 1, 2**31)
    seed = checks.seed("seed", seed)
    allow_floats = checks.boolean("allow_floats", allow_floats)
    if not isinstance(kernel, Kernel | Game):
        raise TypeError(f"kernel={kernel!r} is neither a Kernel nor a Game")
    game = kernel if isinstance(kernel, Game) else KernelAlone(kernel)
    cases = chosen_cases(game, options)
    for case in cases:
        check_declaration(game, game.parse_options(case))
    for case in cases:
        chosen = game.parse_options(case)
        for number in range(games):
            play = GameCheck(game, chosen, seed_of(seed, number), allow_floats)
            play.run(reference)
            half = len(play.played.actions) // 2
            if number == 0 and half > 0:
                GameCheck(game, {**chosen, "max_plies": half}, seed, allow_floats).run(reference)
        check_engine(game, chosen, seed)
    if perft is not None:
        check_perft(game, game.parse_options(cases[0]), seed, perft)


class KernelAlone(Game):
    """A kernel without a game's description: its options are fields of the state."""

    name = "kernel"
    options = (max_plies_option(1000),)
    snapshot_keys: ClassVar[tuple[str, ...]] = ()
    # Unknown, so that nothing is concluded from it.
    has_chance = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel  # type: ignore[misc]

    def parse_options(self, given: Mapping[str, Any]) -> dict[str, int | bool]:
        """All options with their values; TypeError for what is no field of the state."""
        names = self.kernel.state.names or ()
        for name in given:
            if name not in names:
                raise TypeError(
                    f"option {name!r} is no field of the state: its fields are {', '.join(names)}"
                )
        return {"max_plies": 1000, **given}

    def position(self, state: Any) -> Snapshot:
        """Nothing: a kernel alone has no snapshots."""
        return {}

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        """NotImplementedError: a kernel alone has no snapshots."""
        raise NotImplementedError

    def action_to_str(self, state: Any, action: int) -> str:
        """The action's number."""
        return str(action)

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        """Nothing: a kernel alone has no drawing."""
        return ""


def check_declaration(game: Game, options: Mapping[str, Any]) -> None:
    """Check what a kernel says of itself: its state's fields and its numbers."""
    kernel, state = game.kernel, game.kernel.state
    require = Played(game.name, options, 0).require
    made = state.names is not None and state.isalignedstruct
    require(made, "state: it is made by kernels.state_dtype", f"the dtype {state}")
    fields: dict[str, Any] = dict(state.fields or {})
    for name, kind in COMMON_FIELDS:
        require(
            name in fields and fields[name][0] == np.dtype(kind),
            f"state: the field {name} is there, as {np.dtype(kind)}",
            fields.get(name, "it is not there"),
        )
    require(
        str(([*fields["rng"], ""])[2]).startswith("code "),
        "state: its dtype carries a digest of the code (kernels.state_dtype)",
        "the field rng has no such title: compiled loops would not see changes of the kernel",
    )
    players = game.num_players(options)
    scores = fields["scores"][0] if "scores" in fields else np.dtype(np.void)
    int16 = scores.base == np.int16 and len(scores.shape) == 1
    require(int16, "state: the field scores is there, as an array of int16", scores)
    require(
        2 <= players <= scores.shape[0] <= engine.MAX_PLAYERS,
        f"num_players: from 2 to the length of scores, at most {engine.MAX_PLAYERS}",
        f"{players} players, scores of length {scores.shape[0]}",
    )
    for name, (dtype, *_) in fields.items():
        require(
            dtype.base.kind in "iu",
            "state: its fields are integers, so that its bytes are the whole game",
            f"{name} is {dtype}",
        )
    require(1 <= kernel.word_bits <= 64, "word_bits: from 1 to 64", kernel.word_bits)
    require(kernel.num_actions > 0, "num_actions: at least 1", kernel.num_actions)
    names = [part.name for part in kernel.observation]
    require(
        0 < len(names) == len(set(names)),
        "observation: at least one part, each with a name of its own",
        names,
    )
    for part in kernel.observation:
        require(
            part.size > 0 and -128 <= part.low <= part.high <= 127,
            "observation: each part has numbers, in a range within int8",
            part,
        )
    unknown = [name for name in options if name not in fields]
    require(not unknown, "options: each is a field of the state", f"there is no field {unknown}")


def check_perft(game: Game, options: Mapping[str, Any], seed: int, perft: Sequence[int]) -> None:
    """Compare the numbers of sequences of legal actions with those that are known."""
    played = Played(game.name, options, seed)
    states = game.new_states(len(perft) + 1, options)
    legal, result = engine.new_legal(game.kernel), np.zeros(3 + engine.MAX_PLAYERS, np.int64)
    for depth, expected in enumerate(perft, 1):
        states[0] = first_state(game, options, seed)[0]
        engine.advance_one(states[:1], legal, engine.START, 0, result)
        counted = int(engine.perft(states, depth))
        played.require(
            counted == expected,
            f"perft: {expected} sequences of {depth} legal actions",
            f"{counted} sequences",
        )


def first_state(game: Game, options: Mapping[str, Any], seed: int) -> State:
    """A state of one record before `start`: the options, and the stream of a seed."""
    state = game.new_states(1, options)
    state["rng"] = rng.from_seed(np.uint64(seed))
    return state


class GameCheck:
    """One random game on a kernel, and what must hold at every ply of it."""

    def __init__(
        self, game: Game, options: Mapping[str, Any], seed: int, allow_floats: bool
    ) -> None:
        self.game = game
        self.options = options
        self.played = Played(game.name, options, seed)
        self.rules = Rules(game.kernel, self.played, allow_floats)
        self.rng = random.Random(seed)
        self.low, self.high = game.bounds()
        self.players = range(game.num_players(options))
        # What belongs to the options: `start` reads it, nothing writes it.
        self.kept = tuple(dict.fromkeys(("num_players", "max_plies", *options)))

    def run(self, make_reference: Callable[..., Reference] | None) -> None:
        """Play the game to its end."""
        fail, require, played = self.played.fail, self.played.require, self.played
        first = first_state(self.game, self.options, played.seed)
        reference = make_reference and make_reference(seed=played.seed, **self.options)
        state = self.rules.start(first, (*self.kept, "rng"))
        self.check_common("start", first, state)
        if state["status"] != RUNNING:
            fail("start: the status is RUNNING", f"status {state['status'][0]}")
        while True:
            observations = [self.check_observation(state, player) for player in self.players]
            running = bool(state["status"] == RUNNING)
            words = self.rules.legal_actions(state) if running else None
            actions = [] if words is None else self.check_legal(words)
            for player in self.players:
                self.check_hidden(state, player, observations[player], words)
            if reference:
                self.compare(reference, state, actions, observations)
            if not actions:
                return
            legal = set(actions)
            size = self.game.kernel.num_actions
            for illegal in (self.rng.randrange(-1, size + 1) for _ in range(ILLEGAL)):
                if illegal not in legal:
                    self.rules.step_illegally(state, illegal)
            action = self.rng.choice(actions)
            after = self.rules.step(state, action)
            played.actions.append(action)
            self.check_common("step", state, after)
            require(
                self.game.has_chance or after["rng"] == state["rng"],
                "step: it draws nothing at random, as the game's has_chance = False says",
                "rng has changed",
            )
            if reference:
                reference.step(action)
            state = after

    def check_common(self, name: str, before: State, after: State) -> None:
        """What `start` and `step` do to the fields that all games have."""
        require, plies = self.played.require, len(self.played.actions)
        for field in self.kept:
            require(
                after[field] == before[field],
                f"{name}: {field} stays as it is",
                f"{before[field][0]} becomes {after[field][0]}",
            )
        ply, status, to_move = (int(after[field][0]) for field in ("ply", "status", "to_move"))
        require(ply == plies, f"{name}: ply counts the actions since the start", f"ply {ply}")
        require(
            to_move in self.players,
            f"{name}: to_move is a player, 0 to {len(self.players) - 1}, also after the end",
            f"to_move {to_move}",
        )
        require(
            status in (RUNNING, TERMINATED, BY_LIMIT),
            f"{name}: status is RUNNING (0), TERMINATED (1) or BY_LIMIT (2)",
            f"status {status}",
        )
        limit = int(after["max_plies"][0])
        require(
            status != RUNNING or ply < limit,
            f"{name}: after max_plies actions the game is over",
            f"it continues at ply {ply} with max_plies={limit}",
        )
        require(
            status != BY_LIMIT or ply >= limit,
            f"{name}: max_plies alone ends a game BY_LIMIT",
            f"it ends so at ply {ply} with max_plies={limit}",
        )

    def check_legal(self, words: Words) -> list[int]:
        """The legal actions of a running game."""
        kernel = self.game.kernel
        for index, word in enumerate(words.tolist()):
            size = min(kernel.word_bits, kernel.num_actions - index * kernel.word_bits)
            self.played.require(
                word >> size == 0,
                "legal_actions: bits that stand for no action are zero",
                f"word {index} is {word:#b}, and has {size} actions",
            )
        actions = actions_of(kernel, words)
        self.played.require(
            bool(actions), "legal_actions: in a running game at least one is legal", "none is"
        )
        return actions

    def check_observation(self, state: State, player: int) -> Any:
        """What a player sees, within the bounds of the table."""
        seen = self.rules.observe(state, player)
        if ((seen < self.low) | (seen > self.high)).any():
            self.played.fail(
                "observe: every entry lies within the range of its part",
                f"{out_of_range(self.game, seen)}, for player {player}",
            )
        return seen

    def check_hidden(self, state: State, player: int, seen: Any, words: Words | None) -> None:
        """Resample what a player cannot see: what the player sees must not change."""
        require = self.played.require
        for generator in (self.rng.getrandbits(64), self.rng.getrandbits(64)):
            guess = self.rules.deal_hidden(state, player, generator)
            require(
                np.array_equal(self.rules.observe(guess, player), seen),
                "deal_hidden, observe: what a player sees does not depend on what is hidden",
                f"entries that player {player} sees have changed",
            )
            for field in ("ply", "status", "to_move", "scores", *self.kept):
                if not np.array_equal(guess[field], state[field]):
                    self.played.fail(
                        f"deal_hidden: {field} stays as it is",
                        f"{state[field][0]} becomes {guess[field][0]}",
                    )
            if words is not None and state["to_move"] == player:
                require(
                    np.array_equal(self.rules.legal_actions(guess), words),
                    "deal_hidden: the legal actions of the player stay as they are",
                    "they have changed",
                )
            hidden = [name for name in differing_fields(state, guess) if name != "rng"]
            require(
                self.game.has_chance or not hidden,
                "deal_hidden: nothing is hidden, as the game's has_chance = False says",
                f"it changes {', '.join(hidden)}",
            )

    def compare(
        self, reference: Reference, state: State, actions: list[int], observations: list[Any]
    ) -> None:
        """Compare with the plain game: legal actions, who is to move, scores, observations."""
        require = self.played.require
        expected = sorted(int(action) for action in reference.legal_actions())
        require(
            actions == expected,
            "legal_actions, step: as the reference has them (none once the game is over)",
            f"legal are {actions}, in the reference {expected}",
        )
        scores = [int(score) for score in reference.scores()]
        given = state["scores"][0][: len(self.players)].tolist()
        require(given == scores, f"step: the scores are {scores}, as in the reference", given)
        if actions:
            require(
                int(state["to_move"][0]) == int(reference.to_move),
                f"step: player {reference.to_move} is to move, as in the reference",
                f"player {state['to_move'][0]}",
            )
        if hasattr(reference, "observe"):
            for player in self.players:
                numbers = [int(number) for number in reference.observe(player)]
                seen = observations[player].tolist()
                if seen != numbers:
                    entry = next(place for place, n in enumerate(seen) if n != numbers[place])
                    self.played.fail(
                        "observe: as in the reference",
                        f"entry {entry} ({part_of(self.game, entry)}) is {seen[entry]} for player "
                        f"{player}, in the reference {numbers[entry]}",
                    )
