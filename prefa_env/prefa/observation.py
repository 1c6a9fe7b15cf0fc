"""What a seat sees of a table, written as bytes: 64 bits at a time, from the declared layout.

The words are little-endian, as on every machine that Numba compiles for.
"""

from __future__ import annotations

from .._jit import njit
from ..words import Words, expand_32, int64, ints, one_hot
from .kernel import inviter, left_of, right_of
from .rules import (
    ALL_CARDS,
    NUM_RUNGS,
    OWED_ALONE,
    OWED_LEFT,
    OWED_RIGHT,
    OWED_TOGETHER,
    Defence,
    Flag,
    Phase,
)
from .scoring import value
from .state import MAX_CALLS, OBSERVATION, STATE, State

_AUCTION, _PLAY = int(Phase.AUCTION), int(Phase.PLAY)
_MATCH = int(Flag.MATCH)
_VOID_BITS = 0x01010101  # the lowest card of each suit, one bit a byte

_HAND = OBSERVATION.word("hand")
_TALON = OBSERVATION.word("talon")
_DISCARDS = OBSERVATION.word("discards")
_PLAYED = OBSERVATION.word("played_me")
_TRICK = OBSERVATION.word("trick_me")
_UNSEEN = OBSERVATION.word("unseen")
_SAID = OBSERVATION.word("said_me")
_ORDER = OBSERVATION.word("order")
_CALLS = OBSERVATION.word("calls")
_NUM_CALL_WORDS = MAX_CALLS // 8
_PHASE_WORD = OBSERVATION.word("phase")
_LEVEL_WORD = OBSERVATION.word("level")
_STRAIN_WORD = OBSERVATION.word("strain")
_TURN_WORD = OBSERVATION.word("turn")
_VOIDS_WORD = OBSERVATION.word("voids_me")
_TRICKS_WORD = OBSERVATION.word("tricks")
_KASSA_WORD = OBSERVATION.word("kassa_me_high")
_KAPIKIA_WORD = OBSERVATION.word("kapikia_me_high")
_INVITER_WORD = OBSERVATION.word("inviter")
_HIDDEN_HANDS = STATE.word("hand_next")
_HIDDEN_TALON = STATE.word("hidden_talon")
_HIDDEN_DISCARDS = STATE.word("hidden_discards")


_SEAT_HOT = ints([[0] + [1 << 8 * ((seat - me) % 3) for seat in range(3)] for me in range(3)])
_SEATS_HOT = ints(
    [
        sum(1 << 8 * ((seat - me) % 3) for seat in range(3) if seats >> seat & 1)
        for me in range(3)
        for seats in range(8)
    ],
)


