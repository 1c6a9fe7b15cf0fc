"""Whole matches: the kernel against the independent reference, and what their deals add up to."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from prefa_env import prefa
from prefa_env._jit import IS_COMPILED, njit
from prefa_env.prefa import MATCH, Action, Phase, Rules, State
from prefa_env.streams import derive_key, random_bit, shuffle
from tests.helpers import RULES, bytes_of, do, ints, new_table, random_rules, shuffled
from tests.lockstep import DIAMOND_EIGHT, DIAMOND_SEVEN, SEATS, Lockstep

SLOWER = 1 if IS_COMPILED else 20
"""Interpreted, fewer matches: too few to reach everything."""
SEVEN = Rules(first_bid="seven_of_diamonds")


def deck_with(seat_of_seven: int, seat_of_eight: int) -> npt.NDArray[np.int8]:
    """A random deck with the two diamonds where they are wanted; 3 is the talon."""
    deck = shuffled(random.Random("diamonds"))
    for card, seat, offset in [
        (DIAMOND_SEVEN, seat_of_seven, 0),
        (DIAMOND_EIGHT, seat_of_eight, 1),
    ]:
        place, old = 10 * seat + offset, deck.index(card)
        deck[place], deck[old] = deck[old], deck[place]
    return np.array(deck, np.int8)


def match_table(kassa: int = 31, max_deals: int = 0) -> State:
    table = new_table()
    prefa.start_match(table, kassa, max_deals)
    return table


# ------------------------------------------------------------------------------------- examples

IN_ORDER = np.arange(32, dtype=np.int8)


@pytest.mark.parametrize("dealer", SEATS)
def test_the_deal_passes_to_the_right(dealer: int) -> None:
    # P4, P5, A5: nobody pays for a deal that all pass
    table = match_table(20)
    assert prefa.deal_first(table, MATCH, IN_ORDER, dealer)
    for number in range(7):
        assert table.dealer == (dealer + number) % 3
        assert table.seat == table.first == (dealer + number + 1) % 3
        assert not prefa.is_match_over(table)
        do(table, "pass pass pass")
        assert [*ints(table.kassa), *ints(table.kapikia)] == [20, 20, 20, 0, 0, 0]
        assert not prefa.is_match_over(table)
        prefa.deal_next(table, IN_ORDER)


@pytest.mark.parametrize(
    ("seven", "eight", "first", "shown"),
    [
        (0, 0, 0, DIAMOND_SEVEN),
        (1, 0, 1, DIAMOND_SEVEN),
        (2, 1, 2, DIAMOND_SEVEN),
        (1, 3, 1, DIAMOND_SEVEN),
        (3, 0, 0, DIAMOND_EIGHT),
        (3, 1, 1, DIAMOND_EIGHT),
        (3, 2, 2, DIAMOND_EIGHT),
    ],
)
@pytest.mark.parametrize("dealer", SEATS)
def test_the_seven_of_diamonds(seven: int, eight: int, first: int, shown: int, dealer: int) -> None:
    # RU, "First call in the first deal": its holder calls first and deals next; else the eight's
    table = match_table()
    assert prefa.deal_first(table, SEVEN.flags | MATCH, deck_with(seven, eight), dealer)
    assert (table.seat, table.first, (table.dealer + 1) % 3) == (first, first, first)
    assert table.shown_card == shown + 1
    do(table, "pass pass pass")
    prefa.deal_next(table, deck_with((first + 2) % 3, 3))  # of the first deal only
    assert (table.dealer, table.first, table.shown_card) == (first, (first + 1) % 3, 0)


def test_both_diamonds_in_the_talon() -> None:
    # RU: "shuffled and dealt anew"; nothing recorded
    table = match_table(31, 2)
    before = bytes_of(table)
    assert not prefa.deal_first(table, SEVEN.flags | MATCH, deck_with(3, 3), 1)
    assert bytes_of(table) == before
    assert prefa.deal_first(table, SEVEN.flags | MATCH, deck_with(2, 2), 1)
    assert (table.first, table.deals_left) == (2, 2)


@pytest.mark.parametrize("seven", [0, 1, 2, 3])
@pytest.mark.parametrize("dealer", SEATS)
def test_where_the_seven_of_diamonds_has_no_say(seven: int, dealer: int) -> None:
    # P4: neither in a single deal nor in a given one, nor without the option
    deck = deck_with(seven, 3)
    for flags in [SEVEN.flags, MATCH, 0]:
        table = new_table()
        assert prefa.deal_first(table, flags, deck, dealer)
        assert (table.dealer, table.shown_card) == (dealer, 0)
    prefa.deal(table, SEVEN.flags | MATCH, deck, dealer)
    assert (table.dealer, table.shown_card) == (dealer, 0)


@pytest.mark.parametrize("max_deals", [1, 2, 3, 7])
@pytest.mark.parametrize("rules", [Rules(), SEVEN])
def test_the_cap_counts_every_deal(max_deals: int, rules: Rules) -> None:
    # passed-out ones too; but not a first deal that was dealt anew
    table = match_table(31, max_deals)
    prefa.deal_first(table, rules.flags | MATCH, deck_with(3, 3), 0)
    prefa.deal_first(table, rules.flags | MATCH, deck_with(1, 1), 0)
    for deals_left in range(max_deals, 0, -1):
        assert table.deals_left == deals_left
        assert not prefa.is_match_over(table)
        do(table, "pass pass pass")
        assert prefa.is_match_over(table) == (deals_left == 1)
        if deals_left > 1:
            prefa.deal_next(table, IN_ORDER)


def test_a_single_deal_is_a_match_of_its_own() -> None:
    table = match_table(31, 7)  # whatever was played there before
    prefa.deal(table, 0, IN_ORDER, 0)
    assert not prefa.is_match_over(table)
    do(table, "pass pass pass")
    assert prefa.is_match_over(table)


@pytest.mark.parametrize(
    ("kassas", "is_over"),
    [
        ([0, 0, 0], True),
        ([1, 0, 0], False),
        ([0, 1, 0], False),
        ([0, 0, 1], False),
        ([0, 3, 3], False),
        ([1, 2, 4], False),
    ],
)
def test_the_end(kassas: list[int], is_over: bool) -> None:
    # S6; never in the middle of a deal
    table = match_table()
    prefa.deal(table, MATCH, IN_ORDER, 0)
    table.kassa[:] = kassas
    assert not prefa.is_match_over(table)
    do(table, "pass pass pass")
    assert prefa.is_match_over(table) == is_over


@pytest.mark.parametrize(
    ("kassas", "kapikia", "thirds"),
    [
        ([31, 31, 29], [60, -66, 6], [160, -218, 58]),  # RU's score sheet, if it ended there
        ([0, 0, 0], [60, -66, 6], [180, -198, 18]),  # S6
        ([3, 1, 0], [0, 0, 0], [-50, 10, 40]),  # A5: misère of 5/3/2 tricks
        ([33, 31, 31], [-4, 2, 2], [-52, 26, 26]),  # T3: "-17 1/3, +8 2/3, +8 2/3"
    ],
)
def test_what_a_match_brings(kassas: list[int], kapikia: list[int], thirds: list[int]) -> None:
    table = match_table()
    table.kassa[:] = kassas
    table.kapikia[:] = kapikia
    assert [prefa.match_thirds(table, seat) for seat in SEATS] == thirds


def test_a_match_of_two_deals() -> None:
    # From 5 points each. 9H worth 9: 5 of his own, 2 from each. Then 10NT worth 11: 3 of his own,
    # 3 from the third player, and 5 left over: 17 kapikia from each (S4). All at 0 (S6).
    table = match_table(5)
    assert prefa.deal_first(table, MATCH, IN_ORDER, 2)
    do(table, "6S pass pass S7 S8 9H pass pass")
    assert ints(table.kassa) == [0, 3, 3]
    assert ints(table.kapikia) == [40, -20, -20]
    assert not prefa.is_match_over(table)
    prefa.deal_next(table, IN_ORDER)
    do(table, "6S pass pass C9 CT 10NT pass pass")
    assert ints(table.kassa_change) == [0, -3, -3]
    assert ints(table.kapikia_change) == [-17, 64, -47]
    assert ints(table.kassa) == [0, 0, 0]
    assert ints(table.kapikia) == [23, 44, -67]
    assert prefa.is_match_over(table)
    prefa.start_match(table, 20, 4)  # the next match knows nothing of it
    assert [*ints(table.kassa), *ints(table.kapikia), table.deals_left] == [20] * 3 + [0] * 3 + [4]


# ------------------------------------------------------------- deal by deal against the reference


def expected_events(rules: Rules) -> set[str]:
    """Everything that can happen in matches by these rules."""
    kind = "misère" if rules.all_pass == "misere" else "passed out"
    events = {"given", "drawn", "failed at 0", kind, f"{kind} at the cap"}
    events |= {"ended at 0", "ended at the cap", "goes on with two at 0"}
    events |= {"nothing taken off", "own kassa"}
    for how in ["equal, odd", "equal, even", "right larger", "left larger"]:
        events |= {f"{how}, all", f"{how}, rest in kapikia"}  # S4
    if rules.write_bid:
        events.add("declined")
    if rules.first_bid == "seven_of_diamonds":
        events |= {"dealt anew", "seven shown", "eight shown"}
    return events


def random_match_rules(rng: random.Random, rules: Rules) -> Rules:
    """The same with any kassa from 1 to 40, often a small one."""
    return replace(rules, kassa=rng.randint(1, rng.choice([4, 12, 40])))


@pytest.mark.parametrize("name", RULES)
def test_each_option(name: str) -> None:
    lockstep = Lockstep(f"matches {name}")
    rng = lockstep.rng
    for _ in range(100 // SLOWER):
        rules = random_match_rules(rng, RULES[name])
        lockstep.play(rules, rng.choice([None, None, 5, 20]), is_calm=True)
        lockstep.play(rules, rng.randint(1, 4), is_calm=False)
    expected = expected_events(RULES[name])
    assert lockstep.seen <= expected
    assert lockstep.seen == expected or not IS_COMPILED, expected - lockstep.seen


@pytest.mark.parametrize("chunk", range(2))
def test_combinations_of_options(chunk: int) -> None:
    lockstep = Lockstep(f"combined {chunk}")
    rng = lockstep.rng
    for _ in range(150 // SLOWER):
        rules = random_match_rules(rng, any_rules(rng))
        lockstep.play(rules, rng.choice([None, None, 5, 20]), is_calm=True)
        lockstep.play(rules, rng.randint(1, 4), is_calm=False)


def any_rules(rng: random.Random) -> Rules:
    """Any combination of all options, those of a match among them."""
    return replace(random_rules(rng), first_bid=rng.choice(["dealer", "seven_of_diamonds"]))


# ------------------------------------------------------------------- what the deals add up to

_DEFENCE, _PASS = int(Phase.DEFENCE), int(Action.PASS)
MOST_DEALS = 1000


@njit
def play_match(
    table: State,
    flags: int,
    kassa: int,
    max_deals: int,
    key: np.uint64,
    changes: npt.NDArray[np.int64],
) -> int:
    """Random players, of whom defenders mostly pass; returns the number of deals.

    `changes[i]` is, seat by seat, what deal i changed in kassas, in kapikia, and its worth in
    thirds: int64 [MOST_DEALS, 3, 3].
    """
    deck = np.empty(32, np.int8)
    draws = 0
    shuffle(deck, derive_key(key, draws))
    prefa.start_match(table, kassa, max_deals)
    while not prefa.deal_first(table, flags, deck, 0):
        draws += 1
        shuffle(deck, derive_key(key, draws))
    for number in range(changes.shape[0]):
        while table.seat >= 0:
            draws += 1
            word = derive_key(key, draws)
            if table.phase == _DEFENCE and word & np.uint64(7) != 0:
                prefa.step(table, _PASS)
            else:
                prefa.step(table, random_bit(prefa.legal_actions(table), word))
        for seat in range(3):
            changes[number, 0, seat] = table.kassa_change[seat]
            changes[number, 1, seat] = table.kapikia_change[seat]
            changes[number, 2, seat] = table.settled_thirds[seat]
        if prefa.is_match_over(table):
            return number + 1
        draws += 1
        shuffle(deck, derive_key(key, draws))
        prefa.deal_next(table, deck)
    return -1


# Interpreted, numpy warns of the overflow that mixing keys is made of.
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_settled_kapikia_add_up_to_the_result() -> None:
    """As booked exactly; without S4 up to its rounding, which is the last deal's."""
    rng = random.Random("sums")
    table = new_table()
    changes = np.zeros((MOST_DEALS, 3, 3), np.int64)
    seen = set()
    for number in range(2000 // SLOWER):
        rules = [*RULES.values()][number] if number < len(RULES) else any_rules(rng)
        rules, max_deals = random_match_rules(rng, rules), rng.choice([0, 0, 0, 5, 20])
        key = np.uint64(rng.getrandbits(64))
        deals = play_match(table, rules.flags | MATCH, rules.kassa, max_deals, key, changes)
        assert deals > 0
        kassa, kapikia, worth = changes[:deals].transpose(1, 0, 2)
        assert (rules.kassa + kassa.cumsum(axis=0)).min() >= 0  # S4
        assert ints(table.kassa) == ints(rules.kassa + kassa.sum(axis=0))
        assert ints(table.kapikia) == ints(kapikia.sum(axis=0))
        result = [prefa.match_thirds(table, seat) for seat in SEATS]
        if not any(table.kassa):
            assert result == [3 * money for money in table.kapikia]  # S6
        else:
            assert deals == max_deals
        booked = 3 * kapikia - 30 * kassa + 10 * kassa.sum(axis=1, keepdims=True)
        assert ints(booked.sum(axis=0)) == result
        rounding = booked - worth
        assert not rounding[:-1].any()
        declarer, right, left = np.roll(rounding[-1], -table.owner)
        assert right == left and declarer == -2 * right
        assert right == 0 or not any(table.kassa)
        seen.add(int(right))
    assert seen <= {-1, 0, 1}  # a third, either way
    assert len(seen) == 3 or not IS_COMPILED
