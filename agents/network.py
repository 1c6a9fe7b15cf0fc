"""The networks: a policy that sees an observation, a critic that sees the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from prefa_env.game import Game
from prefa_env.layout import Layout

MASKED_LOGIT = -1e9
"""Finite, so that a row of forbidden actions gives no NaN."""


@dataclass(frozen=True)
class NetworkConfig:
    """Size of the policy's and of the critic's network."""

    width: int = 256
    """Units of each hidden layer."""
    blocks: int = 2
    """Residual blocks after the first layer."""
    relabel: bool = True
    """Show suits that the rules do not tell apart under the same names."""
    card_body: bool = False
    """Whether the policy is two networks: one that plays the cards, and one for all that is said
    and discarded before."""
    open_critic: bool = True
    """Whether the critic sees all cards, or no more than the policy."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 16384:
            raise ValueError(f"network: width must be 1 to 16384, not {self.width}")
        if not 0 <= self.blocks <= 64:
            raise ValueError(f"network: blocks must be 0 to 64, not {self.blocks}")


def network_of(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the `NetworkConfig` in a checkpoint's JSON; the oldest lack the later ones."""
    return {"relabel": False, "card_body": False, "open_critic": True, **meta["network"]}


class Scale(nn.Module):
    """Bytes of a layout as floats of about -1..1: each divided by the most its field can hold."""

    factors: Tensor

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        highs = np.concatenate([np.full(field.size, field.high, np.float32) for field in layout])
        self.register_buffer("factors", torch.from_numpy(1 / np.maximum(highs, 1)), False)

    def forward(self, rows: Tensor) -> Tensor:
        """int8 [B, n] to float32 [B, n]."""
        return rows.to(torch.float32) * self.factors


class Block(nn.Module):
    """A residual block: x + W2 relu(W1 norm(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """float32 [B, width] to the same."""
        update: Tensor = self.second(torch.relu(self.first(self.norm(x))))
        return x + update


def _body(layout: Layout, config: NetworkConfig, outputs: int) -> nn.Sequential:
    """A residual network over the rows of a layout; its last layer starts at zero."""
    head = nn.Linear(config.width, outputs)  # the order of layers decides what a seed gives them
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    first = nn.Linear(layout.size, config.width)
    # Single deals teach nothing about these: who has learned from them must not see noise there.
    is_in_match = np.repeat([f.in_match for f in layout], [f.size for f in layout])
    with torch.no_grad():
        first.weight[:, is_in_match] = 0
    return nn.Sequential(
        Scale(layout),
        first,
        nn.ReLU(),
        *[Block(config.width) for _ in range(config.blocks)],
        nn.LayerNorm(config.width),
        head,
    )


class Policy(nn.Module):
    """One for all seats and roles; the cards may have a network of their own."""

    def __init__(self, game: Game, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.body = _body(game.OBSERVATION, config, game.NUM_ACTIONS)
        self.cards = None
        if config.card_body:
            self.cards = _body(game.OBSERVATION, config, game.NUM_ACTIONS)
        self._in_play = game.IN_PLAY

    def forward(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Log-probabilities float32 [B, A] of int8 [B, O] and bool [B, A]; finite everywhere."""
        logits = self.logits(observations).masked_fill(~masks, MASKED_LOGIT)
        return torch.log_softmax(logits, dim=-1)

    def logits(self, observations: Tensor) -> Tensor:
        """What `forward` makes probabilities of, float32 [B, A]."""
        logits: Tensor
        if self.cards is None:
            logits = self.body(observations)
            return logits
        in_play = self.in_play(observations)
        if torch.compiler.is_exporting():  # a graph has no branches
            return torch.where(in_play[:, None], self.cards(observations), self.body(observations))
        count = int(in_play.sum())
        if count in {0, len(in_play)}:
            logits = self.cards(observations) if count else self.body(observations)
            return logits
        order = torch.argsort(in_play.to(torch.int8))
        before, cards = observations[order].split([len(in_play) - count, count])
        return torch.cat([self.body(before), self.cards(cards)])[torch.argsort(order)]

    def in_play(self, observations: Tensor) -> Tensor:
        """Where a card is to be played, bool [B]."""
        return observations[:, self._in_play] != 0

    def networks(self) -> list[nn.Module]:
        """The networks it is made of, which share no weight."""
        return [self.body] if self.cards is None else [self.body, self.cards]


class Critic(nn.Module):
    """What the deal will pay to the seat to act, in units of the reward scale."""

    def __init__(self, game: Game, config: NetworkConfig) -> None:
        super().__init__()
        layout = game.STATE if config.open_critic else game.OBSERVATION
        self.body = _body(layout, config, 1)
        self._size = layout.size

    def forward(self, states: Tensor) -> Tensor:
        """float32 [B] of int8 [B, P]."""
        values: Tensor = self.body(states[:, : self._size])
        return values.squeeze(-1)
