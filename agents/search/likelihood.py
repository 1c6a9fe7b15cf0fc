"""How likely a policy finds worlds: by what it would have done in the other seats' place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit_called
from prefa_env.prefa import OBSERVATION
from prefa_env.prefa.kernel import deal, legal_actions, step
from prefa_env.prefa.observation import observe
from prefa_env.prefa.rules import NUM_ACTIONS, NUM_CARDS, Phase
from prefa_env.prefa.state import DTYPE, State
from prefa_env.words import Words, int64

from ..policy import BLOCK, PolicyAgent
from .history import MAX_ACTIONS, initial_deck, past_actions
from .sampling import Weights

_DISCARD, _CONTRACT = int(Phase.DISCARD), int(Phase.CONTRACT)

_MANY = 256  # rows that the network is asked at once

UNIFORM = 0.05
"""Part of every action that is taken to be any legal one: no policy knows another for certain."""


@njit_called
def others_decisions(
    tables: npt.NDArray[Any], scratch: npt.NDArray[Any], words: Words, legal: Words, actions: Words
) -> int:
    """Replay each table and write what the other seats decided, and from what; how many decisions.

    Without forced moves, and without another declarer's discards and contract. All tables must
    come from the same actions.

    Args:
        tables: State records [N], all cards known, in which seat 0 looks.
        scratch: State records [1].
        words: int64 [N, MAX_ACTIONS, O / 8], what was seen.
        legal: int64 [N, MAX_ACTIONS], bit sets.
        actions: int64 [MAX_ACTIONS], what was done.
    """
    deck = np.empty(NUM_CARDS, np.int8)
    past = np.empty(MAX_ACTIONS, np.int8)
    s = scratch[0]
    number = 0
    for n in range(tables.shape[0]):
        seen = tables[n]
        for seat in range(3):
            s.kassa[seat] = seen.kassa[seat]
            s.kapikia[seat] = seen.kapikia[seat]
        s.deals_left = seen.deals_left
        initial_deck(seen, deck)
        deal(s, seen.options, deck, seen.dealer)
        s.shown_card = seen.shown_card
        number = 0
        for i in range(past_actions(seen, past)):
            action = int64(past[i])
            choices = legal_actions(s)
            is_weighed = s.phase < _DISCARD or s.phase > _CONTRACT
            if s.seat != 0 and is_weighed:
                # Who can follow in one world may be forced in another: sorted out by the caller.
                observe(s, s.seat, words[n, number])
                legal[n, number] = choices
                actions[number] = action
                number += 1
            step(s, action)
    return number


class Likelihood:
    """Weighs worlds by the policy's probabilities of all that the other seats were seen to do.

    A `sampling.Weigh`. Another declarer's discards and contract are left to the model (see
    `Sampler`).
    """

    def __init__(self, policy: PolicyAgent, trust: float = 0.5) -> None:
        """Choose how much the policy is believed.

        Args:
            policy: plays the other seats.
            trust: power to which its probabilities are raised; 0 finds all worlds the same.
        """
        if not 0 <= trust < np.inf:
            raise ValueError(f"trust must be a number of at least 0, not {trust!r}")
        self._policy = policy
        self._trust = trust
        self._scratch = np.zeros(1, DTYPE)

    def __call__(self, seen: State, tables: npt.NDArray[Any]) -> Weights:
        """Weights float64 [N] of tables [N]; the likeliest has 1."""
        size = len(tables)
        words = np.empty((size, MAX_ACTIONS, OBSERVATION.size // 8), np.int64)
        legal = np.empty((size, MAX_ACTIONS), np.int64)
        actions = np.empty(MAX_ACTIONS, np.int64)
        count = others_decisions(tables, self._scratch, words, legal, actions)
        legal = legal[:, :count]
        worlds, numbers = np.nonzero(legal & (legal - 1))
        if len(worlds) == 0:
            return np.ones(size)
        rows = words[worlds, numbers].view(np.int8)
        # Worlds share much of what a seat saw: the network is asked once for each different row.
        places: dict[bytes, int] = {}
        place = np.array([places.setdefault(row.tobytes(), len(places)) for row in rows])
        firsts = np.unique(place, return_index=True)[1]
        masks = (legal[worlds, numbers][firsts, None] >> np.arange(NUM_ACTIONS) & 1).astype(np.int8)
        chances = _chances(self._policy, rows[firsts], masks, actions[numbers[firsts]])
        logs = np.bincount(worlds, np.log(chances)[place], size)
        weights: Weights = np.exp(self._trust * (logs - logs.max()))
        return weights


def probabilities(
    policy: PolicyAgent,
    observations: npt.NDArray[np.int8],
    masks: npt.NDArray[np.int8],
    block: int = BLOCK,
) -> npt.NDArray[np.float64]:
    """The policy's probabilities float64 [B, A] of the table's actions; `block` as `log_probs`."""
    log_probs, meant = policy.log_probs(observations, masks, block)
    chances = np.empty(log_probs.shape)
    np.put_along_axis(chances, meant.astype(np.int64), np.exp(log_probs, dtype=np.float64), axis=1)
    return chances


def _chances(
    policy: PolicyAgent,
    observations: npt.NDArray[np.int8],
    masks: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Of what was done, float64 [B]; never 0."""
    chosen = probabilities(policy, observations, masks, _MANY)[np.arange(len(actions)), actions]
    floored: npt.NDArray[np.float64] = (1 - UNIFORM) * chosen + UNIFORM / masks.sum(axis=1)
    return floored
