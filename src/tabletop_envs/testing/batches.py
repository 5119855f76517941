"""Whether the engine's loops play what a kernel's functions play one by one: a batch and random play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tabletop_envs.envs.batch import BatchEnv
from tabletop_envs.game import Game, State, rewards_of_scores
from tabletop_envs.kernels import BY_LIMIT, RUNNING, rng
from tabletop_envs.testing.compiled import Rules
from tabletop_envs.testing.contract import Played

LANES = 3
MIN_STEPS, MAX_STEPS = 20, 2000


def check_engine(game: Game, options: Mapping[str, Any], seed: int) -> None:
    """Play a batch, every lane beside a single game, over the end of two games a lane; then the same by `rollout`."""
    played = [Played(game.name, options, seed + lane) for lane in range(LANES)]
    singles = [_Single(game, options, one) for one in played]
    batch, rolled = (BatchEnv(game, LANES, seed=seed, **dict(options)) for _ in range(2))
    games = plies = steps = 0
    while steps < MIN_STEPS or (games < 2 * LANES and steps < MAX_STEPS):
        for lane, single in enumerate(singles):
            single.compare_shown(batch, lane)
        actions = batch.sample_actions().copy()
        batch.step(actions)
        steps += 1
        for lane, single in enumerate(singles):
            single.step(int(actions[lane]))
            single.compare_result(batch, lane)
            if single.over:
                games += 1
                plies += len(single.played.actions)
                single.start()
    counts = rolled.rollout(steps)
    played[0].require(
        (counts.games, counts.plies) == (games, plies)
        and np.array_equal(rolled.observation, batch.observation)
        and np.array_equal(rolled.action_mask, batch.action_mask),
        "engine: BatchEnv.rollout plays what step and sample_actions play",
        f"{counts.games} games of {counts.plies} actions, not {games} of {plies}, or other positions",
    )


class _Single:
    """One game beside a lane of the batch, played by the kernel's functions alone."""

    def __init__(self, game: Game, options: Mapping[str, Any], played: Played) -> None:
        self.game = game
        self.played = played
        self.players = game.num_players(options)
        self.rules = Rules(game.kernel, played, allow_floats=True)
        self.kept = ("rng", *dict.fromkeys(("num_players", "max_plies", *options)))
        self.state: State = game.new_states(1, options)
        self.state["rng"] = rng.from_seed(np.uint64(played.seed))
        self.start()

    @property
    def over(self) -> bool:
        return bool(self.state["status"] != RUNNING)

    def start(self) -> None:
        self.played.actions.clear()
        self.state = self.rules.start(self.state, self.kept)

    def step(self, action: int) -> None:
        self.state = self.rules.step(self.state, action)
        self.played.actions.append(action)

    def compare_shown(self, batch: BatchEnv, lane: int) -> None:
        """Compare what the batch shows of a running game."""
        player = int(self.state["to_move"][0])
        size, bits = self.game.kernel.num_actions, self.game.kernel.word_bits
        words = self.rules.legal_actions(self.state)
        flags = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        mask = flags[:, :bits].reshape(-1)[:size].astype(np.bool_).tolist()
        self._compare("current_player", int(batch.current_player[lane]), player)
        self._compare("action_mask", batch.action_mask[lane].tolist(), mask)
        seen = self.rules.observe(self.state, player).tolist()
        self._compare("observation", batch.observation[lane].tolist(), seen)

    def compare_result(self, batch: BatchEnv, lane: int) -> None:
        """Compare what the batch says of the last step."""
        status = int(self.state["status"][0])
        scores = self.state["scores"][0][: self.players].tolist()
        self._compare("terminated", bool(batch.terminated[lane]), status != RUNNING)
        self._compare("by_limit", bool(batch.by_limit[lane]), status == BY_LIMIT)
        self._compare("scores", batch.scores[lane].tolist(), scores)
        self._compare("episode_length", int(batch.episode_length[lane]), int(self.state["ply"][0]))
        rewards = rewards_of_scores(scores) if self.over else [0.0] * self.players
        given = batch.rewards[lane].tolist()
        self.played.require(
            np.allclose(given, rewards, atol=1e-6) and abs(sum(given)) < 1e-6,
            "engine: rewards are zero before the end and have the sum zero",
            f"{given}, not {rewards}",
        )

    def _compare(self, name: str, given: Any, expected: Any) -> None:
        if given != expected:
            self.played.fail(
                f"engine: {name} of a batch is that of the single game", f"{given}, not {expected}"
            )
