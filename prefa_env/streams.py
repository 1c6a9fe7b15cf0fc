"""Random numbers as pure functions of keys: same key, same numbers, whatever the order of calls.

A key is a uint64 mixed from a seed and numbers such as (table, deal) or (deal, seat, decision), so
streams are independent of batch sizes, of the order of work and of processes. The mixing function
is that of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
2014). Interpreted, numpy may warn of the intended overflow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._jit import njit
from .bits import nth_bit, popcount
from .words import int64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_11, _30, _27, _31, _32 = (np.uint64(n) for n in (11, 30, 27, 31, 32))


@njit
def mix(key: np.uint64) -> np.uint64:
    """Scramble a uint64: neighbouring keys give unrelated results."""
    z = key + _GOLDEN
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@njit
def derive_key(key: np.uint64, number: int) -> np.uint64:
    """The key of sub-stream `number` of a stream."""
    return mix(key ^ mix(np.uint64(number)))


@njit
def below(word: np.uint64, n: int) -> int:
    """A number of 0..n-1 from the upper 32 bits of a random word."""
    return int64(((word >> _32) * np.uint64(n)) >> _32)


@njit
def to_unit(word: np.uint64) -> float:
    """A number of [0, 1) from the upper 53 bits of a random word."""
    return int64(word >> _11) * 2.0**-53


@njit
def shuffle(deck: npt.NDArray[np.int8], key: np.uint64) -> None:
    """Fill int8 [n] with a random permutation of 0..n-1 (Fisher-Yates)."""
    for i in range(deck.shape[0]):
        key = key + _GOLDEN
        j = below(mix(key), i + 1)
        deck[i] = deck[j]
        deck[j] = i


@njit
def draw_deck(
    deck: npt.NDArray[np.int8], key: np.uint64, table: int, deal: int, num_seats: int
) -> int:
    """Fill int8 [cards] with the deck of one deal, and return its dealer.

    Args:
        key: the seed.
        table, deal: number of the table, and of the deal at it, both from 0.
    """
    deal_key = derive_key(derive_key(key, table), deal)
    shuffle(deck, deal_key)
    return int64(derive_key(deal_key, 1) % np.uint64(num_seats))


@njit
def random_bit(bits: int, word: np.uint64) -> int:
    """Position of a uniformly chosen set bit; `bits` must not be 0."""
    return nth_bit(bits, below(word, popcount(bits)))


@njit
def _fill_keys(
    key: np.uint64, rows: npt.NDArray[np.int64], number: int, out: npt.NDArray[np.uint64]
) -> None:
    for i in range(rows.shape[0]):
        out[i] = derive_key(derive_key(key, int64(rows[i])), number)


def derive_keys(seed: int, rows: npt.NDArray[np.int64], number: int) -> npt.NDArray[np.uint64]:
    """uint64 [B]: for each row, the key of (seed, row, number)."""
    out = np.empty(rows.shape[0], np.uint64)
    _fill_keys(np.uint64(seed), rows, number, out)
    return out
