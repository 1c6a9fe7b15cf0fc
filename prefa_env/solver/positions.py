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


def check_hands(hands: npt.NDArray[np.int64], width: int) -> None:
    """Raise ValueError unless each row has disjoint hands of one size; `hands` [B, n]."""
    if ((hands < 0) | (hands >> 4 * width != 0)).any():
        raise ValueError(f"a hand has bits outside the {4 * width} cards of the pack")
    seen = np.zeros(len(hands), np.int64)
    for seat in range(hands.shape[1]):
        twice = np.flatnonzero(seen & hands[:, seat])
        if twice.size:
            raise ValueError(f"position {twice[0]}: seat {seat} holds a card of another hand")
        seen |= hands[:, seat]
    sizes = np.bitwise_count(hands)
    uneven = np.flatnonzero((sizes != sizes[:, :1]).any(axis=1))
    if uneven.size:
        raise ValueError(
            f"position {uneven[0]}: hands of {sizes[uneven[0]].tolist()} cards, not of one size"
        )


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
    before = [check_integer(f"hand of seat {seat}", hand) for seat, hand in enumerate(hands)]
    suit = (1 << width) - 1
    trumps = suit << STRAINS.index(trump) * width if trump != "NT" and must_trump else 0
    led = 0
    for i, given in enumerate(trick):
        card, seat = check_integer("a card of the trick", given), (leader + i) % seats
        if not 0 <= card < 4 * width:
            raise ValueError(f"the trick has card {card}, not one of 0 to {4 * width - 1}")
        if any(hand >> card & 1 for hand in before):
            raise ValueError(f"card {card} is on the table and in a hand")
        before[seat] |= 1 << card
        if not playable(np.int64(before[seat]), np.int64(led), np.int64(trumps)) >> card & 1:  # type: ignore[arg-type]
            raise ValueError(f"seat {seat} had no right to play card {card}")
        led = led or suit << card // width * width
    if any(hand >> 63 for hand in before):
        raise ValueError(f"a hand has bits outside the {4 * width} cards of the pack")
    check_hands(np.array([before], np.int64), width)
    table = np.zeros(search.MAX_SEATS, np.int64)
    table[:seats] = hands
    cards = np.zeros(search.MAX_SEATS, np.int64)
    cards[: len(trick)] = trick
    rules = (seats, width, STRAINS.index(trump), int(must_trump), int(side), not fewest)
    return (table, cards, len(trick), leader, *rules)
