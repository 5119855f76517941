"""What must work with nothing installed but the wheel and what it depends on: run in such an
environment.

    python -m tests.house.core_install

imports every module, plays a game by every way in, and asks for what belongs to an extra. Ends with
an error where something fails.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import gymnasium
import numpy as np

import tabletop_envs
from tabletop_envs import kirche_v0, registry, search

# The packages in which some modules need an extra as soon as they are imported.
WITH_EXTRAS = tuple(
    f"tabletop_envs.{name}" for name in ("adapters.", "play.web.", "cli.", "networks")
)


def refusal(action: Callable[[], object]) -> str:
    """What the ImportError says that an action ends with; empty if it works."""
    try:
        action()
    except ImportError as error:
        return str(error)
    return ""


def check_imports() -> None:
    """Every module is there; what needs more than the core names the extra that brings it."""
    lacking = set()
    for module in pkgutil.walk_packages(tabletop_envs.__path__, "tabletop_envs.", onerror=_ignore):
        if not module.name.endswith("__main__"):
            words = refusal(partial(importlib.import_module, module.name))
            if words:
                # The commands are imported by `cli.main` alone, which names the extra for them.
                named = module.name.startswith("tabletop_envs.cli.") and "typer" in words
                assert named or 'pip install "tabletop-envs[' in words, f"{module.name}: {words}"
                assert module.name.startswith(WITH_EXTRAS), f"{module.name}: {words}"
                lacking.add(module.name)
    assert "tabletop_envs.adapters.sb3" in lacking, "this environment has more than the core"
    print(f"imported all modules but {len(lacking)}, which name their extras")


def _ignore(name: str) -> None:
    """Packages that cannot be imported come to light in the loop."""


def check_play() -> None:
    """One game by every way in."""
    env = kirche_v0.env(num_houses=1, render_mode="ansi")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    assert "ply" in str(env.render())
    learner = gymnasium.make("tabletop_envs/Kirche-v0", opponents="random", num_houses=1)
    _, info = learner.reset(seed=1)
    learner.step(int(np.flatnonzero(info["action_mask"])[0]))
    learners = gymnasium.make_vec("tabletop_envs/Kirche-v0", num_envs=4, num_houses=1)
    learners.reset(seed=1)
    batch = tabletop_envs.make_batch("kirche-v0", 8, seed=1, num_houses=1)
    batch.step(batch.sample_actions())
    result = search.PUCT("kirche-v0", 8, num_simulations=2, seed=1).run(batch)
    batch.step(result.actions)
    assert batch.rollout(100).actions == 800
    for name in registry.game_names():
        assert registry.get_game(name).name == name
    print("played")


def check_extras() -> None:
    """What cannot work without an extra says which."""
    env = kirche_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    assert "tabletop-envs[render]" in refusal(env.render)
    command = subprocess.run(
        [Path(sys.executable).with_name("tabletop-envs"), "list"], capture_output=True, text=True
    )
    assert command.returncode == 1, command
    assert "tabletop-envs[cli]" in command.stderr
    print("asked for extras")


if __name__ == "__main__":
    place = Path(tabletop_envs.__file__).parent
    print(f"tabletop_envs {tabletop_envs.__version__} in {place}")
    assert version("tabletop-envs") == tabletop_envs.__version__
    assert place.parent.name == "site-packages", "this is not an installed wheel"
    check_imports()
    check_play()
    check_extras()
