"""Past selves of a policy, kept to be played against."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from prefa_env.game import Game

from .agent import Actions, Keys, Masks, Observations
from .network import Policy
from .rollout import seen_by


class Sampler:
    """Plays what a policy says, each action as often as it says."""

    name = "past self"

    def __init__(self, policy: Policy, game: Game) -> None:
        self._policy = policy
        self._relabel = game.relabel

    @torch.no_grad()
    def act(self, observations: Observations, action_masks: Masks, keys: Keys) -> Actions:
        """See `Agent.act`."""
        seen, masks, meant = seen_by(self._policy.config, self._relabel, observations, action_masks)
        device = next(self._policy.parameters()).device
        legal = torch.from_numpy(masks).to(device)
        probabilities = self._policy(torch.from_numpy(seen).to(device), legal).exp().cpu().numpy()
        sums = np.where(masks, probabilities, 0).astype(np.float64).cumsum(axis=1)
        draws = (keys >> np.uint64(11)) * 2.0**-53 * sums[:, -1]
        chosen = (sums > draws[:, None]).argmax(axis=1)
        return np.take_along_axis(meant, chosen[:, None], axis=1)[:, 0].astype(np.int64)


class League:
    """The newest weights of a policy at some moments; full, it forgets every other one."""

    def __init__(self, size: int) -> None:
        """Take how many it keeps at most, 3 or more."""
        self._size = size
        self._members: dict[int, dict[str, Tensor]] = {}
        self._taken: dict[int, tuple[int, float]] = {}
        self._gap = 1

    def __len__(self) -> int:
        return len(self._members)

    def add(self, time: int, policy: Policy, decisions: int, seconds: float) -> None:
        """Keep the weights of a policy as it is at a time, counted from 0 in steps of one.

        And the decisions and seconds that it had taken.
        """
        if time % self._gap:
            return
        self._taken[time] = decisions, seconds
        self._members[time] = {k: v.cpu().clone() for k, v in policy.state_dict().items()}
        if len(self._members) > self._size:
            self._gap *= 2
            self._members = {t: w for t, w in self._members.items() if t % self._gap == 0}

    @property
    def taken(self) -> dict[int, tuple[int, float]]:
        """Decisions and seconds that the members had taken, by time, where they are known."""
        return {time: self._taken[time] for time in self._members if time in self._taken}

    @property
    def times(self) -> list[int]:
        """When the members were what they are, ascending."""
        return list(self._members)

    def recall(self, time: int, policy: Policy) -> None:
        """Give `policy` the weights of the member of that time."""
        policy.load_state_dict(self._members[time])

    def draw(self, rng: np.random.Generator, policy: Policy) -> None:
        """Give `policy` the weights of one of the members, each with the same chance."""
        self.recall(self.times[rng.integers(len(self))], policy)

    def tensors(self) -> dict[str, Tensor]:
        """All members, named `<time>.<parameter>`."""
        return {f"{t}.{k}": v for t, weights in self._members.items() for k, v in weights.items()}

    def load(
        self, tensors: Mapping[str, Tensor], taken: Mapping[int, tuple[int, float]] | None = None
    ) -> None:
        """Take over what `tensors` and `taken` gave. Raises ValueError for other names."""
        self._taken = dict(taken or {})
        self._members = {}
        for name, tensor in tensors.items():
            time, _, key = name.partition(".")
            self._members.setdefault(int(time), {})[key] = tensor
        self._members = dict(sorted(self._members.items()))
        self._gap = 1
        while len(self._members) > 1 and all(t % (2 * self._gap) == 0 for t in self._members):
            self._gap *= 2
