"""Open-card solver: the exact result of trick play when all cards are seen.

`declarer_tricks("0:AQ87.AQT.9.A7 JT.J9.AKQT7.9 K.K7.J8.KQJT8 9.8..", "S", 0, 1)` is 7.

Any position of 2 to 4 seats: `solve`, `at_least`, `card_values`, `solve_many`. Hands are int64 bit
sets of cards `suit * width + rank`; a side is a set of seats as bits (`0b101`: seats 0 and 2).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..cards import SUITS
from ..prefa.rules import PACK
from ..tricks import playable
from ..words import Ints
from . import search

STRAINS = (*SUITS, "NT")


@dataclass(frozen=True)
class Memory:
    """What the search writes: allocate once, use for any number of calls, in one thread at a time.

    Positions found stay valid whatever is asked next: their entries name the rules too.
    """

    table: Ints = field(
        default_factory=lambda: cast("Ints", np.zeros(search.TABLE_WORDS, np.int64))
    )
    scratch: Ints = field(
        default_factory=lambda: cast("Ints", np.zeros(search.SCRATCH_WORDS, np.int64))
    )

    @property
    def nodes(self) -> int:
        """Positions between tricks that were looked at, all calls together."""
        return int(self.scratch[search.NODES])


def solve(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> int:
    """Tricks that `side` takes from here on, the running trick included.

    Args:
        hands: one bit set a seat, without the cards on the table.
        trump: S, C, D, H or NT.
        side: seats whose tricks are counted, as bits.
        leader: who led, or is to lead, the running trick.
        trick: card numbers on the table in the order played.
        fewest: the side takes as few as it can, and the others give it as many as they can.
        must_trump: whoever cannot follow must trump if he can.
        width: cards a suit, 13 at most.
        memory: kept between calls it saves work; without one each call allocates its own.

    Raises:
        ValueError: for a position that cannot be.
    """
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    return int(search.value(*call))


def at_least(
    tricks: int,
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> bool:
    """Whether `solve` of the same position is `tricks` or more; faster than the number itself."""
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    return bool(search.is_at_least(*(*call, _integer("tricks", tricks))))


def card_values(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    *,
    trick: Sequence[int] = (),
    fewest: bool = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> dict[int, int]:
    """`solve` after each card that the seat to play may play: card number to tricks of `side`."""
    call = _call(hands, trump, side, leader, trick, fewest, must_trump, width, memory)
    out = cast("Ints", np.empty(4 * width, np.int64))
    search.card_values(*(*call, out))
    return {card: int(tricks) for card, tricks in enumerate(out) if tricks >= 0}


def solve_many(
    hands: npt.ArrayLike,
    trumps: npt.ArrayLike,
    sides: npt.ArrayLike,
    leaders: npt.ArrayLike,
    *,
    fewest: npt.ArrayLike = False,
    must_trump: bool = True,
    width: int = 8,
    memory: Memory | None = None,
) -> npt.NDArray[np.int64]:
    """`solve` for many positions between tricks, in one compiled loop without the GIL: int64 [B].

    Args:
        hands: int [B, n].
        trumps: int [B] or one for all: index into `STRAINS`, 4 for none.
        sides, leaders, fewest: [B] or one for all.

    Raises:
        ValueError: for wrong shapes and for positions that cannot be.
    """
    table = np.ascontiguousarray(hands, np.int64)
    if table.ndim != 2 or not 2 <= table.shape[1] <= search.MAX_SEATS:
        raise ValueError(f"hands must be [B, 2 to 4], not {list(table.shape)}")
    _check_width(width)
    size, seats = table.shape
    rows = {
        "trumps": (trumps, len(STRAINS)),
        "sides": (sides, 1 << seats),
        "leaders": (leaders, seats),
        "fewest": (fewest, 2),
    }
    columns = []
    for name, (given, limit) in rows.items():
        column = np.asarray(given)
        if column.shape not in {(), (size,)}:
            raise ValueError(f"{name} must be one number or [{size}], not {list(column.shape)}")
        wrong = (column < 0) | (column >= limit)
        if wrong.any():
            raise ValueError(
                f"{name} must be 0 to {limit - 1}, not {np.atleast_1d(column[wrong])[0]}"
            )
        columns.append(np.ascontiguousarray(np.broadcast_to(column, (size,)), np.int64))
    _check_hands(table, width)
    memory = memory or Memory()
    out = np.empty(size, np.int64)
    trump, side, lead, few = (cast("Ints", column) for column in columns)
    search.values(
        memory.table,
        memory.scratch,
        table,
        lead,
        trump,
        side,
        cast("Ints", 1 - few),
        width,
        int(must_trump),
        cast("Ints", out),
    )
    return out


def declarer_tricks(deal: str, trump: str, declarer: int, leader: int, fewest: bool = False) -> int:
    """Tricks of the declarer in a Prefa deal, against the two others together.

    Players must follow and must trump, but need not beat. `deal` is a deal text whose talon field
    holds the two cards out of play; with `fewest` the declarer avoids tricks.

    Raises:
        ValueError: for a bad deal, trump or seat.
    """
    declarer = _seat("declarer", declarer, PACK.seats)
    return solve(_hands(deal), trump, 1 << declarer, leader, fewest=fewest)


def deal_table(deal: str, *, fewest: bool = False) -> npt.NDArray[np.int64]:
    """`declarer_tricks` of a deal for all: int64 [5 strains, 3 declarers, 3 leaders]."""
    shape = (len(STRAINS), PACK.seats, PACK.seats)
    trumps, declarers, leaders = (axis.ravel() for axis in np.indices(shape))
    hands = np.tile(np.array(_hands(deal), np.int64), (trumps.size, 1))
    return solve_many(hands, trumps, 1 << declarers, leaders, fewest=fewest).reshape(shape)


def _hands(deal: str) -> list[int]:
    _, deck = PACK.parse_deal(deal)
    size = PACK.hand_size
    starts = range(0, PACK.seats * size, size)
    return [sum(1 << int(card) for card in deck[i : i + size]) for i in starts]


def _integer(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {value!r}") from None


def _seat(name: str, value: Any, seats: int) -> int:
    seat = _integer(name, value)
    if not 0 <= seat < seats:
        raise ValueError(f"{name} must be a seat, 0 to {seats - 1}, not {value!r}")
    return seat


def _check_width(width: int) -> None:
    if not 1 <= _integer("width", width) <= search.MAX_WIDTH:
        raise ValueError(f"width must be 1 to {search.MAX_WIDTH} cards a suit, not {width}")


def _check_hands(hands: npt.NDArray[np.int64], width: int) -> None:
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


def _call(
    hands: Sequence[int],
    trump: str,
    side: int,
    leader: int,
    trick: Sequence[int],
    fewest: bool,
    must_trump: bool,
    width: int,
    memory: Memory | None,
) -> Any:
    """Check a position; return the arguments of the compiled functions."""
    seats = len(hands)
    if not 2 <= seats <= search.MAX_SEATS:
        raise ValueError(f"there must be 2 to {search.MAX_SEATS} hands, not {seats}")
    _check_width(width)
    if trump not in STRAINS:
        raise ValueError(f"trump must be one of {', '.join(STRAINS)}, not {trump!r}")
    if not 0 <= _integer("side", side) < 1 << seats:
        raise ValueError(f"side must be a set of {seats} seats as bits, not {side!r}")
    leader = _seat("leader", leader, seats)
    if len(trick) >= seats:
        raise ValueError(f"at most {seats - 1} cards can be on the table, not {len(trick)}")
    before = [_integer(f"hand of seat {seat}", hand) for seat, hand in enumerate(hands)]
    suit = (1 << width) - 1
    trumps = suit << STRAINS.index(trump) * width if trump != "NT" and must_trump else 0
    led = 0
    for i, given in enumerate(trick):
        card, seat = _integer("a card of the trick", given), (leader + i) % seats
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
    _check_hands(np.array([before], np.int64), width)
    memory = memory or Memory()
    table = np.zeros(search.MAX_SEATS, np.int64)
    table[:seats] = hands
    cards = np.zeros(search.MAX_SEATS, np.int64)
    cards[: len(trick)] = trick
    rules = (seats, width, STRAINS.index(trump), int(must_trump), int(side), not fewest)
    return (memory.table, memory.scratch, table, cards, len(trick), leader, *rules)
