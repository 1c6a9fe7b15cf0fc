"""Makes a folder of shards: in several processes, and on from wherever it was stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from rich.progress import Progress

from prefa_env import VectorEnv
from prefa_env.atomic import atomic_write
from prefa_env.doors import find_game
from prefa_env.prefa import Rules

from .. import provenance
from ..agent import ValuingAgent
from ..benchmarks import SeedSet, refuse_benchmark_deals
from ..folder import Folder, FolderError
from ..registry import make_agent
from ..workers import Workers, one_thread
from .play import play_deals
from .shards import SETUP_FILE, ShardError, describe, encode, read_shard, shard_name

LOCK_FILE = "teaching.lock"

_PRINT_EVERY = 30.0
"""Seconds between lines where the output is no terminal."""


@dataclass(frozen=True)
class TeachingConfig:
    """Who teaches, on which deals, and where the shards go."""

    out: str = "runs/teacher"
    """Folder of the shards; the same command goes on there if it was interrupted."""
    teacher: str = "pimc:10"
    """Who plays all seats: spec of an agent that values actions, `pimc:N` or `A+pimc:N`."""
    deals: int = 20_000
    """Deals in all, rounded up to whole shards; may grow later."""
    shard: int = 128
    """Deals in one shard."""
    epsilon: float = 0.05
    """How often any legal action is played in place of the teacher's choice."""
    seed: int = 1
    """Of the deals and of all chance in playing them."""
    workers: int = 1
    """Processes that play; shards do not depend on it."""
    game: str = "prefa"
    """Name of the game."""
    rules: Rules = field(default_factory=Rules)
    """The rule variant."""

    def __post_init__(self) -> None:
        find_game(self.game)
        limits: dict[str, tuple[float, float]] = {
            "deals": (1, 10**9), "shard": (1, 10**5), "epsilon": (0, 1), "seed": (0, 2**63 - 1),
            "workers": (1, 1024),
        }  # fmt: skip
        for name, (low, high) in limits.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {getattr(self, name)}")
        for name in ("out", "teacher"):
            if not getattr(self, name):
                raise ValueError(f"{name} must be a name, not empty")

    @property
    def seeds(self) -> SeedSet:
        """The deals, and the keys of all chance."""
        return SeedSet(f"teacher-{self.seed}")

    @property
    def setup(self) -> dict[str, Any]:
        """Everything that the bytes of a shard depend on, besides its number."""
        return describe(find_game(self.game), self.rules) | {
            "version": provenance.package_version(),
            "teacher": self.teacher,
            "identity": provenance.identity(self.teacher),
            "epsilon": float(self.epsilon),  # as it comes back from JSON
            "seed": self.seed,
            "shard": self.shard,
        }


@dataclass(frozen=True)
class Summary:
    """What is in a folder, and what of it was made now."""

    deals: int = 0
    decisions: int = 0
    size: int = 0  # bytes
    made: int = 0  # decisions
    seconds: float = 0.0  # of making them, in all processes at once

    def __str__(self) -> str:
        rate = f", made {self.made / self.seconds:,.0f} decisions/s" if self.made else ""
        return (
            f"{self.deals:,} deals, {self.decisions:,} decisions, {self.size / 1e6:,.1f} MB{rate}"
        )


@dataclass(frozen=True)
class ShardMaker:
    """Makes shards; each is determined by its number and the config."""

    config: TeachingConfig
    teacher: ValuingAgent
    setup: dict[str, Any]

    def make(self, number: int) -> tuple[bytes, int]:
        """A shard's file, and how many decisions are in it."""
        config = self.config
        env = VectorEnv(config.game, config.shard, config.rules, auto_reset=False)
        first = number * config.shard
        with one_thread():
            decisions = play_deals(env, self.teacher, config.seeds, first, config.epsilon)
        return encode(decisions, self.setup, number), len(decisions)

    def compile(self) -> None:
        """Play a single deal, so that processes find what is to be compiled."""
        replace(self, config=replace(self.config, shard=1)).make(0)


