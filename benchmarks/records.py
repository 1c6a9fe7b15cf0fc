"""Speed of records of random deals: written, read, and read and replayed, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env.records import (
    DealRecord,
    RecordError,
    check_records,
    read_records,
    record_deal,
    write_records,
)

from .table import Row, measure

NUM_DEALS = 2000


def play(number: int) -> list[DealRecord]:
    """Records of deals played with random legal actions."""
    env = VectorEnv("prefa", number, observe=False, auto_reset=False)
    steps: list[npt.NDArray[np.int64]] = []
    while env.legal_actions.any():
        actions = env.random_actions(len(steps))
        steps.append(np.where(env.legal_actions != 0, actions, -1))
        env.step(actions)
    return [
        record_deal(env.game, env.rules, table, row[row >= 0].tolist(), ["uniform"] * 3, number)
        for number, (table, row) in enumerate(zip(env.tables, np.stack(steps, 1), strict=True))
    ]


def check(path: Path) -> int:
    """Read and replay a file; returns its lines. Raises RecordError for a bad one."""
    for _, result in check_records(path):
        if isinstance(result, RecordError):
            raise result
    return NUM_DEALS


def run(seconds: float) -> list[Row]:
    """Lines a second, in `seconds` altogether."""
    records = play(NUM_DEALS)
    with TemporaryDirectory() as folder:
        path = Path(folder, "deals.jsonl")
        works: dict[str, Callable[[], int]] = {
            "written": lambda: write_records(path, records),
            "read": lambda: sum(1 for _ in read_records(path)),
            "read and replayed": lambda: check(path),
        }
        return [
            Row(f"records, {name}", "lines", measure(work, seconds / len(works)))
            for name, work in works.items()
            if work()  # once before: compiles
        ]
