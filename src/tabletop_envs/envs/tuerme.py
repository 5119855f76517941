"""tuerme (*Spiel der Türme*): pile up stones of one symbol and lodge the towers in the cities.

The board
=========

Two to four players, `player_0` … `player_3`, on 8×14 squares; `square = row * 14 + column`, row 0
at the top. 80 squares are streets. Between them lie 8 cities, numbered 0 … 7 row by row, of four
lots each; a lot shows one of four symbols (0 triangle, 1 circle, 2 square, 3 diamond). In the
middle of a game of two it may look like this (a stack is its colour's letter, its symbol and its
height; lots stand in brackets, vacant ones with their symbol alone)::

        0    1    2    3    4    5    6    7    8    9   10   11   12   13
    0  R◆3  Y■1   ·   R●3  G◆2  Y▲2  Y●1   ·    ·   B■1   ·    ·   B▲2   ·
    1   ·  [ △ ][ ○ ]  ·  [ ○ ][ □ ]  ·    ·  [ □ ][ ◇ ]  ·  [ ◇ ][B▲3]  ·
    2   ·  [ ◇ ][R■1]  ·  [ △ ][Y◆5]  ·    ·  [Y●1][ △ ]  ·  [B■1][ ○ ]  ·
    3   ·   B●3   ·    ·    ·    ·   R▲1   ·    ·   R◆3   ·    ·   B■1   ·
    4  R▲1  G■3   ·    ·    ·    ·    ·    ·   B▲5  B●3  B◆1  R■2   ·   G●5
    5  Y◆1 [ △ ][G●1]  ·  [ ○ ][Y■1]  ·    ·  [ □ ][ ◇ ] Y▲2 [B◆1][G▲1]  ·
    6   ·  [G◆1][G■1]  ·  [R▲1][ ◇ ] R■1   ·  [Y●1][ △ ]  ·  [ □ ][ ○ ]  ·
    7  G●2   ·    ·    ·    ·    ·    ·    ·    ·   G◆3  G■5  G▲2   ·   G■2

Rules
=====

The numbers (T1 …) are those that errors, comments and tests name. (D: …) marks a decision of ours,
with the reason.

T1 The board
    8×14 squares: 80 streets, and between them 8 cities of 4 lots. (D: the source gives these
    numbers, public descriptions of the game the 8×14 board with blocks of four. The source does not
    say where the cities lie; we put them at the rows 1, 5 and the columns 1, 4, 8, 11: streets all
    around each city, and the same board from every side.)
T2 Symbols of lots
    Each city has one lot of each symbol. (D: the source does not say in which order; city i's lots
    show, clockwise from the top left one, the symbols i, i + 1, i + 2, i + 3 modulo 4, so that each
    symbol has each corner equally often.)
T3 Stones
    5 of each of the colours red, blue, green, yellow (0 … 3) and each symbol, 80 in all, are
    shuffled and laid one on each street. A stone or a pile of them is a *stack*; its colour is that
    of its top stone, its height 1 … 5.
T4 Colours
    Player i owns colour i; colours without a player are neutral.
T5 Turns
    The players take turns in order; a turn moves one stack that stands on a street and shows the
    own or a neutral colour. Stacks are never divided. (D: the source does not say who begins;
    `player_0` does, since the shuffle favours nobody.)
T6 Directions
    A move goes in one straight line, along a row or a column.
T7 Moves
    Square by square outwards, the stack passes over empty streets and jumps single stacks of other
    symbols, never two occupied squares in a row. A stack of the same symbol, a lot and the edge of
    the board end the way. The stack can land

    - on a stack of the same symbol, at any distance, if the square before it on the way is empty or
      the start, and the two heights sum to at most 5;
    - on an empty square beside the start, or right behind a stack beside the start that it has
      jumped; with the option `slide` on every empty square of the way;
    - in a lot that is vacant and shows the stack's symbol, where it could land on an empty square.

    (D: the source lets stacks jump if there is an empty square "between them"; we read: between the
    pieces jumped or landed on, since a jump must come down somewhere. It does not say how far away
    a stack of the same symbol may be, whether a jump may end on an empty square, or what lots are
    to a way; we take any distance and the square right behind a jumped neighbour, as the source
    sets no bounds to jumps but that one, and let lots end the way, since they are goals and no
    streets. `slide` takes the free distance from public descriptions of the game.)
T8 Landing on a stack
    puts the own stones on top: the heights add up, and the stack shows the mover's colour. (D: the
    source says "essentially of a different colour"; we read "chiefly" and allow any colour, the own
    included, as public descriptions do.)
T9 Cities
    A stack in a lot is built for good: it never moves and nothing lands on it. (D: the source
    counts towers; a single stone is one of height 1, since the source has stones and towers moved
    into cities alike.)
T10 Passing
    (D: the source does not say what a player without a move does; we let the player pass, and only
    then, since a turn is a move.)
T11 The end
    The game ends as soon as the four lots of one city hold stacks of one colour. (D: the source
    does not say whether a neutral colour counts; it does, since the source says "of the same
    colour" without exception. With the option `end_on_any_full_city` any full city ends the game,
    for shorter ones.)
T12 Other ends
    (D: the source does not say what happens if that cannot come about; the game also ends, with no
    city doubled, when no stack on a street shows a symbol of which a lot is vacant, since no score
    can change any more (bare streets included), and when all players pass one after the other,
    which only an untouched deal can bring about, since nothing will change then. Where T11 and T12
    come true by the same action, T11 counts and doubles its city, since the source says what ends
    the game and counts double there.)
T13 Scores
    Each stack of the own colour in a lot counts its height, in the city that ended the game (T11)
    twice its height.
T14 The limit
    (D: the source sets none; after `max_plies` actions the game ends and is scored as it stands,
    since once every city holds two colours it may go on for ever. We take 500, some six moves for
    each stone.) A game ended so is terminated, not truncated: the limit is a rule, and `by_limit`
    in a snapshot's outcome tells.
T15 Rewards
    Zero before the end; with k of n players sharing the top score, (n/k − 1)/(n − 1) for each of
    them and −1/(n − 1) for the others; two players get +1 and −1, or 0 and 0. `infos[agent]`:
    `score` (as it stands) and `ply`.

Options
=======

======================  =======  ===========  ======================================================
option                  default  allowed      meaning
======================  =======  ===========  ======================================================
`num_players`           2        2 … 4        how many players; the other colours are neutral
`slide`                 False    True, False  stacks land on every empty square that they reach
`end_on_any_full_city`  False    True, False  a full city ends the game whatever its colours
`max_plies`             500      1 … 2^21−1   the game ends after this many actions
======================  =======  ===========  ======================================================

Actions
=======

`Discrete(2465)`; `action = plane * 112 + square`, the square being where the stack stands:

===========  ==================================================
plane        meaning
===========  ==================================================
0 … 13       to column `plane` in the same row
14 … 21      to row `plane − 14` in the same column
action 2464  pass
===========  ==================================================

Observation
===========

`Box(L = 1597)`, seen from the observing agent; `OBSERVATION` has the slices. *In turn* means
the observing player first, then the following players; entries without a player are 0:

{observation}

Positions
=========

`env.snapshot()` gives a position as data, `env.restore` takes one. It checks the position, not its
history: what can be played to the end passes, so puzzles that no game leads to are welcome. There
must be 20 stones of each symbol and no more stacks of a colour and symbol than the five stones that
there are; they may stand anywhere, and any player may be to move, whatever `ply` is. Only an ended
game has a city that ends it (T11), and a player who has passed has no move.

Example
=======

>>> from tabletop_envs import tuerme_v0
>>> env = tuerme_v0.env(num_players=3)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     mask = observation["action_mask"]
...     env.step(None if terminated else env.action_space(agent).sample(mask))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabletop_envs.checks import (
    require,
    require_equal,
    require_int,
    require_list,
    require_mapping,
)
from tabletop_envs.envs import tuerme_symmetries
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.game import (
    Game,
    Move,
    Option,
    Snapshot,
    State,
    max_plies_option,
    observation_table,
)
from tabletop_envs.kernels import engine
from tabletop_envs.kernels import tuerme as kernel
from tabletop_envs.kernels.tuerme.plan import (
    CITIES,
    CITY_AT,
    COLUMNS,
    FIELDS,
    HALF,
    LOT_SYMBOLS,
    SQUARES,
    STREET_SQUARES,
)
from tabletop_envs.symmetries import Symmetry

COLOURS, SYMBOLS = kernel.COLOURS, kernel.SYMBOLS
COPIES, MAX_HEIGHT = kernel.COPIES, kernel.MAX_HEIGHT
CITY_LOTS = [np.flatnonzero(city == CITY_AT).tolist() for city in range(CITIES)]
# Colour, symbol and height of a stack.
Stack = tuple[int, int, int]


class Tuerme(Game):
    """What the environments need to know of tuerme."""

    name = "tuerme"
    kernel = kernel.KERNEL
    player_names = ("red", "blue", "green", "yellow")
    options = (
        Option("num_players", 2, 2, 4, "how many players"),
        Option("slide", False, 0, 1, "whether stacks land on empty squares at any distance"),
        Option(
            "end_on_any_full_city", False, 0, 1, "whether a full city of several colours ends too"
        ),
        max_plies_option(500),
    )
    snapshot_keys = ("passes", "ending_city", "stacks")

    def indexes(self, states: State) -> Sequence[tuple[str, npt.NDArray[Any], int, int]]:
        return (("ending_city", states["ending_city"], -1, CITIES - 1),)

    def symmetries(self, options: Mapping[str, Any]) -> tuple[Symmetry, ...]:
        return tuerme_symmetries.symmetries(self.num_players(options))

    def position(self, state: Any) -> Snapshot:
        ending_city = int(state["ending_city"])
        return {
            "passes": int(state["passes"]),
            "ending_city": None if ending_city < 0 else ending_city,
            "stacks": [
                {"square": square, "colour": colour, "symbol": symbol, "height": height}
                for square, (colour, symbol, height) in sorted(_read_stacks(state).items())
            ],
        }

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        players, ply = int(state["num_players"]), int(state["ply"])
        # Any player may be to move, whatever the ply: a puzzle has no history.
        mover = int(state["to_move"])
        stacks = _parse_stacks(snapshot["stacks"])
        _check_stones(stacks)
        passes = require_int("passes", snapshot["passes"], 0, min(players, ply))
        _write_stacks(state, stacks)
        state["passes"] = passes
        city = _ending_city(stacks, bool(state["end_on_any_full_city"]))
        require(
            city is None or passes == 0,
            f"passes is {passes}, but must be 0: city {city} has ended the game (T11)",
        )
        ending_city = snapshot["ending_city"]
        if ending_city is not None:
            ending_city = require_int("ending_city", ending_city, 0, CITIES - 1)
        require_equal("ending_city (T11)", ending_city, city)
        state["ending_city"] = -1 if city is None else city
        for player in range(players):
            state["scores"][player] = _score(stacks, player, city)
        if city is None:
            _check_passes(state, mover, players, passes)
        return city is not None or passes == players or _lots_are_settled(stacks)

    def decode(self, action: int, position: Mapping[str, Any]) -> Move:
        if action == kernel.PASS:
            return Move("pass", "pass")
        plane, square = divmod(action, SQUARES)
        row, column = divmod(square, COLUMNS)
        to_row, to_column = (row, plane) if plane < COLUMNS else (plane - COLUMNS, column)
        name = f"move {row},{column} to {to_row},{to_column}"
        return Move(name, "move", (square,), to_row * COLUMNS + to_column)

    def action_to_str(self, state: Any, action: int) -> str:
        # No move depends on the position.
        return self.decode(action, {}).name

    def prompt(self, position: Mapping[str, Any], moves: Collection[Move]) -> str:
        if any(move.kind == "pass" for move in moves):
            return "You have no move: pass."
        return "Choose a stack, then where it goes."

    def occupied(self, position: Mapping[str, Any]) -> list[int]:
        return [stack["square"] for stack in position["stacks"]]

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        from tabletop_envs.render import tuerme as drawing

        return drawing.text(self, snapshot, colour)


def _bits(boards: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The bits of boards by their squares, `(boards, SQUARES)`."""
    bits = boards[:, :, np.newaxis] >> np.arange(HALF, dtype=np.uint64) & np.uint64(1)
    return bits.reshape(len(boards), SQUARES).astype(np.int64)


