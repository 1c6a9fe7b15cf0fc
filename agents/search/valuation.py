"""What actions are worth in sampled worlds, solved with open cards."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit, njit_called
from prefa_env.bits import popcount
from prefa_env.prefa.kernel import beneficiary, left_of, legal_actions, pay, right_of, step
from prefa_env.prefa.rules import NUM_CARDS, SUIT, Defence
from prefa_env.prefa.state import State
from prefa_env.solver.payment import settle, tricks_to_come
from prefa_env.words import Ints, Words, int64

from ..heuristic.hand import Style, Tables
from ..heuristic.view import View
from .model import OBSERVATION_WORDS, bid_on
from .worlds import Cards, enter_world

_NOBODY = int(Defence.NOBODY)
_ALL_SEATS = 0b111
_WIDTH = NUM_CARDS // 4  # cards a suit

Payments = npt.NDArray[np.float64]


@njit
def _is_equal(s: State, low: int, high: int) -> bool:
    """Whether two cards of the seat to act, low and high, are worth the same to everyone."""
    suit = int64(SUIT) << (popcount(low - 1) // _WIDTH * _WIDTH)
    between = suit & (high - 1) & -(low << 1)
    others = (s.hands[0] | s.hands[1] | s.hands[2] | s.trick) & ~s.hands[s.seat]
    return high & suit != 0 and between & others == 0


@njit
def _payment(
    table: Ints, scratch: Ints, tables: npt.NDArray[Any], viewer: int, by_tricks: bool
) -> int:
    """Settled thirds of a viewer at the end of `tables[0]`, or tricks to his advantage."""
    s = tables[0]
    if by_tricks:
        declarer = s.owner if s.owner >= 0 else viewer
        taken = s.tricks[declarer]
        if s.seat >= 0:
            taken += tricks_to_come(table, scratch, s, viewer)
        return int64(taken if viewer == s.owner else -taken)
    settle(table, scratch, tables, viewer)
    return int64(s.settled_thirds[viewer])


@njit_called
def add_cards(
    table: Ints,
    scratch: Ints,
    tables: npt.NDArray[Any],
    by_tricks: bool,
    weight: int,
    sums: npt.NDArray[np.int64],
) -> None:
    """Add what each playable card of `tables[2]` brings to whom the seat to act plays for.

    Args:
        table, scratch: of a solver's `Memory`.
        tables: State records [3]: two of scratch, one in play with all hands known.
        by_tricks: count tricks instead of money.
        weight: what the numbers are multiplied with.
        sums: int64 [32], thirds of kapikia (or tricks); only playable cards are touched.
    """
    s = tables[2]
    viewer = beneficiary(s)
    cards = legal_actions(s)
    last = int64(0)
    worth = int64(0)
    while cards:
        bit = cards & -cards
        cards ^= bit
        card = popcount(bit - 1)
        if last == 0 or not _is_equal(s, last, bit):
            tables[0] = tables[2]
            step(tables[0], card)
            worth = _payment(table, scratch, tables, viewer, by_tricks)
        sums[card] += weight * worth
        last = bit


@njit_called
def value_cards(
    table: Ints,
    scratch: Ints,
    seen: State,
    worlds: Cards,
    counts: npt.NDArray[np.int64],
    by_tricks: bool,
    tables: npt.NDArray[Any],
    sums: npt.NDArray[np.int64],
) -> None:
    """Add up over worlds what each playable card brings to whom seat 0 plays for.

    Args:
        table, scratch: of a solver's `Memory`.
        seen: a recalled table, seat 0 to play a card.
        worlds, counts: int64 [N, 4] and how often each counts, int64 [N].
        by_tricks, tables, sums: as for `add_cards`; all of `tables` is scratch.
    """
    for n in range(worlds.shape[0]):
        tables[2] = seen
        enter_world(tables[2], worlds[n])
        add_cards(table, scratch, tables, by_tricks, counts[n], sums)


@njit_called
def value_worlds(
    table: Ints,
    scratch: Ints,
    seen: State,
    worlds: Cards,
    tables: npt.NDArray[Any],
    values: npt.NDArray[np.int64],
) -> None:
    """Write what each playable card brings in each world to whom seat 0 plays for.

    Args:
        table, scratch, seen, tables: as for `value_cards`.
        worlds: int64 [N, 4].
        values: int64 [N, 32], thirds of kapikia; 0 for other cards.
    """
    values[:] = 0
    for n in range(worlds.shape[0]):
        tables[2] = seen
        enter_world(tables[2], worlds[n])
        add_cards(table, scratch, tables, False, 1, values[n])


_SLIPS = (0.07, 0.55, 0.29, 0.09)
_SLIPS_ALONE = (0.10, 0.79, 0.10, 0.01)
"""How often a declarer who is not seen takes one trick less than with open cards, as many, one and
two more, against two defenders and against one: `heuristic` and `pimc:10`, 3,400 deals. Two who do
not see each other's cards give away 0.4 tricks; one alone gives away nothing."""


