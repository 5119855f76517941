"""meeples: lay dominoes, win fields with dice, occupy them with meeples, set off special actions.

The table
=========

Two to four players (`player_0` …) lay the 28 stones of a double-six domino set on a table of 24×24
fields; `field = row * 24 + column`, row 0 at the top. Each half of a stone covers one field and
gives it its value. In a game's second round it may look like this (`─` and `│` join the halves of a
stone, dots are bare fields; capitals are meeples, small letters blocks: A and a of `player_0`, B
and b of `player_1`)::

         10 11 12 13 14 15 16
      7  ·  ·  ·  ·  ·  ·  ·

      8  ·  ·  4  ·  ·  ·  ·
               │
      9  ·  ·  1  ·  ·  ·  ·

     10  ·  ·  3A ·  ·  ·  ·
               │
     11  ·  ·  3  0──0  ·  ·

     12  ·  0──4A ·  3──6B ·

     13  ·  ·  4a 1b 2B ·  ·
               │  │  │
     14  ·  ·  2A 3b 6B ·  ·

     15  ·  ·  ·  ·  ·  ·  ·

Rules
=====

The numbers (M1 …) are those that errors, comments and tests name. (D: …) marks a decision of ours,
with the reason. *Adjacent* means sharing an edge throughout: things touch, adjoin and are attached
by edges, never by corners. (D: the source says "orthogonally" of clones only; we read it
everywhere, since it says so where corners count, "diagonally".)

*Material*

M1 Stones
    The 28 stones of a double-six domino set. (D: the source names no set; we take this one, since
    it has the values 0 … 6 that the source names.) Each half covers one field and gives it its
    value; a stone's first half is the smaller value.
M2 Hands
    (D: the source does not say how many stones there are for each; they are dealt out evenly, 14, 9
    or 7 each, since each player lays as many. With three players one is left over and out of the
    game. They are hidden from the others, as dominoes are; `open_hands` shows them.)
M3 The table
    (D: the source sets no bounds; we take 24×24 fields, since arrays need some, and random games
    hardly ever need more.)
M4 Meeples, blocks, dice
    Each player has 10 meeples. (D: the source does not say how many blocks and dice; blocks are
    without limit, since dice limit them, and there are `dice_per_player` dice for each player, all
    in one pool, so that the table grows with the players.)
M5 Empty fields
    A field is *empty* when a stone's half lies there with neither meeple nor block on it. Fields of
    value 0 stay empty forever.
M6 Neighbours
    No two meeples of a colour may come to stand next to each other, judged after the action. (D:
    the source does not say how clones fit in, which come beside the field of an own meeple; we
    allow a clone beside the meeple that it is cloned from, since there would be none otherwise.
    Such a pair may stay, or travel on the two halves of one stone (M21). Any other action that
    brings a meeple beside one of its colour is illegal, its former partner included, since the
    source makes no exception: a stone may not be picked up and swung round so that its meeple ends
    beside the one that it stood beside before.)

*The setup, player by player*

M7 Two stones
    The second touches the first. A later player's first stone touches the layout, and only where
    the second can then touch it. (D: the source does not say where the very first stone lies; we
    lay it on row 12, columns 11 and 12, first half left: the middle.)
M8 A meeple
    goes on one of the four fields. (D: not on a 0, since those stay empty; and it sets nothing off,
    since the source has special actions in rounds alone.)
M9 The first round
    follows. (D: the source rolls all dice once, here; we roll them in every round, this one
    included, since dice have been taken. `player_0` begins every phase of every round: the source
    does not say who begins, and a fixed order is the simplest.)

*A round*

M10 Its beginning
    All blocks leave the table and all dice are rolled (M9).
M11 Stones
    Each player with stones lays one, adjacent to the layout, but with no half adjacent to a stone
    that carries an own meeple. If there is no such place, any place at the layout will do. Values
    need not match.
M12 Blocks
    The players take turns to set a block: the player takes a die and puts the block on a field of
    its value, adjacent to an own meeple or own block, without a meeple on it. A foreign block there
    is replaced. (D: the source does not say what becomes of its die; its owner keeps it, since only
    M13 gives dice back. Own blocks are not replaced, since that would only waste a die.)
M13 No die fits
    A player who can use no die may roll those left once again. If one fits then, it is used at
    once, or the player passes. If none fits, the turn has failed, but the player stays in; a player
    who has set a block in this round, and has one on the table, gives one up, and a die returns to
    the pool. (D: the source does not say which block, nor what the die shows; the player chooses,
    since it is "an own" one, and the die shows the value of the field, as when it was taken.)
M14 Passing
    is always allowed, and final for the round.
M15 After the first pass
    every other player takes one more die at most.
M16 Re-rolling or passing
    (D: the source does not say what else a player who can use no die may do; there is no third
    choice, since waiting would be free.)
M17 The end of the phase
    The pool is empty, or no player may take a die, or as many turns in a row have failed as players
    are still in. (D: the source speaks of a full round in which no player can set; passes in
    between neither count nor start the count again, since a player who passes has not tried.)
M18 Meeples
    Each player has one turn of any number of actions: put a meeple from supply on an own block, or,
    once a turn, move an own meeple from the table onto an own block. Then the turn is ended; one
    need not do anything. (D: the source does not say what becomes of the block; it is removed,
    since a field with a meeple takes no block.)
M19 Special actions
    Every field so occupied *sets off* the special action of its value, carried out at once by the
    player to move. (D: the source speaks of "each newly occupied value"; we read every occupied
    field, since a value is nothing that one stands on.)

*Special actions*

M20 Values 5 and 6
    set off nothing.
M21 Value 4, *land*
    Pick up a stone with a bare field beside it, with everything on it, and lay it elsewhere
    adjacent to what remains. (D: the source does not say what is elsewhere; it is another pair of
    fields, of which one may stay, so that land always changes the layout. The layout may fall
    apart, and M11's ban is left aside, since the source bars neither.)
M22 Value 3, *sidestep*
    If wanted, move any meeple, of any player, to an empty field diagonally beside it.
M23 Value 2, *clone*
    Put a meeple from supply on an empty field adjacent to the one that set this off.
M24 Value 1, *teleport*
    The meeple that set this off moves to another empty 1.
M25 Duty
    (D: land, clone and teleport must be carried out where they can be, since the source calls only
    the sidestep voluntary. What cannot be carried out falls away.)
M26 Chains
    (D: the source does not say whether special actions set off others. A clone, and an own meeple
    that sidestepped, set off their new field, since they occupy it anew; in one chain each value
    goes off only once, so that chains end. Land and teleport set off nothing, since meeples keep
    their values in them; nor does a foreign meeple's sidestep, since its player is not to move.)

*The end*

M27 The end
    comes at the end of a round in which a player has put out all ten meeples, or after which no
    player has a field on which a meeple might stand, or after three rounds in a row, each ending
    with all hands empty, in which no meeple came from supply onto the table. (D: the source does
    not say what counts. A field with a block might take a meeple, since blocks leave; clones come
    from supply, moves do not; and the round that lays the last stones is one of the three, since
    its hands are empty as well.)
M28 Scores
    Each meeple counts the value of its field; rewards at the end, zero before: with k of n players
    sharing the top score, each of them gets (n/k − 1)/(n − 1), and each other player −1/(n − 1):
    for two players +1 and −1, or 0 and 0 for a tie. `infos[agent]`: `score` (the standing) and
    `ply`.
M29 The limit
    (D: the source sets none; after `max_plies` actions the game ends and is scored as it stands, so
    that every game ends. We take 1000, which random games hardly ever reach.) A game ended so is
    terminated, not truncated: the limit is a rule, and `by_limit` in a snapshot's outcome tells.

Options
=======

=================  =======  ==========  ============================================
option             default  allowed     meaning
=================  =======  ==========  ============================================
`num_players`      2        2 … 4       how many players
`dice_per_player`  3        1 … 5       dice of each player, all in one pool
`open_hands`       False    True/False  whether all hands are seen by everybody
`max_plies`        1000     1 … 2^21−1  the game ends after this many actions
=================  =======  ==========  ============================================

Actions
=======

`Discrete(610)`, one small decision an action:

=========  ======================================================================================
action     meaning
=========  ======================================================================================
0 … 575    a field, `row * 24 + column`
576 … 603  a stone, in the order 0-0, 0-1, … 0-6, 1-1, … 6-6
604 … 607  a direction (up, right, down, left): where the second half lies, seen from the first
608        pass, end the turn, decline a sidestep
609        re-roll
=========  ======================================================================================

- Laying a stone, from the hand or by *land*: the stone, the field of its first half (the smaller
  value), the direction.
- Setting or giving up a block, putting a meeple, clone, teleport: the field.
- Moving a meeple, by the turn's move or by *sidestep*: the field where it stands, the field where
  it goes.

Only choices that can be completed are legal; a forced choice is an action as well. Consecutive
actions of one player are consecutive steps.

Observation
===========

`Box(L = 5972)`, seen from the observing agent. *Places* are the players in turn order, the observer
first; places without a player are zeros. `OBSERVATION` has the slices:

{observation}

Hidden, unless hands are open, are the others' hands, and the stone and field that another player
has chosen but not laid yet: others see that a stone has been taken up, not which. Meeples and
blocks share the planes `owners`, and values are one plane of numbers, to keep the observation
short: its size is what the speed of a batch depends on.

Positions
=========

`env.snapshot()` gives a position as data, `env.restore` takes one. It checks the position, not its
history: what can be played to the end passes, so puzzles that no game leads to are welcome. The
hands tell `round` until they are empty, and no player has laid fewer stones than the others. In the
setup one stone lies on two of the four fields in the middle, in any direction; later the layout may
lie anywhere. Meeples of one colour are side by side only in pairs, one of them on a 2 (M6). `round`
may be so high that the game still ends by round 120 at the latest (M27).

Example
=======

>>> from tabletop_envs import meeples_v0
>>> env = meeples_v0.env(num_players=3)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     over, mask = terminated or truncated, observation["action_mask"]
...     env.step(None if over else env.action_space(agent).sample(mask))
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from tabletop_envs.envs import meeples_snapshot, meeples_symmetries
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
from tabletop_envs.kernels.meeples import KERNEL
from tabletop_envs.kernels.meeples.material import (
    ALL_STONES,
    FIRST_DIRECTION,
    FIRST_STONE,
    NO_FIELD,
    NO_STONE,
    NOT_LAID,
    PASS,
    REROLL,
    SETUP,
    STONE_HALVES,
    TELEPORT,
)
from tabletop_envs.kernels.meeples.table import SIDE, STEPS
from tabletop_envs.symmetries import Symmetry

DIRECTIONS = ("up", "right", "down", "left")
FIELD_KINDS = {
    "setup": "put meeple on",
    "blocks": "set block on",
    "give_up": "give up block",
    "sidestep": "sidestep",
    "clone": "clone to",
    "teleport": "teleport to",
}
PROMPTS = {
    "stones": "Choose a stone of your hand to lay.",
    "blocks": "Set a block on a field of a die's value, or pass for this round.",
    "give_up": "No die fits: give up one of your blocks.",
    "meeples": "Put a meeple on a block of yours, move one there, or end your turn.",
    "land": "4, land: choose a stone to pick up and lay elsewhere.",
    "sidestep": "3, sidestep: choose a meeple to move diagonally.",
    "clone": "2, clone: put a meeple beside the one marked.",
    "teleport": "1, teleport: choose another 1 for the meeple marked.",
}


class Meeples(Game):
    """meeples, for environments: options, positions as data, names of actions."""

    name = "meeples"
    kernel = KERNEL
    has_chance = True
    player_names = ("A", "B", "C", "D")
    options = (
        Option("num_players", 2, 2, 4, "how many players"),
        Option("dice_per_player", 3, 1, 5, "dice of each player, all in one pool"),
        Option("open_hands", False, 0, 1, "whether all hands are seen by everybody"),
        max_plies_option(1000),
    )
    snapshot_keys = (
        "stones",
        "hands",
        "blocks",
        "meeples",
        "dice",
        "supply",
        "round",
        "phase",
        "chosen",
        "setup_stones",
        "moved",
        "source",
        "fired",
        "new_meeples",
        "stale_rounds",
        "passed",
        "set_block",
        "dice_allowed",
        "fails",
        "rerolled",
    )

    def indexes(self, states: State) -> Sequence[tuple[str, npt.NDArray[Any], int, int]]:
        return (
            ("phase", states["phase"], SETUP, TELEPORT),
            ("chosen_stone", states["chosen_stone"], 0, NO_STONE),
            ("chosen_field", states["chosen_field"], 0, NO_FIELD),
            ("source", states["source"], 0, NO_FIELD),
            ("direction", states["direction"], 0, NOT_LAID),
            ("first_field", states["first_field"], 0, NO_FIELD - 1),
            ("hands", states["hands"], 0, int(ALL_STONES)),
            ("setup_stones", states["setup_stones"], 0, int(ALL_STONES)),
        )

    def open_state(self, states: State) -> State:
        shown = states.copy()
        shown["open_hands"] = True
        return shown

    def symmetries(self, options: Mapping[str, Any]) -> tuple[Symmetry, ...]:
        return meeples_symmetries.symmetries()

    def position(self, state: Any) -> Snapshot:
        return meeples_snapshot.write(state)

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        return meeples_snapshot.read(state, snapshot)

    def decode(self, action: int, position: Mapping[str, Any]) -> Move:
        phase, chosen = position["phase"], position["chosen"]
        if action == REROLL:
            return Move("re-roll", "re-roll")
        if action == PASS:
            name = {"meeples": "end turn", "sidestep": "decline"}.get(phase, "pass")
            return Move(name, name)
        if action >= FIRST_DIRECTION:
            direction, first = action - FIRST_DIRECTION, chosen["field"]
            target = None if first is None else first + STEPS[direction]
            return Move(DIRECTIONS[direction], "second half on", (), target)
        if action >= FIRST_STONE:
            a, b = stone = STONE_HALVES[action - FIRST_STONE]
            if phase != "land":
                return Move(f"lay {a}-{b}", "lay", stone=f"{a}-{b}")
            laid = (entry for entry in position["stones"] if entry["stone"] == [*stone])
            fields = tuple(next(laid, {"fields": ()})["fields"])
            return Move(f"pick up {a}-{b}", "pick up", fields)
        name = f"{action // SIDE},{action % SIDE}"
        if chosen["stone"] is not None:
            kind = "first half on"
        elif chosen["field"] is not None:
            kind = "to"
        elif phase == "meeples":
            own = {"field": action, "player": position["to_move"]}
            kind = "put meeple on" if own in position["blocks"] else "move meeple"
        else:
            kind = FIELD_KINDS.get(phase, "field")
        if kind in ("move meeple", "sidestep"):
            return Move(f"{kind} {name}", kind, (action,))
        return Move(f"{kind} {name}", kind, (), action)

    def prompt(self, position: Mapping[str, Any], moves: Collection[Move]) -> str:
        phase, chosen = position["phase"], position["chosen"]
        kinds = {move.kind for move in moves}
        if chosen["stone"] is not None:
            a, b = chosen["stone"]
            if chosen["field"] is None:
                return f"Choose the field of the {a} of {a}-{b}."
            return f"Choose the field of its other half, the {b}."
        if chosen["field"] is not None:
            if phase == "sidestep":
                return "Choose the field diagonally beside it."
            return "Choose the block of yours that it goes to."
        if phase == "setup":
            laid = len(position["setup_stones"])
            if laid == 2:
                return "Put a meeple on one of the fields that you have laid."
            return f"Choose the {('first', 'second')[laid]} of two stones that you lay."
        if phase == "blocks" and "re-roll" in kinds:
            return "No die fits: roll those left again, or pass."
        if phase == "blocks" and position["rerolled"]:
            return "Set a block by the new dice, or pass."
        if phase == "sidestep" and "decline" in kinds:
            return "3, sidestep: choose a meeple to move diagonally, or decline."
        return PROMPTS[phase]

    def occupied(self, position: Mapping[str, Any]) -> list[int]:
        return [field for stone in position["stones"] for field in stone["fields"]]

    def has_secrets(self, options: Mapping[str, Any]) -> bool:
        return not options["open_hands"]

    def num_untold(self, position: Mapping[str, Any], viewer: int | None) -> int:
        hidden = self.has_secrets(position["options"]) and viewer not in (None, position["to_move"])
        if not hidden or position["phase"] not in ("setup", "stones"):
            return 0
        # Which stone another player has taken up shows only once it is laid; its fields may tell.
        return sum(choice is not None for choice in position["chosen"].values())

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        from tabletop_envs.render import meeples as drawing

        return drawing.text(self, snapshot, viewer, colour)


GAME = Meeples()
# In the manual above, the table of what the kernel declares.
__doc__ = __doc__ and __doc__.replace("{observation}", observation_table(GAME.kernel))
OBSERVATION = GAME.observation
split_observation = GAME.split_observation


def env(**options: Any) -> TabletopEnv:
    """Make the environment in which an illegal action loses; arguments as in `TabletopEnv`."""
    return TabletopEnv(GAME, **{"on_illegal": "lose", **options})


def raw_env(**options: Any) -> TabletopEnv:
    """Make the environment in which an illegal action raises ValueError; see `TabletopEnv`."""
    return TabletopEnv(GAME, **options)


def parallel_env(**options: Any) -> TabletopParallelEnv:
    """Make the parallel environment in which an illegal action loses; see `TabletopParallelEnv`."""
    return TabletopParallelEnv(GAME, **{"on_illegal": "lose", **options})
