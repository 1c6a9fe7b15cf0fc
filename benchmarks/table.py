"""Rows of a benchmark, the yardstick they are given in multiples of, and how they are printed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Units a second of CPU time over repetitions of some work."""

    median: float
    best: float
    """What the machine can do: other processes only ever slow a repetition down."""


@dataclass(frozen=True)
class Row:
    """A speed in units a second, and what it should be at least."""

    name: str
    unit: str
    rate: Rate
    target: float | None = None


def measure(work: Callable[[], int], seconds: float) -> Rate:
    """The speed of `work`, which returns its units, repeated for `seconds` of wall time."""
    return measure_in_turn([work], seconds)[0]


def measure_in_turn(works: Sequence[Callable[[], int]], seconds: float) -> list[Rate]:
    """The speeds of several works that take turns, so that the machine treats them alike."""
    rates: list[list[float]] = [[] for _ in works]
    end = time.perf_counter() + seconds
    while not rates[-1] or time.perf_counter() < end:
        for work, found in zip(works, rates, strict=True):
            start = time.process_time()
            units = work()
            found.append(units / (time.process_time() - start))
    return [Rate(statistics.median(found), max(found)) for found in rates]


def python_loop(iterations: int = 100_000) -> int:
    """The yardstick: a loop of plain Python that never changes. Returns its iterations."""
    total = 0
    for i in range(iterations):
        total += i & 3
    return iterations


def yardstick(seconds: float) -> Row:
    """Speed of the plain Python loop; tells machines, and moments of one machine, apart."""
    return Row("plain Python loop", "iterations", measure(python_loop, seconds))


def print_table(rows: Iterable[Row], loop: Row) -> None:
    """Print rows with their targets, and as multiples of the yardstick of the same run."""
    print(
        f"{'per second of CPU time':32} {'median':>13} {'best':>13}  {'unit':10} "
        f"{'target':>12} {'x loop':>8}"
    )
    for row in (loop, *rows):
        target = "" if row.target is None else f"{row.target:,.0f}"
        is_below = row.target is not None and row.rate.median < row.target
        print(
            f"{row.name:32} {row.rate.median:13,.0f} {row.rate.best:13,.0f}  {row.unit:10} "
            f"{target:>12} {row.rate.median / loop.rate.median:8.3f}"
            f"{'  below target' if is_below else ''}"
        )
