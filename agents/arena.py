"""Deals played by agents against each other, each in several seatings with the same cards.

Nothing in a result depends on how many deals are played at once, in which order or by how many
processes: decks and all chance are keyed (see `benchmarks`).
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcount
from prefa_env.game import Game, GameRules

from .agent import Actions, Agent, Keys, Masks, Observations, ask
from .benchmarks import SeedSet


class AgentError(RuntimeError):
    """An agent that raised, or that returned no actions at all; it is out of the game."""

    def __init__(self, agent: str, message: str) -> None:
        super().__init__(agent, message)
        self.agent = agent
        self.message = message

    def __str__(self) -> str:
        return f"agent {self.agent!r}: {self.message}"


@dataclass(frozen=True)
class Played:
    """D finished deals in R seatings for S seats; L is the longest deal in actions."""

    numbers: npt.NDArray[np.int64]  # [D], of the deals in their set
    decks: npt.NDArray[np.int8]  # [D, cards]
    dealers: npt.NDArray[np.int8]  # [D]
    seatings: npt.NDArray[np.int64]  # [R, S], who sat where
    settled_thirds: npt.NDArray[np.int64]  # [D, R, S], settled kapikia times three: exact
    kapikia: npt.NDArray[np.int64]  # [D, R, S], changes of the deal
    kassa: npt.NDArray[np.int64]  # [D, R, S]
    illegal: npt.NDArray[np.int64]  # [D, R, S], illegal moves
    actions: npt.NDArray[np.int8]  # [D, R, L], -1 after the end
    seats: npt.NDArray[np.int8]  # [D, R, L], who did them
    tables: npt.NDArray[Any]  # game records [D, R]

    def __len__(self) -> int:
        return len(self.numbers)

    def select(self, which: slice) -> Played:
        """Some of the deals."""
        parts = {name: array[which] for name, array in vars(self).items() if name != "seatings"}
        return Played(seatings=self.seatings, **parts)


class Arena:
    """Plays deals of one set by one variant, here or in processes of its own; a context.

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
        """
        self._job = _Job(game, rules, agents, seeds)
        self._workers = workers
        self._batch_size = batch_size
        self._pool: ProcessPoolExecutor | None = None
        self._others: list[Any] = []
        self._files = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        if error is not None:  # do not wait for lots that nobody wants any more
            for process in multiprocessing.active_children():
                if process not in self._others:
                    process.terminate()
        self._pool.shutdown(cancel_futures=True)
        self._files.close()

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
                pool = self._pool or self._start()
                with _interrupts_held():  # a process that it starts inherits that
                    waiting.append(pool.submit(_play_in_worker, seatings, numbers[first:last]))
                if len(waiting) >= 2 * self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # of a caller that has seen enough
            for future in waiting:
                future.cancel()

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")  # a fork may copy a lock that is held
        self._others = multiprocessing.active_children()
        # Not through the pipe of a new process: it is small, and if the process is killed before
        # it has read all, this one would wait for it for ever.
        path = Path(self._files.enter_context(TemporaryDirectory(prefix="prefa-"))) / "job"
        path.write_bytes(pickle.dumps(self._job))
        self._pool = ProcessPoolExecutor(self._workers, context, _start_worker, (path,))
        return self._pool


def play(
    game: Game,
    rules: GameRules,
    agents: Sequence[Agent],
    seatings: npt.NDArray[np.int64],
    seeds: SeedSet,
    deals: int,
    batch_size: int | None = None,
    workers: int = 1,
) -> Iterator[Played]:
    """Play the first deals of a set in every seating; arguments as `Arena` has them."""
    with Arena(game, rules, agents, seeds, workers, batch_size) as arena:
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


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait; new processes hold it for good: this one answers it for all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in a process ---------------------------------------------------------------------------------


@dataclass
class _Job:
    """What a process needs to play deals."""

    game: Game
    rules: GameRules
    agents: Sequence[Agent]
    seeds: SeedSet
    env: VectorEnv | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # A module goes to another process by its name.
        return {**vars(self), "game": self.game.__name__, "env": None}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=import_module(state["game"]))

    def play(self, seatings: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Played:
        num_tables = len(numbers) * len(seatings)
        if self.env is None or self.env.num_envs != num_tables:
            self.env = VectorEnv(self.game, num_tables, self.rules, auto_reset=False)
        with one_thread():
            return _play_batch(self.env, self.agents, seatings, self.seeds, numbers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch, if an agent brought it, compute in one thread.

    Threads would fight over the cores with the other processes, and another number of them may add
    up a network's sums in another order.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_jobs: list[_Job] = []
"""In a worker: what it was started for."""


def _start_worker(path: Path) -> None:
    threading.Thread(target=_follow_parent, daemon=True).start()
    _jobs.append(pickle.loads(path.read_bytes()))  # written by the parent just before


def _follow_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_in_worker(seatings: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> Played:
    return _jobs[0].play(seatings, numbers)


def _play_batch(
    env: VectorEnv,
    agents: Sequence[Agent],
    seatings: npt.NDArray[np.int64],
    seeds: SeedSet,
    numbers: npt.NDArray[np.int64],
) -> Played:
    num_seatings, num_seats = seatings.shape
    num_tables = env.num_envs
    decks, dealers = seeds.deals(env.game, numbers)
    env.reset(np.repeat(decks, num_seatings, axis=0), np.repeat(dealers, num_seatings))
    deals = np.repeat(numbers, num_seatings)
    distinct, seating = _distinct(agents, seatings)
    players = np.tile(seating, (len(numbers), 1))
    rows = np.empty((len(distinct), num_tables), np.int64)
    sizes = np.empty(len(distinct), np.int64)
    illegal = np.zeros((num_tables, num_seats), np.int64)
    all_actions: list[npt.NDArray[np.int8]] = []
    all_seats: list[npt.NDArray[np.int8]] = []
    while not env.dones.all():
        actions = np.empty(num_tables, np.int64)
        _plan(env.legal_actions, env.seats, players, rows, sizes, actions)
        for index, agent in enumerate(distinct):
            asked = rows[index, : sizes[index]]
            if asked.size == 0:
                continue
            keys = seeds.agent_keys(deals, env.seats, len(all_actions), asked)
            chosen = demand(
                agent, env.tables[asked], env.observations[asked], env.action_masks[asked], keys
            )
            _accept(env.legal_actions, env.seats, asked, chosen, actions, illegal)
        all_seats.append(env.seats.copy())
        all_actions.append(np.where(env.seats < 0, -1, actions).astype(np.int8))
        env.step(actions)
    shape = (len(numbers), num_seatings)
    tables = env.tables.copy()
    return Played(
        numbers=numbers,
        decks=decks,
        dealers=dealers,
        seatings=seatings,
        settled_thirds=tables["settled_thirds"].reshape(*shape, num_seats),
        kapikia=tables["kapikia_change"].reshape(*shape, num_seats),
        kassa=tables["kassa_change"].reshape(*shape, num_seats),
        illegal=illegal.reshape(*shape, num_seats),
        actions=np.stack(all_actions, axis=1).reshape(*shape, -1),
        seats=np.stack(all_seats, axis=1).reshape(*shape, -1),
        tables=tables.reshape(shape),
    )


def _distinct(
    agents: Sequence[Agent], seatings: npt.NDArray[np.int64]
) -> tuple[list[Agent], npt.NDArray[np.int64]]:
    """Each agent that sits somewhere once, and the seatings in their indices."""
    seated = [agents[index] for index in np.unique(seatings)]
    distinct = list({id(agent): agent for agent in seated}.values())
    index = np.zeros(len(agents), np.int64)
    for i in np.unique(seatings):
        index[i] = next(k for k, agent in enumerate(distinct) if agent is agents[i])
    return distinct, index[seatings]


@njit
def _plan(
    legal: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int8],
    players: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    actions: Actions,
) -> None:
    """Write the lowest legal action of each table, and for each agent the tables that ask it."""
    sizes[:] = 0
    for i in range(legal.shape[0]):
        bits = legal[i]
        actions[i] = popcount((bits & -bits) - 1) if bits != 0 else 0
        if bits & (bits - 1) != 0:
            player = players[i, seats[i]]
            rows[player, sizes[player]] = i
            sizes[player] += 1


@njit
def _accept(
    legal: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int8],
    rows: npt.NDArray[np.int64],
    chosen: Actions,
    actions: Actions,
    illegal: npt.NDArray[np.int64],
) -> None:
    """Take over the legal ones of the chosen actions, count the others."""
    for k in range(rows.shape[0]):
        i = rows[k]
        action = chosen[k]
        if 0 <= action < 64 and legal[i] >> (action & 63) & 1 != 0:
            actions[i] = action
        else:
            illegal[i, seats[i]] += 1


def demand(
    agent: Agent,
    tables: npt.NDArray[Any],
    observations: Observations,
    action_masks: Masks,
    keys: Keys,
) -> Actions:
    """What `ask` gives, an int64 a row, legal or not; AgentError for whatever else may happen."""
    try:
        chosen = np.asarray(ask(agent, tables, observations, action_masks, keys))
    except MemoryError:
        raise
    except Exception as error:
        raise AgentError(agent.name, f"{type(error).__name__}: {error}") from error
    if chosen.shape != keys.shape or chosen.dtype.kind not in "iu":
        raise AgentError(
            agent.name, f"must return {keys.size} integers, not {chosen.dtype} {chosen.shape}"
        )
    return np.ascontiguousarray(chosen, np.int64)
