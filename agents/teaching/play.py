"""Deals played by a teacher in all seats, now and then by chance, with what it thought of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcounts
from prefa_env.streams import derive_key, mix, random_bit, to_unit

from ..agent import Actions, Keys, ValuingAgent
from ..benchmarks import SeedSet
from .shards import Decisions

_EXPLORATION = 1 << 32
"""Sub-stream of a decision's key that says whether and what is played by chance."""


@njit
def _explore(legal: npt.NDArray[np.int64], keys: Keys, epsilon: float, actions: Actions) -> None:
    """Replace actions by any legal one with the same chance, in a part `epsilon` of the rows."""
    for i in range(actions.shape[0]):
        key = derive_key(keys[i], _EXPLORATION)
        if to_unit(mix(key)) < epsilon:
            actions[i] = random_bit(legal[i], derive_key(key, 1))


def play_deals(
    env: VectorEnv, teacher: ValuingAgent, seeds: SeedSet, first: int, epsilon: float
) -> Decisions:
    """Play one deal of a set at each table to its end.

    Args:
        env: with `auto_reset=False`.
        teacher: plays all seats.
        seeds: the deals; all chance is keyed by the set, the deal, the seat and the decision, so
            that a deal is played the same whichever others are played with it.
        first: number of the deal at the first table; the others follow.
        epsilon: how often any legal action is played in place of the teacher's choice.

    Raises:
        IllegalActionError: the teacher's.
    """
    num_seats = env.game.NUM_SEATS
    numbers = first + np.arange(env.num_envs)
    env.reset(*seeds.deals(env.game, numbers))
    payments = np.zeros((env.num_envs, num_seats), np.float32)
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    num_steps = 0
    while not env.dones.all():
        actions = env.random_actions(0)  # right where only one is legal; the rest is overwritten
        rows = np.flatnonzero(popcounts(env.legal_actions) > 1)
        if rows.size:
            legal = env.legal_actions[rows]
            keys = seeds.agent_keys(numbers, env.seats, num_steps, rows)
            choices, values = teacher.assess(env.observations[rows], env.action_masks[rows], keys)
            played = choices.copy()
            _explore(legal, keys, epsilon, played)
            actions[rows] = played
            payees = env.beneficiaries()[rows]
            trajectories = (numbers[rows] * num_seats + env.seats[rows]) * num_seats + payees
            parts.append((env.states[rows], legal, values, choices, played, trajectories))
        env.step(actions)
        payments += env.rewards
        num_steps += 1
    states, legals, values, choices, actions, trajectories = map(
        np.concatenate, zip(*parts, strict=True)
    )
    # Decisions of one seat in one deal look alike: side by side they are packed much smaller.
    order = np.argsort(trajectories, kind="stable")
    trajectories = trajectories[order]
    return Decisions(
        states=states[order],
        legal_actions=legals[order],
        values=values[order],
        choices=choices[order].astype(np.int8),
        actions=actions[order].astype(np.int8),
        payoffs=payments[trajectories // num_seats**2 - first, trajectories % num_seats],
        trajectories=trajectories,
    )
