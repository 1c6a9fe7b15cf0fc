"""Deals played by a policy, with what it needs to learn from them.

A trajectory is what one seat decided in one deal, paid at the end. Decisions of an invited hand
make a trajectory of their own, paid to the inviter, for whom it plays (rule D3). Forced moves are
no decisions. Only whole deals are collected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcounts
from prefa_env.streams import derive_keys

from .agent import Agent, Values
from .benchmarks import refuse_benchmark_deals
from .network import MASKED_LOGIT, NetworkConfig, Policy

LEARNER = -1
"""In `seating`, a seat played by the policy that learns."""

_ROUNDING = 0.01
"""Of kapikia, which are thirds."""


@dataclass(frozen=True)
class Rollout:
    """Decisions of the learning policy in deals played to the end; N of them, in order of time.

    States and whatever has a column for each action have suits under the names that the policy
    sees them by (`Game.relabel`); history and seats are the table's.
    """

    states: npt.NDArray[np.int8]  # [N, P]; the first O bytes are the observation
    masks: npt.NDArray[np.bool_]  # [N, A]
    actions: npt.NDArray[np.int64]  # [N]
    log_probs: npt.NDArray[np.float32]  # [N], the policy's; 0 for a teacher's actions
    trajectories: npt.NDArray[np.int64]  # [N], equal for decisions of one trajectory
    payoffs: npt.NDArray[np.float32]  # [N], what the trajectory was paid, in the reward's unit
    history: npt.NDArray[np.int8]  # [B, L], all actions at each table; -1 after the end
    seats: npt.NDArray[np.int8]  # [B, L], who did them; -1 after the end
    targets: npt.NDArray[np.float32] | None = None  # [N, A], a teacher's probabilities
    values: npt.NDArray[np.float32] | None = None  # [N, A], see `Judge`; NaN where not valued
    is_sure: npt.NDArray[np.bool_] | None = None  # [N], see `Judge`
    ends: npt.NDArray[Any] | None = None  # [B], records of the tables at the end
    paid: npt.NDArray[np.float32] | None = None  # [B, S]
    env_seconds: float = 0.0  # spent in the environment


class Judge(Protocol):
    """Sees all cards and says what actions are worth."""

    def is_sure(self, tables: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """At which of the tables [N] it values every decision, so that no chance is needed."""

    def values(self, tables: npt.NDArray[Any], deals: npt.NDArray[np.int64]) -> Values:
        """From records [N] and the numbers of their deals values float32 [N, A], or NaN."""

    def settle(self, tables: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
        """What tables [N] where it is sure will pay, float32 [N, S], and how they may end."""


def play(
    env: VectorEnv,
    policy: Policy,
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    seed: int,
    teacher: Agent | None = None,
    *,
    explore: float = 0.0,
    judge: Judge | None = None,
    is_greedy: bool = False,
    is_settled: bool = False,
) -> Rollout:
    """Deal anew at every table and play all deals to the end.

    Args:
        env: with `auto_reset=False`; keeps the finished tables and their payments.
        policy: samples its actions.
        agents: the fixed opponents.
        seating: int64 [B, S], for each table and seat an index of `agents`, or `LEARNER`.
        seed: of the deals and of all chance in playing them.
        teacher: chooses the learner's actions in its place, for the policy to imitate.
        explore: how often a call or word is any legal one instead; log-probabilities say so.
        judge: values the learner's actions.
        is_greedy: play the likeliest action where the judge is sure.
        is_settled: nothing is played or learned there: the judge says what the deal will pay.

    Raises:
        BenchmarkError: a deal is one of a benchmark's; nothing was played.
    """
    env.reset(seed=seed)
    refuse_benchmark_deals(env.game, env.decks, env.dealers, f"seed {seed}")
    learner = _Learner(env, policy, seed, teacher, explore, judge, is_greedy)
    num_tables, num_seats = seating.shape
    all_tables = np.arange(num_tables)
    payoffs = np.zeros((num_tables, num_seats), np.float32)
    history: list[npt.NDArray[np.int8]] = []
    seats: list[npt.NDArray[np.int8]] = []
    seconds = 0.0
    ends = env.tables.copy()  # of deals left to the judge as they were then
    is_over = env.dones.copy()
    is_left = np.zeros(num_tables, np.bool_)  # to the judge
    while not is_over.all():
        begun = time.perf_counter()
        states = env.states
        actions = env.random_actions(0)  # right where only one is legal; the rest is overwritten
        seconds += time.perf_counter() - begun
        is_free = (popcounts(env.legal_actions) > 1) & ~is_over
        players = seating[all_tables, env.seats]
        rows = np.flatnonzero(is_free & (players == LEARNER))
        if rows.size:
            actions[rows] = learner.act(rows, states, len(history))
        for index, agent in enumerate(agents):
            rows = np.flatnonzero(is_free & (players == index))
            if rows.size:
                keys = derive_keys(seed, rows, len(history))
                actions[rows] = agent.act(env.observations[rows], env.action_masks[rows], keys)
        is_acting = (env.seats >= 0) & ~is_over
        history.append(np.where(is_acting, actions, -1).astype(np.int8))
        seats.append(np.where(is_acting, env.seats, -1).astype(np.int8))
        begun = time.perf_counter()
        env.step(actions)
        seconds += time.perf_counter() - begun
        payoffs[~is_over] += env.rewards[~is_over]
        is_over |= env.dones
        if judge is not None and is_settled:
            rows = np.flatnonzero(~is_over)
            rows = rows[judge.is_sure(env.tables[rows])]
            ends[rows] = env.tables[rows]  # they are played on by chance, which counts for nothing
            is_left[rows] = is_over[rows] = True
    if np.abs(payoffs.sum(axis=1)).max() > _ROUNDING:
        raise AssertionError("a deal's payments do not sum to zero")
    ends[~is_left] = env.tables[~is_left]
    if judge is not None and is_left.any():
        payoffs[is_left], ends[is_left] = judge.settle(ends[is_left])
    return learner.rollout(
        payoffs, np.stack(history, 1), np.stack(seats, 1), ends, seconds, has_values=not is_settled
    )


class _Learner:
    """Acts in the learning seats, and keeps what there is to learn from."""

    def __init__(
        self,
        env: VectorEnv,
        policy: Policy,
        seed: int,
        teacher: Agent | None,
        explore: float,
        judge: Judge | None,
        is_greedy: bool,
    ) -> None:
        """See `play`."""
        self._env = env
        self._policy = policy
        self._seed = seed
        self._teacher = teacher
        self._explore = explore
        self._judge = judge
        self._is_greedy = is_greedy
        self._device = next(policy.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._parts: list[tuple[npt.NDArray[np.generic], ...]] = []
        self._judged: list[tuple[npt.NDArray[Any], npt.NDArray[np.int8]]] = []

    def act(
        self, rows: npt.NDArray[np.intp], states: npt.NDArray[np.int8], step: int
    ) -> npt.NDArray[np.int64]:
        """Actions at some tables, int64 [N].

        Args:
            rows: [N], the tables.
            states: int8 [B, P], of all tables.
            step: actions that were taken at each table before.
        """
        env = self._env
        tables, masks = env.tables[rows], env.action_masks[rows]
        seen, legal, meant = seen_by(self._policy.config, env.game.relabel, states[rows], masks)
        is_sure = np.zeros(rows.size, np.bool_)
        if self._judge is not None:
            is_sure = self._judge.is_sure(tables)
            self._judged.append((tables, meant))
        if self._teacher is None:
            is_card = legal[:, : env.game.NUM_CARDS].any(axis=1)
            chosen, log_probs = _sample(
                self._policy,
                seen[:, : env.game.OBSERVATION.size],
                legal,
                np.where(is_card, np.float32(0), np.float32(self._explore)),
                is_sure & self._is_greedy,
                self._device,
                self._generator,
            )
            actions = np.take_along_axis(meant, chosen[:, None], axis=1)[:, 0].astype(np.int64)
        else:
            keys = derive_keys(self._seed, rows, step)
            actions = self._teacher.act(env.observations[rows], masks, keys)
            chosen = (meant == actions[:, None]).argmax(axis=1)
            log_probs = np.zeros(rows.size, np.float32)
        num_seats = env.game.NUM_SEATS
        payees = env.beneficiaries()[rows]
        trajectories = (rows * num_seats + env.seats[rows]) * num_seats + payees
        self._parts.append((seen, legal, chosen, log_probs, trajectories, is_sure))
        return actions

    def rollout(
        self,
        payoffs: npt.NDArray[np.float32],
        history: npt.NDArray[np.int8],
        seats: npt.NDArray[np.int8],
        ends: npt.NDArray[Any],
        env_seconds: float,
        *,
        has_values: bool,
    ) -> Rollout:
        """All decisions, and what came of them: see `Rollout`, whose `paid` is `payoffs` here."""
        states, masks, chosen, log_probs, trajectories, is_sure = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        num_seats = self._env.game.NUM_SEATS
        deals = trajectories // num_seats**2
        values = None
        if self._judge is not None and has_values:
            values = _judge(self._judge, self._judged, deals)
        return Rollout(
            states,
            masks,
            chosen,
            log_probs,
            trajectories,
            payoffs[deals, trajectories % num_seats],
            history,
            seats,
            values=values,
            is_sure=is_sure if values is not None else None,
            ends=ends,
            paid=payoffs,
            env_seconds=env_seconds,
        )


def _judge(
    judge: Judge,
    parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.int8]]],
    deals: npt.NDArray[np.int64],
) -> Values:
    """Values float32 [N, A] of tables and the names of their actions, asked for deal by deal."""
    tables, meant = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(deals, kind="stable")
    values = np.empty(meant.shape, np.float32)
    values[order] = judge.values(tables[order], deals[order])
    return np.take_along_axis(values, meant, axis=1)


Relabel = Callable[
    [npt.NDArray[np.int8], npt.NDArray[np.int8]],
    tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int8]],
]


def seen_by(
    network: NetworkConfig,
    relabel: Relabel,
    rows: npt.NDArray[np.int8],
    masks: npt.NDArray[np.int8],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_], npt.NDArray[np.int8]]:
    """Observations or states and masks as a network sees them, and what its actions stand for.

    Args:
        network: says whether it wants `relabel`, the game's.
        rows, masks: int8 [B, O] or [B, P], and [B, A].

    Returns:
        int8 rows, bool masks, and int8 [B, A], the action that each of the network's stands for.
    """
    if network.relabel:
        rows, masks, meant = relabel(rows, masks)
    else:
        meant = np.broadcast_to(np.arange(masks.shape[1], dtype=np.int8), masks.shape)
    return rows, masks.astype(np.bool_), meant


@torch.no_grad()
def _sample(
    policy: Policy,
    observations: npt.NDArray[np.int8],
    masks: npt.NDArray[np.bool_],
    rates: npt.NDArray[np.float32],
    is_greedy: npt.NDArray[np.bool_],
    device: torch.device,
    generator: torch.Generator,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Actions drawn from the policy and their log-probabilities.

    At the `rates` [B] they are any legal ones instead; where `is_greedy` [B] the likeliest.
    """
    legal = torch.from_numpy(masks).to(device)
    log_probs = policy(torch.from_numpy(np.ascontiguousarray(observations)).to(device), legal)
    if rates.any():
        rate = torch.from_numpy(rates).to(device)[:, None]
        mixed = (1 - rate) * log_probs.exp() + rate * legal / legal.sum(-1, keepdim=True)
        log_probs = torch.where(rate > 0, mixed.log().clamp_min(MASKED_LOGIT), log_probs)
    # The largest of log-probabilities with Gumbel noise is a draw; forbidden ones stay far below.
    noise = torch.empty_like(log_probs).exponential_(generator=generator).log_()
    noise[torch.from_numpy(is_greedy).to(device)] = 0
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
        order: int64 [M], decisions sorted by trajectory, then by time; the rest gets 0.
        values: float32 [N], the critic's, in the unit of `payoffs`.
        payoffs: float32 [N], paid after the last decision of the trajectory.
        gae_lambda: 1 is the payoff less the value; less trusts the critic's later values more.
    """
    result = np.zeros(values.shape[0], np.float32)
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
