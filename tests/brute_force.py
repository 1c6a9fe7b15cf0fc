"""Open cards by plain minimax, compiled: every card of every seat, to the end.

The rules stand here once more, on card numbers, apart from those of `prefa_env`. There are no
bounds, no windows, no equal cards and no squeezed ranks; what is remembered is the exact value of
whole positions between tricks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import types
from numba.typed import Dict

from prefa_env._jit import njit_called
from prefa_env.bits import popcount
from prefa_env.words import Ints, int64, ints

_POSITION = types.UniTuple(types.int64, 5)  # four hands and the leader


@njit_called
def _legal(hand: int, led: int, trump: int, must_trump: bool, width: int) -> int:
    """The cards of a hand that may be played; suit `led` -1 before the lead, `trump` 4 for none."""
    suit = (int64(1) << width) - 1
    if led < 0:
        return hand
    if hand & suit << led * width:
        return hand & suit << led * width
    if must_trump and trump < 4 and hand & suit << trump * width:
        return hand & suit << trump * width
    return hand


@njit_called
def _winning_place(cards: Ints, trump: int, width: int) -> int:
    """Which card takes a trick: the highest trump, or the highest of the suit led."""
    best = 0
    for place in range(1, cards.shape[0]):
        suit, best_suit = cards[place] // width, cards[best] // width
        if suit == best_suit:
            best = place if cards[place] > cards[best] else best
        elif suit == trump:
            best = place
    return best


@njit_called
def _value(
    memory: Any,
    hands: Ints,
    cards: Ints,
    played: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must_trump: bool,
    side: int,
    fewest: bool,
) -> int:
    """Tricks of the side from here on; `cards` holds the `played` cards, whole tricks and the last.

    `hands` int64 [4] is changed and put back.
    """
    place = played % seats
    if place == 0 and played > 0:
        leader = (leader + _winning_place(cards[played - seats : played], trump, width)) % seats
        taken = side >> leader & 1
    else:
        taken = 0
    position = (hands[0], hands[1], hands[2], hands[3], int64(leader))
    if place == 0:
        if hands[0] == 0:
            return taken
        if position in memory:
            known: int = memory[position]
            return taken + known
    seat = (leader + place) % seats
    led = cards[played - place] // width if place else -1
    wants_many = (side >> seat & 1 == 1) != fewest
    best = -1
    hand = hands[seat]
    legal = _legal(hand, led, trump, must_trump, width)
    while legal:
        bit = legal & -legal
        legal ^= bit
        hands[seat] = hand ^ bit
        cards[played] = popcount(bit - 1)
        value = _value(
            memory, hands, cards, played + 1, leader,
            seats, width, trump, must_trump, side, fewest,
        )  # fmt: skip
        if best < 0 or (value > best if wants_many else value < best):
            best = value
    hands[seat] = hand
    if place == 0:
        memory[position] = int64(best)
    return taken + best


@njit_called
def _fill_values(
    out: Ints,
    hands: Ints,
    cards: Ints,
    place: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must_trump: bool,
    side: int,
    fewest: bool,
) -> None:
    """Fill `out` int64 [4 * width]: tricks of the side after each legal card, else -1."""
    memory = Dict.empty(_POSITION, types.int64)
    seat = (leader + place) % seats
    led = cards[0] // width if place else -1
    hand = hands[seat]
    legal = _legal(hand, led, trump, must_trump, width)
    for card in range(4 * width):
        out[card] = -1
        if legal >> card & 1:
            hands[seat] = hand ^ (int64(1) << card)
            cards[place] = card
            out[card] = _value(
                memory, hands, cards, place + 1, leader,
                seats, width, trump, must_trump, side, fewest,
            )  # fmt: skip
    hands[seat] = hand


def brute_force_values(
    hands: Sequence[int],
    trump: int,
    side: int,
    leader: int,
    trick: Sequence[int],
    fewest: bool,
    must_trump: bool,
    width: int,
) -> dict[int, int]:
    """Card number to tricks of `side`, for each card that may be played; `trump` 4 for none."""
    padded = ints([0] * 4)
    padded[: len(hands)] = hands
    cards = ints([0] * (4 * width))
    cards[: len(trick)] = trick
    out = ints([-1] * (4 * width))
    _fill_values(
        out, padded, cards, len(trick), leader,
        len(hands), width, trump, must_trump, side, fewest,
    )  # fmt: skip
    return {card: int(tricks) for card, tricks in enumerate(out) if tricks >= 0}
