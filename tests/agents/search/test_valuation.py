"""What decisions before the first card are worth, against a plain walk through all words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.heuristic import Heuristic
from agents.heuristic.view import decode
from agents.search import open_cards, valuation
from agents.search.screening import MOST, screen
from prefa_env import prefa, solver
from prefa_env.prefa import Rules, State
from prefa_env.prefa.kernel import left_of, right_of
from prefa_env.prefa.rules import NUM_RUNGS, Action, Phase
from prefa_env.prefa.scoring import payments
from prefa_env.prefa.state import DTYPE
from tests.agents.search.positions import positions
from tests.helpers import members, observation_of
from tests.test_payment import settled

MEMORY = solver.Memory()
MODEL = Heuristic()


def after(table: State, action: int) -> State:
    other: Any = table.copy()
    prefa.step(other, action)
    return other  # type: ignore[no-any-return]


def best_words(table: State) -> list[int]:
    """Settled thirds if each defender says what pays him best, the earlier of equal words."""
    if table.phase == Phase.OVER:
        return [int(x) for x in table.settled_thirds]
    if table.phase == Phase.PLAY:
        return settled(table, int(right_of(table.owner)))
    seat = int(table.seat)
    results = [best_words(after(table, word)) for word in members(prefa.legal_actions(table))]
    return max(results, key=lambda result: result[seat])


def scratch(table: State) -> Any:
    tables = np.zeros(open_cards.NUM_TABLES, DTYPE)
    tables[0] = table
    return tables


def test_defenders_who_see_all_say_what_pays_them_best() -> None:
    checked = 0
    for table, _ in positions("words", 60):
        if table.phase not in (Phase.DEFENCE, Phase.INVITE):
            continue
        tables = scratch(table)
        open_cards.settle_defence(MEMORY.table, MEMORY.scratch, tables)
        assert tables[0]["settled_thirds"].tolist() == best_words(table)
        for word in members(prefa.legal_actions(table)):
            value = open_cards.value_word(MEMORY.table, MEMORY.scratch, scratch(table), word)
            assert value == best_words(after(table, word))[int(table.seat)]
        checked += 1
    assert checked > 60


def test_contracts_are_worth_what_the_defence_leaves() -> None:
    checked = 0
    for table, _ in positions("contracts", 40):
        if table.phase != Phase.CONTRACT:
            continue
        values = np.full(NUM_RUNGS, -(10**6))
        open_cards.value_contracts(MEMORY.table, MEMORY.scratch, scratch(table), values)
        assert (values > -(10**6)).any()
        for rung in np.flatnonzero(values > -(10**6)):
            named = after(table, int(Action.BID + rung))
            assert values[rung] == best_words(named)[int(table.owner)]
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("slips", [(0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0), (0.1, 0.5, 0.3, 0.1)])
def test_slips_move_tricks_between_the_sides(
    slips: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valuation, "_SLIPS", slips)
    monkeypatch.setattr(valuation, "_SLIPS_ALONE", slips)
    function: Any = valuation.expected_payment
    function = getattr(function, "py_func", function)
    tables = np.zeros(2, DTYPE)
    checked = 0
    for table, rules in positions("slips", 60):
        if table.phase != Phase.PLAY or table.num_played or table.owner < 0:
            continue
        owner, right, left = table.owner, right_of(table.owner), left_of(table.owner)
        tricks = [4, 5, 1]  # of declarer, right and left, so that none runs out of them
        line: Any = table.copy()
        line.tricks[[owner, right, left]] = tricks
        prefa.kernel.pay(line)
        for viewer in range(3):
            tables[0] = line
            expected = 0.0
            for share, more in zip(slips, (-1, 0, 1, 2), strict=True):
                for side in (1, 2):
                    taken = [tricks[0] + more, tricks[1], tricks[2]]
                    given = min(more, tricks[side])
                    taken[side] -= given
                    taken[3 - side] -= more - given
                    kassa, *kapikia = payments(
                        rules.flags,
                        table.bid,
                        table.defence,
                        taken[0],
                        taken[1],
                        taken[2],
                        table.has_aces,
                    )
                    place = (viewer - owner) % 3
                    change = kapikia[place] - 10 * (kassa * (place == 0) - kassa / 3)
                    expected += share / 2 * change
            assert function(tables, viewer) == pytest.approx(expected)
        checked += 1
    assert checked > 20


def test_screening_begins_with_the_models_choice_and_is_legal() -> None:
    for table, _ in positions("screen", 40, Rules()):
        if table.phase == Phase.PLAY:
            continue
        row = observation_of(table, int(table.seat))[None]
        mask = np.zeros((1, prefa.NUM_ACTIONS), np.int8)
        legal = members(prefa.legal_actions(table))
        mask[0, legal] = 1
        favourite = int(MODEL.act(row, mask, np.zeros(1, np.uint64))[0])
        actions = np.zeros(MOST, np.int64)
        view: Any = decode(row, mask)[0]
        count = screen(MODEL.tables, MODEL.style, view, favourite, actions)
        chosen = actions[:count].tolist()
        assert chosen[0] == favourite and len({*chosen}) == count <= MOST
        assert {*chosen} <= {*legal}
        if table.phase in (Phase.DEFENCE, Phase.INVITE):
            assert count == 2
