"""The network of examples/ray_selfplay.py: two dense layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from tabletop_envs import training
from tabletop_envs.game import Game
from tabletop_envs.networks.policy import (
    PolicyAgent,
    input_scale,
    legal_actions,
    take_network,
)

__all__ = ["KIND", "Network", "make_agent"]

KIND = "ray_selfplay"
TEMPERATURE = 0.25
# What `make_agent` builds a network of at most.
MAX_WIDTH = 2**14


class Network(nn.Module):
    """Policy and values, two layers shared: observations `int8 (B, L)` → logits `(B, n)` and values
    `(B, P)`.

    The values are every player's expected result, the player to move first.
    """

    def __init__(self, game: Game, num_players: int, width: int) -> None:
        super().__init__()
        self.game = game
        self.register_buffer("scale", input_scale(game), persistent=False)
        self.first = nn.Linear(game.kernel.observation_size, width)
        self.second = nn.Linear(width, width)
        self.policy = nn.Linear(width, game.kernel.num_actions)
        self.value = nn.Linear(width, num_players)
        gains = {self.first: 2**0.5, self.second: 2**0.5, self.policy: 0.01, self.value: 0.1}
        for layer, gain in gains.items():
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        hidden = self.first(observation * self.scale).relu()
        hidden = self.second(hidden).relu()
        return self.policy(hidden), self.value(hidden).tanh()

    def choices(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `PolicyAgent`."""
        legal = legal_actions(mask)
        logits = self(observation)[0].gather(-1, legal.clamp(min=0))
        return legal, logits.masked_fill(legal < 0, -1e9).log_softmax(-1)


def make_agent(
    content: Mapping[str, Any], settings: Mapping[str, Any], temperature: float | None = None
) -> PolicyAgent:
    """The agent of a checkpoint's content: the network by itself, without search.

    Args:
        content: The content, not to be trusted.
        settings: Its settings, with the `game`.
        temperature: Of the choices; None: that of the run's evaluations.

    Raises:
        ValueError: For what cannot be a checkpoint of this network.
    """
    temperature = TEMPERATURE if temperature is None else temperature
    training.require_range(temperature, 1e-3, 1e3, "temperature")
    game: Game = settings["game"]
    training.take(settings.get("width"), 0, "width")
    training.require_range(settings["width"], 1, MAX_WIDTH, "width")
    options = training.take(settings.get("options"), game.parse_options({}), "options")
    players = game.num_players(game.parse_options(options))
    network = take_network(lambda: Network(game, players, settings["width"]), content, "network")
    return PolicyAgent(network, float(temperature))
