"""Cards as numbers, hands as bit sets, and both as text.

A card is `suit * ranks + rank`; a hand is an int64 with one bit a card. Suits run S, C, D, H from
low to high, ranks from low to high as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

SUITS = "SCDH"


@dataclass(frozen=True)
class Pack:
    """A pack of cards and how it is dealt: `seats` hands of `hand_size`, then the talon."""

    ranks: str
    seats: int
    hand_size: int

    @property
    def num_cards(self) -> int:
        """Cards of the pack."""
        return len(SUITS) * len(self.ranks)

    @property
    def talon_size(self) -> int:
        """Cards left over when all hands are dealt."""
        return self.num_cards - self.seats * self.hand_size

    def card_text(self, card: int) -> str:
        """`SA`, `HT`, `D7`."""
        suit, rank = divmod(int(card), len(self.ranks))
        return SUITS[suit] + self.ranks[rank]

    def parse_card(self, text: str) -> int:
        """The card number of a text. Raises ValueError for anything but one suit and one rank."""
        card = self._card_of.get(text)
        if card is None:
            raise ValueError(
                f"no such card: {text!r} (a suit of {SUITS}, then a rank of {self.ranks})"
            )
        return card

    @cached_property
    def _card_of(self) -> dict[str, int]:
        return {self.card_text(card): card for card in range(self.num_cards)}

    def hand_text(self, cards: Iterable[int]) -> str:
        """Suits S.C.D.H, high card first: `AKQ.J98.T7.A9`."""
        held = set(map(int, cards))
        width = len(self.ranks)
        return ".".join(
            "".join(self.ranks[r] for r in reversed(range(width)) if suit * width + r in held)
            for suit in range(len(SUITS))
        )

    def deal_text(self, dealer: int, deck: Sequence[int]) -> str:
        """A deal in one line: dealer, colon, the hands in seat order, then the talon if any."""
        starts = range(0, self.num_cards, self.hand_size)
        hands = [deck[start : start + self.hand_size] for start in starts]
        return f"{int(dealer)}:" + " ".join(map(self.hand_text, hands))

    def parse_deal(self, text: str) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.int8]]]:
        """`(dealer, deck)` of a deal text; deck is int8 [cards].

        Raises ValueError that names the part of the text and what is wrong with it.
        """
        dealer, colon, rest = text.strip().partition(":")
        if not colon or dealer not in [str(seat) for seat in range(self.seats)]:
            raise ValueError(
                f"a deal begins with its dealer, 0 to {self.seats - 1}, and a colon: {text!r}"
            )
        names = [f"hand of seat {seat}" for seat in range(self.seats)]
        sizes = [self.hand_size] * self.seats
        if self.talon_size:
            names.append("talon")
            sizes.append(self.talon_size)
        parts = rest.split()
        if len(parts) != len(names):
            raise ValueError(f"a deal has {len(names)} parts ({', '.join(names)}): {text!r}")
        owner: dict[int, str] = {}
        for name, size, part in zip(names, sizes, parts, strict=True):
            cards = self._parse_hand(name, part)
            if len(cards) != size:
                raise ValueError(f"{name} has {len(cards)} cards, not {size}: {part!r}")
            for card in cards:
                if card in owner:
                    raise ValueError(
                        f"card {self.card_text(card)} stands twice: {owner[card]} and {name}"
                    )
                owner[card] = name
        return int(dealer), np.array(list(owner), np.int8)

    def _parse_hand(self, name: str, text: str) -> list[int]:
        suits = text.split(".")
        if len(suits) != len(SUITS):
            raise ValueError(f"{name} must have four suits separated by dots: {text!r}")
        try:
            return [
                self.parse_card(suit + rank)
                for suit, ranks in zip(SUITS, suits, strict=True)
                for rank in ranks
            ]
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


def cards_of(hand: int) -> list[int]:
    """The card numbers of a bit set, ascending."""
    bits = int(hand)
    return [card for card in range(bits.bit_length()) if bits >> card & 1]
