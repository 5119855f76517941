"""AlphaZero: a network learns by playing itself through the library's batched tree search,
`search.PUCT`.

    python examples/alphazero.py kirche
    python examples/alphazero.py tuerme --option num_players=3 --folder runs/tuerme3
    python examples/alphazero.py kirche --resume

Needs `pip install -e ".[train]"` (PyTorch, rich).

Each iteration
1. plays on in a batch of games, all seats by the best network so far; every action is chosen by a
   search,
2. trains another network on the positions of the replay buffer: its policy towards the searches'
   visits, its value towards a mean of the game's result and the search's value,
3. and every few iterations lets it play the best one: only if it wins is it taken for self-play
   (the gate).
Kirche begins with one house; once the best network's search beats `greedy` clearly enough it gets
one more, up to `num_houses`. The first iterations with each number are played by the game's
heuristic instead of a network (`--warm-up 0`: none are).

What to expect, measured with one seed and `--threads 1` on two thirds of a core: after 85
iterations, 52 minutes, the search of the best network with 100 simulations scored 78.9 % of 400
games of kirche with two houses against `mcts:400` (95 %: 74.6 to 82.6), draws as half, and 97.5 %
of 40 games against `greedy` (87.1 to 99.6). docs/alphazero.md has the curve.

Into the folder (`runs/alphazero-GAME` by default) it writes
- `progress.csv`: a line an iteration: losses, finished games and their length, the gate's result
  (`seconds` are all that the run took, evaluations included),
- `evaluation.csv`: a line for each opponent whenever the best network's search is evaluated,
- `checkpoint.pt`: everything there is, the arguments, running games and replay buffer included.
  Ctrl-C writes it, too, as of the last whole iteration, and `--resume` continues; what comes out
  is, to the bit, what an undisturbed run gives. A run that is over is evaluated anew. A checkpoint
  is checked before it is trusted (`tabletop_envs.training`). Its path is the name of an agent, the
  search of the best network: `runs/alphazero-kirche/checkpoint.pt,simulations=100`.

The network is `tabletop_envs.networks.alphazero`; `--opponents` and `--yardstick` take all names of
`agents.make_agent`.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import Progress, TextColumn
from torch import Tensor, nn
from torch.nn import functional

from tabletop_envs import make_batch, registry, training
from tabletop_envs.agents import GameAgent, make_agent
from tabletop_envs.arena.ratings import Count
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import MAX_MAX_PLIES, Game, State, lane_seeds
from tabletop_envs.lanes import Lanes
from tabletop_envs.networks.alphazero import KIND, Network, SearchAgent, search
from tabletop_envs.search import BatchResult, Search
from tabletop_envs.threads import MAX_THREADS

# What differs from game to game, where anything does; options on the command line go first.
PRESETS: dict[str, dict[str, Any]] = {
    "kirche": {"options": {"num_houses": 2}, "grow": "num_houses", "cut": 100},
    # Bigger boards, longer games.
    "tuerme": {"games": 64, "buffer": 50_000},
    "meeples": {"games": 32, "buffer": 20_000},
}
NOISE = 0.25  # share of Dirichlet noise in the root's priors
COOL = 0.25  # temperature of the choice by visits, once the opening is over
DISCOUNT = 0.99  # a win is worth the more, the nearer it is
WEIGHT_DECAY, MAX_NORM = 1e-4, 1.0
# The command line: defaults and help.
ARGUMENTS: dict[str, tuple[Any, str]] = {
    "seed": (1, "of all chance"),
    "iterations": (85, "at most"),
    "minutes": (60.0, "at most; the iteration then running is the last"),
    "games": (128, "played at once"),
    "plies": (32, "of each game in an iteration"),
    "cut": (2**20, "plies after which games of self-play are drawn"),
    "warm-up": (10, "iterations of each level whose games are played by the heuristic"),
    "teacher": (128, "simulations of the heuristic's searches"),
    "simulations": (64, "of the network's searches that are learned from"),
    "quick": (16, "simulations of its other searches, and of the gate's games"),
    "thorough": (0.4, "share of the searches that are learned from"),
    "opening": (12, "plies in which actions are drawn by visits"),
    "buffer": (100_000, "positions that are remembered"),
    "minibatch": (256, "positions"),
    "minibatches": (80, "of an iteration"),
    "reuse": (2, "how often a position is met in an iteration at most, in the mean"),
    "learning-rate": (2e-3, "falls to a tenth over the run"),
    "channels": (32, "of the network"),
    "blocks": (4, "of the network"),
    "gate": (0.55, "score that a new network needs against the best one"),
    "gate-games": (64, "of the gate and of the yardstick"),
    "gate-every": (4, "iterations"),
    "yardstick": ("greedy", "agent that the growth depends on"),
    "grow-at": (0.8, "score against it at which the option grows"),
    "eval-games": (40, "against each opponent"),
    "eval-simulations": (100, "in evaluations"),
    "evaluate-every": (12, "iterations"),
    "checkpoint-every": (5, "iterations"),
    "threads": (os.cpu_count() or 1, "of PyTorch and of the search"),
}
LINE = (
    "iteration {iteration:>3}, {seconds:5.0f} s, level {level}: {score:6.1%} against {opponent} "
    "({low:.1%} to {high:.1%}: +{wins} ={draws} −{losses})"
)
# What a checkpoint holds of a run, and the arguments that may change when it is resumed.
PLAIN = ("iteration", "seconds", "level", "grown")
FREE = "threads minutes opponents eval_games eval_simulations evaluate_every".split()
FREE += ["checkpoint_every"]


def draw_seed() -> int:
    """A seed from PyTorch's generator, which each iteration seeds anew: all randomness of a run
    comes from there.
    """
    return int(torch.randint(2**62, ()))


def teach(game: Game, states: State, simulations: int, seed: int) -> BatchResult:
    """The same by the game's heuristic: what the agent `mcts:N` does."""
    visits = np.zeros((len(states), game.kernel.num_actions), np.int32)
    values = np.zeros((len(states), int(states["num_players"][0])))
    searcher = Search(game, max_nodes=100 * simulations, seed=seed)
    for lane in range(len(states)):
        found = searcher.run(states[lane : lane + 1], simulations)
        visits[lane, found.actions], values[lane] = found.visits, found.values
    return BatchResult(visits.argmax(1), visits, values, np.zeros(len(states), np.bool_))


