"""Deals or matches played by agents against each other, in several seatings with the same cards.

Nothing in a result depends on how many deals are played at once, in which order or by how many
processes: decks and all chance are keyed (see `benchmarks`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import import_module
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env.doors import Episode
from prefa_env.game import Game, GameRules

from .agent import Agent
from .benchmarks import SeedSet
from .lots import play_lot
from .played import Played
from .workers import Workers, one_thread


class Arena:
    """Plays deals or matches of one set by one variant, here or in its own processes; a context.

    On leaving it by an exception the processes end at once.
    """

    def __init__(
        self,
        game: Game,
        rules: GameRules,
        agents: Sequence[Agent],
        seeds: SeedSet,
        workers: int = 1,
        batch_size: int | None = None,
        episode: Episode = "deal",
        max_deals: int | None = None,
    ) -> None:
        """Take note of what is to be played; processes start when they are first needed.

        Args:
            game: the game module.
            rules: the variant.
            agents: the players; copied to each process.
            seeds: the deals.
            workers: processes; 1 plays in this one.
            batch_size: deals played at once, each at R tables; if None few at first, then more as
                long as a lot of them takes less than a second.
            episode: `"match"` for whole matches in the place of deals.
            max_deals: deals after which a match ends unfinished; None for no cap.
        """
        self._job = _Job(game, rules, agents, seeds, episode, max_deals)
        self._workers = workers
        self._batch_size = batch_size
        self._processes = Workers(workers, self._job.play)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._processes.__exit__(kind, error, trace)

    def play(
        self, seatings: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]
    ) -> Generator[Played, None, None]:
        """Play deals in every seating, some at a time, in order.

        Agents are asked only where two or more actions are legal, each once a step with all its
        rows. An illegal action is counted and replaced by the lowest legal one.

        Args:
            seatings: int64 [R, S], for each seating and seat an index of `agents`.
            numbers: int64 [D], which deals of the set.

        Raises:
            AgentError: an agent raised, or returned something else than an integer a row.
            BrokenProcessPool: a worker was killed.
        """
        if self._workers == 1:
            for first, last in _lots(len(numbers), self._batch_size):
                yield self._job.play(seatings, numbers[first:last])
            return
        if len(numbers):  # what is to be compiled, is now, once
            yield self._job.play(seatings, numbers[:1])
        share = -(-len(numbers) // (_LOTS_A_WORKER * self._workers))
        size = min(self._batch_size or _MOST_AT_ONCE, max(share, 1))
        waiting: deque[Future[Played]] = deque()
        try:
            for first, last in _lots(len(numbers), size, first=1):
                waiting.append(self._processes.submit(seatings, numbers[first:last]))
                if len(waiting) >= 2 * self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # of a caller that has seen enough
            for future in waiting:
                future.cancel()


def play(
    game: Game,
    rules: GameRules,
    agents: Sequence[Agent],
    seatings: npt.NDArray[np.int64],
    seeds: SeedSet,
    deals: int,
    batch_size: int | None = None,
    workers: int = 1,
    episode: Episode = "deal",
    max_deals: int | None = None,
) -> Iterator[Played]:
    """Play the first deals of a set in every seating; arguments as `Arena` has them."""
    with Arena(game, rules, agents, seeds, workers, batch_size, episode, max_deals) as arena:
        yield from arena.play(seatings, np.arange(deals))


_FEWEST_AT_ONCE, _MOST_AT_ONCE = 16, 512

_LOTS_A_WORKER = 16
"""Lots of deals that a worker gets one after the other, so that all end at about the same time."""


def _lots(deals: int, batch_size: int | None, first: int = 0) -> Iterator[tuple[int, int]]:
    """Begin and end of each lot; the time to the next lot is that of playing."""
    size = batch_size or _FEWEST_AT_ONCE
    while first < deals:
        begun = time.perf_counter()
        yield first, min(first + size, deals)
        first += size
        if batch_size is None and time.perf_counter() - begun < 1:
            size = min(2 * size, _MOST_AT_ONCE)


@dataclass
class _Job:
    """What a process needs to play deals."""

    game: Game
    rules: GameRules
    agents: Sequence[Agent]
    seeds: SeedSet
    episode: Episode
    max_deals: int | None
    env: VectorEnv | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # A module goes to another process by its name.
        return {**vars(self), "game": self.game.__name__, "env": None}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=import_module(state["game"]))

    def play(self, seatings: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Played:
        num_tables = len(numbers) * len(seatings)
        if self.env is None or self.env.num_envs != num_tables:
            self.env = VectorEnv(
                self.game,
                num_tables,
                self.rules,
                self.episode,
                auto_reset=False,
                max_deals=self.max_deals,
            )
        with one_thread():
            return play_lot(self.env, self.agents, seatings, self.seeds, numbers)
