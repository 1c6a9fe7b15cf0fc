"""Hindsight: what cards were worth in the deal as it lay."""

from __future__ import annotations

import numpy as np

from agents.heuristic import Heuristic
from agents.heuristic.view import DTYPE as VIEW_DTYPE
from agents.search.hindsight import Hindsight
from agents.search.valuation import expected_payment, value_actions
from prefa_env import VectorEnv, prefa
from prefa_env.bits import popcounts
from prefa_env.cards import cards_of
from prefa_env.prefa import DTYPE, Phase, State
from prefa_env.solver import Memory
from prefa_env.solver.payment import settle


def best(table: State, declarer: int) -> int:
    """The declarer's settled thirds under best play of both sides, by looking at every line."""
    if table.seat < 0:
        return int(table.settled_thirds[declarer])
    found = []
    for action in cards_of(prefa.legal_actions(table)):
        after = table.copy()
        prefa.step(after, int(action))
        found.append(best(after, declarer))
    return max(found) if table.seat == declarer else min(found)


def test_a_declarer_s_cards_are_worth_what_every_line_says() -> None:
    env = VectorEnv("prefa", 400, auto_reset=False, seed=1)
    judge = Hindsight()
    seen = 0
    while not env.dones.all():
        left = popcounts(env.tables["hands"][:, 0])
        is_ending = (env.tables["phase"] == Phase.PLAY) & (left <= 3)
        rows = np.flatnonzero(is_ending & (env.seats == env.tables["owner"]))
        if rows.size:
            values = judge.values(env.tables[rows], rows)
            for row, of_row in zip(rows, values, strict=True):
                for card in cards_of(env.legal_actions[row]):
                    after = env.tables[row].copy()
                    prefa.step(after, int(card))
                    thirds = best(after, int(env.seats[row]))
                    assert abs(float(of_row[card]) - thirds / 3) < 1e-4
                    seen += 1
        env.step(env.random_actions(1))
    assert seen > 100


def test_only_legal_cards_are_valued_the_same_in_several_threads() -> None:
    env = VectorEnv("prefa", 100, auto_reset=False, seed=2)
    judges = Hindsight(), Hindsight(threads=3)
    valued = 0
    while not env.dones.all():
        live = np.flatnonzero(~env.dones)
        tables = env.tables[live]
        before = tables.tobytes()
        values, same = (judge.values(tables, live) for judge in judges)
        assert tables.tobytes() == before
        is_card = (tables["phase"] == Phase.PLAY)[:, None] & (env.action_masks[live] == 1)
        np.testing.assert_array_equal(np.isfinite(values), is_card)
        np.testing.assert_array_equal(values, same)
        np.testing.assert_array_equal(judges[0].is_sure(tables), is_card.any(axis=1))
        valued += int(is_card.any(axis=1).sum())
        env.step(env.random_actions(1))
    assert valued > 500


def test_words_are_valued_in_every_so_many_deals() -> None:
    """As search values them in the one world that is dealt."""
    env = VectorEnv("prefa", 40, auto_reset=False, seed=3)
    judge, search = Hindsight(words_share=0.25), Heuristic()
    memory, trials, view = Memory(), np.zeros(2, DTYPE), np.zeros(1, VIEW_DTYPE)
    payments = np.empty((1, 1))
    phases = set()
    while not env.dones.all():
        live = np.flatnonzero(~env.dones)
        tables = env.tables[live]
        values = judge.values(tables, live)
        is_word = tables["phase"] < Phase.PLAY
        is_call = tables["phase"] == Phase.AUCTION
        has_values = np.asarray(np.isfinite(values).any(axis=1))
        np.testing.assert_array_equal(has_values[is_word], ((live % 4 == 3) & ~is_call)[is_word])
        for table, of_table in zip(tables, values, strict=True):
            if table.seat != 0 or table.phase >= Phase.PLAY or np.isnan(of_table).all():
                continue  # search looks from seat 0
            world = np.array([[*table.hands[1:], table.talon, table.discards]])
            for action in cards_of(prefa.legal_actions(table)):
                value_actions(
                    memory.table, memory.scratch, search.tables, search.style, table, world,
                    np.array([action]), trials, view[0], payments,
                )  # fmt: skip
                assert of_table[action] == np.float32(payments[0, 0])
                phases.add(int(table.phase))
        env.step(env.random_actions(2))
    assert len(phases) >= 3


def test_deals_are_settled_as_search_expects_them_to_end() -> None:
    rng = np.random.default_rng(5)
    tables = VectorEnv("prefa", 300, seed=4).tables.copy()
    for table in tables:
        while table.seat >= 0 and table.phase < Phase.PLAY:
            prefa.step(table, int(rng.choice(cards_of(prefa.legal_actions(table)))))
    tables = tables[tables["phase"] == Phase.PLAY]
    payments, ends = Hindsight(threads=2).settle(tables)
    memory, trials = Memory(), np.zeros(2, DTYPE)
    assert len(tables) > 30 and (ends["seat"] == -1).all()
    np.testing.assert_array_equal(ends["owner"], tables["owner"])
    for table, paid, end in zip(tables, payments, ends, strict=True):
        for seat in range(3):
            trials[0] = table
            settle(memory.table, memory.scratch, trials, seat)
            if seat == table.owner:
                assert trials[0].settled_thirds[seat] == end.settled_thirds[seat]
            assert paid[seat] == np.float32(expected_payment(trials, seat))
        assert abs(paid.sum()) < 1e-3
