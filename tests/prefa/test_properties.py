"""What holds in every deal, whatever is dealt and done: properties, with hypothesis."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefa_env import prefa
from prefa_env.prefa import Phase, Rules, State
from prefa_env.prefa.kernel import start_match
from prefa_env.prefa.rules import Flag
from prefa_env.prefa.state import MAX_CALLS
from tests.helpers import bytes_of, deal_table, ints, legal_of, members, new_table

MATCH = int(Flag.MATCH)
SEATS = [0, 1, 2]

RULES = st.builds(
    Rules,
    kassa=st.integers(1, 12),
    ten_nt_value=st.sampled_from([11, 10]),
    hold=st.sampled_from(["earlier_position", "any_after_first_round"]),
    hold_excludes_raise=st.booleans(),
    write_bid=st.booleans(),
    all_pass=st.sampled_from(["redeal", "misere"]),
    partner_paid_single=st.booleans(),
    invite_penalty=st.sampled_from(["collective", "sum_of_individuals"]),
    half_rounding=st.sampled_from(["right", "left"]),
    aces_bonus=st.booleans(),
)
DECKS = st.permutations(range(32))
DEALERS = st.sampled_from(SEATS)
# One number for each decision; a small one takes an early choice, so shrinking leads to passes.
CHOICES = st.lists(st.integers(0, 61), min_size=10, max_size=60)

fixed = settings(max_examples=150, deadline=None, derandomize=True, database=None)


def choose(legal: list[int], choices: list[int], number: int) -> int:
    return legal[choices[number % len(choices)] % len(legal)]


def assert_each_card_in_one_place(table: State) -> None:
    places = [*table.hands, *table.played, table.discards]
    if table.phase == Phase.AUCTION or table.owner < 0:
        places.append(table.talon)
    assert sorted(card for place in places for card in members(place)) == list(range(32))
    assert table.trick & ~(table.played[0] | table.played[1] | table.played[2]) == 0


@fixed
@given(RULES, DECKS, DEALERS, CHOICES)
def test_every_deal(rules: Rules, deck: list[int], dealer: int, choices: list[int]) -> None:
    table = deal_table(dealer, deck, rules)
    count = 0
    while table.phase != Phase.OVER:
        legal = legal_of(table)
        assert legal and table.seat in SEATS
        assert max(legal) < prefa.NUM_ACTIONS
        assert_each_card_in_one_place(table)
        held = sum(len(members(hand)) for hand in table.hands)
        assert held + table.num_played + len(members(table.discards)) in (30, 32)
        before = bytes_of(table)
        assert legal_of(table) == legal and bytes_of(table) == before  # asking changes nothing
        prefa.step(table, choose(legal, choices, count))
        count += 1
        assert count <= 51 + 6 + 30
    assert legal_of(table) == [] and table.seat == -1
    assert_each_card_in_one_place(table)
    assert table.num_calls <= MAX_CALLS
    assert sum(table.tricks) == (10 if table.playing else 0)
    assert sum(table.kapikia_change) == 0
    assert sum(table.settled_thirds) == 0
    total = sum(table.kassa_change)
    for seat in SEATS:
        # settled = kapikia - 10 * (kassa - mean of the three kassas)
        kapikia, kassa = table.kapikia_change[seat], table.kassa_change[seat]
        assert table.settled_thirds[seat] == 3 * kapikia - 30 * kassa + 10 * total
    assert ints(table.kassa) == ints(table.kapikia) == [0, 0, 0]  # no match


@fixed
@given(RULES, st.integers(0, 2**32), CHOICES)
def test_every_match(rules: Rules, seed: int, choices: list[int]) -> None:
    """Totals are the sum of what was booked; the worth of the deals adds up to the result."""
    table = new_table()
    start_match(table, rules.kassa, 9)
    assert ints(table.kassa) == [rules.kassa] * 3
    rng = random.Random(seed)
    kassa, kapikia, worth = [rules.kassa] * 3, [0, 0, 0], [0, 0, 0]
    off = [0, 0, 0]
    for number in range(6):
        deck = rng.sample(range(32), 32)
        prefa.deal(table, rules.flags | MATCH, np.array(deck, np.int8), number % 3)
        alone = deal_table(number % 3, deck, rules)
        count = number
        while legal := legal_of(table):
            assert legal == legal_of(alone)
            action = choose(legal, choices, count)
            prefa.step(table, action)
            prefa.step(alone, action)
            count += 1
        assert ints(table.settled_thirds) == ints(alone.settled_thirds)
        for seat in SEATS:
            kassa[seat] += int(table.kassa_change[seat])
            kapikia[seat] += int(table.kapikia_change[seat])
            worth[seat] += int(table.settled_thirds[seat])
        assert ints(table.kassa) == kassa and min(kassa) >= 0
        assert ints(table.kapikia) == kapikia and sum(kapikia) == 0
        # only the rounding of thirds differs: 2/3 for the declarer, 1/3 for the others
        points = [3 * kapikia[seat] - 30 * kassa[seat] + 10 * sum(kassa) for seat in SEATS]
        change = [abs(points[seat] - worth[seat] - off[seat]) for seat in SEATS]
        assert max(change) <= 2 and sum(change) <= 4
        off = [points[seat] - worth[seat] for seat in SEATS]
    assert table.deals_left == 9  # the kernel leaves it to whoever counts deals


@fixed
@given(DECKS, DEALERS, CHOICES, st.integers(0, 40))
def test_dealing_again_forgets_the_last_deal(
    deck: list[int], dealer: int, choices: list[int], steps: int
) -> None:
    table = deal_table(dealer, deck, Rules.site())
    for number in range(steps):
        if legal := legal_of(table):
            prefa.step(table, choose(legal, choices, number))
    prefa.deal(table, 0, np.array(deck[::-1], np.int8), 1)
    assert bytes_of(table) == bytes_of(deal_table(1, deck[::-1]))


@fixed
@given(DECKS, DEALERS)
def test_deals_round_trip_as_text(deck: list[int], dealer: int) -> None:
    text = prefa.deal_text(dealer, deck)
    parsed_dealer, parsed = prefa.parse_deal(text)
    assert bytes_of(deal_table(parsed_dealer, parsed)) == bytes_of(deal_table(dealer, deck))
    assert prefa.deal_text(dealer, prefa.deck_of(deal_table(dealer, deck))) == text
