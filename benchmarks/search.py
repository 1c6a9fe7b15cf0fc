"""Time of the search players for one decision, on one thread, over self-played deals."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.agent import Actions, Agent, Keys, Masks, Observations
from agents.arena import play
from agents.benchmarks import SeedSet
from agents.composite import combine
from agents.designs import rotations
from agents.heuristic import Heuristic
from agents.search.pimc import Pimc
from prefa_env import prefa
from prefa_env.prefa import OBSERVATION, Phase, Rules

DEALS = SeedSet("benchmark")
_PLAY = OBSERVATION["phase"].start + int(Phase.PLAY)


@dataclass
class Timed:
    """An agent that is asked for one decision at a time, with notes of how long each took."""

    agent: Agent
    name: str = "timed"
    cards: list[float] = field(default_factory=list)
    """Milliseconds of CPU time of each card played, forced ones left out."""
    words: list[float] = field(default_factory=list)
    """The same of each decision before the first card."""

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        actions = np.empty(len(keys), np.int64)
        for i in range(len(keys)):
            one = slice(i, i + 1)
            start = time.process_time()
            actions[i] = self.agent.act(observations[one], action_masks[one], keys[one])[0]
            taken = 1000 * (time.process_time() - start)
            (self.cards if observations[i, _PLAY] else self.words).append(taken)
        return actions


def time_agent(agent: Agent, deals: int) -> Timed:
    """Let an agent play all three hands of some deals."""
    timed = Timed(agent)
    for _ in play(prefa, Rules(), [timed, timed], rotations(3)[:1], DEALS, 1):
        timed.cards.clear()  # compiled
        timed.words.clear()
    for _ in play(prefa, Rules(), [timed, timed], rotations(3)[:1], DEALS, deals, batch_size=1):
        pass
    return timed


def run(deals: int = 60) -> list[tuple[str, list[float], dict[str, float]]]:
    """Names, milliseconds of each decision, and targets by statistic."""
    bidder = Heuristic()
    by_tricks = time_agent(combine(bidder, Pimc(50, by_tricks=True)), deals).cards
    by_money = time_agent(combine(bidder, Pimc(50)), deals).cards
    whole = time_agent(Pimc(20), deals)
    return [
        ("pimc:50, a card, to tricks", by_tricks, {"mean": 100}),
        ("pimc:50, a card, to money", by_money, {"mean": 3 * float(np.mean(by_tricks))}),
        ("pimc:20, any decision", whole.cards + whole.words, {"p50": 30, "p95": 400}),
        ("pimc:20, a card", whole.cards, {}),
        ("pimc:20, before the first card", whole.words, {}),
    ]


def print_table(rows: list[tuple[str, list[float], dict[str, float]]]) -> None:
    """Print times with their targets."""
    statistics: dict[str, Any] = {
        "mean": np.mean,
        "p50": np.median,
        "p95": lambda times: np.percentile(times, 95),
    }
    print(f"{'search, ms of CPU time':32} {'number':>6}" + "".join(f"{n:>9}" for n in statistics))
    for name, times, targets in rows:
        values = {key: float(of(times)) for key, of in statistics.items()}
        goals = ", ".join(f"{key} {goal:.0f}" for key, goal in targets.items())
        is_above = any(values[key] > goal for key, goal in targets.items())
        print(
            f"{name:32} {len(times):6}"
            + "".join(f"{value:9.1f}" for value in values.values())
            + (f"  target: {goals}" if goals else "")
            + ("  above target" if is_above else "")
        )
