"""The rule player's card play: rules of thumb over bit sets.

A suit is looked at as a byte of eight ranks; `master` cards are those that no unseen card of
their suit beats.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.bits import nth_bit, popcount
from prefa_env.prefa.rules import SUIT, Phase
from prefa_env.tricks import beats
from prefa_env.words import int64

from ..agent import Actions
from .view import View

_PLAY = int(Phase.PLAY)

# Points of leads and of cards kept; each was varied by itself and kept where kapikia a deal were
# highest. What gained most: making the declarer ruff (+0.9), leading the top of a run rather than
# low (+0.8), drawing trumps without a master only from four on (+0.6).
_MASTER_TRUMP = 35  # the last high trumps, once the declarer has none
_RUFF_FOR_PARTNER = 30
_RUFF_FOR_DECLARER = 25
_LEAD_MASTER = 4  # and one for each unseen card of the suit, less my own
_RUN = 6  # two cards of equal worth at the top
_LEAD_TRUMP = -10
_CASH = 50  # declarer: a winner, once trumps are drawn
_KEEP_WINNER, _KEEP_LONG_WINNER, _KEEP_ESTABLISHED = 40, 6, 4
_KEEP_GUARD, _KEEP_SPARE = 20, 3
_DRAW_FROM = 4  # trumps


@njit
def _top(cards: int) -> int:
    """The highest card of a set, as a set."""
    while cards & (cards - 1) != 0:
        cards &= cards - 1
    return cards


@njit
def _low(cards: int) -> int:
    return cards & -cards


@njit
def _suit(suit: int) -> int:
    return int64(SUIT) << 8 * suit


@njit
def _lowest_rank(cards: int) -> int:
    """A card of the lowest rank in any suit."""
    for rank in range(8):
        same = cards & int64(0x01010101) << rank
        if same != 0:
            return _low(same)
    return 0


@njit
def _highest_rank(cards: int) -> int:
    for rank in range(8):
        same = cards & int64(0x80808080) >> rank
        if same != 0:
            return _low(same)
    return 0


@njit
def _masters(mine: int, unseen: int) -> int:
    """My cards that no unseen card of their suit beats."""
    masters = int64(0)
    for suit in range(4):
        cards = mine & _suit(suit)
        rest = unseen & _suit(suit)
        if cards > rest:
            masters |= cards & ~(2 * _top(rest) - 1) if rest != 0 else cards
    return masters


@njit
def _same_value(card: int, mine: int, unseen: int) -> int:
    """The lowest of my cards that is as good as `card`: no unseen card lies between."""
    while card > 1:
        lower = card >> 1
        if lower & 0x80808080 != 0:
            return card
        while lower & (mine | unseen) == 0 and lower & 0x01010101 == 0:
            lower >>= 1
        if lower & mine == 0:
            return card
        card = lower
    return card


@njit
def _top_of_run(cards: int, unseen: int) -> int:
    """Whether the two highest cards of a suit are worth the same."""
    top = _top(cards)
    return _same_value(top, cards, unseen) != top


# -- throwing cards away --------------------------------------------------------------------------


@njit
def _keep_cost(cards: int, unseen: int) -> int:
    """How much it hurts to throw the lowest card of a suit."""
    count = popcount(cards)
    higher = popcount(unseen & ~(2 * _top(cards) - 1))  # both of one suit
    spare = count - 1 - higher
    if higher == 0:  # the top card is a winner
        if count == 1:
            return _KEEP_WINNER
        return _KEEP_LONG_WINNER + _KEEP_ESTABLISHED * (popcount(unseen) < count)
    if higher > 2 or spare < 0:
        return 0  # never a trick
    return _KEEP_GUARD - 6 * higher if spare == 0 else _KEEP_SPARE


@njit
def _throw(v: View) -> int:
    """The least useful legal card where the trick is not to be won."""
    if v.legal & v.led != 0:
        return _low(v.legal)
    cheapest, best_cost = int64(0), 1000
    for suit in range(4):
        cards = v.legal & _suit(suit)
        if cards == 0:
            continue
        card = _low(cards)
        rank = popcount((card - 1) & _suit(suit))
        cost = 8 * _keep_cost(cards, v.unseen & _suit(suit)) + rank
        if cards & v.trump != 0:
            cost += 400
        if cost < best_cost:
            cheapest, best_cost = card, cost
    return cheapest


# -- following ------------------------------------------------------------------------------------


@njit
def _winners(v: View, best: int) -> int:
    """Legal cards that beat the best so far."""
    winners = int64(0)
    rest = v.legal
    while rest != 0:
        card = _low(rest)
        rest ^= card
        if beats(card, best, v.led, v.trump):
            winners |= card
    return winners


@njit
def _may_ruff(v: View, seat: int) -> bool:
    """Whether a seat, as far as I know, has none of the suit led and could have a trump."""
    if v.led == v.trump or v.voids[seat] & v.trump != 0:
        return False
    return v.voids[seat] & v.led != 0 and v.unseen & v.trump != 0


@njit
def _is_safe(v: View, card: int, seat: int) -> bool:
    """Whether `seat`, still to play, cannot beat a card that is winning."""
    if card & v.trump == 0 and _may_ruff(v, seat):
        return False
    suit = v.led if card & v.led != 0 else v.trump
    if v.voids[seat] & suit != 0:
        return True
    return v.unseen & suit & ~(2 * card - 1) == 0


@njit
def _follow_before(v: View, ally: int, best: int, winners: int) -> int:
    """With one seat still to play after me."""
    rival_follows = ally != 1
    if v.winning == ally:  # he led, the declarer plays after me
        if _is_safe(v, best, 1):
            return _throw(v)
        sure = winners & _masters(v.hand, v.unseen)
        if sure != 0:
            return _low(sure)
        if winners & v.led != 0:  # third hand high
            return _same_value(_top(winners), v.hand, v.unseen)
        return _throw(v)
    if winners == 0:
        return _throw(v)
    if winners & v.led == 0:  # a ruff
        return _low(winners)
    sure = winners & _masters(v.hand, v.unseen)
    if sure != 0 and rival_follows and not _may_ruff(v, 1):
        return _low(sure)
    if rival_follows or v.led == v.trump:
        card = _top(winners)
        if _top_of_run(v.legal, v.unseen & v.led):
            return _same_value(card, v.hand, v.unseen)
    return _throw(v)


@njit
def _follow(v: View, ally: int) -> int:
    best = v.trick[v.winning]
    winners = _winners(v, best)
    seats = popcount(v.playing)
    if v.in_trick + 1 < seats:
        return _follow_before(v, ally, best, winners)
    if v.winning == ally or winners == 0:
        return _throw(v)
    return _low(winners)


# -- leading --------------------------------------------------------------------------------------


@njit
def _lead_from(cards: int, unseen: int) -> int:
    """From a suit without a winner: the top of a run of honours, else low."""
    if _top_of_run(cards, unseen):
        return _top(cards)
    return _low(cards)


@njit
def _rivals_void(v: View) -> int:
    """Suits of which no rival can have a card."""
    void = ~int64(0)
    for seat in range(1, 3):
        if v.playing >> seat & 1 != 0:
            void &= v.voids[seat]
    return void


@njit
def _lead_declarer(v: View) -> int:
    out = v.unseen & v.trump & ~_rivals_void(v)
    trumps = v.hand & v.trump
    masters = _masters(v.hand, v.unseen)
    if out != 0 and trumps != 0:
        if masters & trumps != 0:
            return _top(trumps)
        if popcount(trumps) >= _DRAW_FROM and popcount(out) > 1:
            return _lead_from(trumps, v.unseen & v.trump)
    best_card, best_score = int64(0), -1000
    for suit in range(4):
        cards = v.hand & _suit(suit)
        if cards == 0:
            continue
        rest = v.unseen & _suit(suit)
        count, others = popcount(cards), popcount(rest)
        if cards & v.trump != 0:
            score = 2 * _LEAD_TRUMP
            card = _top(cards) if out == 0 else _low(cards)
        elif masters & cards != 0:
            card = _top(cards)
            score = _CASH + count + others
        else:
            card = _lead_from(cards, rest)
            score = 4 * count - 2 * popcount(rest & ~(2 * _top(cards) - 1))
        if score > best_score:
            best_card, best_score = card, score
    return best_card


@njit
def _lead_defender(v: View, ally: int) -> int:
    masters = _masters(v.hand, v.unseen)
    declarer = v.owner
    declarer_trumps = v.trump != 0 and v.voids[declarer] & v.trump == 0
    declarer_trumps = declarer_trumps and v.unseen & v.trump != 0
    best_card, best_score = int64(0), -1000
    for suit in range(4):
        cards = v.hand & _suit(suit)
        if cards == 0:
            continue
        rest = v.unseen & _suit(suit)
        count = popcount(cards)
        is_master = masters & cards != 0
        card = _top(cards) if is_master else _lead_from(cards, rest)
        if cards & v.trump != 0:
            score = _MASTER_TRUMP if is_master and not declarer_trumps else _LEAD_TRUMP
        elif v.voids[declarer] & cards != 0 and declarer_trumps:
            score = _RUFF_FOR_DECLARER
            card = _low(cards)
        elif ally >= 0 and v.voids[ally] & cards != 0 and v.voids[ally] & v.trump == 0:
            score = _RUFF_FOR_PARTNER
            if not is_master:
                card = _low(cards)
        elif is_master:
            score = _LEAD_MASTER + popcount(rest) - count
        else:
            score = count
            if _top_of_run(cards, rest):
                score += _RUN
        if score > best_score:
            best_card, best_score = card, score
    return best_card


# -- fewest tricks --------------------------------------------------------------------------------


@njit
def _play_misere(v: View) -> int:
    """The highest card that does not win; leading, the lowest rank."""
    if v.led == 0:
        return _lowest_rank(v.legal)
    winners = _winners(v, v.trick[v.winning])
    losers = v.legal & ~winners
    if losers != 0:
        return _highest_rank(losers)
    if v.in_trick == 2:
        return _top(v.legal)
    return _low(v.legal)


@njit
def _card(v: View) -> int:
    if v.legal & (v.legal - 1) == 0:
        return v.legal
    if v.is_misere != 0:
        return _play_misere(v)
    ally = -1
    if v.owner != 0:
        other = 3 - v.owner
        if v.playing >> other & 1 != 0:
            ally = other
    if v.led != 0:
        return _follow(v, ally)
    if v.owner == 0:
        return _lead_declarer(v)
    return _lead_defender(v, ally)


@njit
def play_cards(views: npt.NDArray[Any], actions: Actions) -> None:
    """Write the actions of the rows in which a card is to be played."""
    for i in range(views.shape[0]):
        v = views[i]
        if v.phase == _PLAY and v.legal != 0:
            actions[i] = nth_bit(_card(v), 0)
