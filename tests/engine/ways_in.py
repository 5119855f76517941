"""A process that compiles a game ahead, or uses it in every way there is, and tells what was
compiled: `python -m tests.engine.ways_in warm|use GAME`.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numba.core import event

import tabletop_envs
from tabletop_envs import agents, evaluation, registry, search
from tabletop_envs.arena import records, tournaments
from tabletop_envs.envs import batch as batches
from tabletop_envs.kernels import compiling, engine
from tabletop_envs.play.session import Session, choose_at_once


class Compiled(event.Listener):
    """What Numba has compiled."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        self.names.append(str(event.data["dispatcher"]))

    def on_end(self, event: Any) -> None:
        pass


def loops() -> dict[str, list[str]]:
    """The signatures of all loops of the library."""
    for module in pkgutil.walk_packages(tabletop_envs.__path__, "tabletop_envs."):
        try:
            importlib.import_module(module.name)
        except ImportError:  # an extra is not there
            continue
    return {
        f"{loop.__module__}.{loop.__name__}": [str(signature) for signature in loop.signatures]
        for loop in compiling._entries
    }


def use(name: str) -> None:
    """Use a game in all ways, which are not those that `warming` lists."""
    env, actions = use_environments(name)
    for agent in ("random", "greedy", "mcts:3", "mcts:3,priors=none,playout=5"):
        agents.make_agent(agent).choose(env, np.random.default_rng(1))
    searching = search.Search(name, seed=1)
    searching.run(env, 5)
    searching.run(env.lane()[0], seconds=0.01)
    engine.perft(np.repeat(env.lane()[0], 3), 2)
    evaluation.value(env)
    # Few lanes are shared by threads, too.
    batches.MIN_BYTES_PER_THREAD = 1
    for threads in (1, 2):
        use_batches(registry.batch_id(name), threads)
    for opponents in ("random", "greedy", "mcts:2", policy):
        use_learners(registry.gym_id(name), opponents)
    record = records.record_of(env, 1, actions, ["random", "greedy"])
    records.check(record)
    list(records.replay(record))
    session = Session(name, ["human", "greedy"], 1)
    session.play(session.legal_moves()[session.hint("mcts:3")])
    session.record()
    choose_at_once("mcts:400", session.env, 1.0)
    agents_ = ["random", "greedy", "mcts:2", ("policy", policy)]
    tournaments.tournament(name, agents_, 2, 1, {"max_plies": 4}, ratings=False)


def policy(observation: Any, mask: Any, rng: np.random.Generator) -> int:
    """The lowest legal action."""
    return int(mask.argmax())


def use_environments(name: str) -> tuple[Any, list[int]]:
    """An environment, and the actions that it has seen."""
    module = importlib.import_module(f"tabletop_envs.{registry.module_name(name)}")
    for mask_in in ("info", "observation"):
        env = module.env(mask_in=mask_in, render_mode="ansi").unwrapped
        env.reset(seed=1)
        actions = []
        for _ in range(5):
            actions.append(int(env.action_mask().argmax()))
            env.step(actions[-1])
        env.last()
        env.state()
        env.key()
        env.legal_actions()
        env.render()
        env.restore(env.snapshot())
        env.clone(hide_from=env.agent_selection).put(env.lane()[0])
    parallel = module.parallel_env()
    parallel.reset(seed=1)
    parallel.step(dict.fromkeys(parallel.agents, actions[0]))
    for reply in ("argmax", "argmin"):  # a game to its end, and one with an illegal action
        whole = module.env().unwrapped
        whole.reset(seed=1)
        while not whole.terminations["player_0"]:
            whole.step(int(getattr(whole.action_mask(), reply)()))
        whole.restore(whole.snapshot())
    return env, actions


def use_batches(name: str, threads: int) -> None:
    """Batches and batched searches."""
    batch = tabletop_envs.make_batch(name, 4, seed=1, num_threads=threads)
    for check in (True, False):
        batch.step(batch.sample_actions(), check=check)
    batch.step(batch.sample_actions().tolist())
    batch.rollout(3)
    batch.legal_actions()
    batch.keys()
    batch.restore(1, snapshot := batch.to_aec(0).snapshot())
    batch.reset(positions=[snapshot])
    batch.rollout(3)
    batch.set_state(batch.get_state())
    batch.to_aec(1)
    evaluation.values(batch.game, batch.states)
    for dtype in (np.int8, np.float32):
        puct = search.PUCT(name, 4, 3, seed=1, num_threads=threads, observation_dtype=dtype)
        for shape in ((4,), (4, batch.num_players)):
            values = np.zeros(shape)
            puct.run(batch, lambda seen, mask, values=values: (mask, values), temperature=0)
        puct.run(batch)


def use_learners(name: str, opponents: Any) -> None:
    """Gymnasium's environments, single and vector."""
    env = gymnasium.make(name, opponents=opponents)
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    positions = [tabletop_envs.make_batch(name, 1).to_aec(0).snapshot()]
    for mode in AutoresetMode:
        envs = gymnasium.make_vec(
            name, 3, opponents=opponents, max_episode_steps=1, autoreset_mode=mode
        )
        _, info = envs.reset(seed=1)
        envs.step(info["action_mask"].argmax(axis=1))
        envs.unwrapped.action_masks()
        envs.unwrapped.legal_actions()
        envs.reset(options={"positions": positions})


if __name__ == "__main__":
    compiled = Compiled()
    event.register("numba:compile", compiled)
    {"warm": tabletop_envs.warm, "use": use}[sys.argv[1]](sys.argv[2])
    # Before other games are imported.
    names = list(compiled.names)
    print(json.dumps({"loops": loops(), "compiled": names}))