@njit
def expected_payment(tables: npt.NDArray[Any], viewer: int) -> float:
    """Settled kapikia of a viewer at the end of `tables[0]` if players slip as they do.

    A trick more for the declarer comes from either defender with the same chance.
    """
    s, other = tables[0], tables[1]
    if s.owner < 0 or s.defence == _NOBODY:
        return float(s.settled_thirds[viewer] / 3)
    right, left = right_of(s.owner), left_of(s.owner)
    slips = _SLIPS_ALONE if s.playing != _ALL_SEATS else _SLIPS
    total = 0.0
    for slip in range(4):
        more = min(max(slip - 1, -s.tricks[s.owner]), s.tricks[right] + s.tricks[left])
        for first, second in ((right, left), (left, right)):
            tables[1] = tables[0]
            given = min(more, s.tricks[first])
            other.tricks[first] -= given
            other.tricks[second] -= more - given
            other.tricks[s.owner] += more
            pay(other)
            total += slips[slip] * other.settled_thirds[viewer]
    return float(total / 6)


@njit_called
def value_word(
    table: Ints,
    scratch: Ints,
    t: Tables,
    style: Style,
    tables: npt.NDArray[Any],
    view: View,
    words: Words,
    action: int,
) -> float:
    """What an action before the first card brings to the seat to act at `tables[0]`, in kapikia.

    From the action on all seats bid, discard and defend as the model does; the cards are solved.

    Args:
        table, scratch: of a solver's `Memory`.
        t, style: the model.
        tables: State records [2]: one with all hands known; scratch.
        view, words: scratch, as for `model.decide`.
        action: a legal one.
    """
    seat = tables[0].seat
    step(tables[0], action)
    bid_on(t, style, tables[0], view, words)
    settle(table, scratch, tables, seat)
    return expected_payment(tables, seat)


@njit_called
def value_actions(
    table: Ints,
    scratch: Ints,
    t: Tables,
    style: Style,
    seen: State,
    worlds: Cards,
    actions: npt.NDArray[np.int64],
    tables: npt.NDArray[Any],
    view: View,
    payments: Payments,
) -> None:
    """Write what each action before the first card brings to seat 0 in each world, in kapikia.

    From the action on all seats bid, discard and defend as the model does; the cards are solved.

    Args:
        table, scratch: of a solver's `Memory`.
        t, style: the model.
        seen: a recalled table, seat 0 to act.
        worlds: int64 [N, 4].
        actions: int64 [K], legal.
        tables, view: State records [2] and a view, scratch.
        payments: float64 [K, N].
    """
    words = np.empty(OBSERVATION_WORDS, np.int64)
    for n in range(worlds.shape[0]):
        for k in range(actions.shape[0]):
            tables[0] = seen
            enter_world(tables[0], worlds[n])
            payments[k, n] = value_word(table, scratch, t, style, tables, view, words, actions[k])
