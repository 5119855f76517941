"""What to click on the page for an action."""

from __future__ import annotations

from tabletop_envs.game import Move


def steps(action: int, move: Move) -> list[list[str]]:
    """What to click, one after the other: each step lists element keys, any of which will do.

    `field:12` and `stone:2-5` are elements of the drawing (`render.svg`), `action:608` is a button
    of the page. Actions whose steps are all the same are told apart by their names, in a menu.
    """
    clicks = [[f"field:{square}" for square in move.origin]] if move.origin else []
    if move.target is not None:
        clicks.append([f"field:{move.target}"])
    if move.stone is not None:
        clicks.append([f"stone:{move.stone}"])
    return clicks or [[f"action:{action}"]]
