"""The best decisions before the first card for somebody who sees all hands."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import popcount
from prefa_env.prefa.kernel import legal_actions, right_of, step
from prefa_env.prefa.rules import NUM_RUNGS, Action, Phase
from prefa_env.prefa.state import State
from prefa_env.solver.payment import settle, tricks_to_come
from prefa_env.words import Ints, int64, zeros

from ..heuristic.bidding import best_contract
from ..heuristic.hand import Style, Tables
from ..heuristic.view import View
from .model import OBSERVATION_WORDS, decide

NUM_TABLES = 6
"""Records that the functions here want as scratch."""

_MOST_WORDS = 3  # right, left, and one of them once more
_PATHS = 1 << _MOST_WORDS

_CONTRACT, _PLAY, _DISCARD = int(Phase.CONTRACT), int(Phase.PLAY), int(Phase.DISCARD)
_PASS, _BID, _SAY_PLAY = int(Action.PASS), int(Action.BID), int(Action.PLAY)
_NUM_STRAINS = 5
_LOWEST_LEVEL = 6


@njit
def _say(tables: npt.NDArray[Any], path: int, deciders: npt.NDArray[np.int64]) -> int:
    """Let the defence of `tables[1]` say the words of a path, until cards are played or none is.

    Bit n of `path` tells which of two words the n-th to speak says. Returns how many spoke; they
    are written to `deciders`, int64 [3].
    """
    s = tables[1]
    count = 0
    while s.seat >= 0 and s.phase != _PLAY:
        deciders[count] = s.seat
        legal = legal_actions(s)
        word = legal & -legal if path >> count & 1 == 0 else legal & (legal - 1)
        step(s, popcount(word - 1))
        count += 1
    return count


@njit_called
def settle_defence(table: Ints, scratch: Ints, tables: npt.NDArray[Any]) -> None:
    """End the deal `tables[0]`, a contract named or some of the defence said, all payments right.

    Each defender says what pays him best, knowing all cards; of equal words the first, a pass
    before *play*, *alone* before *invite*. The cards are solved.

    Args:
        table, scratch: of a solver's `Memory`.
        tables: State records [3]; those after the first are scratch.
    """
    payments = np.zeros((_PATHS, 3), np.int64)
    deciders = np.zeros((_PATHS, _MOST_WORDS), np.int64)
    counts = np.zeros(_PATHS, np.int64)
    owner = tables[0].owner
    for path in range(_PATHS):
        tables[1] = tables[0]
        counts[path] = _say(tables, path, deciders[path])
        if path >> counts[path] == 0:  # no word left over: a path of its own
            settle(table, scratch, tables[1:], right_of(owner))
            payments[path] = tables[1].settled_thirds
    best = np.arange(_PATHS)  # from each beginning of a path, the whole path that follows
    for n in range(_MOST_WORDS - 1, -1, -1):
        for path in range(1 << n):
            other = path | 1 << n
            seat = deciders[path, n]
            is_said = counts[path] > n
            if is_said and payments[best[other], seat] > payments[best[path], seat]:
                best[path] = best[other]
    tables[1] = tables[0]
    _say(tables, best[0], deciders[0])
    settle(table, scratch, tables[1:], right_of(owner))
    tables[0] = tables[1]


@njit_called
def value_word(table: Ints, scratch: Ints, tables: npt.NDArray[Any], action: int) -> int:
    """What a word in the defence brings to the seat to act at `tables[0]`, in thirds."""
    seat = tables[0].seat
    step(tables[0], action)
    settle_defence(table, scratch, tables)
    return int64(tables[0].settled_thirds[seat])


@njit
def _tricks_against_two(table: Ints, scratch: Ints, tables: npt.NDArray[Any], rung: int) -> int:
    """The declarer's tricks in a strain if both defend; `tables[0]` is about to be named."""
    tables[1] = tables[0]
    s = tables[1]
    step(s, _BID + rung)
    step(s, _SAY_PLAY)
    step(s, _SAY_PLAY)
    return tricks_to_come(table, scratch, s, s.owner)


