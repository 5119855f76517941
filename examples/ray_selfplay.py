"""Self-play on Ray: workers play with batched search on this machine or on many, one learner
learns, game records are kept.

    python examples/ray_selfplay.py kirche --workers 2                             # on this machine
    python examples/ray_selfplay.py meeples --workers 64 --address auto # in a cluster
    (docs/scaling-out.md) python examples/ray_selfplay.py kirche --workers 2 --agent mcts:200 #
    learn from the library's own search python examples/ray_selfplay.py kirche --workers 8 --resume
    # go on, with more workers

Needs `pip install -e ".[ray]"` (Ray, PyTorch, rich).

A run is a row of rounds, a round is `--units` units of work, a unit is `--games` games, played in
step. What a unit gives is decided by its number and the network that it is played with, whoever
plays it: so a unit whose worker has died, or has been silent for `--timeout` seconds, is given to
another one, and nothing is lost or counted twice. Round r is played with the network as it was
after round r − 1 − `--staleness`, while the learner learns from the rounds before: nobody waits,
and yet games, logs and networks come out the same to the bit whatever the number of workers, their
pace and their deaths (on processors of one kind: others may round sums differently).

Into the folder (`runs/ray-GAME` by default) it writes
- `games.jsonl`: every game that was learned from (`tabletop-envs replay` draws them); `notes` name
  round, unit and network,
- `progress.csv`: a line a round (`seconds` and `lost`, the units played again, are the only columns
  that chance has a part in),
- `evaluation.csv`: the network by itself, without search, against `--opponent`, with 95 %
  intervals,
- `checkpoint.pt`: everything that `--resume` needs, the arguments included; Ctrl-C writes it, too,
  as of the last whole round.

A checkpoint's path is the name of an agent, the network without search:
`runs/ray-kirche/checkpoint.pt`. The network is `tabletop_envs.networks.dense`; `--agent` and
`--opponent` take all names of `agents.make_agent`, files that every machine has.

A checkpoint is checked before it is trusted (`tabletop_envs.training`); which cluster is joined
(`--address`), and with which `--runtime-env`, it never says.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import ray
import torch
from ray.exceptions import RayError
from rich.progress import BarColumn, Progress, TextColumn
from torch import Tensor, nn

from tabletop_envs import make_batch, registry, training
from tabletop_envs.agents import make_agent
from tabletop_envs.arena import records, tournaments
from tabletop_envs.game import Game, rewards_of_scores
from tabletop_envs.networks.dense import KIND, TEMPERATURE, Network
from tabletop_envs.networks.policy import PolicyAgent
from tabletop_envs.search import PUCT
from tabletop_envs.threads import MAX_THREADS

# What differs from game to game; options on the command line go first.
PRESETS = {"kirche": {"options": {"num_houses": 1, "max_plies": 100}}}
# The arguments that may change when a run is resumed, and those that say where it runs, which no
# checkpoint decides.
FREE = ("rounds", "checkpoint_every")
LOCAL = ("address", "runtime_env", "workers", "worker_cpus", "timeout", "retries")
EVALUATION = -1  # a unit of this number evaluates
Samples = dict[str, npt.NDArray[Any]]


class Unit(NamedTuple):
    """A piece of work: its round, its number in the round, and the version of the network to play
    with.
    """

    round: int
    number: int
    version: int


def joined(parts: Iterable[Samples]) -> Samples:
    """Samples one after the other: dictionaries of arrays, by their names."""
    parts = list(parts)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class Packing:
    """Rows of 0s and 1s as bits, an eighth of the bytes to send and to keep; other numbers stay as
    they are.
    """

    def __init__(self, game: Game) -> None:
        low, high = game.bounds()
        self.flags = (low == 0) & (high == 1)
        self.num_actions = game.kernel.num_actions
        self.flag_bytes = -(-int(self.flags.sum()) // 8)

    def observations(self, rows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
        """Packed observations `uint8 (B, …)` from `int8 (B, L)`: the flags' bits, then the other
        numbers.
        """
        flags, others = rows[:, self.flags], rows[:, ~self.flags]
        return np.hstack([np.packbits(flags, axis=1), others.view(np.uint8)])

    def unpack_observations(self, packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
        """`int8 (B, L)` from packed observations."""
        rows = np.empty((len(packed), self.flags.size), np.int8)
        bits, others = np.split(packed, [self.flag_bytes], axis=1)
        rows[:, self.flags] = np.unpackbits(bits, axis=1, count=int(self.flags.sum()))
        rows[:, ~self.flags] = others.view(np.int8)
        return rows

    def unpack_masks(self, packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """`bool (B, n)` from masks that `np.packbits(…, axis=1)` has packed."""
        return np.unpackbits(packed, axis=1, count=self.num_actions).astype(np.bool_)


def weights_of(network: Network) -> npt.NDArray[np.float32]:
    """All weights in one array: what is sent to the workers."""
    vector = nn.utils.parameters_to_vector(network.parameters())
    weights: npt.NDArray[np.float32] = vector.numpy(force=True)
    return weights


class Player:
    """Plays units of work: what is in a worker's process."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        torch.set_num_threads(1)
        self.batch = make_batch(arguments.game, arguments.games, seed=0, **arguments.options)
        self.packing = Packing(self.batch.game)
        self.network = Network(self.batch.game, self.batch.num_players, arguments.width)
        self.version = -1
        self.agent = make_agent(arguments.agent) if arguments.agent != "network" else None
        self.searches: dict[int, PUCT] = {}

    def ready(self) -> tuple[str, int]:
        """Compile all loops (or read them from the cache) by choosing once; the machine's name and
        the process.
        """
        self.choose(np.arange(1), np.random.default_rng(0), 0)
        return socket.gethostname(), os.getpid()

    def work(self, unit: Unit, weights: npt.NDArray[np.float32]) -> dict[str, Any]:
        """Do a unit: `{"samples": …, "records": …}`, or the counts of an evaluation."""
        if self.version != unit.version:
            # From the object store arrays come read-only.
            vector = torch.from_numpy(weights.copy())
            nn.utils.vector_to_parameters(vector, self.network.parameters())
            self.version = unit.version
        return self.evaluate(unit) if unit.number == EVALUATION else self.play(unit)

    def play(self, unit: Unit) -> dict[str, Any]:
        """Play `games` games to their ends."""
        batch = self.batch
        rng = np.random.default_rng([self.arguments.seed, unit.round, unit.number])
        deals = rng.integers(2**53, size=batch.num_envs).tolist()
        batch.reset(seed=deals)
        lanes = np.arange(batch.num_envs)
        seen: list[Samples] = []
        games: list[list[int]] = [[] for _ in lanes]
        scores = np.zeros((batch.num_envs, batch.num_players), np.int64)
        by_limit = np.zeros(batch.num_envs, np.bool_)
        while lanes.size:
            chosen, moves, visits = self.choose(lanes, rng, len(seen))
            seen.append(
                {
                    "observation": self.packing.observations(batch.observation[lanes]),
                    "mask": np.packbits(batch.action_mask[lanes], axis=1),
                    "moves": moves,
                    "visits": visits,
                    "lane": lanes,
                    "player": batch.current_player[lanes],
                }
            )
            # Where a game is over a new one has begun: random actions, and nobody looks.
            actions = batch.sample_actions().copy()
            actions[lanes] = chosen
            batch.step(actions)
            for lane, action in zip(lanes.tolist(), chosen.tolist(), strict=True):
                games[lane].append(action)
            over = batch.terminated[lanes]
            ended = lanes[over]
            scores[ended], by_limit[ended] = batch.scores[ended], batch.by_limit[ended]
            lanes = lanes[~over]
        samples = joined(seen)
        # Every player's result, the player to move first.
        rewards = [rewards_of_scores(row) for row in scores.tolist()]
        games_of, player = samples.pop("lane"), samples.pop("player").astype(np.int64)
        turns = (player[:, None] + np.arange(batch.num_players)) % batch.num_players
        samples["result"] = np.array(rewards, np.float32)[games_of[:, None], turns]
        played = [
            records.GameRecord(
                game=registry.batch_id(batch.game.name),
                options=dict(batch.options),
                agents=[self.arguments.agent] * batch.num_players,
                actions=actions,
                seed=deal,
                result={"scores": points, "rewards": reward, "by_limit": limited},
                notes={"selfplay": unit._asdict()},
            )
            for actions, deal, points, reward, limited in zip(
                games, deals, scores.tolist(), rewards, by_limit.tolist(), strict=True
            )
        ]
        return {"samples": samples, "records": played}

    def choose(
        self, lanes: npt.NDArray[np.int64], rng: np.random.Generator, ply: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], npt.NDArray[np.int16]]:
        """An action for each of these lanes; and what the policy is to learn: actions and their
        visits, `(lanes, K)`.
        """
        batch, arguments = self.batch, self.arguments
        if self.agent is not None:
            samplers = rng.integers(2**64, size=batch.num_envs, dtype=np.uint64)
            actions, states, legal = (
                np.zeros(batch.num_envs, np.int64),
                batch.states,
                batch.legal_bits,
            )
            self.agent.choose_lanes(batch.game, states, legal, samplers, lanes, actions)
            moves = actions[lanes, None].astype(np.int16)
            return actions[lanes], moves, np.ones_like(moves)
        # As games end, smaller searches do: of the next power of two, the first lanes twice.
        size = 1 << (len(lanes) - 1).bit_length()
        if size not in self.searches:
            self.searches[size] = PUCT(batch.game, size, arguments.simulations)
        search = self.searches[size]
        search.seed(int(rng.integers(2**63)))
        result = search.run(
            batch.states[np.resize(lanes, size)],
            self.predict,
            temperature=1.0 if ply < arguments.explore else 0.0,
        )
        visits = result.visits[: len(lanes)]
        # No more actions than simulations have visits.
        best = np.argsort(-visits, axis=1, kind="stable")[:, : arguments.simulations]
        counts = np.take_along_axis(visits, best, axis=1)
        return result.actions[: len(lanes)], best.astype(np.int16), counts.astype(np.int16)

    @torch.inference_mode()
    def predict(self, observations: Any, masks: Any) -> tuple[Any, Any]:
        """The network as the search calls it."""
        logits, values = self.network(torch.from_numpy(observations))
        return logits.numpy(), values.numpy()

    def evaluate(self, unit: Unit) -> dict[str, Any]:
        """Games of the network without search against the opponent, always the same deals; the
        log's line.
        """
        arguments = self.arguments
        count = tournaments.tournament(
            arguments.game,
            [("network", PolicyAgent(self.network, TEMPERATURE)), arguments.opponent],
            arguments.eval_games,
            seed=arguments.seed + 2**53,  # no deals of training
            options=arguments.options,
            ratings=False,
        ).pair("network", arguments.opponent).count  # fmt: skip
        numbers = {name: getattr(count, name) for name in ("games", "wins", "draws", "losses")}
        shares = {name: round(getattr(count, name), 4) for name in ("score", "low", "high")}
        return {"round": unit.version, "opponent": arguments.opponent, **numbers, **shares}


