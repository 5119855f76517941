"""RLlib's PPO learns a game against random play, on the batch engine, in one process.

    python examples/rllib_ppo.py                                   # kirche with one house
    python examples/rllib_ppo.py tuerme --opponent greedy --iterations 100

Needs `pip install -e ".[rllib]"`. After each iteration it prints the learner's mean result: around
0 for random play (in kirche many draws), 1 for winning always.
"""

from __future__ import annotations

import argparse
from typing import Any

from ray.rllib.algorithms.ppo import PPOConfig

from tabletop_envs import training
from tabletop_envs.adapters import rllib


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="kirche", type=training.game_argument)
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--batch", type=int, default=4_096, help="steps an iteration")
    arguments = parser.parse_args()
    options: dict[str, Any] = {"num_houses": 1} if arguments.game == "kirche" else {}
    name = rllib.register(arguments.game, opponents=arguments.opponent, **options)
    config = (
        PPOConfig()
        .environment(name)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=64,
            gym_env_vectorize_mode="vector_entry_point",  # all 64 in one batch
        )
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=arguments.batch,
            minibatch_size=512,
            num_epochs=3,
            lr=1e-3,
            entropy_coeff=0.01,
        )
        .rl_module(rl_module_spec=rllib.masked_module(fcnet_hiddens=[128, 128]))
        .debugging(seed=1)
    )
    algorithm = config.build_algo()
    for iteration in range(1, arguments.iterations + 1):
        result = algorithm.train()["env_runners"]
        print(
            f"iteration {iteration}: mean result {result.get('episode_return_mean', 0.0):+.2f} "
            f"against {arguments.opponent}"
        )
    algorithm.stop()


if __name__ == "__main__":
    main()
