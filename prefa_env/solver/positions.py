"""Positions: what they must be, and the arrays that the search takes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..cards import SUITS
from ..tricks import playable
from . import search

STRAINS = (*SUITS, "NT")


def check_integer(name: str, value: Any) -> int:
    """An integer as an `int`; True and False are none. Raises ValueError naming it."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {value!r}") from None


def check_seat(name: str, value: Any, seats: int) -> int:
    """A seat as an `int`. Raises ValueError naming it."""
    seat = check_integer(name, value)
    if not 0 <= seat < seats:
        raise ValueError(f"{name} must be a seat, 0 to {seats - 1}, not {value!r}")
    return seat


def check_width(width: int) -> None:
    """Raise ValueError unless suits may have so many cards."""
    if not 1 <= check_integer("width", width) <= search.MAX_WIDTH:
        raise ValueError(f"width must be 1 to {search.MAX_WIDTH} cards a suit, not {width}")


def check_hands(hands: Sequence[int], width: int, where: str = "") -> None:
    """Raise ValueError, beginning with `where`, unless hands are disjoint and of one size."""
    _check_range(hands, width, where)
    seen = 0
    for seat, hand in enumerate(hands):
        if seen & hand:
            raise ValueError(f"{where}seat {seat} holds a card of another hand")
        seen |= hand
    sizes = [hand.bit_count() for hand in hands]
    if len(set(sizes)) > 1:
        raise ValueError(f"{where}hands of {sizes} cards, not of one size")


def _check_range(hands: Sequence[int], width: int, where: str = "") -> None:
    for seat, hand in enumerate(hands):
        if not 0 <= hand < 1 << 4 * width:
            raise ValueError(
                f"{where}the hand of seat {seat} has bits outside the {4 * width} cards of the pack"
            )


def check_many_hands(hands: npt.NDArray[np.int64], width: int) -> None:
    """`check_hands` for int64 [B, n]: ValueError for the first row that is wrong."""
    sizes = np.bitwise_count(hands)
    together = np.bitwise_count(np.bitwise_or.reduce(hands, axis=1))
    is_wrong = ((hands >> 4 * width != 0) | (sizes != sizes[:, :1])).any(axis=1)
    is_wrong |= together != sizes.sum(axis=1)
    for row in np.flatnonzero(is_wrong):
        check_hands(hands[row].tolist(), width, f"position {row}: ")


def position_arguments(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    trick: Sequence[int],
    fewest: bool,
    must_trump: bool,
    width: int,
) -> Any:
    """Check a position, and return what `search.value` takes after its memory.

    Raises:
        ValueError: for a position that cannot be.
    """
    seats = len(hands)
    if not 2 <= seats <= search.MAX_SEATS:
        raise ValueError(f"there must be 2 to {search.MAX_SEATS} hands, not {seats}")
    check_width(width)
    if trump not in STRAINS:
        raise ValueError(f"trump must be one of {', '.join(STRAINS)}, not {trump!r}")
    if not 0 <= check_integer("side", side) < 1 << seats:
        raise ValueError(f"side must be a set of {seats} seats as bits, not {side!r}")
    leader = check_seat("leader", leader, seats)
    if len(trick) >= seats:
        raise ValueError(f"at most {seats - 1} cards can be on the table, not {len(trick)}")
    hands = [check_integer(f"hand of seat {seat}", hand) for seat, hand in enumerate(hands)]
    _check_range(hands, width)
    strain = STRAINS.index(trump)
    trumps = _suit(strain, width) if trump != "NT" and must_trump else 0
    check_hands(_before_trick(hands, trick, leader, trumps, width), width)
    table = np.zeros(search.MAX_SEATS, np.int64)
    table[:seats] = hands
    cards = np.zeros(search.MAX_SEATS, np.int64)
    cards[: len(trick)] = trick
    rules = (seats, width, strain, int(must_trump), int(side), not fewest)
    return (table, cards, len(trick), leader, *rules)


def _suit(suit: int, width: int) -> int:
    """All cards of a suit."""
    return ((1 << width) - 1) << suit * width


def _before_trick(
    hands: Sequence[int], trick: Sequence[int], leader: int, trumps: int, width: int
) -> list[int]:
    """The hands with the cards on the table put back. Raises ValueError unless all were legal."""
    before = list(hands)
    led = 0
    for place, given in enumerate(trick):
        card = check_integer("a card of the trick", given)
        seat = (leader + place) % len(hands)
        if not 0 <= card < 4 * width:
            raise ValueError(f"the trick has card {card}, not one of 0 to {4 * width - 1}")
        if any(hand >> card & 1 for hand in before):
            raise ValueError(f"card {card} is on the table and in a hand")
        before[seat] |= 1 << card
        if not playable(before[seat], led, trumps) >> card & 1:
            raise ValueError(f"seat {seat} had no right to play card {card}")
        led = led or _suit(card // width, width)
    return before
