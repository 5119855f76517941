"""Masked PPO by self-play: one policy plays all seats; in a share of the games it meets one of its past selves.

    python examples/ppo_selfplay.py kirche
    python examples/ppo_selfplay.py tuerme --option num_players=3 --steps 4000000 --folder runs/tuerme3
    python examples/ppo_selfplay.py kirche --resume

Needs `pip install "tabletop-envs[train]"` (PyTorch, rich; TensorBoard is used where it is installed).

What to expect, measured with one seed and `--threads 1` on half a core or so: kirche with one house won 99.4 % of 1,000 games
against random (95 %: 98.7 to 99.7) and 40.3 % against greedy (37.3 to 43.4) after 1,490,944 steps, 647 seconds; meeples
91.9 % of 400 games against random (88.8 to 94.2) after 589,824 steps, 535 seconds. Tuerme learns more slowly: 76 % against
random (70 to 82) after 196,608 steps. Where other programs want the cores, take `--threads 1`: PyTorch's threads wait for each other.

Into the folder (`runs/GAME` by default) it writes
- `progress.csv`: a line an update: losses, entropy, how far the policy moved, games and their mean length (`seconds` are those of
  training, without evaluations),
- `evaluation.csv`: a line for each opponent whenever the policy is evaluated: games, results, mean score and its 95 % interval,
- `checkpoint.pt`: everything there is, the running games and all chance included. `--resume` goes on from there; what
  comes out is, to the bit, what an undisturbed run with the same arguments and number of threads gives.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor, nn
from torch.nn import functional

from tabletop_envs import make_batch, registry
from tabletop_envs.agents import GameAgent, arena, make_agent
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.envs.game import Game
from tabletop_envs.kernels import engine

# What differs from game to game; options on the command line go first.
PRESETS: dict[str, dict[str, Any]] = {
    "kirche": {"options": {"num_houses": 1}},
    # Games of 500 plies that begin together: each update is to see whole ones.
    "tuerme": {"games": 32, "plies": 512},
    "meeples": {},
}
# From one decision of a player to that player's next (gamma and lambda).
DISCOUNT, TRACE = 0.995, 0.95
LEAD = 10.0  # points ahead that look like a good chance to win
CLIP, VALUE, MAX_NORM = 0.2, 0.5, 0.5
LEAGUE = 10  # past selves that are kept


def legal_actions(mask: Tensor) -> Tensor:
    """The legal actions of masks `bool (B, n)`: `int64 (B, K)`, each row filled up with −1.

    Some dozens of actions are legal, of thousands: probabilities of these alone are several times faster.
    """
    rows, actions = mask.nonzero(as_tuple=True)
    counts = mask.sum(-1)
    places = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
    legal = torch.full((len(mask), int(counts.max())), -1)
    legal[rows, places] = actions
    return legal


class Network(nn.Module):
    """Policy and value of the player in turn, two layers shared.

    Called with observations `int8 (B, L)` and legal actions `(B, K)` it gives the logarithms of their probabilities `(B, K)`
    and values `(B,)`: the player's expected result. Where a game has points, the value is learned as what is to be added to a
    first guess, the lead as it stands: so an action that scores looks good from the first update on, though rewards come only
    at the end. (That is the same as shaping rewards by this guess as a potential, and changes no optimum.)
    """

    def __init__(self, game: Game, width: int) -> None:
        super().__init__()
        low, high = game.bounds()
        # Brings every number of an observation to at most 1.
        largest = np.maximum(np.abs(low.astype(int)), np.abs(high.astype(int))).clip(1)
        self.register_buffer("scale", torch.tensor(1 / largest, dtype=torch.float32))
        scores = game.observation.get("scores")
        self.scores = scores.slice if scores else None
        self.first = nn.Linear(len(low), width)
        self.second = nn.Linear(width, width)
        self.policy = nn.Linear(width, game.kernel.num_actions)
        self.value = nn.Linear(width, 1)
        gains = {self.first: 2**0.5, self.second: 2**0.5, self.policy: 0.01, self.value: 0.1}
        for layer, gain in gains.items():
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observation: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        # Scaling the weights is less work than scaling the batch.
        hidden = functional.linear(
            observation.float(), self.first.weight * self.scale, self.first.bias
        ).relu()
        hidden = self.second(hidden).relu()
        logits = self.policy(hidden).gather(-1, legal.clamp(min=0)).masked_fill(legal < 0, -1e9)
        value = self.value(hidden).squeeze(-1)
        if self.scores:
            points = observation[:, self.scores].float()
            own, others = points[:, 0], points[:, 1:]
            value = value + ((own - others.amax(-1)) / LEAD).tanh()
        return logits.log_softmax(-1), value


class PolicyAgent(GameAgent):
    """The network as an agent for the arena. It draws its actions by their probabilities, sharpened: to the power 1/temperature."""

    name = "policy"

    def __init__(self, network: Network, temperature: float) -> None:
        self.network = network
        self.temperature = temperature

    @torch.no_grad()
    def choose_lanes(
        self, game: Game, states: Any, legal: Any, samplers: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`."""
        observation = np.zeros((len(states), game.kernel.observation_size), np.int8)
        mask = np.zeros((len(states), game.kernel.num_actions), np.bool_)
        players = states["to_move"].astype(np.int64)
        engine.look_some(states, legal, lanes, players, observation, mask)
        choices = legal_actions(torch.from_numpy(mask[lanes]))
        log_probs, _ = self.network(torch.from_numpy(observation[lanes]), choices)
        weights = (log_probs.double() / self.temperature).softmax(-1).numpy()
        for row, lane in enumerate(lanes.tolist()):
            rng = np.random.default_rng(samplers[lane])
            place = rng.choice(len(weights[row]), p=weights[row])
            actions[lane] = choices[row, place]
            samplers[lane] = rng.integers(2**64, dtype=np.uint64)


