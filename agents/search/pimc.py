"""Perfect-information Monte Carlo: each action valued over the same sampled worlds, cards open.

Ginsberg, "GIB: Imperfect information in a computationally challenging game" (2001); for Skat, Buro
et al., "Improving state evaluation, inference, and search in trick-based card games" (2009).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prefa_env.cards import cards_of
from prefa_env.prefa.rules import NUM_CARDS, Phase, Rules
from prefa_env.prefa.state import DTYPE, State
from prefa_env.solver import Memory

from ..agent import Actions, Keys, Masks, Observations, Values
from ..heuristic import Heuristic
from ..heuristic.view import DTYPE as VIEW_DTYPE
from ..heuristic.view import View, decode
from .sampling import Sampler, Weigh
from .screening import MOST, screen
from .validity import recall_possible
from .valuation import value_actions, value_cards

BIDDING_WORLDS = 64
"""Worlds for a decision before the first card, at least."""


MOST_WORLDS = 10_000
"""A bound for memory's sake; more than a few hundred gain nothing."""


class Pimc:
    """Searches every decision; what search cannot tell apart is left to the rule player."""

    def __init__(
        self,
        worlds: int,
        rules: Rules | None = None,
        *,
        weigh: Weigh | None = None,
        by_tricks: bool = False,
        caution: float = 1.0,
    ) -> None:
        """Work out the tables of the model.

        Args:
            worlds: sampled for each card; before the first card at least `BIDDING_WORLDS`.
            rules: the variant; default rules if None.
            weigh: says how likely worlds are (see `sampling.Weigh`); if None the model does, by
                what it would have bid, kept and answered itself.
            by_tricks: play the cards for tricks instead of money.
            caution: standard errors that another action's advantage over the model's must exceed
                before the first card.
        """
        if type(worlds) is not int or not 1 <= worlds <= MOST_WORLDS:
            raise ValueError(f"pimc needs how many worlds, 1 to {MOST_WORLDS}, not {worlds!r}")
        self.name = f"pimc:{worlds}"
        self._worlds = worlds
        self._rules = rules if rules is not None else Rules()
        self._model = Heuristic(self._rules)
        self._sampler = Sampler(self._model.tables, self._model.style, weigh)
        self._by_tricks = by_tricks
        self._caution = caution
        self._sum_of_one = worlds * (1 if by_tricks else 3)  # money is summed up in thirds
        self._memory = Memory()
        self._tables = np.zeros(3, DTYPE)
        self._view = np.zeros(1, VIEW_DTYPE)

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`.

        Raises NoWorldError for a row that cannot have come from a game of these rules.
        """
        return self.assess(observations, action_masks, keys)[0]

    def values(self, observations: Observations, action_masks: Masks, keys: Keys) -> Values:
        """The values of `assess` alone."""
        return self.assess(observations, action_masks, keys)[1]

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        """See `ValuingAgent.assess`; values are means over the worlds.

        A row has no values at all where there is no choice: where one action is legal, or, before
        the first card, only one is worth a look (see `screening`). A card played for tricks is
        worth tricks to the advantage of its side, not kapikia.

        Raises NoWorldError for a row that cannot have come from a game of these rules.
        """
        views = decode(observations, action_masks)
        seen = recall_possible(observations, views, self._rules.flags)
        actions = self._model.act(observations, action_masks, keys)
        values = np.full(np.shape(action_masks), np.nan, np.float32)
        for i in np.flatnonzero(np.count_nonzero(action_masks, axis=1) > 1):
            choose = self._search_card if seen[i].phase == Phase.PLAY else self._search_bidding
            actions[i] = choose(seen[i], views[i], keys[i], int(actions[i]), values[i])
        return actions, values

    def _search_card(
        self, seen: State, view: View, key: np.uint64, favourite: int, values: Values
    ) -> int:
        """The best card; writes what each is worth to `values`, float32 [A]."""
        worlds, counts = self._sampler.draw(seen, key, self._worlds)
        sums = np.full(NUM_CARDS, np.iinfo(np.int64).min // 2)
        cards = cards_of(view.legal)
        sums[cards] = 0
        value_cards(
            self._memory.table, self._memory.scratch, seen, worlds, counts, self._by_tricks,
            self._tables, sums,
        )  # fmt: skip
        values[cards] = sums[cards] / self._sum_of_one
        best = int(sums.argmax())
        return favourite if sums[favourite] == sums[best] else best

    def _search_bidding(
        self, seen: State, view: View, key: np.uint64, favourite: int, values: Values
    ) -> int:
        """The best action; writes what those looked at are worth to `values`, float32 [A]."""
        actions = np.empty(MOST, np.int64)
        count = screen(self._model.tables, self._model.style, view, favourite, actions)
        actions = actions[:count]
        if len(actions) < 2:
            return favourite
        size = max(self._worlds, BIDDING_WORLDS)
        worlds, counts = self._sampler.draw(seen, key, size)
        payments = np.empty((len(actions), len(worlds)))
        value_actions(
            self._memory.table, self._memory.scratch, self._model.tables, self._model.style,
            seen, worlds, actions, self._tables, self._view[0], payments,
        )  # fmt: skip
        shares = counts / size
        values[actions] = payments @ shares
        return self._best(actions, payments, shares)

    def _best(
        self,
        actions: npt.NDArray[np.int64],
        payments: npt.NDArray[np.float64],
        shares: npt.NDArray[np.float64],
    ) -> int:
        gains = payments - payments[0]  # over the model's own choice
        means = gains @ shares
        errors = np.sqrt((gains - means[:, None]) ** 2 @ shares / len(shares))
        return int(actions[(means - self._caution * errors).argmax()])
