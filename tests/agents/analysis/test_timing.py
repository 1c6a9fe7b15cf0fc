"""Moves timed by a clock of the test's own, and compared with what was played in a batch."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest

from agents import make_agent
from agents.agent import Actions, Keys, Masks, Observations, OpenAgent
from agents.analysis import timing
from agents.analysis.timing import Times, add, measure, percentiles
from agents.benchmarks import SeedSet
from agents.lots import AgentError
from agents.played import Played
from prefa_env import prefa
from prefa_env.game import Game
from prefa_env.prefa import Phase, Rules
from tests import toy
from tests.agents.analysis.lots import CANDIDATE, EVERYBODY, SEEDS, played

UNIFORM, FIRST_LEGAL = make_agent("uniform"), make_agent("first-legal")


def timed(agent: Any, games: Played, is_counted: Any = CANDIDATE, seeds: SeedSet = SEEDS) -> Times:
    return measure(prefa, Rules(), agent, seeds, games, is_counted)


class Wrapped:
    """`uniform` with notes of its keys; answers may be changed."""

    name = "wrapped"

    def __init__(self, answer: Any = None) -> None:
        self.keys: list[int] = []
        self.answer = answer

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        assert observations.shape[1:] == (prefa.OBSERVATION.size,)
        assert action_masks.shape[1:] == (prefa.NUM_ACTIONS,)
        self.keys += keys.tolist()
        actions = UNIFORM.act(observations, action_masks, keys)
        return actions if self.answer is None else cast(Actions, self.answer(actions, action_masks))


def decisions(games: Played, is_counted: Any) -> Counter[str]:
    """Free decisions of some seats by phase."""
    count: Counter[str] = Counter()
    deals = games.deals
    for k, game in enumerate(deals.games):
        r = int(game) % len(games.seatings)
        table: Any = np.zeros(1, prefa.DTYPE)[0]
        prefa.deal(table, 0, deals.decks[k], int(deals.dealers[k]))
        for action in deals.actions[k]:
            if action < 0:
                break
            is_free = int(prefa.legal_actions(table)).bit_count() > 1
            count[Phase(table.phase).name.lower()] += int(is_free and is_counted[r, table.seat])
            prefa.step(table, int(action))
    return +count


def test_every_decision_once_and_the_same_again() -> None:
    other = make_agent("heuristic")
    lots = played(UNIFORM, other, 12, batch_size=8)
    for is_counted, agent in ((CANDIDATE, UNIFORM), (~CANDIDATE, other)):
        phases = set()
        for games in lots:
            times = timed(agent, games, is_counted)
            moves = {phase: len(times.milliseconds[phase]) for phase in times.milliseconds}
            assert moves == decisions(games, is_counted)
            assert times.differing == 0
            assert all(time > 0 for phase in times.milliseconds.values() for time in phase)
            phases |= set(moves)
        assert {"auction", "discard", "contract", "defence", "play"} <= phases


def test_the_keys_of_the_arena() -> None:
    agent = Wrapped()
    lots = played(agent, FIRST_LEGAL, 12, batch_size=5)
    before, agent.keys = sorted(agent.keys), []
    warm_ups = sum(len(timed(agent, games).milliseconds) for games in lots)
    assert len(agent.keys) == len(before) + warm_ups
    assert set(agent.keys) == set(before)
    assert sum(timed(UNIFORM, games, seeds=SeedSet("other")).differing for games in lots) > 50


def test_an_agent_whose_rows_depend_on_each_other() -> None:
    def odd(actions: Actions, masks: Masks) -> Actions:
        return masks.argmax(axis=1) if len(actions) > 1 else actions

    agent = Wrapped(odd)
    (games,) = played(agent, FIRST_LEGAL, 12)
    assert timed(agent, games).differing > 10


@pytest.mark.parametrize("bad", [-1, 62, 200])
def test_illegal_moves_are_done_as_in_the_arena(bad: int) -> None:
    agent = Wrapped(lambda actions, masks: np.full_like(actions, bad))
    (games,) = played(agent, UNIFORM, 6)
    assert games.illegal.any()
    assert timed(agent, games).differing == 0


def test_an_open_agent_sees_the_table() -> None:
    class Seer(OpenAgent):
        name = "seer"

        def act_open(self, tables: Any, observations: Any, masks: Any, keys: Any) -> Actions:
            deep = tables["hands"].sum(axis=1) + tables["num_played"] + tables["talon"]
            return np.array(
                [np.flatnonzero(m)[d % m.sum()] for m, d in zip(masks, deep, strict=True)]
            )

    seer = Seer()
    (games,) = played(seer, UNIFORM, 6)
    assert timed(seer, games).differing == 0


def test_times_are_of_single_moves_after_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now = 100.0
        seen: set[int]

        def perf_counter(self) -> float:
            return self.now

    clock = Clock()
    phase = prefa.OBSERVATION["phase"]

    class Slow(Wrapped):
        def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
            number = int(observations[0, phase].argmax())
            clock.now += 0.004 * (number + 1) if number in clock.seen else 10
            clock.seen.add(number)
            return super().act(observations, action_masks, keys)

    (games,) = played(UNIFORM, UNIFORM, 12)
    monkeypatch.setattr(timing, "time", clock)
    clock.seen = set()
    result = percentiles(timed(Slow(), games, EVERYBODY))
    assert list(result) == ["auction", "discard", "contract", "defence", "invite", "play"]
    for number, row in enumerate(result.values()):
        assert row["p50"] == pytest.approx(4 * (number + 1))
        assert row["p95"] == pytest.approx(4 * (number + 1))


def test_an_agent_that_raises_is_named() -> None:
    def late(actions: Actions, masks: Masks) -> Actions:
        raise TimeoutError("took longer than 10 s")

    (games,) = played(UNIFORM, FIRST_LEGAL, 1)
    with pytest.raises(AgentError, match="agent 'wrapped': TimeoutError: took longer"):
        timed(Wrapped(late), games)


def test_percentiles() -> None:
    times = add(
        Times({"play": [float(n) for n in range(60)]}, 1),
        Times({"play": [float(n) for n in range(60, 101)], "auction": [2.0]}, 2),
    )
    assert times.differing == 3
    assert percentiles(times) == {
        "auction": {"moves": 1, "p50": 2, "p95": 2},
        "play": {"moves": 101, "p50": 50, "p95": 95},
    }
    assert list(percentiles(times)) == ["auction", "play"]


def test_other_games() -> None:
    (games,) = played(UNIFORM, FIRST_LEGAL, 2)
    times = measure(cast(Game, toy), toy.Rules(), UNIFORM, SEEDS, games, CANDIDATE)
    assert times == Times({}, 0)
    assert percentiles(times) == {}
