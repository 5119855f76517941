"""What training programs share: command lines that resume, checked checkpoints, logs that continue.

A checkpoint may come from anybody. `load` runs none of its code, and `take` copies from it only
what has the form of something that the reading program has made itself: the same keys, types,
dtypes and shapes. Ranges are checked by `require_range`, positions by `BatchEnv.set_state`. Nothing
is written through a link.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import reprlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabletop_envs import extras, files, registry
from tabletop_envs.checks import require

__all__ = [
    "CHECKPOINT",
    "GAME_HELP",
    "Log",
    "game_argument",
    "load",
    "make_parser",
    "own_file",
    "read_arguments",
    "require_range",
    "save",
    "settings",
    "take",
    "take_adam",
]

CHECKPOINT = "checkpoint.pt"
# The arguments that no checkpoint keeps: where a run is, and what `read_arguments` replaces.
LOCAL = ("folder", "resume", "option")


def _torch() -> Any:
    return extras.require("torch", "train")


# Command lines

GAME_HELP = "kirche, tuerme, meeples, or a custom game as file.py:NAME or module:NAME"


def game_argument(text: str) -> str:
    """The name of the game that an argument means (`registry.import_game`), for `argparse`."""
    try:
        return registry.import_game(text).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def make_parser(description: str) -> argparse.ArgumentParser:
    """A parser with the arguments of all runs: the game, `--option`, `--folder`, `--resume`."""
    parser = argparse.ArgumentParser(
        description=description, usage="%(prog)s GAME [arguments] (--help names them)"
    )
    parser.add_argument("game", type=game_argument, help=GAME_HELP)
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game"
    )
    parser.add_argument("--folder", help="of the run")
    parser.add_argument(
        "--resume", action="store_true", help="continue from the folder's checkpoint"
    )
    return parser


def read_arguments(
    parser: argparse.ArgumentParser,
    words: Sequence[str] | None,
    presets: Mapping[str, Mapping[str, Any]],
    folder: str,
    *,
    free: Collection[str] = (),
    local: Collection[str] = (),
    agents: Collection[str] = (),
    besides: Mapping[str, str] | None = None,
) -> argparse.Namespace:
    """Parse a command line; with `--resume`, what it leaves out is as in the checkpoint.

    Args:
        parser: From `make_parser`, with the program's own arguments.
        words: The words; None: those of the process.
        presets: By game, what differs from the parser's defaults, `options` being the game's. A
            game may be missing.
        folder: Where runs are kept unless `--folder` is given; `{}` stands for the game's name.
        free: The arguments that may change when a run is resumed.
        local: The arguments that are not kept in the checkpoint (see `settings`).
        agents: The arguments that name agents (`agents.make_agent`), or lists of them. Each agent
            is made once, so that a wrong name is told now. Those that only the checkpoint names
            must be the library's own: no code is run and no file is opened for them.
        besides: By the name of such an argument, a word that it may be without being an agent.

    Returns:
        The arguments, with all of the game's `options` in place of `option`.

    Raises:
        SystemExit: With the code 2 after a message, for what is wrong in words or checkpoint, for
            a folder that holds a run where none is resumed, and for a run that is to continue with
            other settings.
    """
    arguments = parser.parse_args(words)
    game = registry.get_game(arguments.game)
    preset = dict(presets.get(game.name, {}))
    options, kept, asked = preset.pop("options", {}), {}, arguments
    parser.set_defaults(**preset)
    arguments = parser.parse_args(words)
    arguments.folder = arguments.folder or folder.format(game.name)
    path = Path(arguments.folder, CHECKPOINT)
    if arguments.resume and not path.exists():
        parser.error(f"{arguments.folder} has no checkpoint to --resume from")
    if path.exists() and not arguments.resume:
        parser.error(f"{arguments.folder} holds a run: --resume it, or name another --folder")
    try:
        if arguments.resume:
            like = {
                name: [""] if isinstance(value, list) else value
                for name, value in settings(arguments, local).items()
            }
            like["options"] = game.parse_options({})
            kept = take(load(path).get("settings"), like, f"{path}: settings")
            options = kept["options"]
            # What is left out would be as in the checkpoint.
            parser.set_defaults(**{**kept, **dict.fromkeys(agents)})
            asked = parser.parse_args(words)
            parser.set_defaults(**{**kept, "folder": arguments.folder})
            arguments = parser.parse_args(words)
        given = dict(map(_parse_option, arguments.option))
        arguments.options = game.parse_options({**options, **given})
        for name, value in kept.items():
            other = getattr(arguments, name)
            require(
                name in free or other == value,
                f"{path} is of a run with {name}={value!r}, not {other!r}: leave it out to resume",
            )
        for name in agents:
            only_kept = arguments.resume and getattr(asked, name) is None
            word = (besides or {}).get(name)
            _check_agents(arguments, name, word, path if only_kept else None)
    except (ImportError, OSError, TypeError, ValueError) as error:
        parser.error(str(error))
    del arguments.option
    return arguments


def _check_agents(
    arguments: argparse.Namespace, name: str, word: str | None, path: Path | None
) -> None:
    """ValueError where an argument names what is no agent and is not `word`; those of a checkpoint
    at `path` must be the library's own.
    """
    from tabletop_envs.agents.naming import make_agent, own_agent

    value = getattr(arguments, name)
    for agent in value if isinstance(value, list) else [value]:
        if agent == word:
            continue
        if path is None:
            make_agent(agent)
            continue
        try:
            own_agent(agent)
        except ValueError as error:
            raise ValueError(
                f"{path} only names the agent {reprlib.repr(agent)}: no code is run and no file is "
                f"opened for that; give --{name.replace('_', '-')} again ({error})"
            ) from None


def _parse_option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError(
            f"--option {text!r} must be NAME=VALUE with an integer, true or false"
        ) from None


def settings(arguments: argparse.Namespace, local: Collection[str] = ()) -> dict[str, Any]:
    """The arguments that a checkpoint keeps: all but `folder`, `resume` and those named."""
    return {n: value for n, value in vars(arguments).items() if n not in (*LOCAL, *local)}


# Files


def own_file(path: Path) -> Path:
    """The path of an ordinary file or of nothing yet; ValueError for a link, which may lead out."""
    plain = path.is_file() and not path.is_symlink()
    require(plain or not os.path.lexists(path), f"{path} must be a file, not a link or a folder")
    return path


def save(content: Mapping[str, Any], path: Path, kind: str) -> None:
    """Write a checkpoint, under another name first: there is always a whole one.

    `kind` names the program that can read it.
    """
    # "x": a link put in its place is not followed.
    with files.replacing(path) as half, half.open("xb") as file:
        _torch().save({"kind": kind, **content}, file)


def load(path: Path, kind: str | None = None) -> dict[str, Any]:
    """The content of a checkpoint, not to be trusted before `take` has been through it.

    With a `kind` it must be of that one, and the content is what `save` was given.

    ValueError, naming the file, for what is none, is of another kind, or holds more than tensors
    and plain types.
    """
    require(path.is_file(), f"{path} must be a checkpoint, a file")
    try:
        content = _torch().load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a foreign file can make PyTorch raise anything
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{path} must be a checkpoint: {why}") from None
    require(isinstance(content, dict), f"{path} must hold a dict")
    whole: dict[str, Any] = content
    if kind is not None:
        found = whole.pop("kind", None)
        require(found == kind, f"{path}: kind must be {kind!r}, not {reprlib.repr(found)}")
    return whole


class Log:
    """A CSV file that grows by a row at a time, and that a resumed run continues.

    Args:
        path: The file.
        last: Rows whose first number is above this are dropped: a resumed run writes them again.

    Raises:
        ValueError: For a link, and for a row that does not begin with a number, naming it.
    """

    def __init__(self, path: Path, last: int = 0) -> None:
        self.path = own_file(path)
        lines = path.read_text(errors="replace").splitlines() if path.exists() and last else []
        kept = lines[:1]
        for number, line in enumerate(lines[1:], 2):
            first = line.partition(",")[0]
            fits = first.isascii() and first.isdigit() and len(first) < 20
            require(fits, f"{path}: line {number} must begin with an integer")
            if int(first) <= last:
                kept.append(line)
        path.unlink(missing_ok=True)
        if kept:
            path.write_text("".join(f"{line}\n" for line in kept))

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a row, after a header if it is the first; the same names in every row."""
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)


