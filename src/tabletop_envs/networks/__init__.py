"""The PyTorch networks that the examples train, and agents of their checkpoints (extra `train`).

`agents.make_agent("runs/kirche/checkpoint.pt")` comes here, and so do all names of that form. A
checkpoint may come from anybody: nothing in it is run, and of its numbers only those are taken that
have the form of the network that it claims to hold (`tabletop_envs.training`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tabletop_envs import registry, training
from tabletop_envs.agents import GameAgent
from tabletop_envs.checks import shown
from tabletop_envs.extras import require

require("torch", "train")

from tabletop_envs.networks import alphazero, dense, ppo  # noqa: E402

__all__ = ["load_agent"]

# By the program that has written a checkpoint: what makes an agent of it, and what may be set.
MAKERS: dict[str, tuple[Any, str]] = {
    ppo.KIND: (ppo.make_agent, "temperature"),
    alphazero.KIND: (alphazero.make_agent, "simulations"),
    dense.KIND: (dense.make_agent, "temperature"),
}


def load_agent(path: str | Path, **settings: float) -> GameAgent:
    """The agent of a checkpoint of an example.

    Args:
        path: The file, such as `runs/kirche/checkpoint.pt`.
        **settings: `temperature` of the policies of ppo_selfplay.py and ray_selfplay.py, which draw
            by probabilities to the power 1/temperature; `simulations` of the search by the network
            of alphazero.py. Left out: as the run evaluates, and 100.

    Raises:
        ValueError: Naming the file and what is wrong, for what is no such checkpoint, for a game
            that is not registered, and for settings that it has not.
    """
    content = training.load(Path(path))
    kind, given = content.get("kind"), content.get("settings")
    if not isinstance(kind, str) or kind not in MAKERS:
        raise ValueError(f"{path}: kind must be {', '.join(MAKERS)}, not {shown(kind)}")
    make, known = MAKERS[kind]
    for name in settings:
        if name != known:
            raise ValueError(f"{path}: of a checkpoint of {kind} can be set {known}, not {name}")
    try:
        if not isinstance(given, dict) or not isinstance(given.get("game"), str):
            raise ValueError("settings must be a dict that names the game")
        described = {**given, "game": registry.get_game(given["game"])}
        agent: GameAgent = make(content, described, **settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return agent
