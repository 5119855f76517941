"""Draws the pictures of docs/pictures anew: an opening, a middle and an end of each game in both
themes.

`python docs/make_pictures.py` writes them; tests/render/test_pictures.py compares them with what this
script makes.
"""

from __future__ import annotations

import importlib
import random
from pathlib import Path
from typing import Any, NamedTuple

from tabletop_envs import registry
from tabletop_envs.render import svg

FOLDER = Path(__file__).parent / "pictures"


class Game(NamedTuple):
    """A random game: its options, its seed, and after how many actions the three pictures are
    taken.
    """

    options: dict[str, Any]
    seed: int
    plies: tuple[int, int, int]


GAMES = {
    "kirche": Game({"num_houses": 5}, 258, (14, 70, 200)),
    "tuerme": Game({}, 37, (16, 100, 500)),
    "meeples": Game({}, 0, (16, 90, 1000)),
}
STAGES = ("opening", "middle", "end")


def pictures(name: str) -> dict[str, str]:
    """The pictures of a game by their file names."""
    game = GAMES[name]
    choices = random.Random(game.seed)
    env = importlib.import_module(f"tabletop_envs.{registry.module_name(name)}").raw_env(
        **game.options
    )
    env.reset(seed=game.seed)
    made = {}
    for stage, plies in zip(STAGES, game.plies, strict=True):
        while env.snapshot()["outcome"] is None and env.snapshot()["ply"] < plies:
            previous = env.snapshot()
            legal = env.action_mask().nonzero()[0]
            env.step(int(legal[int(choices.random() * len(legal))]))
        for theme in svg.THEMES:
            made[f"{name}-{stage}-{theme}.svg"] = (
                svg.draw(env.snapshot(), theme=theme, previous=previous, fields=False) + "\n"
            )
    return made


def main() -> None:
    """Write the pictures of all games."""
    FOLDER.mkdir(exist_ok=True)
    for name in registry.game_names():
        for file, picture in pictures(name).items():
            (FOLDER / file).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
