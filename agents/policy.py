"""A trained policy as an agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from prefa_env.doors import find_game
from prefa_env.game import Game, GameRules

from . import checkpoint
from .agent import Actions, Keys, Masks, Observations
from .network import NetworkConfig, Policy, network_of
from .rollout import seen_by

BLOCK = 16
"""Rows go through the network in blocks of this many, the last one padded, so that what comes out
for a row does not depend on how many others there are. Small, for a single move takes as long as a
whole block."""


class PolicyAgent:
    """Plays the action that the policy finds most likely."""

    def __init__(self, name: str, policy: Policy, game: Game) -> None:
        self.name = name
        self.policy = policy.eval()
        self._relabel = game.relabel

    @torch.no_grad()
    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`; the keys are not used."""
        log_probs, meant = self.log_probs(observations, action_masks)
        chosen = log_probs.argmax(axis=1)
        return np.take_along_axis(meant, chosen[:, None], axis=1)[:, 0].astype(np.int64)

    @torch.no_grad()
    def log_probs(
        self, observations: Observations, action_masks: Masks, block: int = BLOCK
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """Log-probabilities float32 [B, A] under the policy's own names of actions.

        And int8 [B, A], the action that each of these names stands for. Blocks of another size give
        other last digits.
        """
        seen, masks, meant = seen_by(self.policy.config, self._relabel, observations, action_masks)
        result = np.empty(masks.shape, np.float32)
        in_play = self.policy.in_play(torch.from_numpy(seen)).numpy()
        kinds = [in_play, ~in_play] if self.policy.cards is not None else [slice(None)]
        for kind in kinds:  # a block goes through one network
            result[kind] = self._in_blocks(seen[kind], masks[kind], block)
        return result, meant

    def _in_blocks(
        self, seen: npt.NDArray[np.int8], masks: npt.NDArray[np.bool_], block: int
    ) -> npt.NDArray[np.float32]:
        rows = len(seen)
        if rows == 0:
            return np.empty(masks.shape, np.float32)
        padded = np.minimum(np.arange(rows + -rows % block), rows - 1)  # with the last row
        seen, masks = seen[padded], masks[padded]
        parts = [
            self.policy(
                torch.from_numpy(seen[i : i + block]), torch.from_numpy(masks[i : i + block])
            )
            for i in range(0, len(seen), block)
        ]
        log_probs: npt.NDArray[np.float32] = torch.cat(parts)[:rows].numpy()
        return log_probs


def load_agent(
    path: str | Path, game: str | Game = "prefa", rules: GameRules | None = None
) -> PolicyAgent:
    """The agent of a checkpoint or of the newest checkpoint of a run: its average, if it has one.

    Raises CheckpointError if it is missing, broken, or made for another game, layout or rules.
    """
    game = find_game(game)
    folder = checkpoint.resolve(path)
    meta = checkpoint.load_meta(folder)
    checkpoint.check_fits(meta, game, rules or game.Rules(), folder)
    tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
    prefix = "average." if any(name.startswith("average.") for name in tensors) else "policy."
    weights = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    try:
        policy = Policy(game, NetworkConfig(**network_of(meta)))
        policy.load_state_dict(weights)
    except (RuntimeError, TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(f"broken checkpoint: {folder}: {error}") from None
    return PolicyAgent(str(path), policy, game)
