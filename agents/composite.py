"""Two players in one seat: one bids and defends, the other plays the cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.prefa import OBSERVATION
from prefa_env.prefa.rules import Phase

from .agent import Actions, Agent, Keys, Masks, Observations, OpenAgent, ask

_IS_PLAY = OBSERVATION["phase"].start + Phase.PLAY


class _Pair:
    def __init__(self, bidder: Agent, card_player: Agent) -> None:
        self.name = f"{bidder.name}+{card_player.name}"
        self._players = bidder, card_player

    def _divide(
        self, observations: Observations, act: Callable[[Any, npt.NDArray[np.bool_]], Actions]
    ) -> Actions:
        """Let each player act in its rows."""
        actions = np.empty(len(observations), np.int64)
        is_play = observations[:, _IS_PLAY] != 0
        for player, rows in zip(self._players, (~is_play, is_play), strict=True):
            if rows.any():
                actions[rows] = act(player, rows)
        return actions


class _Composite(_Pair):
    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        return self._divide(
            observations,
            lambda player, rows: player.act(observations[rows], action_masks[rows], keys[rows]),
        )


class _OpenComposite(_Pair, OpenAgent):
    def act_open(
        self,
        tables: npt.NDArray[Any],
        observations: Observations,
        action_masks: Masks,
        keys: Keys,
    ) -> Actions:
        """See `OpenAgent.act_open`."""
        return self._divide(
            observations,
            lambda player, rows: ask(
                player, tables[rows], observations[rows], action_masks[rows], keys[rows]
            ),
        )


def combine(bidder: Agent, card_player: Agent) -> Agent:
    """An agent that asks one before the first card, and the other from then on."""
    if isinstance(bidder, OpenAgent) or isinstance(card_player, OpenAgent):
        return _OpenComposite(bidder, card_player)
    return _Composite(bidder, card_player)
