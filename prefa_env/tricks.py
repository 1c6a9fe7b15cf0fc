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
    ruff = hand & trump if led != 0 else 0
    otherwise = ruff if ruff != 0 else hand
    return follow if follow != 0 else otherwise


@njit
def beats(card: int, best: int, led: int, trump: int) -> bool:
    """Whether `card` takes the trick over `best`, the winning card so far (C3).

    Any card takes an empty trick (`led` and `best` 0).
    """
    is_trump = card & trump != 0
    is_trumped = best & trump != 0
    is_higher = card > best
    # No short circuits: in a batch these branches would be guessed wrong half of the time.
    by_trump = is_trump & (is_higher | (not is_trumped))
    by_rank = (card & led != 0) & (not is_trumped) & is_higher
    return by_trump | by_rank | (led == 0)


@njit
def shown_void(card: int, led: int, trump: int) -> int:
    """The suits, as a set of cards, that a player shows he has none of by playing `card`."""
    trumps = 0 if card & trump != 0 else trump
    return 0 if (card & led != 0) | (led == 0) else led | trumps
