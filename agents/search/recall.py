"""From an observation back to the table, as far as the seat has seen it.

The seat itself is seat 0 of that table, the next one seat 1, the one after seat 2. Cards it does
not see are missing until a world fills them in (see `worlds`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.bits import popcount
from prefa_env.prefa import OBSERVATION
from prefa_env.prefa.kernel import left_of, right_of
from prefa_env.prefa.rules import ALL_CARDS, NUM_RUNGS, SUIT, Action, Defence, Flag, Phase
from prefa_env.prefa.state import DTYPE, MAX_CALLS, State
from prefa_env.words import Words, int64

from ..agent import Observations
from ..heuristic.view import bits_32, hot, suits

_PLAY = int(Phase.PLAY)
_BOTH = int(Defence.BOTH)
_RIGHT_ALONE, _LEFT_ALONE = int(Defence.RIGHT_ALONE), int(Defence.LEFT_ALONE)
_RIGHT_INVITES, _LEFT_INVITES = int(Defence.RIGHT_INVITES), int(Defence.LEFT_INVITES)
_MATCH = int(Flag.MATCH)
_WROTE = 1 << (int(Action.WRITE) - int(Action.PASS))
_BIDS = ((1 << NUM_RUNGS) - 1) << (int(Action.BID) - int(Action.PASS))
_ALL_SEATS = 0b111
_NUM_PHASES = len(Phase)

_HAND, _TALON = OBSERVATION.word("hand"), OBSERVATION.word("talon")
_DISCARDS, _PLAYED = OBSERVATION.word("discards"), OBSERVATION.word("played_me")
_TRICK, _SAID = OBSERVATION.word("trick_me"), OBSERVATION.word("said_me")
_ORDER, _CALLS = OBSERVATION.word("order"), OBSERVATION.word("calls")


def _start(name: str) -> int:
    start: int = OBSERVATION[name].start
    return start


_PHASE, _LEVEL, _STRAIN = _start("phase"), _start("level"), _start("strain")
_OWNER, _FIRST, _TURN = _start("owner"), _start("first_hand"), _start("turn")
_PLAYING, _IS_HELD, _IS_WRITTEN = _start("playing"), _start("is_held"), _start("is_written")
_VOIDS, _LED, _TRICKS = _start("voids_me"), _start("led"), _start("tricks")
_IN_TRICK, _WINNING, _INVITER = _start("in_trick"), _start("winning"), _start("inviter")
_KASSA, _KAPIKIA = _start("kassa_me_high"), _start("kapikia_me_high")
_DEALS_LEFT, _SHOWN = _start("deals_left_high"), _start("shown_card")
_IS_MATCH = _start("is_match")


@njit
def _number(row: npt.NDArray[np.int8], start: int) -> int:
    """A number written as a high byte, times 128, and a low byte."""
    return (int64(row[start]) << 7) + int64(row[start + 1])


@njit
def _recall_cards(s: State, words: Words) -> None:
    s.talon = bits_32(words, _TALON)
    s.discards = bits_32(words, _DISCARDS)
    s.trick = 0
    for seat in range(3):
        s.hands[seat] = bits_32(words, _HAND) if seat == 0 else 0
        s.played[seat] = bits_32(words, _PLAYED + 4 * seat)
        s.trick |= bits_32(words, _TRICK + 4 * seat)
        s.said[seat] = bits_32(words, _SAID + 4 * seat)
    for i in range(4):
        s.order[i] = words[_ORDER + i]


@njit
def _recall_auction(s: State, words: Words, row: npt.NDArray[np.int8]) -> None:
    s.first = hot(row, _FIRST, 3)
    s.dealer = left_of(s.first)
    s.num_calls = 0
    for i in range(MAX_CALLS // 8):
        s.calls[i] = words[_CALLS + i]
    for i in range(MAX_CALLS):
        s.num_calls += (words[_CALLS + (i >> 3)] >> 8 * (i & 7)) & 0xFF != 0
    strain = hot(row, _STRAIN, 5)
    s.bid = 5 * hot(row, _LEVEL, 5) + strain if strain >= 0 else -1
    s.owner = hot(row, _OWNER, 3)
    s.is_held = int64(row[_IS_HELD])
    s.is_written = int64(row[_IS_WRITTEN])
    was_bid = (s.said[0] | s.said[1] | s.said[2]) & _BIDS != 0
    s.active = _ALL_SEATS
    for seat in range(3):
        if s.said[seat] & 1 or (s.said[seat] & _WROTE and was_bid):
            s.active ^= 1 << seat


@njit
def _recall_defence(s: State, row: npt.NDArray[np.int8]) -> None:
    s.playing = int64(row[_PLAYING] | row[_PLAYING + 1] << 1 | row[_PLAYING + 2] << 2)
    s.defence = 0
    if s.owner < 0 or s.phase < _PLAY or s.playing == 0:
        return
    inviter = hot(row, _INVITER, 3)
    right = right_of(s.owner)
    if inviter >= 0:
        s.defence = _RIGHT_INVITES if inviter == right else _LEFT_INVITES
    elif s.playing == _ALL_SEATS:
        s.defence = _BOTH
    else:
        s.defence = _RIGHT_ALONE if s.playing >> right & 1 else _LEFT_ALONE


@njit
def _recall_play(s: State, row: npt.NDArray[np.int8]) -> None:
    is_contract = s.owner >= 0 and s.playing != 0 and s.phase >= _PLAY
    s.trump = int64(SUIT) << 8 * (s.bid % 5) & ALL_CARDS if is_contract else int64(0)
    s.led = suits(row, _LED)
    s.winner = hot(row, _WINNING, 3)
    s.best = s.trick & s.played[s.winner] if s.winner >= 0 else int64(0)
    s.in_trick = int64(row[_IN_TRICK])
    s.num_played = popcount(s.played[0]) + popcount(s.played[1]) + popcount(s.played[2])
    for seat in range(3):
        s.voids[seat] = suits(row, _VOIDS + 4 * seat)
        s.tricks[seat] = int64(row[_TRICKS + seat])
        s.kassa_change[seat] = 0
        s.kapikia_change[seat] = 0
        s.settled_thirds[seat] = 0


@njit
def recall(s: State, words: Words, row: npt.NDArray[np.int8], flags: int) -> None:
    """Fill a record with what an observation tells; hidden cards are left out.

    Args:
        s: any record; all of it is written, `has_aces` and hidden cards as 0.
        words: int64 [O / 8], the words of `row`.
        row: int8 [O], an observation of a deal that is not over.
        flags: `Rules.options`.
    """
    s.phase = hot(row, _PHASE, _NUM_PHASES)
    s.seat = hot(row, _TURN, 3)
    s.options = flags | (_MATCH if row[_IS_MATCH] else 0)
    _recall_cards(s, words)
    _recall_auction(s, words, row)
    _recall_defence(s, row)
    _recall_play(s, row)
    s.has_aces = 0
    for seat in range(3):
        s.kassa[seat] = _number(row, _KASSA + 2 * seat)
        s.kapikia[seat] = _number(row, _KAPIKIA + 2 * seat)
    s.deals_left = _number(row, _DEALS_LEFT)
    s.shown_card = int64(row[_SHOWN])


@njit
def _recall_all(
    tables: npt.NDArray[Any], words: Words, rows: npt.NDArray[np.int8], flags: int
) -> None:
    for i in range(tables.shape[0]):
        recall(tables[i], words[i], rows[i], flags)


def recall_tables(observations: Observations, flags: int) -> npt.NDArray[Any]:
    """State records [B] of observations int8 [B, O], hidden cards left out.

    Raises ValueError for observations of another layout.
    """
    rows = np.ascontiguousarray(observations, np.int8)
    if rows.ndim != 2 or rows.shape[1] != OBSERVATION.size:
        raise ValueError(
            f"observations must be int8 [B, {OBSERVATION.size}], not {list(rows.shape)}"
        )
    tables = np.zeros(len(rows), DTYPE)
    _recall_all(tables, rows.view(np.int64), rows, flags)
    return tables
