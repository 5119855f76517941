"""How self-play on Ray goes faster with more workers: measured on this machine, modelled beyond,
with the bottleneck named.

    python -m benchmarks.ray_workers [GAME …] [--workers N …] [--csv FILE]
    python -m benchmarks.ray_workers --from FILE --plot FILE.svg # draws, in an environment with
    matplotlib

`examples/ray_selfplay.py` with its own settings (`--set games=16` changes them). Measured are

- *playing*: positions a second of 1, 2, … workers while nothing is learned, and positions in a
  second of a worker's processor time, which other programs disturb less;
- *learning*: all that the learner does with a round, checkpoint and records included, in processor
  time for each position;
- *driving*: the processor time that giving out units and taking back results costs for each;
- *bytes*: of a unit's results and of a network, as they go through the object store.

The model: workers do not disturb each other, so W of them play W times what one plays in a second
    of processor time, until
the learner, the driver or the learner's network connection (`--gigabits`) has no more to give; the
lowest of the four is the bottleneck. Networks go to each machine of `--cores` workers once a round,
over the same connection; a round has two units for each worker.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import math
import pickle
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import human, report, show_table
from benchmarks.scaling import load_pyplot
from tabletop_envs import registry
from tabletop_envs.extras import require

EXAMPLE = Path(__file__).parent.parent / "examples" / "ray_selfplay.py"
MODELLED = tuple(2**power for power in range(13))  # 1 … 4,096 workers


@dataclass(frozen=True)
class Pieces:
    """What one game's run is made of, measured.

    Attributes:
        game: Its name.
        playing: Positions in a second of a worker's processor time.
        learning: The learner's seconds for a position.
        driving: The driver's seconds for a unit.
        positions: Positions of a unit.
        result_bytes: Of a unit's results.
        network_bytes: Of a network.
        units: In a round.
    """

    game: str
    playing: float
    learning: float
    driving: float
    positions: float
    result_bytes: float
    network_bytes: int
    units: int

    def limits(self, workers: int, gigabits: float, cores: int) -> dict[str, float]:
        """Positions a second that each part allows."""
        machines, units = math.ceil(workers / cores), max(self.units, 2 * workers)
        sent = units * self.result_bytes + machines * self.network_bytes
        return {
            "workers": workers * self.playing,
            "learner": 1 / self.learning,
            "driver": self.positions / self.driving,
            "connection": gigabits * 1e9 / 8 * units * self.positions / sent,
        }

    def model(self, workers: int, gigabits: float, cores: int) -> tuple[float, str]:
        """Positions a second of so many workers, and what limits them."""
        limits = self.limits(workers, gigabits, cores)
        bottleneck = min(limits, key=limits.__getitem__)
        return limits[bottleneck], bottleneck


@dataclass(frozen=True)
class Played:
    """What some workers did in some seconds."""

    workers: int
    seconds: float
    positions: int
    processor: float  # seconds of the workers
    driving: float  # the driver's processor time for each unit

    @property
    def rate(self) -> float:
        """Positions a second."""
        return self.positions / self.seconds


class Point(NamedTuple):
    """A line of the file: the workers' positions a second, and what limits them by the model."""

    game: str
    kind: str  # measured or modelled
    workers: int
    positions_per_second: float
    bottleneck: str


