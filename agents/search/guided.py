"""A trained policy, overruled by search only where the gain is clear.

Others are taken to play as the policy does: that weighs the worlds (Bayes). Improving a policy by
search and keeping to it otherwise: Lerer et al., "Improving policies via search in cooperative
partially observable games" (2020).
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
from ..policy import PolicyAgent
from .likelihood import Likelihood, probabilities
from .pimc import BIDDING_WORLDS, MOST_WORLDS
from .sampling import Sampler
from .screening import MOST, screen
from .validity import recall_possible
from .valuation import value_actions, value_worlds

CANDIDATES = 6
"""Worlds drawn and weighed for each one kept: the policy takes its time over every one."""

_FAVOURITES = 4
_FAVOURED = 0.02
"""Before the first card the policy's own likeliest actions are looked at: how many at most, and
from what probability on."""


class Guided:
    """Plays as a policy does unless search finds something clearly better."""

    def __init__(
        self,
        worlds: int,
        policy: PolicyAgent,
        rules: Rules | None = None,
        *,
        caution: float = 2.0,
        margin: float = 0.5,
        bidding_margin: float | None = 1.5,
        trust: float = 0.5,
        candidates: int = CANDIDATES,
    ) -> None:
        """Work out the tables of the rule player, who bids on in simulated deals.

        Args:
            worlds: sampled for each card; before the first card at least `BIDDING_WORLDS`.
            policy: of the same rules.
            rules: the variant; default rules if None.
            caution: standard errors that the gain of another action must exceed; infinitely many:
                the policy is never overruled.
            margin: kapikia that the gain of another card must exceed as well.
            bidding_margin: the same before the first card; None leaves that to the policy.
            trust: see `Likelihood`.
            candidates: worlds drawn and weighed for each one kept.
        """
        if type(worlds) is not int or not 1 <= worlds <= MOST_WORLDS:
            raise ValueError(f"guided needs how many worlds, 1 to {MOST_WORLDS}, not {worlds!r}")
        if not caution > 0:
            raise ValueError(f"caution must be above 0, not {caution!r}")
        self.name = f"guided:{worlds}:{policy.name}"
        self._worlds = worlds
        self._policy = policy
        self._rules = rules if rules is not None else Rules()
        self._caution = caution
        self._margin = margin
        self._bidding_margin = bidding_margin
        self._model = Heuristic(self._rules)
        self._sampler = Sampler(
            self._model.tables,
            self._model.style,
            Likelihood(policy, trust),
            candidates,
            redraw=True,
        )
        self._memory = Memory()
        self._tables = np.zeros(3, DTYPE)
        self._view = np.zeros(1, VIEW_DTYPE)

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`.

        Raises NoWorldError for a row that cannot have come from a game of these rules.
        """
        return self.assess(observations, action_masks, keys)[0]

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        """See `ValuingAgent.assess`; values are means over the worlds.

        A row has no values at all where nothing was searched.

        Raises NoWorldError for a row that cannot have come from a game of these rules.
        """
        views = decode(observations, action_masks)
        seen = recall_possible(observations, views, self._rules.flags)
        actions = self._policy.act(observations, action_masks, keys)
        values = np.full(np.shape(action_masks), np.nan, np.float32)
        for i in np.flatnonzero(np.count_nonzero(action_masks, axis=1) > 1):
            favourite = int(actions[i])
            if seen[i].phase == Phase.PLAY:
                actions[i] = self._search_card(seen[i], views[i], keys[i], favourite, values[i])
            elif self._bidding_margin is not None:
                one = slice(i, i + 1)
                (chances,) = probabilities(self._policy, observations[one], action_masks[one])
                looked_at = self._choices(views[i], favourite, chances)
                actions[i] = self._search_bidding(
                    seen[i], keys[i], looked_at, self._bidding_margin, values[i]
                )
        return actions, values

    def _search_card(
        self, seen: State, view: View, key: np.uint64, favourite: int, values: Values
    ) -> int:
        """The card to play; writes what each is worth to `values`, float32 [A]."""
        worlds, counts = self._sampler.draw(seen, key, self._worlds)
        thirds = np.empty((len(worlds), NUM_CARDS), np.int64)
        value_worlds(self._memory.table, self._memory.scratch, seen, worlds, self._tables, thirds)
        cards = np.array([favourite, *(c for c in cards_of(view.legal) if c != favourite)])
        return self._clearly_best(cards, thirds[:, cards].T / 3, counts, self._margin, values)

    def _choices(
        self, view: View, favourite: int, chances: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """What is worth a look before the first card, the policy's choice first."""
        screened = np.empty(MOST, np.int64)
        count = screen(self._model.tables, self._model.style, view, favourite, screened)
        likeliest = np.argsort(-chances, kind="stable")[:_FAVOURITES]
        liked = likeliest[chances[likeliest] > _FAVOURED]
        return np.array(list(dict.fromkeys([*screened[:count].tolist(), *liked.tolist()])))

    def _search_bidding(
        self,
        seen: State,
        key: np.uint64,
        actions: npt.NDArray[np.int64],
        margin: float,
        values: Values,
    ) -> int:
        """The action to take; writes what those looked at are worth to `values`, float32 [A]."""
        if len(actions) < 2:
            return int(actions[0])
        worlds, counts = self._sampler.draw(seen, key, max(self._worlds, BIDDING_WORLDS))
        payments = np.empty((len(actions), len(worlds)))
        value_actions(
            self._memory.table, self._memory.scratch, self._model.tables, self._model.style,
            seen, worlds, actions, self._tables, self._view[0], payments,
        )  # fmt: skip
        return self._clearly_best(actions, payments, counts, margin, values)

    def _clearly_best(
        self,
        actions: npt.NDArray[np.int64],
        payments: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        margin: float,
        values: Values,
    ) -> int:
        """The first action or, if the gain over it is clear, the best; writes mean payments.

        Args:
            actions: int64 [K], the policy's choice first.
            payments: float64 [K, N], kapikia in each world.
            counts: int64 [N], how often each world counts.
            margin: kapikia that the gain must exceed.
            values: float32 [A].
        """
        shares = counts / counts.sum()
        values[actions] = payments @ shares
        gains = payments - payments[0]
        means = gains @ shares
        errors = np.sqrt((gains - means[:, None]) ** 2 @ shares / len(shares))
        is_clear = (means > margin) & (means / self._caution > errors)
        return int(actions[np.where(is_clear, means, 0.0).argmax()])
