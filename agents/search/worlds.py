"""Worlds: the hidden cards dealt as they may lie, given all that a seat has seen.

Hard facts are never broken: how many cards each holds, suits shown void (who neither follows nor
trumps has none of either), cards played, own discards and talon, a card that first hand has shown.
All deals that fit are equally likely. They are drawn from a count of them, suit by suit, so nothing
is tried and thrown away, save where a card was shown: in the first deal of some matches.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import nth_bit, popcount
from prefa_env.prefa.kernel import is_as_shown, note_aces
from prefa_env.prefa.rules import ALL_CARDS, PACK, SUIT, Phase
from prefa_env.prefa.state import State
from prefa_env.streams import below, derive_key, mix, to_unit
from prefa_env.words import int64

Cards = npt.NDArray[np.int64]
"""int64 [N, 4], a row a world: cards of the next seat and of the one after, talon, discards."""

NEXT, AFTER, TALON, DISCARDS = range(4)

_MOST_TRIES = 100_000
"""Worlds drawn before none is found to hold a card that was shown; one in hundreds does."""

_AUCTION = int(Phase.AUCTION)
_SUITS, _WIDTH, _HAND_SIZE = 4, 8, PACK.hand_size
_COMB = np.array([[comb(n, k) for k in range(_WIDTH + 1)] for n in range(_WIDTH + 1)], np.float64)


@njit
def unseen_cards(s: State) -> int:
    """The cards that seat 0 of a recalled table has not seen."""
    return ALL_CARDS & ~(s.hands[0] | s.discards | s.played[0] | s.played[1] | s.played[2])


@njit
def _suit_of(cards: int, suit: int) -> int:
    return cards & (int64(SUIT) << _WIDTH * suit)


@njit
def _most(s: State, seat: int, suit: int, count: int) -> int:
    """How many of `count` hidden cards of a suit a seat may hold."""
    return 0 if _suit_of(s.voids[seat], suit) else count


@njit
def _count_ways(s: State, ways: npt.NDArray[np.float64]) -> None:
    """Write, for suits from each one on, the ways to deal them when `a` and `b` cards are missing.

    `ways` float64 [5, 11, 11]: suit, cards missing to the next seat, and to the one after.
    """
    unseen = unseen_cards(s)
    ways[:] = 0
    ways[_SUITS, 0, 0] = 1
    for suit in range(_SUITS - 1, -1, -1):
        count = popcount(_suit_of(unseen, suit))
        for a in range(_HAND_SIZE + 1):
            for b in range(_HAND_SIZE + 1):
                total = 0.0
                for i in range(min(a, _most(s, 1, suit, count)) + 1):
                    for j in range(min(b, _most(s, 2, suit, count - i)) + 1):
                        total += (
                            _COMB[count, i] * _COMB[count - i, j] * ways[suit + 1, a - i, b - j]
                        )
                ways[suit, a, b] = total


@njit
def _draw_split(
    s: State, ways: npt.NDArray[np.float64], suit: int, count: int, a: int, b: int, word: np.uint64
) -> tuple[int, int]:
    """How many of a suit go to the next seat and to the one after."""
    left = ways[suit, a, b] * to_unit(word)
    best_i, best_j = 0, 0
    for i in range(min(a, _most(s, 1, suit, count)) + 1):
        for j in range(min(b, _most(s, 2, suit, count - i)) + 1):
            weight = _COMB[count, i] * _COMB[count - i, j] * ways[suit + 1, a - i, b - j]
            if weight > 0:
                best_i, best_j = i, j
                left -= weight
                if left < 0:
                    return i, j
    return best_i, best_j  # what rounding left over goes to the last way there is


@njit
def _draw_world(
    s: State, ways: npt.NDArray[np.float64], key: np.uint64, world: npt.NDArray[np.int64]
) -> None:
    unseen = unseen_cards(s)
    missing_next = _HAND_SIZE - popcount(s.played[1])
    missing_after = _HAND_SIZE - popcount(s.played[2])
    hand_next, hand_after, rest = int64(0), int64(0), int64(0)
    number = 0
    for suit in range(_SUITS):
        cards = _suit_of(unseen, suit)
        count = popcount(cards)
        word = mix(derive_key(key, number))
        number += 1
        i, j = _draw_split(s, ways, suit, count, missing_next, missing_after, word)
        missing_next -= i
        missing_after -= j
        while cards:
            card = cards & -cards
            cards ^= card
            n = below(mix(derive_key(key, number)), count)
            number += 1
            count -= 1
            if n < i:
                hand_next |= card
                i -= 1
            elif n < i + j:
                hand_after |= card
                j -= 1
            else:
                rest |= card
    world[NEXT], world[AFTER] = hand_next, hand_after
    world[TALON], world[DISCARDS] = s.talon, s.discards
    if s.phase == _AUCTION or s.owner < 0:
        world[TALON] = rest
    elif s.owner > 0:
        world[DISCARDS] = rest
        twelve = (hand_next if s.owner == 1 else hand_after) | s.played[s.owner] | rest
        first = int64(1) << nth_bit(twelve, below(mix(derive_key(key, number)), 12))
        second = nth_bit(twelve ^ first, below(mix(derive_key(key, number + 1)), 11))
        world[TALON] = first | int64(1) << second


@njit_called
def draw_worlds(s: State, key: np.uint64, worlds: Cards) -> bool:
    """Fill `worlds` with independent worlds; False if no deal fits what the seat has seen.

    Args:
        s: a recalled table (see `recall`).
        key: the only source of chance; a world depends on it and on its row alone.
        worlds: int64 [N, 4].
    """
    ways = np.empty((_SUITS + 1, _HAND_SIZE + 1, _HAND_SIZE + 1), np.float64)
    _count_ways(s, ways)
    missing_next = _HAND_SIZE - popcount(s.played[1])
    missing_after = _HAND_SIZE - popcount(s.played[2])
    if missing_next < 0 or missing_after < 0 or ways[0, missing_next, missing_after] == 0:
        return False
    for n in range(worlds.shape[0]):
        world_key = derive_key(key, n)
        _draw_world(s, ways, world_key, worlds[n])
        tries = 1
        while not _is_world_as_shown(s, worlds[n]):
            if tries == _MOST_TRIES:
                return False
            _draw_world(s, ways, derive_key(world_key, tries), worlds[n])
            tries += 1
    return True


@njit
def _is_world_as_shown(s: State, world: npt.NDArray[np.int64]) -> bool:
    hand = s.hands[0] if s.first == 0 else world[NEXT] if s.first == 1 else world[AFTER]
    return is_as_shown(s, hand, world[TALON], world[DISCARDS])


@njit
def enter_world(s: State, world: npt.NDArray[np.int64]) -> None:
    """Put the hidden cards of a world into a recalled table."""
    s.hands[1] = world[NEXT]
    s.hands[2] = world[AFTER]
    s.talon = world[TALON]
    s.discards = world[DISCARDS]
    if s.owner >= 0 and s.phase != _AUCTION:
        note_aces(s)
