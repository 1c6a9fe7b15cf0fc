"""Tests of the slow reference alone, against the worked examples of the rule book."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from tests.reference import (
    ALONE,
    DECLINE,
    DEFAULT,
    INVITE,
    LADDER,
    PASS,
    PLAY,
    SITE,
    WRITE,
    Contract,
    Deal,
    Defence,
    Options,
    card_name,
    card_number,
    contract_action,
    first_hand_by_seven_of_diamonds,
    floor,
    misere_payments,
    parse_call,
    parse_contract,
    payments,
    right_of,
    settled,
    value,
)

EXAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "prefa_examples.json").read_text(encoding="utf-8")
)
SEATS = [0, 1, 2]

# One of each option against the defaults, the site, and some together.
VARIANTS = {
    "default": DEFAULT,
    "site": SITE,
    "ten_nt_value": Options(ten_nt_value=10),
    "hold": Options(hold="any_after_first_round"),
    "hold_excludes_raise": Options(hold_excludes_raise=True),
    "write_bid": Options(write_bid=False),
    "misere": Options(all_pass="misere"),
    "partner_paid_single": Options(partner_paid_single=True),
    "invite_penalty": Options(invite_penalty="sum_of_individuals"),
    "half_rounding": Options(half_rounding="left"),
    "aces_bonus": Options(aces_bonus=True),
    "several": Options(
        hold_excludes_raise=True, write_bid=False, all_pass="misere", aces_bonus=True
    ),
}


def cards(text: str) -> list[int]:
    return [card_number(name) for name in text.split()]


def deck_with(hand0: str = "", hand1: str = "", hand2: str = "", talon: str = "") -> list[int]:
    """A deck in which the hands named are as given; the other cards fill up from the lowest."""
    places = [cards(hand0), cards(hand1), cards(hand2), cards(talon)]
    named = [card for place in places for card in place]
    rest = [card for card in range(32) if card not in named]
    for place, size in zip(places, [10, 10, 10, 2], strict=True):
        while len(place) < size:
            place.append(rest.pop(0))
    return [card for place in places for card in place]


def shuffled(rng: random.Random) -> list[int]:
    deck = list(range(32))
    rng.shuffle(deck)
    return deck


def do(deal: Deal, texts: str) -> None:
    """Plays calls and cards given as text."""
    for text in texts.split():
        is_card = len(text) == 2 and text[0] in "SCDH" and text[1] in "789TJQKA"
        deal.play(card_number(text) if is_card else parse_call(text))


def names(actions: Iterable[int]) -> list[str]:
    return sorted(card_name(action) for action in actions)


def discard_two(deal: Deal) -> None:
    deal.play(deal.legal()[0])
    deal.play(deal.legal()[0])


def finish_anyhow(deal: Deal) -> None:
    while not deal.over:
        deal.play(deal.legal()[0])


def turned(per_seat: Sequence[int], declarer: int) -> list[int]:
    """Figures of declarer, right, left as figures by seat."""
    by_seat = [0, 0, 0]
    for offset in SEATS:
        by_seat[(declarer + offset) % 3] = per_seat[offset]
    return by_seat


# ------------------------------------------------------------------------------ ladder, values


def test_ladder_and_values() -> None:
    # L1, L2
    assert [f"{level}{strain}" for level, strain in LADDER][:6] == [
        "6S", "6C", "6D", "6H", "6NT", "7S",
    ]  # fmt: skip
    assert len(LADDER) == 25
    assert [value(contract) for contract in LADDER] == [
        2, 3, 4, 5, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 11,
    ]  # fmt: skip
    assert value(Contract(10, "NT"), Options(ten_nt_value=10)) == 10
    assert [contract_action(contract) for contract in LADDER] == list(range(34, 59))
    assert parse_call("10NT") == 58


def test_site_preset() -> None:
    assert replace(
        SITE,
        ten_nt_value=11,
        hold="earlier_position",
        partner_paid_single=False,
        invite_penalty="collective",
        aces_bonus=False,
    ) == Options()  # fmt: skip


# ------------------------------------------------------------------------------------- payment


@pytest.mark.parametrize("declarer", SEATS)
@pytest.mark.parametrize("row", EXAMPLES["rows"])
def test_worked_examples(row: list[Any], declarer: int) -> None:
    # S1, S2, S3: examples 1-14 and the two deals of the score sheet
    contract = parse_contract(row[0])
    how: str = row[1]
    defence: Defence = "both" if how == "both" else "invite" if how == "invite_right" else "alone"
    player = None if defence == "both" else right_of(declarer)
    kapikia, kassa = payments(contract, declarer, defence, player, turned(row[2:5], declarer))
    assert kassa == turned([row[5], 0, 0], declarer)
    assert kapikia == turned(row[6:9], declarer)


def test_there_are_fourteen_examples_and_the_score_sheet() -> None:
    assert len(EXAMPLES["rows"]) == 16


def test_score_sheet() -> None:
    # A, B, C are seats 0, 1, 2; 31 each at the start.
    kapikia, kassa, kassas = [0, 0, 0], [0, 0, 0], [31, 31, 31]
    deals = [("6S", 2, [2, 2, 6]), ("7H", 0, [8, 0, 2])]
    for contract, declarer, tricks in deals:
        changes = payments(parse_contract(contract), declarer, "both", None, tricks)
        booked_kapikia, booked_kassa = floor(*changes, kassas, declarer)
        kapikia = [a + b for a, b in zip(kapikia, booked_kapikia, strict=True)]
        kassa = [a + b for a, b in zip(kassa, booked_kassa, strict=True)]
        kassas = [a + b for a, b in zip(kassas, booked_kassa, strict=True)]
    assert kassas == [31, 31, 29]
    assert kapikia == [60, -66, 6]


def test_both_passed() -> None:
    # D2, S1
    assert payments(Contract(8, "NT"), 1, "none", None, [0, 0, 0]) == ([0, 0, 0], [0, -9, 0])


def test_alone_with_an_overtrick_is_made() -> None:
    # S1: "or more, if the playing side has not failed"; D4: alone owes 2 at level 6
    assert payments(Contract(6, "C"), 0, "alone", 2, [8, 0, 2]) == ([-6, 0, 6], [-3, 0, 0])
    assert payments(Contract(6, "C"), 0, "alone", 2, [9, 0, 1]) == ([27, 0, -27], [0, 0, 0])
    assert payments(Contract(6, "C"), 0, "alone", 2, [10, 0, 0]) == ([60, 0, -60], [0, 0, 0])


def test_collective_success_covers_a_defender_without_tricks() -> None:
    # D5: right owes 2, took none; together they have their 3
    assert payments(Contract(7, "S"), 0, "both", None, [7, 0, 3]) == ([-21, 0, 21], [-7, 0, 0])


def test_shortfall_of_the_two_together_doubles_everything() -> None:
    # S3: right missed his 2, left has his 2; 2 short together
    contract, tricks = Contract(6, "H"), [8, 0, 2]
    assert payments(contract, 0, "both", None, tricks)[0] == [80, -100, 20]
    single = Options(partner_paid_single=True)
    assert payments(contract, 0, "both", None, tricks, single)[0] == [80, -90, 10]


def test_both_missed_pay_for_themselves() -> None:
    # S3: 6 clubs, own shortfalls 2 and 1
    assert payments(Contract(6, "C"), 0, "both", None, [9, 0, 1])[0] == [81, -54, -27]
    # own shortfalls 1 and 1, although two short together
    assert payments(Contract(6, "C"), 0, "both", None, [8, 1, 1])[0] == [48, -24, -24]


def test_level_nine_charges_the_right_only() -> None:
    # D4: 1 / 0
    assert payments(Contract(9, "C"), 2, "both", None, [0, 0, 10])[0] == [-90, 0, 90]


def test_sum_of_individuals() -> None:
    # S3, option invite_penalty
    options = Options(invite_penalty="sum_of_individuals")
    # both would have missed: 2 short doubled, 1 short single
    assert payments(Contract(7, "H"), 0, "invite", 1, [10, 0, 0])[0] == [140, -140, 0]
    assert payments(Contract(7, "H"), 0, "invite", 1, [10, 0, 0], options)[0] == [210, -210, 0]
    assert payments(Contract(7, "H"), 0, "invite", 2, [10, 0, 0], options)[0] == [210, 0, -210]
    # exactly one would have missed: what the other would have been paid is not paid
    assert payments(Contract(6, "H"), 0, "invite", 2, [7, 1, 2], options)[0] == [35, 0, -35]
    # the option leaves made contracts, and those played alone, as they are
    made = payments(Contract(7, "S"), 0, "invite", 1, [7, 2, 1], options)
    assert made == ([-21, 21, 0], [-7, 0, 0])
    assert payments(Contract(8, "H"), 0, "alone", 1, [10, 0, 0], options)[0] == [80, -80, 0]


def test_aces_bonus() -> None:
    on = Options(aces_bonus=True)

    def paid(level: int, defence: Defence, player: int | None, tricks: list[int]) -> list[int]:
        contract = Contract(level, "S")
        plain, _ = payments(contract, 0, defence, player, tricks, on, four_aces=False)
        bonus, _ = payments(contract, 0, defence, player, tricks, on, four_aces=True)
        off, _ = payments(contract, 0, defence, player, tricks, DEFAULT, four_aces=True)
        assert off == plain
        return [b - p for b, p in zip(bonus, plain, strict=True)]

    assert paid(6, "both", None, [6, 2, 2]) == [50, -25, -25]
    assert paid(7, "both", None, [7, 2, 1]) == [100, -50, -50]
    assert paid(6, "none", None, [0, 0, 0]) == [50, -25, -25]
    assert paid(10, "none", None, [0, 0, 0]) == [100, -50, -50]
    assert paid(6, "alone", 1, [4, 6, 0]) == [-50, 25, 25]  # never doubled, to the passer too
    assert paid(8, "both", None, [7, 2, 1]) == [-100, 50, 50]
    assert paid(6, "both", None, [9, 1, 0]) == [50, -25, -25]  # defence short


@pytest.mark.parametrize("declarer", SEATS)
@pytest.mark.parametrize("row", EXAMPLES["floor"]["rows"])
def test_floor(row: list[Any], declarer: int) -> None:
    # S4
    kassas = turned(row[0:3], declarer)
    lowered = turned([-row[3], 0, 0], declarer)
    kapikia, kassa = floor([0, 0, 0], lowered, kassas, declarer)
    assert [a + b for a, b in zip(kassas, kassa, strict=True)] == turned(row[4], declarer)
    assert kapikia == turned(row[5:8], declarer)


def test_floor_with_the_larger_kassa_on_the_left() -> None:
    # S4: the larger gives first, wherever he sits
    assert floor([0, 0, 0], [-9, 0, 0], [4, 3, 12], 0) == ([50, 0, -50], [-4, 0, -5])
    assert floor([0, 0, 0], [-9, 0, 0], [4, 2, 4], 0) == ([50, -10, -40], [-4, -1, -4])


def test_half_rounding() -> None:
    options = Options(half_rounding="left")
    assert floor([0, 0, 0], [-9, 0, 0], [4, 7, 7], 0, options) == (
        [50, -20, -30],
        [-4, -2, -3],
    )


def test_floor_leaves_other_payments_alone() -> None:
    # S1 with S4: tricks are paid as well; S5: a kassa may rise from 0; misère lowers none
    assert floor([-8, 2, 6], [-2, 0, 0], [2, 0, 0], 0) == ([-8, 2, 6], [-2, 0, 0])
    assert floor([-8, 2, 6], [-2, 0, 0], [1, 9, 0], 0) == ([2, -8, 6], [-1, -1, 0])
    assert floor([0, 0, 0], [8, 0, 0], [0, 0, 0], 0) == ([0, 0, 0], [8, 0, 0])
    assert floor([0, 0, 0], [3, 1, 0], [0, 0, 0], None) == ([0, 0, 0], [3, 1, 0])


def test_floor_changes_the_worth_of_a_deal_by_rounding_only() -> None:
    for own, right, left, v in product(range(6), range(6), range(6), range(2, 12)):
        before = settled([0, 0, 0], [-v, 0, 0])
        kapikia, kassa = floor([0, 0, 0], [-v, 0, 0], [own, right, left], 0)
        assert sum(kapikia) == 0
        after = settled(kapikia, kassa)
        differences = [abs(a - b) for a, b in zip(after, before, strict=True)]
        assert differences[0] <= Fraction(2, 3)
        assert max(differences[1:]) <= Fraction(1, 3)
        assert all(k + c >= 0 for k, c in zip([own, right, left], kassa, strict=True))


def test_settled() -> None:
    for v in range(2, 12):
        third = Fraction(10 * v, 3)
        assert settled([0, 0, 0], [-v, 0, 0]) == [2 * third, -third, -third]
    # a writer who declines: -17 1/3, +8 2/3, +8 2/3
    assert settled([-4, 2, 2], [2, 0, 0]) == [Fraction(-52, 3), Fraction(26, 3), Fraction(26, 3)]


# ------------------------------------------------------------------------------------- auction


@pytest.mark.parametrize("dealer", SEATS)
@pytest.mark.parametrize("auction", EXAMPLES["auctions"])
def test_auctions_of_the_source(auction: dict[str, Any], dealer: int) -> None:
    deal = Deal(list(range(32)), dealer)
    do(deal, " ".join(auction["calls"]))
    assert deal.phase == "discard"
    first_hand = right_of(dealer)
    assert deal.declarer == (first_hand + auction["first_hand_offset_of_declarer"]) % 3
    assert deal.seat == deal.declarer
    assert deal.bid == parse_contract(auction["bid"])


def legal_after(calls: str, options: Options = DEFAULT) -> list[int]:
    deal = Deal(list(range(32)), 2, options)  # first hand is seat 0
    do(deal, calls)
    assert deal.phase == "auction"
    return deal.legal()


def calls(texts: str) -> list[int]:
    return sorted(parse_call(text) for text in texts.split())


def test_opening_calls() -> None:
    # A2, A6
    assert legal_after("") == calls("pass write 6S")
    assert legal_after("pass") == calls("pass write 6S")
    assert legal_after("pass pass") == calls("pass write 6S")
    assert legal_after("write") == calls("pass 6S")
    assert legal_after("pass write") == calls("pass 6S")
    assert legal_after("6S") == calls("pass 6C")
    assert legal_after("", Options(write_bid=False)) == calls("pass 6S")


def test_a_writer_is_out_after_a_bid() -> None:
    # A4
    deal = Deal(list(range(32)), 2)
    do(deal, "write 6S 6C")
    assert deal.seat == 1
    assert deal.legal() == calls("pass 6C 6D")
    do(deal, "pass")
    assert (deal.declarer, deal.bid) == (2, Contract(6, "C"))
    deal = Deal(list(range(32)), 2)
    do(deal, "write pass 6S")  # the only one left has bid
    assert (deal.declarer, deal.bid) == (2, Contract(6, "S"))
    deal = Deal(list(range(32)), 2)
    do(deal, "write pass pass")
    assert (deal.declarer, deal.bid) == (0, None)


def test_the_last_hand_still_speaks_after_two_passes() -> None:
    deal = Deal(list(range(32)), 2)
    do(deal, "pass pass")
    assert (deal.phase, deal.seat) == ("auction", 2)
    do(deal, "6S")
    assert (deal.phase, deal.declarer, deal.bid) == ("discard", 2, Contract(6, "S"))


def test_hold_by_earlier_position() -> None:
    # A3
    assert legal_after("6S 6C 6D") == calls("pass 6D 6H")
    assert legal_after("6S 6C 6D 6D") == calls("pass 6H")  # seat 1 is later than the holder
    assert legal_after("6S 6C 6D pass") == calls("pass 6D 6H")
    assert legal_after("6S 6C 6D", Options(hold_excludes_raise=True)) == calls("pass 6D")
    assert legal_after("6S 6C 6D 6D", Options(hold_excludes_raise=True)) == calls("pass 6H")


def test_hold_any_after_first_round() -> None:
    # A3, option: raises only in the first three calls, then a hold or a pass; after a hold a raise
    assert legal_after("6S 6C", SITE) == calls("pass 6D")
    assert legal_after("6S 6C 6D", SITE) == calls("pass 6D")
    assert legal_after("6S 6C 6D 6D", SITE) == calls("pass 6H")
    assert legal_after("6S 6C 6D 6D 6H", SITE) == calls("pass 6H")  # seat 2, the last position
    assert legal_after("6S pass 6C", SITE) == calls("pass 6C")  # passes count
    assert legal_after("pass 6S 6C", SITE) == calls("pass 6C")
    deal = Deal(list(range(32)), 2, SITE)
    do(deal, "6S 6C 6D 6D pass pass")
    assert (deal.declarer, deal.bid) == (0, Contract(6, "D"))


def test_no_raise_over_ten_no_trump() -> None:
    # A2, two still in: first hand holds every bid of the next
    rungs = [f"{level}{strain}" for level, strain in LADDER]
    climb = "6S 6C pass " + " ".join(f"{bid} {higher}" for bid, higher in pairwise(rungs[1:]))
    assert legal_after(climb) == calls("pass 10NT")
    assert legal_after(climb + " 10NT") == [PASS]  # one legal action; he still makes it
    assert legal_after(climb, SITE) == calls("pass 10NT")
    assert legal_after(climb + " 10NT", SITE) == [PASS]
    deal = Deal(list(range(32)), 2)
    do(deal, climb + " 10NT pass")
    assert (deal.declarer, deal.bid) == (0, Contract(10, "NT"))


def longest_auction(options: Options) -> int:
    """The most calls an auction can have, by search over its states."""
    known: dict[tuple[object, ...], int] = {}

    def most_calls_from(deal: Deal) -> int:
        if deal.phase != "auction":
            return 0
        state = (deal.seat, frozenset(deal.passed), deal.writer, deal.bid, deal.bid_owner,
                 deal.bid_is_a_hold, min(len(deal.calls), 3))  # fmt: skip
        if state not in known:
            longest = 0
            for action in deal.legal():
                after = copy.deepcopy(deal)
                after.play(action)
                longest = max(longest, 1 + most_calls_from(after))
            known[state] = longest
        return known[state]

    return most_calls_from(Deal(list(range(32)), 2, options))


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (DEFAULT, 51),
        (Options(hold_excludes_raise=True), 51),
        (Options(hold="any_after_first_round"), 51),
        (Options(hold="any_after_first_round", hold_excludes_raise=True), 51),
        (Options(write_bid=False), 51),
    ],
)
def test_longest_auction(options: Options, most: int) -> None:
    assert longest_auction(options) == most


def test_all_pass_is_void() -> None:
    # A5
    deal = Deal(list(range(32)), 1)
    do(deal, "pass pass pass")
    assert deal.over
    assert deal.seat is None
    assert deal.legal() == []
    assert deal.declarer is None
    assert (deal.kapikia, deal.kassa) == ([0, 0, 0], [0, 0, 0])
    assert deal.settled == [0, 0, 0]


def test_misere_payments() -> None:
    assert misere_payments([5, 3, 2]) == ([0, 0, 0], [3, 1, 0])
    assert misere_payments([4, 3, 3]) == ([0, 0, 0], [1, 0, 0])


def test_misere() -> None:
    # A5, option all_pass="misere": seat 1 has all spades and the two highest clubs
    deck = deck_with(hand1="SA SK SQ SJ ST S9 S8 S7 CA CK")
    deal = Deal(deck, 0, Options(all_pass="misere"), kassas=(0, 0, 0))
    do(deal, "pass pass pass")
    assert (deal.phase, deal.seat, deal.trump) == ("play", 1, None)
    assert [len(hand) for hand in deal.hands] == [10, 10, 10]
    finish_anyhow(deal)
    assert deal.tricks == [0, 10, 0]
    assert (deal.kapikia, deal.kassa) == ([0, 0, 0], [0, 10, 0])
    assert deal.settled == [Fraction(100, 3), Fraction(-200, 3), Fraction(100, 3)]


def test_first_hand_by_the_seven_of_diamonds() -> None:
    assert first_hand_by_seven_of_diamonds(deck_with(hand1="D7", hand0="D8")) == 1
    assert first_hand_by_seven_of_diamonds(deck_with(talon="D7", hand2="D8")) == 2
    assert first_hand_by_seven_of_diamonds(deck_with(talon="D7 D8")) is None
    assert first_hand_by_seven_of_diamonds(deck_with(talon="D8", hand0="D7")) == 0


# ------------------------------------------------------------------- talon, discard, contract


def test_talon_discard_and_contract() -> None:
    # T1, T2
    deal = Deal(deck_with(talon="HA SA"), 2)
    do(deal, "6S 6C pass pass")
    assert deal.declarer == 1
    assert len(deal.legal()) == 12
    assert {card_number("HA"), card_number("SA")} <= set(deal.legal())
    do(deal, "HA")
    assert deal.phase == "discard"
    assert len(deal.legal()) == 11
    do(deal, "SA")
    assert deal.discards == cards("HA SA")
    assert deal.phase == "contract"
    assert deal.seat == 1
    assert deal.legal() == list(range(35, 59))  # 6 clubs and up
    do(deal, "7H")
    assert deal.contract == Contract(7, "H")
    assert (deal.phase, deal.seat) == ("defence", 2)  # D1


def test_a_writer_names_anything_or_declines() -> None:
    # T2, T3; A5: the writer became declarer
    deal = Deal(list(range(32)), 2, SITE)
    do(deal, "pass write pass")
    discard_two(deal)
    assert deal.legal() == [DECLINE, *range(34, 59)]
    deal.play(DECLINE)
    assert deal.over
    assert deal.declined
    assert deal.kapikia == [2, -4, 2]
    assert deal.kassa == [0, 2, 0]
    assert deal.settled == [Fraction(26, 3), Fraction(-52, 3), Fraction(26, 3)]


def test_no_aces_bonus_when_a_writer_declines() -> None:
    deal = Deal(deck_with(hand0="SA CA DA HA"), 2, SITE)
    do(deal, "write pass pass")
    discard_two(deal)
    deal.play(DECLINE)
    assert deal.kapikia == [-4, 2, 2]


def test_the_twelve_cards_count_for_the_aces_bonus() -> None:
    # two aces from the talon, two aces discarded, both passed
    deal = Deal(deck_with(hand0="SA CA", talon="DA HA"), 2, SITE)
    do(deal, "6S pass pass SA DA 6S pass pass")
    assert deal.over
    assert (deal.kapikia, deal.kassa) == ([50, -25, -25], [-2, 0, 0])
    deal = Deal(deck_with(hand0="SA CA", hand1="HA", talon="DA"), 2, SITE)
    do(deal, "6S pass pass SA DA 7S pass pass")
    assert (deal.kapikia, deal.kassa) == ([0, 0, 0], [-7, 0, 0])


# ---------------------------------------------------------------------------- defence and play


def at_defence(deck: list[int], contract: str = "6S", dealer: int = 2) -> Deal:
    """First hand declares; the lowest cards go away."""
    deal = Deal(deck, dealer)
    do(deal, "6S pass pass")
    discard_two(deal)
    do(deal, contract)
    return deal


def test_both_pass_plays_no_card_and_the_floor_holds() -> None:
    # D2, S4
    deal = Deal(list(range(32)), 2, kassas=(4, 7, 7))
    do(deal, "6S pass pass")
    discard_two(deal)
    do(deal, "9H pass pass")
    assert deal.over
    assert deal.defence == "none"
    assert deal.tricks == [0, 0, 0]
    assert (deal.kapikia, deal.kassa) == ([50, -30, -20], [-4, -3, -2])
    assert deal.settled == [60, -30, -30]  # without S4


def test_defence_choices() -> None:
    # D1, D3
    deal = at_defence(list(range(32)))
    assert deal.seat == 1
    assert deal.legal() == [PASS, PLAY]
    do(deal, "pass")
    assert deal.seat == 2
    assert deal.legal() == [PASS, PLAY]
    do(deal, "play")
    assert (deal.phase, deal.seat) == ("invite", 2)
    assert deal.legal() == [ALONE, INVITE]
    deal.play(INVITE)
    assert (deal.phase, deal.seat, deal.inviter) == ("play", 0, 2)
    assert deal.taking_part == [0, 1, 2]
    deal = at_defence(list(range(32)))
    do(deal, "play play")
    assert (deal.phase, deal.defence, deal.inviter) == ("play", "both", None)


@pytest.mark.parametrize(("player", "leader"), [(2, 2), (0, 0)])
def test_first_hand_takes_no_part(player: int, leader: int) -> None:
    # C1: seat 1 declares, first hand is `first`; he passes, the other plays alone
    first = 0 if player == 2 else 2
    deal = Deal(list(range(32)), (first + 2) % 3)
    while deal.phase == "auction":
        deal.play(contract_action(Contract(6, "S")) if deal.seat == 1 else PASS)
    discard_two(deal)
    do(deal, "6S")
    while deal.phase == "defence":
        deal.play(PLAY if deal.seat == player else PASS)
    deal.play(ALONE)
    # "the next taking part to his right": seat 1 after seat 0, seat 0 after seat 2
    assert deal.seat == (1 if first == 0 else leader)
    assert len(deal.taking_part) == 2
    finish_anyhow(deal)
    assert sum(deal.tricks) == 10
    assert deal.tricks[first] == 0


def test_follow_trump_and_win() -> None:
    # C2, C3: seat 1 has no clubs and one trump; seat 2 has neither clubs nor trumps
    deck = deck_with(
        hand0="CA CK CQ CJ CT C9 C8 C7 SA SK",
        hand1="S7 HA HK HQ HJ HT H9 H8 H7 DA",
        hand2="DK DQ DJ DT D9 D8 D7 SQ SJ ST",
        talon="S9 S8",
    )
    deal = at_defence(deck)
    assert names(deal.discards) == ["S8", "S9"]
    do(deal, "play play CA")
    assert names(deal.legal()) == ["S7"]  # void: a trump
    do(deal, "S7")
    assert names(deal.legal()) == ["SJ", "SQ", "ST"]  # no duty to beat, but a trump
    do(deal, "ST")
    assert (deal.tricks, deal.seat) == ([0, 0, 1], 2)  # the highest trump
    do(deal, "DK")
    assert len(deal.legal()) == 2  # seat 0 has no diamonds: a trump
    do(deal, "SK")
    assert names(deal.legal()) == ["DA"]  # follow suit
    do(deal, "DA")
    assert deal.tricks == [1, 0, 1]
    do(deal, "SA")
    assert len(deal.legal()) == 8  # void in both: any card
    do(deal, "HA SQ C7 HK")
    assert names(deal.legal()) == ["SJ"]
    do(deal, "SJ DQ")
    assert len(deal.legal()) == 6
    assert deal.seat == 0
    do(deal, "C8 HQ")
    assert (deal.tricks, deal.seat) == ([2, 0, 3], 2)  # the suit led, nobody follows
    # in no trump a void hand may play any card
    deal = at_defence(deck, "6NT")
    do(deal, "play play CA")
    assert len(deal.legal()) == 10
    do(deal, "S7 ST")
    assert deal.tricks == [1, 0, 0]


def test_invited_tricks_are_the_inviters() -> None:
    # D3: the passer's tricks count as the inviter's, who alone is paid
    deck = deck_with(
        hand0="SA SK SQ SJ ST S9 CJ CT C9 C8",
        hand1="CA CK CQ HQ HJ HT H9 H8 H7 DT",
        hand2="DA DK DQ DJ D9 D8 D7 HA HK C7",
        talon="S7 S8",
    )
    deal = at_defence(deck)
    do(deal, "pass play invite")
    for _ in range(6):
        deal.play(max(card for card in deal.legal() if card < 8))  # a spade
        deal.play(max(deal.legal()))
        deal.play(min(deal.legal()))
    assert deal.tricks == [6, 0, 0]
    finish_anyhow(deal)
    d, right, left = deal.tricks
    assert d == 6
    assert right > 0
    assert deal.kapikia == [-2 * (right + left), 0, 2 * (right + left)]
    assert deal.kassa == [-2, 0, 0]


# ------------------------------------------------------------------------------------- sanity


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="deck"):
        Deal([0] * 32, 0)
    with pytest.raises(ValueError, match="dealer"):
        Deal(list(range(32)), 3)
    with pytest.raises(ValueError, match="no contract"):
        parse_contract("11S")
    deal = Deal(list(range(32)), 0)
    for action in [-1, 0, INVITE, 62, contract_action(Contract(6, "C"))]:
        with pytest.raises(ValueError, match="not legal"):
            deal.play(action)
    assert deal.history == []
    do(deal, "pass pass pass")
    with pytest.raises(ValueError, match="not legal"):
        deal.play(PASS)


def random_action(rng: random.Random, deal: Deal) -> int:
    legal = deal.legal()
    if deal.phase == "contract" and rng.random() < 0.7:
        return legal[0]
    if deal.phase == "auction" and rng.random() < 0.3:
        return PASS
    return rng.choice(legal)


@pytest.mark.parametrize("name", VARIANTS)
def test_random_deals(name: str) -> None:
    options = VARIANTS[name]
    rng = random.Random(name)
    seen = set()
    for _ in range(100):
        deck = shuffled(rng)
        kassas = (rng.randrange(12), rng.randrange(12), rng.randrange(12))
        dealer = rng.randrange(3)
        deal = Deal(deck, dealer, options)
        in_match = Deal(deck, dealer, options, kassas)
        while not deal.over:
            assert deal.seat in SEATS
            legal = deal.legal()
            assert legal
            assert legal == sorted(set(legal))
            assert legal[0] >= 0
            assert legal[-1] < 62
            assert legal == in_match.legal()
            everywhere = [*deal.discards, *(card for _, card in deal.trick)]
            for hand in deal.hands:
                everywhere += hand
            assert len(everywhere) == len(set(everywhere))
            action = random_action(rng, deal)
            deal.play(action)
            in_match.play(action)
        seen.add("misere" if deal.misere else deal.defence)
        assert deal.seat is None
        assert deal.legal() == []
        for finished in [deal, in_match]:
            assert sum(finished.kapikia) == 0
            assert sum(finished.settled) == 0
            assert sum(finished.tricks) in [0, 10]
        assert deal.settled == in_match.settled == settled(deal.kapikia, deal.kassa)
        assert all(k + c >= 0 for k, c in zip(kassas, in_match.kassa, strict=True))
        if deal.defence in ["both", "invite", "alone"] or deal.misere:
            assert sum(deal.tricks) == 10
            left_over = 10 if deal.defence == "alone" else 0
            assert sum(len(hand) for hand in deal.hands) == left_over
        if deal.bid is not None:
            assert deal.contract is not None
            assert LADDER.index(deal.contract) >= LADDER.index(deal.bid)
            assert options.write_bid or deal.writer is None
    assert {"none", "both", "invite", "alone"} <= seen
    assert ("misere" in seen) == (options.all_pass == "misere")


@pytest.mark.parametrize("turn", [1, 2])
def test_turning_the_seats_turns_everything(turn: int) -> None:
    # P1: nothing depends on a seat's number
    rng = random.Random(turn)
    for _ in range(60):
        deck = shuffled(rng)
        hands = [deck[0:10], deck[10:20], deck[20:30]]
        turned_hands = [hands[(seat - turn) % 3] for seat in SEATS]
        turned_deck = [card for hand in turned_hands for card in hand] + deck[30:32]
        deal = Deal(deck, 0, SITE, (3, 4, 5))
        kassas = [(3, 4, 5)[(seat - turn) % 3] for seat in SEATS]
        other = Deal(turned_deck, turn, SITE, (kassas[0], kassas[1], kassas[2]))
        while not deal.over:
            assert deal.seat is not None
            assert other.seat == (deal.seat + turn) % 3
            assert deal.legal() == other.legal()
            action = random_action(rng, deal)
            deal.play(action)
            other.play(action)
        assert other.over
        for seat in SEATS:
            assert other.kapikia[(seat + turn) % 3] == deal.kapikia[seat]
            assert other.kassa[(seat + turn) % 3] == deal.kassa[seat]
            assert other.settled[(seat + turn) % 3] == deal.settled[seat]


def test_write_and_decline_share_a_number() -> None:
    assert WRITE == DECLINE == 33
