"""The network of examples/ppo_selfplay.py: an action is scored by what lies around its squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from tabletop_envs import training
from tabletop_envs.envs.aec import TabletopEnv
from tabletop_envs.game import Game
from tabletop_envs.networks.policy import (
    PolicyAgent,
    input_scale,
    legal_actions,
    take_network,
)

__all__ = ["KIND", "Board", "Look", "Network", "make_agent"]

KIND = "ppo_selfplay"
# What `make_agent` builds a network of at most.
LARGEST = {"width": 2**14, "local": 2**12, "reach": 2**4}


def target_table(game: Game) -> Tensor:
    """Where actions lead, `int64 (2, actions)`: from a vertical ridge, from a horizontal one.

    −1: to the pastor of kirche. −2: nowhere but the square that the action names.
    """
    env = TabletopEnv(game)
    env.reset(seed=0)
    position = env.snapshot()
    table = np.full((2, game.kernel.num_actions), -2)
    for row, ridge in enumerate("vh"):
        if game.name == "kirche":
            pieces = [{"kind": "house", "square": square, "ridge": ridge} for square in range(49)]
            position = {**position, "phase": "moves", "pastor": -1, "pieces": [pieces, []]}
        for action in range(game.kernel.num_actions):
            move = game.decode(action, position)
            if move.origin and move.target is not None:
                table[row, action] = move.target
    return torch.tensor(table)


def targets(
    game: Game, table: Tensor, observation: Tensor, rows: Tensor, actions: Tensor, squares: Tensor
) -> Tensor:
    """Where actions lead, `(N,)` squares, each action from one of `squares` (`target_table`)."""
    if game.name != "kirche":
        leads = table[0, actions]
        return torch.where(leads == -2, squares, leads)
    horizontal = observation[:, game.observation["ridges"].slice][rows, squares].clamp(0).long()
    leads = table[horizontal, actions]
    pastor = observation[:, game.observation["pastor"].slice].max(-1).indices[rows]
    return torch.where(leads == -2, squares, torch.where(leads == -1, pastor, leads))


def observation_planes(game: Game) -> list[npt.NDArray[np.int64]]:
    """The places of an observation's numbers that are planes of squares, each `(rows, columns)`."""
    numbers = np.arange(game.kernel.observation_size)
    parts = game.split_observation(numbers).values()
    planes = [plane for part in parts if part.ndim == 3 for plane in part]
    if not planes:
        raise ValueError(f"{game.name} must have planes in its observation for this network")
    return planes


class Board(nn.Module):
    """The planes of observations `int8 (B, L)` as boards
    `float32 (B, rows + 2 · reach, columns + 2 · reach, C)`.

    Heights and values are shown as they are and besides number by number, in a plane for each. Off
    the board all planes are 0, and one more plane is 1 on the board.
    """

    def __init__(self, game: Game, reach: int) -> None:
        super().__init__()
        self.planes = observation_planes(game)
        self.reach = reach
        _, high = game.bounds()
        largest = [int(high[plane[0, 0]]) for plane in self.planes]
        self.graded = [(at, most) for at, most in enumerate(largest) if most > 1]
        self.size = len(self.planes) + sum(most for _, most in self.graded) + 1
        self.register_buffer(
            "places", torch.tensor(np.stack(self.planes, -1).ravel()), persistent=False
        )

    def forward(self, observation: Tensor) -> Tensor:
        """See the class."""
        rows, columns = self.planes[0].shape
        planes = observation[:, self.places].view(-1, rows, columns, len(self.planes))
        views = [planes, torch.ones_like(planes[..., :1])]
        for at, most in self.graded:
            views.append(planes[..., at, None] == torch.arange(1, most + 1))
        around = (0, 0, self.reach, self.reach, self.reach, self.reach)
        return functional.pad(torch.cat(views, -1).float(), around)


