"""The panel of meeples: round, phase, the dice pool, and each player's score, supply and hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tabletop_envs.render.meeples import sees
from tabletop_envs.render.svg.canvas import Canvas
from tabletop_envs.render.svg.meeples_pieces import back, die, meeple, stone_of_hand

if TYPE_CHECKING:
    from tabletop_envs.game import Game, Move

PANEL_WIDTH = 250
LEFT, TOP = 24, 26
WIDTH = PANEL_WIDTH - LEFT
# What the buttons say, by the kind of their action.
BUTTONS = {"pass": "PASS", "end turn": "END", "decline": "NO", "re-roll": "ROLL"}
DICE_IN_A_ROW = 10


def draw_panel(
    canvas: Canvas,
    game: Game,
    snapshot: Mapping[str, Any],
    x: float,
    *,
    viewer: int | None,
    legal: Mapping[int, Move],
) -> None:
    """The panel, its left border at `x`; legal actions that are stones or buttons are marked."""
    theme, left = canvas.theme, x + LEFT
    players = len(snapshot["hands"])
    canvas.text(f"ROUND {int(snapshot['round'])}", left, TOP + 6, 9, theme.muted, anchor=0)
    canvas.text(f"PLY {int(snapshot['ply'])}", x + PANEL_WIDTH, TOP + 6, 9, theme.muted, anchor=1)
    _draw_phase(canvas, snapshot, left, TOP + 27, legal)
    _draw_dice(canvas, snapshot, left, TOP + 64)
    top = TOP + 94
    height = (canvas.height - 26 - top) / players
    stones = {move.stone: action for action, move in legal.items() if move.stone is not None}
    for player in range(players):
        y, mine = top + player * height, snapshot["to_move"] == player
        _draw_player(canvas, game, snapshot, player, left, y)
        visible = sees(game, snapshot, viewer, player)
        _draw_hand(canvas, snapshot, player, left, y + 44, visible, stones if mine else {})


def _draw_phase(
    canvas: Canvas,
    snapshot: Mapping[str, Any],
    left: float,
    y: float,
    legal: Mapping[int, Move],
) -> None:
    """What is to be decided; what is no field or stone stands as a button beside it."""
    word = snapshot["phase"].upper() + (" A BLOCK" if snapshot["phase"] == "give_up" else "")
    word = "OVER" if snapshot["outcome"] is not None else word.replace("_", " ")
    canvas.text(word, left, y, 13, canvas.theme.ink, anchor=0)
    right = left + WIDTH
    for action, move in legal.items():
        if move.kind in BUTTONS:
            canvas.button(BUTTONS[move.kind], right, y, action)
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
    game: Game,
    snapshot: Mapping[str, Any],
    player: int,
    left: float,
    top: float,
) -> None:
    """One player: letter and score, meeples in supply, passed or dice left."""
    theme, outcome = canvas.theme, snapshot["outcome"]
    mover = outcome is None and snapshot["to_move"] == player
    canvas.path(f"M{left} {top}h{WIDTH}", stroke=theme.line, stroke_width=1.2)
    y = top + 20
    if mover:
        canvas.rect(left - 4, top + 2, WIDTH + 8, 36, theme.inner, rx=5)
        canvas.to_move(left + 4, y, 6)
    elif outcome is not None and outcome["rewards"][player] == max(outcome["rewards"]):
        canvas.winner(left + 5, y)
    figure = partial(meeple, player=player, letter=game.player_names[player])
    canvas.use(f"meeple-{player}", figure, left + 32, y, scale=0.78)
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
    visible: bool,
    legal: Mapping[str, int],
) -> None:
    """The hand, in rows of seven, or of nine where three play; a stone taken up stands out.

    `legal` has the actions of stones that may be laid, by their names.
    """
    hand = sorted((int(a), int(b)) for a, b in snapshot["hands"][player])
    in_a_row, pitch = (9, 25.2) if len(snapshot["hands"]) == 3 else (7, 28.0)

    def put(stone: tuple[int, int], x: float, y: float) -> None:
        if visible:
            stone_of_hand(canvas, stone, x, y)
        else:
            canvas.use("back", back, x, y)

    for place, (a, b) in enumerate(hand):
        row, column = divmod(place, in_a_row)
        x, y = left + 12 + column * pitch, top + 22 + row * 46
        put((a, b), x, y)
        if visible and f"{a}-{b}" in legal:
            canvas.origin(x - 14, y - 24, (legal[f"{a}-{b}"],), 28, 48)
    mine = snapshot["outcome"] is None and snapshot["to_move"] == player
    chosen = snapshot["chosen"]["stone"] if mine and snapshot["phase"] != "land" else None
    if chosen is not None:
        x, y = left + WIDTH - 12, top + 22
        put((int(chosen[0]), int(chosen[1])), x, y)
        style: dict[str, Any] = {"rx": 6, "stroke": canvas.theme.legal, "stroke_width": 3}
        canvas.rect(x - 14, y - 24, 28, 48, **style, class_=["chosen"])
