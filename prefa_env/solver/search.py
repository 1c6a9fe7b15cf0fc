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

MAX_SEATS = 4
MAX_WIDTH = 13
NO_TRUMP = 4

TABLE_BITS = 14
_ENTRY = 4  # words: two of cards, one of bounds, best card and the rules
TABLE_WORDS = _ENTRY << TABLE_BITS

# Scratch memory: one row a trick, one row a card played, its possible moves, tables of the cards.
_TRICK, _PLY = 8, 16
_HAND, _LEADER, _NEED, _LENGTHS = 0, 4, 5, 6
_COUNT, _NEXT, _BEST, _BEST_MOVE, _CARD, _WINNING, _WINNER, _LOW, _HIGH = range(9)
_PLIES = _TRICK * (MAX_WIDTH + 1)
_MOVES = _PLIES + _PLY * (MAX_SEATS * MAX_WIDTH + 1)
_BELOW = _MOVES + 16 * (MAX_SEATS * MAX_WIDTH + 1)
_SUIT_OF = _BELOW + 64
NODES = _SUIT_OF + 64
SCRATCH_WORDS = NODES + 1


@njit
def _turn(leader: int, place: int, seats: int) -> int:
    """The seat that plays after `place` others, without a division."""
    seat = leader + place
    return seat - seats if seat >= seats else seat


@njit
def _top_run(cards: int, width: int) -> int:
    """How many of the highest cards of a suit are there, from the top without a gap."""
    run = 0
    while (cards >> (width - 1 - run)) & 1 and run < width:
        run += 1
    return run


@njit
def _sure_trumps(mine: int, theirs: int, width: int) -> int:
    """Tricks that the trumps of one hand take whatever anybody plays.

    All are played in the end, each in another trick, and one loses only to a higher trump, so at
    most as many are lost as can be paired with higher ones.
    """
    sure = 0
    higher = 0
    for rank in range(width - 1, -1, -1):
        if mine & ((int64(2) << rank) - 1) == 0:
            break
        higher += (theirs >> rank) & 1
        if (mine >> rank) & 1:
            if higher > 0:
                higher -= 1
            else:
                sure += 1
    return sure


@njit
def _quick_tricks(
    s: Ints, t: int, leader: int, seats: int, width: int, trump: int
) -> tuple[int, int]:
    """Tricks a leader can cash at once: beside the trumps, and drawing trumps first if he can.

    The first leaves the trumps of all hands as they are; the second is 0 where it is impossible.
    """
    full = (int64(1) << width) - 1
    hand = s[t + leader]
    drawn = -1
    if trump < NO_TRUMP:
        longest = 0
        for seat in range(seats):
            if seat != leader:
                longest = max(longest, popcount((s[t + seat] >> (trump * width)) & full))
        trumps = (hand >> (trump * width)) & full
        run = _top_run(trumps, width)
        if run >= longest:
            drawn = popcount(trumps)
    beside = 0
    for suit in range(4):
        cards = (hand >> (suit * width)) & full
        if suit == trump or cards == 0:
            continue
        run = _top_run(cards, width)
        if run == 0:
            continue
        longest = 0
        safe = width  # rounds that all who have trumps follow
        for seat in range(seats):
            if seat != leader:
                length = popcount((s[t + seat] >> (suit * width)) & full)
                longest = max(longest, length)
                if trump < NO_TRUMP and (s[t + seat] >> (trump * width)) & full:
                    safe = min(safe, length)
        if run >= longest:
            run = popcount(cards)
        beside += min(run, safe)
        if drawn >= 0:
            drawn += run
    return beside, max(drawn, 0)


@njit
def _rounds_ducked(mine: int, theirs: int, width: int) -> int:
    """How many leads of theirs in a suit I can surely stay below; 99 if all.

    The i-th needs my i-th lowest card to be below their i-th lowest. I play the highest card that
    is low enough and discard from above, so that what I do elsewhere does no harm.
    """
    balance = 0
    led = 0
    for rank in range(width):
        if mine >> rank == 0:
            break
        balance += (mine >> rank) & 1
        if (theirs >> rank) & 1:
            balance -= 1
            if balance < 0:
                return led
            led += 1
    return 99


@njit
def _avoiding_bounds(
    s: Ints, t: int, left: int, seats: int, width: int, counted: int
) -> tuple[int, int]:
    """As `_bounds` where no side wants tricks and there is no trump: how long others can duck."""
    leader = s[t + _LEADER]
    full = (int64(1) << width) - 1
    ours = counted if counted >> leader & 1 else ~counted
    sure = int64(left)
    for suit in range(4):
        shift = suit * width
        leading = int64(0)
        for seat in range(seats):
            if ours >> seat & 1:
                leading |= (s[t + seat] >> shift) & full
        for seat in range(seats):
            if not ours >> seat & 1:
                cards = (s[t + seat] >> shift) & full
                sure = min(sure, _rounds_ducked(cards, leading, width))
    if counted >> leader & 1:
        return sure, int64(left)
    return int64(0), left - sure


