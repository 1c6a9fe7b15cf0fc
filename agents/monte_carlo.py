"""Deep Monte Carlo, to compare PPO with (Zha et al., "DouZero", 2021).

The network says what each action will pay, and is drawn to what was paid; there is no critic. Where
DouZero takes a random action now and then, actions here are drawn by a softmax over what they pay.
"""

from __future__ import annotations

from torch import Tensor, nn

from .ppo import Learner, Samples, Weights

_TEMPERATURE = 0.05
"""In units of the reward scale: what makes an action e times as likely."""


class MonteCarlo(Learner):
    """Learns what actions pay; its policy prefers those that pay more."""

    def _step(
        self, samples: Samples, batch: Tensor, weights: Weights, is_imitating: bool
    ) -> dict[str, float]:
        if is_imitating:
            return super()._step(samples, batch, weights, is_imitating)
        observations, actions = samples.observations[batch], samples.actions[batch]
        paid = _TEMPERATURE * self.policy.logits(observations).gather(-1, actions[:, None])[:, 0]
        loss = nn.functional.mse_loss(paid, samples.payoffs[batch])
        norm = self._descend(loss)
        log_probs = self.policy(observations, samples.masks[batch]).detach()
        return {
            "train/entropy_loss": float((log_probs.exp() * log_probs).sum(-1).mean()),
            "train/value_loss": float(loss.detach()),
            "train/grad_norm": norm,
        }
