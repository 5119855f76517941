"""Golden playthroughs: whole games written out in text, kept in tests/golden and compared.

A change in a golden file is a change of behaviour: look at it, then write the files anew by

    python -m tests.rules.playthrough
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.games import OPTIONS, legal_actions, over, raw_env

FOLDER = Path(__file__).parents[1] / "golden"
DRAW_EVERY = 20


def write(name: str, options: dict[str, Any], seed: int) -> str:
    """One game of random actions: every action by number and name, and the board every so often."""
    env = raw_env(name, render_mode="ansi", **options)
    env.reset(seed=seed)
    rng = random.Random(seed)
    lines = [f"game {name}", f"options {options}", f"seed {seed}", ""]
    while not over(env):
        if env.infos["player_0"]["ply"] % DRAW_EVERY == 0:
            lines += ["", *str(env.render()).splitlines(), ""]
        legal = legal_actions(env)
        action = rng.choice(legal)
        scores = " ".join(str(info["score"]) for info in env.infos.values())
        lines.append(
            f"{env.infos['player_0']['ply']:4} {env.agent_selection} "
            f"{len(legal):3} legal, scores {scores}: {action} {env.action_to_str(action)}"
        )
        env.step(action)
    lines += ["", *str(env.render()).splitlines(), ""]
    lines.append(
        f"rewards {list(env.rewards.values())} by_limit {env.snapshot()['outcome']['by_limit']}"
    )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def games(name: str) -> dict[str, str]:
    """The playthroughs of a game by file name."""
    return {
        f"{name}-{number}.txt": write(name, options, 100 + number)
        for number, options in enumerate(OPTIONS[name])
    }


if __name__ == "__main__":
    from tests.games import GAMES

    FOLDER.mkdir(exist_ok=True)
    for game in GAMES:
        for file, content in games(game).items():
            (FOLDER / file).write_text(content, encoding="utf-8")
            print(file)
