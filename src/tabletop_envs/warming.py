"""Compile ahead: everything of a game, so that later processes find it in the cache on disk.

`PARTS` is the one list of what a game has to compile: each part uses public ways into it, so that
loops are compiled for the very arguments that they get in use. `tabletop_envs.warm` and the command
`warm` run all of them, the command in several processes.
"""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_envs import agents, checks, evaluation, processes, search
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.gym import TabletopGymEnv
from tabletop_envs.envs.parallel import TabletopParallelEnv
from tabletop_envs.envs.vector import TabletopVectorEnv
from tabletop_envs.game import Game, find_game
from tabletop_envs.kernels import compiling, engine
from tabletop_envs.lanes import Lanes
from tabletop_envs.threads import MAX_THREADS

__all__ = ["PARTS", "Progress", "cache_folder", "compile_ahead", "compile_part"]


def _started(game: Game) -> TabletopEnv:
    env = TabletopEnv(game)
    env.reset(seed=0)
    return env


def _environments(game: Game) -> None:
    env, rng = _started(game), np.random.default_rng(0)
    # Games may check positions in compiled code: one of the beginning, and one of the end.
    env.restore(env.snapshot())
    while not any(env.terminations.values()):
        env.step(int(rng.choice(np.flatnonzero(env.action_mask()))))
    env.last()
    env.key()
    env.legal_actions()
    env.restore(env.snapshot())
    env.clone(hide_from=env.agent_selection, rng=0)
    TabletopParallelEnv(game).reset(seed=0)


def _batches(game: Game) -> None:
    batch = BatchEnv(game, 2, seed=0)
    batch.step(batch.sample_actions())
    batch.legal_actions()
    batch.keys()
    batch.reset(positions=[_started(game).snapshot()])
    # What threads need besides: they check all actions before any of them plays.
    Lanes(game, 1, {}).first_illegal(np.zeros(1, np.int64), np.zeros(1, np.int64))


def _rollouts(game: Game) -> None:
    BatchEnv(game, 2, seed=0).rollout(1)


def _learners(game: Game) -> None:
    for env in (TabletopGymEnv(game), TabletopVectorEnv(game, 2)):
        env.reset(seed=0)
        env.reset(options={"positions": [_started(game).snapshot()]})
    agents.make_agent("random").choose(_started(game), np.random.default_rng(0))


def _search(game: Game) -> None:
    agents.make_agent("mcts:1").choose(_started(game), np.random.default_rng(0))


def _greedy(game: Game) -> None:
    agents.make_agent("greedy").choose(_started(game), np.random.default_rng(0))


def _puct(game: Game, dtype: Any) -> None:
    def network(observation: Any, mask: Any) -> tuple[Any, Any]:
        return np.zeros(mask.shape, np.float32), np.zeros(len(mask), np.float32)

    states, _ = _started(game).lane()
    search.PUCT(game, 1, 1, observation_dtype=dtype, seed=0).run(states, network)


def _heuristic(game: Game) -> None:
    evaluation.values(game, _started(game).lane()[0])


def _stacks(game: Game) -> None:
    # Observations and masks as JAX, the training examples and PufferLib take them.
    lanes = Lanes(game, 1, {})
    lanes.start(lanes.all_lanes)
    for dtype in (np.bool_, np.int8):
        observation = np.zeros((1, game.kernel.observation_size), np.int8)
        lanes.observe(out=(observation, np.zeros((1, game.kernel.num_actions), dtype)))


def _perft(game: Game) -> None:
    engine.perft(np.repeat(_started(game).lane()[0], 2), 2)


# By name, what others build on and what takes longest first: two processes then seldom wait.
PARTS: dict[str, Callable[[Game], None]] = {
    "environments": _environments,
    "batches": _batches,
    "search": _search,
    "greedy": _greedy,
    "learners": _learners,
    "rollouts": _rollouts,
    "PUCT": lambda game: _puct(game, np.int8),
    "PUCT, float32": lambda game: _puct(game, np.float32),
    "stacks": _stacks,
    "perft": _perft,
    "heuristic": _heuristic,
}


@dataclass(frozen=True)
class Progress:
    """What has just been compiled.

    Attributes:
        game: The game's name.
        part: Which part of it (`PARTS`).
        done: How many parts of the game are compiled by now.
        total: How many there are.
    """

    game: str
    part: str
    done: int
    total: int


def compile_part(game: Game | str, part: str) -> None:
    """Compile a part of a game (`PARTS`), or load it from the cache.

    RuntimeError, with what to do, where it cannot be kept.
    """
    if cache_folder() is None:
        raise RuntimeError("no folder for compiled code can be written: set NUMBA_CACHE_DIR to one")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PARTS[part](find_game(game))
    for warning in caught:
        if "compiling in every process" in str(warning.message):
            raise RuntimeError(str(warning.message))
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def cache_folder() -> str | None:
    """The folder below which compiled code is kept; None where none can be written."""
    own = (loop for loop in compiling._entries if loop.__module__.startswith(__package__))
    folders = {loop._cache.cache_path for loop in own}
    return None if None in folders else os.path.commonpath(folders)


def compile_ahead(games: Sequence[Game | str], workers: int = 1) -> Iterator[Progress]:
    """As `tabletop_envs.warm`; yields after each part."""
    if compiling.INTERPRETED:
        raise RuntimeError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    found = list(dict.fromkeys(find_game(game) for game in games))
    workers = checks.integer("workers", workers, 1, MAX_THREADS)
    # All games' first parts first: what builds on them is not waited for.
    tasks = [(game, part) for part in PARTS for game in found]
    done = dict.fromkeys((game.name for game in found), 0)
    for game, part in _in_turn(tasks) if workers == 1 else _in_processes(tasks, workers):
        done[game.name] += 1
        yield Progress(game.name, part, done[game.name], len(PARTS))


_Task = tuple[Game, str]


def _in_turn(tasks: Sequence[_Task]) -> Iterator[_Task]:
    for game, part in tasks:
        compile_part(game, part)
        yield game, part


def _in_processes(tasks: Sequence[_Task], workers: int) -> Iterator[_Task]:
    for game in dict.fromkeys(game for game, _ in tasks):
        try:
            pickle.dumps(game)
        except Exception as error:
            raise ValueError(
                f"game {game.name!r} must be picklable to be compiled in several processes, as "
                f"the `GAME` of a module that can be imported (with workers=1 it may be anything): "
                f"{error}"
            ) from None
    with processes.process_pool(min(workers, len(tasks))) as pool:
        waiting: dict[Future[None], _Task] = {
            pool.submit(compile_part, *task): task for task in tasks
        }
        try:
            while waiting:
                ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ended:
                    future.result()
                    yield waiting.pop(future)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a process that compiles has died, or could not load the games: they must be "
                'importable in a new process, and a script needs `if __name__ == "__main__":` '
                "(workers=1 needs neither)"
            ) from error