def _read_stacks(state: Any) -> dict[int, Stack]:
    """The stacks of a state by their squares."""
    colours, squares = _bits(state["colours"]).nonzero()
    symbols = (1, 2) @ _bits(state["symbols"])[:, squares]
    heights = (1, 2, 4) @ _bits(state["heights"])[:, squares]
    stacks = zip(colours.tolist(), symbols.tolist(), heights.tolist(), strict=True)
    return dict(zip(squares.tolist(), stacks, strict=True))


def _write_stacks(state: Any, stacks: Mapping[int, Stack]) -> None:
    """Write stacks into an empty state."""
    state["symbols"] = [board.words for board in LOT_SYMBOLS]
    for square, (colour, symbol, height) in stacks.items():
        half, bit = square // HALF, np.uint64(1 << square % HALF)
        state["colours"][colour, half] |= bit
        for digit in range(2):
            if symbol >> digit & 1:
                state["symbols"][digit, half] |= bit
        for digit in range(3):
            if height >> digit & 1:
                state["heights"][digit, half] |= bit


def _parse_stacks(given: Any) -> dict[int, Stack]:
    """The stacks of a snapshot by their squares, each possible by itself."""
    stacks: dict[int, Stack] = {}
    for entry in require_list("stacks", given):
        stack = require_mapping("a stack", entry, ("square", "colour", "symbol", "height"))
        square = require_int("the square of a stack", stack["square"], 0, SQUARES - 1)
        name = f"of the stack on square {square}"
        colour = require_int(f"the colour {name}", stack["colour"], 0, COLOURS - 1)
        symbol = require_int(f"the symbol {name}", stack["symbol"], 0, SYMBOLS - 1)
        height = require_int(f"the height {name}", stack["height"], 1, MAX_HEIGHT)
        require(
            square not in stacks,
            f"two stacks stand on square {square}, but must stand on different ones",
        )
        require(
            FIELDS[square] in (".", str(symbol)),
            f"the symbol {name} is {symbol}, but must be {FIELDS[square]}, "
            "which that lot shows (T7)",
        )
        stacks[square] = (colour, symbol, height)
    return stacks


