"""The network of examples/alphazero.py, and the search that plays by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from tabletop_envs import training
from tabletop_envs.agents import GameAgent
from tabletop_envs.game import Game, State
from tabletop_envs.networks.policy import input_scale, require_game, take_network
from tabletop_envs.search import PUCT, BatchResult

__all__ = ["KIND", "Network", "SearchAgent", "make_agent", "search"]

KIND = "alphazero"
SEARCH: dict[str, Any] = {"c_puct": 1.5, "fpu_reduction": 0.1}
# What `make_agent` builds a network of at most.
LARGEST = {"channels": 2**12, "blocks": 2**8}
MAX_SIMULATIONS = 2**16


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, planes: Tensor) -> Tensor:
        """Planes `(B, C, rows, columns)` to as many."""
        change = self.second(self.first(planes).relu_())
        return (planes + change).relu_()


class Network(nn.Module):
    """A small residual network over the board: policy, and every player's value.

    Called with observations `int8 (B, L)` and masks `bool (B, n)` it gives logits `(B, n)` (of all
    actions, illegal ones too) and values from −1 to 1 `(B, players)`, beginning with the player in
    turn. It sees the parts of an observation that are planes of the board, and the mask in planes
    too, which tells it where pieces can go; all other parts but `ply` (no position is better for
    being late) are numbers that shift the first layer. Actions are planes of the board and some
    more: each game numbers them `plane * squares + square`.
    """

    def __init__(self, game: Game, players: int, channels: int, blocks: int) -> None:
        super().__init__()
        self.game, self.players = game, players
        self.register_buffer("scale", input_scale(game), persistent=False)
        parts = game.observation
        boards = [part.shape[1:] for part in parts.values() if len(part.shape) == 3]
        if not boards:
            raise ValueError(f"{game.name} must have planes in its observation for this network")
        self.board = boards[0]
        columns: dict[bool, list[int]] = {True: [], False: []}
        for name, part in parts.items():
            if name != "ply":
                columns[part.shape[1:] == self.board] += range(part.slice.start, part.slice.stop)
        self.register_buffer("on_board", torch.tensor(columns[True]), persistent=False)
        self.register_buffer(
            "numbers", torch.tensor(columns[False], dtype=torch.int64), persistent=False
        )
        self.squares = self.board[0] * self.board[1]
        self.planes, others = divmod(game.kernel.num_actions, self.squares)
        inputs = len(columns[True]) // self.squares + self.planes
        self.first = nn.Conv2d(inputs, channels, 3, padding=1, bias=False)
        self.shift = nn.Linear(len(columns[False]) + others, channels)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(blocks)))
        self.policy = nn.Conv2d(channels, self.planes, 1) if self.planes else None
        self.others = nn.Linear(channels, others) if others else None
        self.value_planes = nn.Conv2d(channels, 8, 1)
        self.value_hidden = nn.Linear(8 * self.squares + channels, 64)
        self.value = nn.Linear(64, players)
        for layer in (self.policy, self.others, self.value):
            if layer:
                nn.init.zeros_(layer.bias)
                nn.init.normal_(layer.weight, std=0.01)
        self.to(memory_format=torch.channels_last)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        seen = observation * self.scale
        moves = mask.to(seen.dtype)
        split = self.planes * self.squares
        planes = torch.cat((seen[:, self.on_board], moves[:, :split]), 1)
        planes = planes.view(len(planes), -1, *self.board)
        planes = planes.contiguous(memory_format=torch.channels_last)
        shift = self.shift(torch.cat((seen[:, self.numbers], moves[:, split:]), 1))
        planes = self.blocks((self.first(planes) + shift[:, :, None, None]).relu_())
        pooled = planes.mean((2, 3))
        logits = [self.policy(planes).flatten(1)] if self.policy else []
        if self.others:
            logits.append(self.others(pooled))
        hidden = torch.cat((self.value_planes(planes).relu_().flatten(1), pooled), 1)
        return torch.cat(logits, 1), self.value(self.value_hidden(hidden).relu_()).tanh()

    @torch.inference_mode()
    def evaluate(
        self, observations: npt.NDArray[Any], masks: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The same for the search: from and to NumPy."""
        logits, values = self(torch.from_numpy(observations), torch.from_numpy(masks))
        return logits.numpy(), values.numpy()


def search(
    network: Network, states: State, simulations: int, seed: int | list[int], noise: float = 0.0
) -> BatchResult:
    """Search positions by the network's policy and values; all chance comes from a seed, or one for
    each position.
    """
    threads = torch.get_num_threads()
    settings = {**SEARCH, "dirichlet_fraction": noise, "seed": seed, "num_threads": threads}
    with PUCT(network.game, len(states), simulations, **settings) as searcher:
        return searcher.run(states, network.evaluate)


class SearchAgent(GameAgent):
    """The network's search as an agent: it takes the most visited action, in the first `opening`
    plies one drawn by visits.
    """

    name = "alphazero"

    def __init__(self, network: Network, simulations: int, opening: int = 0) -> None:
        self.network = network
        self.simulations = simulations
        self.opening = opening

    def choose_lanes(
        self, game: Game, states: State, legal_bits: Any, rngs: Any, lanes: Any, actions: Any
    ) -> None:
        """See `GameAgent.choose_lanes`. ValueError for another game, or number of players, than the
        network's.
        """
        require_game(self.network.game, game)
        players = int(states["num_players"][lanes[0]])
        if players != self.network.players:
            raise ValueError(
                f"the network was trained for {self.network.players} players of {game.name}: it "
                f"cannot play with {players}"
            )
        seeds = rngs[lanes].tolist()
        visits = search(self.network, states[lanes], self.simulations, seeds).visits
        for row, lane in enumerate(lanes.tolist()):
            rng = np.random.default_rng(rngs[lane])
            weights = visits[row].astype(float)
            if states["ply"][lane] >= self.opening:
                weights = (weights == weights.max()).astype(float)
            actions[lane] = rng.choice(len(weights), p=weights / weights.sum())
            rngs[lane] = rng.integers(2**64, dtype=np.uint64)


def make_agent(
    content: Mapping[str, Any], settings: Mapping[str, Any], simulations: int | None = None
) -> SearchAgent:
    """The agent of a checkpoint's content: the search of its best network.

    Args:
        content: The content, not to be trusted.
        settings: Its settings, with the `game`.
        simulations: For each action; None: 100.

    Raises:
        ValueError: For what cannot be a checkpoint of this network.
    """
    simulations = training.take(100 if simulations is None else simulations, 0, "simulations")
    training.require_range(simulations, 1, MAX_SIMULATIONS, "simulations")
    game: Game = settings["game"]
    for name, most in LARGEST.items():
        training.take(settings.get(name), 0, name)
        training.require_range(settings[name], 1, most, name)
    options = training.take(settings.get("options"), game.parse_options({}), "options")
    players = game.num_players(game.parse_options(options))
    shape = (game, players, settings["channels"], settings["blocks"])
    network = take_network(lambda: Network(*shape), content, "best")
    return SearchAgent(network, simulations)
