"""Snapshots, clones, deep copies and pickles: independent games that continue identically."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Iterator, Mapping
from typing import Any

from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game, Snapshot
from tabletop_envs.testing.contract import (
    MakeEnv,
    Played,
    differing,
    is_over,
    legal_actions,
    look,
)
from tabletop_envs.testing.env_games import READ_POSITION, check_snapshot, play_again

# How many actions a position is played on that no game has led to, and copies before the middle.
FOLLOWING, BEGINNING = 12, 40
# What `restore` must refuse wherever it stands in a snapshot, or give back as it is.
NONSENSE: tuple[Any, ...] = (
    *(None, True, -1, 100, 10**30, 0.5, "a", [], {}, [None], [[None]], [{}]),
    *([100], [["a"]], [[100], [10**30]], {"a": {}, 1: None}),
)
# What is likely to be wrong where a copy fails.
HINTS = {
    "pickle": " (the module of a Game's class must hold it as GAME)",
    "restore": f" ({READ_POSITION})",
}


def check_copies(make: MakeEnv, whole: Played) -> None:
    """Check copies of all kinds, at the beginning, and from the middle to the end of a game.

    Before the first reset, an environment can be copied as well.
    """
    length = len(whole.actions)
    rng = random.Random(whole.seed)
    unused = make(**whole.options)
    for way in ("clone", "deepcopy", "pickle"):
        twin = copy_by(way, unused, make, whole.options, whole)
        twin.reset(seed=whole.seed)
        whole.require(
            twin.agents == twin.possible_agents,
            f"{way}: a copy made before the first reset plays",
            twin.agents,
        )
    for moment in sorted({0, min(3, length), -(-length // 2), max(length - 1, 0), length}):
        env, played = play_again(make, whole, moment)
        options = played.options
        check_snapshot(env, played)
        if is_over(env):
            check_end(copy_by("restore", env, make, options, played), played)
        before = look(env)
        lead = copy_by("clone", env, make, options, played)
        views, actions = [look(lead)], list[int]()
        while not is_over(lead) and (len(actions) < BEGINNING or 2 * moment >= length):
            actions.append(rng.choice(legal_actions(lead)))
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
                    f"{way}: what follows is the same, board and randomness",
                    f"{different} differ after the further actions {actions[:number]}",
                )
            check_resets(way, env, copy_by(way, env, make, options, played), played)
            check_apart(way, env, copy_by(way, env, make, options, played), played)
        played.require(
            not differing(before, look(env)),
            "clone, deepcopy, pickle, restore: independent games",
            f"{differing(before, look(env))} of the original have changed",
        )


def check_resets(way: str, env: TabletopEnv, twin: TabletopEnv, played: Played) -> None:
    """Check that the next game of a copy is the next game of its original."""
    twin.reset()
    started = twin.snapshot()
    twin.reset()
    played.require(twin.snapshot()["ply"] == 0, f"{way}: the copy can be reset", twin.snapshot())
    if way != "restore":  # A snapshot has nothing of later games.
        other = env.clone()
        other.reset()
        played.require(
            other.snapshot() == started,
            f"{way}: the next reset starts the game that the original's would",
            differing(started, other.snapshot()),
        )


def check_apart(way: str, env: TabletopEnv, twin: TabletopEnv, played: Played) -> None:
    """Check that what is written into a copy does not change its original."""
    before, rewards = look(env), dict(env._cumulative_rewards)
    for shown in (twin.rewards, twin._cumulative_rewards, twin.terminations, twin.truncations):
        shown.update(dict.fromkeys(shown, True))
    for info in twin.infos.values():
        info.clear()
    twin.agents.clear()
    twin.options.clear()
    changed = differing(before, look(env))
    played.require(
        not changed and env._cumulative_rewards == rewards,
        "clone, deepcopy, pickle, restore: independent games",
        f"{changed or 'cumulative rewards'} of the original change with those of the {way}",
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
        played.fail(
            f"{way}: an environment can be copied at any time{HINTS.get(way, '')}",
            f"{type(error).__name__}: {error}",
        )


def check_end(restored: TabletopEnv, played: Played) -> None:
    """Check that a finished game was restored as one that its rules or the limit have ended."""
    played.require(
        restored._offender is None,
        "read_position: it tells whether the rules end the game here",
        "a game that the rules have ended is read as one that "
        f"player {restored._offender} lost by an illegal action",
    )


def check_refusals(make: MakeEnv, whole: Played) -> None:
    """Check, half-way through a game, that impossible snapshots raise and change nothing.

    A spoiled snapshot that is taken is a puzzle: `snapshot` must give it back as it was spoiled, so
    that nothing is overlooked (the order of lists means nothing), and it can be played on.
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
        check_puzzle(twin, what, played)