class Replay:
    """The newest positions of self-play, in a ring: what was seen, the search's visits and value,
    how the game ended.

    Positions of running games wait there (`OPEN`) until it is known how they end (`KNOWN`).
    """

    LOST, OPEN, KNOWN = 0, 1, 2

    def __init__(self, batch: BatchEnv, size: int, simulations: int) -> None:
        self.position = torch.zeros((size, batch.observation.shape[1]), dtype=torch.int8)
        self.mask = torch.zeros((size, -(-batch.num_actions // 8)), dtype=torch.uint8)
        # The visited actions (the most visited, where there is no room for all) and their shares.
        shape = (size, min(simulations, batch.num_actions))
        self.action = torch.zeros(shape, dtype=torch.int16)
        self.share = torch.zeros(shape)
        # Every player's, beginning with the one in turn.
        self.value = torch.zeros((size, batch.num_players))
        self.player, self.lane, self.ply = torch.zeros((3, size), dtype=torch.int64)
        self.status = torch.zeros(size, dtype=torch.int8)
        self.added = torch.zeros((), dtype=torch.int64)

    def add(self, batch: BatchEnv, result: BatchResult) -> None:
        """Note the positions of all lanes and what the search found."""
        rows = (self.added + torch.arange(batch.num_envs)) % len(self.status)
        self.added += batch.num_envs
        player = torch.from_numpy(batch.current_player.astype(np.int64))
        self.position[rows] = torch.from_numpy(batch.observation)
        self.mask[rows] = torch.from_numpy(np.packbits(batch.action_mask, axis=1))
        share, action = torch.from_numpy(result.policy).topk(self.share.shape[1])
        self.share[rows], self.action[rows] = share, action.to(torch.int16)
        self.value[rows] = in_turn_order(torch.from_numpy(result.values).float(), player)
        self.player[rows], self.lane[rows] = player, torch.arange(batch.num_envs)
        self.ply[rows] = torch.from_numpy(batch.states["ply"].astype(np.int64))
        self.status[rows] = self.OPEN

    def finish(self, batch: BatchEnv, done: Tensor) -> None:
        """Mix the results of games that have just ended into their positions' values."""
        rows = torch.nonzero((self.status == self.OPEN) & done[self.lane]).squeeze(-1)
        lanes = self.lane[rows]
        left = torch.from_numpy(batch.episode_length)[lanes] - self.ply[rows]
        reward = in_turn_order(torch.from_numpy(batch.rewards)[lanes], self.player[rows])
        self.value[rows] = (self.value[rows] + reward * (DISCOUNT**left)[:, None]) / 2
        self.status[rows] = self.KNOWN

    def load(self, given: Any, batch: BatchEnv) -> None:
        """Take over the buffer of a checkpoint; ValueError for what cannot be one."""
        players, lanes = batch.num_players, batch.num_envs
        low, high = -1.001, 1.001  # sums of shares and values are rounded
        taken = training.take(given, dict(vars(self)), "replay")
        for name, least, most in (
            *(("action", 0, batch.num_actions - 1), ("share", 0, high), ("value", low, high)),
            *(("player", 0, players - 1), ("lane", 0, lanes - 1), ("ply", 0, MAX_MAX_PLIES)),
            *(("status", self.LOST, self.KNOWN), ("added", 0, 2**62)),
        ):
            training.require_range(taken[name], least, most, f"replay[{name!r}]")
        vars(self).update(taken)

    def forget_open(self) -> None:
        """Games were given up: their positions are of no use."""
        self.status[self.status == self.OPEN] = self.LOST

    def draw(self, rows: Tensor, num_actions: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Observations, masks, policies and values of some rows."""
        mask = np.unpackbits(self.mask[rows].numpy(), axis=1, count=num_actions)
        policy = torch.zeros(len(rows), num_actions)
        policy.scatter_add_(1, self.action[rows].long(), self.share[rows])
        return self.position[rows], torch.from_numpy(mask).bool(), policy, self.value[rows]


def in_turn_order(values: Tensor, player: Tensor) -> Tensor:
    """Values `(B, players)` in the order of the player to move: itself first."""
    players = values.shape[1]
    return values.gather(1, (player[:, None] + torch.arange(players)) % players)


class Training:
    """A run: everything that a checkpoint holds, and what is done with it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = Path(arguments.folder)
        self.game = registry.get_game(arguments.game)
        self.options = self.game.parse_options(arguments.options)
        self.players = self.game.num_players(self.options)
        torch.manual_seed(arguments.seed)
        torch.set_num_threads(arguments.threads)
        shape = (self.game, self.players, arguments.channels, arguments.blocks)
        self.network, self.best = Network(*shape), Network(*shape).requires_grad_(False)
        self.best.load_state_dict(self.network.state_dict())
        weights = self.network.parameters()
        self.optimizer = torch.optim.AdamW(weights, weight_decay=WEIGHT_DECAY, fused=True)
        self.iteration, self.seconds = 0, 0.0
        # The option that grows, as far as it has grown, and in which iteration it did.
        self.level, self.grown = int(arguments.grow is not None), 0
        self.batch = self.new_batch()
        self.replay = Replay(self.batch, arguments.buffer, arguments.simulations)
        self.folder.mkdir(parents=True, exist_ok=True)
        if arguments.resume:
            self.load()
        self.logs = {
            name: training.Log(self.folder / f"{name}.csv", self.iteration)
            for name in ("progress", "evaluation")
        }
        self.keep()

    def options_now(self, cut: int) -> dict[str, Any]:
        """The game's options at this level of the curriculum; games end after `cut` plies."""
        grown = {self.arguments.grow: self.level} if self.level else {}
        return {**self.options, **grown, "max_plies": min(self.options["max_plies"], cut)}

    def new_batch(self) -> BatchEnv:
        """New games at this level."""
        options = self.options_now(self.arguments.cut)
        return make_batch(self.game.name, self.arguments.games, seed=draw_seed(), **options)

    @property
    def warming_up(self) -> int:
        """How many more iterations of this level are to be played by the heuristic."""
        return max(self.grown + self.arguments.warm_up - self.iteration, 0)

    def play(self) -> dict[str, float]:
        """Self-play: some plies of every game. Thorough searches are learned from, the others are
        quick.
        """
        arguments, batch = self.arguments, self.batch
        lengths: list[int] = []
        draws = 0
        for _ in range(arguments.plies):
            thorough = self.warming_up > 0 or float(torch.rand(())) < arguments.thorough
            simulations = arguments.simulations if thorough else arguments.quick
            if self.warming_up:
                result = teach(self.game, batch.states, arguments.teacher, draw_seed())
            else:
                noise = NOISE if thorough else 0.0
                result = search(self.best, batch.states, simulations, draw_seed(), noise)
            if thorough:
                self.replay.add(batch, result)
            opening = batch.states["ply"] < arguments.opening
            power = torch.from_numpy(np.where(opening, 1.0, 1 / COOL))[:, None]
            weights = torch.from_numpy(result.policy).double().pow(power)
            batch.step(torch.multinomial(weights, 1).squeeze(-1).numpy())
            done = batch.terminated
            self.replay.finish(batch, torch.from_numpy(done))
            lengths += batch.episode_length[done].tolist()
            draws += int((~batch.rewards[done].any(1)).sum())
        length = float(np.mean(lengths)) if lengths else 0.0
        return {"games": len(lengths), "draws": draws, "length": length}

    def learn(self) -> dict[str, float]:
        """Some minibatches from the replay buffer; mean losses."""
        arguments, replay = self.arguments, self.replay
        rate = arguments.learning_rate * (1 - 0.9 * self.iteration / arguments.iterations)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        known = torch.nonzero(replay.status == Replay.KNOWN).squeeze(-1)
        # While there is little to learn from, it is not to be learned by heart.
        count = min(arguments.minibatches, arguments.reuse * len(known) // arguments.minibatch)
        policy_total = value_total = 0.0
        for _ in range(count):
            rows = known[torch.randint(len(known), (arguments.minibatch,))]
            observation, mask, policy, value = replay.draw(rows, self.batch.num_actions)
            observation, mask, policy = self.mirrored(observation, mask, policy)
            logits, values = self.network(observation, mask)
            log_probs = logits.masked_fill(~mask, -1e9).log_softmax(-1)
            policy_loss = -(policy * log_probs).sum(-1).mean()
            value_loss = functional.mse_loss(values, value)
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), MAX_NORM)
            self.optimizer.step()
            policy_total += policy_loss.item()
            value_total += value_loss.item()
        return {
            "positions": int(replay.added),
            "policy_loss": policy_total / max(count, 1),
            "value_loss": value_total / max(count, 1),
        }

    def mirrored(self, observation: Tensor, mask: Tensor, policy: Tensor) -> tuple[Tensor, ...]:
        """A minibatch as it looks in one of the game's mirrors, drawn at random."""
        symmetries = self.game.symmetries(self.batch.options)
        if len(symmetries) == 1:
            return observation, mask, policy
        symmetry = symmetries[int(torch.randint(len(symmetries), ()))]
        seen = observation.numpy()
        images = (
            symmetry.apply_observation(seen),
            *(symmetry.apply_mask(numbers.numpy(), seen) for numbers in (mask, policy)),
        )
        return tuple(map(torch.from_numpy, images))

    def contest(
        self, agents: tuple[GameAgent, GameAgent], games: int, seed: int, cut: int = 2**31
    ) -> Count:
        """Games of the first agent against the second (in all other seats), all seats in turn, all
        games at once.
        """
        played = Lanes(self.game, games, self.options_now(cut))
        played.seed(played.all_lanes, lane_seeds(seed, games))
        played.start(played.all_lanes)
        actions, seats = np.zeros(games, np.int64), np.arange(games) % self.players
        while (running := np.flatnonzero(~played.over())).size:
            own = (played.seats == seats)[running]
            for agent, lanes in zip(agents, (running[own], running[~own]), strict=True):
                if lanes.size:
                    agent.choose_lanes(
                        self.game, played.states, played.legal_bits, played.rngs, lanes, actions
                    )
            played.step(running, actions)
        scores = played.states["scores"][:, : self.players].astype(float)
        lead = np.sign(scores[np.arange(games), seats][:, None] - scores)
        # A win is 1, a draw 1/2, a loss 0, against each of the others; against itself the lead is
        # 0.
        return Count.of(((lead.sum(1) / (self.players - 1) + 1) / 2).tolist())

    def gate(self) -> dict[str, Any]:
        """The trained network against the best one; if it wins it becomes the best. Then perhaps
        the curriculum goes on.
        """
        arguments = self.arguments
        seen: dict[str, Any] = {"level": self.level, "gate": "", "accepted": "", "yardstick": ""}
        begun = self.iteration == self.grown + arguments.warm_up
        if self.warming_up or (self.iteration % arguments.gate_every and not begun):
            return seen
        new, best = (
            SearchAgent(network, arguments.quick, arguments.opening)
            for network in (self.network, self.best)
        )
        count = self.contest((new, best), arguments.gate_games, draw_seed(), arguments.cut)
        seen["gate"], seen["accepted"] = count.score, int(count.score >= arguments.gate)
        if seen["accepted"]:
            self.best.load_state_dict(self.network.state_dict())
        if self.level and self.level < self.options[arguments.grow]:
            agent = SearchAgent(self.best, arguments.simulations)
            rivals = (agent, make_agent(arguments.yardstick))
            seen["yardstick"] = self.contest(rivals, arguments.gate_games, draw_seed()).score
            if seen["yardstick"] >= arguments.grow_at:
                self.level, self.grown = self.level + 1, self.iteration
                self.batch = self.new_batch()
                self.replay.forget_open()
        return seen

    def step(self) -> dict[str, Any]:
        """An iteration; the log's line."""
        begin = time.perf_counter()
        sequence = np.random.SeedSequence((self.arguments.seed, self.iteration))
        torch.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))
        row = {**self.play(), **self.learn()}
        self.iteration += 1
        row |= self.gate()
        self.seconds += time.perf_counter() - begin
        return {"iteration": self.iteration, "seconds": self.seconds, **row}

    def evaluate(self, opponent: str) -> dict[str, Any]:
        """Games of the best network's search against an opponent, the same deals every time; the
        log's line.
        """
        begin, arguments = time.perf_counter(), self.arguments
        agent = SearchAgent(self.best, arguments.eval_simulations)
        # Other deals than the training's first.
        rivals, seed = (agent, make_agent(opponent)), arguments.seed + 2**32
        count = self.contest(rivals, arguments.eval_games, seed)
        self.seconds += time.perf_counter() - begin
        row = {"iteration": self.iteration, "seconds": self.seconds, "level": self.level}
        return {**row, "opponent": opponent, **asdict(count)}

    def note(self, log: str, row: dict[str, Any]) -> None:
        """Add a line to a log, and write it out."""
        line = {name: round(v, 5) if isinstance(v, float) else v for name, v in row.items()}
        self.logs[log].write(line)

    def keep(self) -> None:
        """Remember everything as it is now, for `save`."""
        self.kept: dict[str, Any] = copy.deepcopy(
            {
                "settings": training.settings(self.arguments),
                "plain": {name: getattr(self, name) for name in PLAIN},
                "network": self.network.state_dict(),
                "best": self.best.state_dict(),
                "optimizer": self.optimizer.state_dict()["state"],
                "replay": vars(self.replay),
                "games": self.batch,
            }
        )

    def save(self) -> None:
        """Write what was kept."""
        content = {**self.kept, "games": self.kept["games"].get_state()}
        training.save(content, self.folder / training.CHECKPOINT, KIND)

    def load(self) -> None:
        """Continue from the checkpoint; ValueError, naming file and place, for what this program
        cannot have written.
        """
        path, arguments = self.folder / training.CHECKPOINT, self.arguments
        content = training.load(path, KIND)
        content.pop("settings", None)  # were read with the command line
        parts = {name: content.pop(name, None) for name in ("optimizer", "replay", "games")}
        weights = self.network.state_dict()
        like: dict[str, Any] = {"network": weights, "best": weights}
        like["plain"] = {"iteration": 0, "seconds": 0.0, "level": 0, "grown": 0}
        try:
            taken = training.take(content, like, "content")
            plain = taken["plain"]
            most = self.options[arguments.grow] if self.level else 0
            training.require_range(plain["iteration"], 0, arguments.iterations, "iteration")
            training.require_range(plain["seconds"], 0, 2**40, "seconds")
            training.require_range(plain["level"], self.level, most, "level")
            training.require_range(plain["grown"], 0, plain["iteration"], "grown")
            vars(self).update(plain)
            self.batch = self.new_batch()
            self.batch.set_state(parts["games"])
            self.replay.load(parts["replay"], self.batch)
            training.take_adam(self.optimizer, parts["optimizer"], "optimizer")
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        self.network.load_state_dict(taken["network"])
        self.best.load_state_dict(taken["best"])

    @property
    def over(self) -> bool:
        """Whether the budget is used up."""
        arguments = self.arguments
        return self.iteration >= arguments.iterations or self.seconds >= 60 * arguments.minutes

    def run(self) -> None:
        """Train to the end, with everything written down."""
        arguments = self.arguments
        columns = (*Progress.get_default_columns(), TextColumn("{task.fields[state]}"))
        with Progress(*columns, console=Console()) as bar:
            task = bar.add_task(self.game.name, total=arguments.iterations, state="")
            try:
                # A run that is over already is evaluated once more.
                while True:
                    if not self.over:
                        row = self.step()
                        self.note("progress", row)
                        state = (
                            f"{row['positions']:,} positions, policy loss {row['policy_loss']:.2f}"
                        )
                        bar.update(task, completed=self.iteration, state=state)
                    if self.over or self.iteration % arguments.evaluate_every == 0:
                        for opponent in arguments.opponents:
                            result = self.evaluate(opponent)
                            self.note("evaluation", result)
                            bar.console.print(LINE.format(**result), highlight=False)
                    self.keep()
                    if self.over or self.iteration % arguments.checkpoint_every == 0:
                        self.save()
                    if self.over:
                        return
            except KeyboardInterrupt:
                self.save()
                where = f"saved as after {self.kept['plain']['iteration']} iterations"
                words = f"interrupted; {self.folder} is {where}: --resume continues"
                raise SystemExit(words) from None


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line, with the game's presets."""
    parser = training.make_parser(__doc__.splitlines()[0])
    add = parser.add_argument
    for name, (default, text) in ARGUMENTS.items():
        add(f"--{name}", type=type(default), default=default, help=f"{text} ({default})")
    rivals = ["random", "greedy", "mcts:400"]
    add("--opponents", nargs="*", default=rivals, help="to evaluate against")
    add("--grow", metavar="OPTION", help="the option that begins at 1 and grows")
    folder = "runs/alphazero-{}"
    agents = ("opponents", "yardstick")
    arguments = training.read_arguments(parser, words, PRESETS, folder, free=FREE, agents=agents)
    for name in ARGUMENTS.keys() - {"seed", "warm-up", "gate", "grow-at", "yardstick"}:
        if (value := getattr(arguments, name.replace("-", "_"))) <= 0:
            parser.error(f"--{name} is more than 0, not {value}")
    if arguments.buffer < arguments.games:
        parser.error(f"--buffer is at least --games ({arguments.games}), not {arguments.buffer}")
    if not 0 <= arguments.seed < 2**62 or arguments.threads > MAX_THREADS:
        parser.error(f"--seed must be from 0 to 2**62, --threads at most {MAX_THREADS}")
    if arguments.grow is not None and type(arguments.options.get(arguments.grow)) is not int:
        parser.error(f"--grow={arguments.grow} must be an option that is a number")
    return arguments


def main() -> None:
    """Run by the command line."""
    arguments = read_arguments()
    try:
        run = Training(arguments)
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"alphazero.py: {error}".splitlines()[0], file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit("interrupted before the first iteration") from None
    run.run()


if __name__ == "__main__":
    main()