# What a checkpoint holds


def take(given: Any, like: Any, place: str) -> Any:
    """A copy of what a checkpoint gives, which must have the form of `like`.

    Args:
        given: From a checkpoint.
        like: A dict stands for one with the same keys, a list of one thing for a list of any number
            of the like, a tensor for one of its dtype and shape (of any length along a first axis
            of length 0), None for None or a text, everything else for its type. Floats are finite.
        place: What `given` is, for the message.

    Raises:
        ValueError: Naming the place and what must be there.
    """
    if isinstance(like, dict):
        require(isinstance(given, dict), f"{place} must be a dict, not {type(given).__name__}")
        for key in like:
            require(key in given, f"{place} must have {key!r}")
        for key in given:
            require(key in like, f"{place} must not have {reprlib.repr(key)}")
        return {key: take(given[key], each, f"{place}[{key!r}]") for key, each in like.items()}
    if isinstance(like, list):
        require(isinstance(given, list), f"{place} must be a list, not {type(given).__name__}")
        return [take(one, like[0], f"{place}[{at}]") for at, one in enumerate(given)]
    kind = "str or None" if like is None else type(like).__name__
    kinds = (str, type(None)) if like is None else (type(like),)
    require(type(given) in kinds, f"{place} must be of type {kind}, not {type(given).__name__}")
    if isinstance(like, float):
        require(math.isfinite(given), f"{place} must be finite, not {given}")
    if isinstance(like, _torch().Tensor):
        return _take_tensor(given, like, place)
    return given


