"""Proximal policy optimisation (Schulman et al. 2017) on whole deals, with a critic that sees all.

One update from one rollout; nothing here knows a game but the name of the layout's field `phase`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from .network import Critic, Policy
from .rollout import Rollout, advantages

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

    def __post_init__(self) -> None:
        for name in ("lr", "clip", "reward_scale", "max_grad_norm", "epochs", "minibatch"):
            if not getattr(self, name) > 0:
                raise ValueError(f"ppo: {name} must be positive, not {getattr(self, name)}")
        for name in ("final_lr", "entropy", "final_entropy"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"ppo: {name} must not be negative, not {getattr(self, name)}")
        if not 0 <= self.gae_lambda <= 1:
            raise ValueError(f"ppo: gae_lambda must be 0 to 1, not {self.gae_lambda}")


class DivergedError(ValueError):
    """Numbers that are not finite, before they reach the weights."""


@dataclass(frozen=True)
class _Samples:
    """A rollout as tensors, N decisions."""

    states: Tensor  # int8 [N, P]
    observations: Tensor  # int8 [N, O], a view of the states
    masks: Tensor  # bool [N, A]
    actions: Tensor  # int64 [N]
    log_probs: Tensor  # float32 [N], when they were made
    returns: Tensor  # float32 [N]
    advantages: Tensor  # float32 [N], normalised
    targets: Tensor | None  # float32 [N, A], a teacher's probabilities


class Learner(nn.Module):
    """The policy, its critic and their optimiser."""

    def __init__(self, policy: Policy, critic: Critic, config: PPOConfig, phases: slice) -> None:
        """Take networks and the slice of the observation that holds the phase, one-hot."""
        super().__init__()
        self.policy = policy
        self.critic = critic
        self.config = config
        self.phases = phases
        self.optimizer = torch.optim.Adam(self.parameters(), lr=config.lr, eps=1e-5)

    def update(
        self,
        rollout: Rollout,
        observation_size: int,
        progress: float,
        generator: torch.Generator,
        *,
        is_imitating: bool = False,
    ) -> dict[str, float]:
        """Learn from a rollout.

        Args:
            observation_size: the leading bytes of a state that the policy sees.
            progress: 0 at the start of training, 1 at its end.
            generator: draws the order of minibatches.
            is_imitating: the actions are a teacher's; make them likely instead of what pays.

        Returns:
            Figures of this update, named as in Stable-Baselines3.
        """
        config = self.config
        device = next(self.parameters()).device
        lr = config.lr + (config.final_lr - config.lr) * progress
        entropy_weight = config.entropy + (config.final_entropy - config.entropy) * progress
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        payoffs = rollout.payoffs / np.float32(config.reward_scale)
        states = torch.from_numpy(rollout.states).to(device)
        values = self._values(states)
        order = np.argsort(rollout.trajectories, kind="stable")
        raw = advantages(rollout.trajectories, order, values, payoffs, config.gae_lambda)
        normal = _normalise(raw, rollout.states[:, self.phases].argmax(1))
        samples = _Samples(
            states=states,
            observations=states[:, :observation_size],
            masks=torch.from_numpy(rollout.masks).to(device),
            actions=torch.from_numpy(rollout.actions).to(device),
            log_probs=torch.from_numpy(rollout.log_probs).to(device),
            returns=torch.from_numpy(raw + values).to(device),
            advantages=torch.from_numpy(normal).to(device),
            targets=None if rollout.targets is None else torch.from_numpy(rollout.targets),
        )
        totals: dict[str, float] = {}
        steps = 0
        for _ in range(config.epochs):
            shuffled = torch.randperm(len(rollout.actions), generator=generator).to(device)
            for batch in shuffled.split(config.minibatch):
                figures = self._step(samples, batch, entropy_weight, is_imitating)
                steps += 1
                for name, figure in figures.items():
                    totals[name] = totals.get(name, 0.0) + figure
        result = {name: total / steps for name, total in totals.items()}
        variance = float(np.var(payoffs))
        result["train/explained_variance"] = (
            1 - float(np.var(payoffs - values)) / variance if variance > 0 else 0.0
        )
        result["train/learning_rate"] = lr
        return result

    def _step(
        self, samples: _Samples, batch: Tensor, entropy_weight: float, is_imitating: bool
    ) -> dict[str, float]:
        """One gradient step from the decisions whose indices are in `batch`; its figures."""
        actions = samples.actions[batch]
        log_probs = self.policy(samples.observations[batch], samples.masks[batch])
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
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
            )
            loss = objective - entropy_weight * entropy
        value_loss = nn.functional.mse_loss(
            self.critic(samples.states[batch]), samples.returns[batch]
        )
        self.optimizer.zero_grad()
        (loss + value_loss).backward()
        norm = nn.utils.clip_grad_norm_(self.parameters(), self.config.max_grad_norm)
        if not torch.isfinite(norm) or not torch.isfinite(value_loss):
            raise DivergedError(
                "training diverged (a loss or gradient is not finite): lower ppo.lr, or "
                "look at ppo.reward_scale; the last checkpoint is from before"
            )
        self.optimizer.step()
        return figures | {
            "train/entropy_loss": -float(entropy.detach()),
            "train/value_loss": float(value_loss.detach()),
            "train/grad_norm": float(norm),
        }

    @torch.no_grad()
    def _values(self, states: Tensor) -> npt.NDArray[np.float32]:
        parts = [self.critic(part) for part in states.split(self.config.minibatch)]
        return torch.cat(parts).cpu().numpy()


def policy_loss(
    log_probs: Tensor, actions: Tensor, old_log_probs: Tensor, advantage: Tensor, clip: float
) -> tuple[Tensor, dict[str, float]]:
    """PPO's clipped objective, to be minimised, and its figures.

    Args:
        log_probs: float32 [B, A], of the policy now.
        actions, old_log_probs, advantage: [B], of the rollout.
    """
    log_ratio = log_probs.gather(-1, actions[:, None]).squeeze(-1) - old_log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    with torch.no_grad():
        figures = {
            "train/policy_gradient_loss": float(loss.detach()),
            "train/approx_kl": float((ratio - 1 - log_ratio).mean()),
            "train/clip_fraction": float(((ratio - 1).abs() > clip).float().mean()),
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
