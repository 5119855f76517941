"""sb3-contrib's MaskablePPO learns a game against random play, on the batch engine.

    python examples/sb3_maskable_ppo.py                                   # kirche with one house
    python examples/sb3_maskable_ppo.py tuerme --opponent greedy --steps 1000000

Needs `pip install -e ".[sb3]"`. It prints Stable-Baselines3's tables (`ep_rew_mean` is the mean
result, 0 for random play) and at the end the results of games against the same opponent. In kirche
with one house it wins more than half of them from some 60,000 steps on; the other games need longer
runs.
"""

from __future__ import annotations

import argparse

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from torch.distributions import Distribution

from tabletop_envs import training
from tabletop_envs.adapters import sb3


def main() -> None:
    """Train, then play."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="kirche", type=training.game_argument)
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--games", type=int, default=400, help="to play at the end")
    arguments = parser.parse_args()
    options = {"num_houses": 1} if arguments.game == "kirche" else {}

    def make(num_envs: int, seed: int) -> sb3.TabletopVecEnv:
        return sb3.make_vec_env(
            arguments.game, num_envs, opponents=arguments.opponent, seed=seed, **options
        )

    # PyTorch's checks of a thousand probabilities take longer than learning from them.
    Distribution.set_default_validate_args(False)
    model = MaskablePPO(
        "MlpPolicy",
        make(64, seed=1),
        n_steps=64,
        batch_size=512,
        n_epochs=3,
        learning_rate=1e-3,
        gamma=0.98,
        verbose=1,
        seed=1,
        device="cpu",
    )
    model.learn(arguments.steps)
    returns, _ = evaluate_policy(
        *(model, make(50, seed=10_000), arguments.games),
        deterministic=False,
        return_episode_rewards=True,
    )
    print(
        f"against {arguments.opponent}: {returns.count(1.0)} wins, {returns.count(0.0)} draws, "
        f"{returns.count(-1.0)} losses"
    )


if __name__ == "__main__":
    main()