class Look(nn.Module):
    """A layer on what a `Board` shows around squares."""

    def __init__(self, board: Board, size: int) -> None:
        super().__init__()
        self.window = 2 * board.reach + 1
        self.columns = board.planes[0].shape[1]
        self.squares = board.planes[0].size
        self.layer = nn.Linear(self.window**2 * board.size, size)

    def forward(self, boards: Tensor, rows: Tensor, squares: Tensor) -> Tensor:
        """`(N, size)`, for squares `(N,)` of rows of boards. The same squares of a row are looked
        at once.
        """
        pairs, pair = torch.unique(rows * self.squares + squares, return_inverse=True)
        row, square = pairs // self.squares, pairs % self.squares
        # Windows are views: a window's rows are copied as they lie in memory.
        windows = boards.unfold(1, self.window, 1).unfold(2, self.window, 1)
        windows = windows.permute(0, 1, 2, 4, 5, 3)
        patches = windows[row, square // self.columns, square % self.columns]
        seen: Tensor = self.layer(patches.flatten(1))[pair]
        return seen


class Network(nn.Module):
    """Policy and value of the player to move.

    Called with observations `int8 (B, L)` and legal actions `(B, K)` it gives the logarithms of
    their probabilities `(B, K)`, and `(B,)` what is to be added to the heuristic's value. Two
    layers see everything. An action's logit is one of their outputs plus a product: of what is
    around the squares that the action comes from and leads to, and what the two layers saw, with a
    vector for the action's plane in the game's phase. So what was learned on one square holds on
    all.

    Args:
        game: The game; its observation must have planes of squares (ValueError).
        width: Of the two layers.
        local: How many numbers are made of what lies around a square.
        reach: How many squares around it are seen, in every direction.
    """

    def __init__(self, game: Game, width: int, local: int, reach: int) -> None:
        super().__init__()
        self.game = game
        self.register_buffer("scale", input_scale(game), persistent=False)
        planes = observation_planes(game)
        inputs = game.kernel.observation_size
        besides = np.setdiff1d(np.arange(inputs), np.concatenate(planes))
        self.register_buffer("besides", torch.tensor(besides), persistent=False)
        # Actions are planes of squares and then some others, whose square is the one chosen so far
        # (in meeples).
        actions, squares = game.kernel.num_actions, planes[0].size
        self.squares, self.on_squares = squares, actions // squares * squares
        others = np.maximum(np.arange(actions) - self.on_squares, 0)
        kinds = np.arange(actions) // squares + others
        self.register_buffer("kinds", torch.tensor(kinds), persistent=False)
        self.register_buffer("leads", target_table(game), persistent=False)
        phases = game.observation["phase"].shape[0] if "phase" in game.observation else 1
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.policy = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)
        self.board = Board(game, reach)
        self.start = Look(self.board, local)
        self.target = Look(self.board, local)
        self.whole = nn.Linear(width + len(besides), local)
        self.kind = nn.Embedding(phases * (int(kinds.max()) + 1), local)
        gains = {self.first: 2**0.5, self.second: 2**0.5, self.policy: 0.01, self.value: 0.1}
        gains = {**gains, self.start.layer: 1.0, self.target.layer: 1.0, self.whole: 1.0}
        for layer, gain in gains.items():
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
        nn.init.normal_(self.kind.weight, std=0.01)

    def forward(self, observation: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """See the class."""
        # Scaling the weights is less work than scaling the batch.
        weight = self.first.weight * self.scale
        hidden = functional.linear(observation.float(), weight, self.first.bias).relu()
        hidden = self.second(hidden).relu()
        rows, places = (legal >= 0).nonzero(as_tuple=True)
        actions = legal[rows, places]
        squares, kinds = actions % self.squares, self.kinds[actions]
        if "chosen_field" in self.game.observation:
            chosen = observation[:, self.game.observation["chosen_field"].slice].max(-1).indices
            squares = torch.where(actions < self.on_squares, squares, chosen[rows])
        if "phase" in self.game.observation:
            phase = observation[:, self.game.observation["phase"].slice].max(-1).indices
            kinds = kinds + (int(self.kinds[-1]) + 1) * phase[rows]
        leads = targets(self.game, self.leads, observation, rows, actions, squares)
        numbers = observation[:, self.besides] * self.scale[self.besides]
        local = self.whole(torch.cat([hidden, numbers], 1))[rows]
        boards = self.board(observation)
        local = local + self.start(boards, rows, squares)
        local = local + self.target(boards, rows, leads)
        scores = (local.relu() * self.kind(kinds)).sum(-1)
        logits = self.policy(hidden).gather(-1, legal.clamp(min=0)).masked_fill(legal < 0, -1e9)
        logits = logits.index_put((rows, places), scores, accumulate=True)
        return logits.log_softmax(-1), self.value(hidden).squeeze(-1)

    def choices(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See `PolicyAgent`."""
        legal = legal_actions(mask)
        return legal, self(observation, legal)[0]


def make_agent(
    content: Mapping[str, Any], settings: Mapping[str, Any], temperature: float | None = None
) -> PolicyAgent:
    """The agent of a checkpoint's content.

    Args:
        content: The content, not to be trusted.
        settings: Its settings, with the `game`.
        temperature: Of the choices; None: that of the run's evaluations.

    Raises:
        ValueError: For what cannot be a checkpoint of this network.
    """
    for name, most in LARGEST.items():
        training.take(settings.get(name), 0, name)
        training.require_range(settings[name], 1, most, name)
    if temperature is None:
        temperature = training.take(settings.get("temperature"), 0.0, "temperature")
    training.require_range(temperature, 1e-3, 1e3, "temperature")
    shape = (settings["game"], *(settings[name] for name in LARGEST))
    network = take_network(lambda: Network(*shape), content, "network")
    return PolicyAgent(network, float(temperature))