def _check_stones(stacks: Mapping[int, Stack]) -> None:
    """Require the stones of the game (T3): joining keeps symbols, each stack shows one stone."""
    stones, kinds = Counter[int](), Counter[tuple[int, int]]()
    for colour, symbol, height in stacks.values():
        stones[symbol] += height
        kinds[colour, symbol] += 1
    for symbol in range(SYMBOLS):
        require_equal(f"the number of stones of symbol {symbol}", stones[symbol], COLOURS * COPIES)
    for (colour, symbol), count in kinds.items():
        require(
            count <= COPIES,
            f"{count} stacks show colour {colour} and symbol {symbol}, "
            f"but must be at most {COPIES}",
        )


def _ending_city(stacks: Mapping[int, Stack], any_full_city: bool) -> int | None:
    """The city that has ended the game (T11); ValueError for two, since the first ended it."""
    ending = []
    for city, lots in enumerate(CITY_LOTS):
        colours = {stacks[lot][0] for lot in lots if lot in stacks}
        full = all(lot in stacks for lot in lots)
        if full and (any_full_city or len(colours) == 1):
            ending.append(city)
    require(
        len(ending) < 2,
        f"stacks fill the cities {ending}, "
        "but must fill one at most so that it ends the game (T11)",
    )
    return ending[0] if ending else None


