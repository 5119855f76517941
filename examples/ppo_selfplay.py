"""Masked PPO by self-play: one policy plays all seats; in a share of the games it meets its past
selves, or the greedy agent.

    python examples/ppo_selfplay.py kirche
    python examples/ppo_selfplay.py tuerme --option num_players=3 --steps 2000000 --folder
    runs/tuerme3 python examples/ppo_selfplay.py kirche --resume

Needs `pip install -e ".[train]"` (PyTorch, rich).

What to expect, with `--threads 1` on one core (docs/training.md has the table of three seeds, and
curves): kirche with one house wins more than 99 % of its points against random and 70 to 75 %
against greedy after 800,000 steps, in four to five minutes; tuerme and meeples more than 97 %
against random after 250,000 steps, in three minutes, but in longer runs, too, only 20 to 40 %
against greedy.

Three things make it quick, each of them an argument to be switched off. The value is learned as
what is to be added to the heuristic's (`evaluation`), so that good actions show at once, though
rewards come only at the end: that is the same as shaping rewards by a potential, and changes no
optimum. In the first part of the run the policy also imitates the greedy agent (`--imitation 0`:
not at all). And the policy scores an action by what lies around its square, the same way all over
the board.

Into the folder (`runs/GAME` by default) it writes
- `progress.csv`: a line an update: losses, entropy, how far the policy moved, games and their mean
  length (`seconds` are those of training, without evaluations),
- `evaluation.csv`: a line for each opponent whenever the policy is evaluated: games, results, mean
  score and its 95 % interval,
- `checkpoint.pt`: everything there is, the arguments and the running games included. Ctrl-C writes
  it, too, as of the last whole update, and `--resume` continues; what comes out is, to the bit,
  what an undisturbed run gives. A checkpoint is checked before it is trusted
  (`tabletop_envs.training`), so one from somebody else may be evaluated or continued. Its path is
  the name of an agent: `tabletop-envs play kirche --opponent runs/kirche/checkpoint.pt`.

The network is `tabletop_envs.networks.ppo`; `--opponents` takes all names of `agents.make_agent`.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor, nn

from tabletop_envs import evaluation, make_batch, training
from tabletop_envs.agents.greedy import GreedyAgent
from tabletop_envs.arena import tournaments
from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import lane_seeds
from tabletop_envs.networks.policy import PolicyAgent, legal_actions
from tabletop_envs.networks.ppo import KIND, Network
from tabletop_envs.threads import MAX_THREADS

# What differs from game to game, where anything does; options on the command line go first.
PRESETS: dict[str, dict[str, Any]] = {
    "kirche": {"options": {"num_houses": 1}},
    # Games of 500 plies that begin together: each update is to see much of them.
    "tuerme": {"games": 128, "plies": 128},
    "meeples": {"local": 128, "reach": 3},
}
# From one decision of a player to that player's next (gamma and lambda).
DISCOUNT, GAE_LAMBDA = 0.99, 0.75
CLIP, VALUE, MAX_NORM = 0.2, 0.5, 0.5
LEAGUE = 10  # past selves that are kept
IMITATED = 0.4  # in this share of the run the weight of imitation falls to 0
# The arguments that may change when a run is resumed.
FREE = "threads opponents eval_games final_games temperature evaluate_every".split()
FREE += ["checkpoint_every"]
GREEDY = GreedyAgent()


class Rollout:
    """`plies` steps of every game of a batch: what was seen, done and got. All tensors begin with
    `(plies, games)`.
    """

    def __init__(self, batch: BatchEnv, plies: int) -> None:
        shape = (plies, batch.num_envs)
        self.observation = torch.zeros((*shape, batch.observation.shape[1]), dtype=torch.int8)
        self.mask = torch.zeros((*shape, batch.num_actions), dtype=torch.bool)
        self.place = torch.zeros(shape, dtype=torch.int64)  # of the action among the legal ones
        self.model = torch.zeros(shape, dtype=torch.int64)  # what the greedy agent would play
        self.log_prob = torch.zeros(shape)
        self.guess = torch.zeros(shape)  # the heuristic's value
        self.value = torch.zeros(shape)
        self.player = np.zeros(shape, np.int64)
        self.own = np.zeros(shape, np.bool_)  # whether the present policy chose, not a past self
        self.done = np.zeros(shape, np.bool_)
        self.reward = np.zeros((*shape, batch.num_players), np.float32)
        self.lengths: list[int] = []  # of the games that ended

    @torch.no_grad()
    def play(
        self,
        batch: BatchEnv,
        network: Network,
        past: Network,
        seats: npt.NDArray[np.int64],
        greedy: npt.NDArray[np.bool_],
        samplers: npt.NDArray[np.uint64],
    ) -> None:
        """Play on in all games.

        Args:
            batch: The games.
            network: The present policy.
            past: One of its past selves.
            seats: Which player of each game is the present policy; −1: all are.
            greedy: Whether the others are the greedy agent in each game; else they are the past
                self.
            samplers: A generator for each game, of the greedy agent's chance.
        """
        self.lengths.clear()
        lanes = np.arange(batch.num_envs)
        actions = torch.zeros(batch.num_envs, dtype=torch.int64)
        for ply in range(len(self.own)):
            self.observation[ply] = torch.from_numpy(batch.observation)
            self.mask[ply] = torch.from_numpy(batch.action_mask)
            self.player[ply] = batch.current_player
            self.own[ply] = (seats < 0) | (seats == batch.current_player)
            guesses = evaluation.values(batch.game, batch.states)[lanes, batch.current_player]
            self.guess[ply] = torch.from_numpy(guesses)
            model = self.model[ply].numpy()
            states, legal_bits = batch.states, batch.legal_bits
            GREEDY.choose_lanes(batch.game, states, legal_bits, samplers, lanes, model)
            actions[:] = self.model[ply]
            choosers = ((network, self.own[ply]), (past, ~self.own[ply] & ~greedy))
            for chooser, chosen in choosers:
                if chosen.any():
                    rows = torch.from_numpy(np.flatnonzero(chosen))
                    legal = legal_actions(self.mask[ply, rows])
                    log_probs, more = chooser(self.observation[ply, rows], legal)
                    place = torch.multinomial(log_probs.exp(), 1)
                    self.place[ply, rows] = place.squeeze(-1)
                    self.log_prob[ply, rows] = log_probs.gather(-1, place).squeeze(-1)
                    self.value[ply, rows] = self.guess[ply, rows] + more
                    actions[rows] = legal.gather(-1, place).squeeze(-1)
            batch.step(actions.numpy())
            self.done[ply] = batch.terminated  # by `max_plies` or otherwise: nothing follows
            self.reward[ply] = batch.rewards
            self.lengths += batch.episode_length[self.done[ply]].tolist()

    def advantages(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """Generalised advantage estimates `(plies, games)`, and which of them are to be learned
        from.

        Each player has a chain of decisions of its own: what follows a decision is that player's
            next one, or the player's
        reward, whoever ends the game. Where only one action is legal there is nothing to learn. A
        player's last decision before the rollout ends only gives its value to the one before.
        """
        value = self.value.numpy()
        plies, games, players = self.reward.shape
        lanes = np.arange(games)
        # By game and player, of the player's next decision: value, advantage, and whether the
        # game's course is known up to there.
        choice = self.mask.sum(-1).numpy() > 1
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
            advantages[ply] = np.where(
                known[at], error + DISCOUNT * GAE_LAMBDA * next_advantage[at], 0
            )
            learned[ply] = known[at] & self.own[ply] & choice[ply]
            next_value[at], next_advantage[at] = value[ply], advantages[ply]
            known[at], reward[at] = True, 0
        return advantages, learned


def improve(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    imitation: float,
    arguments: argparse.Namespace,
) -> dict[str, float]:
    """Some epochs on a rollout; means of what is worth knowing.

    The objective is PPO's clipped one, plus `imitation` times the log-probability of what the
    greedy agent would play.
    """
    estimates, learned = rollout.advantages()
    rows = torch.from_numpy(np.flatnonzero(learned))
    if len(rows) < 2:
        raise SystemExit("nobody decides twice in a rollout: take more --plies")
    advantage = torch.from_numpy(estimates).flatten()[rows]
    target = advantage + rollout.value.flatten()[rows]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    observation = rollout.observation.flatten(0, 1)
    legal = legal_actions(rollout.mask.flatten(0, 1)[rows])
    guess = rollout.guess.flatten()[rows]
    model = (legal == rollout.model.flatten()[rows, None]).byte().argmax(-1)
    place, log_prob = rollout.place.flatten()[rows], rollout.log_prob.flatten()[rows]
    sums: dict[str, float] = {}
    minibatches = 0
    for _ in range(arguments.epochs):
        for part in torch.randperm(len(rows)).split(arguments.minibatch):
            log_probs, more = network(observation[rows[part]], legal[part])
            change = log_probs.gather(-1, place[part, None]).squeeze(-1) - log_prob[part]
            ratio = change.exp()
            gain = torch.min(
                ratio * advantage[part], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[part]
            )
            value_loss = (guess[part] + more - target[part]).square().mean()
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            likeness = log_probs.gather(-1, model[part, None]).mean()
            loss = -gain.mean() + VALUE * value_loss
            loss = loss - arguments.entropy * entropy - imitation * likeness
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), MAX_NORM)
            optimizer.step()
            with torch.no_grad():
                seen = {
                    "policy_loss": -gain.detach().mean(),
                    "value_loss": value_loss,
                    "entropy": entropy,
                    "likeness": likeness,
                    "approx_kl": (ratio - 1 - change).mean(),
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
        shape = (self.batch.game, arguments.width, arguments.local, arguments.reach)
        self.network, self.past = Network(*shape), Network(*shape).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self.league: list[dict[str, Tensor]] = []
        self.rollout = Rollout(self.batch, arguments.plies)
        # In a share of the games one seat, another one in each, is the present policy's and the
        # others are somebody else's.
        games = np.arange(arguments.games)
        others = games < (arguments.greedy + arguments.past) * arguments.games
        self.seats = np.where(others, games % self.batch.num_players, -1)
        self.greedy = games < arguments.greedy * arguments.games
        self.samplers = lane_seeds(arguments.seed, arguments.games)
        self.folder.mkdir(parents=True, exist_ok=True)
        if arguments.resume:
            self.load()
        self.progress = training.Log(self.folder / "progress.csv", self.update)
        self.evaluation = training.Log(self.folder / "evaluation.csv", self.update)
        self.keep()

    def keep(self) -> None:
        """Remember everything as it is now, for `save`."""
        self.kept: dict[str, Any] = copy.deepcopy(
            {
                "settings": training.settings(self.arguments),
                "update": self.update,
                "seconds": self.seconds,
                "network": self.network.state_dict(),
                "optimizer": self.optimizer.state_dict()["state"],
                "league": self.league,
                "samplers": self.samplers.tolist(),
                "batch": self.batch,
            }
        )

    def save(self) -> None:
        """Write what was kept."""
        content = {**self.kept, "batch": self.kept["batch"].get_state()}
        training.save(content, self.folder / training.CHECKPOINT, KIND)

    def load(self) -> None:
        """Continue from the checkpoint; ValueError, naming file and place, for what this program
        cannot have written.
        """
        path = self.folder / training.CHECKPOINT
        content = training.load(path, KIND)
        content.pop("settings", None)  # were read with the command line
        try:
            games, optimizer = content.pop("batch", None), content.pop("optimizer", None)
            network = self.network.state_dict()
            like = {"update": 0, "seconds": 0.0, "network": network, "league": [network]}
            taken = training.take(content, {**like, "samplers": [0]}, "content")
            training.require_range(taken["update"], 0, self.updates, "update")
            training.require_range(taken["seconds"], 0, 2**40, "seconds")
            training.require_range(
                len(taken["league"]), min(taken["update"], 1), LEAGUE, "the number of past selves"
            )
            self.samplers = lane_seeds(taken["samplers"], self.arguments.games)
            training.take_adam(self.optimizer, optimizer, "optimizer")
            self.batch.set_state(games)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from None
        self.update, self.seconds, self.league = (
            taken[name] for name in ("update", "seconds", "league")
        )
        self.network.load_state_dict(taken["network"])

    def learn(self) -> dict[str, Any]:
        """One update: a past self is drawn, a rollout played and learned from; the log's line."""
        begin, arguments = time.perf_counter(), self.arguments
        # So an update's random numbers depend on nothing but the seed and its number.
        torch.manual_seed(draw_seed(arguments.seed, self.update))
        if self.update % arguments.past_every == 0:
            if len(self.league) == LEAGUE:
                # Any but the newest goes, so that some old ones stay.
                del self.league[int(torch.randint(LEAGUE - 1, ()))]
            self.league.append(
                {name: value.clone() for name, value in self.network.state_dict().items()}
            )
        self.past.load_state_dict(self.league[int(torch.randint(len(self.league), ()))])
        done = self.update / self.updates
        for group in self.optimizer.param_groups:
            group["lr"] = arguments.learning_rate * (1 - done)
        imitation = arguments.imitation * max(1 - done / IMITATED, 0)
        players = (self.network, self.past, self.seats, self.greedy, self.samplers)
        self.rollout.play(self.batch, *players)
        seen = improve(self.network, self.optimizer, self.rollout, imitation, arguments)
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

    def evaluate(self, opponent: str, games: int) -> dict[str, Any]:
        """Games against an opponent, the same deals at every evaluation, all seats in turn; the
        log's line.
        """
        played = tournaments.tournament(
            self.arguments.game,
            [PolicyAgent(self.network, self.arguments.temperature), opponent],
            games,
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
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console()) as bar:
            task = bar.add_task(arguments.game, total=self.updates, completed=self.update, state="")
            try:
                while self.update < self.updates:
                    row = self.learn()
                    self.progress.write(row)
                    speed = row["steps"] / max(self.seconds, 1e-9)
                    state = f"{row['steps']:,} steps, {speed:,.0f}/s, entropy {row['entropy']:.2f}"
                    bar.update(task, completed=self.update, state=state)
                    last = self.update == self.updates
                    if last or self.update % arguments.evaluate_every == 0:
                        games = arguments.final_games if last else arguments.eval_games
                        self.evaluate_all(games, bar.console)
                    self.keep()
                    if last or self.update % arguments.checkpoint_every == 0:
                        self.save()
            except KeyboardInterrupt:
                self.save()
                where = f"saved as after {self.kept['update']} updates: --resume continues"
                raise SystemExit(f"interrupted; {self.folder} is {where}") from None

    def evaluate_all(self, games: int, console: Console) -> None:
        """Games against every opponent, noted and printed."""
        for opponent in self.arguments.opponents:
            result = self.evaluate(opponent, games)
            self.evaluation.write(result)
            console.print(
                f"{result['steps']:>9,} steps, {self.seconds:5.0f} s: {result['score']:6.1%} "
                f"against {opponent} ({result['low']:.1%} to {result['high']:.1%}: "
                f"+{result['wins']} ={result['draws']} −{result['losses']})",
                highlight=False,
            )


