"""Sampled worlds: hard facts hold, all deals that fit are equally likely, weights choose."""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chisquare

from agents.heuristic import Heuristic
from agents.search.recall import recall_tables
from agents.search.sampling import NoWorldError, Sampler, resample
from agents.search.worlds import draw_worlds, unseen_cards
from prefa_env.prefa import Rules, State
from prefa_env.prefa.rules import Phase
from tests.agents.search.positions import holding, positions
from tests.helpers import deal_table, do, members, observation_of

KEY = np.uint64(7)
MODEL = Heuristic()


def recalled(table: State, rules: Rules | None = None) -> State:
    row = observation_of(table, int(table.seat))
    seen: State = recall_tables(row[None], (rules or Rules()).flags)[0]
    return seen


def fitting(table: State) -> set[tuple[int, ...]]:
    """By brute force, every way to deal the cards that the seat to act has not seen."""
    seen = recalled(table)
    unseen = members(unseen_cards(seen))
    sizes = [10 - len(members(seen.played[seat])) for seat in (1, 2)]
    found = set()
    for first in itertools.combinations(unseen, sizes[0]):
        rest = [card for card in unseen if card not in first]
        for second in itertools.combinations(rest, sizes[1]):
            hands = [sum(1 << c for c in cards) for cards in (first, second)]
            if not any(hand & int(seen.voids[seat]) for seat, hand in enumerate(hands, 1)):
                left = sum(1 << c for c in rest if c not in second)
                found.add((*hands, left))
    return found


def test_hard_facts_hold_and_the_true_world_fits() -> None:
    worlds = np.zeros((20, 4), np.int64)
    for table, rules in positions("worlds", 60):
        seen = recalled(table, rules)
        assert draw_worlds(seen, KEY, worlds)
        true = holding(table, int(table.seat))
        unseen = int(unseen_cards(seen))
        for next_, after, talon, discards in worlds.tolist():
            for seat, hand in ((1, next_), (2, after)):
                assert len(members(hand)) == len(members(true[seat - 1]))
                assert hand & int(seen.voids[seat]) == 0
            assert next_ & after == 0 and (next_ | after) & ~unseen == 0
            assert len(members(talon)) == 2
            if seen.phase == Phase.AUCTION or seen.owner < 0:
                assert next_ | after | talon == unseen and not (next_ | after) & talon
            elif seen.owner == 0:
                assert (talon, discards) == true[2:] and next_ | after == unseen
            else:
                assert next_ | after | discards == unseen and not (next_ | after) & discards
                hand = (next_, after)[seen.owner - 1]
                assert talon & ~(hand | int(seen.played[seen.owner]) | discards) == 0
        assert draw_worlds(seen, KEY, worlds)


def test_every_world_that_fits_is_equally_likely() -> None:
    tried = 0
    for table, rules in positions("uniform", 200, Rules()):
        if table.phase != Phase.PLAY or not 10 <= table.num_played <= 26:
            continue
        unseen = len(members(unseen_cards(recalled(table))))
        if unseen > 9:
            continue
        ways = fitting(table)
        if not 2 <= len(ways) <= 60:
            continue
        worlds = np.zeros((200 * len(ways), 4), np.int64)
        assert draw_worlds(recalled(table, rules), np.uint64(tried), worlds)
        rest = 2 if table.owner < 0 else 3
        counts = Counter((w[0], w[1], w[rest] if table.owner != table.seat else 0)
                         for w in worlds.tolist())  # fmt: skip
        assert set(counts) == ways
        assert chisquare([*counts.values()]).pvalue > 1e-5
        tried += 1
        if tried == 40:
            return
    pytest.fail("too few positions")


