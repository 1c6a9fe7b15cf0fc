"""The rule player as a policy over tables: how others are taken to bid, discard and defend."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import popcount
from prefa_env.prefa import OBSERVATION
from prefa_env.prefa.kernel import deal, legal_actions, step
from prefa_env.prefa.observation import observe
from prefa_env.prefa.rules import NUM_CARDS, Action, Phase
from prefa_env.prefa.state import State
from prefa_env.streams import derive_key, mix, to_unit
from prefa_env.words import Words, int64

from ..heuristic.bidding import best_contract, choose, worth_of
from ..heuristic.hand import Style, Tables
from ..heuristic.view import View, read_view
from .history import MAX_ACTIONS, initial_deck, past_actions
from .worlds import DISCARDS, Cards, enter_world

OBSERVATION_WORDS = OBSERVATION.size // 8

_DISCARD, _CONTRACT, _PLAY = int(Phase.DISCARD), int(Phase.CONTRACT), int(Phase.PLAY)
_FIRST_BID = int(Action.BID) - int(Action.PASS) + 1  # as a byte of `State.calls`
_PAIRS = 66  # of twelve cards

_DISAGREEMENT = 0.2
"""What a call or a word in the defence that the model would not have said makes of a world."""
_TEMPERATURE = 4.0
"""Kapikia: how much worse than the best pair of discards another one may be."""


@njit
def decide(t: Tables, style: Style, s: State, view: View, words: Words) -> int:
    """The model's action for the seat to act, before the first card.

    `view` and `words`, int64 [OBSERVATION_WORDS], are scratch.
    """
    legal = legal_actions(s)
    if legal & (legal - 1) == 0:
        return popcount(legal - 1)
    observe(s, s.seat, words)
    read_view(view, words, words.view(np.int8))
    view.legal = legal
    return choose(t, style, view)


@njit_called
def bid_on(t: Tables, style: Style, s: State, view: View, words: Words) -> None:
    """Let the model act for all seats until the first card, or until the deal is over."""
    while s.seat >= 0 and s.phase < _PLAY:
        step(s, decide(t, style, s, view, words))


@njit
def _lowest_contract(s: State) -> int:
    """The rung at which the declarer won the auction."""
    number = s.num_calls - 1
    while number >= 0:
        call = s.calls[number >> 3] >> 8 * (number & 7) & 0x7F
        if call >= _FIRST_BID:
            return int64(call - _FIRST_BID)
        number -= 1
    return 0


@njit_called
def draw_discards(t: Tables, s: State, key: np.uint64) -> float:
    """Choose anew which of another declarer's twelve cards are his discards, in place.

    Of all pairs that fit what he played and showed, as a declarer would who keeps what makes his
    contract worth most.

    Returns:
        How likely twelve such cards lead to what is known of ten of them and to this contract.
    """
    owner = s.owner
    twelve = s.hands[owner] | s.played[owner] | s.discards
    lowest = _lowest_contract(s)
    pairs = np.empty(_PAIRS, np.int64)
    shares = np.empty(_PAIRS, np.float64)  # added up
    count = 0
    fitting = 0.0
    total = 0.0
    firsts = twelve
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        seconds = firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            ten = twelve & ~(first | second)
            best, _ = best_contract(t, ten, lowest)
            total += np.exp(best / _TEMPERATURE)
            hidden = ten & ~s.played[owner]
            if ((first | second) & s.played[owner]) | (hidden & s.voids[owner]) == 0:
                fitting += np.exp(worth_of(t, ten, s.bid) / _TEMPERATURE)
                pairs[count] = first | second
                shares[count] = fitting
                count += 1
    mark = fitting * to_unit(mix(key))
    chosen = 0
    while chosen < count - 1 and shares[chosen] <= mark:
        chosen += 1
    s.discards = pairs[chosen]
    s.hands[owner] = twelve & ~(s.played[owner] | s.discards)
    return fitting / total


@njit_called
def agreement(t: Tables, style: Style, tables: npt.NDArray[Any], view: View, words: Words) -> float:
    """How well a world goes with what the other seats said: 1 if the model had said the same.

    Args:
        tables: State records [2]: a table with all cards known, in which seat 0 looks; scratch.
        view, words: scratch, as for `decide`.
    """
    seen, s = tables[0], tables[1]
    actions = np.empty(MAX_ACTIONS, np.int8)
    deck = np.empty(NUM_CARDS, np.int8)
    initial_deck(seen, deck)
    deal(s, seen.options, deck, seen.dealer)
    weight = 1.0
    for i in range(past_actions(seen, actions)):
        if s.phase == _PLAY:
            break
        is_said = s.phase < _DISCARD or s.phase > _CONTRACT  # see `draw_discards` for those
        if s.seat != 0 and is_said and decide(t, style, s, view, words) != actions[i]:
            weight *= _DISAGREEMENT
        step(s, int64(actions[i]))
    return weight


@njit_called
def redraw_discards(
    t: Tables,
    seen: State,
    key: np.uint64,
    worlds: Cards,
    weights: npt.NDArray[np.float64],
    tables: npt.NDArray[Any],
) -> None:
    """Choose another declarer's discards anew in each world; how likely these cards lead there.

    Args:
        seen: a recalled table.
        worlds: int64 [N, 4].
        weights: float64 [N], written; all 1 where no other declarer has discarded.
        tables: State records [1], scratch.
    """
    for n in range(worlds.shape[0]):
        weights[n] = 1.0
        if seen.owner > 0 and seen.phase > _CONTRACT:
            tables[0] = seen
            s = tables[0]
            enter_world(s, worlds[n])
            weights[n] = draw_discards(t, s, derive_key(key, n))
            worlds[n, s.owner - 1] = s.hands[s.owner]
            worlds[n, DISCARDS] = s.discards


@njit_called
def weigh(
    t: Tables,
    style: Style,
    seen: State,
    key: np.uint64,
    worlds: Cards,
    weights: npt.NDArray[np.float64],
    tables: npt.NDArray[Any],
    view: View,
) -> None:
    """Write how likely the model finds each world; declarers' discards are chosen anew.

    Args:
        seen: a recalled table.
        worlds: int64 [N, 4].
        weights: float64 [N].
        tables: State records [2], scratch.
    """
    words = np.empty(OBSERVATION_WORDS, np.int64)
    redraw_discards(t, seen, key, worlds, weights, tables)
    for n in range(worlds.shape[0]):
        tables[0] = seen
        enter_world(tables[0], worlds[n])
        weights[n] *= agreement(t, style, tables, view, words)
