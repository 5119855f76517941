"""`check_env` plays a custom game beside its images, and names what breaks a promise."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks import connect_four as rules
from benchmarks.connect_four_game import ConnectFour
from tabletop_envs import tuerme_v0
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.symmetries import Symmetry
from tabletop_envs.testing import ContractError
from tabletop_envs.testing.symmetries import check_symmetries

SQUARES = np.arange(rules.SQUARES).reshape(rules.ROWS, rules.COLUMNS)
COLUMNS = np.arange(rules.COLUMNS)
MIRROR = {"squares": SQUARES[:, ::-1], "actions": COLUMNS[::-1]}


class Mirror(Symmetry):
    """Connect four's mirror."""

    def position(self, snapshot: Any) -> dict[str, Any]:
        """See `Symmetry`."""
        images = [sorted(int(self.squares[s]) for s in stones) for stones in snapshot["stones"]]
        return {"stones": images}


class Unsorted(Symmetry):
    """The same, with lists that are not sorted."""

    def position(self, snapshot: Any) -> dict[str, Any]:
        """See `Symmetry`."""
        return {"stones": [[int(self.squares[s]) for s in one] for one in snapshot["stones"]]}


class Careless(Mirror):
    """The same, which spoils what it is given."""

    def apply_snapshot(self, snapshot: Any) -> dict[str, Any]:
        """See `Symmetry`."""
        image = super().apply_snapshot(snapshot)
        snapshot["stones"].reverse()
        return image


def check(*symmetries: Any, seed: int = 1) -> None:
    """Check connect four with symmetries: a kind, a name and arguments of each."""

    def given(self: Any, options: Any) -> tuple[Symmetry, ...]:
        return tuple(kind(name, rules.KERNEL, **rest) for kind, name, rest in symmetries)

    game = type("Mirrored", (ConnectFour,), {"symmetries": given})()
    check_symmetries(partial(TabletopEnv, game), game, {}, seed)


IDENTITY: Any = (Mirror, "identity", {"squares": SQUARES})
FLIP: Any = (Mirror, "flip", MIRROR)


def test_the_mirror_of_connect_four_passes():
    for seed in range(3):
        check(IDENTITY, FLIP, seed=seed)
    check(IDENTITY)


@pytest.mark.parametrize(
    ("symmetries", "promise"),
    [
        ((), "symmetries: the identity at least"),
        ((IDENTITY, (Mirror, "identity", MIRROR)), "each with a name of its own"),
        ((FLIP, IDENTITY), "symmetries: the first is the identity"),
        (
            (IDENTITY, (Mirror, "flip", {"squares": SQUARES[:, ::-1]})),
            "symmetry 'flip', apply_(mask|action)",
        ),
        (
            (IDENTITY, (Mirror, "down", {"squares": SQUARES[::-1]})),
            "symmetry 'down', apply_snapshot: images can be restored[\\s\\S]*nothing below it",
        ),
        (
            (IDENTITY, (Mirror, "turn", {"squares": np.roll(SQUARES, 1, 1), "actions": np.roll(COLUMNS, 1)})),
            "symmetries: a group[\\s\\S]*'turn' and then 'turn' are none of them",
        ),
        (
            (IDENTITY, (Symmetry, "flip", MIRROR)),
            "symmetry 'flip', apply_(observation|action)",
        ),
        ((IDENTITY, (Unsorted, "flip", MIRROR)), "images are sorted as snapshot sorts"),
        ((IDENTITY, (Careless, "flip", MIRROR)), "it leaves what it is given as it is"),
    ],
)  # fmt: skip
def test_what_is_no_symmetry_is_named(symmetries, promise):
    with pytest.raises(ContractError) as caught:
        check(*symmetries)
    assert re.search(promise, str(caught.value)), caught.value
    assert "connect_four, options={}, seed=1" in str(caught.value)


def test_a_set_that_is_no_group_is_named():
    # Of tuerme's four: two mirrors without the one that they make together.
    four = tuerme_v0.GAME.symmetries({})
    kind = type(tuerme_v0.GAME)
    game = type("Three", (kind,), {"symmetries": lambda self, options: four[:3]})()
    with pytest.raises(ContractError, match=r"symmetries: a group[\s\S]*none of them"):
        check_symmetries(tuerme_v0.raw_env, game, {}, 1)