def draw_seed(*numbers: int) -> int:
    """A seed that depends on these numbers alone."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line, with the game's presets."""
    parser = training.make_parser(__doc__.splitlines()[0])
    add = parser.add_argument
    add("--seed", type=int, default=1)
    add("--steps", type=int, default=2_000_000, help="plies to play, in all games together")
    add("--games", type=int, default=256, help="games played at once")
    add("--plies", type=int, default=64, help="plies of each game between updates")
    add("--epochs", type=int, default=3)
    add("--minibatch", type=int, default=512)
    add("--learning-rate", type=float, default=1e-3, help="falls to 0 over the run")
    add("--entropy", type=float, default=0.003, help="weight of the bonus for undecided play")
    add("--width", type=int, default=256, help="of the network's two layers")
    add("--reach", type=int, default=2, help="how far it looks around an action's squares")
    add("--local", type=int, default=64, help="numbers that it makes of that")
    add("--past", type=float, default=0.1, help="share of the games against a past self")
    add("--greedy", type=float, default=0.4, help="share of the games against the greedy agent")
    add("--imitation", type=float, default=1.0, help="weight of imitating it, at the beginning")
    add("--past-every", type=int, default=10, help="updates from one past self to the next")
    add(
        "--opponents",
        nargs="*",
        default=["random", "greedy", "mcts:50"],
        help="to evaluate against",
    )
    add("--eval-games", type=int, default=100, help="games an evaluation and opponent")
    add("--final-games", type=int, default=400, help="games of the last evaluation")
    add("--temperature", type=float, default=0.25, help="of the policy in evaluations")
    add("--evaluate-every", type=int, default=20, help="updates")
    add("--checkpoint-every", type=int, default=10, help="updates")
    add("--threads", type=int, default=os.cpu_count(), help="of PyTorch")
    arguments = training.read_arguments(
        parser, words, PRESETS, "runs/{}", free=FREE, agents=("opponents",)
    )
    for name, value in vars(arguments).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or name == "seed":
            continue
        if value < 0 or (value == 0 and name not in ("entropy", "past", "greedy", "imitation")):
            parser.error(f"--{name.replace('_', '-')} is too small: {value}")
    if not 0 <= arguments.seed < 2**63 or arguments.threads > MAX_THREADS:
        parser.error(f"--seed must be below 2**63, --threads at most {MAX_THREADS}")
    if arguments.past + arguments.greedy > 1:
        parser.error("--past and --greedy are shares of the games: more than 1 together")
    return arguments


def main() -> None:
    """Run by the command line."""
    arguments = read_arguments()
    try:
        run = Training(arguments)
    except (MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"ppo_selfplay.py: {error}".splitlines()[0], file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit("interrupted before the first update") from None
    run.run()


if __name__ == "__main__":
    main()
