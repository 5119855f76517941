"""What the networks share: scaled inputs, lists of legal actions, an agent that draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tabletop_envs import training
from tabletop_envs.agents import GameAgent
from tabletop_envs.agents.agent import observe_to_move
from tabletop_envs.game import Game, State

__all__ = ["PolicyAgent", "input_scale", "legal_actions", "require_game"]


def legal_actions(mask: Tensor) -> Tensor:
    """The legal actions of masks `bool (B, n)`: `int64 (B, K)`, each row filled up with −1.

    Some dozens of actions are legal, of thousands: probabilities of these alone are several times
    faster.
    """
    rows, actions = mask.nonzero(as_tuple=True)
    counts = mask.sum(-1)
    places = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
    legal = torch.full((len(mask), int(counts.max())), -1)
    legal[rows, places] = actions
    return legal


def input_scale(game: Game) -> Tensor:
    """What brings every number of an observation to at most 1, `float32 (L,)`."""
    low, high = game.bounds()
    largest = np.maximum(np.abs(low.astype(int)), np.abs(high.astype(int))).clip(1)
    return torch.tensor(1 / largest, dtype=torch.float32)


def take_network(make: Callable[[], nn.Module], content: Mapping[str, Any], name: str) -> nn.Module:
    """A network with the weights that a checkpoint's content, not to be trusted, has as `name`.

    ValueError for weights that are not those of the network that `make` makes.
    """
    with torch.device("meta"):  # of any size, without memory
        like = make().state_dict()
    weights = training.take(content.get(name), like, name)
    network = make()
    network.load_state_dict(weights)
    return network


class PolicyAgent(GameAgent):
    """A network as an agent: it draws actions by their probabilities to the power 1/temperature.

    Args:
        network: Its method `choices(observation, mask)` takes `int8 (B, L)` and `bool (B, n)` and
            gives the legal actions `int64 (B, K)`, rows filled up with −1, and the logarithms of
            their probabilities `(B, K)`. `network.game` is its game.
        temperature: Above 0; small ones take the most probable action nearly always.
    """

    name = "policy"

    def __init__(self, network: Any, temperature: float) -> None:
        self.network = network
        self.temperature = temperature

    @torch.no_grad()
    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`. ValueError for another game than the network's."""
        require_game(self.network.game, game)
        observation, mask = observe_to_move(game, states, legal_bits, lanes)
        legal, log_probs = self.network.choices(
            torch.from_numpy(observation), torch.from_numpy(mask)
        )
        weights = (log_probs.double() / self.temperature).softmax(-1).numpy()
        for row, lane in enumerate(lanes.tolist()):
            rng = np.random.default_rng(rngs[lane])
            place = rng.choice(len(weights[row]), p=weights[row])
            actions[lane] = legal[row, place]
            rngs[lane] = rng.integers(2**64, dtype=np.uint64)


def require_game(trained: Game, game: Game) -> None:
    """ValueError, naming both, where a network is to play another game than it was trained for."""
    if game.name != trained.name:
        raise ValueError(f"the network was trained for {trained.name}: it cannot play {game.name}")