def _take_tensor(given: Any, like: Any, place: str) -> Any:
    """The part of `take` for tensors: a fresh one in memory of its own, laid out as `like` is."""
    torch = _torch()
    any_rows = like.ndim > 0 and like.shape[0] == 0
    same = given.shape[any_rows:] == like.shape[any_rows:] and given.ndim == like.ndim
    shape = ("any", *like.shape[1:]) if any_rows else tuple(like.shape)
    require(
        same and given.dtype == like.dtype and given.layout == torch.strided,
        f"{place} must be {like.dtype} of the shape {shape}, "
        f"not {given.dtype} of {tuple(given.shape)}",
    )
    # A tensor may claim to be larger than the memory behind it, by strides of 0.
    real = given.device.type == "cpu" and given.untyped_storage().nbytes() >= given.nbytes
    require(real, f"{place} must hold all of its numbers")
    with torch.no_grad():
        shaped = given if any_rows else like
        copy = torch.empty_like(shaped, device="cpu")
        copy.copy_(given)
    if copy.is_floating_point():
        require(bool(copy.isfinite().all()), f"{place} must be finite")
    return copy


def require_range(given: Any, low: float, high: float, place: str) -> None:
    """ValueError, naming the place, unless a number or all of a tensor are from `low` to `high`."""
    tensor = _torch().as_tensor(given)
    if not tensor.is_floating_point():
        tensor = tensor.long()  # the bounds would wrap around in narrower integers
    fits = bool(((tensor >= low) & (tensor <= high)).all())
    require(fits, f"{place} must be from {low} to {high}")


def take_adam(optimizer: Any, given: Any, place: str) -> None:
    """Take over the state of an Adam or AdamW: `state_dict()["state"]`, empty before any step.

    ValueError, naming the place, for what another optimizer or other parameters would have.
    """
    torch = _torch()
    parameters = [weight for group in optimizer.param_groups for weight in group["params"]]
    if given != {}:
        like = {
            number: {
                "step": torch.zeros(()),
                "exp_avg": torch.empty_like(weight, requires_grad=False),
                "exp_avg_sq": torch.empty_like(weight, requires_grad=False),
            }
            for number, weight in enumerate(parameters)
        }
        given = take(given, like, place)
        for number, moments in given.items():
            require_range(moments["step"], 1, 2**24, f"{place}[{number}]['step']")
            require_range(moments["exp_avg_sq"], 0, math.inf, f"{place}[{number}]['exp_avg_sq']")
    # Learning rates and the like are the program's, not the file's.
    optimizer.load_state_dict({**optimizer.state_dict(), "state": given})