@njit
def _bounds(
    s: Ints, t: int, left: int, seats: int, width: int, trump: int, counted: int, is_most: bool
) -> tuple[int, int]:
    """Least and most of the counted side's tricks, from trumps and top cards, before a lead."""
    if not is_most and trump >= NO_TRUMP:
        return _avoiding_bounds(s, t, left, seats, width, counted)
    full = (int64(1) << width) - 1
    ours = int64(0)
    theirs = int64(0)
    if trump < NO_TRUMP:
        shift = trump * width
        our_trumps = int64(0)
        their_trumps = int64(0)
        for seat in range(seats):
            if counted >> seat & 1:
                our_trumps |= (s[t + seat] >> shift) & full
            else:
                their_trumps |= (s[t + seat] >> shift) & full
        if our_trumps | their_trumps:
            for seat in range(seats):
                cards = (s[t + seat] >> shift) & full
                if counted >> seat & 1:
                    ours = max(ours, _sure_trumps(cards, their_trumps, width))
                else:
                    theirs = max(theirs, _sure_trumps(cards, our_trumps, width))
    if is_most:
        leader = s[t + _LEADER]
        beside, drawn = _quick_tricks(s, t, leader, seats, width, trump)
        if counted >> leader & 1:
            ours = max(ours + beside, drawn)
        else:
            theirs = max(theirs + beside, drawn)
    return ours, left - theirs


@njit
def _is_safe(s: Ints, t: int, card: int, led: int, trump: int, rest: int, must: int) -> bool:
    """Whether no hand of `rest` (packed seats, 3 bits each plus 1) can beat a winning card."""
    while rest:
        hand = s[t + (rest & 7) - 1]
        cards = playable(hand, led, trump if must else 0)
        higher = -(card << 1)  # all bits above the card's
        if card & trump:
            if cards & trump & higher:
                return False
        elif (cards & led & higher) | (cards & trump):
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
def _generate(
    s: Ints,
    t: int,
    p: int,
    place: int,
    seat: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
    first: int,
) -> None:
    """Write the moves of a seat, one of each run of equal cards, the most promising first."""
    full = (int64(1) << width) - 1
    lows = int64(1) | int64(1) << width | int64(1) << (2 * width) | int64(1) << (3 * width)
    trumps = full << (trump * width) if trump < NO_TRUMP else int64(0)
    hand = s[t + seat]
    led = int64(0)
    winning = int64(0)
    with_us = False
    side = counted if counted >> seat & 1 else ~counted
    if place:
        led = full << (width * s[_SUIT_OF + s[p - _PLY * place + _CARD]])
        winning = int64(1) << s[p - _PLY + _WINNING]
        with_us = (side >> s[p - _PLY + _WINNER]) & 1 != 0
    rest = 0
    for i in range(place + 1, seats):
        other = _turn(s[t + _LEADER], i, seats)
        if not side >> other & 1:
            rest = rest << 3 | (other + 1)
    legal = playable(hand, led, trumps if must else int64(0))
    moves = legal & ~((legal << 1) & ~lows)
    base = _MOVES + p - _PLIES
    count = 0
    while moves:
        bit = moves & -moves
        moves ^= bit
        card = popcount(bit - 1)
        suit = s[_SUIT_OF + card]
        rank = card - suit * width
        if place == 0:
            own = (hand >> (suit * width)) & full
            top = int64(1) << (width - 1)
            # The run of equal cards that starts here reaches the top.
            run = own >> rank
            is_top = run == (full >> rank)
            if is_most:
                score = -rank
                if is_top:
                    score = 40
                    if suit == trump:
                        score = 50
                    elif trump < NO_TRUMP:
                        for other in range(seats):
                            void = (s[t + other] >> (suit * width)) & full == 0
                            if not side >> other & 1 and void and s[t + other] & trumps:
                                score = -20
                else:
                    for other in range(seats):
                        if (
                            other != seat
                            and side >> other & 1
                            and (s[t + other] >> (suit * width)) & top
                        ):
                            score += 20
                score += 2 * popcount(own) if trump >= NO_TRUMP else -popcount(own)
            else:
                score = -2 * rank - popcount(own)
                for other in range(seats):
                    if not side >> other & 1:
                        cards = (s[t + other] >> (suit * width)) & full
                        if cards and not cards & ((int64(1) << rank) - 1):
                            score += 100  # he must go over
        else:
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
                    if suit == trump:
                        score -= 10
            elif takes and (rest or with_us):
                score = 30 + rank if not rest or _must_beat(s, t, bit, led, rest) else -rank
            elif takes:
                score = rank
            else:
                score = 30 + rank
                if not bit & led:
                    own = (hand >> (suit * width)) & full
                    score += popcount((own & -own) - 1)
        if card == first:
            score = 1000
        key = score << 6 | card
        i = count
        while i > 0 and s[base + i - 1] < key:
            s[base + i] = s[base + i - 1]
            i -= 1
        s[base + i] = key
        count += 1
    s[p + _COUNT] = count
    s[p + _NEXT] = 0


