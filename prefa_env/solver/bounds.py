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
def _cards_of(s: Ints, t: int, side: int, seats: int) -> int:
    """The cards of all seats of a side together."""
    cards = int64(0)
    for seat in range(seats):
        cards |= s[t + seat] & -(side >> seat & 1)
    return cards


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
def _rounds_ducked(mine: int, theirs: int, limit: int) -> int:
    """How many leads of theirs in a suit I can surely stay below, up to a limit; that if all.

    The i-th needs my i-th lowest card to be below their i-th lowest. I play the highest card that
    is low enough and discard from above, so that what I do elsewhere does no harm.
    """
    led = int64(0)
    while theirs and led < limit:
        lowest = theirs & -theirs
        if mine < lowest:
            break
        if popcount(mine & (lowest - 1)) <= led:
            return led
        led += 1
        theirs ^= lowest
    return limit


@njit
def _ducked(s: Ints, t: int, left: int, seats: int, width: int, us: int) -> int:
    """Tricks that our side, on lead, cannot help taking at first: all others can stay below."""
    full = (int64(1) << width) - 1
    ours = _cards_of(s, t, us, seats)
    ducked = int64(left)
    for seat in range(seats):
        if not us >> seat & 1:
            for suit in range(4):
                mine = (s[t + seat] >> (suit * width)) & full
                ducked = _rounds_ducked(mine, (ours >> (suit * width)) & full, ducked)
    return ducked


@njit
def _lone_exits(s: Ints, t: int, alone: int, seats: int, width: int) -> int:
    """The suits where a lone seat has cards below all of the others'.

    8 bits each: how many such cards, and from bit 4 on how many cards the others have.
    """
    full = (int64(1) << width) - 1
    others = _cards_of(s, t, ~(1 << alone), seats)
    exits = int64(0)
    for suit in range(4):
        shift = suit * width
        mine = (s[t + alone] >> shift) & full
        theirs = (others >> shift) & full
        low = mine & ((theirs & -theirs) - 1)
        if theirs and low:
            exits = exits << 8 | popcount(theirs) << 4 | popcount(low)
    return exits


@njit
def _exits_taken(exits: int, ducked: int, others: int, on_lead: int) -> int:
    """Tricks that the opponents of a lone seat must take, where no side wants any.

    `exits` as from `_lone_exits`; the seat can duck the first `ducked` tricks, or is on lead.

    Whenever it is on lead, or must take a trick and then is, it leads one of its low cards, and
    the opponents take that; and a low card ducks whatever is led in its suit. So the opponents
    take just n tricks only if by then each exit is gone: either its low cards, one a trick that
    they take, or all their cards of the suit. They play `others` cards in a trick that they take,
    and one less to other suits in one that they lead and do not take; of the latter there are
    n - ducked, and one more if they are on lead. Tried is n, with no more than n suits of the
    former kind, each with as many cards as the longest that may be.
    """
    taken = int64(ducked)
    while True:
        played = taken * others + (taken - ducked + 1 - on_lead) * (others - 1)
        cards = int64(0)
        longest = int64(0)
        rest = exits
        while rest:
            if rest & 15 <= taken:
                longest = max(longest, rest >> 4 & 15)
            cards += rest >> 4 & 15
            rest >>= 8
        if cards - longest * taken <= played:
            return taken
        taken += 1


@njit
def _common_exits(s: Ints, t: int, alone: int, seats: int, width: int) -> int:
    """How often each of several seats can surely lead below a lone opponent: the least of them.

    In a suit all of them must stay below him: those with higher cards too for as many rounds as
    they have low cards; those without never go over. Each trick that he takes costs each of them
    one such lead at most, and he cannot discard before one of them is on lead.
    """
    full = (int64(1) << width) - 1
    leads = int64(0)  # 8 bits a seat
    for suit in range(4):
        shift = suit * width
        his = (s[t + alone] >> shift) & full
        below = (his & -his) - 1
        rounds = popcount(his)
        if his == 0:
            continue
        for seat in range(seats):
            cards = (s[t + seat] >> shift) & full
            if seat != alone and cards > below:
                rounds = min(rounds, popcount(cards & below))
        for seat in range(seats):
            if seat != alone:
                low = (s[t + seat] >> shift) & below
                leads += min(rounds, popcount(low)) << (8 * seat)
    least = int64(99)
    for seat in range(seats):
        if seat != alone:
            least = min(least, leads >> (8 * seat) & 0xFF)
    return least