class Rollout:
    """`plies` steps of every game of a batch: what was seen, done and got. All tensors begin with `(plies, games)`."""

    def __init__(self, batch: BatchEnv, plies: int) -> None:
        shape = (plies, batch.num_envs)
        self.observation = torch.zeros((*shape, batch.observation.shape[1]), dtype=torch.int8)
        self.mask = torch.zeros((*shape, batch.num_actions), dtype=torch.bool)
        self.place = torch.zeros(shape, dtype=torch.int64)  # of the action among the legal ones
        self.log_prob = torch.zeros(shape)
        self.value = torch.zeros(shape)
        self.player = np.zeros(shape, np.int64)
        self.own = np.zeros(shape, np.bool_)  # whether the present policy chose, not a past self
        self.done = np.zeros(shape, np.bool_)
        self.reward = np.zeros((*shape, batch.num_players), np.float32)
        self.lengths: list[int] = []  # of the games that ended

    @torch.no_grad()
    def play(
        self, batch: BatchEnv, network: Network, past: Network, seats: npt.NDArray[np.int64]
    ) -> None:
        """Play on in all games. `seats`: which player of each game is the present policy; −1: all are."""
        self.lengths.clear()
        actions = torch.zeros(batch.num_envs, dtype=torch.int64)
        for ply in range(len(self.own)):
            self.observation[ply] = torch.from_numpy(batch.observation)
            self.mask[ply] = torch.from_numpy(batch.action_mask)
            self.player[ply] = batch.current_player
            self.own[ply] = (seats < 0) | (seats == batch.current_player)
            for chooser, chosen in ((network, self.own[ply]), (past, ~self.own[ply])):
                if chosen.any():
                    lanes = torch.from_numpy(np.flatnonzero(chosen))
                    legal = legal_actions(self.mask[ply, lanes])
                    log_probs, value = chooser(self.observation[ply, lanes], legal)
                    place = torch.multinomial(log_probs.exp(), 1)
                    self.place[ply, lanes] = place.squeeze(-1)
                    self.log_prob[ply, lanes] = log_probs.gather(-1, place).squeeze(-1)
                    self.value[ply, lanes] = value
                    actions[lanes] = legal.gather(-1, place).squeeze(-1)
            batch.step(actions.numpy())
            self.done[ply] = batch.terminated | batch.truncated
            self.reward[ply] = batch.rewards
            self.lengths += batch.episode_length[self.done[ply]].tolist()

    def advantages(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Generalised advantage estimates `(plies, games)`, and which of them are to be learned from.

        Each player has a chain of decisions of its own: what follows a decision is that player's next one, or the player's
        reward, whoever ends the game. A player's last decision before the rollout ends only gives its value to the one before.
        """
        value = self.value.numpy()
        plies, games, players = self.reward.shape
        lanes = np.arange(games)
        # By game and player, of the player's next decision: value, advantage, and whether the game's course is known up to there.
        next_value = np.zeros((games, players), np.float32)
        next_advantage = np.zeros((games, players), np.float32)
        known = np.zeros((games, players), np.bool_)
        reward = np.zeros((games, players), np.float32)
        advantages = np.zeros((plies, games), np.float32)
        learned = np.zeros((plies, games), np.bool_)
        for ply in reversed(range(plies)):
            done = self.done[ply]
            next_value[done] = next_advantage[done] = 0
            known[done] = True
            reward[done] = self.reward[ply, done]
            at = (lanes, self.player[ply])
            error = reward[at] + DISCOUNT * next_value[at] - value[ply]
            advantages[ply] = np.where(known[at], error + DISCOUNT * TRACE * next_advantage[at], 0)
            learned[ply] = known[at] & self.own[ply]
            next_value[at], next_advantage[at] = value[ply], advantages[ply]
            known[at], reward[at] = True, 0
        return advantages, learned


def improve(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    arguments: argparse.Namespace,
) -> dict[str, float]:
    """Some epochs of PPO's clipped objective on a rollout; means of what is worth knowing."""
    estimates, learned = rollout.advantages()
    rows = torch.from_numpy(np.flatnonzero(learned))
    if len(rows) < 2:
        raise SystemExit("nobody decides twice in a rollout: take more --plies")
    advantage = torch.from_numpy(estimates).flatten()[rows]
    target = advantage + rollout.value.flatten()[rows]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    observation = rollout.observation.flatten(0, 1)
    legal = legal_actions(rollout.mask.flatten(0, 1)[rows])
    place, log_prob = rollout.place.flatten()[rows], rollout.log_prob.flatten()[rows]
    sums: dict[str, float] = {}
    minibatches = 0
    for _ in range(arguments.epochs):
        for part in torch.randperm(len(rows)).split(arguments.minibatch):
            log_probs, value = network(observation[rows[part]], legal[part])
            change = log_probs.gather(-1, place[part, None]).squeeze(-1) - log_prob[part]
            ratio = change.exp()
            gain = torch.min(
                ratio * advantage[part], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[part]
            )
            value_loss = (value - target[part]).square().mean()
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            loss = -gain.mean() + VALUE * value_loss - arguments.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), MAX_NORM)
            optimizer.step()
            with torch.no_grad():
                seen = {
                    "policy_loss": -gain.detach().mean(),
                    "value_loss": value_loss,
                    "entropy": entropy,
                    "divergence": (ratio - 1 - change).mean(),
                    "clipped": ((ratio - 1).abs() > CLIP).float().mean(),
                }
            for name, number in seen.items():
                sums[name] = sums.get(name, 0.0) + number.item()
            minibatches += 1
    variance = float(target.var())
    unexplained = float((target - rollout.value.flatten()[rows]).var())
    return {
        **{name: total / minibatches for name, total in sums.items()},
        "explained": 1 - unexplained / variance if variance > 0 else 0.0,
    }


