"""Run the learning benchmark, and show what came of it.

    python -m benchmarks.learning run [--only NAME …] [--seeds S …] [--folder runs/learning]
    [--smoke] python -m benchmarks.learning table # Markdown, from results/*.csv python -m
    benchmarks.learning plot # docs/pictures/learning-NAME.svg

`run` needs `pip install "tabletop-envs[train]"`. It starts the script of every setting
(settings.toml) once for each seed; an interrupted run is resumed, and a finished one is not
repeated. Then it writes `results/NAME.csv`: every evaluation of every seed. `--smoke` takes a tiny
budget, to see that all works: give it other folders. `plot` needs matplotlib (the extra `bench`).
"""

from __future__ import annotations

import argparse
import csv
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.scaling import load_pyplot
from tabletop_envs.arena.ratings import wilson
from tabletop_envs.files import replacing

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RESULTS = HERE / "results"
PICTURES = ROOT / "docs" / "pictures"
Row = dict[str, str]


def read_settings(only: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The settings by name, or those named. SystemExit for an unknown name."""
    settings = tomllib.loads((HERE / "settings.toml").read_text())
    wanted = list(only) or list(settings)
    for name in wanted:
        if name not in settings:
            raise SystemExit(
                f"there is no setting {name!r}: the settings are {', '.join(settings)}"
            )
    return {name: settings[name] for name in wanted}


def read_rows(path: Path) -> list[Row]:
    """The lines of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write a CSV file: under another name first, so that there is always a whole one."""
    with replacing(path) as half, half.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def command(setting: dict[str, Any], seed: int, folder: Path, smoke: bool = False) -> list[str]:
    """What to start for a setting and a seed."""
    script, *arguments = shlex.split(setting["command"])
    resume = ["--resume"] if (folder / "checkpoint.pt").exists() else []
    tiny = shlex.split(setting["smoke"]) if smoke else []
    words = [*arguments, *tiny, "--seed", str(seed), "--folder", str(folder), *resume]
    return [sys.executable, str(ROOT / "examples" / script), *words]


def run(
    settings: dict[str, dict[str, Any]],
    seeds: list[int],
    root: Path,
    results: Path,
    smoke: bool = False,
) -> None:
    """Run what is asked, a process after the other, and collect what they wrote.

    Args:
        settings: By name.
        seeds: For all settings; empty: those of the settings.
        root: Where the runs' folders are made: `root/NAME/SEED`.
        results: The folder of the CSV files. A seed that was run anew takes its old lines' place.
        smoke: With the settings' tiny budgets.
    """
    for name, setting in settings.items():
        for seed in seeds or setting["seeds"]:
            folder = root / name / str(seed)
            finished = folder / "finished"
            if not finished.exists():
                print(f"{name}, seed {seed}", flush=True)
                subprocess.run(command(setting, seed, folder, smoke), check=True)
                finished.touch()
            path = results / f"{name}.csv"
            others = (
                [row for row in read_rows(path) if row["seed"] != str(seed)]
                if path.exists()
                else []
            )
            rows = [{"seed": str(seed), **row} for row in read_rows(folder / "evaluation.csv")]
            write_rows(path, sorted([*others, *rows], key=lambda row: int(row["seed"])))


def final_rows(rows: list[Row]) -> dict[str, list[Row]]:
    """The last evaluation of every seed, by opponent."""
    last = {
        seed: max(int(r["steps"]) for r in rows if r["seed"] == seed) for seed in seeds_of(rows)
    }
    final: dict[str, list[Row]] = {}
    for row in rows:
        if int(row["steps"]) == last[row["seed"]]:
            final.setdefault(row["opponent"], []).append(row)
    return final


def seeds_of(rows: list[Row]) -> list[str]:
    """The seeds of some rows, each once, in their order."""
    return list(dict.fromkeys(row["seed"] for row in rows))


def table(settings: dict[str, dict[str, Any]], results: Path) -> str:
    """The last evaluations as a table in Markdown: each seed's score with its interval, and all
    seeds' together.
    """
    lines = [
        "| setting | opponent | games a seed | each seed's score (95 %) | all seeds "
        "| steps | minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in settings:
        path = results / f"{name}.csv"
        if not path.exists():
            continue
        for opponent, rows in final_rows(read_rows(path)).items():
            games = sum(int(row["games"]) for row in rows)
            mean = sum(float(row["score"]) * int(row["games"]) for row in rows) / games
            low, high = wilson(mean, games)
            each = "; ".join(
                f"{float(r['score']):.1%} ({float(r['low']):.1%}–{float(r['high']):.1%})"
                for r in rows
            )
            minutes = [float(row["seconds"]) / 60 for row in rows]
            lines.append(
                f"| `{name}` | {opponent} | {rows[0]['games']} | {each} "
                f"| {mean:.1%} ({low:.1%}–{high:.1%}) "
                f"| {int(rows[0]['steps']):,} | {min(minutes):.1f}–{max(minutes):.1f} |"
            )
    return "\n".join(lines)


def plot(settings: dict[str, dict[str, Any]], results: Path, pictures: Path) -> list[Path]:
    """Draw the curves of each setting, a line a seed, with its interval; what was written."""
    pyplot = load_pyplot()
    written = []
    for name, setting in settings.items():
        path = results / f"{name}.csv"
        if not path.exists():
            continue
        rows = read_rows(path)
        figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
        for opponent, colour in (("random", "tab:blue"), ("greedy", "tab:orange")):
            for place, seed in enumerate(seeds_of(rows)):
                points = [r for r in rows if r["seed"] == seed and r["opponent"] == opponent]
                steps = [int(row["steps"]) / 1e6 for row in points]
                label = f"against {opponent}" if place == 0 else None
                axes.plot(steps, [float(r["score"]) for r in points], color=colour, label=label)
                low, high = ([float(row[side]) for row in points] for side in ("low", "high"))
                axes.fill_between(steps, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.axhline(0.5, color="grey", linewidth=0.8, linestyle=":")
        axes.set(title=setting["title"], xlabel="million steps", ylim=(0, 1.02))
        axes.set_ylabel("score (a draw is a half)")
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.legend(loc="lower right", frameon=False)
        written.append(pictures / f"learning-{name}.svg")
        # The same results give the same file.
        with pyplot.rc_context({"svg.hashsalt": name}):
            figure.savefig(written[-1], metadata={"Date": None})
        pyplot.close(figure)
    return written


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.learning", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", choices=("run", "table", "plot"))
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int, default=[])
    parser.add_argument("--folder", type=Path, default=Path("runs/learning"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args(words)
    if arguments.smoke and arguments.results == RESULTS:
        parser.error("--smoke is not for the results that are kept: name other --results")
    settings = read_settings(arguments.only)
    arguments.results.mkdir(parents=True, exist_ok=True)
    if arguments.action == "run":
        run(settings, arguments.seeds, arguments.folder, arguments.results, arguments.smoke)
    if arguments.action == "plot":
        for path in plot(settings, arguments.results, arguments.pictures):
            print(path)
    else:
        print(table(settings, arguments.results))


if __name__ == "__main__":
    main()
