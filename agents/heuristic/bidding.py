"""The rule player's decisions before the first card: auction, discards, contract, defence."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.bits import nth_bit
from prefa_env.prefa.rules import NUM_RUNGS, Action, Phase
from prefa_env.prefa.state import SAID_DEFENCE_PASS

from ..agent import Actions
from .hand import ALONE, BID, BOTH, DECLARE, DEFEND, INVITE, NUM_BINS, ONLY, Floats, Style, Tables
from .view import View

_AUCTION, _DISCARD, _CONTRACT = int(Phase.AUCTION), int(Phase.DISCARD), int(Phase.CONTRACT)
_INVITE, _PLAY = int(Phase.INVITE), int(Phase.PLAY)
_PASS, _WRITE, _FIRST_BID = int(Action.PASS), int(Action.WRITE), int(Action.BID)
_SAY_PLAY, _SAY_ALONE, _SAY_INVITE = int(Action.PLAY), int(Action.ALONE), int(Action.INVITE)
_NT = 4


@njit
def _tricks(points: Floats, row: int, hand: int, strain: int) -> float:
    """Expected tricks of a hand: what its four holdings are worth."""
    if strain == _NT:
        row += 2
    total = 0.0
    for suit in range(4):
        kind = row if strain in (suit, _NT) else row + 1
        total += points[kind, hand >> 8 * suit & 0xFF]
    return total


@njit
def _bin(tricks: float) -> int:
    return min(max(int(tricks * 10 + 0.5), 0), NUM_BINS - 1)


@njit
def worth_of(t: Tables, hand: int, rung: int) -> float:
    """Kapikia of a contract, for ten final cards."""
    return float(t.declare[rung, _bin(_tricks(t.points, DECLARE, hand, rung % 5))])


@njit
def best_contract(t: Tables, hand: int, lowest: int) -> tuple[float, int]:
    """Kapikia and rung of the best contract from rung `lowest` on, for ten final cards."""
    best, best_rung = -1e9, lowest
    for strain in range(5):
        place = _bin(_tricks(t.points, DECLARE, hand, strain))
        for rung in range(strain, NUM_RUNGS, 5):
            if rung >= lowest and t.declare[rung, place] > best:
                best, best_rung = t.declare[rung, place], rung
    return best, best_rung


@njit
def _choose_discard(t: Tables, v: View, lowest: int) -> int:
    """The card of the best pair of discards; the second time, the better of what is left."""
    best, best_card = -1e9, 0
    twelve = v.hand | v.discards
    first = v.hand
    while first != 0:
        card = first & -first
        first ^= card
        second = v.discards if v.discards != 0 else first
        while second != 0:
            other = second & -second
            second ^= other
            worth, _ = best_contract(t, twelve & ~(card | other), lowest)
            if worth > best:
                best, best_card = worth, card
    return nth_bit(best_card, 0)


@njit
def _choose_contract(t: Tables, v: View, lowest: int) -> int:
    best, rung = best_contract(t, v.hand, lowest)
    if v.is_written != 0 and best < t.decline:
        return _WRITE
    return _FIRST_BID + rung


@njit
def worth_before(t: Tables, s: Style, v: View, rung: int) -> float:
    """Kapikia expected of taking the talon at a rung; -1 stands for a *write*."""
    best = -1e9
    for strain in range(5):
        place = _bin(_tricks(t.points, BID, v.hand, strain) + s.limit)
        worth = t.write[strain, place] if rung < 0 else t.bid[rung, strain, place]
        best = max(best, worth)
    return best


@njit
def _choose_call(t: Tables, s: Style, v: View) -> int:
    if v.rung < 0:
        worth = worth_before(t, s, v, 0)
        if v.owner >= 0:
            return _FIRST_BID if worth > s.pass_open else _PASS
        is_last = v.said_next & v.said_after & 1 != 0  # both have passed
        passing = s.pass_last if is_last else s.pass_open
        if v.legal >> _WRITE & 1 != 0 and worth < s.write_below:
            return _WRITE if worth_before(t, s, v, -1) > passing else _PASS
        return _FIRST_BID if worth > passing else _PASS
    rung = v.rung if v.legal >> (_FIRST_BID + v.rung) & 1 != 0 else v.rung + 1  # hold if allowed
    if rung >= NUM_RUNGS or v.legal >> (_FIRST_BID + rung) & 1 == 0:
        return _PASS
    return _FIRST_BID + rung if worth_before(t, s, v, rung) > s.pass_bid else _PASS


@njit
def _choose_defence(t: Tables, s: Style, v: View) -> int:
    """Play or pass; alone or invite (D1-D3)."""
    side = 0 if v.owner == 2 else 1  # right or left of the declarer
    strain = v.rung % 5
    place = _bin(_tricks(t.points, DEFEND, v.hand, strain))
    both = t.defend[BOTH, v.rung, side, place]
    invite = t.defend[INVITE, v.rung, side, place]
    alone = t.defend[ONLY, v.rung, side, _bin(_tricks(t.points, ALONE, v.hand, strain))]
    if v.phase == _INVITE:
        return _SAY_ALONE if alone > invite else _SAY_INVITE
    without_him = max(alone, invite)
    if side == 0:
        playing = s.partner_plays * both + (1 - s.partner_plays) * without_him
        passing = s.partner_plays * t.idle[v.rung]
        passing += (1 - s.partner_plays) * t.conceded[v.rung]
    elif v.said_after >> SAID_DEFENCE_PASS & 1 != 0:
        playing, passing = without_him, t.conceded[v.rung]
    else:
        playing, passing = both, t.idle[v.rung]
    return _SAY_PLAY if playing + s.play_bonus > passing else _PASS


@njit
def choose(t: Tables, s: Style, v: View) -> int:
    """The action where no card is to be played: auction, discards, contract, defence."""
    if v.phase == _AUCTION:
        return _choose_call(t, s, v)
    if v.phase == _DISCARD:
        return _choose_discard(t, v, max(v.rung, 0))
    if v.phase == _CONTRACT:
        return _choose_contract(t, v, max(v.rung, 0))
    return _choose_defence(t, s, v)


@njit
def bid_and_defend(t: Tables, s: Style, views: npt.NDArray[Any], actions: Actions) -> None:
    """Write the actions of the rows in which no card is to be played."""
    for i in range(views.shape[0]):
        if views[i].legal != 0 and views[i].phase < _PLAY:
            actions[i] = choose(t, s, views[i])
