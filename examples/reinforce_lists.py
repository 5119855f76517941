"""REINFORCE by self-play that never looks at an illegal action: lists instead of masks.

    python examples/reinforce_lists.py tuerme
    python examples/reinforce_lists.py tuerme --dense     # the same with masks
    python examples/reinforce_lists.py tuerme --compare   # a few updates of both, timed

Needs `pip install -e ".[train]"` (PyTorch).

Of the 2465 actions of tuerme some 70 are legal at a time. The product that gives all logits costs
little; a softmax over all of them, its entropy, its gradient and a draw from it do not. With
`batch.legal_actions()` these look at the legal actions alone. `ListCategorical` is the distribution
to copy: what a `MaskedCategorical` does, without the zeros. Both ways have the same probabilities
and gradients (tests/examples/test_reinforce_lists.py).

What to expect: with lists an update of tuerme takes a fifth of the time (docs/training.md), and
after 50 updates the policy's mean reward against random play is above +0.5, in games of 100
actions. This is the plainest algorithm there is: `ppo_selfplay.py` is the one that plays well.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tabletop_envs import make_batch, registry
from tabletop_envs.game import Game

# With few houses short games are decided.
OPTIONS: dict[str, dict[str, Any]] = {"kirche": {"num_houses": 1}}


class ListCategorical:
    """One categorical distribution a row, over the actions that the row lists.

    Args:
        logits: `float (K,)`, of all listed actions, row after row.
        offsets: `int64 (B + 1,)`: row `i` has the places `offsets[i]` to `offsets[i + 1] − 1`, at
            least one.

    An outcome is a place in the lists, `int64 (B,)`: `actions[place]` is the action.
    """

    def __init__(self, logits: Tensor, offsets: Tensor) -> None:
        lengths = offsets.diff()
        self.offsets = offsets
        self.rows = torch.repeat_interleave(lengths)
        highest = torch.segment_reduce(logits.detach(), "max", lengths=lengths)
        logits = logits - highest[self.rows]
        self.log_probs = logits - self._sums(logits.exp()).log()[self.rows]

    def _sums(self, values: Tensor) -> Tensor:
        return values.new_zeros(len(self.offsets) - 1).index_add(0, self.rows, values)

    def sample(self) -> Tensor:
        """A place for each row."""
        # Each row's probabilities sum to 1, so those of row i fill the numbers from i to i + 1.
        sums = self.log_probs.detach().double().exp().cumsum(0)
        row = torch.arange(len(self.offsets) - 1)
        places = torch.searchsorted(sums, row + torch.rand(len(row), dtype=torch.double))
        return places.clamp(self.offsets[:-1], self.offsets[1:] - 1)  # sums are rounded

    def log_prob(self, places: Tensor) -> Tensor:
        """The logarithm of each row's probability of a place, `(B,)`."""
        return self.log_probs[places]

    def entropy(self) -> Tensor:
        """Each row's entropy, `(B,)`."""
        return -self._sums(self.log_probs * self.log_probs.exp())


class Policy(nn.Module):
    """Two layers, and a vector for each action."""

    def __init__(self, game: Game, width: int = 128) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(game.kernel.observation_size, width), nn.ReLU())
        self.actions = nn.Embedding(game.kernel.num_actions, width)
        nn.init.normal_(self.actions.weight, std=0.1 / width**0.5)

    def lists(self, observation: Tensor, actions: Tensor, offsets: Tensor) -> ListCategorical:
        """The policy for observations `(B, L)` over lists of legal actions."""
        rows = torch.repeat_interleave(offsets.diff())
        logits = self.body(observation.float()) @ self.actions.weight.T
        places = rows * logits.shape[1] + actions
        return ListCategorical(logits.view(-1).gather(0, places), offsets)

    def dense(self, observation: Tensor, mask: Tensor) -> torch.distributions.Categorical:
        """The same over masks `(B, n)`; outcomes are actions."""
        logits = self.body(observation.float()) @ self.actions.weight.T
        logits = logits.masked_fill(~mask, -1e9)
        return torch.distributions.Categorical(logits=logits, validate_args=False)


