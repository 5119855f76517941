"""Draws the curve of a run of examples/alphazero.py (docs/alphazero.md) from its logs.

python docs/draw_alphazero.py # docs/pictures/alphazero-kirche.svg from docs/data/alphazero-kirche
"""

from __future__ import annotations

import csv
from pathlib import Path

from matplotlib import pyplot

DOCS = Path(__file__).parent
LOGS = DOCS / "data" / "alphazero-kirche"
PICTURE = DOCS / "pictures" / "alphazero-kirche.svg"
COLOURS = {"random": "#888888", "greedy": "#1f77b4", "mcts:400": "#d62728"}


def read(name: str) -> list[dict[str, str]]:
    """The lines of a log."""
    with (LOGS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Scores with their intervals against minutes, above the losses."""
    progress, evaluation = read("progress"), read("evaluation")
    figure, (scores, losses) = pyplot.subplots(
        2, sharex=True, figsize=(6.4, 5.2), layout="constrained", height_ratios=(2, 1)
    )
    for opponent, colour in COLOURS.items():
        rows = [row for row in evaluation if row["opponent"] == opponent]
        minutes = [float(row["seconds"]) / 60 for row in rows]
        middle, low, high = ([float(row[key]) for row in rows] for key in ("score", "low", "high"))
        scores.plot(minutes, middle, marker="o", color=colour, label=f"against {opponent}")
        scores.fill_between(minutes, low, high, color=colour, alpha=0.15, linewidth=0)
    scores.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
    scores.set_ylabel("score, draws as half")
    scores.set_ylim(0, 1.02)
    scores.legend(loc="lower right")
    minutes = [float(row["seconds"]) / 60 for row in progress]
    for name, colour in (("policy_loss", "#2ca02c"), ("value_loss", "#9467bd")):
        axis = losses if name == "policy_loss" else losses.twinx()
        axis.plot(minutes, [float(row[name]) for row in progress], color=colour)
        axis.set_ylabel(name.replace("_", " "), color=colour)
    grown = next(float(row["seconds"]) / 60 for row in progress if row["level"] == "2")
    for axes in (scores, losses):
        axes.axvline(grown, color="black", linewidth=0.8, linestyle="--")
    scores.text(grown, 0.03, " from here on 2 houses", fontsize=8)
    losses.set_xlabel("minutes")
    with pyplot.rc_context({"svg.hashsalt": "alphazero"}):
        figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
