"""Deals a second of the arena, a deal being three games, and what more processes bring."""

from __future__ import annotations

import time
from dataclasses import dataclass
from tempfile import TemporaryDirectory

import numpy as np

from agents.agent import Agent
from agents.arena import Arena
from agents.benchmarks import SeedSet
from agents.designs import one_against_copies
from agents.heuristic import Heuristic
from agents.network import NetworkConfig
from agents.policy import load_agent
from agents.registry import make_agent
from agents.train_config import TrainConfig
from agents.trainer import Trainer
from prefa_env import prefa
from prefa_env.prefa import Rules

SEEDS = SeedSet("benchmark")


@dataclass(frozen=True)
class Speed:
    """Deals a second by number of processes."""

    name: str
    target: int | None  # with 2 processes
    by_workers: dict[int, float]


def measure(candidate: Agent, field: Agent, deals: int, workers: int) -> float:
    """Deals a second, each in three seatings, once everything is compiled and running."""
    seatings = one_against_copies(0, 1, prefa.NUM_SEATS).seatings
    with Arena(prefa, Rules(), [candidate, field], SEEDS, workers, 512) as arena:
        for _ in arena.play(seatings, np.arange(20 * workers)):  # processes start and load
            pass
        begun = time.perf_counter()
        for _ in arena.play(seatings, np.arange(deals)):
            pass
        return deals / (time.perf_counter() - begun)


def run() -> list[Speed]:
    """Rule players, a network as the quick start has it, and search."""
    with TemporaryDirectory() as folder:
        network = NetworkConfig(width=128, blocks=1)
        Trainer(TrainConfig(run=folder, network=network, threads=1)).save()
        learned = load_agent(folder)  # untrained: as fast as a trained one
    heuristic = Heuristic()
    return [
        _scale("heuristic against uniform", make_agent("uniform"), heuristic, 20_000, 1_500),
        _scale("learned against heuristic", learned, heuristic, 6_000, 300),
        _scale("pimc:10 against heuristic", make_agent("pimc:10"), heuristic, 60, None),
    ]


def _scale(name: str, candidate: Agent, field: Agent, deals: int, target: int | None) -> Speed:
    workers = (1, 2)
    return Speed(name, target, {n: measure(candidate, field, deals, n) for n in workers})


def print_table(speeds: list[Speed]) -> None:
    """Print deals a second, and how they grow."""
    counts = list(speeds[0].by_workers)
    print(f"{'arena, deals x 3 seatings a second':36}" + "".join(f"{n:>6} proc." for n in counts))
    for speed in speeds:
        found = "".join(f"{value:12,.0f}" for value in speed.by_workers.values())
        growth = speed.by_workers[counts[-1]] / speed.by_workers[counts[0]]
        goal = f"  target: {speed.target:,}" if speed.target else ""
        print(f"{speed.name:36}{found}  x {growth:.2f}{goal}")
