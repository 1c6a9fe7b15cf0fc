"""Random numbers: the same for the same key, uniform, and bits picked rightly."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from prefa_env.bits import nth_bit, popcount
from prefa_env.streams import below, derive_key, mix, random_bit, shuffle

# Interpreted, numpy warns of the overflow that the mixing wants.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

M64 = (1 << 64) - 1


def split_mix(z: int) -> int:
    """SplitMix64's next output after state `z`, in Python's own integers."""
    z = z + 0x9E3779B97F4A7C15 & M64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def key_of(*numbers: int) -> np.uint64:
    """A key derived from a seed and numbers; compiled functions return plain integers."""
    key = np.uint64(numbers[0])
    for number in numbers[1:]:
        key = np.uint64(derive_key(key, number))
    return key


def sets_of_bits() -> list[int]:
    rng = random.Random(1)
    some = [rng.getrandbits(63) & rng.getrandbits(63) for _ in range(150)]
    some += [rng.getrandbits(62) for _ in range(150)]
    return [1, 1 << 62, (1 << 63) - 1, 0x7F, 0x80, *(1 << n for n in range(63)), *some]


def test_mix_is_split_mix() -> None:
    assert int(mix(np.uint64(0))) == 0xE220A8397B1DCDAF  # first output of its published code
    rng = random.Random(2)
    for _ in range(200):
        key = rng.getrandbits(64)
        assert int(mix(np.uint64(key))) == split_mix(key)


def test_derived_keys() -> None:
    rng = random.Random(3)
    for number in [0, 1, 2, 10**6, 2**62]:
        key = rng.getrandbits(64)
        assert int(key_of(key, number)) == split_mix(key ^ split_mix(number))
    # a function of seed and numbers alone: whatever was derived in between
    forwards = [int(key_of(7, i)) for i in range(500)]
    backwards = [int(key_of(7, i)) for i in reversed(range(500))]
    assert forwards == backwards[::-1]
    # all different, chains of two numbers in either order too
    pairs = [int(key_of(7, i, j)) for i in range(60) for j in range(60)]
    assert len({*pairs, *forwards}) == len(pairs) + len(forwards)


def test_bits() -> None:
    for bits in [0, *sets_of_bits()]:
        positions = [place for place in range(64) if bits >> place & 1]
        assert popcount(bits) == len(positions)
        assert [nth_bit(bits, n) for n in range(len(positions))] == positions


def test_below() -> None:
    rng = random.Random(4)
    for n in [1, 2, 3, 32, 62]:
        assert below(np.uint64(0), n) == 0
        assert below(np.uint64(M64), n) == n - 1
        for _ in range(100):
            word = rng.getrandbits(64)
            assert below(np.uint64(word), n) == (word >> 32) * n >> 32


def critical(degrees: int) -> float:
    """Chi-square that chance passes about once in 30,000 times (Wilson and Hilferty)."""
    c = 2 / (9 * degrees)
    return float(degrees * (1 - c + 4 * math.sqrt(c)) ** 3)


def test_random_bit_is_uniform() -> None:
    for bits in [0b1, 0b1011, (1 << 62) - 1, 1 << 61 | 1 << 33 | 1]:
        positions = [place for place in range(64) if bits >> place & 1]
        number = 300 * len(positions)
        counts = Counter(int(random_bit(bits, key_of(5, i))) for i in range(number))
        assert set(counts) == set(positions)
        chi_square = sum((counts[place] - 300) ** 2 / 300 for place in positions)
        assert chi_square <= critical(max(1, len(positions) - 1))


def test_shuffle_is_a_function_of_its_key() -> None:
    one, other = np.zeros(32, np.int8), np.full(32, 9, np.int8)
    shuffle(one, np.uint64(11))
    shuffle(other, np.uint64(11))
    assert one.tolist() == other.tolist()
    shuffle(other, np.uint64(12))
    assert one.tolist() != other.tolist()


def test_shuffle_is_uniform() -> None:
    # all orders of four cards
    orders: Counter[tuple[int, ...]] = Counter()
    deck = np.zeros(4, np.int8)
    for i in range(24 * 200):
        shuffle(deck, key_of(6, i))
        orders[tuple(deck.tolist())] += 1
    assert len(orders) == 24
    assert sum((count - 200) ** 2 / 200 for count in orders.values()) < critical(23)
    # every card in every place of a whole pack
    places = np.zeros((32, 32))
    deck = np.zeros(32, np.int8)
    for i in range(32 * 100):
        shuffle(deck, key_of(8, i))
        assert sorted(deck.tolist()) == list(range(32))
        places[np.arange(32), deck] += 1
    assert ((places - 100) ** 2 / 100).sum() < critical(31 * 31)
