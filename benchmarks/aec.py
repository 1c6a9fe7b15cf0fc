"""Speed of the PettingZoo environment: `last()` and `step()` of one table, with dictionaries."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np

from prefa_env import prefa_v0

from .table import Row, measure

NUM_DEALS = 20


def random_scripts() -> list[list[int]]:
    """Legal actions of the first deals of seed 0, so that choosing them costs no time later."""
    rng = random.Random(0)
    env = prefa_v0.raw_env()
    scripts = []
    for deal in range(NUM_DEALS):
        env.reset(seed=0 if deal == 0 else None)
        script = []
        while not env.terminations[env.agent_selection]:
            mask = env.last()[0]["action_mask"]
            script.append(rng.choice(np.flatnonzero(mask).tolist()))
            env.step(script[-1])
        scripts.append(script)
    return scripts


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
    scripts = random_scripts()
    raw = measure(partial(play, prefa_v0.raw_env(), scripts), seconds / 2)
    wrapped = measure(partial(play, prefa_v0.env(), scripts), seconds / 2)
    return [
        Row("AEC, raw_env", "steps", raw, 200_000),
        Row("AEC, env (wrapped)", "steps", wrapped, 20_000),
    ]
