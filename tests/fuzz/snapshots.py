"""Mutated snapshots: refused in words with nothing changed, or played to the end and restored."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from tabletop_envs import registry
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Snapshot
from tabletop_envs.testing.env_copies import in_any_order
from tests.fuzz.mutations import mutate
from tests.games import legal_actions, module, over

# How many mutants are made of a snapshot, and how many snapshots are taken from a game.
MUTANTS, MOMENTS = 12, 6
# Games of foreign snapshots are cut off after so many further plies, so that they take no minutes.
MOST_PLIES = 1500


def random_options(name: str, rng: random.Random) -> dict[str, Any]:
    """A game's options at random; `max_plies` is its default, or small."""
    options: dict[str, Any] = {}
    for option in registry.get_game(name).options:
        if option.name == "max_plies":
            options[option.name] = rng.choice((option.default, rng.randrange(1, 80)))
        elif isinstance(option.default, bool):
            options[option.name] = rng.random() < 0.5
        else:
            options[option.name] = rng.randrange(option.minimum, option.maximum + 1)
    return options


def snapshots(name: str, rng: random.Random) -> Iterator[Snapshot]:
    """Snapshots from the whole of random games, the last of some of them after an illegal action."""
    while True:
        env = module(name).env(**random_options(name, rng))
        env.reset(seed=rng.randrange(2**32))
        taken = [env.snapshot()]
        while not over(env):
            legal = legal_actions(env)
            if rng.random() < 0.002 and len(legal) < env.num_actions:
                env.step(rng.choice(sorted(set(range(env.num_actions)) - set(legal))))
            else:
                env.step(rng.choice(legal))
            if rng.random() < 0.1:
                taken.append(env.snapshot())
        yield env.snapshot()
        yield from rng.sample(taken, min(MOMENTS - 1, len(taken)))


def mutants(name: str, rng: random.Random) -> Iterator[tuple[Snapshot, Any]]:
    """Snapshots and what has become of them, without an end."""
    others: list[Snapshot] = [
        next(snapshots(other, rng)) for other in registry.game_names() for _ in range(2)
    ]
    for source in snapshots(name, rng):
        others.append(source)
        if len(others) > 40:
            others.pop(rng.randrange(len(others)))
        for _ in range(MUTANTS):
            mutant = mutate(source, others, rng)
            _shorten(mutant, rng)
            yield source, mutant


def _shorten(mutant: Any, rng: random.Random) -> None:
    """Let the limit end most of the games soon, and none late."""
    try:
        ply, options = mutant["ply"], mutant["options"]
        most = rng.choice((1, 2, 5, 10, 20, 40, 40, MOST_PLIES))
        if mutant["outcome"] is None and type(ply) is int and options["max_plies"] > ply + most:
            options["max_plies"] = ply + most
    except Exception:  # no snapshot any more, or no number: that is refused
        return


class Checker:
    """Restores mutants of one game, each in an environment that is in the middle of another game."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name, self.rng = name, rng
        self.counts = Counter[str]()
        self._envs: dict[int, tuple[TabletopEnv, TabletopEnv]] = {}

    def environments(self, players: int) -> tuple[TabletopEnv, TabletopEnv]:
        """Two environments for so many players, the first in the middle of a game."""
        if players not in self._envs:
            options = {"num_players": players} if self.name != "kirche" else {}
            pair = module(self.name).raw_env(**options), module(self.name).raw_env(**options)
            for env in pair:
                env.reset(seed=1)
                for _ in range(10):
                    env.step(legal_actions(env)[0])
            self._envs[players] = pair
        return self._envs[players]

    def check(self, source: Snapshot, mutant: Any) -> None:
        """AssertionError, or whatever error `restore` must not raise, where the promise is broken."""
        env, twin = self.environments(source["options"].get("num_players", 2))
        before = inside(env)
        try:
            env.restore(mutant)
        except ValueError as error:
            words = str(error)
            assert inside(env) == before, f"refused, but the environment has changed: {words}"
            # Before anything is on the board, `source` has no pieces whose fields could be named.
            known = names(source) | {"kind", "square", "ridge"}
            assert any(name in words for name in known), f"names no field: {words}"
            assert " must " in words, f"does not say what must be: {words}"
            self.counts["refused"] += 1
            return
        snapshot, given = env.snapshot(), plain(mutant)
        given["options"] = {
            **snapshot["options"],
            **given["options"],
        }  # the defaults, where left out
        if "rng" in snapshot:
            given.setdefault("rng", snapshot["rng"])
        assert in_any_order(snapshot) == in_any_order(given), f"{snapshot} is not what was given"
        twin.restore(snapshot)
        env.reset(seed=self.rng.randrange(2**32))
        self.play_on(twin, env)
        self.counts["played"] += 1

    def play_on(self, env: TabletopEnv, twin: TabletopEnv) -> None:
        """Play a restored game to its end; some of its snapshots, the last one included, are
        restored on the way.
        """
        plies = 0
        while True:
            whole = plies < 3 or over(env) or self.rng.random() < 0.1
            for agent in env.possible_agents if whole else [env.agent_selection]:
                space: Any = env.observation_space(agent)["observation"]
                seen = env.observe(agent)["observation"]
                outside = np.flatnonzero((seen < space.low) | (seen > space.high))
                assert not outside.size, f"{agent} sees {seen[outside]} at {outside} after {plies}"
            if whole:
                twin.restore(json.loads(json.dumps(env.snapshot())))
                assert view(twin) == view(env)
                self.counts["later snapshots"] += 1
            if over(env):
                return
            legal = legal_actions(env)
            assert legal, f"nothing is legal after {plies} plies"
            env.step(self.rng.choice(legal))
            plies += 1
            self.counts["plies"] += 1


def inside(env: TabletopEnv) -> Any:
    """All that an environment consists of between two calls."""
    state, legal = env.lane()
    attributes = (
        env.options,
        env.agent_selection,
        env.agents,
        env.rewards,
        env.terminations,
        env.infos,
    )
    return state.tobytes(), legal.tobytes(), repr(attributes)


def view(env: TabletopEnv) -> Any:
    """All that an environment shows."""
    attributes = (env.agent_selection, env.agents, env.rewards, env.terminations, env.infos)
    return env.snapshot(), env.state().tobytes(), env.action_mask().tobytes(), attributes


def names(value: Any) -> set[str]:
    """All that a message may name: the keys of a snapshot and of what is in it, in the singular."""
    if isinstance(value, dict):
        inner = set().union(*map(names, value.values())) if value else set()
        return {key.removesuffix("s") for key in value} | inner
    return set().union(*map(names, value)) if isinstance(value, list) and value else set()


def plain(value: Any) -> Any:
    """Data with lists for tuples and Python's numbers for NumPy's."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def fuzz(name: str, seed: int, count: int) -> Counter[str]:
    """Check `count` mutants of a game's snapshots; AssertionError with the seed, the number and the
    mutant for the first that fails.
    """
    rng = random.Random(f"{name} {seed}")
    checker = Checker(name, rng)
    for number, (source, mutant) in zip(range(count), mutants(name, rng), strict=False):
        try:
            checker.check(source, mutant)
        except Exception as error:
            raise AssertionError(
                f"{name}, seed {seed}, mutant {number}: {type(error).__name__}: {error}\n"
                f"source: {source}\nmutant: {_text(mutant)}"
            ) from error
    return checker.counts


def _text(mutant: Any) -> str:
    try:
        return repr(mutant)
    except Exception:
        return "has no text"
