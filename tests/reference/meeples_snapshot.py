"""A game of meeples read from, and written to, the snapshot of ENVS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.reference.chance import Chance
from tests.reference.meeples_table import NEIGHBOURS

if TYPE_CHECKING:
    from tests.reference.meeples import Reference

# What the snapshot and the game call and write alike.
NUMBERS_AND_NAMES = (
    "ply",
    "to_move",
    "round",
    "phase",
    "fails",
    "rerolled",
    "moved",
    "source",
    "new_meeples",
    "stale_rounds",
)
LISTS = ("supply", "passed", "set_block", "dice_allowed")


def read_snapshot(game: Reference, snapshot: dict[str, Any]) -> None:
    """Set the game, which has the snapshot's options, to the snapshot's position."""
    for name in NUMBERS_AND_NAMES:
        setattr(game, name, snapshot[name])
    for name in LISTS:
        setattr(game, name, list(snapshot[name]))
    game.dice = list(snapshot["dice"])
    game.outcome = copy_outcome(snapshot["outcome"])
    game.chance = Chance(snapshot.get("rng", 0))
    game.hands = [{tuple(stone) for stone in hand} for hand in snapshot["hands"]]
    game.setup_stones = [tuple(stone) for stone in snapshot["setup_stones"]]
    game.fired = set(snapshot["fired"])
    chosen = snapshot["chosen"]
    game.chosen_stone = None if chosen["stone"] is None else tuple(chosen["stone"])
    game.chosen_field = chosen["field"]
    table = game.table
    table.stones = {tuple(laid["stone"]): tuple(laid["fields"]) for laid in snapshot["stones"]}
    table.blocks = {block["field"]: block["player"] for block in snapshot["blocks"]}
    table.meeples = {meeple["field"]: meeple["player"] for meeple in snapshot["meeples"]}
    # Which neighbours were once clone and source is not recorded: all are taken to be such.
    table.pairs = {
        frozenset((field, near))
        for field, player in table.meeples.items()
        for near in NEIGHBOURS[field]
        if table.meeples.get(near) == player
    }


def write_snapshot(game: Reference) -> dict[str, Any]:
    """The whole position, its lists sorted."""
    chosen_stone = None if game.chosen_stone is None else list(game.chosen_stone)
    return {
        "game": "meeples",
        "options": dict(game.options),
        **{name: getattr(game, name) for name in NUMBERS_AND_NAMES},
        **{name: list(getattr(game, name)) for name in LISTS},
        "outcome": copy_outcome(game.outcome),
        "rng": game.chance.state,
        "stones": [
            {"stone": list(stone), "fields": list(fields)}
            for stone, fields in sorted(game.table.stones.items())
        ],
        "hands": [sorted(list(stone) for stone in hand) for hand in game.hands],
        "blocks": owned(game.table.blocks),
        "meeples": owned(game.table.meeples),
        "dice": sorted(game.dice),
        "chosen": {"stone": chosen_stone, "field": game.chosen_field},
        "setup_stones": sorted(list(stone) for stone in game.setup_stones),
        "fired": sorted(game.fired),
    }


def owned(things: dict[int, int]) -> list[dict[str, int]]:
    """Blocks or meeples by field."""
    return [{"field": field, "player": player} for field, player in sorted(things.items())]


def copy_outcome(outcome: dict[str, Any] | None) -> dict[str, Any] | None:
    """An outcome that shares no list with the given one."""
    if outcome is None:
        return None
    return {
        "scores": list(outcome["scores"]),
        "rewards": list(outcome["rewards"]),
        "by_limit": outcome["by_limit"],
    }