def make_teacher(config: TeachingConfig) -> ValuingAgent:
    """The agent that a config names. Raises ValueError if there is none or it values nothing."""
    teacher = make_agent(config.teacher, config.game, config.rules)
    if not isinstance(teacher, ValuingAgent):
        raise ValueError(
            f"teacher {config.teacher!r} does not say what actions are worth: take pimc:N, or "
            "A+pimc:N for other bidding"
        )
    return teacher


def generate(config: TeachingConfig, progress: Progress) -> Summary:
    """Make the shards that are not there yet.

    Args:
        config: what to make.
        progress: shows how far it is; where its console is no terminal, lines are printed.

    Raises:
        ValueError: no such agent, or one without values; a folder of something else or with other
            settings, or one that another process is writing to (FolderError); a seed that draws a
            deal of a benchmark (BenchmarkError).
        BrokenProcessPool: a worker was killed.
        OSError: a file could not be written.
    """
    game, setup = find_game(config.game), config.setup
    maker = ShardMaker(config, make_teacher(config), setup)
    count = -(-config.deals // config.shard)
    for number in range(count):  # not after hours
        numbers = number * config.shard + np.arange(config.shard)
        refuse_benchmark_deals(game, *config.seeds.deals(game, numbers), f"seed {config.seed}")
    with Folder(config.out, "set of teacher data", SETUP_FILE, LOCK_FILE, setup) as folder:
        for draft in folder.path.glob(".shard-*.tmp"):  # of a process that was killed
            draft.unlink()
        summary, missing = _look(folder, maker, count)
        task = progress.add_task("", total=count, completed=count - len(missing), figures="")
        if summary.deals and missing:
            print(f"going on with {config.out}: {summary.deals:,} deals are there", flush=True)
        begun = printed = time.monotonic()
        with Workers(config.workers, maker.make) as processes:
            for number, (data, decisions) in _make(maker, processes, missing):
                with atomic_write(folder.path / shard_name(number), "wb") as file:
                    file.write(data)
                summary = replace(
                    summary,
                    deals=summary.deals + config.shard,
                    decisions=summary.decisions + decisions,
                    size=summary.size + len(data),
                    made=summary.made + decisions,
                    seconds=time.monotonic() - begun,
                )
                progress.update(task, advance=1, figures=str(summary))
                if not progress.console.is_terminal and time.monotonic() - printed > _PRINT_EVERY:
                    printed = time.monotonic()
                    done = (summary.deals // config.shard) - (count - len(missing))
                    left = summary.seconds / done * (len(missing) - done)
                    print(f"{summary}; {left / 60:,.0f} min left", flush=True)
    return summary


def _look(folder: Folder, maker: ShardMaker, count: int) -> tuple[Summary, list[int]]:
    """What is there already, and the numbers of the shards that are not."""
    game = find_game(maker.config.game)
    summary, missing = Summary(), []
    for number in range(count):
        path = folder.path / shard_name(number)
        if not path.exists():
            missing.append(number)
            continue
        try:
            decisions = read_shard(path, game, maker.setup)
        except ShardError as error:
            raise FolderError(f"{error}; delete it, and it is made anew") from None
        summary = replace(
            summary,
            deals=summary.deals + maker.config.shard,
            decisions=summary.decisions + len(decisions),
            size=summary.size + path.stat().st_size,
        )
    return summary, missing


def _make(
    maker: ShardMaker, processes: Workers[[int], tuple[bytes, int]], missing: list[int]
) -> Iterator[tuple[int, tuple[bytes, int]]]:
    """The shards with these numbers, as they are finished."""
    workers = maker.config.workers
    if workers == 1:
        for number in missing:
            yield number, maker.make(number)
        return
    if missing:
        maker.compile()
    numbers = iter(missing)
    running: dict[Future[tuple[bytes, int]], int] = {}
    while True:
        for number in islice(numbers, 2 * workers - len(running)):
            running[processes.submit(number)] = number
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future.result()
