"""kirche (*Lass die Kirche im Dorf!*): slide and turn buildings and connect your village.

The board
=========

Two players, light (`player_0`) and dark (`player_1`), on 7×7 squares; `square = row * 7 + column`,
row 0 at the top. After all pieces are placed it may look like this (capitals are light; S spire, N
nave, H house; `—` and `|` show each piece's ridge; `+` is the pastor)::

          0   1   2   3   4   5   6
      0  S—   ·  H|   ·  h—   ·  n—
      1   ·  h|   ·  H—   ·  h|   ·
      2  H|   ·  h|   ·  H—   ·  H|
      3   ·  h—   ·   +   ·  h|   ·
      4   ·   ·  H|   ·  H—   ·   ·
      5   ·  h|   ·  h—   ·   ·   ·
      6  s|   ·   ·   ·  H|   ·  N—

Rules
=====

The numbers (K1 …) are those that errors, comments and tests name. (D: …) marks a decision of ours,
with the reason.

K1 The board
    7×7 squares, empty but for the pastor, who starts on the centre square. *Adjacent* means sharing
    an edge, never a corner.
K2 Pieces
    Each player has a spire, a nave and `num_houses` houses. (D: the source does not say how many
    houses; we take 7, since public descriptions of the game count 18 buildings. Fewer make shorter
    games, to begin training with.)
K3 Churches
    Light places the spire on any corner, then the nave on the corner diagonally opposite; then dark
    the same on the corners left. Every placement (K3, K4) also chooses the piece's ridge,
    horizontal or vertical. (D: the source does not say which of the two pieces comes first; we
    place the spire first: either order leads to the same positions, and one is enough.)
K4 Houses
    Light and dark alternately, light first, place a house on an empty square that is adjacent to
    no own piece.
K5 Room for houses
    Such a square always exists: own pieces bar at most 36 squares, the other's take 9 and the
    pastor 1, of 49.
K6 Turns
    Once all pieces are placed, light and dark take turns, light first. A turn is either K7 or K8.
K7 Move
    An own piece goes one or more squares along its ridge over empty squares to an empty square, and
    may be turned by 90° afterwards. Pieces of either colour and the pastor are in the way.
K8 Ask the pastor
    An own piece that cannot move either way along its ridge swaps places with the pastor and is
    turned by 90°, always.
K9 No passing
    Each piece can do one of the two, so that there is always something to do.
K10 Winning
    A player wins at once who has, after an own move or swap, all own pieces in one connected
    group, with the spire adjacent to the nave and neither of the two on the edge of the board.
    Placing never wins.
K11 The limit
    After `max_plies` actions, placements included, without a winner the game ends as a draw. (D:
    the source sets no limit; we set one, since players who are careful can keep each other from
    winning for ever, and take 200 actions, within which most games of the greedy agent against
    itself are won.) A game ended so is terminated, not truncated: the limit is a rule, and
    `by_limit` in a snapshot's outcome tells.
K12 Rewards
    +1 for the winner, −1 for the loser, 0 and 0 for a draw; zero before the end. `infos[agent]`:
    `score` (1 for the winner, else 0) and `ply`.

Options
=======

============  =======  ==========  =================================================================
option        default  allowed     meaning
============  =======  ==========  =================================================================
`num_houses`  7        1 … 7       houses of each player; fewer make shorter games (a curriculum)
`max_plies`   200      1 … 2^21−1  the game ends after this many actions
============  =======  ==========  =================================================================

Actions
=======

`Discrete(1323)`; `action = plane * 49 + square`, the square being where the piece is, or is put:

=========  =========================================================================================
plane      meaning
=========  =========================================================================================
0, 1       place the next piece with horizontal, vertical ridge
2 + 2·o+t  move: o = 0 … 5 means 1 … 6 squares right or down along the ridge, o = 6 … 11 means 1 … 6
           squares left or up; t = 1 turns the piece afterwards
26         swap with the pastor
=========  =========================================================================================

Observation
===========

`Box(L = 453)`, seen from the observing agent (`own` and `other`); `OBSERVATION` has the slices:

{observation}

Positions
=========

`env.snapshot()` gives a position as data, `env.restore` takes one. It checks the position, not its
history: what can be played to the end passes, so puzzles that no game leads to are welcome. The
number of pieces and the phase follow from `ply`. Once pieces move, they may stand anywhere and
either player may be to move; a town that is complete already has not won: only a player's own
action wins (K10).

Example
=======

>>> from tabletop_envs import kirche_v0
>>> env = kirche_v0.env()
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     mask = observation["action_mask"]
...     env.step(None if terminated else env.action_space(agent).sample(mask))
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tabletop_envs.checks import (
    require,
    require_choice,
    require_equal,
    require_int,
    require_list,
    require_mapping,
)
from tabletop_envs.envs import kirche_symmetries
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.game import Game, Move, Option, Snapshot, max_plies_option, observation_table
from tabletop_envs.kernels import engine
from tabletop_envs.kernels import kirche as kernel
from tabletop_envs.symmetries import Symmetry

SIZE, SQUARES, CENTRE = kernel.SIZE, kernel.SQUARES, 24
KINDS = ("spire", "nave", "house")
RIDGES = ("h", "v")
PHASES = ("churches", "houses", "moves")
CORNERS = (0, 6, 42, 48)
FIRST_MOVE_PLANE, SWAP_PLANE = int(kernel.FIRST_MOVE_PLANE), int(kernel.SWAP_PLANE)


class Kirche(Game):
    """What the environments need to know of kirche."""

    name = "kirche"
    kernel = kernel.KERNEL
    player_names = ("light", "dark")
    palette = "woods"
    options = (
        Option("num_houses", 7, 1, 7, "houses of each player"),
        max_plies_option(200),
    )
    snapshot_keys = ("phase", "pastor", "pieces")

    def symmetries(self, options: Mapping[str, Any]) -> tuple[Symmetry, ...]:
        return kirche_symmetries.symmetries()

    def position(self, state: Any) -> Snapshot:
        phase = _phase(int(state["ply"]), _placements(int(state["num_houses"])))
        return {
            "phase": PHASES[phase],
            "pastor": int(state["pastor"]).bit_length() - 1,
            "pieces": [_pieces(state, int(own)) for own in state["pieces"]],
        }

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        ply, houses = int(state["ply"]), int(state["num_houses"])
        placements = _placements(houses)
        phase = _phase(ply, placements)
        require_equal(
            f"phase (at ply {ply} with num_houses={houses})",
            PHASES[require_choice("phase", snapshot["phase"], PHASES)],
            PHASES[phase],
        )
        if phase < 2:
            require_equal(f"to_move (at ply {ply})", int(state["to_move"]), placements[ply][0])
        # Once pieces move either player may be to move, whatever the ply: a puzzle has no history.
        pastor = require_int("pastor", snapshot["pastor"], 0, SQUARES - 1)
        require(
            phase == 2 or pastor == CENTRE,
            f"pastor is {pastor}, but must be {CENTRE} until pieces move (K1)",
        )
        state["pastor"] = 1 << pastor
        taken = {pastor: "the pastor"}
        for player, pieces in enumerate(require_list("pieces", snapshot["pieces"], 2)):
            name = self.player_names[player]
            listed = require_list(f"pieces of {name}", pieces)
            kinds = [self._read_piece(state, player, entry, taken) for entry in listed]
            require_equal(
                f"the number of {name}'s pieces (K2, ply {ply})",
                {kind: kinds.count(kind) for kind in KINDS},
                {kind: placements[:ply].count((player, kind)) for kind in KINDS},
            )
            if phase < 2:
                _check_placed(int(state["pieces"][player]), state, name)
        # Only the last mover's own action completes a town (K10). A puzzle in which a town is
        # complete may be played on, so it counts only where the snapshot says that it has won.
        outcome, winner = snapshot["outcome"], 1 - int(state["to_move"])
        moved = ply > len(placements)
        if outcome is None or not moved or not _town_complete(state, winner):
            return False
        state["scores"][winner] = outcome["scores"][winner] != 0
        return bool(state["scores"][winner])

    def _read_piece(self, state: Any, player: int, entry: Any, taken: dict[int, str]) -> str:
        piece = require_mapping("a piece", entry, ("kind", "square", "ridge"))
        kind = KINDS[require_choice("a piece's kind", piece["kind"], KINDS)]
        square = require_int(f"the square of a {kind}", piece["square"], 0, SQUARES - 1)
        ridge = require_choice(f"the ridge of the {kind} on {square}", piece["ridge"], RIDGES)
        name = f"{self.player_names[player]}'s {kind}"
        require(
            square not in taken,
            f"{name} and {taken.get(square)} stand on square {square} both, "
            "but each must have a square of its own",
        )
        taken[square] = name
        bit = np.uint64(1 << square)
        state["pieces"][player] |= bit
        if kind != "house":
            state[f"{kind}s"] |= bit
        if ridge == 0:
            state["horizontal"] |= bit
        return kind

    def decode(self, action: int, position: Mapping[str, Any]) -> Move:
        plane, square = divmod(action, SQUARES)
        at = f"{square // SIZE},{square % SIZE}"
        if plane < FIRST_MOVE_PLANE:
            kind = "house"
            if position["phase"] == "churches":
                kind = KINDS[sum(map(len, position["pieces"])) % 2]
            return Move(
                f"place {kind} {at} {('horizontal', 'vertical')[plane]}", "place", (), square
            )
        kind, ridge = next(
            (
                (piece["kind"], piece["ridge"])
                for pieces in position["pieces"]
                for piece in pieces
                if piece["square"] == square
            ),
            ("house", "v"),
        )
        if plane == SWAP_PLANE:
            return Move(f"swap {kind} {at}", "swap", (square,), position["pastor"])
        way, reach = divmod((plane - FIRST_MOVE_PLANE) // 2, SIZE - 1)
        distance = reach + 1
        word = {"h": ("right", "left"), "v": ("down", "up")}[ridge][way]
        turn = " turn" if (plane - FIRST_MOVE_PLANE) % 2 else ""
        step = distance * (1 if ridge == "h" else SIZE)
        target = square - step if way else square + step
        return Move(f"move {kind} {at} {word} {distance}{turn}", "move", (square,), target)

    def prompt(self, position: Mapping[str, Any], moves: Collection[Move]) -> str:
        own = position["pieces"][position["to_move"]]
        if position["phase"] == "churches":
            what = "nave on an opposite corner" if own else "spire on a corner"
            return f"Place your {what}, its ridge as you like."
        if position["phase"] == "houses":
            left = position["options"]["num_houses"] + 2 - len(own)
            return f"Place a house beside none of your own pieces ({left} left)."
        swaps = any(move.kind == "swap" for move in moves)
        swap = ", or swap a blocked one with the pastor" if swaps else ""
        return f"Move a piece along its ridge{swap}."

    def occupied(self, position: Mapping[str, Any]) -> list[int]:
        pieces = [piece["square"] for pieces in position["pieces"] for piece in pieces]
        return [position["pastor"], *pieces]

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        from tabletop_envs.render import kirche as drawing

        return drawing.text(self, snapshot, colour)


def _squares(board: int) -> list[int]:
    """The squares of a bitboard, ascending."""
    return [square for square in range(SQUARES) if board >> square & 1]


def _pieces(state: Any, own: int) -> list[dict[str, Any]]:
    """The pieces on the squares `own` of a state, spire and nave first."""
    spires, naves = int(state["spires"]), int(state["naves"])
    horizontal = int(state["horizontal"])
    boards = {"spire": own & spires, "nave": own & naves, "house": own & ~(spires | naves)}
    return [
        {"kind": kind, "square": square, "ridge": "h" if horizontal >> square & 1 else "v"}
        for kind, board in boards.items()
        for square in _squares(board)
    ]


# Kept on disk, as the kernel's own functions are not; the state's type has the kernel's digest.


@engine.compiled_loop
def _town_complete(state: Any, player: int) -> bool:
    return bool(kernel.town_complete(state, player))


@engine.compiled_loop
def _neighbours(state: Any, squares: Any) -> Any:
    return kernel.neighbours(squares)


def _placements(num_houses: int) -> list[tuple[int, str]]:
    """The first actions of a game: which player places what (K3, K4)."""
    churches = [(player, kind) for player in range(2) for kind in ("spire", "nave")]
    return [*churches, *[(0, "house"), (1, "house")] * num_houses]


def _phase(ply: int, placements: Sequence[tuple[int, str]]) -> int:
    return (ply >= 4) + (ply >= len(placements))


def _check_placed(own: int, state: Any, name: str) -> None:
    """Require a player's pieces to stand as placed: the church on corners (K3), all apart (K4)."""
    corners = _squares(own & (int(state["spires"]) | int(state["naves"])))
    require(
        set(corners) <= set(CORNERS) and (len(corners) < 2 or sum(corners) == SQUARES - 1),
        f"{name}'s church pieces stand on {corners}, but must stand on opposite corners (K3)",
    )
    beside = _squares(int(_neighbours(state, np.uint64(own))) & own)
    require(
        not beside,
        f"{name}'s pieces on {beside} are adjacent, but must not be while houses are placed (K4)",
    )


GAME = Kirche()
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
