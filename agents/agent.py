"""What an agent is."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Keys = npt.NDArray[np.uint64]
Actions = npt.NDArray[np.int64]
Values = npt.NDArray[np.float32]


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


@runtime_checkable
class ValuingAgent(Agent, Protocol):
    """An agent that can say what actions are worth to it."""

    def assess(
        self, observations: Observations, action_masks: Masks, keys: Keys
    ) -> tuple[Actions, Values]:
        """Choose as `act` does, and say what the choice was made from.

        Returns:
            int64 [B], what `act` returns; float32 [B, A], settled kapikia that each action is
            expected to bring to whom the seat to act plays for, NaN for actions that are illegal or
            were not valued.
        """


class OpenAgent:
    """An agent that is shown the tables, hidden cards and all: a yardstick, not a player."""

    name: str

    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """Raise TypeError: an observation is not enough."""
        raise TypeError(f"{self.name!r} sees all cards: it plays only where it is shown the tables")

    def act_open(
        self,
        tables: npt.NDArray[Any],
        observations: Observations,
        action_masks: Masks,
        keys: Keys,
    ) -> Actions:
        """Choose an action a row: as `Agent.act`, with the game's records [B], to be left alone."""
        raise NotImplementedError


def ask(
    agent: Agent,
    tables: npt.NDArray[Any],
    observations: Observations,
    action_masks: Masks,
    keys: Keys,
) -> Actions:
    """The actions of any agent; only one that is open gets the tables."""
    if isinstance(agent, OpenAgent):
        return agent.act_open(tables, observations, action_masks, keys)
    return agent.act(observations, action_masks, keys)