def test_one_world_is_found_and_none_is_an_error() -> None:
    found = 0
    for table, rules in positions("single", 150, Rules()):
        if table.phase != Phase.PLAY or table.owner != table.seat:
            continue
        unseen = members(unseen_cards(recalled(table)))
        if len(unseen) > 9 or len(fitting(table)) != 1:
            continue
        found += 1
        seen = recalled(table, rules)
        worlds = np.zeros((3, 4), np.int64)
        assert draw_worlds(seen, KEY, worlds)
        assert [*map(tuple, worlds.tolist())] == 3 * [holding(table, int(table.seat))]
        if unseen:
            seen.voids[1] = seen.voids[2] = 2**32 - 1
            with pytest.raises(NoWorldError, match="no deal fits this observation"):
                Sampler(MODEL.tables, MODEL.style).draw(seen, KEY, 10)
    assert found > 5


def sampler(weigh: Any = None) -> Sampler:
    return Sampler(MODEL.tables, MODEL.style, weigh)


def opening() -> State:
    table = deal_table(2, np.random.default_rng(3).permutation(32).astype(np.int8))
    do(table, "pass")
    return table


def test_weights_decide() -> None:
    table = opening()
    card = members(table.hands[2])[0]

    def has_card(seen: State, tables: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        assert seen.hands[1] == 0
        assert (tables["hands"][:, 0] == seen.hands[0]).all()
        return (tables["hands"][:, 1] >> card & 1).astype(np.float64)

    worlds, counts = sampler(has_card).draw(recalled(table), KEY, 50)
    assert counts.sum() == 50 and len(worlds) == len(counts)
    assert (worlds[:, 0] >> card & 1).all()
    free, _ = sampler(lambda seen, tables: np.ones(len(tables))).draw(recalled(table), KEY, 50)
    assert not (free[:, 0] >> card & 1).all()


@pytest.mark.parametrize("weight", [0.0, np.nan, -1.0, np.inf])
def test_useless_weights_are_left_out_with_a_warning(
    weight: float, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        worlds, counts = sampler(lambda seen, tables: np.full(len(tables), weight)).draw(
            recalled(opening()), KEY, 50
        )
    assert "no world has a usable weight" in caplog.text
    assert len(worlds) == 50 and (counts == 1).all()


def test_wrong_number_of_weights_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"weights must be \[320\], not \[3\]"):
        sampler(lambda seen, tables: np.ones(3)).draw(recalled(opening()), KEY, 10)


def test_the_model_believes_what_was_said() -> None:
    """Who passed at once holds fewer aces than chance gives; who declares a suit, more of it."""
    aces = 0x80808080
    low = sorted(range(32), key=lambda card: card % 8)
    table = deal_table(2, low[10:20] + low[:10] + low[20:])  # seat 1 has no high card
    do(table, "pass")
    seen = recalled(table)
    believed, counts = sampler().draw(seen, KEY, 400)
    uniform, ones = sampler(lambda s, tables: np.ones(len(tables))).draw(seen, KEY, 400)
    assert (np.bitwise_count(believed[:, 1] & aces) * counts).sum() < 0.9 * (
        np.bitwise_count(uniform[:, 1] & aces) * ones
    ).sum()

    table = deal_table(2, np.arange(32, dtype=np.int8))
    do(table, "6S pass pass S7 S8 7S play")
    believed, counts = sampler().draw(recalled(table), KEY, 400)
    uniform, ones = sampler(lambda s, tables: np.ones(len(tables))).draw(recalled(table), KEY, 400)
    declarers = recalled(table).owner - 1
    assert (np.bitwise_count(believed[:, declarers] & 0xFF) * counts).sum() > 1.2 * (
        np.bitwise_count(uniform[:, declarers] & 0xFF) * ones
    ).sum()


def test_resampling_is_proportional() -> None:
    weights = np.array([0.0, 1.0, 2.0, 0.5, 0.0, 6.5])
    counts = np.zeros(6, np.int64)
    total = np.zeros(6)
    for key in range(300):
        resample(weights, np.uint64(key), counts, 25)
        assert counts.sum() == 25
        assert (np.abs(counts - 2.5 * weights) < 1).all()
        total += counts
    np.testing.assert_allclose(total / 300, 2.5 * weights, atol=0.15)
