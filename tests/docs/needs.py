"""What a block or a command needs beyond the core: modules that only some environments have."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache

from tests.docs.pages import ROOT

# Modules that pages may use, and the extras that bring each.
EXTRAS = {
    "torch": ("train", "sb3", "rllib", "torchrl", "ray"),
    "stable_baselines3": ("sb3",),
    "sb3_contrib": ("sb3",),
    "ray": ("rllib", "ray"),
    "tianshou": ("tianshou",),
    "torchrl": ("torchrl",),
    "tensordict": ("torchrl",),
    "jax": ("jax",),
    "mctx": ("jax",),
    "pyspiel": ("openspiel",),
    "open_spiel": ("openspiel",),
    "pgx": ("bench",),
    "matplotlib": ("bench", "notebook"),
    "sphinx": ("docs",),
    "nbclient": ("notebook",),
    "moviepy": ("video",),
    "cosmic_ray": ("dev",),
}
# What commands with the Python of such an environment need.
OF_ENVIRONMENT = {".venv-peers": "pgx", ".venv-stacks": "sb3_contrib", ".venv-rllib": "ray"}
_ADAPTERS = {path.stem for path in (ROOT / "src/tabletop_envs/adapters").iterdir()}


def missing(needs: frozenset[str]) -> list[str]:
    """Those that are not installed here."""
    return [name for name in sorted(needs) if importlib.util.find_spec(name) is None]


@cache
def needs_of_code(code: str) -> frozenset[str]:
    """The modules with an extra of their own that a piece of Python imports, adapters seen through."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("tabletop_envs.adapters."):
                found |= needs_of_adapter(name.split(".")[2])
            elif name.split(".")[0] in EXTRAS:
                found.add(name.split(".")[0])
    return frozenset(found)


@cache
def needs_of_adapter(name: str) -> frozenset[str]:
    """What an adapter asks for (`require("module", …)`)."""
    assert name in _ADAPTERS, f"there is no adapter {name}"
    path = ROOT / "src/tabletop_envs/adapters" / name
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    asked = re.findall(r'require\("([\w.]+)"', file.read_text(encoding="utf-8"))
    return frozenset(module.split(".")[0] for module in asked)


def needs_of_command(command: str) -> frozenset[str]:
    """What a shell command needs: by the environment that it names, and by the scripts that it
    starts.
    """
    found: set[str] = set()
    for environment, module in OF_ENVIRONMENT.items():
        if f"{environment}/" in command:
            found.add(module)
    for script in re.findall(r"\b(?:examples|docs)/\w+\.py\b", command):
        found |= needs_of_code((ROOT / script).read_text(encoding="utf-8"))
    if stack := re.search(r"benchmarks\.adapters (\w+)", command):
        found |= needs_of_adapter(stack[1])
    if re.search(r"\.pt\b", command):  # an agent from a checkpoint
        found.add("torch")
    if "-m tests.mutation" in command:
        found.add("cosmic_ray")
    if "benchmarks.learning run" in command:
        found.add("torch")
    if "benchmarks.learning plot" in command:
        found.add("matplotlib")
    if "--plot" in command:
        found.add("matplotlib")
    return frozenset(found)
