"""Proximal policy optimisation (Schulman et al. 2017) on whole deals, with a critic that sees all.

One update from one rollout; nothing here knows a game but the name of the layout's field `phase`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from .network import Critic, Policy
from .rollout import Rollout, advantages

_UNLIKELY = -6.0
"""Log-probability from which an action need not become less likely in hindsight."""

_LEAST_DEVIATION = 0.3
"""In units of the reward scale; advantages smaller than this are not blown up, or a policy that
passes nearly always would learn from the few deals it did not pass as if they were disasters."""


@dataclass(frozen=True)
class PPOConfig:
    """How the policy learns from a rollout."""

    lr: float = 1e-3
    """Learning rate of Adam at the start."""
    final_lr: float = 1e-4
    """Learning rate at the end; in between it falls linearly."""
    clip: float = 0.2
    """How far the probability ratio may move before the objective is cut off."""
    epochs: int = 2
    """Passes over each rollout."""
    minibatch: int = 4096
    """Decisions in one gradient step."""
    entropy: float = 0.03
    """Weight of the policy's entropy at the start."""
    final_entropy: float = 0.01
    """Weight of the policy's entropy at the end."""
    gae_lambda: float = 0.95
    """Generalised advantage estimation; 1 uses payoffs only."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are shortened."""
    reward_scale: float = 30.0
    """Payoffs are divided by this many kapikia."""
    hindsight: float = 0.0
    """Part of what is learned about a card that comes from the solver with open cards, at the
    start; the rest comes from what deals paid."""
    final_hindsight: float = 0.0
    """The same part at the end."""
    hindsight_words: float = 0.0
    """Part of what is learned about discards, contracts and words in the defence that comes from
    hindsight, where there is one, at the start."""
    final_hindsight_words: float = 0.0
    """The same part at the end."""
    hindsight_temperature: float = 0.5
    """In hindsight, kapikia by which an action must be better to be e times as likely."""
    average: float = 0.99
    """How much of the averaged policy is kept at each update."""
    anchor: float = 0.0
    """Weight, at the start, of cloning the run's `anchor` where the solver is no judge."""
    final_anchor: float = 0.0
    """The same weight at the end."""
    anchor_temperature: float = 0.5
    """Below 1 what is cloned is surer of itself than the anchor."""
    magnet: float = 0.0
    """Weight of the divergence from the averaged policy, which holds the policy back."""

    def __post_init__(self) -> None:
        for name in (
            "lr",
            "clip",
            "anchor_temperature",
            "reward_scale",
            "max_grad_norm",
            "epochs",
            "minibatch",
            "hindsight_temperature",
        ):
            if not getattr(self, name) > 0:
                raise ValueError(f"ppo: {name} must be positive, not {getattr(self, name)}")
        for name in ("final_lr", "entropy", "final_entropy", "anchor", "final_anchor", "magnet"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"ppo: {name} must not be negative, not {getattr(self, name)}")
        for name in (
            "gae_lambda",
            "hindsight",
            "final_hindsight",
            "hindsight_words",
            "final_hindsight_words",
            "average",
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"ppo: {name} must be 0 to 1, not {getattr(self, name)}")


class DivergedError(ValueError):
    """Numbers that are not finite, before they reach the weights."""


@dataclass(frozen=True)
class _Hindsight:
    """What actions turned out to be worth, N decisions."""

    shares: Tensor  # float32 [N], of what is learned there
    gains: Tensor  # float32 [N, A], in deviations
    temperature: float  # gain that makes an action e times as likely


@dataclass(frozen=True)
class Samples:
    """A rollout as tensors, N decisions."""

    states: Tensor  # int8 [N, P]
    observations: Tensor  # int8 [N, O], a view of the states
    masks: Tensor  # bool [N, A]
    actions: Tensor  # int64 [N]
    log_probs: Tensor  # float32 [N], when they were made
    payoffs: Tensor  # float32 [N], in units of the reward scale
    returns: Tensor  # float32 [N], what the critic shall foresee
    advantages: Tensor  # float32 [N], normalised
    targets: Tensor | None  # float32 [N, A], a teacher's probabilities
    hindsight: _Hindsight | None
    is_critics: Tensor  # bool [N], whether the critic learns from it


@dataclass(frozen=True)
class Weights:
    """Of the parts of the loss, in one update."""

    policy: float
    entropy: float
    hindsight: float
    words: float
    anchor: float
    magnet: float


