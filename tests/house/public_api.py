"""What users may rely on: the names and signatures of the public modules, read from the source
without importing it.

Public is what a module of the list `MODULES` names in its `__all__`, or, where it has none (the
kernels), what it defines without a leading underscore; of a class its attributes, properties and
methods without one, inherited ones of this package among them.

    python -m tests.house.public_api

writes the listing anew to tests/house/public_api.txt, with which tests/house/test_public_api.py compares it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import griffe

import tabletop_envs

LISTING = Path(__file__).parent / "public_api.txt"
# All modules of the package that users import from (docs/reference has their manual), without
# `tabletop_envs.`.
MODULES = (
    "",
    "kirche_v0",
    "tuerme_v0",
    "meeples_v0",
    "registry",
    "arena.records",
    "play.session",
    "training",
    "networks",
    "envs.aec",
    "envs.batch",
    "game",
    "lanes",
    "envs.gym",
    "envs.opponents",
    "envs.parallel",
    "envs.vector",
    "agents",
    "agents.naming",
    "arena.tournaments",
    "agents.greedy",
    "evaluation",
    "agents.mcts",
    "arena.ratings",
    "search",
    "kernels",
    "kernels.bits",
    "kernels.engine",
    "kernels.llvm",
    "kernels.rng",
    "render.pixels",
    "arena.replay",
    "render.svg",
    "testing",
    "play.web",
    "adapters.jax",
    "adapters.masks",
    "adapters.open_spiel",
    "adapters.pufferlib",
    "adapters.rllib",
    "adapters.sb3",
    "adapters.tianshou",
    "adapters.torchrl",
)
# Methods of classes that are part of their public face.
CALLED = ("__call__", "__enter__", "__getitem__", "__iter__", "__len__")


def listing() -> str:
    """One line a name, in the order of the modules and within them of the alphabet."""
    package = griffe.load("tabletop_envs", search_paths=[_source()], resolve_aliases=True)
    lines: list[str] = []
    for name in MODULES:
        lines += _lines_of_module(package[name] if name else package)
    return "\n".join(lines) + "\n"


def _source() -> Path:
    assert tabletop_envs.__file__
    return Path(tabletop_envs.__file__).parents[1]


def _lines_of_module(module: griffe.Module) -> Iterator[str]:
    names = module.exports
    if names is None:
        names = [name for name, member in module.members.items() if _defined(name, member)]
        # Names that are given values together (`A, B = 0, 1`), which griffe passes over.
        names += [name for name in _unpacked(module) if not name.startswith("_")]
    for name in sorted(map(str, names)):
        path = f"{module.path}.{name}"
        if name in module.members:
            yield from _lines_of(path, module.members[name])
        else:
            yield path


def _defined(name: str, member: griffe.Object | griffe.Alias) -> bool:
    return not (name.startswith("_") or member.is_alias or member.is_module)


def _unpacked(module: griffe.Module) -> Iterator[str]:
    assert isinstance(module.filepath, Path)
    for node in ast.parse(module.filepath.read_text(encoding="utf-8")).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Tuple):
                yield from (name.id for name in target.elts if isinstance(name, ast.Name))


def _lines_of(path: str, member: griffe.Object | griffe.Alias) -> Iterator[str]:
    target = member.final_target if isinstance(member, griffe.Alias) else member
    if isinstance(target, griffe.Function):
        yield target.signature(name=path)
    elif isinstance(target, griffe.Class):
        bases = [str(base).partition("[")[0].rpartition(".")[2] for base in target.bases]
        yield f"class {target.signature(name=path) or path}" + "".join(
            f" < {base}" for base in bases
        )
        inner = target.all_members.items()
        # The order of the fields of a NamedTuple, of which griffe gives no signature, is part of
        # it.
        for name, inside in inner if "NamedTuple" in bases else sorted(inner):
            if name in CALLED or not name.startswith("_"):
                yield from _lines_of(f"{path}.{name}", inside)
    elif isinstance(target, griffe.Attribute):
        fixed = "property" in target.labels and "writable" not in target.labels
        annotation = f": {target.annotation}" if target.annotation else ""
        yield f"{path}{annotation}{' (read-only)' if fixed else ''}"
    else:
        yield path


if __name__ == "__main__":
    LISTING.write_text(listing(), encoding="utf-8")
    print(f"written: {LISTING}")
