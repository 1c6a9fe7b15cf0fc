"""Bounds on the tricks of a side, from a look at the cards before a lead.

Positions are rows of scratch memory `s` from `t` on, one hand a seat, ranks squeezed: the highest
card in play of each suit has rank `width - 1`.
"""

from __future__ import annotations

from .._jit import njit
from ..bits import popcount
from ..words import Ints, int64

NO_TRUMP = 4


@njit
def _top_run(cards: int, width: int) -> int:
    """How many of the highest cards of a suit are there, from the top without a gap."""
    holes = ~cards & ((int64(1) << width) - 1)
    holes |= holes >> 1
    holes |= holes >> 2
    holes |= holes >> 4
    holes |= holes >> 8
    return width - popcount(holes)


@njit
def _sure_trumps(mine: int, theirs: int) -> int:
    """Tricks that the trumps of one hand take whatever anybody plays.

    All are played in the end, each in another trick, and one loses only to a higher trump, so at
    most as many are lost as can be paired with higher ones: from some rank up, all theirs.
    """
    sure = int64(0)
    while mine:
        lowest = mine & -mine
        sure = max(sure, popcount(mine) - popcount(theirs & -lowest))
        mine ^= lowest
    return sure


@njit
def _rounds_ducked(mine: int, theirs: int) -> int:
    """How many leads of theirs in a suit I can surely stay below; 99 if all.

    The i-th needs my i-th lowest card to be below their i-th lowest. I play the highest card that
    is low enough and discard from above, so that what I do elsewhere does no harm.
    """
    led = int64(0)
    while theirs:
        lowest = theirs & -theirs
        if mine < lowest:
            break
        if popcount(mine & (lowest - 1)) <= led:
            return led
        led += 1
        theirs ^= lowest
    return int64(99)


@njit
def _won_by_exits(exits: int, ducked: int, led_by: int, on_lead: int) -> int:
    """Tricks that a lone avoider's opponents cannot but win; see `_lone_avoider`."""
    won = int64(ducked)
    while True:
        budget = won * led_by + (won - ducked + 1 - on_lead) * (led_by - 1)
        cards = int64(0)
        spent = int64(0)
        rest = exits
        while rest:
            if rest & 15 <= won:
                spent = max(spent, rest >> 4 & 15)
            cards += rest >> 4 & 15
            rest >>= 8
        if cards - spent * min(won, 4) <= budget:
            return won
        won += 1


@njit
def _avoiding_bounds(
    s: Ints, t: int, left: int, leader: int, seats: int, width: int, us: int
) -> tuple[int, int]:
    """Where no side wants tricks: the least that the leader's side and the others take.

    `us` is the leader's side. The others take none as long as they can duck (`_rounds_ducked`).
    """
    full = (int64(1) << width) - 1
    led_by = int64(0)
    for seat in range(seats):
        led_by += us >> seat & 1
    ducked = int64(left)
    exits = int64(0)  # of one seat against us
    ours = int64(0)  # of the leader, if he is alone
    has_exit = False
    pair = int64(0)  # of each of the others, if we are alone: 8 bits a seat
    for suit in range(4):
        shift = suit * width
        mine = int64(0)
        theirs = int64(0)
        for seat in range(seats):
            cards = (s[t + seat] >> shift) & full
            if us >> seat & 1:
                mine |= cards
            else:
                theirs |= cards
        if mine == 0 or theirs == 0:
            continue
        my_lowest = mine & -mine
        their_lowest = theirs & -theirs
        for seat in range(seats):
            if not us >> seat & 1:
                ducked = min(ducked, _rounds_ducked((s[t + seat] >> shift) & full, mine))
        if seats - led_by == 1:
            if their_lowest < my_lowest:
                exits = exits << 8 | popcount(mine) << 4 | popcount(theirs & (my_lowest - 1))
        elif led_by == 1:
            common = popcount(mine)
            for seat in range(seats):
                cards = (s[t + seat] >> shift) & full
                if not us >> seat & 1 and cards >= my_lowest:
                    common = min(common, popcount(cards & (my_lowest - 1)))
            for seat in range(seats):
                cards = (s[t + seat] >> shift) & full
                if not us >> seat & 1:
                    pair += min(common, popcount(cards & (my_lowest - 1))) << (8 * seat)
        if led_by == 1:
            if my_lowest < their_lowest:
                ours = ours << 8 | popcount(theirs) << 4 | popcount(mine & (their_lowest - 1))
        else:
            out = (s[t + leader] >> shift) & (their_lowest - 1) != 0
            for seat in range(seats):
                cards = (s[t + seat] >> shift) & full
                if us >> seat & 1 and cards and (cards & -cards) > their_lowest:
                    out = False
            has_exit |= out
    if ducked < left:
        if seats - led_by == 1:
            ducked = _won_by_exits(exits, ducked, led_by, 0)
        elif led_by == 1:
            least = int64(99)
            for seat in range(seats):
                if not us >> seat & 1:
                    least = min(least, pair >> (8 * seat) & 0xFF)
            if least > ducked:
                ducked += 1
    if led_by == 1:
        return ducked, _won_by_exits(ours, 0, seats - 1, 1)
    return ducked, int64(has_exit)