@dataclass(eq=False)
class Worker:
    """A seat for an actor: the one that is there, what it was asked, since when."""

    actor: Any = None
    answer: Any = None  # the reference of what it was asked; None: it waits for work
    unit: Unit | None = None  # None: it is getting ready
    since: float = 0.0
    place: tuple[str, int] | None = None  # machine and process; None before it is ready
    failed_starts: int = 0


class Crew:
    """The workers. They are given units and give back results; who fails is replaced, and its unit
    is given away again.
    """

    def __init__(self, arguments: argparse.Namespace, say: Any = print) -> None:
        self.arguments = arguments
        self.say = say
        self.settings = ray.put(arguments)
        self.actor = ray.remote(Player).options(
            num_cpus=arguments.worker_cpus, scheduling_strategy="SPREAD"
        )
        self.waiting: deque[Unit] = deque()
        self.failures: Counter[Unit] = Counter()
        self.lost = 0
        self.workers = [Worker() for _ in range(arguments.workers)]
        for worker in self.workers:
            self.start(worker)

    def start(self, worker: Worker) -> None:
        """Put a new actor into a seat: on any machine that has room, now or later."""
        worker.actor = self.actor.remote(self.settings)
        worker.answer, worker.unit, worker.place = worker.actor.ready.remote(), None, None

    def give(self, weights: dict[int, Any]) -> None:
        """Give waiting units to workers that wait."""
        for worker in self.workers:
            if worker.answer is None and self.waiting:
                worker.unit, worker.since = self.waiting.popleft(), time.monotonic()
                worker.answer = worker.actor.work.remote(worker.unit, weights[worker.unit.version])

    def take(self, seconds: float) -> list[tuple[Unit, dict[str, Any]]]:
        """Wait at most so long for results; the units that are done, and what they gave."""
        asked = {worker.answer: worker for worker in self.workers if worker.answer is not None}
        if not asked:
            time.sleep(seconds)
            return []
        done = []
        ray.wait(list(asked), timeout=seconds)  # for one, then all that are there
        for answer in ray.wait(list(asked), num_returns=len(asked), timeout=0)[0]:
            worker = asked.pop(answer)
            try:
                result = ray.get(answer)
            except RayError as error:
                self.replace(worker, error)
                continue
            worker.answer, worker.failed_starts = None, 0
            if worker.unit is None:
                worker.place = result
            else:
                done.append((worker.unit, result))
        for worker in asked.values():
            silent = time.monotonic() - worker.since
            if worker.unit is not None and silent > self.arguments.timeout:
                self.replace(worker, TimeoutError(f"silent for {silent:.0f} seconds"))
        return done

    def replace(self, worker: Worker, error: Exception) -> None:
        """A worker has failed: another one takes its seat, its unit goes to whoever waits first.

        RuntimeError where a unit fails again and again, or no worker can be started.
        """
        retries = self.arguments.retries
        # Ray says it in its last line, and goes on with what people commonly do wrong.
        why = f"{type(error).__name__}: {error}".splitlines()[-1].split(" Some common causes")[0]
        ray.kill(worker.actor)  # it may only hang
        if worker.unit is not None:
            self.lost += 1
            self.failures[worker.unit] += 1
            if self.failures[worker.unit] > retries:
                raise RuntimeError(f"{worker.unit} has failed {retries + 1} times") from error
            self.say(f"{worker.unit} of {worker.place} is lost and will be played again: {why}")
            self.waiting.appendleft(worker.unit)
        else:
            worker.failed_starts += 1
            if worker.failed_starts > retries:
                self.workers.remove(worker)
                self.say(f"a worker could not be started: {why}")
                if not self.workers:
                    raise RuntimeError("no worker can be started") from error
                return
        self.start(worker)

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            ray.kill(worker.actor)


