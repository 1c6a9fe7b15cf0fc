"""Speed of `VectorEnv` with random legal actions, their choice included, on one thread."""

from __future__ import annotations

from functools import partial

from prefa_env import VectorEnv

from .table import Row, measure_in_turn

NUM_ENVS = 4096
STEPS = 100


def play(env: VectorEnv) -> int:
    """Choose random legal actions and do them; returns the number of decisions of one seat."""
    for key in range(STEPS):
        env.step(env.random_actions(key))
    return STEPS * env.num_envs


def run(seconds: float) -> list[Row]:
    """Steps a second with and without observations, in `seconds` altogether.

    Deals and matches take turns, so that their figures can be compared.
    """
    rows = []
    for observe, target in ((False, 15e6), (True, 8e6)):
        envs = [
            VectorEnv("prefa", NUM_ENVS, episode=episode, observe=observe)
            for episode in ("deal", "match")
        ]
        for env in envs:
            play(env)
        deals, matches = measure_in_turn([partial(play, env) for env in envs], seconds / 2)
        what = "step + mask + observation" if observe else "step + mask"
        rows.append(Row(f"VectorEnv, {what}", "steps", deals, target))
        rows.append(Row("  the same in matches", "steps", matches, 0.9 * deals.median))
    return rows
