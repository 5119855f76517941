"""What the tests read from drawings: elements by class, the places of pieces, the actions marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from tests.games import legal_actions, over, raw_env

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    """The drawing as a tree, without the definitions of its pieces."""
    root = ElementTree.fromstring(svg)
    for definitions in root.findall(f"{SVG}defs"):
        root.remove(definitions)
    return root


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The elements of a class, in the order of drawing."""
    return [element for element in root.iter() if name in element.get("class", "").split()]


def marked_actions(root: ElementTree.Element) -> list[int]:
    """All actions that marks of legal actions name, ascending, each once."""
    marks = " ".join(element.get("data-action", "") for element in of_class(root, "legal"))
    return sorted({int(action) for action in marks.split()})


def marked_fields(root: ElementTree.Element) -> dict[int, set[int | None]]:
    """The fields at which marks of legal actions lie, by the action."""
    marked: dict[int, set[int | None]] = {}
    for element in of_class(root, "legal"):
        if element.tag == f"{SVG}circle":
            field = at(root, float(element.attrib["cx"]), float(element.attrib["cy"]))
        elif element.tag == f"{SVG}path":
            x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", element.attrib["d"]).groups())  # type: ignore[union-attr]
            field = at(root, x, y)
        else:
            continue
        for action in element.attrib["data-action"].split():
            marked.setdefault(int(action), set()).add(field)
    return marked


def pieces(root: ElementTree.Element) -> list[tuple[str, float, float, float]]:
    """Each piece placed: its name, where, and how it is turned."""
    placed = []
    for use in root.iter(f"{SVG}use"):
        transform = use.get("transform", "")
        x, y = map(float, re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", transform).groups())  # type: ignore[union-attr]
        turn = re.search(r"rotate\(([-\d.]+)", transform)
        name = use.get("href", "").split("-", 2)[2]
        placed.append((name, x, y, float(turn.group(1)) if turn else 0.0))
    return placed


def fields(root: ElementTree.Element) -> dict[int, tuple[float, float, float]]:
    """The fields of the board: left, top and side by their numbers."""
    return {
        int(element.attrib["data-field"]): (
            float(element.attrib["x"]),
            float(element.attrib["y"]),
            float(element.attrib["width"]),
        )
        for element in of_class(root, "field")
    }


def at(root: ElementTree.Element, x: float, y: float) -> int | None:
    """The field with this point."""
    for field, (left, top, side) in fields(root).items():
        if left <= x < left + side and top <= y < top + side:
            return field
    return None


def positions(name: str, options: dict[str, Any], seed: int = 1, every: int = 1) -> Iterator[Any]:
    """An environment at the positions of a random game; the last is the game's end."""
    import numpy as np

    env = raw_env(name, **options)
    env.reset(seed=seed)
    choices = np.random.default_rng(seed)
    step = 0
    while True:
        if over(env):
            yield env
            return
        if step % every == 0:
            yield env
        env.step(int(choices.choice(legal_actions(env))))
        step += 1
