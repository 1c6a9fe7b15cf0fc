"""What an agent is."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Keys = npt.NDArray[np.uint64]
Actions = npt.NDArray[np.int64]


class Agent(Protocol):
    """Chooses actions from what a seat sees; keeps nothing between calls."""

    name: str
    """The spec that makes it again (see `make_agent`)."""

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """Choose an action a row.

        Args:
            observations: int8 [B, O] of the seats to act.
            action_masks: int8 [B, A], at least one 1 a row.
            keys: uint64 [B], one for each decision, derived from (deal, seat, decision): the only
                source of chance, so that a row's action does not depend on the other rows.

        Returns:
            int64 [B], legal actions.
        """
