"""Trick rules of both games: which cards may be played, and which card wins.

Plain arguments: hands and single cards are int64 bit sets; a suit is the set of all its cards, and
the empty set stands for "nothing led yet" and for "no trump". In a suit a higher bit wins.
"""

from __future__ import annotations

from ._jit import njit


@njit
def playable(hand: int, led: int, trump: int) -> int:
    """Cards of `hand` that may be played: follow, else trump, else any (C2, F8).

    Pass `trump=0` where trumping is not a duty.
    """
    follow = hand & led
    if follow != 0:
        return follow
    ruff = hand & trump
    if led != 0 and ruff != 0:
        return ruff
    return hand


@njit
def beats(card: int, best: int, led: int, trump: int) -> bool:
    """Whether `card` takes the trick over `best`, the winning card so far (C3)."""
    if card & trump != 0:
        return best & trump == 0 or card > best
    return card & led != 0 and best & trump == 0 and card > best


@njit
def shown_void(card: int, led: int, trump: int) -> int:
    """The suits, as a set of cards, that a player shows he has none of by playing `card`."""
    if card & led != 0 or led == 0:
        return 0
    if card & trump != 0:
        return led
    return led | trump
