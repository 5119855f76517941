"""The panel of meeples: round and phase, the dice pool, and each player's score, supply and hand."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial
from typing import Any

from tabletop_envs.render.svg.canvas import Canvas
from tabletop_envs.render.svg.meeples_pieces import back, die, meeple, stone_of_hand

PANEL_WIDTH = 250
LEFT, TOP = 24, 26
WIDTH = PANEL_WIDTH - LEFT
PHASES = {
    "setup": "SETUP",
    "stones": "STONES",
    "blocks": "BLOCKS",
    "give_up": "GIVE UP A BLOCK",
    "meeples": "MEEPLES",
    "land": "LAND",
    "sidestep": "SIDESTEP",
    "clone": "CLONE",
    "teleport": "TELEPORT",
}
PASS, REROLL = 608, 609
DICE_IN_A_ROW = 10


def sees(snapshot: Mapping[str, Any], viewer: int | None, player: int) -> bool:
    """Whether the viewer sees the hand of a player."""
    return viewer in (None, player) or bool(snapshot["options"]["open_hands"])


def draw_panel(
    canvas: Canvas,
    snapshot: Mapping[str, Any],
    x: float,
    *,
    viewer: int | None,
    stones: Set[tuple[int, int]],
    commands: Set[int],
) -> None:
    """The panel, its left border at `x`; `stones` and `commands` (pass, re-roll) are marked as legal."""
    theme, left = canvas.theme, x + LEFT
    players = len(snapshot["hands"])
    canvas.text(f"ROUND {int(snapshot['round'])}", left, TOP + 6, 9, theme.muted, anchor=0)
    canvas.text(f"PLY {int(snapshot['ply'])}", x + PANEL_WIDTH, TOP + 6, 9, theme.muted, anchor=1)
    _draw_phase(canvas, snapshot, left, TOP + 27, commands)
    _draw_dice(canvas, snapshot, left, TOP + 64)
    top = TOP + 94
    height = (canvas.height - 26 - top) / players
    for player in range(players):
        _draw_player(
            canvas, snapshot, player, left, top + player * height, viewer=viewer, stones=stones
        )


def _draw_phase(
    canvas: Canvas, snapshot: Mapping[str, Any], left: float, y: float, commands: Set[int]
) -> None:
    """What is to be decided; what is no field or stone stands as a button beside it."""
    theme = canvas.theme
    word = "OVER" if snapshot["outcome"] is not None else PHASES[snapshot["phase"]]
    canvas.text(word, left, y, 13, theme.ink, anchor=0)
    right = left + WIDTH
    names = {
        PASS: {"meeples": "END", "sidestep": "NO"}.get(snapshot["phase"], "PASS"),
        REROLL: "ROLL",
    }
    for command in sorted(commands):
        canvas.button(names[command], right, y, command)
        right -= 52


def _draw_dice(canvas: Canvas, snapshot: Mapping[str, Any], left: float, y: float) -> None:
    dice = sorted(int(value) for value in snapshot["dice"])
    rows = 2 if len(dice) > DICE_IN_A_ROW else 1
    if not dice:
        canvas.text("NO DICE", left, y, 8, canvas.theme.muted, anchor=0)
    for place, value in enumerate(dice):
        row, column = divmod(place, DICE_IN_A_ROW)
        canvas.use(
            f"die-{value}",
            partial(die, value=value),
            left + 10 + column * 22.4,
            y + (row - (rows - 1) / 2) * 22.4,
        )


def _draw_player(
    canvas: Canvas,
    snapshot: Mapping[str, Any],
    player: int,
    left: float,
    top: float,
    *,
    viewer: int | None,
    stones: Set[tuple[int, int]],
) -> None:
    """One player: letter and score, meeples in supply, passed or dice left, and the hand below."""
    theme, outcome = canvas.theme, snapshot["outcome"]
    mover = outcome is None and snapshot["to_move"] == player
    canvas.path(f"M{left} {top}h{WIDTH}", stroke=theme.line, stroke_width=1.2)
    y = top + 20
    if mover:
        canvas.rect(left - 4, top + 2, WIDTH + 8, 36, theme.inner, rx=5)
        canvas.to_move(left + 4, y, 6)
    elif outcome is not None and outcome["rewards"][player] == max(outcome["rewards"]):
        canvas.winner(left + 5, y)
    canvas.use(f"meeple-{player}", partial(meeple, player=player), left + 32, y, scale=0.78)
    canvas.text(score_of(snapshot, player), left + 54, y, 16, theme.ink, anchor=0)
    supply = int(snapshot["supply"][player])
    canvas.text("SUPPLY", left + 96, y - 7, 6, theme.muted, anchor=0)
    canvas.text(supply, left + 96, y + 6, 10, theme.ink, anchor=0)
    allowed = snapshot["dice_allowed"][player]
    if snapshot["passed"][player]:
        canvas.text("PASSED", left + 150, y, 8, theme.muted, anchor=0)
    elif allowed is not None:
        canvas.text("MAY TAKE", left + 150, y - 7, 6, theme.muted, anchor=0)
        canvas.text(int(allowed), left + 150, y + 6, 10, theme.ink, anchor=0)
    _draw_hand(canvas, snapshot, player, left, top + 44, viewer=viewer, stones=stones)


def score_of(snapshot: Mapping[str, Any], player: int) -> int:
    """The values under a player's meeples; after the end the final score."""
    if snapshot["outcome"] is not None:
        return int(snapshot["outcome"]["scores"][player])
    values = {
        field: value
        for laid in snapshot["stones"]
        for field, value in zip(laid["fields"], laid["stone"], strict=True)
    }
    return sum(
        int(values[entry["field"]]) for entry in snapshot["meeples"] if entry["player"] == player
    )


def _draw_hand(
    canvas: Canvas,
    snapshot: Mapping[str, Any],
    player: int,
    left: float,
    top: float,
    *,
    viewer: int | None,
    stones: Set[tuple[int, int]],
) -> None:
    """The hand, in rows of seven, or of nine where three play; a stone taken up stands out behind it."""
    theme, visible = canvas.theme, sees(snapshot, viewer, player)
    hand = sorted((int(a), int(b)) for a, b in snapshot["hands"][player])
    three = len(snapshot["hands"]) == 3
    in_a_row, pitch = (9, 25.2) if three else (7, 28.0)
    mine = snapshot["outcome"] is None and snapshot["to_move"] == player
    chosen = snapshot["chosen"]["stone"] if mine and snapshot["phase"] != "land" else None
    for place, stone in enumerate(hand):
        row, column = divmod(place, in_a_row)
        x, y = left + 12 + column * pitch, top + 22 + row * 46
        if not visible:
            canvas.use("back", back, x, y)
            continue
        stone_of_hand(canvas, stone, x, y)
        if mine and stone in stones:
            number = 576 + sum(7 - value for value in range(stone[0])) + stone[1] - stone[0]
            canvas.origin(x - 14, y - 24, (number,), 28, 48)
    if chosen is not None:
        x, y = left + WIDTH - 12, top + 22
        if visible:
            stone_of_hand(canvas, (int(chosen[0]), int(chosen[1])), x, y)
        else:
            canvas.use("back", back, x, y)
        canvas.rect(
            x - 14, y - 24, 28, 48, rx=6, stroke=theme.legal, stroke_width=3, class_=["chosen"]
        )