class Learner:
    """The network, its optimizer, and the rounds that it still learns from."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        # It plays nothing, but knows the game.
        self.batch = make_batch(arguments.game, 1, **arguments.options)
        self.packing = Packing(self.batch.game)
        torch.manual_seed(arguments.seed)
        torch.set_num_threads(arguments.threads)
        self.network = Network(self.batch.game, self.batch.num_players, arguments.width)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), arguments.learning_rate, fused=True
        )
        self.replay: deque[Samples] = deque(maxlen=arguments.window)

    def learn(self, number: int, samples: Samples) -> dict[str, float]:
        """Learn from a round's samples and those of the rounds before it; mean losses."""
        self.replay.append(samples)
        pool = joined(self.replay)
        rng = np.random.default_rng([self.arguments.seed, number])
        # Each position is drawn about `reuse` times while it is in the window.
        steps = max(
            round(self.arguments.reuse * len(samples["result"]) / self.arguments.minibatch), 1
        )
        sums = np.zeros(2)
        for _ in range(steps):
            rows = rng.integers(len(pool["result"]), size=self.arguments.minibatch)
            losses = self.losses({name: array[rows] for name, array in pool.items()})
            self.optimizer.zero_grad()
            (losses[0] + losses[1]).backward()
            self.optimizer.step()
            sums += [loss.item() for loss in losses]
        policy_loss, value_loss = (sums / steps).round(6).tolist()
        return {"policy_loss": policy_loss, "value_loss": value_loss}

    def no_samples(self) -> dict[str, Tensor]:
        """Tensors as samples are, without any positions: what those of a checkpoint are held
        against.
        """
        arguments, batch = self.arguments, self.batch
        masks = np.packbits(batch.action_mask[:0], axis=1)
        searched = arguments.agent == "network"
        choices = min(arguments.simulations, batch.num_actions) if searched else 1
        return {
            "observation": torch.from_numpy(self.packing.observations(batch.observation[:0])),
            "mask": torch.from_numpy(masks),
            "moves": torch.zeros((0, choices), dtype=torch.int16),
            "visits": torch.zeros((0, choices), dtype=torch.int16),
            "result": torch.zeros((0, batch.num_players)),
        }

    def check(self, samples: dict[str, Tensor]) -> None:
        """ValueError, naming the array, for a round's samples from a checkpoint that no games can
        have given.
        """
        count = len(samples["result"])
        if count == 0 or any(len(array) != count for array in samples.values()):
            raise ValueError(
                "replay must have as many rows, at least one, in all arrays of a round"
            )
        low, high = self.batch.game.bounds()
        for packed in samples["observation"].split(4096):
            seen = self.packing.unpack_observations(packed.numpy())
            if not ((seen >= low) & (seen <= high)).all():
                raise ValueError("replay['observation'] must be within the observation space")
        training.require_range(samples["moves"], 0, self.batch.num_actions - 1, "replay['moves']")
        training.require_range(samples["visits"], 0, 2**15, "replay['visits']")
        training.require_range(samples["visits"].sum(1), 1, 2**31, "the sum of replay['visits']")
        training.require_range(samples["result"], -1, 1, "replay['result']")

    def losses(self, samples: Samples) -> tuple[Tensor, Tensor]:
        """Of the policy (its divergence from the search's shares of visits) and of the values."""
        observation = self.packing.unpack_observations(samples["observation"])
        logits, values = self.network(torch.from_numpy(observation))
        mask = torch.from_numpy(self.packing.unpack_masks(samples["mask"]))
        log_probs = logits.masked_fill(~mask, -1e9).log_softmax(-1)
        visits = torch.from_numpy(samples["visits"]).float()
        shares = visits / visits.sum(-1, keepdim=True)
        chosen = log_probs.gather(-1, torch.from_numpy(samples["moves"]).long())
        divergence = (shares * (shares.clamp(min=1e-9).log() - chosen)).sum(-1).mean()
        return divergence, (values - torch.from_numpy(samples["result"])).square().mean()


