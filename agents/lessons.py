"""Teacher data as rollouts: what a policy is cloned from before it plays."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from prefa_env.game import Game, GameRules

from .network import NetworkConfig
from .rollout import Rollout, seen_by
from .teaching import Decisions, concatenate, load_shards


class Lessons:
    """All shards of a folder, in memory, some of them at a time."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        game: Game,
        rules: GameRules,
        temperature: float,
        choice_weight: float,
        network: NetworkConfig,
    ) -> None:
        """Read the shards.

        Args:
            folder: of teacher data (docs/teaching.md).
            game, rules: what they must be of.
            temperature, choice_weight: see `targets`.
            network: whose names for suits the lessons use.

        Raises:
            FolderError: see `load_shards`.
        """
        self.shards = list(load_shards(folder, game, rules))
        self._deals = len(np.unique(self.shards[0].trajectories // game.NUM_SEATS**2))  # a shard
        self._temperature = temperature
        self._choice_weight = choice_weight
        self._relabel = game.relabel
        self._network = network

    def draw(self, seed: int, iteration: int, deals: int) -> Rollout:
        """The next shards with about so many deals, each once before any comes again.

        Args:
            seed: of the order in which they come, which is another one each time.
            iteration: from 0; what comes depends on it and on the seed alone.
            deals: of all seats; whole shards are taken, one at least.
        """
        count = len(self.shards)
        taken = min(max(1, round(deals / self._deals)), count)
        places = np.arange(iteration * taken, (iteration + 1) * taken)
        orders = {
            time: np.random.default_rng([seed, int(time)]).permutation(count)
            for time in np.unique(places // count)
        }
        numbers = [orders[place // count][place % count] for place in places]
        decisions = concatenate(self.shards[number] for number in numbers)
        states, masks, meant = seen_by(
            self._network, self._relabel, decisions.states, decisions.masks.view(np.int8)
        )
        # A shard that ends one order and begins the next is here twice.
        copies = np.repeat(np.arange(taken), [len(self.shards[number]) for number in numbers])
        many = decisions.trajectories.max() + 1
        _, trajectories = np.unique(copies * many + decisions.trajectories, return_inverse=True)
        return Rollout(
            states=states,
            masks=masks,
            actions=(meant == decisions.choices[:, None]).argmax(axis=1),
            log_probs=np.zeros(len(decisions), np.float32),
            trajectories=trajectories,
            payoffs=decisions.payoffs,
            history=np.empty((0, 0), np.int8),
            seats=np.empty((0, 0), np.int8),
            targets=np.take_along_axis(
                targets(decisions, self._temperature, self._choice_weight), meant, axis=1
            ),
        )


def targets(
    decisions: Decisions, temperature: float, choice_weight: float
) -> npt.NDArray[np.float32]:
    """How likely a policy is to be made to take each action, float32 [N, A].

    A mixture of the teacher's choice and of a softmax over what the actions are worth, which says
    by how much one is better than another; where nothing was valued, the choice alone.

    Args:
        decisions: N of them.
        temperature: kapikia that make an action e times as likely.
        choice_weight: part of the choice in the mixture.
    """
    values = decisions.values / np.float32(temperature)
    is_valued = np.isfinite(values)
    best = np.where(is_valued, values, -np.inf).max(axis=1, keepdims=True)
    soft = np.where(is_valued, np.exp(np.where(is_valued, values - best, 0)), 0)
    total = soft.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, np.float32(choice_weight), np.float32(1))
    result = (1 - weight) * soft / np.maximum(total, 1)
    result[np.arange(len(decisions)), decisions.choices] += weight[:, 0]
    mixed: npt.NDArray[np.float32] = result.astype(np.float32)
    return mixed