@njit_called
def value_contracts(
    table: Ints, scratch: Ints, tables: npt.NDArray[Any], values: npt.NDArray[np.int64]
) -> None:
    """Write what contracts bring the declarer of `tables[0]`, who is to name one, in thirds.

    Of each strain only the highest level that can be made against two is looked at, the one below
    it, and the lowest that may be named.

    Args:
        table, scratch: of a solver's `Memory`.
        tables: State records [NUM_TABLES], all but the first scratch.
        values: int64 [25]; only rungs looked at are written.
    """
    legal = legal_actions(tables[0])
    owner = tables[0].owner
    for strain in range(_NUM_STRAINS):
        lowest = strain
        while lowest < NUM_RUNGS and legal >> int64(_BID + lowest) & 1 == 0:
            lowest += _NUM_STRAINS
        if lowest >= NUM_RUNGS:
            continue
        tricks = _tricks_against_two(table, scratch, tables, lowest)
        for rung in range(lowest, NUM_RUNGS, _NUM_STRAINS):
            level = _LOWEST_LEVEL + rung // _NUM_STRAINS
            if rung == lowest or tricks - 1 <= level <= tricks:
                tables[2] = tables[0]
                step(tables[2], _BID + rung)
                settle_defence(table, scratch, tables[2:])
                values[rung] = tables[2].settled_thirds[owner]


@njit
def _rank_pairs(t: Tables, twelve: int, kept: int, lowest: int, pairs: Ints) -> int:
    """Write the most promising pairs of discards, all with `kept` in them, the best first."""
    worths = np.full(pairs.shape[0], -1e9)
    count = 0
    firsts = twelve
    while firsts:
        first = firsts & -firsts
        firsts ^= first
        seconds = firsts
        while seconds:
            second = seconds & -seconds
            seconds ^= second
            pair = first | second
            if pair & kept != kept:
                continue
            worth, _ = best_contract(t, twelve & ~pair, lowest)
            if worth <= worths[-1]:
                continue
            i = min(count, pairs.shape[0] - 1)
            while i > 0 and worths[i - 1] < worth:
                worths[i] = worths[i - 1]
                pairs[i] = pairs[i - 1]
                i -= 1
            worths[i] = worth
            pairs[i] = pair
            count = min(count + 1, pairs.shape[0])
    return count


@njit_called
def value_discards(
    table: Ints,
    scratch: Ints,
    t: Tables,
    start: State,
    tables: npt.NDArray[Any],
    most: int,
) -> tuple[int, int]:
    """What the best discards bring a declarer, in thirds, and a card of them he still holds.

    Args:
        table, scratch: of a solver's `Memory`.
        t: the model, which says which pairs are promising.
        start: a table whose declarer is to discard his first or second card.
        tables: State records [NUM_TABLES], scratch.
        most: pairs that are tried.
    """
    pairs = zeros(most)
    values = np.empty(NUM_RUNGS, np.int64)
    lowest = max(start.bid, 0)
    twelve = start.hands[start.owner] | start.discards
    best = int64(-(2**40))
    best_card = int64(-1)
    for k in range(_rank_pairs(t, twelve, start.discards, lowest, pairs)):
        tables[0] = start
        cards = pairs[k] & ~start.discards
        card = popcount((cards & -cards) - 1)
        while cards:
            step(tables[0], popcount((cards & -cards) - 1))
            cards &= cards - 1
        values[:] = best
        value_contracts(table, scratch, tables, values)
        if values.max() > best:
            best = values.max()
            best_card = card
    return best, best_card


@njit_called
def value_declaring(
    table: Ints,
    scratch: Ints,
    t: Tables,
    start: State,
    action: int,
    tables: npt.NDArray[Any],
    most: int,
) -> int:
    """What a seat gets, in thirds, that makes a bid in the auction and is left with it."""
    tables[0] = start
    s = tables[0]
    seat = s.seat
    step(s, action)
    while s.seat >= 0 and s.phase < _DISCARD:
        step(s, _PASS)
    if s.owner != seat:
        return int64(-(2**40))
    tables[NUM_TABLES - 1] = s
    value, _ = value_discards(table, scratch, t, tables[NUM_TABLES - 1], tables, most)
    return value


@njit_called
def value_passing(
    table: Ints,
    scratch: Ints,
    t: Tables,
    style: Style,
    start: State,
    tables: npt.NDArray[Any],
    view: View,
) -> int:
    """What a seat gets, in thirds, that passes in the auction.

    The others bid, discard and name a contract as the model does; the defence knows all cards.
    """
    words = np.empty(OBSERVATION_WORDS, np.int64)
    tables[0] = start
    s = tables[0]
    seat = s.seat
    step(s, _PASS)
    while s.seat >= 0 and s.phase <= _CONTRACT:
        step(s, decide(t, style, s, view, words))
    if s.owner >= 0:
        settle_defence(table, scratch, tables)
    else:
        settle(table, scratch, tables, seat)
    return int64(s.settled_thirds[seat])
