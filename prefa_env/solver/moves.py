"""The moves of a seat, one of each run of equal cards, the most promising first.

A move is written as `score << 6 | card`.
"""

from __future__ import annotations

from .._jit import njit
from ..bits import popcount
from ..tricks import beats, playable
from ..words import Ints, int64

_FIRST = 1000  # score of the move that was best the last time


@njit
def _insert(s: Ints, base: int, count: int, score: int, card: int) -> int:
    """Put a move among the `count` sorted ones from `base` on; return how many there are now."""
    key = score << 6 | card
    i = base + count
    while i > base and s[i - 1] < key:
        s[i] = s[i - 1]
        i -= 1
    s[i] = key
    return count + 1


@njit
def _lead_to_win(
    s: Ints, t: int, seat: int, suit: int, seats: int, width: int, trumps: int, side: int
) -> tuple[int, int]:
    """Scores of leading a suit: the highest cards, and lower ones before rank is subtracted."""
    shift = suit * width
    full = (int64(1) << width) - 1
    length = popcount((s[t + seat] >> shift) & full)
    of_top = int64(40)
    of_low = int64(0)
    if trumps >> shift & 1:
        of_top = int64(50)
    for other in range(seats):
        cards = (s[t + other] >> shift) & full
        if not side >> other & 1:
            if cards == 0 and s[t + other] & trumps:
                of_top = int64(-20)  # would be trumped
        elif other != seat and cards >> (width - 1):
            of_low += 20  # a partner has the highest card
    by_length = -length if trumps else 2 * length
    return of_top + by_length, of_low + by_length


@njit
def lead_moves(
    s: Ints,
    t: int,
    base: int,
    seat: int,
    seats: int,
    width: int,
    trumps: int,
    side: int,
    is_most: bool,
    first: int,
) -> int:
    """Write the leads of a seat from `base` on; return how many there are."""
    full = (int64(1) << width) - 1
    count = int64(0)
    for suit in range(4):
        shift = suit * width
        own = (s[t + seat] >> shift) & full
        if own == 0:
            continue
        of_top = int64(0)
        of_low = int64(0)
        if is_most:
            of_top, of_low = _lead_to_win(s, t, seat, suit, seats, width, trumps, side)
        moves = own & ~(own << 1)
        while moves:
            bit = moves & -moves
            moves ^= bit
            rank = popcount(bit - 1)
            if is_most:
                score = of_top if own >> rank == full >> rank else of_low - rank
            else:
                score = -2 * rank - popcount(own)
                for other in range(seats):
                    if not side >> other & 1:
                        cards = (s[t + other] >> shift) & full
                        if cards and not cards & (bit - 1):
                            score += 100  # he must go over
            card = shift + rank
            count = _insert(s, base, count, _FIRST if card == first else score, card)
    return count


@njit
def _is_safe(s: Ints, t: int, card: int, led: int, trumps: int, rest: int, must: int) -> bool:
    """Whether no hand of `rest` (packed seats, 3 bits each plus 1) can beat a winning card."""
    higher = -(card << 1)  # all bits above the card's
    while rest:
        cards = playable(s[t + (rest & 7) - 1], led, trumps if must else int64(0))
        if card & trumps:
            if cards & trumps & higher:
                return False
        elif (cards & led & higher) | (cards & trumps):
            return False
        rest >>= 3
    return True


@njit
def _must_beat(s: Ints, t: int, card: int, led: int, rest: int) -> bool:
    """Whether a hand of `rest` (as for `_is_safe`) has only higher cards of the suit led."""
    while rest:
        cards = s[t + (rest & 7) - 1] & led
        if cards != 0 and (cards & -cards) > card:
            return True
        rest >>= 3
    return False


@njit
def follow_moves(
    s: Ints,
    t: int,
    base: int,
    seat: int,
    width: int,
    suit_of: int,
    led: int,
    winning: int,
    with_us: bool,
    rest: int,
    trumps: int,
    must: int,
    is_most: bool,
) -> int:
    """Write the moves of a seat that does not lead from `base` on; return how many there are.

    `winning` is the best card on the table, `with_us` whether it is our side's, `rest` are the
    opponents still to play (see `_is_safe`).
    """
    lows = int64(1) | int64(1) << width | int64(1) << (2 * width) | int64(1) << (3 * width)
    full = (int64(1) << width) - 1
    hand = s[t + seat]
    legal = playable(hand, led, trumps if must else int64(0))
    moves = legal & ~((legal << 1) & ~lows)
    if moves & (moves - 1) == 0:
        s[base] = popcount(moves - 1)
        return int64(1)
    count = int64(0)
    while moves:
        bit = moves & -moves
        moves ^= bit
        card = popcount(bit - 1)
        shift = s[suit_of + card] * width
        rank = card - shift
        takes = beats(bit, winning, led, trumps)
        if is_most:
            if takes and not with_us:
                score = 30 - rank
                if rest and not _is_safe(s, t, bit, led, trumps, rest, must):
                    score = -rank - 5
            elif takes:
                score = -20 - rank
            else:
                score = -rank
                if bit & trumps:
                    score -= 10
        elif takes and (rest or with_us):
            score = 30 + rank if not rest or _must_beat(s, t, bit, led, rest) else -rank
        elif takes:
            score = rank
        else:
            score = 30 + rank
            if not bit & led:
                own = (hand >> shift) & full
                score += popcount((own & -own) - 1)
        count = _insert(s, base, count, score, card)
    return count
