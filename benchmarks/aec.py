"""Speed of the PettingZoo environment: `last()` and `step()` of one table, with dictionaries."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np

from prefa_env import prefa_v0

from .table import Row, measure_in_turn

NUM_DEALS = 20


def random_scripts(episode: str = "deal") -> list[list[int]]:
    """Legal actions of the first deals of seed 0, so that choosing them costs no time later.

    As matches they are one, of as many deals.
    """
    rng = random.Random(0)
    env = make(prefa_v0.raw_env, episode)
    scripts = []
    for deal in range(NUM_DEALS if episode == "deal" else 1):
        env.reset(seed=0 if deal == 0 else None)
        script = []
        while not env.terminations[env.agent_selection]:
            mask = env.last()[0]["action_mask"]
            script.append(rng.choice(np.flatnonzero(mask).tolist()))
            env.step(script[-1])
        scripts.append(script)
    return scripts


def make(entry: Any, episode: str) -> Any:
    """An environment; matches have as many deals as there are by themselves."""
    return entry(episode=episode, max_deals=NUM_DEALS if episode == "match" else None)


def play(env: Any, scripts: list[list[int]]) -> int:
    """Play the deals, dealing included. Returns the number of steps."""
    for deal, script in enumerate(scripts):
        env.reset(seed=0 if deal == 0 else None)
        for action in script:
            env.last()
            env.step(action)
    return sum(map(len, scripts))


def run(seconds: float) -> list[Row]:
    """Steps a second, bare and with PettingZoo's wrappers, in `seconds` altogether."""
    rows = []
    names = {"raw_env": (prefa_v0.raw_env, 200_000), "env (wrapped)": (prefa_v0.env, 20_000)}
    for name, (entry, target) in names.items():
        works = [
            partial(play, make(entry, episode), random_scripts(episode))
            for episode in ("deal", "match")
        ]
        deals, matches = measure_in_turn(works, seconds / 2)
        rows.append(Row(f"AEC, {name}", "steps", deals, target))
        rows.append(Row("  the same in matches", "steps", matches, 0.9 * deals.median))
    return rows
