"""Open cards solved to money, against plain minimax over the kernel."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from prefa_env import prefa, solver
from prefa_env._jit import njit_called
from prefa_env.bits import popcount
from prefa_env.prefa import Rules, State, payments
from prefa_env.prefa.rules import NUM_RUNGS, Defence, Phase
from prefa_env.prefa.state import DTYPE
from prefa_env.solver.payment import settle
from tests.agents.search.positions import positions
from tests.helpers import RULES, bytes_of

MEMORY = solver.Memory()


def settled(table: State, viewer: int) -> list[int]:
    """Settled thirds of all seats, as they are for `viewer`."""
    tables = np.zeros(2, DTYPE)
    tables[0] = table
    settle(MEMORY.table, MEMORY.scratch, tables, viewer)
    assert tables[0]["phase"] == Phase.OVER
    return [int(x) for x in tables[0]["settled_thirds"]]


@njit_called
def minimax(tables: npt.NDArray[Any], depth: int, one: int) -> int:
    """Settled thirds of seat `one` from `tables[depth]` if all others play to keep them low."""
    s = tables[depth]
    if s.seat < 0:
        return int(s.settled_thirds[one])
    best = -(2**40) if s.seat == one else 2**40
    cards = prefa.legal_actions(s)
    while cards:
        card = popcount((cards & -cards) - 1)
        cards &= cards - 1
        tables[depth + 1] = tables[depth]
        prefa.step(tables[depth + 1], card)
        value = minimax(tables, depth + 1, one)
        best = max(best, value) if s.seat == one else min(best, value)
    return best


def exact(table: State, one: int) -> int:
    tables = np.zeros(14, DTYPE)
    tables[0] = table
    return int(minimax(tables, 0, one))


@pytest.mark.parametrize("name", RULES)
def test_money_of_the_declarer_is_a_rising_function_of_his_tricks(name: str) -> None:
    """What lets the solver play for tricks; in every contract and defence, for every split."""
    flags = RULES[name].flags
    for rung in range(NUM_RUNGS):
        for defence in list(Defence)[1:]:
            last = -(10**9)
            for tricks in range(11):
                thirds = set()
                for right in range(11 - tricks):
                    pay = payments(flags, rung, defence, tricks, right, 10 - tricks - right, 0)
                    thirds.add(3 * pay[1] - 20 * pay[0])
                assert len(thirds) == 1
                assert max(thirds) > last
                last = thirds.pop()


@pytest.mark.parametrize("name", RULES)
def test_equal_to_minimax_over_money(name: str) -> None:
    """Exact for the declarer, for a lone defender, an inviter, and in a misère."""
    kinds: Counter[str] = Counter()
    for table, _ in positions(f"minimax {name}", 60, RULES[name]):
        left = 10 - int(sum(table.tricks))
        if table.phase != Phase.PLAY or left != (4 if table.playing == 7 else 5):
            continue
        is_both = table.defence == Defence.BOTH
        viewers = range(3) if table.owner < 0 else [int(table.owner)]
        for viewer in viewers:
            assert settled(table, viewer)[viewer] == exact(table, viewer)
        if table.owner >= 0:
            result = settled(table, int(table.owner + 1) % 3)
            assert sum(result) == 0
            assert result[table.owner] == exact(table, int(table.owner))
            if not is_both:
                assert result == settled(table, int(table.owner))
        kinds["misere" if table.owner < 0 else Defence(int(table.defence)).name] += 1
    assert len(kinds) == (6 if RULES[name].all_pass == "misere" else 5), kinds


def test_public_door() -> None:
    for table, _ in positions("door", 60):
        if table.phase != Phase.PLAY:
            with pytest.raises(ValueError, match="must be in play, not in the phase"):
                solver.settled(table)
        elif sum(table.tricks) >= 6:
            before = bytes_of(table)
            found = solver.settled(table, memory=MEMORY)
            assert bytes_of(table) == before
            if table.owner < 0:
                assert [3 * x for x in found] == [settled(table, s)[s] for s in range(3)]
            else:
                assert (3 * found).tolist() == settled(table, int(table.owner + 1) % 3)
                broken: Any = table.copy()
                broken.hands[table.owner] |= table.hands[(table.owner + 1) % 3] | 1
                with pytest.raises(ValueError, match=r"holds a card|not of one size"):
                    solver.settled(broken)


def test_the_deal_that_is_over_stays() -> None:
    table: Any = np.zeros(1, DTYPE)[0]
    prefa.deal(table, Rules().flags, np.arange(32, dtype=np.int8), 0)
    for _ in range(3):
        prefa.step(table, 32)
    before = bytes_of(table)
    assert settled(table, 0) == [0, 0, 0]
    assert bytes_of(table) == before
