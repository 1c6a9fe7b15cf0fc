"""Observations as numbers: each row of bytes becomes a record of bit sets and indices.

Seats are relative to the row's own: 0 me, 1 next, 2 after; -1 nobody. Suits are sets of cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.layout import Ints3, Record, record_dtype
from prefa_env.prefa import OBSERVATION
from prefa_env.prefa.rules import ALL_CARDS, NUM_ACTIONS, SUIT, Phase
from prefa_env.words import Words, int64

from ..agent import Masks, Observations


class View(Record):
    """What a seat knows, as far as the rule player uses it."""

    legal: int  # actions
    phase: int
    hand: int
    discards: int
    unseen: int
    trick: Ints3  # the card of each seat in the unfinished trick
    voids: Ints3
    is_misere: int
    rung: int  # of the standing bid, then of the contract; -1: none
    trump: int  # 0: none
    owner: int  # of the bid or the *write*, then the declarer
    playing: int  # seats, as bits
    is_written: int
    said_next: int  # calls, as in the observation
    said_after: int
    led: int
    winning: int
    in_trick: int


DTYPE = record_dtype(View)

_HAND, _DISCARDS = OBSERVATION.word("hand"), OBSERVATION.word("discards")
_UNSEEN, _TRICK = OBSERVATION.word("unseen"), OBSERVATION.word("trick_me")
_SAID_NEXT, _SAID_AFTER = OBSERVATION.word("said_next"), OBSERVATION.word("said_after")


def _start(name: str) -> int:
    start: int = OBSERVATION[name].start
    return start


_PHASE, _NUM_PHASES = _start("phase"), len(Phase)
_IS_MISERE, _LEVEL, _STRAIN = _start("is_misere"), _start("level"), _start("strain")
_OWNER, _PLAYING = _start("owner"), _start("playing")
_IS_WRITTEN, _VOIDS, _LED = _start("is_written"), _start("voids_me"), _start("led")
_WINNING, _IN_TRICK = _start("winning"), _start("in_trick")

_GATHER = 0x0102040810204080
"""Multiplied with eight bytes of 0 or 1 this gathers them as bits in the upper byte."""


@njit
def _bits_8(word: int) -> int:
    return (word * _GATHER) >> 56 & 0xFF


@njit
def bits_32(words: Words, start: int) -> int:
    """32 bytes of 0 or 1 as bits."""
    return (
        _bits_8(words[start])
        | _bits_8(words[start + 1]) << 8
        | _bits_8(words[start + 2]) << 16
        | _bits_8(words[start + 3]) << 24
    )


@njit
def hot(row: npt.NDArray[np.int8], start: int, size: int) -> int:
    """Index of the 1 among `size` bytes; -1 if there is none."""
    for i in range(size):
        if row[start + i] != 0:
            return i
    return -1


@njit
def suits(row: npt.NDArray[np.int8], start: int) -> int:
    """Four bytes, one a suit, as a set of cards."""
    cards = int64(0)
    for suit in range(4):
        if row[start + suit] != 0:
            cards |= int64(SUIT) << 8 * suit
    return cards


@njit
def read_view(v: View, words: Words, row: npt.NDArray[np.int8]) -> None:
    """Fill a view, all but its legal actions, from an observation: its words, its bytes."""
    v.phase = hot(row, _PHASE, _NUM_PHASES)
    v.hand = bits_32(words, _HAND)
    v.discards = bits_32(words, _DISCARDS)
    v.unseen = bits_32(words, _UNSEEN)
    for seat in range(3):
        v.trick[seat] = bits_32(words, _TRICK + 4 * seat)
        v.voids[seat] = suits(row, _VOIDS + 4 * seat)
    v.is_misere = int64(row[_IS_MISERE])
    strain = hot(row, _STRAIN, 5)
    v.rung = 5 * hot(row, _LEVEL, 5) + strain if strain >= 0 else -1
    v.trump = int64(SUIT) << 8 * strain & ALL_CARDS if strain >= 0 else int64(0)
    v.owner = hot(row, _OWNER, 3)
    v.playing = int64(row[_PLAYING] | row[_PLAYING + 1] << 1 | row[_PLAYING + 2] << 2)
    v.is_written = int64(row[_IS_WRITTEN])
    v.said_next = bits_32(words, _SAID_NEXT)
    v.said_after = bits_32(words, _SAID_AFTER)
    v.led = suits(row, _LED)
    v.winning = hot(row, _WINNING, 3)
    v.in_trick = int64(row[_IN_TRICK])


@njit
def _decode_all(
    views: npt.NDArray[Any], words: Words, rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]
) -> None:
    for i in range(views.shape[0]):
        legal = int64(0)
        for action in range(masks.shape[1]):
            legal |= int64(masks[i, action]) << action
        views[i].legal = legal
        read_view(views[i], words[i], rows[i])


def decode(observations: Observations, action_masks: Masks) -> npt.NDArray[Any]:
    """`View` records [B]. Raises ValueError for observations of another layout."""
    rows = np.ascontiguousarray(observations, np.int8)
    masks = np.ascontiguousarray(action_masks, np.int8)
    if rows.shape != (len(rows), OBSERVATION.size) or masks.shape != (len(rows), NUM_ACTIONS):
        raise ValueError(
            f"observations must be int8 [B, {OBSERVATION.size}] with masks [B, {NUM_ACTIONS}], "
            f"not {list(rows.shape)} and {list(masks.shape)}"
        )
    views = np.zeros(len(rows), DTYPE)
    _decode_all(views, rows.view(np.int64), rows, masks)
    return views
