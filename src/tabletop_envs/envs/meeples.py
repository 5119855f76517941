"""meeples: lay dominoes, win fields with dice, occupy them with meeples, and set off what the fields can do.

The table
=========

Two to four players (`player_0` …) lay the 28 stones of a double-six domino set on a table of 24×24 fields;
`field = row * 24 + column`, row 0 at the top. Each half of a stone covers one field and gives it its value.
In a game's second round it may look like this (`─` and `│` join the halves of a stone, dots are bare fields;
capitals are meeples, small letters blocks: A and a of `player_0`, B and b of `player_1`)::

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

*Adjacent* means sharing an edge throughout: things touch, adjoin and are attached by edges, never by
corners. A field is *empty* when a stone's half lies there with neither meeple nor block on it. Fields of
value 0 stay empty for ever. The source gives no set of stones, no numbers of stones, dice and blocks, and no
size of the table; we take the double-six set, dealt out evenly (14, 9 or 7 stones each; with three players
one is left over and out of the game), hidden from the others; `dice_per_player` dice for each player, all in
one pool; blocks without limit; and 24×24 fields, which random games hardly ever need. Each player has 10
meeples. `player_0` begins every phase of every round: the source does not say who begins.

**No two meeples of a colour may come to stand next to each other**, judged after the action. (The source
does not say how its own clones fit in; we allow a clone beside the meeple that it is cloned from, and such a
pair may stay, or travel on one stone, but nothing else may bring a meeple beside one of its colour.)

*Setup.* One player after the other lays two stones and puts a meeple. The second stone touches the first; a
later player's first stone touches the layout, and only where the second can then touch it. The meeple goes
on one of the four fields. (The source does not say where the first stone of all lies; we lay it on row 12,
columns 11 and 12, first half left. Nor does it say more of that meeple; we do not put it on a 0, and it sets
nothing off.)

A *round* has three phases:

1. *Stones.* All blocks leave the table and all dice are rolled. (The source rolls once, before the first
   round; we roll at the start of every round, since dice have been taken.) Each player with stones lays one,
   adjacent to the layout, but with no half adjacent to a stone that carries an own meeple. If there is no
   such place, any place at the layout will do. Values need not match.
2. *Blocks.* In turn, each player sets a block: takes a die and puts the block on a field of its value,
   adjacent to an own meeple or own block, without a meeple on it. A foreign block there is replaced. (The
   source does not say what becomes of the die; we let its owner keep it. Own blocks we do not replace.)

   - Who can use no die may roll those left once again. If one fits then, it is used at once, or the player
     passes. (The source does not say whether one must; we leave re-rolling or passing as the choices.) If
     none fits, the turn has failed, but the player stays in; who has set a block this round, and has one on
     the table, gives one up, and a die returns to the pool. (The source does not say which block, nor what
     the die shows; the player chooses, and it shows the value of the field.)
   - Passing is always allowed, and final for the round. From the first pass on everybody else takes one die
     more at most.
   - The phase ends when the pool is empty, when nobody may take a die, or when as many turns in a row have
     failed as players are still in. (The source speaks of a full round in which nobody can set; passes in
     between neither count nor start the count again.)

3. *Meeples.* Each player has one turn of any number of actions: put a meeple from supply on an own block,
   or, once a turn, move an own meeple from the table onto an own block. (The source does not say what
   becomes of the block; it is removed.) Then the turn is ended; one need not do anything.

Every field so occupied *sets off* the special action of its value, carried out at once by the player in
turn. (The source speaks of newly occupied values; we read: every occupied field.)

- 5, 6: nothing.
- 4, *land*: pick up a stone with a bare field beside it, with everything on it, and lay it elsewhere
  adjacent to what remains. (The source does not say what counts as elsewhere, nor what lies between; we want
  another pair of fields, of which one may stay, let the layout fall apart, and do not apply the ban of the
  stones phase.)
- 3, *sidestep*: if wanted, move any meeple, of any player, to an empty field diagonally beside it.
- 2, *clone*: put a meeple from supply on an empty field adjacent to the one that set this off.
- 1, *teleport*: the meeple that set this off moves to another empty 1.

The source does not say whether special actions must be carried out, nor whether they set off others. We say:
land, clone and teleport must be, where they can; what cannot be carried out falls away. A clone, and an own
meeple that sidestepped, set off their new field in turn, but in one chain each value only once; land,
teleport and a foreign meeple's sidestep set off nothing.

*End.* The game is over at the end of a round in which a player has put out all ten meeples, or after which
nobody has a field on which a meeple might stand (blocks left aside: the source does not say), or after three
rounds in a row, each ending with all hands empty, in which no meeple came from supply onto the table. (The
source does not say what counts; clones do, moves do not, and the round that lays the last stones is one of
them.) Each meeple scores the value of its field. After `max_plies` actions the game is truncated and scored
as it stands. (The source sets no such limit; we set 1000.)

Rewards at the end, from the scores: with `k` of `n` players sharing the top score, each of them gets
`(n/k − 1)/(n − 1)`, and each other player `−1/(n − 1)`: for two players +1 and −1, or 0 and 0 for a tie. Zero
before the end. `infos[agent]`: `score` (the standing) and `ply`.

Options
=======

=================  =======  ==========  ==================================================================
option             default  allowed     meaning
=================  =======  ==========  ==================================================================
`num_players`      2        2 … 4       how many players
`dice_per_player`  3        1 … 5       dice of each player, all in one pool
`open_hands`       False    True/False  whether all hands are seen by everybody
`max_plies`        1000     1 … 2^21−1  the game is truncated after so many actions
=================  =======  ==========  ==================================================================

Actions
=======

`Discrete(610)`, one small decision an action:

=========  ==========================================================================================
action     meaning
=========  ==========================================================================================
0 … 575    a field, `row * 24 + column`
576 … 603  a stone, in the order 0-0, 0-1, … 0-6, 1-1, … 6-6
604 … 607  a direction (up, right, down, left): where the second half lies, seen from the first
608        pass, end the turn, decline a sidestep
609        re-roll
=========  ==========================================================================================

- Laying a stone, from the hand or by *land*: the stone, the field of its first half (the smaller value), the
  direction.
- Setting or giving up a block, putting a meeple, clone, teleport: the field.
- Moving a meeple, by the turn's move or by *sidestep*: the field where it stands, the field where it goes.

Only choices that can be completed are legal; the only choice is an action, too. Consecutive actions of one
player are consecutive steps.

Observation
===========

`Box(L = 5972)`, seen from the observing agent. *Places* are the players in turn order, the observer first;
those that nobody has are zeros. `OBSERVATION` has the slices:

=================  ===========  ========  ==============================================================
part               shape        range     meaning
=================  ===========  ========  ==============================================================
`values`           (1, 24, 24)  0 … 7     1 + the value of the half on a field, 0 on bare fields
`stones`           (2, 24, 24)  0, 1      left halves of stones lying across, upper halves of upright ones
`owners`           (4, 24, 24)  0, 1      for each place, the fields of its meeples and blocks
`blocks`           (1, 24, 24)  0, 1      which of those are blocks
`chosen_field`     (1, 24, 24)  0, 1      of a first half, or of a meeple to move (as far as seen)
`marked`           (1, 24, 24)  0, 1      in the setup the stones laid in it, else the field that set off
                                          the running special action
`hand`             (28,)        0, 1      the own stones
`other_hands`      (3, 28)      0, 1      the others' (zeros unless hands are open)
`chosen_stone`     (28,)        0, 1      the stone being laid (as far as seen)
`turned_doubles`   (7,)         0, 1      the doubles 0-0 … 6-6 whose first half is the right or lower one
`dice`             (6,)         0 … 20    how many dice of the pool show 1 … 6
`hand_sizes`       (4,)         0 … 14    stones in hand at each place; a chosen stone has left its hand
`supply`           (4,)         0 … 10    meeples in supply
`scores`           (4,)         0 … 60    the standing
`to_move`          (4,)         0, 1      the player in turn; all 0 once the game is over
`passed`           (4,)         0, 1      who has passed in this round
`set_block`        (4,)         0, 1      who has set a block in this round
`dice_allowed`     (4,)         −1 … 1    dice that each may still take in this round; −1: no limit yet
`fails`            (1,)         0 … 4     failed turns since the last block
`rerolled`         (1,)         0, 1      the dice have been rolled again in this turn
`moved`            (1,)         0, 1      the turn's move is used
`fired`            (4,)         0, 1      which of the values 1 … 4 have gone off in the running chain
`new_meeples`      (1,)         0 … 36    meeples put from supply in this round
`stale_rounds`     (1,)         0 … 3     rounds in a row without, after all stones were laid
`round`            (1,)         0 … 120   0 in the setup
`phase`            (9,)         0, 1      setup, stones, blocks, give_up, meeples, land, sidestep, clone,
                                          teleport
`seat`             (4,)         0, 1      the observing player's number
`num_players`      (3,)         0, 1      two, three, four
`dice_per_player`  (1,)         1 … 5     the option
`open_hands`       (1,)         0, 1      the option
`ply`              (3,)         0 … 127   actions played, in base 128, lowest digit first
=================  ===========  ========  ==============================================================

Hidden, unless hands are open, are the others' hands, and the stone and field that another player has chosen
but not laid yet: others see that a stone has been taken up, not which. Meeples and blocks share the planes
`owners`, and values are one plane of numbers, to keep the observation short: its size is what the speed of a
batch depends on.

Example
=======

>>> from tabletop_envs import meeples_v0
>>> env = meeples_v0.env(num_players=3)
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabletop_envs.envs import meeples_snapshot
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.game import Game, Option, Part, Snapshot, State, max_plies_option
from tabletop_envs.envs.meeples_checks import LAST_ROUND, STONES, fields_of
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.kernels import meeples as kernel
from tabletop_envs.kernels.meeples_state import (
    BLOCKS,
    CLONE,
    GIVE_UP,
    LAND,
    MEEPLES,
    NO_FIELD,
    NO_STONE,
    SETUP,
    SIDESTEP,
    TELEPORT,
)
from tabletop_envs.kernels.meeples_stones import FIRST_DIRECTION, FIRST_STONE
from tabletop_envs.kernels.meeples_table import SIDE

DIRECTIONS = ("up", "right", "down", "left")
PASS_NAMES = {MEEPLES: "end turn", SIDESTEP: "decline"}


class Meeples(Game):
    """What the environments need to know of meeples."""

    name = "meeples"
    kernel = kernel.KERNEL
    has_chance = True
    options = (
        Option("num_players", 2, 2, 4, "how many players"),
        Option("dice_per_player", 3, 1, 5, "dice of each player, all in one pool"),
        Option("open_hands", False, 0, 1, "whether all hands are seen by everybody"),
        max_plies_option(1000),
    )
    parts = (
        Part("values", (1, SIDE, SIDE), 7),
        Part("stones", (2, SIDE, SIDE)),
        Part("owners", (4, SIDE, SIDE)),
        Part("blocks", (1, SIDE, SIDE)),
        Part("chosen_field", (1, SIDE, SIDE)),
        Part("marked", (1, SIDE, SIDE)),
        Part("hand", (28,)),
        Part("other_hands", (3, 28)),
        Part("chosen_stone", (28,)),
        Part("turned_doubles", (7,)),
        Part("dice", (6,), 20),
        Part("hand_sizes", (4,), 14),
        Part("supply", (4,), 10),
        Part("scores", (4,), 60),
        Part("to_move", (4,)),
        Part("passed", (4,)),
        Part("set_block", (4,)),
        Part("dice_allowed", (4,), 1, -1),
        Part("fails", (1,), 4),
        Part("rerolled", (1,)),
        Part("moved", (1,)),
        Part("fired", (4,)),
        Part("new_meeples", (1,), 36),
        Part("stale_rounds", (1,), 3),
        Part("round", (1,), LAST_ROUND),
        Part("phase", (9,)),
        Part("seat", (4,)),
        Part("num_players", (3,)),
        Part("dice_per_player", (1,), 5, 1),
        Part("open_hands", (1,)),
        Part("ply", (3,), 127),
    )
    snapshot_keys = meeples_snapshot.SNAPSHOT_KEYS

    def open_state(self, states: State) -> State:
        shown = states.copy()
        shown["open_hands"] = True
        return shown

    def position(self, state: Any) -> Snapshot:
        return meeples_snapshot.write(state)

    def read_position(self, state: Any, snapshot: Mapping[str, Any]) -> bool:
        return meeples_snapshot.read(state, snapshot)

    def action_to_str(self, state: Any, action: int) -> str:
        phase = int(state["phase"])
        if action == kernel.REROLL:
            return "re-roll"
        if action == kernel.PASS:
            return PASS_NAMES.get(phase, "pass")
        if action >= FIRST_DIRECTION:
            return DIRECTIONS[action - FIRST_DIRECTION]
        if action >= FIRST_STONE:
            a, b = STONES[action - FIRST_STONE]
            return f"{'pick up' if phase == LAND else 'lay'} {a}-{b}"
        row, column = divmod(action, SIDE)
        return f"{self._field_verb(state, phase, action)} {row},{column}"

    @staticmethod
    def _field_verb(state: Any, phase: int, field: int) -> str:
        """What choosing a field means in a phase."""
        if state["chosen_stone"] != NO_STONE:
            return "first half on"
        if state["chosen_field"] != NO_FIELD:
            return "to"
        if phase == MEEPLES:
            blocks = state["blocks"][int(state["to_move"])]
            return "put meeple on" if field in fields_of(blocks) else "move meeple"
        verbs = {
            SETUP: "put meeple on",
            BLOCKS: "set block on",
            GIVE_UP: "give up block",
            SIDESTEP: "sidestep",
            CLONE: "clone to",
            TELEPORT: "teleport to",
        }
        return verbs.get(phase, "field")

    def text(self, snapshot: Snapshot, viewer: int | None, colour: bool) -> str:
        from tabletop_envs.render import meeples as drawing

        return drawing.text(snapshot, viewer, colour)


GAME = Meeples()
OBSERVATION = GAME.observation
split_observation = GAME.split_observation


def env(**options: Any) -> TabletopEnv:
    """The environment, in which an illegal action loses (`TabletopEnv` has the arguments)."""
    return TabletopEnv(GAME, **{"on_illegal": "lose", **options})


def raw_env(**options: Any) -> TabletopEnv:
    """The environment, in which an illegal action raises `ValueError` (`TabletopEnv` has the arguments)."""
    return TabletopEnv(GAME, **options)


def parallel_env(**options: Any) -> TabletopParallelEnv:
    """The turn-based parallel environment, in which an illegal action loses (`TabletopParallelEnv` has the arguments)."""
    return TabletopParallelEnv(GAME, **{"on_illegal": "lose", **options})
