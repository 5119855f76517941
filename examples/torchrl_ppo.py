"""TorchRL's PPO learns a game against random play, on the batch engine.

    python examples/torchrl_ppo.py                                   # kirche with one house
    python examples/torchrl_ppo.py tuerme --opponent greedy --frames 1000000

Needs `pip install -e ".[torchrl]"`. After each batch it prints the learner's mean result in the
games that ended. In kirche with one house it was 0.05 to 0.11 after 25,000 to 33,000 frames, which
took 17 seconds of one core. Where other programs use the cores, set `OMP_NUM_THREADS=1`: PyTorch's
threads waiting for each other took eight times as much.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torch.nn import LazyLinear, ReLU, Sequential
from torchrl.collectors import Collector
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from tabletop_envs import training
from tabletop_envs.adapters.torchrl import TabletopEnv

GAMES, STEPS = 64, 64  # played at once, and how far between updates


def network(size: int) -> Sequential:
    """Two layers, whose inputs get their sizes from the first batch."""
    return Sequential(LazyLinear(128), ReLU(), LazyLinear(128), ReLU(), LazyLinear(size))


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="kirche", type=training.game_argument)
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--frames", type=int, default=100_000)
    arguments = parser.parse_args()
    options: dict[str, Any] = {"num_houses": 1} if arguments.game == "kirche" else {}
    torch.manual_seed(1)
    env = TabletopEnv(arguments.game, GAMES, opponents=arguments.opponent, seed=1, **options)
    policy = ProbabilisticActor(
        TensorDictModule(network(env.num_actions), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(network(1), ["observation"])
    first = env.reset()
    policy(first), critic(first)  # gives the layers their sizes
    gae = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(policy, critic)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    collector = Collector(
        env, policy, frames_per_batch=GAMES * STEPS, total_frames=arguments.frames
    )
    for number, data in enumerate(collector, 1):
        gae(data)
        for _ in range(2):
            for minibatch in data.reshape(-1)[torch.randperm(data.numel())].split(512):
                losses = loss(minibatch)
                sum(value for key, value in losses.items() if key.startswith("loss_")).backward()
                optimizer.step()
                optimizer.zero_grad()
        results = data["next", "reward"][data["next", "done"]]
        print(
            f"{number * GAMES * STEPS:>7} frames: mean result {results.mean():+.2f} "
            f"in {len(results)} games against {arguments.opponent}"
        )
    collector.shutdown()


if __name__ == "__main__":
    main()
