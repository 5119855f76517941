"""The table of meeples written out plainly: what lies where, and what may go where."""

from __future__ import annotations

SIDE = 24
FIELDS = range(SIDE * SIDE)
DIRECTIONS = range(4)  # up, right, down, left (ENVS.md)
STONES = [(a, b) for a in range(7) for b in range(a, 7)]  # M1: the double-six set

Stone = tuple[int, int]
Place = tuple[int, int]  # the field of the first half, and the direction of the second


def field_in_direction(field: int, direction: int) -> int | None:
    """The adjacent field in a direction, or None beyond the table's edge (M3)."""
    row, column = divmod(field, SIDE)
    row += (-1, 0, 1, 0)[direction]
    column += (0, 1, 0, -1)[direction]
    return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else None


def _diagonal_neighbours(field: int) -> list[int]:
    row, column = divmod(field, SIDE)
    return [
        (row + down) * SIDE + column + right
        for down in (-1, 1)
        for right in (-1, 1)
        if 0 <= row + down < SIDE and 0 <= column + right < SIDE
    ]


IN_DIRECTION = [
    [field_in_direction(field, direction) for direction in DIRECTIONS] for field in FIELDS
]
NEIGHBOURS = [[near for near in IN_DIRECTION[field] if near is not None] for field in FIELDS]
DIAGONAL_NEIGHBOURS = [_diagonal_neighbours(field) for field in FIELDS]


def fields_of(place: Place) -> tuple[int, int]:
    """The two fields, first half first, that a stone covers in a place on the table."""
    first, direction = place
    return first, IN_DIRECTION[first][direction]


