"""Two players in one seat: one bids and defends, the other plays the cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.prefa import IN_PLAY

from .agent import (
    Actions,
    Agent,
    Keys,
    Masks,
    Observations,
    OpenAgent,
    Values,
    ValuingAgent,
    ask,
)


class _Pair:
    def __init__(self, bidder: Agent, card_player: Agent) -> None:
        self.name = f"{bidder.name}+{card_player.name}"
        self._players = bidder, card_player

    def _divide(
        self, observations: Observations, act: Callable[[Any, npt.NDArray[np.bool_]], Actions]
    ) -> Actions:
        """Let each player act in its rows."""
        actions = np.empty(len(observations), np.int64)
        is_play = observations[:, IN_PLAY] != 0
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


class _ValuingComposite(_Composite):
    """Of two players of whom one may be silent on what actions are worth."""

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        """See `ValuingAgent.assess`."""
        values = np.full(np.shape(action_masks), np.nan, np.float32)

        def act(player: Agent, rows: npt.NDArray[np.bool_]) -> Actions:
            asked = observations[rows], action_masks[rows], keys[rows]
            if not isinstance(player, ValuingAgent):
                return player.act(*asked)
            actions, values[rows] = player.assess(*asked)
            return actions

        return self._divide(observations, act), values


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
    if isinstance(bidder, ValuingAgent) or isinstance(card_player, ValuingAgent):
        return _ValuingComposite(bidder, card_player)
    return _Composite(bidder, card_player)
