"""Random matches of the independent reference, and the kernel in lockstep with them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env._jit import njit
from prefa_env.prefa import DTYPE, MATCH, Rules, State
from prefa_env.words import Ints
from tests.helpers import Style, choose, deck_for, floor_event, options_of, random_style
from tests.reference import PASS, Deal, card_number
from tests.reference_match import Match

SEATS = [0, 1, 2]
DIAMOND_SEVEN, DIAMOND_EIGHT = card_number("D7"), card_number("D8")


@njit
def play_actions(table: State, actions: npt.NDArray[np.int64]) -> bool:
    """Whether all were legal; stops at the first that is not."""
    for action in actions:
        if prefa.legal_actions(table) >> action & 1 == 0:
            return False
        prefa.step(table, action)
    return True


def choose_calmly(rng: random.Random, deal: Deal, legal: list[int], style: Style) -> int:
    """As `choose`, but defenders mostly pass: kassas go down and the match comes to its end."""
    if deal.phase == "defence" and rng.random() < 0.9:
        return PASS
    return choose(rng, deal, legal, style)


def deck_of_first_deal(rng: random.Random, style: Style) -> list[int]:
    """A deck with the seven, or seven and eight, of diamonds often in the talon."""
    deck = deck_for(rng, style)
    for card, place in [(DIAMOND_SEVEN, 30), (DIAMOND_EIGHT, 31)][: rng.choice([0, 0, 1, 2])]:
        old = deck.index(card)
        deck[place], deck[old] = deck[old], deck[place]
    return deck


def turned_deck(deck: Sequence[int], turn: int) -> npt.NDArray[np.int8]:
    """The same cards, each hand so many seats to the right."""
    start = 30 - 10 * turn
    return np.array([*deck[start:30], *deck[:start], *deck[30:]], np.int8)


def assert_same(table: State, match: Match, turn: int) -> None:
    """The table stands where the reference stands, with seats turned."""
    deal = match.deal
    assert deal is not None
    seats = [(seat + turn) % 3 for seat in SEATS]

    def row(numbers: Ints) -> list[int]:
        return [int(numbers[seat]) for seat in seats]

    assert table.dealer == seats[deal.dealer]
    assert table.first == seats[deal.first_hand]
    assert table.seat == (-1 if deal.seat is None else seats[deal.seat])
    assert table.shown_card == (0 if match.shown_card is None else match.shown_card + 1)
    left = 0 if match.max_deals is None else match.max_deals - match.deals_dealt + 1
    assert table.deals_left == left
    assert row(table.kassa_change) == deal.kassa
    assert row(table.kapikia_change) == deal.kapikia
    assert row(table.settled_thirds) == [3 * worth for worth in deal.settled]
    assert row(table.kassa) == match.kassas
    assert row(table.kapikia) == match.kapikia
    assert [Fraction(prefa.match_thirds(table, seat), 3) for seat in seats] == match.score()
    assert prefa.is_match_over(table) == match.over


class Lockstep:
    """Random matches of the reference and, at three turns of the seats, of the kernel."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.tables = np.zeros(3, DTYPE)  # never cleared: a match must not see the last one
        self.seen: set[str] = set()

    def play(self, rules: Rules, max_deals: int | None, is_calm: bool) -> None:
        """One match; compares after every deal and at the start of each."""
        match = Match(options_of(rules), max_deals)
        for table in self.tables:
            prefa.start_match(table, rules.kassa, max_deals or 0)
        self.start(match, rules)
        while True:
            kassas = [*match.kassas]
            self.play_deal(match, is_calm)
            self.note_events(match, kassas)
            if match.over:
                break
            deck = deck_for(self.rng, random_style(self.rng))
            match.deal_next(deck)
            for turn, table in enumerate(self.tables):
                prefa.deal_next(table, turned_deck(deck, turn))
                assert_same(table, match, turn)
        if match.kassas == [0, 0, 0]:
            assert match.score() == match.kapikia  # S6

    def start(self, match: Match, rules: Rules) -> None:
        """The first deal, drawn or given."""
        rng, flags, dealer = self.rng, rules.flags | MATCH, self.rng.randrange(3)
        is_given, is_dealt = rng.random() < 0.2, False
        while not is_dealt:
            deck = deck_of_first_deal(rng, random_style(rng))
            if is_given:
                match.deal_given(deck, dealer)
            is_dealt = is_given or match.deal_first(deck, dealer)
            for turn, table in enumerate(self.tables):
                cards, first_dealer = turned_deck(deck, turn), (dealer + turn) % 3
                if is_given:
                    prefa.deal(table, flags, cards, first_dealer)
                else:
                    assert prefa.deal_first(table, flags, cards, first_dealer) == is_dealt
                if is_dealt:
                    assert_same(table, match, turn)
            self.seen.add("given" if is_given else "drawn" if is_dealt else "dealt anew")
        if match.shown_card is not None:
            self.seen.add("seven shown" if match.shown_card == DIAMOND_SEVEN else "eight shown")

    def play_deal(self, match: Match, is_calm: bool) -> None:
        deal, style, actions = match.deal, random_style(self.rng), []
        assert deal is not None
        while not deal.over:
            how = choose_calmly if is_calm else choose
            actions.append(how(self.rng, deal, deal.legal(), style))
            match.play(actions[-1])
        for turn, table in enumerate(self.tables):
            assert play_actions(table, np.array(actions, np.int64))
            assert_same(table, match, turn)

    def note_events(self, match: Match, kassas: list[int]) -> None:
        """What has happened in a deal that began with these kassas."""
        deal = match.deal
        assert deal is not None
        self.seen.add(floor_event(deal, kassas))
        if deal.declarer is None:
            kind = "misère" if deal.misere else "passed out"
            self.seen |= {kind, f"{kind} at the cap"} if match.over else {kind}
        elif deal.declined:
            self.seen.add("declined")
        elif deal.kassa[deal.declarer] > 0 and kassas[deal.declarer] == 0:
            self.seen.add("failed at 0")
        if match.over:
            self.seen.add("ended at 0" if match.kassas == [0, 0, 0] else "ended at the cap")
        elif match.kassas.count(0) == 2:
            self.seen.add("goes on with two at 0")
