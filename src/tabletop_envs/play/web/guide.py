"""What the page must know of each game: what to click for an action, and the decision in hand in words.

An action has *steps*: what to click one after the other. Each is a list of element keys, of which any one will do:
`field:12` and `stone:2-5` are elements of the drawing (`render.svg`), `action:608` is a button of the page. Actions whose
steps are all the same are told apart by their names, in a menu.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tabletop_envs.envs.meeples_checks import STONES
from tabletop_envs.kernels import kirche as kirche_kernel
from tabletop_envs.kernels import meeples as meeples_kernel
from tabletop_envs.kernels import tuerme as tuerme_kernel
from tabletop_envs.kernels.meeples_stones import FIRST_DIRECTION, FIRST_STONE
from tabletop_envs.kernels.meeples_table import SIDE
from tabletop_envs.kernels.tuerme.plan import COLUMNS, SQUARES

Snapshot = Mapping[str, Any]
Steps = list[list[str]]

_SWAP_PLANE = int(kirche_kernel.SWAP_PLANE)


class Guide:
    """What is true of a game that nothing is known of: every action is a button."""

    # Where a drawing may be cut in two, in its own units, so that both parts stand below each other on a narrow screen.
    cut: int | None = None

    def taken(self, snapshot: Snapshot) -> list[int]:
        """The fields on which something lies or stands."""
        return []

    def steps(self, snapshot: Snapshot, action: int) -> Steps:
        """What to click for a legal action."""
        return [[f"action:{action}"]]

    def prompt(self, snapshot: Snapshot, legal: Collection[int]) -> str:
        """The decision in hand, in words, to the player in turn."""
        return "Choose an action."

    def hides(self, snapshot: Snapshot) -> bool:
        """Whether players do not know everything of each other."""
        return False

    def untold(self, snapshot: Snapshot, viewer: int | None) -> int:
        """How many of the last actions the viewer must not know yet."""
        return 0


class _Kirche(Guide):
    def taken(self, snapshot: Snapshot) -> list[int]:
        return [snapshot["pastor"], *(p["square"] for own in snapshot["pieces"] for p in own)]

    def steps(self, snapshot: Snapshot, action: int) -> Steps:
        plane, square = divmod(action, kirche_kernel.SQUARES)
        if plane < 2:
            return [[f"field:{square}"]]
        if plane == _SWAP_PLANE:
            goal = snapshot["pastor"]
        else:
            backwards, distance = divmod((plane - 2) // 2, 6)
            ridges = {p["square"]: p["ridge"] for own in snapshot["pieces"] for p in own}
            stride = 1 if ridges[square] == "h" else kirche_kernel.SIZE
            goal = square + (1 - 2 * backwards) * (distance + 1) * stride
        return [[f"field:{square}"], [f"field:{goal}"]]

    def prompt(self, snapshot: Snapshot, legal: Collection[int]) -> str:
        own = snapshot["pieces"][snapshot["to_move"]]
        if snapshot["phase"] == "churches":
            corner = "opposite corner" if own else "corner"
            return f"Place your {'nave' if own else 'spire'} on a{'n' if own else ''} {corner}, its ridge as you like."
        if snapshot["phase"] == "houses":
            left = snapshot["options"]["num_houses"] + 2 - len(own)
            return f"Place a house beside none of your own pieces ({left} left)."
        swaps = any(action // kirche_kernel.SQUARES == _SWAP_PLANE for action in legal)
        swap = ", or swap a blocked one with the pastor" if swaps else ""
        return f"Move a piece along its ridge{swap}."


class _Tuerme(Guide):
    def taken(self, snapshot: Snapshot) -> list[int]:
        return [stack["square"] for stack in snapshot["stacks"]]

    def steps(self, snapshot: Snapshot, action: int) -> Steps:
        if action == tuerme_kernel.PASS:
            return [[f"action:{action}"]]
        plane, square = divmod(action, SQUARES)
        row, column = divmod(square, COLUMNS)
        if plane < COLUMNS:
            goal = row * COLUMNS + plane
        else:
            goal = (plane - COLUMNS) * COLUMNS + column
        return [[f"field:{square}"], [f"field:{goal}"]]

    def prompt(self, snapshot: Snapshot, legal: Collection[int]) -> str:
        if set(legal) == {tuerme_kernel.PASS}:
            return "You have no move: pass."
        return "Choose a stack, then where it goes."


class _Meeples(Guide):
    cut = 516

    def taken(self, snapshot: Snapshot) -> list[int]:
        return [field for stone in snapshot["stones"] for field in stone["fields"]]

    def steps(self, snapshot: Snapshot, action: int) -> Steps:
        if action in (meeples_kernel.PASS, meeples_kernel.REROLL):
            return [[f"action:{action}"]]
        if action < FIRST_STONE:
            return [[f"field:{action}"]]
        if action >= FIRST_DIRECTION:
            offset = (-SIDE, 1, SIDE, -1)[action - FIRST_DIRECTION]
            return [[f"field:{snapshot['chosen']['field'] + offset}"]]
        a, b = STONES[action - FIRST_STONE]
        if snapshot["phase"] != "land":
            return [[f"stone:{a}-{b}"]]
        laid = next(s["fields"] for s in snapshot["stones"] if s["stone"] == [a, b])
        return [[f"field:{field}" for field in laid]]

    def prompt(self, snapshot: Snapshot, legal: Collection[int]) -> str:
        phase, chosen = snapshot["phase"], snapshot["chosen"]
        may_pass, may_reroll = meeples_kernel.PASS in legal, meeples_kernel.REROLL in legal
        if chosen["stone"] is not None:
            a, b = chosen["stone"]
            if chosen["field"] is None:
                return f"Choose the field of the {a} of {a}-{b}."
            return f"Choose the field of its other half, the {b}."
        if chosen["field"] is not None:
            if phase == "sidestep":
                return "Choose the field diagonally beside it."
            return "Choose the block of yours that it goes to."
        match phase:
            case "setup" if len(snapshot["setup_stones"]) == 2:
                return "Put a meeple on one of the fields that you have laid."
            case "setup":
                number = ("first", "second")[len(snapshot["setup_stones"])]
                return f"Choose the {number} of two stones that you lay."
            case "stones":
                return "Choose a stone of your hand to lay."
            case "blocks" if may_reroll:
                return "No die fits: roll those left again, or pass."
            case "blocks" if snapshot["rerolled"]:
                return "Set a block by the new dice, or pass."
            case "blocks":
                return "Set a block on a field of a die's value, or pass for this round."
            case "give_up":
                return "No die fits: give up one of your blocks."
            case "meeples":
                return "Put a meeple on a block of yours, move one there, or end your turn."
            case "land":
                return "4, land: choose a stone to pick up and lay elsewhere."
            case "sidestep":
                declining = ", or decline" if may_pass else ""
                return f"3, sidestep: choose a meeple to move diagonally{declining}."
            case "clone":
                return "2, clone: put a meeple beside the one marked."
            case "teleport":
                return "1, teleport: choose another 1 for the meeple marked."
        return super().prompt(snapshot, legal)

    def hides(self, snapshot: Snapshot) -> bool:
        return not snapshot["options"]["open_hands"]

    def untold(self, snapshot: Snapshot, viewer: int | None) -> int:
        chosen, mover = snapshot["chosen"], snapshot["to_move"]
        if (
            not self.hides(snapshot)
            or viewer in (None, mover)
            or snapshot["phase"] not in ("setup", "stones")
        ):
            return 0
        # Which stone another player has taken up shows only once it is laid; its fields may tell.
        return (chosen["stone"] is not None) + (chosen["field"] is not None)


_GUIDES: dict[str, Guide] = {"kirche": _Kirche(), "tuerme": _Tuerme(), "meeples": _Meeples()}


def get_guide(game: str) -> Guide:
    """The guide of a game; for one without its own, that which makes every action a button."""
    return _GUIDES.get(game, Guide())
