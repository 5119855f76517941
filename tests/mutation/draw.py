"""Leaves in a session of Cosmic Ray what its filters have left, or so many of these mutants, drawn
at random.

    python -m tests.mutation.draw tuerme.sqlite --number 150 --seed 1
"""

from __future__ import annotations

import random
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from cosmic_ray.tools.filters.filter_app import FilterApp
from cosmic_ray.work_db import WorkDB


class Draw(FilterApp):  # type: ignore[misc]
    """The filter, with its options."""

    def description(self) -> str | None:
        """What `--help` says."""
        return __doc__

    def add_args(self, parser: ArgumentParser) -> None:
        """The options."""
        parser.add_argument("--number", type=int, help="of mutants (default: all)")
        parser.add_argument("--seed", type=int, default=1)

    def filter(self, work_db: WorkDB, args: Namespace) -> None:
        """Remove all but what is drawn."""
        items = sorted(work_db.pending_work_items, key=_place)
        total = len(items)
        random.Random(args.seed).shuffle(items)
        work_db.clear()
        work_db.add_work_items(items[: args.number])
        print(f"{work_db.num_work_items} of {total} mutants")


def _place(item: Any) -> tuple[str, str, int]:
    (mutation,) = item.mutations
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


if __name__ == "__main__":
    sys.exit(Draw().main())