def _score(stacks: Mapping[int, Stack], player: int, ending_city: int | None) -> int:
    """T13."""
    score = 0
    for city, lots in enumerate(CITY_LOTS):
        for lot in lots:
            colour, _, height = stacks.get(lot, (-1, 0, 0))
            if colour == player:
                score += 2 * height if city == ending_city else height
    return score


def _lots_are_settled(stacks: Mapping[int, Stack]) -> bool:
    """Whether no stack on a street shows a symbol of which a lot is vacant (T12)."""
    on_streets = {stacks[square][1] for square in STREET_SQUARES.tolist() if square in stacks}
    vacant = {int(FIELDS[lot]) for lots in CITY_LOTS for lot in lots if lot not in stacks}
    return not on_streets & vacant


def _check_passes(state: Any, mover: int, players: int, passes: int) -> None:
    """Require that players who passed since the last move have no move (T10)."""
    states = np.array([state], state.dtype)
    legal_bits = engine.new_legal(kernel.KERNEL)
    result = np.zeros(3 + players, np.int64)
    for back in range(1, passes + 1):
        passed = (mover - back) % players
        states["to_move"] = passed
        engine.advance_one(states, legal_bits, engine.REFRESH, 0, result)
        require(
            bool(legal_bits[kernel.PASS // HALF]),
            f"passes is {passes}, but must be at most {back - 1}: "
            f"player {passed} has a move and could not pass (T10)",
        )


GAME = Tuerme()
__doc__ = __doc__ and __doc__.replace("{observation}", observation_table(GAME.kernel))
OBSERVATION = GAME.observation
split_observation = GAME.split_observation


def env(**options: Any) -> TabletopEnv:
    """Make an environment in which an illegal action loses (arguments: see `TabletopEnv`)."""
    return TabletopEnv(GAME, **{"on_illegal": "lose", **options})


def raw_env(**options: Any) -> TabletopEnv:
    """Make an environment in which an illegal action raises `ValueError`."""
    return TabletopEnv(GAME, **options)


def parallel_env(**options: Any) -> TabletopParallelEnv:
    """Make the turn-based parallel environment (arguments: see `TabletopParallelEnv`)."""
    return TabletopParallelEnv(GAME, **{"on_illegal": "lose", **options})