class Log:
    """A CSV file that is gone on with: lines from after `update` (of a run that was interrupted) are dropped."""

    def __init__(self, path: Path, update: int) -> None:
        self.path = path
        kept: list[dict[str, str]] = []
        if path.exists() and update:
            with path.open(newline="") as file:
                kept = [row for row in csv.DictReader(file) if int(row["update"]) <= update]
        path.unlink(missing_ok=True)
        for row in kept:
            self.write(row)

    def write(self, row: dict[str, Any]) -> None:
        """Append a line, after a header if it is the first."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)


def arrays_of(batch: BatchEnv) -> dict[str, npt.NDArray[np.uint8]]:
    """All arrays of a batch as bytes (views): the games, their chance and what is shown of them."""
    return {
        name: array.view(np.uint8)
        for name, array in vars(batch).items()
        if isinstance(array, np.ndarray)
    }


class Training:
    """A run: everything that a checkpoint holds, and what is done with it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = Path(arguments.folder)
        self.batch = make_batch(
            arguments.game, arguments.games, seed=arguments.seed, **arguments.options
        )
        self.updates = max(arguments.steps // (arguments.games * arguments.plies), 1)
        self.update = 0
        self.seconds = 0.0
        torch.manual_seed(arguments.seed)
        torch.set_num_threads(arguments.threads)
        self.network = Network(self.batch.game, arguments.width)
        self.past = Network(self.batch.game, arguments.width).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self.league: list[dict[str, Tensor]] = []
        self.rollout = Rollout(self.batch, arguments.plies)
        # In a share of the games one seat, another one in each, is the present policy's and the others a past self's.
        games = np.arange(arguments.games)
        self.seats = np.where(
            games < arguments.past * arguments.games, games % self.batch.num_players, -1
        )

    def settings(self) -> dict[str, Any]:
        """What must be the same when a run is gone on with."""
        free = (
            "folder",
            "resume",
            "threads",
            "opponents",
            "eval_games",
            "temperature",
            "evaluate_every",
            "checkpoint_every",
        )
        settings = {name: value for name, value in vars(self.arguments).items() if name not in free}
        return {**settings, "options": self.batch.options}

    def save(self) -> None:
        """Write the checkpoint: under another name first, so that there is always a whole one."""
        half = self.folder / "checkpoint.half"
        content = {
            "settings": self.settings(),
            "update": self.update,
            "seconds": self.seconds,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "league": self.league,
            "chance": torch.get_rng_state(),
            "batch": {
                name: torch.from_numpy(array) for name, array in arrays_of(self.batch).items()
            },
        }
        torch.save(content, half)
        os.replace(half, self.folder / "checkpoint.pt")

    def load(self) -> None:
        """Go on from the checkpoint; ValueError where its run had other settings."""
        content = torch.load(self.folder / "checkpoint.pt", weights_only=True)
        for name, value in self.settings().items():
            if content["settings"].get(name) != value:
                raise ValueError(
                    f"{self.folder} is of a run with {name}={content['settings'].get(name)!r}, not {value!r}"
                )
        self.update, self.seconds = content["update"], content["seconds"]
        self.network.load_state_dict(content["network"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.league = content["league"]
        torch.set_rng_state(content["chance"])
        for name, array in arrays_of(self.batch).items():
            array[...] = content["batch"][name].numpy()

    def learn(self) -> dict[str, Any]:
        """One update: a past self is drawn, a rollout played and learned from; the log's line."""
        begin, arguments = time.perf_counter(), self.arguments
        if self.update % arguments.past_every == 0:
            if len(self.league) == LEAGUE:
                # Any but the newest goes, so that some old ones stay.
                del self.league[int(torch.randint(LEAGUE - 1, ()))]
            self.league.append(
                {name: value.clone() for name, value in self.network.state_dict().items()}
            )
        self.past.load_state_dict(self.league[int(torch.randint(len(self.league), ()))])
        for group in self.optimizer.param_groups:
            group["lr"] = arguments.learning_rate * (1 - self.update / self.updates)
        self.rollout.play(self.batch, self.network, self.past, self.seats)
        seen = improve(self.network, self.optimizer, self.rollout, arguments)
        self.update += 1
        self.seconds += time.perf_counter() - begin
        lengths = self.rollout.lengths
        return {
            "update": self.update,
            "steps": self.update * arguments.games * arguments.plies,
            "seconds": round(self.seconds, 1),
            **{name: round(number, 6) for name, number in seen.items()},
            "games": len(lengths),
            "length": round(float(np.mean(lengths)), 1) if lengths else "",
        }

    def evaluate(self, opponent: str) -> dict[str, Any]:
        """Games against an opponent, the same deals at every evaluation, all seats in turn; the log's line."""
        played = arena.tournament(
            self.arguments.game,
            [PolicyAgent(self.network, self.arguments.temperature), opponent],
            self.arguments.eval_games,
            seed=self.arguments.seed + 2**32,  # other deals than the training's first
            options=self.batch.options,
            ratings=False,
        )
        count = played.pair("policy", opponent).count
        return {
            "update": self.update,
            "steps": self.update * self.arguments.games * self.arguments.plies,
            "seconds": round(self.seconds, 1),
            "opponent": opponent,
            "games": count.games,
            "wins": count.wins,
            "draws": count.draws,
            "losses": count.losses,
            "score": round(count.score or 0.0, 4),
            "low": round(count.low, 4),
            "high": round(count.high, 4),
        }

    def run(self) -> None:
        """Train to the end, with everything written down."""
        arguments = self.arguments
        there = (self.folder / "checkpoint.pt").exists()
        if arguments.resume and not there:
            raise SystemExit(f"{self.folder} has no checkpoint to --resume from")
        if there and not arguments.resume:
            raise SystemExit(f"{self.folder} holds a run: --resume it, or name another --folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        if arguments.resume:
            self.load()
        progress_log = Log(self.folder / "progress.csv", self.update)
        evaluation_log = Log(self.folder / "evaluation.csv", self.update)
        board = tensorboard(self.folder, self.update)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console()) as bar:
            task = bar.add_task(arguments.game, total=self.updates, completed=self.update, state="")
            while self.update < self.updates:
                row = self.learn()
                progress_log.write(row)
                if board:
                    for name, number in row.items():
                        if number != "":
                            board.add_scalar(f"training/{name}", number, row["steps"])
                speed = row["steps"] / max(self.seconds, 1e-9)
                state = f"{row['steps']:,} steps, {speed:,.0f}/s, entropy {row['entropy']:.2f}"
                bar.update(task, completed=self.update, state=state)
                last = self.update == self.updates
                if last or self.update % arguments.evaluate_every == 0:
                    for opponent in arguments.opponents:
                        result = self.evaluate(opponent)
                        evaluation_log.write(result)
                        if board:
                            board.add_scalar(f"score/{opponent}", result["score"], row["steps"])
                        bar.console.print(
                            f"{result['steps']:>9,} steps, {self.seconds:5.0f} s: {result['score']:6.1%} against "
                            f"{opponent} ({result['low']:.1%} to {result['high']:.1%}: +{result['wins']} "
                            f"={result['draws']} −{result['losses']})",
                            highlight=False,
                        )
                if last or self.update % arguments.checkpoint_every == 0:
                    self.save()
        if board:
            board.close()


def tensorboard(folder: Path, update: int) -> Any:
    """TensorBoard's writer, or None where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=update + 1)


def read_arguments() -> argparse.Namespace:
    """The command line, with the game's presets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("game", choices=registry.game_names())
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game")
    add("--seed", type=int, default=1)
    add("--steps", type=int, default=2_000_000, help="plies to play, in all games together")
    add("--games", type=int, default=256, help="games played at once")
    add("--plies", type=int, default=64, help="plies of each game between updates")
    add("--epochs", type=int, default=3)
    add("--minibatch", type=int, default=1024)
    add("--learning-rate", type=float, default=1e-3, help="falls to 0 over the run")
    add("--entropy", type=float, default=0.003, help="weight of the bonus for undecided play")
    add("--width", type=int, default=256, help="of the network's two layers")
    add("--past", type=float, default=0.25, help="share of the games against a past self")
    add("--past-every", type=int, default=10, help="updates from one past self to the next")
    add(
        "--opponents",
        nargs="*",
        default=["random", "greedy", "mcts:50"],
        help="to evaluate against",
    )
    add("--eval-games", type=int, default=100)
    add("--temperature", type=float, default=0.25, help="of the policy in evaluations")
    add("--evaluate-every", type=int, default=20, help="updates")
    add("--checkpoint-every", type=int, default=10, help="updates")
    add("--threads", type=int, default=os.cpu_count(), help="of PyTorch")
    add("--folder")
    add("--resume", action="store_true", help="go on from the folder's checkpoint")
    preset = dict(PRESETS[parser.parse_known_args()[0].game])
    options = preset.pop("options", {})
    parser.set_defaults(**preset)
    arguments = parser.parse_args()
    for text in arguments.option:
        name, _, value = text.partition("=")
        try:
            options = {**options, name: json.loads(value)}
        except ValueError:
            parser.error(f"--option {text!r} is not NAME=VALUE with a whole number, true or false")
    del arguments.option
    arguments.options = options
    for name, value in vars(arguments).items():
        number = isinstance(value, int | float) and name not in ("seed", "entropy", "past")
        if number and not isinstance(value, bool) and value <= 0:
            parser.error(f"--{name.replace('_', '-')} is more than 0, not {value}")
    for opponent in arguments.opponents:
        make_agent(opponent)  # ValueError now, not at the first evaluation
    arguments.folder = arguments.folder or f"runs/{arguments.game}"
    return arguments


if __name__ == "__main__":
    Training(read_arguments()).run()
