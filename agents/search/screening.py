"""Which actions before the first card are worth simulating: those the model finds near the best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import popcount
from prefa_env.prefa.rules import NUM_ACTIONS, NUM_RUNGS, Action, Phase
from prefa_env.words import int64

from ..heuristic.bidding import best_contract, worth_before, worth_of
from ..heuristic.hand import Style, Tables
from ..heuristic.view import View

_AUCTION, _DISCARD, _CONTRACT = int(Phase.AUCTION), int(Phase.DISCARD), int(Phase.CONTRACT)
_PASS, _WRITE, _BID = int(Action.PASS), int(Action.WRITE), int(Action.BID)

MOST = 5
"""Actions that are simulated at most."""

_MARGIN = 12.0
"""Kapikia below the best action, as the model sees them, from which one is left out."""


@njit
def _score_calls(t: Tables, style: Style, v: View, scores: npt.NDArray[np.float64]) -> None:
    is_last = v.said_next & v.said_after & 1 != 0
    if v.rung >= 0:
        scores[_PASS] = style.pass_bid
    else:
        scores[_PASS] = style.pass_last if is_last and v.owner < 0 else style.pass_open
    scores[_WRITE] = worth_before(t, style, v, -1)
    for rung in range(max(v.rung, 0), min(v.rung + 2, NUM_RUNGS)):
        scores[_BID + rung] = worth_before(t, style, v, rung)


@njit
def _score_discards(t: Tables, v: View, scores: npt.NDArray[np.float64]) -> None:
    twelve = v.hand | v.discards
    firsts = v.hand
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        card = popcount(first - 1)
        seconds = v.discards if v.discards else firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            worth, _ = best_contract(t, twelve & ~(first | second), max(v.rung, 0))
            scores[card] = max(scores[card], worth)
            if not v.discards:
                other = popcount(second - 1)
                scores[other] = max(scores[other], worth)


@njit_called
def screen(t: Tables, style: Style, v: View, favourite: int, actions: npt.NDArray[np.int64]) -> int:
    """Write the actions worth simulating, the model's own choice first; how many.

    Args:
        t, style: the model.
        v: what the seat sees.
        favourite: the model's own choice.
        actions: int64 [MOST].
    """
    scores = np.full(NUM_ACTIONS, -1e9)
    if v.phase == _AUCTION:
        _score_calls(t, style, v, scores)
    elif v.phase == _DISCARD:
        _score_discards(t, v, scores)
    elif v.phase == _CONTRACT:
        for rung in range(NUM_RUNGS):
            scores[_BID + rung] = worth_of(t, v.hand, rung)
        scores[_WRITE] = t.decline
    else:
        scores[:] = 0
    actions[0] = favourite
    count = 1
    best = scores.max()
    scores[favourite] = -2e9
    while count < MOST:
        top = -1
        for action in range(NUM_ACTIONS):
            if v.legal >> int64(action) & 1 and (top < 0 or scores[action] > scores[top]):
                top = action
        if top < 0 or scores[top] < best - _MARGIN:
            break
        scores[top] = -2e9
        actions[count] = top
        count += 1
    return count
