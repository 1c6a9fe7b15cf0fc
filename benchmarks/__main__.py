"""Measure everything: `python -m benchmarks [--seconds 5]`; nothing else should be running."""

from __future__ import annotations

import argparse
import os
import platform

from . import aec, arena, records, search, solver, startup, training, vector
from .table import print_table, yardstick


def main() -> None:
    """Run all benchmarks and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5, help="time for each pair of figures")
    parser.add_argument(
        "--no-startup", action="store_true", help="leave out the start of processes"
    )
    parser.add_argument("--no-arena", action="store_true", help="leave out whole evaluations")
    parser.add_argument(
        "--no-solver",
        action="store_true",
        help="leave out open cards and search: minutes",
    )
    parser.add_argument("--no-training", action="store_true", help="leave out training")
    arguments = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, "
          f"{os.cpu_count()} cores, load {load:.1f}")  # fmt: skip
    loop = yardstick(min(2.0, arguments.seconds))
    rows = [*vector.run(arguments.seconds), *aec.run(arguments.seconds)]
    rows += records.run(arguments.seconds)
    print_table(rows, loop)
    if not arguments.no_solver:
        solver.print_table(solver.run(), loop)
        solver.print_growth(solver.growth())
        search.print_table(search.run())
    if not arguments.no_training:
        training.print_table(training.run(4 * arguments.seconds))
    if not arguments.no_arena:
        arena.print_table(arena.run())
    if not arguments.no_startup:
        startup.print_table(startup.run())


if __name__ == "__main__":
    main()
