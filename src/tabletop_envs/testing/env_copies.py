"""Snapshots, restoring, clones, deep copies and pickles: independent games that play on identically."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.game import Game, Snapshot
from tabletop_envs.testing.contract import Played
from tabletop_envs.testing.env_games import is_over, legal_actions, play_again

MakeEnv = Callable[..., TabletopEnv]
# How many actions copies are played on.
FOLLOWING = 12
# What no entry of a snapshot can be without `restore` noticing, or giving it back as it is.
NONSENSE: tuple[Any, ...] = (None, -1, 10**9, 0.5, "nonsense", [], {}, [None], [[None]], [{}])


def check_copies(make: MakeEnv, whole: Played) -> None:
    """Check copies of all kinds at the beginning, in the middle and at the end of a game."""
    length = len(whole.actions)
    chance = random.Random(whole.seed)
    for moment in sorted({0, 1, length // 3, 2 * length // 3, length}):
        env, played = play_again(make, whole, moment)
        options = played.options
        check_snapshot(env, played)
        before = look(env)
        lead = copy_by("clone", env, make, options, played)
        views, actions = [look(lead)], []
        for _ in range(FOLLOWING):
            if is_over(lead):
                break
            actions.append(chance.choice(legal_actions(lead)))
            lead.step(actions[-1])
            views.append(look(lead))
        for way in ("clone", "deepcopy", "pickle", "restore"):
            twin = copy_by(way, env, make, options, played)
            for number, view in enumerate(views):
                if number:
                    twin.step(actions[number - 1])
                different = differing(view, look(twin))
                played.require(
                    not different,
                    f"{way}: what follows is the same, board and chance",
                    f"{different} differ after the further actions {actions[:number]}",
                )
        played.require(
            not differing(before, look(env)),
            "clone, deepcopy, pickle, restore: independent games",
            f"{differing(before, look(env))} of the original have changed",
        )


def copy_by(
    way: str, env: TabletopEnv, make: MakeEnv, options: Mapping[str, Any], played: Played
) -> TabletopEnv:
    """A copy of an environment, made in one of four ways."""
    try:
        if way == "clone":
            return env.clone()
        if way == "deepcopy":
            return copy.deepcopy(env)
        if way == "pickle":
            twin: TabletopEnv = pickle.loads(pickle.dumps(env))
            return twin
        restored = make(**options)
        restored.restore(json.loads(json.dumps(env.snapshot())))
        return restored
    except Exception as error:
        hint = " (the module of a Game's class must hold it as GAME)" if way == "pickle" else ""
        played.fail(
            f"{way}: an environment can be copied at any time{hint}",
            f"{type(error).__name__}: {error}",
        )


def check_snapshot(env: TabletopEnv, played: Played) -> None:
    """Check that a snapshot is plain JSON."""
    snapshot = env.snapshot()
    try:
        plain = json.loads(json.dumps(snapshot))
    except (TypeError, ValueError) as error:
        played.fail("snapshot: plain JSON types", error)
    played.require(
        plain == snapshot,
        "snapshot: plain JSON types, which come back from a file as they were",
        [key for key in snapshot if plain.get(key) != snapshot[key]],
    )
    missing = [key for key in env.game.snapshot_keys if key not in snapshot]
    played.require(
        not missing, "snapshot: it has the keys that snapshot_keys names", f"{missing} are missing"
    )


def check_refusals(make: MakeEnv, whole: Played) -> None:
    """Check, half-way through a game, that impossible snapshots raise ValueError and change nothing.

    A spoiled snapshot that is taken after all must be given back by `snapshot` as it was spoiled: so nothing is
    overlooked. (The order of lists means nothing.)
    """
    env, played = play_again(make, whole, len(whole.actions) // 2)
    before = look(env)
    for what, spoiled in spoil(env.snapshot(), env.game):
        twin = env.clone()
        try:
            twin.restore(spoiled)
        except ValueError:
            played.require(
                not differing(before, look(twin)),
                "restore: an impossible snapshot changes nothing",
                f"{differing(before, look(twin))} have changed by {what}",
            )
            continue
        except Exception as error:  # Whatever it is, it is not what was promised.
            played.fail(
                "restore, read_position: an impossible snapshot raises ValueError",
                f"{type(error).__name__}: {error}, by {what}",
            )
        played.require(
            in_any_order(twin.snapshot()) == in_any_order(spoiled),
            "restore, read_position: it takes nothing that snapshot does not give back",
            f"{what} is taken, and lost",
        )
        played.require(
            is_over(twin) or bool(legal_actions(twin)),
            "restore, read_position: in a position that is taken the player in turn can act",
            f"nothing is legal after {what}",
        )


def spoil(snapshot: Snapshot, game: Game) -> Iterator[tuple[str, Snapshot]]:
    """Snapshots with one entry missing, replaced by nonsense, or a number changed by one; and what was done."""
    yield "an unknown key", {**snapshot, "no_such_key": 1}
    yield "another game", {**snapshot, "game": "another game"}
    for key in ("to_move", "ply", "outcome", *game.snapshot_keys):
        yield f"{key} missing", {name: snapshot[name] for name in snapshot if name != key}
        for value in NONSENSE:
            if value != snapshot[key]:
                yield f"{key}={value!r}", {**snapshot, key: value}
    for key in game.snapshot_keys:
        for path in _numbers(snapshot[key]):
            for change in (-1, 1):
                spoiled = copy.deepcopy(snapshot)
                *steps, last = (key, *path)
                inner: Any = spoiled
                for step in steps:
                    inner = inner[step]
                inner[last] += change
                place = "".join(f"[{step!r}]" for step in path)
                yield f"{key}{place} {change:+d}", spoiled


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to the whole numbers in nested lists and dicts, to some of many."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, list):
        for place in range(0, len(value), max(1, len(value) // 4)):
            yield from _numbers(value[place], (*path, place))


def in_any_order(value: Any) -> Any:
    """Nested lists and dicts in a form in which the order of lists does not count."""
    if isinstance(value, dict):
        return {key: in_any_order(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted((in_any_order(inner) for inner in value), key=repr)
    return value


def look(env: TabletopEnv) -> dict[str, Any]:
    """All that an environment shows, in copies."""
    names = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")
    view = {name: copy.deepcopy(getattr(env, name)) for name in names}
    observations = {agent: env.observe(agent) for agent in env.possible_agents}
    return {**view, "snapshot": env.snapshot(), "state": env.state(), "observations": observations}


def differing(one: dict[str, Any], other: dict[str, Any]) -> str:
    """The names of what two views differ in, separated by commas."""
    return ", ".join(name for name in one if not _equal(one[name], other[name]))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
