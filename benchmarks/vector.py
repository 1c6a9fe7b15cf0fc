"""Speed of `VectorEnv` with random legal actions, their choice included, on one thread."""

from __future__ import annotations

from functools import partial

from prefa_env import VectorEnv

from .table import Row, measure

NUM_ENVS = 4096
STEPS = 100


def play(env: VectorEnv) -> int:
    """Choose random legal actions and do them; returns the number of decisions of one seat."""
    for key in range(STEPS):
        env.step(env.random_actions(key))
    return STEPS * env.num_envs


def run(seconds: float) -> list[Row]:
    """Steps a second with and without observations, in `seconds` altogether."""
    rows = []
    for observe, target in ((False, 15e6), (True, 8e6)):
        env = VectorEnv("prefa", NUM_ENVS, observe=observe)
        play(env)
        rate = measure(partial(play, env), seconds / 2)
        what = "step + mask + observation" if observe else "step + mask"
        rows.append(Row(f"VectorEnv, {what}", "steps", rate, target))
    return rows
