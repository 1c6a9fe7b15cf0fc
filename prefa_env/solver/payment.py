"""Prefa solved to money: open-card play of a table of the kernel, from any card on.

Whatever the options, the money of the declarer is a rising function of his tricks alone (a test
walks all contracts and splits), so playing for tricks is playing for money: against defenders who
pool their forces the solver's number of tricks gives his payment exactly. How the defenders share
their tricks is another matter: only *both play* pays them apart. There the split is that of one
line of best play, in which a defender takes a trick himself whenever that costs the two nothing.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .._jit import njit, njit_called
from ..bits import popcount
from ..prefa.kernel import left_of, legal_actions, pay, right_of, step
from ..prefa.rules import PACK, SUIT, Defence
from ..prefa.state import State
from ..tricks import beats
from ..words import Ints, int64, zeros
from . import search
from .bounds import NO_TRUMP

_BOTH = int(Defence.BOTH)
_WIDTH = PACK.num_cards // 4
_ALL_SEATS = 0b111
_MUST_TRUMP = 1
_TRICKS = PACK.hand_size


@njit
def _defender(s: State) -> int:
    """The seat that defends alone."""
    right = right_of(s.owner)
    return right if s.playing >> right & 1 else left_of(s.owner)


@njit
def _place(s: State, hands: Ints, trick: Ints) -> tuple[int, int, int]:
    """Write the position as the search wants it; who led, how many seats, the strain.

    Of two seats the declarer is number 0, of three each is its own.
    """
    place = s.in_trick
    if s.playing == _ALL_SEATS:
        seats = 3
        leader = s.seat - place if s.seat >= place else s.seat - place + 3
        for seat in range(3):
            hands[seat] = s.hands[seat]
        seat = leader
        for i in range(place):
            trick[i] = popcount((s.trick & s.played[seat]) - 1)
            seat = right_of(seat)
    else:
        seats = 2
        hands[0] = s.hands[s.owner]
        hands[1] = s.hands[_defender(s)]
        leader = int64((s.seat != s.owner) ^ (place != 0))
        if place:
            trick[0] = popcount(s.trick - 1)
    strain = NO_TRUMP if s.trump == 0 else popcount((s.trump & -s.trump) - 1) // _WIDTH
    return leader, seats, strain


@njit_called
def tricks_to_come(table: Ints, scratch: Ints, s: State, viewer: int) -> int:
    """Tricks that the declarer, in a misère the viewer, takes from here on, the running one too.

    Args:
        table, scratch: of a `Memory`.
        s: a table in play, with all hands known.
        viewer: the seat that wants few tricks where there is no declarer, against the two others.
    """
    hands = zeros(search.MAX_SEATS)
    trick = zeros(search.MAX_SEATS)
    leader, seats, strain = _place(s, hands, trick)
    counted = 1 << (viewer if s.owner < 0 else s.owner if seats == 3 else 0)
    return search.value(
        table, scratch, hands, trick, s.in_trick, leader, seats, _WIDTH, strain, _MUST_TRUMP,
        counted, s.owner >= 0,
    )  # fmt: skip


@njit_called
def _may_take(table: Ints, scratch: Ints, s: State, tricks: int) -> bool:
    """Whether the declarer, with those he has, can come to `tricks`."""
    hands = zeros(search.MAX_SEATS)
    trick = zeros(search.MAX_SEATS)
    leader, seats, strain = _place(s, hands, trick)
    counted = 1 << (s.owner if seats == 3 else 0)
    return search.is_at_least(
        table, scratch, hands, trick, s.in_trick, leader, seats, _WIDTH, strain, _MUST_TRUMP,
        counted, True, tricks - s.tricks[s.owner],
    )  # fmt: skip


@njit
def _takers(s: State, legal: int) -> int:
    """The legal cards that win the trick as it stands; of a lead, those that nobody can beat."""
    takers = int64(0)
    others = s.hands[0] | s.hands[1] | s.hands[2]
    if s.playing != _ALL_SEATS:
        others = s.hands[s.owner] | s.hands[_defender(s)]
    cards = legal
    while cards:
        bit = cards & -cards
        cards ^= bit
        if s.in_trick:
            takes = beats(bit, s.best, s.led, s.trump)
        else:
            suit = int64(SUIT) << (popcount(bit - 1) // _WIDTH * _WIDTH)
            takes = others & ~s.hands[s.seat] & suit & -(bit << 1) == 0
        takers |= bit if takes else 0
    return takers


@njit_called
def _best_card(table: Ints, scratch: Ints, tables: npt.NDArray[Any], target: int) -> int:
    """A card with which the declarer of `tables[0]` comes to `target` tricks, no more, no less."""
    line, trial = tables[0], tables[1]
    legal = legal_actions(line)
    takers = _takers(line, legal)
    card = -1
    for cards in (takers, legal & ~takers):
        while cards:
            bit = cards & -cards
            cards ^= bit
            card = popcount(bit - 1)
            tables[1] = tables[0]
            step(trial, card)
            if line.seat == line.owner:
                if _may_take(table, scratch, trial, target):
                    return card
            elif not _may_take(table, scratch, trial, target + 1):
                return card
    return card


@njit_called
def play_out(table: Ints, scratch: Ints, tables: npt.NDArray[Any]) -> None:
    """Play a contract to its end in place, each seat for the best of its side with all cards seen.

    A defender prefers cards that win the trick, the lowest of them first.

    Args:
        table, scratch: of a `Memory`.
        tables: State records [2]: a contract in play, with all hands known; one for trials.
    """
    line = tables[0]
    target = line.tricks[line.owner] + tricks_to_come(table, scratch, line, line.owner)
    while line.seat >= 0:
        legal = legal_actions(line)
        if legal & (legal - 1):
            step(line, _best_card(table, scratch, tables, target))
        else:
            step(line, popcount(legal - 1))


@njit_called
def settle(table: Ints, scratch: Ints, tables: npt.NDArray[Any], viewer: int) -> None:
    """End the deal `tables[0]` as open-card play would, with the right payment for `viewer`.

    The payments of the others are right too, unless both defend and the viewer is the declarer:
    then the defenders' tricks are not told apart.

    Args:
        table, scratch: of a `Memory`.
        tables: State records [2]: a table in play or over, with all hands known; one for trials.
        viewer: a seat; in a misère the two others join against it.
    """
    s = tables[0]
    if s.seat < 0:
        return
    if s.owner >= 0 and s.defence == _BOTH and viewer != s.owner:
        play_out(table, scratch, tables)
        return
    taken = tricks_to_come(table, scratch, s, viewer)
    taker = s.owner if s.owner >= 0 else viewer
    rest = _TRICKS - s.tricks[0] - s.tricks[1] - s.tricks[2] - taken
    s.tricks[taker] += taken
    s.tricks[right_of(taker)] += rest
    pay(s)
