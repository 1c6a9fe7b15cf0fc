"""A trained policy as an agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from prefa_env.doors import find_game
from prefa_env.game import Game, GameRules

from . import checkpoint
from .agent import Actions, Keys, Masks, Observations
from .network import NetworkConfig, Policy

BLOCK = 256
"""Rows go through the network in blocks of this many, the last one padded, so that what comes out
for a row does not depend on how many others there are."""


class PolicyAgent:
    """Plays the action that the policy finds most likely."""

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self.policy = policy.eval()

    @torch.no_grad()
    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`; the keys are not used."""
        rows = len(observations)
        padded = -(-rows // BLOCK) * BLOCK
        seen = np.zeros((padded, observations.shape[1]), np.int8)
        seen[:rows] = observations
        masks = np.ones((padded, action_masks.shape[1]), np.bool_)
        masks[:rows] = action_masks
        actions = [
            self.policy(torch.from_numpy(a), torch.from_numpy(b)).argmax(-1)
            for a, b in zip(np.split(seen, padded // BLOCK), np.split(masks, padded // BLOCK),
                            strict=True)
        ]  # fmt: skip
        return torch.cat(actions)[:rows].numpy()


def load_agent(
    path: str | Path, game: str | Game = "prefa", rules: GameRules | None = None
) -> PolicyAgent:
    """The agent of a checkpoint or of the newest checkpoint of a run.

    Raises CheckpointError if it is missing, broken, or made for another game, layout or rules.
    """
    game = find_game(game)
    folder = checkpoint.resolve(Path(path))
    meta = checkpoint.load_meta(folder)
    checkpoint.check_fits(meta, game, rules or game.Rules(), folder)
    tensors = checkpoint.load_tensors(folder, meta, checkpoint.MODEL_FILE)
    prefix = "policy."
    weights = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    try:
        policy = Policy(game.OBSERVATION, game.NUM_ACTIONS, NetworkConfig(**meta["network"]))
        policy.load_state_dict(weights)
    except (RuntimeError, TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(f"broken checkpoint: {folder}: {error}") from None
    return PolicyAgent(str(path), policy)