class Learner(nn.Module):
    """The policy, its average, its critic and their optimiser."""

    updates: Tensor

    def __init__(
        self,
        policy: Policy,
        critic: Critic,
        config: PPOConfig,
        phases: slice,
        anchor: Policy | None = None,
    ) -> None:
        """Take networks and the slice of the observation that holds the phase, one-hot.

        Args:
            anchor: see `PPOConfig.anchor`; it stays as it is, and is not part of the state.
        """
        super().__init__()
        self.policy = policy
        self.critic = critic
        self._anchor = [] if anchor is None else [anchor]  # in a list it is no submodule
        self.average = copy.deepcopy(policy).requires_grad_(False)
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))
        self.config = config
        self.phases = phases
        self.optimizer = torch.optim.Adam(self._learning(), lr=config.lr, eps=1e-5)

    def _learning(self) -> list[nn.Parameter]:
        return [*self.policy.parameters(), *self.critic.parameters()]

    def update(
        self,
        rollout: Rollout,
        observation_size: int,
        progress: float,
        generator: torch.Generator,
        *,
        is_imitating: bool = False,
        is_warming_up: bool = False,
    ) -> dict[str, float]:
        """Learn from a rollout.

        Args:
            observation_size: the leading bytes of a state that the policy sees.
            progress: 0 at the start of training, 1 at its end.
            generator: draws the order of minibatches.
            is_imitating: the actions are a teacher's; make them likely instead of what pays.
            is_warming_up: only the critic learns.

        Returns:
            Figures of this update, named as in Stable-Baselines3.
        """
        config = self.config
        device = next(self.parameters()).device

        def now(first: float, last: float) -> float:
            return first + (last - first) * progress

        lr = now(config.lr, config.final_lr)
        weights = Weights(
            policy=0.0 if is_warming_up else 1.0,
            entropy=now(config.entropy, config.final_entropy),
            hindsight=now(config.hindsight, config.final_hindsight),
            words=now(config.hindsight_words, config.final_hindsight_words),
            anchor=now(config.anchor, config.final_anchor),
            magnet=config.magnet,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        payoffs = rollout.payoffs / np.float32(config.reward_scale)
        states = torch.from_numpy(rollout.states).to(device)
        phases = rollout.states[:, self.phases].argmax(1)
        hindsight = None
        is_critics = is_learned = np.ones(len(payoffs), np.bool_)
        if rollout.values is not None and rollout.is_sure is not None:
            gains, deviation = _gains(rollout.values)
            shares = np.where(rollout.is_sure, weights.hindsight, weights.words)
            shares[~np.isfinite(rollout.values).any(axis=1)] = 0
            # The rest needs no critic, nor can anything be learned where all is worth the same.
            is_critics = shares < 1
            is_learned = is_critics | gains.any(axis=1)
            temperature = config.hindsight_temperature / deviation
            hindsight = _Hindsight(
                torch.from_numpy(shares.astype(np.float32)).to(device),
                torch.from_numpy(gains).to(device),
                temperature,
            )
        values = np.zeros(len(payoffs), np.float32)
        values[is_critics] = self._values(states[torch.from_numpy(is_critics).to(device)])
        order = np.argsort(rollout.trajectories, kind="stable")
        order = order[is_critics[order]]
        raw = advantages(rollout.trajectories, order, values, payoffs, config.gae_lambda)
        normal = np.zeros_like(raw)
        normal[is_critics] = _normalise(raw[is_critics], phases[is_critics])
        samples = Samples(
            states=states,
            observations=states[:, :observation_size],
            masks=torch.from_numpy(rollout.masks).to(device),
            actions=torch.from_numpy(rollout.actions).to(device),
            log_probs=torch.from_numpy(rollout.log_probs).to(device),
            payoffs=torch.from_numpy(payoffs).to(device),
            returns=torch.from_numpy(raw + values).to(device),
            advantages=torch.from_numpy(normal).to(device),
            targets=None if rollout.targets is None else torch.from_numpy(rollout.targets),
            hindsight=hindsight,
            is_critics=torch.from_numpy(is_critics).to(device),
        )
        totals: dict[str, float] = {}
        steps = 0
        for _ in range(config.epochs):
            shuffled = torch.randperm(int(is_learned.sum()), generator=generator)
            rows = torch.from_numpy(np.flatnonzero(is_learned))[shuffled].to(device)
            for batch in rows.split(config.minibatch):
                figures = self._step(samples, batch, weights, is_imitating)
                steps += 1
                for name, figure in figures.items():
                    totals[name] = totals.get(name, 0.0) + figure
        if not is_warming_up:
            self._average()
        result = {name: total / steps for name, total in totals.items()}
        errors, paid = (payoffs - values)[is_critics], payoffs[is_critics]
        variance = float(np.var(paid)) if paid.size else 0.0
        result["train/explained_variance"] = (
            1 - float(np.var(errors)) / variance if variance > 0 else 0.0
        )
        result["train/learning_rate"] = lr
        return result

    def _step(
        self, samples: Samples, batch: Tensor, weights: Weights, is_imitating: bool
    ) -> dict[str, float]:
        """One gradient step from the decisions whose indices are in `batch`; its figures."""
        actions = samples.actions[batch]
        log_probs = self.policy(samples.observations[batch], samples.masks[batch])
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        if is_imitating:
            if samples.targets is None:
                loss = nn.functional.nll_loss(log_probs, actions)
            else:
                loss = -(samples.targets[batch.cpu()].to(batch.device) * log_probs).sum(-1).mean()
            is_same = log_probs.argmax(-1) == actions
            figures = {
                "train/imitation_loss": float(loss.detach()),
                "train/imitation_accuracy": float(is_same.float().mean()),
            }
        else:
            objective, figures = policy_loss(
                log_probs,
                actions,
                samples.log_probs[batch],
                samples.advantages[batch],
                self.config.clip,
                samples.is_critics[batch],
            )
            if samples.hindsight is None:
                loss = objective.mean() - weights.entropy * entropy.mean()
            else:
                objective = objective - weights.entropy * entropy
                share, gains = samples.hindsight.shares[batch], samples.hindsight.gains[batch]
                regret = hindsight_loss(
                    log_probs, samples.masks[batch], gains, samples.hindsight.temperature
                )
                objective = (1 - share) * objective + share * regret
                expected = (log_probs.detach().exp() * gains).sum(-1)
                figures["train/hindsight_gain"] = float(expected.mean())
                loss = objective.mean()
            if weights.anchor and self._anchor:
                cloning = self._cloning_loss(samples, batch, log_probs)
                loss = loss + weights.anchor * cloning
                figures["train/anchor_loss"] = float(cloning.detach())
            if weights.magnet:
                divergence = self._divergence(samples, batch, log_probs)
                loss = loss + weights.magnet * divergence
                figures["train/average_kl"] = float(divergence.detach())
            loss = weights.policy * loss
        batch = batch[samples.is_critics[batch]]
        value_loss = (
            nn.functional.mse_loss(self.critic(samples.states[batch]), samples.returns[batch])
            if len(batch)
            else torch.zeros(())
        )
        norm = self._descend(loss + value_loss, is_policy_learning=weights.policy > 0)
        return figures | {
            "train/entropy_loss": -float(entropy.detach().mean()),
            "train/value_loss": float(value_loss.detach()),
            "train/grad_norm": norm,
        }

    def _descend(self, loss: Tensor, *, is_policy_learning: bool = True) -> float:
        """One step of the optimiser; how long the gradient was before it was shortened."""
        self.optimizer.zero_grad()
        loss.backward()
        if not is_policy_learning:  # without gradients its momentum rests, too
            self.policy.zero_grad()
        norm = self._shorten_gradients()
        if not torch.isfinite(norm) or not torch.isfinite(loss):
            raise DivergedError(
                "training diverged (a loss or gradient is not finite): lower ppo.lr, or "
                "look at ppo.reward_scale; the last checkpoint is from before"
            )
        self.optimizer.step()
        return float(norm)

    def _shorten_gradients(self) -> Tensor:
        """Shorten gradients that are too long; how long all were together."""
        networks = self.policy.networks()
        # What plays the cards learns from gradients a hundred times as long: one length for all
        # would leave nothing of the others.
        groups = [[*networks[0].parameters(), *self.critic.parameters()]]
        if len(networks) > 1:
            groups = [list(network.parameters()) for network in (*networks, self.critic)]
        norms = [nn.utils.clip_grad_norm_(g, self.config.max_grad_norm) for g in groups]
        if len(norms) == 1:
            return norms[0]
        device = next(self.parameters()).device  # without gradients a norm is on the CPU
        return torch.stack([norm.to(device) for norm in norms]).square().sum().sqrt()

    def _cloning_loss(self, samples: Samples, batch: Tensor, log_probs: Tensor) -> Tensor:
        """Cross-entropy from the sharpened anchor, a mean over the batch."""
        is_free = torch.nonzero(samples.is_critics[batch])[:, 0]
        rows = batch[is_free]
        with torch.no_grad():
            targets = self._anchor[0](samples.observations[rows], samples.masks[rows])
            targets = torch.softmax(targets / self.config.anchor_temperature, -1)
        return -(targets * log_probs[is_free]).sum() / len(batch)

    def _divergence(self, samples: Samples, batch: Tensor, log_probs: Tensor) -> Tensor:
        """Mean Kullback-Leibler divergence of the policy from the averaged one."""
        with torch.no_grad():
            average = self.average(samples.observations[batch], samples.masks[batch])
        divergence: Tensor = (log_probs.exp() * (log_probs - average)).sum(-1).mean()
        return divergence

    @torch.no_grad()
    def _average(self) -> None:
        """Take a part of the policy into the average, at first a larger one."""
        kept = min(self.config.average, float(self.updates / (self.updates + 10)))
        self.updates += 1
        for mean, new in zip(self.average.parameters(), self.policy.parameters(), strict=True):
            mean.lerp_(new, 1 - kept)

    @torch.no_grad()
    def _values(self, states: Tensor) -> npt.NDArray[np.float32]:
        parts = [self.critic(part) for part in states.split(self.config.minibatch)]
        return torch.cat(parts).cpu().numpy()


def policy_loss(
    log_probs: Tensor,
    actions: Tensor,
    old_log_probs: Tensor,
    advantage: Tensor,
    clip: float,
    is_counted: Tensor,
) -> tuple[Tensor, dict[str, float]]:
    """PPO's clipped objective [B], to be minimised, and its figures.

    Args:
        log_probs: float32 [B, A], of the policy now.
        actions, old_log_probs, advantage: [B], of the rollout.
        clip: see `PPOConfig`.
        is_counted: bool [B], which of them the figures are about.
    """
    log_ratio = log_probs.gather(-1, actions[:, None]).squeeze(-1) - old_log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    loss = -torch.minimum(ratio * advantage, clipped * advantage)
    with torch.no_grad():
        ratio, log_ratio = ratio[is_counted], log_ratio[is_counted]
        count = max(len(ratio), 1)
        figures = {
            "train/policy_gradient_loss": float(loss[is_counted].sum() / count),
            "train/approx_kl": float((ratio - 1 - log_ratio).sum() / count),
            "train/clip_fraction": float(((ratio - 1).abs() > clip).sum() / count),
        }
    return loss, figures


def _normalise(
    values: npt.NDArray[np.float32], groups: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32]:
    """Mean 0 and deviation 1 within each group; bids are worth ten times what cards are."""
    result = np.empty_like(values)
    for group in np.unique(groups):
        mine = groups == group
        result[mine] = (values[mine] - values[mine].mean()) / max(
            values[mine].std(), _LEAST_DEVIATION
        )
    return result


def hindsight_loss(log_probs: Tensor, masks: Tensor, gains: Tensor, temperature: float) -> Tensor:
    """What makes a policy a softmax over the mean gains of its actions; float32 [B].

    Replicator dynamics on the logits (Hennes et al., "Neural replicator dynamics", 2020): unlike a
    policy gradient it does not fade where the policy is sure, and it is linear in the gains, so
    that a policy learns from single worlds what actions are worth in the mean. Actions that are
    unlikely enough are let alone unless they are better than what the policy does.

    Args:
        log_probs: float32 [B, A], of the policy now.
        masks: bool [B, A], the legal actions.
        gains: float32 [B, A].
        temperature: gain that makes an action e times as likely.
    """
    with torch.no_grad():
        expected = (log_probs.exp() * gains).sum(-1, keepdim=True)
        masks = masks & ((log_probs > _UNLIKELY) | (gains > expected))
        push = (gains - temperature * log_probs).masked_fill(~masks, 0)
        push = push - push.sum(-1, keepdim=True) / masks.sum(-1, keepdim=True)
    return -(push.masked_fill(~masks, 0) * log_probs).sum(-1)


def _gains(values: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], float]:
    """Of values [N, A] the gains over the mean of the row, deviation 1 in all; 0 for NaN.

    Rows whose values are all the same count for nothing. And what they were divided by.
    """
    is_known = np.isfinite(values)
    best = np.where(is_known, values, -np.inf).max(axis=1)
    worst = np.where(is_known, values, np.inf).min(axis=1)
    counts = np.maximum(is_known.sum(axis=1), 1)
    means = np.where(is_known, values, 0).sum(axis=1) / counts
    is_gain = is_known & (best > worst)[:, None]
    gains = np.where(is_gain, values - means[:, None], 0).astype(np.float32)
    deviation = float(np.sqrt((gains[is_gain] ** 2).mean())) if is_gain.any() else 1.0
    return gains / np.float32(deviation), deviation
