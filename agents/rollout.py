"""Deals played by a policy, with what it needs to learn from them.

A trajectory is what one seat decided in one deal, paid at the end. Decisions of an invited hand
make a trajectory of their own, paid to the inviter, for whom it plays (rule D3). Forced moves are
no decisions. Only whole deals are collected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcounts
from prefa_env.streams import derive_keys

from .agent import Agent
from .benchmarks import refuse_benchmark_deals
from .network import Policy

LEARNER = -1
"""In `seating`, a seat played by the policy that learns."""


@dataclass(frozen=True)
class Rollout:
    """Decisions of the learning policy in deals played to the end; N of them, in order of time."""

    states: npt.NDArray[np.int8]  # [N, P]; the first O bytes are the observation
    masks: npt.NDArray[np.bool_]  # [N, A]
    actions: npt.NDArray[np.int64]  # [N]
    log_probs: npt.NDArray[np.float32]  # [N], the policy's; 0 for a teacher's actions
    trajectories: npt.NDArray[np.int64]  # [N], equal for decisions of one trajectory
    payoffs: npt.NDArray[np.float32]  # [N], what the trajectory was paid, in the reward's unit
    history: npt.NDArray[np.int8]  # [B, L], all actions at each table; -1 after the end
    seats: npt.NDArray[np.int8]  # [B, L], who did them; -1 after the end
    targets: npt.NDArray[np.float32] | None = None  # [N, A], a teacher's probabilities


def play(
    env: VectorEnv,
    policy: Policy,
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    seed: int,
    teacher: Agent | None = None,
) -> Rollout:
    """Deal anew at every table and play all deals to the end.

    Args:
        env: with `auto_reset=False`; keeps the finished tables and their payments.
        policy: samples its actions.
        agents: the fixed opponents.
        seating: int64 [B, S], for each table and seat an index of `agents`, or `LEARNER`.
        seed: of the deals and of all chance in playing them.
        teacher: chooses the learner's actions in its place, for the policy to imitate.

    Raises:
        BenchmarkError: a deal is one of a benchmark's; nothing was played.
    """
    env.reset(seed=seed)
    refuse_benchmark_deals(env.game, env.decks, env.dealers, f"seed {seed}")
    device = next(policy.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    num_tables, num_seats = seating.shape
    all_tables = np.arange(num_tables)
    payoffs = np.zeros((num_tables, num_seats), np.float32)
    size = env.game.OBSERVATION.size
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    history: list[npt.NDArray[np.int8]] = []
    seats: list[npt.NDArray[np.int8]] = []
    while not env.dones.all():
        actions = env.random_actions(0)  # right where only one is legal; the rest is overwritten
        is_free = popcounts(env.legal_actions) > 1
        players = seating[all_tables, env.seats]
        rows = np.flatnonzero(is_free & (players == LEARNER))
        if rows.size:
            states = env.states[rows]
            masks = env.action_masks[rows].astype(np.bool_)
            if teacher is None:
                chosen, log_probs = _sample(policy, states[:, :size], masks, device, generator)
            else:
                keys = derive_keys(seed, rows, len(history))
                chosen = teacher.act(env.observations[rows], env.action_masks[rows], keys)
                log_probs = np.zeros(rows.size, np.float32)
            actions[rows] = chosen
            payees = env.beneficiaries()[rows]
            trajectories = (rows * num_seats + env.seats[rows]) * num_seats + payees
            parts.append((states, masks, chosen, log_probs, trajectories))
        for index, agent in enumerate(agents):
            rows = np.flatnonzero(is_free & (players == index))
            if rows.size:
                keys = derive_keys(seed, rows, len(history))
                actions[rows] = agent.act(env.observations[rows], env.action_masks[rows], keys)
        history.append(np.where(env.seats >= 0, actions, -1).astype(np.int8))
        seats.append(env.seats.copy())
        env.step(actions)
        payoffs += env.rewards
    states, masks, chosen, log_probs, trajectories = map(np.concatenate, zip(*parts, strict=True))
    paid = payoffs[trajectories // num_seats**2, trajectories % num_seats]
    return Rollout(
        states,
        masks,
        chosen,
        log_probs,
        trajectories,
        paid,
        np.stack(history, 1),
        np.stack(seats, 1),
    )


@torch.no_grad()
def _sample(
    policy: Policy,
    observations: npt.NDArray[np.int8],
    masks: npt.NDArray[np.bool_],
    device: torch.device,
    generator: torch.Generator,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Actions drawn from the policy and their log-probabilities."""
    log_probs = policy(
        torch.from_numpy(np.ascontiguousarray(observations)).to(device),
        torch.from_numpy(masks).to(device),
    )
    # The largest of log-probabilities with Gumbel noise is a draw; forbidden ones stay far below.
    noise = torch.empty_like(log_probs).exponential_(generator=generator).log_()
    actions = (log_probs - noise).argmax(-1)
    chosen = log_probs.gather(-1, actions[:, None]).squeeze(-1)
    return actions.cpu().numpy(), chosen.cpu().numpy()


@njit
def advantages(
    trajectories: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    values: npt.NDArray[np.float32],
    payoffs: npt.NDArray[np.float32],
    gae_lambda: float,
) -> npt.NDArray[np.float32]:
    """Generalised advantage estimates without discount (Schulman et al. 2016), float32 [N].

    Args:
        trajectories: int64 [N].
        order: int64 [N], the decisions sorted by trajectory, then by time.
        values: float32 [N], the critic's, in the unit of `payoffs`.
        payoffs: float32 [N], paid after the last decision of the trajectory.
        gae_lambda: 1 is the payoff less the value; less trusts the critic's later values more.
    """
    result = np.empty(values.shape[0], np.float32)
    following = np.float32(0)
    for k in range(order.shape[0] - 1, -1, -1):
        i = order[k]
        is_last = k + 1 == order.shape[0] or trajectories[order[k + 1]] != trajectories[i]
        if is_last:
            result[i] = payoffs[i] - values[i]
        else:
            result[i] = values[order[k + 1]] - values[i] + np.float32(gae_lambda) * following
        following = result[i]
    return result