class Run:
    """A run: rounds are opened, played by the crew and learned from, and everything is written
    down.
    """

    LOGS = ("games.jsonl", "progress.csv", "evaluation.csv")

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = Path(arguments.folder)
        self.learner = Learner(arguments)
        self.round = 0  # how many have been learned from
        self.before, self.begin = 0.0, time.perf_counter()
        # The network after so many rounds, as long as a round is to be played with it.
        self.weights = {0: weights_of(self.learner.network)}
        self.results: dict[Unit, dict[str, Any]] = {}
        self.whole = (
            True  # whether no round is being learned from, so that everything is as after one
        )
        if arguments.resume:
            self.load()

    @property
    def seconds(self) -> float:
        """How long the run has taken, pauses left out."""
        return round(self.before + time.perf_counter() - self.begin, 1)

    def save(self) -> None:
        """Write the checkpoint."""
        content = {
            "settings": training.settings(self.arguments, LOCAL),
            "round": self.round,
            "seconds": self.seconds,
            "network": self.learner.network.state_dict(),
            "optimizer": self.learner.optimizer.state_dict()["state"],
            "replay": [
                {name: torch.from_numpy(array) for name, array in samples.items()}
                for samples in self.learner.replay
            ],
            "weights": {v: torch.from_numpy(vector) for v, vector in self.weights.items()},
            "sizes": {name: self.size(name) for name in self.LOGS},
        }
        training.save(content, self.folder / training.CHECKPOINT, KIND)

    def size(self, name: str) -> int:
        """Bytes of a log; 0 before its first line. ValueError where it is a link."""
        path = training.own_file(self.folder / name)
        return path.stat().st_size if path.exists() else 0

    def load(self) -> None:
        """Continue from the checkpoint, the logs cut to where they were.

        ValueError, naming file and place, for what this program cannot have written.
        """
        path, learner = self.folder / training.CHECKPOINT, self.learner
        content = training.load(path, KIND)
        content.pop("settings", None)  # were read with the command line
        optimizer = content.pop("optimizer", None)
        like = {
            "round": 0,
            "seconds": 0.0,
            "network": learner.network.state_dict(),
            "replay": [learner.no_samples()],
            "sizes": dict.fromkeys(self.LOGS, 0),
        }
        try:
            number = training.take(content.get("round"), 0, "round")
            training.require_range(number, 0, self.arguments.rounds, "round")
            oldest = max(number - self.arguments.staleness, 0)
            like["weights"] = dict.fromkeys(
                range(oldest, number + 1), torch.from_numpy(self.weights[0])
            )
            taken = training.take(content, like, "content")
            training.require_range(taken["seconds"], 0, 2**40, "seconds")
            training.take_adam(learner.optimizer, optimizer, "optimizer")
            for samples in taken["replay"]:
                learner.check(samples)
            for name, size in taken["sizes"].items():
                training.require_range(size, 0, self.size(name), f"the size of {name}, in bytes,")
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        for name, size in taken["sizes"].items():
            if self.size(name) > size:
                os.truncate(self.folder / name, size)
        self.round, self.before = number, taken["seconds"]
        learner.network.load_state_dict(taken["network"])
        for samples in taken["replay"]:
            learner.replay.append({name: array.numpy() for name, array in samples.items()})
        self.weights = {v: vector.numpy() for v, vector in taken["weights"].items()}

    def units(self, number: int) -> list[Unit]:
        """The units of a round; what follows the last round only evaluates the finished network."""
        arguments = self.arguments
        if number == arguments.rounds:
            return [Unit(number, EVALUATION, number)]
        version = max(number - arguments.staleness, 0)
        units = [Unit(number, unit, version) for unit in range(arguments.units)]
        if version and version % arguments.evaluate_every == 0:
            units.insert(0, Unit(number, EVALUATION, version))
        return units

    def finish(self, number: int, lost: int) -> dict[str, Any]:
        """A round has been played: learn from it and write everything down, in the units' order;
        the evaluation, if any.
        """
        self.whole = False
        results = [self.results.pop(unit) for unit in self.units(number)]
        evaluation = results.pop(0) if "score" in results[0] else {}
        if evaluation:
            self.write("evaluation.csv", evaluation)
        if not results:
            return evaluation
        games = [record for result in results for record in result["records"]]
        records.append(self.folder / "games.jsonl", *games)
        samples = joined(result["samples"] for result in results)
        losses = self.learner.learn(number, samples)
        self.round = number + 1
        self.weights[self.round] = weights_of(self.learner.network)
        for version in [v for v in self.weights if v < self.round - self.arguments.staleness]:
            del self.weights[version]
        row = {
            "round": self.round,
            "games": len(games),
            "positions": len(samples["result"]),
            **losses,
            "seconds": self.seconds,
            "lost": lost,
        }
        self.write("progress.csv", row)
        if self.round == self.arguments.rounds or self.round % self.arguments.checkpoint_every == 0:
            self.save()
        self.whole = True
        return evaluation

    def write(self, name: str, row: dict[str, Any]) -> None:
        """Append a line to a log, after a header if it is the first."""
        new = not self.size(name)
        with (self.folder / name).open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)

    def run(self) -> None:
        """Play and learn to the end, beginning anew or at the checkpoint."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in () if self.arguments.resume else self.LOGS:
            (self.folder / name).unlink(missing_ok=True)
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}")
        )
        crew = Crew(self.arguments, partial(bar.console.print, markup=False, soft_wrap=True))
        try:
            # The learner has a thread of its own: workers are not to wait for it.
            with bar, ThreadPoolExecutor(1) as thread:
                try:
                    self.play(crew, bar, thread)
                finally:
                    crew.close()
        except KeyboardInterrupt:
            # Here the learner has finished what it was at, unless Ctrl-C came twice. The last round
            # was saved by itself.
            if self.whole and self.round < self.arguments.rounds:
                self.save()
                where = f"saved as after {self.round} rounds"
                raise SystemExit(
                    f"interrupted; {self.folder} is {where}: --resume continues"
                ) from None
            raise SystemExit(f"interrupted: {self.folder} is as it was saved last") from None

    def play(self, crew: Crew, bar: Progress, thread: ThreadPoolExecutor) -> None:
        """Keep the crew busy, and the learner as soon as a round is complete."""
        rounds = self.arguments.rounds
        task = bar.add_task(self.arguments.game, total=rounds, completed=self.round, state="")
        number = opened = self.round
        networks: dict[int, Any] = {}  # in the object store
        learning: Future[dict[str, Any]] | None = None
        while number <= rounds:
            if learning is None:
                networks = {v: networks.get(v) or ray.put(w) for v, w in self.weights.items()}
                while opened <= rounds and self.units(opened)[0].version in networks:
                    crew.waiting.extend(self.units(opened))
                    opened += 1
                if all(unit in self.results for unit in self.units(number)):
                    learning = thread.submit(self.finish, number, crew.lost)
            elif learning.done():
                if evaluation := learning.result():
                    bar.console.print(
                        "after {round} rounds: {score:.1%} against {opponent} "
                        "({low:.1%} to {high:.1%}: +{wins} ={draws} −{losses})".format(**evaluation)
                    )
                number, learning = number + 1, None
                ready = sum(bool(worker.place) for worker in crew.workers)
                state = f"{self.round} of {rounds} rounds, {ready} workers, {crew.lost} units lost"
                bar.update(task, completed=self.round, state=state)
                continue
            crew.give(networks)
            for unit, result in crew.take(0.05):
                self.results[unit] = result


def connect(arguments: argparse.Namespace) -> None:
    """Start Ray on this machine, or join the cluster at `--address`."""
    local = {
        # Logical: more workers than cores may be asked for.
        "num_cpus": math.ceil(arguments.workers * arguments.worker_cpus),
        "include_dashboard": False,
    }
    ray.init(
        arguments.address,
        runtime_env=arguments.runtime_env,
        log_to_driver=False,
        logging_level="warning",
        **(local if arguments.address == "local" else {}),
    )
    machines = sum(node["Alive"] for node in ray.nodes())
    room = int(ray.cluster_resources().get("CPU", 0) / arguments.worker_cpus)
    print(f"{machines} machine{'s' if machines > 1 else ''}, room for {room} workers at once")


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line's arguments, or those of other words."""
    parser = training.make_parser(__doc__.splitlines()[0])
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    add = parser.add_argument
    add("--seed", type=int, default=1)
    add("--address", default="local", help="of a cluster: auto, HOST:6379, ray://HOST:10001")
    add("--runtime-env", type=json.loads, metavar="JSON", help="for workers (Ray's runtime_env)")
    add("--workers", type=int, default=os.cpu_count())
    add("--worker-cpus", type=float, default=1.0, help="that Ray keeps for each of them")
    add("--timeout", type=float, default=600.0, help="seconds that a unit may take")
    add("--retries", type=int, default=5, help="of a failed unit, of a worker that does not start")
    add("--rounds", type=int, default=50)
    add("--units", type=int, default=16, help="of work in a round")
    add("--games", type=int, default=32, help="in a unit, in step")
    add("--staleness", type=int, default=1, help="rounds that players are behind the learner")
    add("--agent", default="network", help="who plays: network, or an agent's name")
    add("--simulations", type=int, default=32, help="of the network's search")
    add("--explore", type=int, default=20, help="plies of a game that are drawn by visits")
    add("--width", type=int, default=256, help="of the network's two layers")
    add("--learning-rate", type=float, default=1e-3)
    add("--minibatch", type=int, default=512)
    add("--reuse", type=float, default=4.0, help="how often a position is learned from")
    add("--window", type=int, default=4, help="rounds that are learned from")
    add("--threads", type=int, default=1, help="of the learner")
    add("--opponent", default="random", help="to evaluate against")
    add("--eval-games", type=int, default=200)
    add("--evaluate-every", type=int, default=5, help="rounds")
    add("--checkpoint-every", type=int, default=1, help="rounds")
    folder = "runs/ray-{}"
    agents = ("opponent", "agent")
    arguments = training.read_arguments(
        *(parser, words, PRESETS, folder),
        free=FREE,
        local=LOCAL,
        agents=agents,
        besides={"agent": "network"},
    )
    if arguments.simulations > 2**15 - 1:  # counts are sent as int16
        parser.error(f"--simulations is at most {2**15 - 1}, not {arguments.simulations}")
    zero = ("seed", "staleness", "explore", "retries")
    for name, value in vars(arguments).items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and (value < 0 or (value == 0 and name not in zero)):
            least = "at least 0" if name in zero else "more than 0"
            parser.error(f"--{name.replace('_', '-')} is {least}, not {value}")
    if arguments.threads > MAX_THREADS or arguments.seed >= 2**63:
        parser.error(f"--threads is at most {MAX_THREADS}, --seed less than 2**63")
    return arguments


def main() -> None:
    """Run by the command line."""
    arguments = read_arguments()
    try:
        run = Run(arguments)
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"ray_selfplay.py: {error}".splitlines()[0], file=sys.stderr)
        raise SystemExit(2) from None
    try:
        connect(arguments)
        run.run()
    except KeyboardInterrupt:
        raise SystemExit("interrupted before the first unit") from None
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
