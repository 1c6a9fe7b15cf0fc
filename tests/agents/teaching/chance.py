"""A teacher that costs nothing: plays by chance and makes its values up."""

from __future__ import annotations

import numpy as np

from agents import make_agent
from agents.agent import Actions, Keys, Masks, Observations, Values


class Chance:
    """Unlike search it soon reaches everything, invitations among it."""

    name = "chance"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        return make_agent("uniform").act(observations, action_masks, keys)

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        made_up = (keys[:, None] % np.uint64(97)).astype(np.float32) + np.arange(62)
        values = np.where(action_masks == 1, made_up, np.nan).astype(np.float32)
        return self.act(observations, action_masks, keys), values
