"""Open cards: how many tricks a side takes when all cards are seen and all play perfectly.

Exact, for the trick play of 2 to 4 seats in any position. Alpha-beta with null windows; between
tricks the ranks are squeezed (in each suit the cards still in play move up against the ace), so
that equal positions look equal and the hands themselves are the key of the table of positions.

Plain arguments, as in `tricks`: hands are int64 bit sets, `width` cards a suit; sides are sets of
seats. One side's tricks are *counted*; the seats of `maximisers` want many of them, the others few.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._jit import njit, njit_called
from ..bits import popcount
from ..tricks import beats, playable
from ..words import Ints, int64
from .bounds import NO_TRUMP, bounds
from .moves import follow_moves, lead_moves

MAX_SEATS = 4
MAX_WIDTH = 13

TABLE_BITS = 14
_ENTRY = 4  # words: two of cards, one of bounds, best card and the rules
TABLE_WORDS = _ENTRY << TABLE_BITS

# Scratch memory: one row a trick, one row a card played, its possible moves, tables of the cards.
_TRICK, _PLY = 8, 16
_LEADER, _NEED, _LENGTHS, _LED = 4, 5, 6, 7
_COUNT, _NEXT, _BEST, _BEST_MOVE, _CARD, _WINNING, _WINNER, _LOW, _HIGH = range(9)
_PLIES = _TRICK * (MAX_WIDTH + 1)
_MOVES = _PLIES + _PLY * (MAX_SEATS * MAX_WIDTH + 1)
_BELOW = _MOVES + 16 * (MAX_SEATS * MAX_WIDTH + 1)
_SUIT_OF = _BELOW + 64
NODES = _SUIT_OF + 64
SCRATCH_WORDS = NODES + 1  # less than `_row` can name


@njit
def _row(start: int) -> int:
    """Where a row of scratch memory starts, seen to be not negative.

    Elsewhere each access would first look whether its index counts from the end.
    """
    return start & 0xFFF


@njit
def _turn(leader: int, place: int, seats: int) -> int:
    """The seat that plays after `place` others, without a division."""
    seat = leader + place
    return (seat - seats if seat >= seats else seat) & 3


@njit
def _generate(
    s: Ints,
    t: int,
    p: int,
    place: int,
    seat: int,
    seats: int,
    width: int,
    trumps: int,
    must: int,
    counted: int,
    is_most: bool,
    first: int,
) -> None:
    """Write the moves of a seat (see `moves`) into the row of its card; start with the first."""
    base = _MOVES - _PLIES + p
    side = counted if counted >> seat & 1 else ~counted
    if place == 0:
        count = lead_moves(s, t, base, seat, seats, width, trumps, side, is_most, first)
    else:
        rest = int64(0)
        for i in range(place + 1, seats):
            rest |= int64(1) << _turn(s[t + _LEADER], i, seats)
        rest &= ~side
        before = _row(p - _PLY)
        with_us = (side >> s[before + _WINNER]) & 1 != 0
        led = s[t + _LED]
        winning = s[before + _WINNING]
        count = follow_moves(
            s,
            t,
            base,
            s[t + seat],
            width,
            _SUIT_OF,
            led,
            winning,
            with_us,
            rest,
            trumps,
            must,
            is_most,
        )
    s[p + _COUNT] = count
    s[p + _NEXT] = 0


@njit
def _next_trick(s: Ints, t: int, p: int, seats: int) -> None:
    """Take the cards of a full trick, the last at row `p`, out of all hands; squeeze the ranks."""
    gone = int64(0)
    lengths = s[t + _LENGTHS]
    seat = s[t + _LEADER]
    for i in range(seats - 1, -1, -1):
        card = s[_row(p - _PLY * i) + _CARD] & 63
        gone |= int64(1) << card
        lengths -= int64(1) << (16 * seat + 4 * s[_SUIT_OF + card])
        seat = _turn(seat, 1, seats)
    a = s[t] & ~gone
    b = s[t + 1] & ~gone
    c = s[t + 2] & ~gone
    d = s[t + 3] & ~gone
    while gone:
        bit = gone & -gone
        gone ^= bit
        below = s[_BELOW + popcount(bit - 1)]
        a += a & below
        b += b & below
        c += c & below
        d += d & below
    u = _row(t + _TRICK)
    s[u] = a
    s[u + 1] = b
    s[u + 2] = c
    s[u + 3] = d
    s[u + _LENGTHS] = lengths
    s[u + _LEADER] = s[p + _WINNER]


@njit
def _put_card(
    s: Ints, t: int, p: int, place: int, seat: int, card: int, width: int, trumps: int
) -> None:
    """Put a card on the table and note who wins the trick so far."""
    s[p + _CARD] = card
    s[p + _WINNING] = int64(1) << card
    s[p + _WINNER] = seat
    if place == 0:
        s[t + _LED] = ((int64(1) << width) - 1) << (width * s[_SUIT_OF + card])
        return
    before = _row(p - _PLY)
    if not beats(int64(1) << card, s[before + _WINNING], s[t + _LED], trumps):
        s[p + _WINNING] = s[before + _WINNING]
        s[p + _WINNER] = s[before + _WINNER]


@njit
def _key(s: Ints, t: int) -> tuple[int, int]:
    """Two words that tell a position: three hands, and how many cards of each suit are in play."""
    each = s[t + _LENGTHS]
    lengths = each + (each >> 16) + (each >> 32) + (each >> 48)
    one = s[t + 1] | s[t + 3] | (lengths & 0xFF) << 52
    two = s[t + 2] | s[t + 3] | (lengths >> 8 & 0xFF) << 52
    return one, two


@njit_called
def _search(
    table: Ints,
    s: Ints,
    place: int,
    left: int,
    need: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
) -> int:
    """Whether the counted side can be brought to `need` tricks: a bound on its tricks.

    A result of `need` or more is a lower bound, a smaller one an upper bound. The position stands
    in the first rows of `s` (see `_set_up`), `place` cards are on the table.
    """
    rules = (trump << 3 | int64(is_most) << 2 | must << 1 | 1) << 14
    rules |= seats << 10 | width << 6 | counted << 2
    maximisers = counted if is_most else ~counted
    trumps = ((int64(1) << width) - 1) << (trump * width) if trump < NO_TRUMP else int64(0)
    t = 0
    p = _PLIES + _PLY * place
    root = p
    s[_NEED] = need
    nodes = 0
    is_new = True
    while True:
        t = _row(t)
        p = _row(p)
        value = -1
        if is_new:
            first = -1
            if place == 0:
                nodes += 1
                need = s[t + _NEED]
                low = int64(0)
                high = int64(left)
                one, two = _key(s, t)
                tag = rules | s[t + _LEADER]
                e = _slot(one, two, tag) & (TABLE_WORDS - 1)
                if table[e] == one and table[e + 1] == two and table[e + 2] >> 16 == tag:
                    found = table[e + 2]
                    low = found & 15
                    high = (found >> 4) & 15
                    first = ((found >> 8) & 63) - 1
                elif left:
                    low, high = bounds(
                        s,
                        t,
                        s[t + _LENGTHS],
                        left,
                        s[t + _LEADER] & 3,
                        seats,
                        width,
                        trump,
                        must,
                        counted,
                        is_most,
                        need,
                    )
                s[p + _LOW] = low
                s[p + _HIGH] = high
                if low >= need or low == high:
                    value = low
                elif high < need:
                    value = high
            if value < 0:
                seat = _turn(s[t + _LEADER], place, seats)
                _generate(s, t, p, place, seat, seats, width, trumps, must, counted, is_most, first)
                s[p + _BEST] = -1 if maximisers >> seat & 1 else 99
                s[p + _BEST_MOVE] = -1
        if value < 0:
            seat = _turn(s[t + _LEADER], place, seats)
            best = s[p + _BEST]
            is_max = maximisers >> seat & 1 != 0
            need = s[t + _NEED]
            i = s[p + _NEXT]
            is_done = i == s[p + _COUNT] or ((best >= need) if is_max else (best < need))
            if not is_done:
                s[p + _NEXT] = i + 1
                card = s[_MOVES - _PLIES + p + (i & 15)] & 63
                _put_card(s, t, p, place, seat, card, width, trumps)
                place += 1
                if place == seats:
                    _next_trick(s, t, p, seats)
                    s[t + _TRICK + _NEED] = need - (counted >> s[p + _WINNER] & 1)
                    t += _TRICK
                    place = 0
                    left -= 1
                p += _PLY
                is_new = True
                continue
            value = best
            if place == 0:
                one, two = _key(s, t)
                tag = rules | s[t + _LEADER]
                e = _slot(one, two, tag) & (TABLE_WORDS - 1)
                low = s[p + _LOW]
                high = s[p + _HIGH]
                if value >= need:
                    low = max(low, value)
                else:
                    high = min(high, value)
                table[e] = one
                table[e + 1] = two
                table[e + 2] = tag << 16 | (s[p + _BEST_MOVE] + 1) << 8 | high << 4 | low
        # Hand the value to the seat that played before.
        if p == root:
            s[NODES] += nodes
            return value
        p -= _PLY
        place -= 1
        if place < 0:
            place = seats - 1
            t -= _TRICK
            left += 1
            value += counted >> s[p + _WINNER] & 1
        seat = _turn(s[t + _LEADER], place, seats)
        if (value > s[p + _BEST]) if maximisers >> seat & 1 else (value < s[p + _BEST]):
            s[p + _BEST] = value
            s[p + _BEST_MOVE] = s[p + _CARD]
        is_new = False


@njit
def _slot(one: int, two: int, tag: int) -> int:
    """Where a position stands in the table: no product leaves int64."""
    x = (one ^ (one >> 31)) & 0x7FFFFFFF
    y = (two ^ (two >> 30) ^ (tag << 7)) & 0x7FFFFFFF
    mixed = (x * 0x2545F491) ^ (y * 0x1B873593)
    return ((mixed ^ (mixed >> 27)) >> 13) * _ENTRY


@njit_called
def _set_up(
    s: Ints, hands: Ints, trick: Ints, place: int, leader: int, seats: int, width: int, trump: int
) -> int:
    """Write a position, squeezed, into the first rows; return how many tricks are to come.

    Cards on the table count as in play until their trick is over.
    """
    for card in range(4 * width):
        suit = card // width
        s[_SUIT_OF + card] = suit
        s[_BELOW + card] = (int64(1) << card) - (int64(1) << (suit * width))
    left = 0
    used = int64(0)
    for seat in range(4):
        s[seat] = hands[seat] if seat < seats else 0
        used |= s[seat]
        left = max(left, popcount(s[seat]))
    for i in range(place):
        used |= int64(1) << trick[i]
        s[_PLIES + _PLY * i + _CARD] = trick[i]
    s[_LEADER] = leader
    full = (int64(1) << width) - 1
    for card in range(4 * width):  # from below, so that the cards above keep their places
        suit = card // width
        if used >> card & 1:
            continue
        below = s[_BELOW + card]
        for seat in range(4):
            s[seat] += s[seat] & below
        for i in range(place):
            table_card = s[_PLIES + _PLY * i + _CARD]
            if (below >> table_card) & 1:
                s[_PLIES + _PLY * i + _CARD] = table_card + 1
    s[_LENGTHS] = 0
    for seat in range(seats):
        for suit in range(4):
            length = popcount((s[seat] >> (suit * width)) & full)
            s[_LENGTHS] |= length << (16 * seat + 4 * suit)
    for i in range(place):
        suit = s[_SUIT_OF + s[_PLIES + _PLY * i + _CARD]]
        s[_LENGTHS] += int64(1) << (16 * ((leader + i) % seats) + 4 * suit)
    trumps = full << (trump * width) if trump < NO_TRUMP else int64(0)
    for i in range(place):
        p = _PLIES + _PLY * i
        _put_card(s, 0, p, i, (leader + i) % seats, s[p + _CARD], width, trumps)
    return left


@njit_called
def value(
    table: Ints,
    s: Ints,
    hands: Ints,
    trick: Ints,
    place: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
) -> int:
    """Tricks of the counted side, those of the running trick included: null windows from a guess.

    `hands` int64 [seats]; `trick` int64 [place]: card numbers on the table, in the order played.
    """
    left = _set_up(s, hands, trick, place, leader, seats, width, trump)
    low = int64(0)
    high = int64(left)
    guess = left * popcount(counted) // seats
    while low < high:
        need = min(max(guess, low + 1), high)
        found = _search(table, s, place, left, need, seats, width, trump, must, counted, is_most)
        if found >= need:
            low = found
            guess = found + 1
        else:
            high = found
            guess = found
    return low


@njit_called
def is_at_least(
    table: Ints,
    s: Ints,
    hands: Ints,
    trick: Ints,
    place: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
    need: int,
) -> bool:
    """Whether the value of a position (see `value`) is `need` or more: one null window."""
    left = _set_up(s, hands, trick, place, leader, seats, width, trump)
    if need <= 0 or need > left:
        return need <= 0
    found = _search(table, s, place, left, need, seats, width, trump, must, counted, is_most)
    return found >= need


@njit_called
def card_values(
    table: Ints,
    s: Ints,
    hands: Ints,
    trick: Ints,
    place: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
    out: Ints,
) -> None:
    """Fill `out` int64 [4 * width]: the counted side's tricks after each card, -1 if not playable.

    `hands` and `trick`, both int64 [4], are used as scratch and left as they were.
    """
    full = (int64(1) << width) - 1
    trumps = full << (trump * width) if trump < NO_TRUMP else int64(0)
    led = full << (trick[0] // width * width) if place else int64(0)
    seat = (leader + place) % seats
    hand = hands[seat]
    legal = playable(hand, led, trumps if must else int64(0))
    others = int64(0)
    for i in range(place):
        others |= int64(1) << trick[i]
    for i in range(seats):
        others |= hands[i] if i != seat else 0
    last = -1
    for card in range(4 * width):
        bit = int64(1) << card
        out[card] = -1
        if card % width == 0 or others & bit:
            last = -1
        if not legal & bit:
            continue
        if last >= 0:
            out[card] = out[last]
            continue
        last = card
        hands[seat] = hand ^ bit
        trick[place] = card
        if place + 1 < seats:
            out[card] = value(
                table,
                s,
                hands,
                trick,
                place + 1,
                leader,
                seats,
                width,
                trump,
                must,
                counted,
                is_most,
            )
        else:
            best = int64(1) << trick[0]
            winner = leader
            for i in range(1, seats):
                if beats(int64(1) << trick[i], best, full << (trick[0] // width * width), trumps):
                    best = int64(1) << trick[i]
                    winner = (leader + i) % seats
            out[card] = (counted >> winner & 1) + value(
                table, s, hands, trick, 0, winner, seats, width, trump, must, counted, is_most
            )
    hands[seat] = hand


@njit_called
def values(
    table: Ints,
    s: Ints,
    hands: npt.NDArray[np.int64],
    leaders: Ints,
    trumps: Ints,
    counted: Ints,
    most: Ints,
    width: int,
    must: int,
    out: Ints,
) -> None:
    """Fill `out` int64 [B] for positions between tricks; `hands` int64 [B, n], the rest [B]."""
    for b in range(out.shape[0]):
        out[b] = value(
            table,
            s,
            hands[b],
            hands[b],
            0,
            leaders[b],
            hands.shape[1],
            width,
            trumps[b],
            must,
            counted[b],
            most[b] != 0,
        )
