"""A tournament's games in several processes; results do not depend on which one plays a game."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from tabletop_envs import registry
from tabletop_envs.agents.agent import Agent, GameAgent
from tabletop_envs.arena.match import play_matches
from tabletop_envs.arena.pairings import Plan
from tabletop_envs.arena.records import GameRecord
from tabletop_envs.game import Game
from tabletop_envs.processes import process_pool
from tabletop_envs.registry import Registration

# A process gets as many games at a time as it plays in about this time.
CHUNK_SECONDS = 1.0
MAX_CHUNK = 1024


def check_game(game: Game) -> None:
    """ValueError for a game that other processes cannot import, or its heuristic or drawing."""
    try:
        pickle.dumps(registry.registration(game.name))
    except Exception as error:
        raise ValueError(
            f"game {game.name!r} must be picklable, with its heuristic and drawing, to be played "
            f"in several processes: define them at the top of a module ({error})"
        ) from None


def check_agents(agents: Mapping[str, GameAgent | Agent]) -> None:
    """ValueError for an agent that cannot be sent to other processes."""
    for name, agent in agents.items():
        try:
            pickle.dumps(agent)
        except Exception as error:
            raise ValueError(
                f"agent {name!r} must be picklable to play in several processes, such as a "
                f"function at the top of a module (with workers=1 it may be anything): {error}"
            ) from None


def play_in_processes(
    plan: Plan, agents: Mapping[str, GameAgent | Agent], numbers: Iterator[int], workers: int
) -> Iterator[list[GameRecord]]:
    """As `play_matches`, for the games of a plan with the given numbers.

    Agents must be picklable (`check_agents`). RuntimeError if a process dies or cannot load them.
    """
    # The game is imported where this is unpickled; it need not register itself.
    known = registry.registration(plan.game.name)
    size = 1
    waiting: set[Future[tuple[float, list[GameRecord]]]] = set()
    with process_pool(workers, _begin, known, plan, dict(agents)) as pool:
        try:
            while True:
                # One chunk for every process, and one to follow.
                while len(waiting) < 2 * workers and (chunk := list(islice(numbers, size))):
                    waiting.add(pool.submit(_play_chunk, chunk))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    seconds, records = future.result()
                    if seconds < CHUNK_SECONDS / 2:
                        size = min(max(size, 2 * len(records)), MAX_CHUNK)
                    elif seconds > 2 * CHUNK_SECONDS:
                        size = max(min(size, len(records) // 2), 1)
                    yield records
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a process that plays games of the tournament has died, or could not load game or "
                "agents: they must be importable in a new process, and a script needs "
                '`if __name__ == "__main__":` (workers=1 needs neither)'
            ) from error


_PLAN: list[tuple[Plan, dict[str, GameAgent | Agent]]] = []


def _begin(game: Registration, plan: Plan, agents: dict[str, GameAgent | Agent]) -> None:
    registry.add(game, keep_version=True)
    _PLAN[:] = [(plan, agents)]


def _play_chunk(numbers: list[int]) -> tuple[float, list[GameRecord]]:
    ((plan, agents),) = _PLAN
    begin = time.perf_counter()
    matches = map(plan.match, numbers)
    played = [
        record
        for finished in play_matches(plan.game, plan.options, agents, matches)
        for record in finished
    ]
    return time.perf_counter() - begin, played