@njit
def _next_trick(s: Ints, t: int, p: int, seats: int, width: int) -> None:
    """Take the cards of a full trick, the last at row `p`, out of all hands; squeeze the ranks."""
    gone = int64(0)
    lengths = s[t + _LENGTHS]
    for i in range(seats):
        card = s[p - _PLY * i + _CARD]
        gone |= int64(1) << card
        lengths -= int64(1) << (4 * s[_SUIT_OF + card])
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
    u = t + _TRICK
    s[u] = a
    s[u + 1] = b
    s[u + 2] = c
    s[u + 3] = d
    s[u + _LENGTHS] = lengths
    s[u + _LEADER] = s[p + _WINNER]


@njit
def _put_card(s: Ints, p: int, place: int, seat: int, card: int, width: int, trump: int) -> None:
    """Put a card on the table and note who wins the trick so far."""
    s[p + _CARD] = card
    takes = True
    if place:
        full = (int64(1) << width) - 1
        trumps = full << (trump * width) if trump < NO_TRUMP else int64(0)
        led = full << (width * s[_SUIT_OF + s[p - _PLY * place + _CARD]])
        winning = s[p - _PLY + _WINNING]
        takes = beats(int64(1) << card, int64(1) << winning, led, trumps)
    s[p + _WINNING] = card if takes else s[p - _PLY + _WINNING]
    s[p + _WINNER] = seat if takes else s[p - _PLY + _WINNER]


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
    t = 0
    p = _PLIES + _PLY * place
    root = p
    s[_NEED] = need
    nodes = 0
    is_new = True
    while True:
        value = -1
        if is_new:
            first = -1
            if place == 0:
                nodes += 1
                need = s[t + _NEED]
                low = int64(0)
                high = int64(left)
                one = s[t + 1] | s[t + 3] | (s[t + _LENGTHS] & 0xFF) << 52
                two = s[t + 2] | s[t + 3] | (s[t + _LENGTHS] >> 8) << 52
                tag = rules | s[t + _LEADER]
                e = _slot(one, two, tag) & (table.shape[0] - 1)
                if table[e] == one and table[e + 1] == two and table[e + 2] >> 16 == tag:
                    found = table[e + 2]
                    low = found & 15
                    high = (found >> 4) & 15
                    first = ((found >> 8) & 63) - 1
                elif left:
                    low, high = _bounds(s, t, left, seats, width, trump, counted, is_most)
                s[p + _LOW] = low
                s[p + _HIGH] = high
                if low >= need or low == high:
                    value = low
                elif high < need:
                    value = high
            if value < 0:
                seat = _turn(s[t + _LEADER], place, seats)
                _generate(s, t, p, place, seat, seats, width, trump, must, counted, is_most, first)
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
                card = s[_MOVES + p - _PLIES + i] & 63
                _put_card(s, p, place, seat, card, width, trump)
                place += 1
                if place == seats:
                    _next_trick(s, t, p, seats, width)
                    s[t + _TRICK + _NEED] = need - (counted >> s[p + _WINNER] & 1)
                    t += _TRICK
                    place = 0
                    left -= 1
                p += _PLY
                is_new = True
                continue
            value = best
            if place == 0:
                one = s[t + 1] | s[t + 3] | (s[t + _LENGTHS] & 0xFF) << 52
                two = s[t + 2] | s[t + 3] | (s[t + _LENGTHS] >> 8) << 52
                tag = rules | s[t + _LEADER]
                e = _slot(one, two, tag) & (table.shape[0] - 1)
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
    s[_LENGTHS] = 0
    for card in range(4 * width):  # from below, so that the cards above keep their places
        suit = card // width
        if used >> card & 1:
            s[_LENGTHS] += int64(1) << (4 * suit)
            continue
        below = s[_BELOW + card]
        for seat in range(4):
            s[seat] += s[seat] & below
        for i in range(place):
            table_card = s[_PLIES + _PLY * i + _CARD]
            if (below >> table_card) & 1:
                s[_PLIES + _PLY * i + _CARD] = table_card + 1
    for i in range(place):
        p = _PLIES + _PLY * i
        _put_card(s, p, i, (leader + i) % seats, s[p + _CARD], width, trump)
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
    if place == 0 and left:
        low, high = _bounds(s, 0, left, seats, width, trump, counted, is_most)
    guess = low + ((high - low) * popcount(counted) + seats - 1) // seats
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