@njit
def _has_exit(s: Ints, t: int, leader: int, seats: int, width: int, us: int) -> bool:
    """Whether the leader has a card that the others must go over and no partner has to."""
    full = (int64(1) << width) - 1
    others = _cards_of(s, t, ~us, seats)
    for suit in range(4):
        shift = suit * width
        theirs = (others >> shift) & full
        below = (theirs & -theirs) - 1
        found = theirs != 0 and (s[t + leader] >> shift) & below != 0
        for seat in range(seats):
            cards = (s[t + seat] >> shift) & full
            if us >> seat & 1 and cards and cards & below == 0:
                found = False
        if found:
            return True
    return False


@njit
def _only(side: int, seats: int) -> int:
    """The seat of a side of one; -1 of others."""
    for seat in range(seats):
        if side == 1 << seat:
            return seat
    return -1


@njit
def _avoiding_bounds(
    s: Ints, t: int, left: int, leader: int, seats: int, width: int, us: int, enough: int
) -> tuple[int, int]:
    """Where no side wants tricks: the least that the leader's side and the others take.

    No more is looked for once the leader's side has `enough`, or the others the rest.
    """
    we = _ducked(s, t, left, seats, width, us)
    if we >= enough:
        return we, int64(0)
    if us == 1 << leader:
        they = _exits_taken(_lone_exits(s, t, leader, seats, width), 0, seats - 1, 1)
    else:
        they = int64(_has_exit(s, t, leader, seats, width, us))
    if they > left - enough or we == left:
        return we, they
    alone = _only(~us & ((1 << seats) - 1), seats)
    if alone >= 0:
        we = _exits_taken(_lone_exits(s, t, alone, seats, width), we, seats - 1, 0)
    elif us == 1 << leader and _common_exits(s, t, leader, seats, width) > we:
        we += 1
    return we, they


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
    enough: int,
) -> tuple[int, int]:
    """Where both sides want tricks: as `_avoiding_bounds`.

    The leader cashes his winners beside the trumps, or draws trumps first, or crosses to a partner
    who has followed or thrown what is no winner. No trump falls while he cashes, so the sure
    trumps of a hand of his side come on top.

    Another seat keeps its winners until it is on lead. The others lead around them at most
    `around` times: to a winner it plays it, and he who has trumps still follows, for where trumping
    is a duty he parts with cards of a suit only when it is led. Up to then it gives up losers and
    trumps; winners only if there are no more of those.
    """
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
    cashed = we + safely
    we = max(cashed, drawn)
    if we >= enough or they > left - enough:
        return we, they
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
    return max(we, cashed + crossed), they + later


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
    need: int,
) -> tuple[int, int]:
    """Least and most of the counted side's tricks, before a lead; no better than `need` asks."""
    is_counted = counted >> leader & 1 != 0
    us = counted if is_counted else ~counted & ((1 << seats) - 1)
    enough = need if is_counted else left - need + 1
    if is_most:
        we, they = _taking_bounds(
            s, t, lengths, left, leader, seats, width, trump, must, us, enough
        )
    elif trump >= NO_TRUMP:
        we, they = _avoiding_bounds(s, t, left, leader, seats, width, us, enough)
    else:
        we, they = _both_sure_trumps(s, t, seats, width, trump, us)
    return (we, left - they) if is_counted else (they, left - we)
