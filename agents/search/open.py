"""A player who sees all cards: what search could reach if it guessed every world right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.prefa.rules import NUM_ACTIONS, NUM_RUNGS, Action, Phase, Rules
from prefa_env.prefa.scoring import DECLINE_KAPIKIA, DECLINE_KASSA
from prefa_env.prefa.state import DTYPE, State
from prefa_env.solver import Memory

from ..agent import Actions, Keys, Masks, Observations, OpenAgent
from ..heuristic import Heuristic
from ..heuristic.view import DTYPE as VIEW_DTYPE
from . import open_cards
from .valuation import add_cards

_FEW_PAIRS, _MANY_PAIRS = 4, 16
"""Pairs of discards tried in the auction, and when it comes to discarding."""

_IMPOSSIBLE = -(2**40)
_DECLINED = -6 * DECLINE_KAPIKIA - 20 * DECLINE_KASSA
"""Settled thirds of a writer who declines."""


class Open(OpenAgent):
    """Plays for the most kapikia against a defence, or declarer, that sees all cards as well."""

    name = "open"

    def __init__(self, rules: Rules | None = None) -> None:
        """Work out the tables of the model that the others are taken to bid by.

        Args:
            rules: the variant; default rules if None.
        """
        self._model = Heuristic(rules)
        self._memory = Memory()
        self._tables = np.zeros(open_cards.NUM_TABLES, DTYPE)
        self._view = np.zeros(1, VIEW_DTYPE)

    def act_open(
        self,
        tables: npt.NDArray[Any],
        observations: Observations,
        action_masks: Masks,
        keys: Keys,
    ) -> Actions:
        """See `OpenAgent.act_open`."""
        actions = self._model.act(observations, action_masks, keys)
        for i in np.flatnonzero(np.count_nonzero(action_masks, axis=1) > 1):
            values = np.full(NUM_ACTIONS, _IMPOSSIBLE)
            self._value(tables[i], np.flatnonzero(action_masks[i]), values)
            best = int(values.argmax())
            if values[actions[i]] < values[best]:
                actions[i] = best
        return actions

    def _value(self, s: State, legal: npt.NDArray[np.int64], values: npt.NDArray[np.int64]) -> None:
        """Write the value of legal actions in thirds; those not written are not worth a thought."""
        memory = (self._memory.table, self._memory.scratch)
        tables, hand = self._tables, self._model.tables
        if s.phase == Phase.PLAY:
            values[legal] = 0
            tables[2] = s
            add_cards(*memory, tables, False, 1, values)
        elif s.phase == Phase.AUCTION:
            style = self._model.style
            passing = (*memory, hand, style, s, tables, self._view[0])
            values[Action.PASS] = open_cards.value_passing(*passing)
            for action in legal[legal >= Action.BID]:
                values[action] = open_cards.value_declaring(
                    *memory, hand, s, action, tables, _FEW_PAIRS
                )
        elif s.phase == Phase.DISCARD:
            _, card = open_cards.value_discards(*memory, hand, s, tables, _MANY_PAIRS)
            values[card] = 0
        elif s.phase == Phase.CONTRACT:
            tables[0] = s
            if legal[0] == Action.WRITE:
                values[Action.WRITE] = _DECLINED
            open_cards.value_contracts(*memory, tables, values[Action.BID :][:NUM_RUNGS])
        else:
            for action in legal:
                tables[0] = s
                values[action] = open_cards.value_word(*memory, tables, action)
