"""Counting and finding the ones of int64 bit sets that are not negative."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._jit import njit
from .words import int64, ints

# Of the lower seven bytes: their lowest bits, their highest bits, and all.
_LOW_BITS = int64(0x0001010101010101)
_HIGH_BITS = int64(0x0080808080808080)
_BYTES = int64(0x00FFFFFFFFFFFFFF)

_SELECT = ints(
    [
        [([p for p in range(8) if byte >> p & 1] + [0] * 8)[n] for n in range(8)]
        for byte in range(256)
    ]
)
"""Position of the n-th set bit of a byte, at `8 * byte + n`."""


@njit
def popcount(bits: int) -> int:
    """Number of ones of an int64 that is not negative."""
    count = 0
    while bits:  # LLVM knows this loop and makes one instruction of it
        bits &= bits - 1
        count += 1
    return count


@njit
def nth_bit(bits: int, n: int) -> int:
    """Position of the n-th set bit, counted from 0, without branches (Vigna 2008, "broadword")."""
    x = bits - ((bits >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    sums = int64((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F)
    sums += sums << 8
    sums += sums << 16
    sums += sums << 32  # byte i: ones in bytes 0..i
    # High bits of the bytes with not more than n; the last byte has more, so seven will do.
    full = ((n * _LOW_BITS | _HIGH_BITS) - (sums & _BYTES)) & _HIGH_BITS
    place = popcount(full) * 8
    before = (sums << 8 >> place) & 0xFF
    return place + _SELECT[((bits >> place) & 0xFF) * 8 + n - before]


@njit
def popcounts(bits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64 [B]: number of ones of each entry, none of them negative."""
    out = np.empty(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        out[i] = popcount(int64(bits[i]))
    return out