def check_puzzle(env: TabletopEnv, what: str, played: Played) -> None:
    """Check that a position that was taken can be played within the spaces, and restored."""
    rng, twin = random.Random(what), env.clone()
    taken = "restore, read_position: a position that is taken"
    for ply in range(FOLLOWING + 1):
        where = f"{ply} actions after {what} was taken"
        for agent in env.possible_agents:
            played.require(
                env.observation_space(agent).contains(env.observe(agent)),
                f"{taken} is played within the observation space",
                f"what {agent} sees is outside, {where}",
            )
        snapshot = env.snapshot()
        try:
            twin.restore(snapshot)
        except Exception as error:
            played.fail(
                f"{taken} has later snapshots that can be restored",
                f"{type(error).__name__}: {error}, {where}",
            )
        played.require(
            twin.snapshot() == snapshot,
            f"{taken} has later snapshots that are restored as they were",
            f"{differing(snapshot, twin.snapshot())} differ, {where}",
        )
        if is_over(env):
            return
        legal = legal_actions(env)
        played.require(
            bool(legal),
            f"{taken} has legal actions or is over",
            f"nothing is legal {where}",
        )
        env.step(rng.choice(legal))


def spoil(snapshot: Snapshot, game: Game) -> Iterator[tuple[str, Snapshot]]:
    """What was done, and the snapshot: an entry missing, nonsense, a number changed by one."""
    yield "an unknown key", {**snapshot, "no_such_key": 1}
    yield "another game", {**snapshot, "game": "another game"}
    for key in ("to_move", "ply", "outcome", *game.snapshot_keys):
        yield f"{key} missing", {name: snapshot[name] for name in snapshot if name != key}
        for value in NONSENSE:
            if value != snapshot[key]:
                yield f"{key}={value!r}", {**snapshot, key: value}
    for key in game.snapshot_keys:
        for path, value in _parts(snapshot[key], (key,)):
            place = key + "".join(f"[{step!r}]" for step in path[1:])
            if isinstance(value, int) and not isinstance(value, bool):
                for change in (-1, 1):
                    yield f"{place} {change:+d}", _replaced(snapshot, path, value + change)
            for nonsense in NONSENSE if len(path) > 1 else ():
                if nonsense != value:
                    yield f"{place}={nonsense!r}", _replaced(snapshot, path, nonsense)
            if isinstance(value, list):
                for nonsense in NONSENSE:
                    longer = _replaced(snapshot, path, [*value, nonsense])
                    yield f"{nonsense!r} appended to {place}", longer


def _replaced(snapshot: Snapshot, path: tuple[Any, ...], value: Any) -> Snapshot:
    """A copy of a snapshot with another value in one place."""
    copied = copy.deepcopy(snapshot)
    *steps, last = path
    inner: Any = copied
    for step in steps:
        inner = inner[step]
    inner[last] = copy.deepcopy(value)
    return copied


def _parts(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The paths to the parts of nested lists and dicts, to some of many, and the parts."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _parts(inner, (*path, key))
    elif isinstance(value, list):
        for place in range(0, len(value), max(1, -(-len(value) // 2))):
            yield from _parts(value[place], (*path, place))


def in_any_order(value: Any) -> Any:
    """Nested lists and dicts in a form in which the order of lists does not count."""
    if isinstance(value, dict):
        return {key: in_any_order(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted((in_any_order(inner) for inner in value), key=repr)
    return value