_LEVEL_HOT = ints([0] + [1 << 8 * (rung // 5) for rung in range(NUM_RUNGS)])
_STRAIN_HOT = ints([0] + [1 << 8 * (rung % 5) for rung in range(NUM_RUNGS)])


def _owed_row(defence: int, level: int) -> tuple[int, int, int, int]:
    """Tricks owed by the declarer, by right and left for themselves, and by them together."""
    right = left = 0
    together = OWED_TOGETHER[level]
    if defence == Defence.BOTH:
        right, left = OWED_RIGHT[level], OWED_LEFT[level]
    elif defence in (Defence.RIGHT_ALONE, Defence.LEFT_ALONE):
        together = OWED_ALONE[level]
    return 6 + level, right, left, together


_OWED = ints(
    [(0, 0, 0, 0)] + [_owed_row(defence, level) for defence in Defence for level in range(5)],
)
"""At `4 * (1 + 5 * defence + level)`; the first row is for everything but contracts in play."""


@njit
def _seat_hot(seat: int, me: int) -> int:
    """One-hot of a seat relative to `me` as three bytes; 0 for nobody (-1)."""
    return _SEAT_HOT[4 * me + 1 + seat]


@njit
def _seats_hot(seats: int, me: int) -> int:
    """Bits of seats as three bytes, relative to `me`."""
    return _SEATS_HOT[8 * me + seats]


@njit
def _two_bytes(number: int) -> int:
    """A number as high byte (times 128) and low byte."""
    clipped = min(max(number, -16384), 16383)
    return clipped >> 7 & 0xFF | (clipped & 0x7F) << 8


@njit
def _owed(s: State, me: int) -> int:
    """Tricks still owed by me, next, after, and by the defence together, as four bytes (D4)."""
    row = 1 + 5 * s.defence + s.bid // 5 if (s.phase == _PLAY) & (s.owner >= 0) else 0
    declarer = max(s.owner, 0)
    right, left = right_of(declarer), left_of(declarer)
    at_right, at_left = s.tricks[right], s.tricks[left]
    return (
        max(_OWED[4 * row] - s.tricks[declarer], 0) * _seat_hot(declarer, me)
        | max(_OWED[4 * row + 1] - at_right, 0) * _seat_hot(right, me)
        | max(_OWED[4 * row + 2] - at_left, 0) * _seat_hot(left, me)
        | max(_OWED[4 * row + 3] - at_right - at_left, 0) << 24
    )


@njit
def _write_cards(s: State, me: int, out: Words) -> None:
    is_declarer = s.phase != _AUCTION and s.owner == me
    talon = s.talon if is_declarer else int64(0)
    discards = s.discards if is_declarer else int64(0)
    played = s.played[0] | s.played[1] | s.played[2]
    expand_32(out, _HAND, s.hands[me])
    expand_32(out, _TALON, talon)
    expand_32(out, _DISCARDS, discards)
    expand_32(out, _UNSEEN, ALL_CARDS & ~(s.hands[me] | discards | played))
    seat = me
    for i in range(3):
        expand_32(out, _PLAYED + 4 * i, s.played[seat])
        expand_32(out, _TRICK + 4 * i, s.played[seat] & s.trick)
        expand_32(out, _SAID + 4 * i, s.said[seat])
        seat = right_of(seat)


@njit
def _write_rest(s: State, me: int, out: Words) -> None:
    next_, after = right_of(me), left_of(me)
    is_misere = s.phase == _PLAY and s.owner < 0
    out[_PHASE_WORD] = one_hot(s.phase) | int64(is_misere) << 56
    out[_LEVEL_WORD] = _LEVEL_HOT[s.bid + 1] | _seat_hot(s.owner, me) << 40
    out[_STRAIN_WORD] = _STRAIN_HOT[s.bid + 1] | _seat_hot(s.first, me) << 40
    out[_TURN_WORD] = (
        _seat_hot(s.seat, me)
        | _seats_hot(s.playing, me) << 24
        | s.is_held << 48
        | s.is_written << 56
    )
    out[_VOIDS_WORD] = s.voids[me] & _VOID_BITS | (s.voids[next_] & _VOID_BITS) << 32
    out[_VOIDS_WORD + 1] = s.voids[after] & _VOID_BITS | (s.led & _VOID_BITS) << 32
    num_tricks = s.tricks[0] + s.tricks[1] + s.tricks[2]
    out[_TRICKS_WORD] = (
        s.tricks[me]
        | s.tricks[next_] << 8
        | s.tricks[after] << 16
        | _owed(s, me) << 24
        | num_tricks << 56
    )
    if s.options & _MATCH != 0:
        out[_KASSA_WORD] = (
            _two_bytes(s.kassa[me])
            | _two_bytes(s.kassa[next_]) << 16
            | _two_bytes(s.kassa[after]) << 32
            | _two_bytes(s.deals_left) << 48
        )
        out[_KAPIKIA_WORD] = (
            _two_bytes(s.kapikia[me])
            | _two_bytes(s.kapikia[next_]) << 16
            | _two_bytes(s.kapikia[after]) << 32
            | s.shown_card << 48
            | int64(1) << 56
        )
    else:
        out[_KASSA_WORD] = 0
        out[_KAPIKIA_WORD] = 0
    out[_INVITER_WORD] = (
        _seat_hot(inviter(s), me)
        | _seat_hot(s.winner, me) << 24
        | (0 if s.bid < 0 else value(s.options, s.bid)) << 48
        | s.in_trick << 56
    )


@njit
def observe(s: State, me: int, out: Words) -> None:
    """Write what seat `me` knows of the table.

    Args:
        me: 0..2, whether it is his turn or not.
        out: int64 [O / 8], the words of an int8 [O] row of `state.OBSERVATION`.
    """
    _write_cards(s, me, out)
    for i in range(4):
        out[_ORDER + i] = s.order[i]
    for i in range(_NUM_CALL_WORDS):
        out[_CALLS + i] = s.calls[i]
    _write_rest(s, me, out)


@njit
def observe_all(s: State, out: Words) -> None:
    """Write the whole table as the seat to act would see it with nothing hidden.

    When the deal is over it is seen from seat 0.

    Args:
        out: int64 [P / 8], the words of an int8 [P] row of `state.STATE`.
    """
    me = max(s.seat, 0)
    observe(s, me, out)
    expand_32(out, _HIDDEN_HANDS, s.hands[right_of(me)])
    expand_32(out, _HIDDEN_HANDS + 4, s.hands[left_of(me)])
    expand_32(out, _HIDDEN_TALON, s.talon)
    expand_32(out, _HIDDEN_DISCARDS, s.discards)