def load_example() -> ModuleType:
    """The example as a module whose classes are sent to the workers by value."""
    require("ray", "ray")
    require("torch", "ray")
    spec = importlib.util.spec_from_file_location("ray_selfplay", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ray_selfplay"] = module
    spec.loader.exec_module(module)
    from ray import cloudpickle

    for sent in (module, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(sent)
    return module


def timed_player(example: ModuleType) -> type:
    """The example's player, which also says how much processor time a unit took."""

    class TimedPlayer(example.Player):  # type: ignore[misc, name-defined]
        def work(self, unit: Any, weights: Any) -> dict[str, Any]:
            begin = time.process_time()
            result: dict[str, Any] = super().work(unit, weights)
            return {**result, "processor": time.process_time() - begin}

    return TimedPlayer


def play(
    example: ModuleType, arguments: argparse.Namespace, workers: int, units: int
) -> tuple[Played, list[dict[str, Any]]]:
    """`units` units for each of so many workers, all of which are there and warm before; and what
    they gave.
    """
    import ray

    arguments.workers = workers
    # More workers than processors are welcome: they are to share them.
    ray.init("local", num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        crew = example.Crew(arguments)
        weights = {0: ray.put(example.Run(arguments).weights[0])}
        while not all(worker.place for worker in crew.workers):
            crew.take(0.1)
        for warm in (True, False):
            count = workers * (1 if warm else units)
            crew.waiting.extend(example.Unit(int(warm), number, 0) for number in range(count))
            results: list[dict[str, Any]] = []
            begin, driven = time.perf_counter(), time.process_time()
            while len(results) < count:
                crew.give(weights)
                results += [result for _, result in crew.take(1.0)]
            seconds, driving = time.perf_counter() - begin, time.process_time() - driven
        # Copies: what lies in the object store goes with Ray.
        results = pickle.loads(pickle.dumps(results))
        crew.close()
    finally:
        ray.shutdown()
    played = Played(
        workers,
        seconds,
        sum(len(result["samples"]["result"]) for result in results),
        sum(result.pop("processor") for result in results),
        driving / len(results),
    )
    return played, results


def learn(
    example: ModuleType, arguments: argparse.Namespace, results: list[dict[str, Any]]
) -> float:
    """The learner's processor time for a position: a round with a full window, records and
    checkpoint written.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments.folder, arguments.units = folder, len(results)
        arguments.rounds, arguments.evaluate_every = arguments.window + 2, arguments.window + 9
        run = example.Run(arguments)
        for number in range(arguments.window + 1):
            run.results = dict(zip(run.units(number), results, strict=True))
            begin = time.thread_time()
            run.finish(number, 0)
            seconds = time.thread_time() - begin
    return seconds / sum(len(result["samples"]["result"]) for result in results)


def measure_game(
    example: ModuleType, game: str, options: argparse.Namespace
) -> tuple[Pieces, list[Played]]:
    """The pieces of a game, and what each number of workers played."""
    # No run is kept, and none that is there is in the way.
    arguments = example.read_arguments([game, *options.set, "--folder", "runs/ray-workers"])
    units = arguments.units
    measured: list[Played] = []
    results: list[dict[str, Any]] = []
    vars(example)["Player"] = timed_player(example)
    for workers in options.workers:
        played, given = play(example, arguments, workers, options.units)
        measured.append(played)
        results = results or given
    pieces = Pieces(
        game,
        measured[0].positions / measured[0].processor,
        learn(example, arguments, results),
        measured[0].driving,
        float(np.mean([len(result["samples"]["result"]) for result in results])),
        float(np.mean([len(pickle.dumps(result)) for result in results])),
        example.Run(arguments).weights[0].nbytes,
        units,
    )
    return pieces, measured


def show(pieces: Pieces, measured: list[Played], options: argparse.Namespace) -> None:
    """Print a game's tables."""
    rows = [
        [
            str(played.workers),
            human(played.rate),
            f"{played.rate / measured[0].rate:.2f}",
            human(played.positions / played.processor),
        ]
        for played in measured
    ]
    header = ["workers", "positions/s", "times one", "positions a processor second"]
    show_table(f"{pieces.game}: measured, workers alone", header, rows)
    rows = [
        ["a worker's processor time for a position", f"{1e3 / pieces.playing:.2f} ms"],
        ["the learner's, with records and checkpoints", f"{1e3 * pieces.learning:.3f} ms"],
        ["the driver's for a unit", f"{1e3 * pieces.driving:.1f} ms"],
        ["positions of a unit", human(pieces.positions)],
        ["bytes for each position", human(pieces.result_bytes / pieces.positions)],
        ["bytes of a network", human(pieces.network_bytes)],
    ]
    show_table(f"{pieces.game}: the pieces", ["piece", "measured"], rows)
    limits = pieces.limits(MODELLED[-1], options.gigabits, options.cores)
    rows = [
        [part, human(limit), human(limit / pieces.playing)]
        for part, limit in sorted(limits.items(), key=lambda pair: pair[1])
        if part != "workers"
    ]
    header = ["part", "positions/s at most", "reached by so many workers"]
    show_table(f"{pieces.game}: modelled, the lowest is the bottleneck", header, rows)


def points_of(found: list[tuple[Pieces, list[Played]]], options: argparse.Namespace) -> list[Point]:
    """All points, measured and modelled, as they are in the file."""
    points = []
    for pieces, measured in found:
        for played in measured:
            points.append(Point(pieces.game, "measured", played.workers, round(played.rate, 1), ""))
        for workers in MODELLED:
            rate, bottleneck = pieces.model(workers, options.gigabits, options.cores)
            points.append(Point(pieces.game, "modelled", workers, round(rate, 1), bottleneck))
    return points


def write_points(path: str, points: list[Point]) -> None:
    """Write points, one a line."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(points)


def read_points(path: str) -> list[Point]:
    """The points of a file; ValueError where it is none of ours."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != Point._fields:
        raise ValueError(f"{path} has the columns {header}, not {list(Point._fields)}")
    return [Point(game, kind, int(w), float(rate), limit) for game, kind, w, rate, limit in rows]


def plot(path: str, points: list[Point]) -> None:
    """Draw the model as lines and what was measured as dots."""
    pyplot = load_pyplot()
    drawing, panel = pyplot.subplots(figsize=(6.4, 4.0))
    for number, game in enumerate(dict.fromkeys(point.game for point in points)):
        for kind, style in (("modelled", "-"), ("measured", "o")):
            own = [point for point in points if (point.game, point.kind) == (game, kind)]
            places, rates = [one.workers for one in own], [one.positions_per_second for one in own]
            panel.plot(places, rates, style, color=f"C{number}", label=f"{game}, {kind}")
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xlabel("workers")
    panel.set_ylabel("positions a second")
    panel.legend(fontsize="small")
    drawing.tight_layout()
    # No date and no random ids: a file drawn anew from the same figures is the same.
    with pyplot.rc_context({"svg.hashsalt": "tabletop_envs"}):
        drawing.savefig(path, metadata={"Date": None} if Path(path).suffix == ".svg" else {})


def parse_arguments(words: list[str] | None) -> argparse.Namespace:
    """The command line; a wrong one ends the program with a message, as is the custom."""
    parser = argparse.ArgumentParser("python -m benchmarks.ray_workers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("games", nargs="*", metavar="GAME", help="games of the library (default: all)")
    add("--workers", nargs="+", type=int, default=[1, 2], help="how many (default: 1 2)")
    add("--units", type=int, default=4, help="units of each worker that are timed (default: 4)")
    add("--set", nargs="*", default=[], metavar="NAME=VALUE", help="the example's settings")
    add("--gigabits", type=float, default=10.0, help="a second of the learner's connection")
    add("--cores", type=int, default=32, help="workers of a machine (default: 32)")
    add("--json", metavar="FILE", help="the pieces as JSON lines; - for the standard output")
    add("--csv", metavar="FILE", help="all points, measured and modelled")
    add(
        "--from",
        dest="source",
        metavar="FILE",
        help="the points of such a file: nothing is measured",
    )
    add("--plot", metavar="FILE", help="a drawing of them (needs matplotlib)")
    options = parser.parse_args(words)
    for text in options.set:
        if "=" not in text:
            parser.error(f"--set {text!r} is not NAME=VALUE")
    options.set = [word for text in options.set for word in ("--" + text).split("=", 1)]
    if min(*options.workers, options.units, options.cores, options.gigabits) <= 0:
        parser.error("--workers, --units, --cores and --gigabits are more than 0")
    try:
        options.games = [registry.import_game(game).name for game in options.games]
    except ValueError as error:
        parser.error(str(error))
    options.games = options.games or registry.game_names()
    return options


def main(words: list[str] | None = None) -> int:
    """Measure, model, show; 2 where something is not installed, before anything is measured."""
    options = parse_arguments(words)
    try:
        if options.plot:
            load_pyplot()
        example = None if options.source else load_example()
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    if example is None:
        points = read_points(options.source)
    else:
        found = [measure_game(example, game, options) for game in options.games]
        points = points_of(found, options)
        lines = [{"pieces": vars(p), "measured": [vars(m) for m in ms]} for p, ms in found]

        def show_all() -> None:
            for pieces, measured in found:
                show(pieces, measured, options)

        report(options.json, lines, show_all, [])
    if options.csv:
        write_points(options.csv, points)
    if options.plot:
        plot(options.plot, points)
    return 0


if __name__ == "__main__":
    sys.exit(main())
