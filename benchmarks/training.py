"""Speed of training on this machine: where the time of an iteration goes, and what might help."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tabulate import tabulate

from agents.agent import Values
from agents.cli import Names
from agents.network import Policy
from agents.policy import PolicyAgent
from agents.ppo import PPOConfig
from agents.rollout import Judge
from agents.train_config import TrainConfig
from agents.trainer import Trainer
from prefa_env import VectorEnv, prefa

Row = tuple[str, str]

_PPO = PPOConfig(epochs=1, minibatch=2048, hindsight=1, final_hindsight=1)


class _Timed:
    """A judge with a note of how long it took."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.seconds = 0.0

    def is_sure(self, tables: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return self._judge.is_sure(tables)

    def values(self, tables: npt.NDArray[Any], deals: npt.NDArray[np.int64]) -> Values:
        start = time.perf_counter()
        values = self._judge.values(tables, deals)
        self.seconds += time.perf_counter() - start
        return values

    def settle(self, tables: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
        return self._judge.settle(tables)


def run(seconds: float) -> list[Row]:
    """What was measured and what came out, in words."""
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(
            run=str(Path(folder) / "run"), deals=1024, ppo=_PPO, past_share=0.2,
            opponents=Names(["heuristic"]), opponent_share=0.25, decisions=10**9,
        )  # fmt: skip
        trainer = Trainer(config)
    assert trainer.judge is not None
    judge = trainer.judge = _Timed(trainer.judge)
    trainer.iterate()  # compiles
    judge.seconds = 0.0
    count = rollout = update = env = 0.0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        before = trainer.decisions
        figures = trainer.iterate()
        made = trainer.decisions - before
        count += made
        rollout += made / figures["time/rollout_fps"]
        update += made / figures["time/update_fps"]
        env += figures["time/env_share"] * made / figures["time/fps"]
    total = rollout + update
    shares = {
        "rules and observations": env,
        "solver": judge.seconds,
        "networks that play": rollout - env - judge.seconds,
        "networks that learn": update,
    }
    rows = [
        ("decisions a second, all in all", f"{count / total:,.0f}"),
        ("while deals are played and valued", f"{count / rollout:,.0f}"),
        ("while it learns", f"{count / update:,.0f}"),
        *((f"part of the time: {name}", f"{part / total:.1%}") for name, part in shares.items()),
    ]
    return rows + _moves(trainer.learner.policy) + _ideas(trainer.learner.policy, seconds / 4)


def _moves(policy: Policy) -> list[Row]:
    """Time of a single move on one thread."""
    agent = PolicyAgent("policy", policy, prefa)
    env = VectorEnv("prefa", 512, seed=1)
    keys = np.zeros(1, np.uint64)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    times = []
    for i in range(512):
        start = time.perf_counter()
        agent.act(env.observations[i : i + 1], env.action_masks[i : i + 1], keys)
        times.append(1000 * (time.perf_counter() - start))
    torch.set_num_threads(threads)
    middle, high = np.percentile(times, [50, 95])
    return [("ms a move on one thread, p50 (target 1), p95", f"{middle:.2f}, {high:.2f}")]


def _ideas(policy: Policy, seconds: float) -> list[Row]:
    """Other ways to ask the network, as ratios of speed within this run."""
    seen = torch.randint(0, 2, (2048, prefa.OBSERVATION.size), dtype=torch.int8)
    masks = torch.ones(2048, prefa.NUM_ACTIONS, dtype=torch.bool)
    plain = _rate(lambda: policy(seen, masks), seconds)

    def half() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            policy(seen, masks)

    rows = [("2,048 rows with bfloat16, times the speed", f"{_rate(half, seconds) / plain:.2f}")]
    try:
        compiled = torch.compile(policy)
        compiled(seen, masks)
        ratio = f"{_rate(lambda: compiled(seen, masks), seconds) / plain:.2f}"
    except Exception as error:  # it needs a C++ compiler
        ratio = f"no: {type(error).__name__}"
    return [*rows, ("2,048 rows with torch.compile, times the speed", ratio)]


@torch.no_grad()
def _rate(work: Callable[[], object], seconds: float) -> float:
    count = 0
    start = time.perf_counter()
    while (taken := time.perf_counter() - start) < seconds:
        work()
        count += 1
    return count / taken


def print_table(rows: list[Row]) -> None:
    """Print what came out."""
    print(tabulate(rows, headers=("training, width 256, 2 blocks", ""), disable_numparse=True))