class Table:
    """What lies on the table, and what the rules say about single fields and places."""

    def __init__(self) -> None:
        self.stones: dict[Stone, tuple[int, int]] = {}
        self.blocks: dict[int, int] = {}  # field -> player
        self.meeples: dict[int, int] = {}  # field -> player
        # Pairs of fields whose meeples may be adjacent by the exception of M6. No rule looks at
        # this (M6 forbids bringing them together again); it is there for the invariants.
        self.pairs: set[frozenset[int]] = set()

    def values(self) -> dict[int, int]:
        """The value of every field that carries a stone."""
        values = {}
        for stone, fields in self.stones.items():
            values.update(zip(fields, stone, strict=True))
        return values

    def layout(self) -> set[int]:
        """All fields that carry a stone."""
        return set(self.values())

    def empty_fields(self) -> dict[int, int]:
        """M5: fields with neither meeple nor block, and their values; no 0, which stays empty."""
        return {
            field: value
            for field, value in self.values().items()
            if value > 0 and field not in self.meeples and field not in self.blocks
        }

    def fields_of_blocks(self, player: int) -> list[int]:
        """The fields of a player's blocks."""
        return [field for field, owner in self.blocks.items() if owner == player]

    def fields_of_meeples(self, player: int) -> list[int]:
        """The fields of a player's meeples."""
        return [field for field, owner in self.meeples.items() if owner == player]

    # M6

    def meeple_may_stand(self, player: int, field: int, apart_from: int | None = None) -> bool:
        """M6: no meeple of that colour is adjacent, not counting the one on `apart_from`."""
        return not any(
            near != apart_from and self.meeples.get(near) == player for near in NEIGHBOURS[field]
        )

    # Places for stones

    def places(self, layout: set[int], anchor: set[int]) -> list[Place]:
        """All places off the layout with at least one half adjacent to the fields of the anchor."""
        rim = {near for field in anchor for near in NEIGHBOURS[field]}
        found = []
        for first in FIELDS:
            if first in layout:
                continue
            for direction in DIRECTIONS:
                second = IN_DIRECTION[first][direction]
                if second is None or second in layout:
                    continue
                if first in rim or second in rim:
                    found.append((first, direction))
        return found

    def first_setup_places(self) -> list[Place]:
        """M7: where a player's first stone of the setup may lie."""
        if not self.stones:
            return [(12 * SIDE + 11, 1)]
        layout = self.layout()
        return [
            place
            for place in self.places(layout, layout)
            if self._another_stone_can_touch(layout, fields_of(place))
        ]

    def _another_stone_can_touch(self, layout: set[int], fields: tuple[int, int]) -> bool:
        """M7: once the first stone lies on these fields, the second still has a place beside it."""
        covered = layout | set(fields)
        for field in fields:
            for half in NEIGHBOURS[field]:
                if half not in covered and any(
                    other_half not in covered for other_half in NEIGHBOURS[half]
                ):
                    return True
        return False

    def second_setup_places(self, first_stone: Stone) -> list[Place]:
        """M7: the second stone touches the first."""
        return self.places(self.layout(), set(self.stones[first_stone]))

    def stone_places(self, player: int) -> list[Place]:
        """M11: at the layout, away from stones with own meeples, where that is possible."""
        layout = self.layout()
        everywhere = self.places(layout, layout)
        own_stones = [
            fields
            for fields in self.stones.values()
            if any(self.meeples.get(field) == player for field in fields)
        ]
        banned = {near for fields in own_stones for field in fields for near in NEIGHBOURS[field]}
        away = [place for place in everywhere if not banned & set(fields_of(place))]
        return away or everywhere

    def land_places(self, stone: Stone) -> list[Place]:
        """M21: where the stone, picked up, may be laid again."""
        layout = self.layout()
        fields = self.stones[stone]
        if all(near in layout for field in fields for near in NEIGHBOURS[field]):
            return []
        remaining = layout - set(fields)
        return [
            place
            for place in self.places(remaining, remaining)
            if set(fields_of(place)) != set(fields) and self._meeples_may_land(stone, place)
        ]

    def _meeples_may_land(self, stone: Stone, place: Place) -> bool:
        """M6 for M21: nobody on the stone comes beside a meeple of its colour off the stone."""
        old_fields = self.stones[stone]
        for old, new in zip(old_fields, fields_of(place), strict=True):
            if old in self.meeples and any(
                self.meeples.get(near) == self.meeples[old] and near not in old_fields
                for near in NEIGHBOURS[new]
            ):
                return False
        return True

    # Targets of blocks and meeples

    def block_fields(self, player: int, dice: list[int]) -> list[int]:
        """M12: where the player may set a block with the dice of the pool."""
        return [
            field
            for field, value in self.values().items()
            if value in dice
            and field not in self.meeples
            and self.blocks.get(field) != player
            and any(
                player in (self.meeples.get(near), self.blocks.get(near))
                for near in NEIGHBOURS[field]
            )
        ]

    def move_targets(self, field: int) -> list[int]:
        """M18: the fields with own blocks to which the meeple on this field may move."""
        player = self.meeples[field]
        return [
            target
            for target in self.fields_of_blocks(player)
            if self.meeple_may_stand(player, target, apart_from=field)
        ]

    def sidestep_targets(self, field: int) -> list[int]:
        """M22: diagonally neighbouring empty fields for the meeple on this field."""
        player = self.meeples[field]
        empty = self.empty_fields()
        return [
            target
            for target in DIAGONAL_NEIGHBOURS[field]
            if target in empty and self.meeple_may_stand(player, target, apart_from=field)
        ]

    def clone_targets(self, source: int) -> list[int]:
        """M23: empty fields beside the source, the only own meeple that M6 allows there."""
        player = self.meeples[source]
        empty = self.empty_fields()
        return [
            target
            for target in NEIGHBOURS[source]
            if target in empty and self.meeple_may_stand(player, target, apart_from=source)
        ]

    def teleport_targets(self, source: int) -> list[int]:
        """M24: the other empty fields of value 1."""
        player = self.meeples[source]
        return [
            target
            for target, value in self.empty_fields().items()
            if value == 1 and self.meeple_may_stand(player, target, apart_from=source)
        ]

    # Changes

    def move_meeple(self, origin: int, target: int) -> None:
        """A meeple goes from one field to another and so leaves its partner (M6)."""
        self.meeples[target] = self.meeples.pop(origin)
        self.pairs = {pair for pair in self.pairs if origin not in pair}

    def move_stone(self, stone: Stone, place: Place) -> None:
        """M21: the stone goes to its new place with everything that lies on its halves."""
        old, new = self.stones[stone], fields_of(place)
        self.stones[stone] = new
        to_new = dict(zip(old, new, strict=True))
        self.blocks = {to_new.get(field, field): owner for field, owner in self.blocks.items()}
        self.meeples = {to_new.get(field, field): owner for field, owner in self.meeples.items()}
        pairs = set()
        for pair in self.pairs:
            if pair <= set(old):
                pairs.add(frozenset(new))
            elif not pair & set(old):
                pairs.add(pair)
        self.pairs = pairs
