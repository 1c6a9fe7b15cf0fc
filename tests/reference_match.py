"""A slow, obvious reference of a whole match of Prefa, for tests only.

Written straight from the rule book, like `tests.reference`, which has the single deal and the
floor (S4). Standard library only; nothing here is shared with the code it checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.reference import (
    DEFAULT,
    Deal,
    Options,
    card_number,
    first_hand_by_seven_of_diamonds,
    left_of,
    right_of,
)


class Match:
    """Deals, one after the other, until all three kassas are 0 or as many as agreed were dealt."""

    def __init__(self, options: Options = DEFAULT, max_deals: int | None = None) -> None:
        """`max_deals`: None for a match without a limit, as the rules have it."""
        self.options = options
        self.max_deals = max_deals
        self.kassas: list[int] = [options.kassa] * 3  # P5: the same for each
        self.kapikia: list[int] = [0, 0, 0]
        self.deals_dealt = 0
        self.deal: Deal | None = None  # the one on the table, or the last one played
        self.shown_card: int | None = None  # of the deal on the table, option `first_bid`

    @property
    def over(self) -> bool:
        """No further deal is dealt. Never in the middle of a deal."""
        if self.deal is not None and not self.deal.over:
            return False
        return self.kassas == [0, 0, 0] or self.deals_dealt == self.max_deals  # S6

    def deal_first(self, deck: Sequence[int], dealer: int) -> bool:
        """Deals the first deal of a match; False if it is void and another deck is needed.

        `dealer`: the one drawn (P4). With `first_bid="seven_of_diamonds"` the cards settle it.
        """
        assert self.deals_dealt == 0
        if self.options.first_bid == "dealer":
            self.deal_given(deck, dealer)
            return True
        first_hand = first_hand_by_seven_of_diamonds(deck)
        if first_hand is None:
            return False  # dealt anew, nothing recorded
        # The deal counts as dealt by the player to his left.
        self.deal_given(deck, left_of(first_hand))
        # He shows the seven, or the eight if the seven is in the talon.
        seven = card_number("D7")
        self.shown_card = card_number("D8") if seven in deck[30:32] else seven
        return True

    def deal_given(self, deck: Sequence[int], dealer: int) -> None:
        """Deals these cards by this dealer, whatever the option `first_bid` says."""
        assert not self.over
        self.deals_dealt += 1
        self.shown_card = None
        a, b, c = self.kassas
        self.deal = Deal(deck, dealer, self.options, (a, b, c))

    def deal_next(self, deck: Sequence[int]) -> None:
        """P4: the next deal is dealt by the next player to the right."""
        assert self.deal is not None
        assert self.deal.over
        self.deal_given(deck, right_of(self.deal.dealer))

    def play(self, action: int) -> None:
        """Does `action` for the seat to act; the last one of a deal books it."""
        assert self.deal is not None
        self.deal.play(action)
        if self.deal.over:
            for seat in [0, 1, 2]:
                self.kassas[seat] += self.deal.kassa[seat]
                self.kapikia[seat] += self.deal.kapikia[seat]

    def score(self) -> list[Fraction]:
        """S6: the kapikia; of a match cut short, less 10 for each kassa point above the mean."""
        mean = Fraction(sum(self.kassas), 3)
        return [self.kapikia[seat] - 10 * (self.kassas[seat] - mean) for seat in [0, 1, 2]]
