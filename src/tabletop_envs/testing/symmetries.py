"""A game's symmetries: games beside their images."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game, Snapshot
from tabletop_envs.symmetries import Symmetry
from tabletop_envs.testing.contract import MakeEnv, Played, is_over, legal_actions

# Every position is looked at for so many plies, then one in two for as many, one in three, ….
DENSE = 8


def check_symmetries(make: MakeEnv, game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a random game beside its image by each of the game's symmetries.

    Successors are compared where no randomness falls, for its images need only be as likely.
    """
    played, rng = Played(game.name, options, seed), random.Random(seed)
    env = make(**options)
    env.reset(seed=seed)
    symmetries = game.symmetries(env.options)
    names = [symmetry.name for symmetry in symmetries]
    played.require(
        0 < len(names) == len(set(names)),
        "symmetries: the identity at least, each with a name of its own",
        names,
    )
    identity, *others = symmetries
    images: list[TabletopEnv | None] = [None] * len(others)
    products = _Products(symmetries)
    while True:
        # At the beginning every position, later fewer.
        over, plies = is_over(env), len(played.actions)
        if over or not rng.randrange(1 + plies // DENSE):
            _check_identity(identity, env, played)
            for number, symmetry in enumerate(others):
                images[number] = _check_image(symmetry, env, images[number], make, played)
            if not over:
                products.check(env, played)
        if over or not others:
            return
        seen, before = env.observe(env.agent_selection)["observation"], env.snapshot()
        played.actions.append(rng.choice(legal_actions(env)))
        env.step(played.actions[-1])
        drawn = before.get("rng") != env.snapshot().get("rng")
        for number, symmetry in enumerate(others):
            image = images[number]
            if drawn or image is None or not symmetry.holds(seen):
                images[number] = None
            else:
                image.step(int(symmetry.apply_action(played.actions[-1], seen)))


def _check_identity(identity: Symmetry, env: TabletopEnv, played: Played) -> None:
    shown = env.observe(env.agent_selection)
    seen, mask, snapshot = shown["observation"], shown["action_mask"], env.snapshot()
    played.require(
        np.array_equal(identity.apply_observation(seen), seen)
        and np.array_equal(identity.apply_mask(mask, seen), mask)
        and identity.apply_snapshot(snapshot) == snapshot,
        "symmetries: the first is the identity",
        f"{identity.name} changes something",
    )


def _check_image(
    symmetry: Symmetry, env: TabletopEnv, image: TabletopEnv | None, make: MakeEnv, played: Played
) -> TabletopEnv:
    """Compare a position with its image, played or restored, which is returned."""
    name, require = f"symmetry {symmetry.name!r}", played.require
    snapshot = _apply_snapshot(symmetry, env.snapshot(), played)
    restored = make(**played.options)
    try:
        restored.restore(snapshot)
    except Exception as error:
        played.fail(
            f"{name}, apply_snapshot: images can be restored", f"{type(error).__name__}: {error}"
        )
    require(
        restored.snapshot() == snapshot,
        f"{name}, apply_snapshot: images are sorted as snapshot sorts",
        f"{snapshot}, restored as {restored.snapshot()}",
    )
    if image is not None:
        require(
            image.snapshot() == snapshot,
            f"{name}, apply_action: successors of images are images of successors",
            f"{image.snapshot()}, not {snapshot}",
        )
    require(
        (restored.rewards, restored.infos) == (env.rewards, env.infos),
        f"{name}: scores and rewards of images are the same",
        f"{restored.rewards}, {restored.infos}",
    )
    for agent in env.possible_agents:
        shown, expected = env.observe(agent), restored.observe(agent)
        seen, mask = shown["observation"], shown["action_mask"]
        require(
            np.array_equal(symmetry.apply_observation(seen), expected["observation"]),
            f"{name}, apply_observation: what {agent} sees at the image",
            _differing(env, symmetry.apply_observation(seen), expected["observation"]),
        )
        mirrored = symmetry.apply_mask(mask, seen)
        require(
            np.array_equal(mirrored, expected["action_mask"]),
            f"{name}, apply_mask: the legal actions of the image",
            f"{np.flatnonzero(mirrored)}, not {np.flatnonzero(expected['action_mask'])}",
        )
        require(
            np.array_equal(symmetry.undo_mask(mirrored, seen), mask)
            and all(mirrored[symmetry.apply_action(np.flatnonzero(mask), seen)]),
            f"{name}: apply_action and undo_mask agree with apply_mask",
            f"they do not for {agent}",
        )
    return restored if image is None else image


def _apply_snapshot(symmetry: Symmetry, snapshot: Snapshot, played: Played) -> Snapshot:
    before = copy.deepcopy(snapshot)
    image = symmetry.apply_snapshot(snapshot)
    played.require(
        snapshot == before,
        f"symmetry {symmetry.name!r}, apply_snapshot: it leaves what it is given as it is",
        "it does not",
    )
    return image


def _differing(env: TabletopEnv, one: Any, other: Any) -> str:
    """The parts of an observation in which two differ."""
    parts = [
        name
        for name, part in env.OBSERVATION.items()
        if not np.array_equal(one[part.slice], other[part.slice])
    ]
    return f"other numbers in {', '.join(parts)}"


class _Products:
    """For each two symmetries those that may be one after the other, fewer with each position."""

    def __init__(self, symmetries: Sequence[Symmetry]) -> None:
        self.symmetries = symmetries
        numbers = range(len(symmetries))
        self.left = {(first, then): set(numbers) for first in numbers for then in numbers}

    def check(self, env: TabletopEnv, played: Played) -> None:
        """Compare what they make of a position."""
        seen, actions = env.observe(env.agent_selection)["observation"], legal_actions(env)
        by_number = [
            (one.apply_observation(seen), one.apply_action(actions, seen))
            for one in self.symmetries
        ]
        for (first, then), left in self.left.items():
            symmetry, (image, moved) = self.symmetries[then], by_number[first]
            product = symmetry.apply_observation(image), symmetry.apply_action(moved, image)
            left -= {
                number
                for number in left
                if not all(map(np.array_equal, product, by_number[number]))
            }
            played.require(
                bool(left),
                "symmetries: a group, in which two after each other are one",
                f"{self.symmetries[first].name!r} and then {symmetry.name!r} are none of them",
            )
