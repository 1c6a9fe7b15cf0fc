"""Counting and finding the ones of int64 bit sets that are not negative.

Interpreted, numpy may warn of the intended overflow.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._jit import njit
from .words import int64, ints

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
def popcount(bits: int) -> int:
    """Number of ones of an int64 that is not negative."""
    x = bits - ((bits >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    # The mask changes nothing; with it LLVM sees the pattern and takes the processor's own count.
    return (((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F) * _LOW_BITS) >> 56 & 0xFF


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
def popcounts(bits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64 [B]: number of ones of each entry, none of them negative."""
    out = np.empty(bits.shape[0], np.int64)
    for i in range(bits.shape[0]):
        out[i] = popcount(int64(bits[i]))
    return out
