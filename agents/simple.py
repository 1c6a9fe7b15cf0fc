"""Agents without judgement: yardsticks for arenas, stand-ins in tests."""

from __future__ import annotations

import numpy as np

from prefa_env._jit import njit
from prefa_env.streams import mix, random_bit
from prefa_env.words import int64

from .agent import Actions, Keys, Masks, Observations


@njit
def _draw(masks: Masks, keys: Keys, actions: Actions) -> None:
    """Write a uniformly chosen legal action for each row; 0 where nothing is legal."""
    for i in range(masks.shape[0]):
        legal = int64(0)
        for action in range(masks.shape[1]):
            legal |= int64(masks[i, action]) << action
        actions[i] = random_bit(legal, mix(keys[i])) if legal != 0 else 0


def _lowest(action_masks: Masks) -> Actions:
    lowest: Actions = np.argmax(action_masks, axis=1).astype(np.int64)
    return lowest


class Uniform:
    """Any legal action with the same chance, from the row's key."""

    name = "uniform"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        actions = np.empty(len(action_masks), np.int64)
        _draw(
            np.ascontiguousarray(action_masks, np.int8),
            np.ascontiguousarray(keys, np.uint64),
            actions,
        )
        return actions


class FirstLegal:
    """The legal action with the lowest number."""

    name = "first-legal"

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        return _lowest(action_masks)


class PassAlways:
    """Passes where that is legal, in the auction and in the defence; else the lowest action."""

    name = "pass-always"

    def __init__(self, pass_action: int) -> None:
        self._pass = pass_action

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        return np.where(action_masks[:, self._pass] != 0, self._pass, _lowest(action_masks))
