"""A rule player for Prefa: hand evaluation in tricks and kapikia, rules of thumb for the cards."""

from __future__ import annotations

import numpy as np

from prefa_env.prefa.rules import Rules

from ..agent import Actions, Keys, Masks, Observations
from .bidding import bid_and_defend
from .cards import play_cards
from .hand import Style, make_tables
from .view import decode

__all__ = ["Heuristic", "Style"]


class Heuristic:
    """Plays Prefa by rules of thumb, from the observation alone; deterministic."""

    name = "heuristic"

    def __init__(self, rules: Rules | None = None, style: Style | None = None) -> None:
        """Work out the tables.

        Args:
            rules: the variant; default rules if None.
            style: another temper, for experiments.
        """
        self.style = style if style is not None else Style()
        self.tables = make_tables(rules if rules is not None else Rules(), self.style)

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        views = decode(observations, action_masks)
        actions = np.zeros(len(views), np.int64)
        bid_and_defend(self.tables, self.style, views, actions)
        play_cards(views, actions)
        return actions
