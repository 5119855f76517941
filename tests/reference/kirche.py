"""kirche, slowly and obviously: the rules K1 … K12 in plain Python, one small method a rule."""

from __future__ import annotations

from typing import Any

SIZE = 7
SQUARES = SIZE * SIZE
CENTRE = 3 * SIZE + 3
CORNERS = (0, SIZE - 1, SQUARES - SIZE, SQUARES - 1)
LIGHT, DARK = 0, 1
RIDGES = ("h", "v")
KIND_ORDER = {"spire": 0, "nave": 1, "house": 2}

# Action = plane * 49 + square: two planes to place, 24 to move, one to swap with the pastor.
MOVE_PLANE = 2
SWAP_PLANE = 26


def row_and_column(square: int) -> tuple[int, int]:
    """Where a square lies; row 0 is the top, column 0 the left."""
    return square // SIZE, square % SIZE


def step_from(square: int, down: int, right: int) -> int | None:
    """The square that lies so many rows below and columns to the right, or None off the board."""
    row, column = row_and_column(square)
    row, column = row + down, column + right
    if 0 <= row < SIZE and 0 <= column < SIZE:
        return row * SIZE + column
    return None


def neighbours(square: int) -> set[int]:
    """The squares that share an edge with a square."""
    around = [step_from(square, down, right) for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return {neighbour for neighbour in around if neighbour is not None}


def on_edge(square: int) -> bool:
    """Whether a square lies on the edge of the board."""
    row, column = row_and_column(square)
    return row in (0, SIZE - 1) or column in (0, SIZE - 1)


def opposite_corner(square: int) -> int:
    """The corner diagonally opposite to a corner."""
    return SQUARES - 1 - square


def turned(ridge: str) -> str:
    """The ridge of a piece after a turn by 90 degrees."""
    return "v" if ridge == "h" else "h"


class Reference:
    """One game of kirche."""

    def __init__(self, seed: int = 0, **options: Any) -> None:
        """A new game. `seed` changes nothing: kirche has no chance."""
        self.options: dict[str, int] = {"num_houses": 7, "max_plies": 200}
        for name, value in options.items():
            if name not in self.options:
                raise TypeError(f"unknown option {name}={value!r}: allowed are {[*self.options]}")
            self.options[name] = value
        if self.options["num_houses"] not in range(1, 8):  # K2
            raise ValueError(f"num_houses={self.options['num_houses']!r}: allowed are 1 … 7")
        if self.options["max_plies"] < 1:
            raise ValueError(f"max_plies={self.options['max_plies']!r}: allowed are 1 and more")
        self.ply = 0
        self.to_move = LIGHT
        self.outcome: dict[str, Any] | None = None
        self.pastor = CENTRE  # K1
        # Per player: square -> {"kind", "ridge"}.
        self.pieces: list[dict[int, dict[str, str]]] = [{}, {}]

    @classmethod
    def from_snapshot(cls, snapshot: dict[str, Any]) -> Reference:
        """A game that goes on from a snapshot, which is trusted."""
        game = cls(**snapshot["options"])
        game.ply = snapshot["ply"]
        game.to_move = snapshot["to_move"]
        if snapshot["outcome"] is not None:
            game.outcome = {
                "scores": list(snapshot["outcome"]["scores"]),
                "rewards": list(snapshot["outcome"]["rewards"]),
                "by_limit": snapshot["outcome"]["by_limit"],
            }
        game.pastor = snapshot["pastor"]
        for player in (LIGHT, DARK):
            for piece in snapshot["pieces"][player]:
                game._put(player, piece["square"], piece["kind"], piece["ridge"])
        return game

    def snapshot(self) -> dict[str, Any]:
        """The position in plain JSON types, pieces in the order spire, nave, houses by square."""
        outcome = None
        if self.outcome is not None:
            outcome = {
                "scores": list(self.outcome["scores"]),
                "rewards": list(self.outcome["rewards"]),
                "by_limit": self.outcome["by_limit"],
            }
        pieces = []
        for player in (LIGHT, DARK):
            listed: list[dict[str, Any]] = [
                {"kind": piece["kind"], "square": square, "ridge": piece["ridge"]}
                for square, piece in self.pieces[player].items()
            ]
            pieces.append(sorted(listed, key=lambda p: (KIND_ORDER[p["kind"]], p["square"])))
        return {
            "game": "kirche",
            "options": dict(self.options),
            "ply": self.ply,
            "to_move": self.to_move,
            "outcome": outcome,
            "phase": self.phase(),
            "pastor": self.pastor,
            "pieces": pieces,
        }

    def phase(self) -> str:
        """The phase that the pieces on the board show: a dark nave ends the churches (K3)."""
        if len(self.pieces[LIGHT]) + len(self.pieces[DARK]) < 4:
            return "churches"
        if any(len(self.pieces[player]) < 2 + self.options["num_houses"] for player in (0, 1)):
            return "houses"
        return "moves"

    def scores(self) -> list[int]:
        """1 for the winner, else 0."""
        return [0, 0] if self.outcome is None else list(self.outcome["scores"])

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none once the game is over."""
        if self.outcome is not None:
            return []
        if self.phase() == "moves":
            return sorted(self._moves() + self._swaps())
        squares = self._church_squares() if self.phase() == "churches" else self._house_squares()
        return sorted(plane * SQUARES + square for plane in (0, 1) for square in squares)

    def step(self, action: int) -> None:
        """Carry out a legal action of the player to move."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal")
        player = self.to_move
        plane, square = action // SQUARES, action % SQUARES
        was_placement = self.phase() != "moves"
        if was_placement:
            self._put(player, square, self._kind_to_place(player), RIDGES[plane])
        elif plane == SWAP_PLANE:
            self._swap(player, square)
        else:
            self._move(player, square, plane)
        self.ply += 1
        self.to_move = self._next_player(player)
        # K10: only the mover wins, and placement never does.
        if not was_placement and self._town_is_complete(player):
            scores = [0, 0]
            rewards = [-1, -1]
            scores[player] = rewards[player] = 1  # K12
            self._end(scores, rewards, by_limit=False)
        elif self.ply >= self.options["max_plies"]:  # K11
            self._end([0, 0], [0, 0], by_limit=True)

    # --- placing (K3, K4) ---

    def _kind_to_place(self, player: int) -> str:
        """K3, K4: the spire first, then the nave, then the houses."""
        placed = len(self.pieces[player])
        return ("spire", "nave")[placed] if placed < 2 else "house"

    def _church_squares(self) -> list[int]:
        """K3: the spire on any corner left, the nave on the corner diagonally opposite."""
        player = self.to_move
        assert player is not None
        if self._kind_to_place(player) == "nave":
            (spire_square,) = self.pieces[player]
            return [opposite_corner(spire_square)]
        return [corner for corner in CORNERS if self._is_empty(corner)]

    def _house_squares(self) -> list[int]:
        """K4: the empty squares that are adjacent to no piece of the player to move."""
        player = self.to_move
        assert player is not None
        return [
            square
            for square in range(SQUARES)
            if self._is_empty(square) and not neighbours(square) & set(self.pieces[player])
        ]

    # --- turns (K7, K8) ---

    def _walks(self, player: int, square: int) -> dict[int, int]:
        """K7: the offsets o of the action planes, with the square to which each takes a piece."""
        walks = {}
        along_ridge = (0, 1) if self.pieces[player][square]["ridge"] == "h" else (1, 0)
        for sign, first_offset in ((1, 0), (-1, 6)):
            for distance in range(1, SIZE):
                down, right = (sign * distance * part for part in along_ridge)
                target = step_from(square, down, right)
                if target is None or not self._is_empty(target):
                    break  # K7: what stands in the way blocks; nothing is jumped.
                walks[first_offset + distance - 1] = target
        return walks

    def _moves(self) -> list[int]:
        """K7: every move of the player to move, with and without the turn."""
        player = self.to_move
        assert player is not None
        return [
            (MOVE_PLANE + 2 * offset + turn) * SQUARES + square
            for square in self.pieces[player]
            for offset in self._walks(player, square)
            for turn in (0, 1)
        ]

    def _swaps(self) -> list[int]:
        """K8: only a piece that cannot move may ask the pastor."""
        player = self.to_move
        assert player is not None
        return [
            SWAP_PLANE * SQUARES + square
            for square in self.pieces[player]
            if not self._walks(player, square)
        ]

    def _move(self, player: int, square: int, plane: int) -> None:
        """K7: a piece goes along its ridge and is turned or not."""
        offset, turn = (plane - MOVE_PLANE) // 2, (plane - MOVE_PLANE) % 2
        target = self._walks(player, square)[offset]
        piece = self.pieces[player].pop(square)
        ridge = turned(piece["ridge"]) if turn else piece["ridge"]
        self._put(player, target, piece["kind"], ridge)

    def _swap(self, player: int, square: int) -> None:
        """K8: a piece changes places with the pastor and is always turned."""
        piece = self.pieces[player].pop(square)
        target, self.pastor = self.pastor, square
        self._put(player, target, piece["kind"], turned(piece["ridge"]))

    # --- the end (K10, K11) ---

    def _town_is_complete(self, player: int) -> bool:
        """K10: one group, the spire beside the nave, neither of the two on the edge."""
        spire, nave = self._square_of(player, "spire"), self._square_of(player, "nave")
        if on_edge(spire) or on_edge(nave) or nave not in neighbours(spire):
            return False
        own = set(self.pieces[player])
        group = {spire}
        while True:
            grown = group | {n for square in group for n in neighbours(square) if n in own}
            if grown == group:
                return group == own
            group = grown

    def _end(self, scores: list[int], rewards: list[int], by_limit: bool) -> None:
        self.outcome = {"scores": scores, "rewards": rewards, "by_limit": by_limit}

    # --- helpers ---

    def _next_player(self, player: int) -> int:
        """K3, K4, K6: each places a whole church; after that the players alternate."""
        if self.phase() == "churches":
            return LIGHT if len(self.pieces[LIGHT]) < 2 else DARK
        return DARK if player == LIGHT else LIGHT

    def _put(self, player: int, square: int, kind: str, ridge: str) -> None:
        self.pieces[player][square] = {"kind": kind, "ridge": ridge}

    def _is_empty(self, square: int) -> bool:
        """Whether neither a piece nor the pastor stands on a square."""
        occupied = set(self.pieces[LIGHT]) | set(self.pieces[DARK]) | {self.pastor}
        return square not in occupied

    def _square_of(self, player: int, kind: str) -> int:
        """The square of a player's spire or nave."""
        (found,) = [s for s, piece in self.pieces[player].items() if piece["kind"] == kind]
        return found

    # --- invariants ---

    def check_invariants(self) -> None:
        """Assert what must hold in every position of a game."""
        num_houses = self.options["num_houses"]
        light, dark = set(self.pieces[LIGHT]), set(self.pieces[DARK])
        assert not light & dark
        assert self.pastor not in light | dark
        assert light | dark | {self.pastor} <= set(range(SQUARES))
        for player in (LIGHT, DARK):
            kinds = [piece["kind"] for piece in self.pieces[player].values()]
            ridges = [piece["ridge"] for piece in self.pieces[player].values()]
            assert kinds.count("spire") <= 1 and kinds.count("nave") <= 1  # K2
            assert kinds.count("house") <= num_houses  # K2
            assert len(kinds) < 2 or "spire" in kinds and "nave" in kinds  # K3
            assert set(ridges) <= set(RIDGES)

        placements = 4 + 2 * num_houses
        assert len(light) + len(dark) == min(self.ply, placements)
        assert self.phase() == (
            "churches" if self.ply < 4 else "houses" if self.ply < placements else "moves"
        )
        if self.ply <= placements:
            assert self.pastor == CENTRE  # K1: only a swap moves the pastor.
            for player in (LIGHT, DARK):
                self._check_placement(player)

        expected = (0, 0, 1, 1)[self.ply] if self.ply < 4 else self.ply % 2  # K3, K4, K6
        assert self.to_move == expected
        if self.outcome is None:
            assert self.ply < self.options["max_plies"]  # K11
            assert self.scores() == [0, 0]
            self._check_legal_actions()
            if self.phase() == "moves":  # K10: a complete town would have ended the game.
                assert not any(self._town_is_complete(player) for player in (LIGHT, DARK))
        else:
            assert self.legal_actions() == []
            self._check_outcome()

    def _check_placement(self, player: int) -> None:
        """K3, K4 while pieces are placed: the church on opposite corners, no own piece adjacent."""
        own = self.pieces[player]
        for square, piece in own.items():
            assert not neighbours(square) & set(own)  # K4
            if piece["kind"] != "house":
                assert square in CORNERS  # K3
            if piece["kind"] == "nave":
                assert opposite_corner(self._square_of(player, "spire")) == square  # K3

    def _check_legal_actions(self) -> None:
        actions = self.legal_actions()
        assert actions == sorted(set(actions))
        assert actions and all(0 <= action < 27 * SQUARES for action in actions)  # K5, K9
        planes = {action // SQUARES for action in actions}
        assert planes <= ({0, 1} if self.phase() != "moves" else set(range(2, 27)))
        player = self.to_move
        assert player is not None
        if self.phase() == "houses":  # K5, counted as the rule counts
            barred = set(self.pieces[player])
            for square in self.pieces[player]:
                barred |= neighbours(square)
            assert len(barred) <= 36
            assert len(self.pieces[1 - player]) <= 9
            assert len(self._house_squares()) >= SQUARES - 36 - 9 - 1
        if self.phase() == "moves":
            movable = {action % SQUARES for action in self._moves()}
            swappable = {action % SQUARES for action in self._swaps()}
            assert not movable & swappable  # K8
            assert movable | swappable == set(self.pieces[player])  # K9

    def _check_outcome(self) -> None:
        assert self.outcome is not None
        complete = []
        if self.phase() == "moves":
            complete = [player for player in (LIGHT, DARK) if self._town_is_complete(player)]
        if self.outcome["by_limit"]:  # K11
            assert complete == [] and self.ply == self.options["max_plies"]
            assert self.outcome["scores"] == [0, 0] and self.outcome["rewards"] == [0, 0]
        else:  # K10, K12; the last action was the winner's.
            winner = (self.ply - 1) % 2
            assert complete == [winner] and self.ply <= self.options["max_plies"]
            assert self.outcome["scores"] == [[1, 0], [0, 1]][winner]
            assert self.outcome["rewards"] == [[1, -1], [-1, 1]][winner]
