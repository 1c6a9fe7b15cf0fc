"""Bit sets written as bytes of 0 and 1, eight at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
import numpy.typing as npt

from ._jit import njit

Words = npt.NDArray[np.int64]

if TYPE_CHECKING:

    class Ints(np.ndarray[Any, np.dtype[np.int64]]):
        """A row of int64 whose entries are plain integers to type checkers."""

        @overload  # type: ignore[override]
        def __getitem__(self, index: int) -> int: ...
        @overload
        def __getitem__(self, index: slice) -> Ints: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def int64(value: int | np.integer[Any]) -> int:
        """`numpy.int64`, a plain integer to type checkers."""

else:
    Ints = np.ndarray
    int64 = np.int64


def ints(values: npt.ArrayLike) -> Ints:
    """A table of numbers for compiled code, flat."""
    return cast("Ints", np.array(values, np.int64).ravel())


@njit
def zeros(size: int) -> Ints:
    """A row of zeros, in compiled code."""
    return np.zeros(size, np.int64)  # type: ignore[return-value]


_BYTES = ints((np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.uint8).view("<i8"))
"""For each byte, its eight bits as the eight bytes of a little-endian 64-bit word."""


@njit
def expand_32(words: Words, start: int, bits: int) -> None:
    """Write 32 bits as 32 bytes from word `start` on."""
    words[start] = _BYTES[bits & 0xFF]
    words[start + 1] = _BYTES[bits >> 8 & 0xFF]
    words[start + 2] = _BYTES[bits >> 16 & 0xFF]
    words[start + 3] = _BYTES[bits >> 24 & 0xFF]


@njit
def expand_64(words: Words, bits: int) -> None:
    """Write 64 bits as 64 bytes."""
    expand_32(words, 0, bits)
    expand_32(words, 4, bits >> 32)


@njit
def put_byte(words: Words, index: int, value: int) -> None:
    """Set byte `index` of a row of words, which must be 0 so far, to 0..127."""
    words[index >> 3] |= int64(value) << 8 * (index & 7)


@njit
def one_hot(index: int) -> int:
    """A word whose byte `index` (0..7) is 1; 0 for -1."""
    return int64(1) << 8 * index if index >= 0 else int64(0)
