"""The moves of a seat, one of each run of equal cards, the most promising first.

A move stands in the lowest six bits of its word; what is above sorts leads and discards. The
scores of leads were fitted to positions of three hands where the result after each lead was known.
"""

from __future__ import annotations

from .._jit import njit
from ..bits import popcount
from ..tricks import playable
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
) -> tuple[int, int, int]:
    """Where both sides want tricks: a score of leading a suit, and of its highest cards on top.

    Also the card below which an opponent must win the lead; 0 if a partner must go over him.
    """
    shift = suit * width
    full = (int64(1) << width) - 1
    own = (s[t + seat] >> shift) & full
    over = int64(0)
    theirs = int64(0)
    partners = int64(0)
    score = int64(0)
    of_top = int64(15)
    for other in range(seats):
        cards = (s[t + other] >> shift) & full
        if not side >> other & 1:
            theirs |= cards
            over = max(over, cards & -cards)
            if cards == 0:
                score -= 26
                if s[t + other] & trumps:
                    of_top = int64(0)  # would be trumped
        elif other != seat:
            partners |= cards
            if cards == 0:
                score += 22
    score += 7 * popcount(partners) - 16 * popcount(theirs)
    if partners > over and partners & (over - 1) == 0:
        over = int64(0)
    if own >> (width - 1) == 0:
        score += 10
    if trumps == 0 or (s[t + seat] & trumps and not trumps >> shift & 1):
        score += 7 * popcount(own)
    return score, of_top, over


@njit
def _lead_to_lose(
    s: Ints, t: int, seat: int, suit: int, seats: int, width: int, side: int
) -> tuple[int, int]:
    """Where no side wants tricks: the opponents' cards of a suit, and a score of leading it."""
    shift = suit * width
    full = (int64(1) << width) - 1
    theirs = int64(0)
    score = -3 * popcount((s[t + seat] >> shift) & full)
    for other in range(seats):
        cards = (s[t + other] >> shift) & full
        if not side >> other & 1:
            theirs |= cards
        if cards == 0:
            score += 9 if side >> other & 1 else -11  # who cannot follow throws a bad card
    if theirs == 0:
        score -= 26
    return theirs, score


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
        lowest = own & -own
        if is_most:
            of_suit, of_top, over = _lead_to_win(s, t, seat, suit, seats, width, trumps, side)
        else:
            theirs, of_suit = _lead_to_lose(s, t, seat, suit, seats, width, side)
        moves = own & ~(own << 1)
        while moves:
            bit = moves & -moves
            moves ^= bit
            rank = popcount(bit - 1)
            if is_most:
                score = of_suit
                if own >> rank == full >> rank:
                    score += of_top
                if bit < over:
                    score -= 16
                if bit == lowest:
                    score += 9
            else:
                score = of_suit + 7 * (popcount(theirs & (bit - 1)) - popcount(theirs & -bit))
                if bit == lowest:
                    score += 24
            card = shift + rank
            count = _insert(s, base, count, _FIRST if card == first else score, card)
    return count


@njit
def _append_up(s: Ints, base: int, count: int, cards: int) -> int:
    """Write cards behind the `count` moves from `base` on, the lowest first."""
    while cards:
        s[base + count] = popcount((cards & -cards) - 1)
        cards &= cards - 1
        count += 1
    return count


@njit
def _append_down(s: Ints, base: int, count: int, cards: int) -> int:
    """As `_append_up`, the highest first."""
    total = count + popcount(cards)
    i = base + total
    while cards:
        i -= 1
        s[i] = popcount((cards & -cards) - 1)
        cards &= cards - 1
    return total


@njit
def _safe_winners(s: Ints, t: int, cards: int, led: int, trumps: int, rest: int, must: int) -> int:
    """Those of winning cards of one suit that no hand of `rest` (see `follow_moves`) can beat."""
    suit = led if cards & led else trumps
    while rest:
        seat = popcount((rest & -rest) - 1)
        theirs = playable(s[t + seat], led, trumps if must else int64(0))
        if theirs & trumps and suit != trumps:
            return int64(0)
        theirs &= suit
        while cards and theirs > (cards & -cards):
            cards &= cards - 1
        rest &= rest - 1
    return cards


@njit
def _follow_to_win(
    s: Ints,
    t: int,
    base: int,
    moves: int,
    takes: int,
    with_us: bool,
    led: int,
    trumps: int,
    rest: int,
    must: int,
) -> int:
    """Write moves of one suit: the cheapest that wins for good, else low ones first."""
    safe = int64(0) if with_us else _safe_winners(s, t, takes, led, trumps, rest, must)
    count = _append_up(s, base, int64(0), safe)
    count = _append_up(s, base, count, moves & ~takes)
    return _append_up(s, base, count, takes & ~safe)


@njit
def _follow_to_lose(
    s: Ints, t: int, base: int, moves: int, takes: int, with_us: bool, led: int, rest: int
) -> int:
    """Write moves of one suit: the highest that loses, or that one of `rest` must go over."""
    fine = moves & ~takes
    if rest == 0:
        if with_us:
            fine = moves  # the trick is ours anyway
        return _append_down(s, base, _append_down(s, base, int64(0), fine), moves & ~fine)
    over = int64(0)
    while rest:
        cards = s[t + popcount((rest & -rest) - 1)] & led
        over = max(over, cards & -cards)
        rest &= rest - 1
    if over:
        fine |= moves & (over - 1)
    return _append_up(s, base, _append_down(s, base, int64(0), fine), moves & ~fine)


@njit
def _discard_moves(
    s: Ints,
    base: int,
    hand: int,
    moves: int,
    takes: int,
    with_us: bool,
    width: int,
    suit_of: int,
    is_most: bool,
) -> int:
    """Write moves of several suits, none of them led: low ones first, or the most dangerous."""
    full = (int64(1) << width) - 1
    count = int64(0)
    while moves:
        bit = moves & -moves
        moves ^= bit
        card = popcount(bit - 1)
        shift = s[suit_of + card] * width
        rank = card - shift
        if is_most:
            score = -rank
            if bit & takes:
                score += -20 if with_us else 30
        else:
            own = (hand >> shift) & full
            score = rank + popcount((own & -own) - 1)
            if bit & takes:
                score -= 30
        count = _insert(s, base, count, score, card)
    return count


@njit
def follow_moves(
    s: Ints,
    t: int,
    base: int,
    hand: int,
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
    """Write the moves of a hand that does not lead from `base` on; return how many there are.

    `winning` is the best card on the table, `with_us` whether it is our side's; `rest` are the
    opponents still to play.
    """
    lows = int64(1) | int64(1) << width | int64(1) << (2 * width) | int64(1) << (3 * width)
    legal = playable(hand, led, trumps if must else int64(0))
    moves = legal & ~((legal << 1) & ~lows)
    if moves & (moves - 1) == 0:
        s[base] = popcount(moves - 1)
        return int64(1)
    higher = -(winning << 1)  # all bits above the winning card's
    takes = moves & trumps & higher if winning & trumps else moves & (trumps | led & higher)
    if moves & ~led and moves & ~trumps:
        return _discard_moves(s, base, hand, moves, takes, with_us, width, suit_of, is_most)
    if is_most:
        return _follow_to_win(s, t, base, moves, takes, with_us, led, trumps, rest, must)
    return _follow_to_lose(s, t, base, moves, takes, with_us, led, rest)
