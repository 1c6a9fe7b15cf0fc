"""The actions that led to a table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.bits import popcount
from prefa_env.prefa.kernel import left_of, right_of
from prefa_env.prefa.rules import NUM_CARDS, PACK, Action, Phase
from prefa_env.prefa.state import MAX_CALLS, SAID_DEFENCE_PASS, State
from prefa_env.words import int64

MAX_ACTIONS = MAX_CALLS + 40
"""Room for the actions of any deal."""

_AUCTION, _CONTRACT = int(Phase.AUCTION), int(Phase.CONTRACT)
_PASS, _BID, _PLAY = int(Action.PASS), int(Action.BID), int(Action.PLAY)
_ALONE, _INVITE = int(Action.ALONE), int(Action.INVITE)
_SEATS = PACK.seats


@njit
def initial_deck(s: State, deck: npt.NDArray[np.int8]) -> None:
    """Write the deck, int8 [32], that a table with all cards known was dealt from."""
    position = 0
    for part in range(_SEATS + 1):
        if part < _SEATS:
            cards = s.hands[part] | s.played[part]
            if part == s.owner and s.phase != _AUCTION:
                cards = (cards | s.discards) & ~s.talon
        else:
            cards = s.talon
        while cards:
            card = cards & -cards
            cards ^= card
            deck[position] = popcount(card - 1)
            position += 1


@njit
def past_actions(s: State, actions: npt.NDArray[np.int8]) -> int:
    """Write the actions of a table with all cards known, in order; how many there are.

    Of two discards the lower card comes first: no record says which was.

    Args:
        s: a deal that is not over.
        actions: int8 [MAX_ACTIONS].
    """
    count = s.num_calls
    for i in range(count):
        actions[i] = (s.calls[i >> 3] >> 8 * (i & 7) & 0x7F) + _PASS - 1
    if s.owner < 0 or s.phase == _AUCTION:
        return _past_cards(s, actions, count)
    cards = s.discards
    while cards:
        card = cards & -cards
        cards ^= card
        actions[count] = popcount(card - 1)
        count += 1
    if s.phase <= _CONTRACT:
        return count
    actions[count] = _BID + s.bid
    count += 1
    for seat in (right_of(s.owner), left_of(s.owner)):
        if s.said[seat] >> (_PLAY - _PASS) & 1:
            actions[count] = _PLAY
            count += 1
        elif s.said[seat] >> SAID_DEFENCE_PASS & 1:
            actions[count] = _PASS
            count += 1
    for seat in range(_SEATS):
        for said in (_ALONE, _INVITE):
            if s.said[seat] >> (said - _PASS) & 1:
                actions[count] = said
                count += 1
    return _past_cards(s, actions, count)


@njit
def _past_cards(s: State, actions: npt.NDArray[np.int8], count: int) -> int:
    for card in range(NUM_CARDS):
        number = s.order[card >> 3] >> 8 * (card & 7) & 0x7F
        if 0 < number <= s.num_played:
            actions[count + number - 1] = card
    return count + int64(s.num_played)
