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
from .words import int64, ints

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _56 = (np.uint64(n) for n in (30, 27, 31, 32, 56))
_LOW_BITS = int64(0x0101010101010101)
_HIGH_BITS = int64(-0x7F7F7F7F7F7F7F80)

_SELECT = ints(
    [
        [([p for p in range(8) if byte >> p & 1] + [0] * 8)[n] for n in range(8)]
        for byte in range(256)
    ]
)
"""Position of the n-th set bit of a byte, at `8 * byte + n`."""


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
def popcount(bits: int) -> int:
    """Number of ones of an int64 that is not negative."""
    x = bits - ((bits >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    return (((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F) * _LOW_BITS) >> 56


@njit
def nth_bit(bits: int, n: int) -> int:
    """Position of the n-th set bit, counted from 0, without branches (Vigna 2008, "broadword")."""
    x = bits - ((bits >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    sums = ((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F) * _LOW_BITS  # byte i: ones in bytes 0..i
    full = ((n * _LOW_BITS | _HIGH_BITS) - sums) & _HIGH_BITS  # high bit where that is <= n
    place = popcount((full >> 7) & _LOW_BITS) * 8
    before = (sums << 8 >> place) & 0xFF
    return place + _SELECT[((bits >> place) & 0xFF) * 8 + n - before]


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


@njit
def popcounts(bits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64 [B]: number of ones of each entry, none of them negative."""
    out = np.empty(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        out[i] = popcount(int64(bits[i]))
    return out
