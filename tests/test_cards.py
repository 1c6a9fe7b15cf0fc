"""Cards and deals as text, for both packs, and the errors of bad texts."""

from __future__ import annotations

import random

import pytest

from prefa_env.cards import Pack, cards_of

PREFA = Pack(ranks="789TJQKA", seats=3, hand_size=10)
PRIFFE = Pack(ranks="23456789TJQKA", seats=4, hand_size=13)
PACKS = [PREFA, PRIFFE]


def test_sizes() -> None:
    assert (PREFA.num_cards, PREFA.talon_size) == (32, 2)
    assert (PRIFFE.num_cards, PRIFFE.talon_size) == (52, 0)


def test_card_numbers() -> None:
    assert [PREFA.card_text(card) for card in (0, 7, 8, 23, 27, 31)] == [
        *("S7", "SA", "C7", "DA", "HT", "HA"),
    ]
    assert [PRIFFE.card_text(card) for card in (0, 12, 13, 51)] == ["S2", "SA", "C2", "HA"]


@pytest.mark.parametrize("pack", PACKS)
def test_round_trips(pack: Pack) -> None:
    rng = random.Random(pack.ranks)
    for card in range(pack.num_cards):
        assert pack.parse_card(pack.card_text(card)) == card
    for _ in range(100):
        deck = list(range(pack.num_cards))
        rng.shuffle(deck)
        dealer = rng.randrange(pack.seats)
        text = pack.deal_text(dealer, deck)
        parsed_dealer, parsed = pack.parse_deal(text)
        assert parsed_dealer == dealer
        assert parsed.dtype.name == "int8"
        for start in range(0, pack.num_cards, pack.hand_size):
            end = start + pack.hand_size
            assert set(parsed[start:end].tolist()) == set(deck[start:end])
        assert pack.deal_text(parsed_dealer, parsed.tolist()) == text


def test_a_deal_as_text() -> None:
    assert PREFA.deal_text(1, range(32)) == GOOD


def test_order_inside_a_hand_and_spaces_do_not_matter() -> None:
    dealer, deck = PREFA.parse_deal(" 0: 789TJQKA.78.. .9TJQKA.789T.\t..JQKA.789TJQ ...KA\n")
    assert (dealer, sorted(deck.tolist())) == (0, list(range(32)))
    assert PREFA.deal_text(dealer, deck.tolist()) == PREFA.deal_text(0, range(32))


@pytest.mark.parametrize("text", ["", "S", "SAA", "AS", "XA", "S1", "S6", "sa", "HÄ", "S "])
def test_bad_cards(text: str) -> None:
    with pytest.raises(ValueError, match="no such card: ") as error:
        PREFA.parse_card(text)
    assert repr(text) in str(error.value)
    assert "SCDH" in str(error.value) and "789TJQKA" in str(error.value)


GOOD = "1:AKQJT987.87.. .AKQJT9.T987. ..AKQJ.QJT987 ...AK"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1:", "3:", "begins with its dealer, 0 to 2, and a colon"),
        ("1:", "-1:", "begins with its dealer"),
        ("1:", "01:", "begins with its dealer"),
        ("1:", ":", "begins with its dealer"),
        ("1:", "1", "begins with its dealer"),
        ("1:", "", "begins with its dealer"),
        (" ...AK", "", "a deal has 4 parts .*hand of seat 0.*talon"),
        ("...AK", "...A ...K", "a deal has 4 parts"),
        ("AKQJT987.87..", "AKQJT987.8..", "hand of seat 0 has 9 cards, not 10"),
        (".T987. ", ".T9876. ", "hand of seat 1: no such card: 'D6'"),
        ("...AK", "...AKQ", "talon has 3 cards, not 2"),
        ("...AK", "...AA", "card HA stands twice: talon and talon"),
        ("...AK", "A...K", "card SA stands twice: hand of seat 0 and talon"),
        ("..AKQJ.QJT987", ".AKQJ.QJT987", "hand of seat 2 must have four suits"),
        ("..AKQJ.QJT987", "..AKQJ.QJT987.", "hand of seat 2 must have four suits"),
        ("...AK", "AK", "talon must have four suits separated by dots: 'AK'"),
        ("...AK", "...A1", "talon: no such card: 'H1'"),
    ],
)
def test_bad_deals(old: str, new: str, message: str) -> None:
    assert PREFA.parse_deal(GOOD)[0] == 1
    assert old in GOOD
    with pytest.raises(ValueError, match=message):
        PREFA.parse_deal(GOOD.replace(old, new, 1))


def test_bad_deals_without_a_talon() -> None:
    deal = PRIFFE.deal_text(3, range(52))
    assert deal == "3:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
    with pytest.raises(ValueError, match=r"a deal has 4 parts \(.*hand of seat 3\)"):
        PRIFFE.parse_deal(deal + " ...")
    with pytest.raises(ValueError, match="0 to 3"):
        PRIFFE.parse_deal("4" + deal[1:])


def test_cards_of() -> None:
    assert cards_of(0) == []
    assert cards_of(1 << 31 | 1 << 5 | 1) == [0, 5, 31]
    assert cards_of((1 << 52) - 1) == list(range(52))
