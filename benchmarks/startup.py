"""Time from the start of a Python process to the first step, with a cold and a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

PROGRAMS = {
    "VectorEnv": "from prefa_env import VectorEnv; e = VectorEnv(); e.step(e.random_actions(0))",
    "prefa_v0.env": (
        "from prefa_env import prefa_v0; e = prefa_v0.env(); e.reset(seed=0); e.last(); e.step(32)"
    ),
}


@dataclass(frozen=True)
class Startup:
    """Seconds of wall time of whole processes."""

    name: str
    cold: float
    warm: float


def run() -> list[Startup]:
    """Measure both programs, each once cold and then the best of three warm."""
    results = []
    for name, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            cold, *warm = (_seconds(program, folder) for _ in range(4))
        results.append(Startup(name, cold, min(warm)))
    return results


def _seconds(program: str, cache: str) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-c", program]
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def print_table(results: list[Startup]) -> None:
    """Print seconds from process start to first step."""
    print(f"{'seconds to the first step':32} {'cold cache':>13} {'warm cache':>13}")
    for result in results:
        print(f"{result.name:32} {result.cold:13.1f} {result.warm:13.2f}")
    print("targets                                       < 60          < 3")
