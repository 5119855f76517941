"""What users may rely on, read by griffe from the source, without importing it: the modules of the
reference (docs/reference), of each what `__all__` names or, where it has none (the kernels), what
has no leading underscore; of a class its members without one.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import griffe

import tabletop_envs
from tabletop_envs import registry

ROOT = Path(__file__).parents[2]
# Methods of classes that are part of their public face.
CALLED = ("__call__", "__enter__", "__getitem__", "__iter__", "__len__")


@cache
def modules() -> list[str]:
    """The public modules, below `tabletop_envs` ("" for itself)."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"automodule:: tabletop_envs\.?(\S*)", text)
    return [*named, *map(registry.module_name, registry.game_names())]


@cache
def load() -> griffe.Module:
    """The package as it is imported here."""
    source = Path(str(tabletop_envs.__file__)).parents[1]
    return griffe.load("tabletop_envs", search_paths=[source], resolve_aliases=True)


def members(package: griffe.Module) -> dict[str, griffe.Object]:
    """All that is public by its path as users write it, without `tabletop_envs.`; what is imported
    from elsewhere is what it stands for there.
    """
    found: dict[str, griffe.Object] = {}
    for name in modules():
        try:
            module = package[name] if name else package
        except KeyError:  # younger than a package that is compared with
            continue
        own = [key for key, member in module.members.items() if _own(key, member)]
        for public in map(str, own if module.exports is None else module.exports):
            if public in module.members:
                _add(found, f"{name}.{public}".lstrip("."), module.members[public])
    return found


def _own(name: str, member: griffe.Object | griffe.Alias) -> bool:
    return not (name.startswith("_") or member.is_alias or member.is_module)


def _add(found: dict[str, griffe.Object], path: str, member: griffe.Object | griffe.Alias) -> None:
    target = member.final_target if isinstance(member, griffe.Alias) else member
    found[path] = target
    if isinstance(target, griffe.Class):
        for name, inside in target.all_members.items():
            if name in CALLED or not name.startswith("_"):
                _add(found, f"{path}.{name}", inside)