class Reinforce:
    """Rollouts of `plies` actions in `games` games, and an update after each."""

    def __init__(self, name: str, dense: bool, games: int = 64, plies: int = 128) -> None:
        torch.manual_seed(1)
        # Games end within a rollout, so that most actions have a result.
        options = {"max_plies": min(100, plies), **OPTIONS.get(name, {})}
        self.batch = make_batch(name, games, seed=1, **options)
        self.dense, self.plies = dense, plies
        self.policy = Policy(self.batch.game)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), 1e-3)

    def legal(self) -> tuple[Tensor, ...]:
        """The legal actions as the policy takes them: a mask, or actions and offsets."""
        if self.dense:
            return (torch.tensor(self.batch.action_mask),)
        return tuple(map(torch.from_numpy, self.batch.legal_actions()))

    def distribution(self, observation: Tensor, legal: tuple[Tensor, ...]) -> Any:
        """The policy at some positions."""
        return (self.policy.dense if self.dense else self.policy.lists)(observation, *legal)

    def play(self) -> tuple[Tensor, ...]:
        """A rollout: what was seen, what was legal, what was chosen, and how it ended."""
        batch, steps, rewards, ends = self.batch, [], [], []
        for _ in range(self.plies):
            observation, legal = torch.tensor(batch.observation), self.legal()
            with torch.no_grad():
                chosen = self.distribution(observation, legal).sample()
            steps.append((observation, legal, chosen, batch.current_player.astype(np.int64)))
            batch.step((chosen if self.dense else legal[0][chosen]).numpy())
            rewards.append(batch.rewards.copy())
            ends.append(batch.terminated.copy())
        result, results = np.zeros_like(rewards[0]), []
        for reward, over, (*_, player) in zip(rewards[::-1], ends[::-1], steps[::-1], strict=True):
            result = np.where(over[:, None], reward, result)  # 0 in games that are not over yet
            results.append(result[np.arange(len(player)), player])
        observations, legals, chosens, _ = zip(*steps, strict=True)
        joined = tuple(map(torch.cat, zip(*legals, strict=True)))
        if not self.dense:
            # One list after the other: offsets and places begin where the last one ends.
            begins = np.cumsum([0, *(len(actions) for actions, _ in legals)])
            lengths = torch.cat([offsets.diff() for _, offsets in legals])
            joined = (joined[0], torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]))
            chosens = tuple(c + int(b) for c, b in zip(chosens, begins[:-1], strict=True))
        outcome = torch.from_numpy(np.concatenate(results[::-1]))
        return (torch.cat(observations), *joined, torch.cat(chosens), outcome)

    def update(self) -> tuple[float, float]:
        """A rollout and a step along its gradient: the entropy before it, and seconds."""
        begin = time.perf_counter()
        observation, *legal, chosen, outcome = self.play()
        policy = self.distribution(observation, tuple(legal))
        entropy = policy.entropy().mean()
        loss = -(policy.log_prob(chosen) * outcome).mean() - 0.003 * entropy
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return entropy.item(), time.perf_counter() - begin


def score(run: Reinforce, games: int = 200) -> float:
    """The policy's mean reward against random play, every seat in turn."""
    options: dict[str, Any] = run.batch.options
    run.batch = make_batch(run.batch.game.name, games, seed=2, **options)
    seats, total = np.arange(games) % run.batch.num_players, np.zeros(games)
    running = np.ones(games, np.bool_)
    while running.any():
        legal = run.legal()
        with torch.no_grad():
            chosen = run.distribution(torch.tensor(run.batch.observation), legal).sample()
        own = (chosen if run.dense else legal[0][chosen]).numpy()
        random = run.batch.sample_actions()
        run.batch.step(np.where(run.batch.current_player == seats, own, random))
        total += run.batch.rewards[np.arange(games), seats] * running
        running &= ~run.batch.terminated
    return float(total.mean())


def main() -> None:
    """Run by the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=registry.game_names())
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--games", type=int, default=64, help="played at once")
    parser.add_argument("--plies", type=int, default=128, help="of every game, an update")
    parser.add_argument("--dense", action="store_true", help="masks instead of lists")
    parser.add_argument("--compare", action="store_true", help="time both for a few updates")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    size = (arguments.games, arguments.plies)
    if arguments.compare:
        runs = {dense: Reinforce(arguments.game, dense, *size) for dense in (False, True)}
        # In turn, so that a busy machine slows both; the first of each compiles.
        seconds = dict.fromkeys(runs, np.inf)
        for update in range(6):
            for dense, run in runs.items():
                took = run.update()[1]
                seconds[dense] = min(seconds[dense], took) if update else np.inf
        print(f"lists {seconds[False]:.2f} s an update, masks {seconds[True]:.2f} s:", end=" ")
        print(f"{seconds[True] / seconds[False]:.1f} times as fast")
        return
    run = Reinforce(arguments.game, arguments.dense, *size)
    for update in range(1, arguments.updates + 1):
        entropy, took = run.update()
        if update % 10 == 0 or update == arguments.updates:
            print(f"update {update}: entropy {entropy:.2f}, {took:.2f} s", flush=True)
    print(f"mean reward against random play: {score(run):+.2f}")


if __name__ == "__main__":
    main()
