"""meeples drawn for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tabletop_envs.kernels.meeples.table import SIDE
from tabletop_envs.render import tinted

if TYPE_CHECKING:
    from tabletop_envs.game import Game

DECISIONS = {
    "setup": "lay a stone",
    "stones": "lay a stone",
    "blocks": "set a block",
    "give_up": "give up a block",
    "meeples": "put or move a meeple, or end the turn",
    "land": "lay a stone elsewhere (land)",
    "sidestep": "sidestep with a meeple, or decline",
    "clone": "put a clone",
    "teleport": "teleport the meeple",
}


def text(
    game: Game, snapshot: Mapping[str, Any], viewer: int | None = None, colour: bool = False
) -> str:
    """The part of the table with stones on it, the dice, each player's things, and the decision.

    A field shows its value; `─` and `│` join the halves of a stone; bare fields are dots. Behind
    the value stands a capital for a meeple (A: player_0, B: player_1, …), a small letter for a
    block. With a `viewer`, hands that this player may not see are shown by their size alone.
    """
    dice = " ".join(map(str, snapshot["dice"])) or "none"
    lines = [*_table(game, snapshot, colour), "", f"dice in the pool: {dice}"]
    lines += [_player(game, snapshot, player, viewer) for player in range(len(snapshot["hands"]))]
    return "\n".join([*lines, _caption(game, snapshot, viewer)]) + "\n"


def sees(game: Game, snapshot: Mapping[str, Any], viewer: int | None, player: int) -> bool:
    """Whether the viewer sees the hand of a player."""
    return viewer in (None, player) or not game.has_secrets(snapshot["options"])


def _table(game: Game, snapshot: Mapping[str, Any], colour: bool) -> list[str]:
    values: dict[int, int] = {}
    joined: set[tuple[int, int]] = set()
    for laid in snapshot["stones"]:
        first, second = laid["fields"]
        values[first], values[second] = laid["stone"]
        joined.add((min(first, second), max(first, second)))
    names = game.player_names
    marks = {
        block["field"]: (names[block["player"]].lower(), block["player"])
        for block in snapshot["blocks"]
    }
    marks |= {
        meeple["field"]: (names[meeple["player"]], meeple["player"])
        for meeple in snapshot["meeples"]
    }
    used = [divmod(field, SIDE) for field in values] or [(12, 11), (12, 12)]
    rows = range(max(0, min(r for r, _ in used) - 1), min(SIDE, max(r for r, _ in used) + 2))
    columns = range(max(0, min(c for _, c in used) - 1), min(SIDE, max(c for _, c in used) + 2))

    def cell(field: int) -> str:
        value = str(values.get(field, "·"))
        joint = "─" if (field, field + 1) in joined else " "
        if field not in marks:
            return value + joint + joint
        letter, player = marks[field]
        return (tinted(value + letter, player) if colour else value + letter) + joint

    lines = ["     " + "".join(f"{column:<3}" for column in columns).rstrip()]
    for row in rows:
        fields = [row * SIDE + column for column in columns]
        lines.append(f"{row:>3}  {''.join(map(cell, fields))}".rstrip())
        below = "".join("│  " if (field, field + SIDE) in joined else "   " for field in fields)
        lines.append(f"     {below}".rstrip())
    return lines


def _player(game: Game, snapshot: Mapping[str, Any], player: int, viewer: int | None) -> str:
    hand, supply = snapshot["hands"][player], snapshot["supply"][player]
    line = f"player_{player} ({game.player_names[player]}): {supply} meeples in supply"
    if snapshot["passed"][player]:
        line += ", has passed"
    elif snapshot["dice_allowed"][player] is not None:
        line += f", may take {snapshot['dice_allowed'][player]} more"
    if sees(game, snapshot, viewer, player):
        return f"{line}, hand: {' '.join(f'{a}-{b}' for a, b in hand) or 'empty'}"
    return f"{line}, {len(hand)} stones in hand"


def _caption(game: Game, snapshot: Mapping[str, Any], viewer: int | None) -> str:
    start = f"round {snapshot['round']}, ply {snapshot['ply']}"
    outcome = snapshot["outcome"]
    if outcome is not None:
        scores = " : ".join(map(str, outcome["scores"]))
        return f"{start}, over{' (by max_plies)' if outcome['by_limit'] else ''}, scores {scores}"
    mover, phase = snapshot["to_move"], snapshot["phase"]
    decision = DECISIONS[phase]
    if phase == "setup" and len(snapshot["setup_stones"]) == 2:
        decision = "put a meeple on one of the two stones"
    elif phase == "blocks":
        decision += " or pass" if snapshot["rerolled"] else ", pass, or re-roll if nothing fits"
    line = f"{start}, player_{mover} to {decision}"
    stone, field = snapshot["chosen"]["stone"], snapshot["chosen"]["field"]
    secret = phase in ("setup", "stones") and not sees(game, snapshot, viewer, mover)
    if stone is not None and not secret:
        line += f"; chosen: {stone[0]}-{stone[1]}"
        line += "" if field is None else f", first half on {field // SIDE},{field % SIDE}"
    elif field is not None and not secret:
        line += f"; chosen: the meeple on {field // SIDE},{field % SIDE}"
    if snapshot["source"] is not None:
        line += f"; set off on {snapshot['source'] // SIDE},{snapshot['source'] % SIDE}"
    return line
