"""Flat Monte Carlo search against random play, in any of the games: what `clone` is for.

    python examples/monte_carlo.py meeples --games 2 --playouts 3

For each legal action the searcher plays some random games to their end and takes the action with
the best mean reward. It copies the game with `clone(hide_from=agent)`, so that it never looks at
what it cannot see.
"""

from __future__ import annotations

import argparse

import numpy as np

from tabletop_envs import training
from tabletop_envs.envs.aec import TabletopEnv


def legal_actions(env: TabletopEnv) -> np.ndarray:
    """The legal actions of the agent to move."""
    return env.action_mask().nonzero()[0]


def play_out(env: TabletopEnv, rng: np.random.Generator) -> dict[str, float]:
    """Random actions to the end of the game; everybody's rewards."""
    while not env.terminations["player_0"]:
        env.step(rng.choice(legal_actions(env)))
    return env.rewards


def search(env: TabletopEnv, playouts: int, rng: np.random.Generator) -> int:
    """The action with the best mean reward over `playouts` random games each."""
    agent = env.agent_selection
    actions = legal_actions(env)
    rewards = np.zeros(len(actions))
    for place, action in enumerate(actions):
        for _ in range(playouts):
            guess = env.clone(hide_from=agent, rng=rng)
            guess.step(action)
            rewards[place] += play_out(guess, rng)[agent]
    return int(actions[rewards.argmax()])


def play(name: str, playouts: int, seed: int) -> dict[str, float]:
    """One game of the searcher (`player_0`) against random play; everybody's rewards."""
    rng = np.random.default_rng(seed)
    env = TabletopEnv(name)
    env.reset(seed=seed)
    while not env.terminations["player_0"]:
        if env.agent_selection == "player_0":
            env.step(search(env, playouts, rng))
        else:
            env.step(rng.choice(legal_actions(env)))
    return dict(env.rewards)


def main() -> None:
    """Play some games and print the rewards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", type=training.game_argument)
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--playouts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for game in range(arguments.games):
        print(play(arguments.game, arguments.playouts, arguments.seed + game))


if __name__ == "__main__":
    main()