@njit
def _both_sure_trumps(
    s: Ints, t: int, seats: int, width: int, trump: int, us: int
) -> tuple[int, int]:
    """Sure trump tricks of the better hand of our side and of the other side."""
    full = (int64(1) << width) - 1
    shift = trump * width
    mine = int64(0)
    theirs = int64(0)
    for seat in range(seats):
        cards = (s[t + seat] >> shift) & full
        if us >> seat & 1:
            mine |= cards
        else:
            theirs |= cards
    we = int64(0)
    they = int64(0)
    for seat in range(seats):
        cards = (s[t + seat] >> shift) & full
        if us >> seat & 1:
            we = max(we, _sure_trumps(cards, theirs))
        else:
            they = max(they, _sure_trumps(cards, mine))
    return we, they


@njit
def _holding(
    hand: int, lengths: int, seat: int, via: int, seats: int, width: int, trump: int, trumped: int
) -> tuple[int, int, int, bool]:
    """Winners of a seat beside the trumps, and how long the others can lead around them.

    `trumped` are the seats that have trumps. Returns the winners that it can cash once on lead,
    because all who have trumps follow; as many without that condition; rounds of other suits;
    whether seat `via` can lead to the winners.
    """
    full = (int64(1) << width) - 1
    safely = int64(0)
    all_told = int64(0)
    around = int64(0)
    has_entry = False
    for suit in range(4):
        longest = int64(0)
        safe = int64(width)
        for other in range(seats):
            if other != seat:
                length = lengths >> (16 * other + 4 * suit) & 15
                longest = max(longest, length)
                if trumped >> other & 1:
                    safe = min(safe, length)
        cards = (hand >> (suit * width)) & full
        if suit == trump or cards >> (width - 1) == 0:
            around += longest
            continue
        run = _top_run(cards, width)
        if run >= longest:
            run = lengths >> (16 * seat + 4 * suit) & 15
        all_told += run
        run = min(run, safe)
        safely += run
        if run == 0:
            around += longest
        elif lengths >> (16 * via + 4 * suit) & 15:
            has_entry = True
    return safely, all_told, around, has_entry


@njit
def _taking_bounds(
    s: Ints,
    t: int,
    lengths: int,
    left: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    us: int,
) -> tuple[int, int]:
    """Where both sides want tricks: the least that the leader's side and the others take."""
    full = (int64(1) << width) - 1
    we = int64(0)
    they = int64(0)
    trumped = int64(0)
    longest = int64(0)
    if trump < NO_TRUMP:
        we, they = _both_sure_trumps(s, t, seats, width, trump, us)
        for seat in range(seats):
            length = lengths >> (16 * seat + 4 * trump) & 15
            trumped |= int64(length != 0) << seat
            if seat != leader:
                longest = max(longest, length)
    safely, all_told, _, _ = _holding(
        s[t + leader], lengths, leader, leader, seats, width, trump, trumped
    )
    drawn = int64(0)
    if trumped:
        trumps = (s[t + leader] >> (trump * width)) & full
        if _top_run(trumps, width) >= longest:
            drawn = popcount(trumps) + all_told
    crossed = int64(0)
    later = int64(0)
    for seat in range(seats):
        if seat == leader:
            continue
        winners, _, around, has_entry = _holding(
            s[t + seat], lengths, seat, leader, seats, width, trump, trumped
        )
        if us >> seat & 1:
            if has_entry:
                crossed = max(crossed, min(winners, left - safely))
        elif must or not trumped:
            spare = left - around
            if trump < NO_TRUMP:
                spare -= lengths >> (16 * seat + 4 * trump) & 15
            later = max(later, min(winners, spare))
    return max(we + safely + crossed, drawn), they + later


@njit
def bounds(
    s: Ints,
    t: int,
    lengths: int,
    left: int,
    leader: int,
    seats: int,
    width: int,
    trump: int,
    must: int,
    counted: int,
    is_most: bool,
) -> tuple[int, int]:
    """Least and most of the counted side's tricks, before a lead."""
    is_counted = counted >> leader & 1 != 0
    us = counted if is_counted else ~counted & ((1 << seats) - 1)
    if is_most:
        we, they = _taking_bounds(s, t, lengths, left, leader, seats, width, trump, must, us)
    elif trump >= NO_TRUMP:
        we, they = _avoiding_bounds(s, t, left, leader, seats, width, us)
    else:
        we, they = _both_sure_trumps(s, t, seats, width, trump, us)
    return (we, left - they) if is_counted else (they, left - we)
