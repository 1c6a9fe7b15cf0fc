"""What actions turned out to be worth, with all hands open as they lay.

A value from the one deal that was dealt knows too much; the mean over all positions that look the
same to a seat does not, and that mean is what a network learns from many of them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.prefa.kernel import legal_actions, right_of
from prefa_env.prefa.rules import NUM_ACTIONS, NUM_CARDS, Phase, Rules
from prefa_env.prefa.state import DTYPE
from prefa_env.solver import Memory
from prefa_env.solver.payment import settle
from prefa_env.words import Ints

from ..agent import Values
from ..heuristic import Heuristic
from ..heuristic.hand import Style, Tables
from ..heuristic.view import DTYPE as VIEW_DTYPE
from ..heuristic.view import View
from .model import OBSERVATION_WORDS
from .valuation import add_cards, expected_payment, value_word

_PLAY = int(Phase.PLAY)

_PARTS = 8
"""Parts that a thread gets one after the other, so that all end at about the same time."""


@njit
def _value(
    table: Ints,
    scratch: Ints,
    t: Tables,
    style: Style,
    tables: npt.NDArray[Any],
    is_wanted: npt.NDArray[np.bool_],
    trials: npt.NDArray[Any],
    view: View,
    values: Values,
) -> None:
    words = np.empty(OBSERVATION_WORDS, np.int64)
    thirds = np.empty(NUM_CARDS, np.int64)
    for i in range(tables.shape[0]):
        if not is_wanted[i]:
            continue
        legal = legal_actions(tables[i])
        if tables[i].phase == _PLAY:
            trials[2] = tables[i]
            thirds[:] = 0
            add_cards(table, scratch, trials, False, 1, thirds)
            for card in range(NUM_CARDS):
                if legal >> card & 1:
                    values[i, card] = thirds[card] / 3
        else:
            for action in range(NUM_ACTIONS):
                if legal >> action & 1:
                    trials[0] = tables[i]
                    values[i, action] = value_word(
                        table, scratch, t, style, trials, view, words, action
                    )


@njit
def _settle(
    table: Ints,
    scratch: Ints,
    tables: npt.NDArray[Any],
    trials: npt.NDArray[Any],
    payments: npt.NDArray[np.float32],
) -> None:
    for i in range(tables.shape[0]):
        for seat in range(3):
            trials[0] = tables[i]
            settle(table, scratch, trials, seat)
            payments[i, seat] = expected_payment(trials, seat)
        trials[0] = tables[i]
        viewer = (
            0 if tables[i].owner < 0 else right_of(tables[i].owner)
        )  # whose view is right for all
        settle(table, scratch, trials, viewer)
        tables[i] = trials[0]


class Hindsight:
    """Values actions in several threads."""

    def __init__(
        self, rules: Rules | None = None, *, words_share: float = 0.0, threads: int = 1
    ) -> None:
        """Start the threads when they are first needed.

        Args:
            rules: the variant; default rules if None.
            words_share: share of deals in which what is decided between the auction and the first
                card is valued too: it takes as long as the cards of several deals.
            threads: that work at the same time.
        """
        self._model = Heuristic(rules)
        self._words_share = words_share
        self._free = [
            (Memory(), np.zeros(3, DTYPE), np.zeros(1, VIEW_DTYPE)) for _ in range(threads)
        ]
        self._threads = ThreadPoolExecutor(threads)

    def is_sure(self, tables: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Where a card is to be played, bool [N]."""
        return np.asarray(tables["phase"] == Phase.PLAY)

    def values(self, tables: npt.NDArray[Any], deals: npt.NDArray[np.int64]) -> Values:
        """What each action brings to whom the seat to act plays for.

        After it all play with open cards; before the first card, all discard and defend on as
        `heuristic` does. Calls are not valued: too much of what they bring is luck.

        Args:
            tables: records of Prefa [N], none of them over; fastest where those of one deal lie
                together, for then much of what was found for one is known for the next.
            deals: int64 [N], numbers of their deals: every so many has its words valued.

        Returns:
            float32 [N, A], settled kapikia; NaN for what is illegal or not valued.
        """
        places = deals * self._words_share
        has_words = np.floor(places + self._words_share) > np.floor(places)
        is_wanted = self.is_sure(tables) | (has_words & (tables["phase"] != Phase.AUCTION))
        parts = _PARTS * len(self._free)
        split = [np.array_split(x, parts) for x in (tables, is_wanted)]
        return np.concatenate(list(self._threads.map(self._work, *split)))

    def _work(self, tables: npt.NDArray[Any], is_wanted: npt.NDArray[np.bool_]) -> Values:
        memory, trials, view = tools = self._free.pop()
        values = np.full((len(tables), NUM_ACTIONS), np.nan, np.float32)
        try:
            _value(
                memory.table, memory.scratch, self._model.tables, self._model.style, tables,
                is_wanted, trials, view[0], values,
            )  # fmt: skip
        finally:
            self._free.append(tools)
        return values

    def settle(self, tables: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
        """What deals pay whose cards are about to be played.

        Args:
            tables: records of Prefa [N].

        Returns:
            float32 [N, 3], settled kapikia: with open cards, and with the slips that players make
            who do not see them, as in search; and the tables as they end with open cards.
        """
        parts = np.array_split(tables, _PARTS * len(self._free))
        done = list(self._threads.map(self._end, parts))
        payments, ends = zip(*done, strict=True)
        return np.concatenate(payments), np.concatenate(ends)

    def _end(self, tables: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
        memory, trials, _ = tools = self._free.pop()
        payments, ends = np.empty((len(tables), 3), np.float32), tables.copy()
        try:
            _settle(memory.table, memory.scratch, ends, trials, payments)
        finally:
            self._free.append(tools)
        return payments, ends
