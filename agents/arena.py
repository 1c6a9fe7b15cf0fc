"""Deals played by agents against each other, each in all rotations with the same cards.

Nothing in a result depends on how many deals are played at once: decks and dealers are keyed by
(seed set, deal), chance inside an agent by (seed set, deal, seat, decision).
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcount
from prefa_env.game import Game, GameRules
from prefa_env.streams import derive_key, draw_deck

from . import behaviour
from .agent import Actions, Agent, Keys, ask
from .statistics import estimate

CANDIDATE, FIELD = 0, 1
"""Entries of a seating: indices of the two agents that are compared."""

_DEALS, _AGENTS = 0, 1
"""Sub-streams of a set: its deals; the agent in seat 0, those in other seats follow."""


# -- named sets of deals --------------------------------------------------------------------------


@njit
def _draw_deals(
    key: np.uint64, first: int, decks: npt.NDArray[np.int8], dealers: npt.NDArray[np.int8], n: int
) -> None:
    """Write deals `first`, `first + 1`, ... of a set for `n` seats."""
    for i in range(decks.shape[0]):
        dealers[i] = draw_deck(decks[i], key, _DEALS, first + i, n)


@njit
def _derive_agent_keys(
    key: np.uint64,
    deals: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int8],
    decision: int,
    rows: npt.NDArray[np.int64],
    keys: Keys,
) -> None:
    """Write the key of (deal, seat, decision) for each row."""
    for k in range(rows.shape[0]):
        i = rows[k]
        seat_key = derive_key(key, _AGENTS + seats[i])
        keys[k] = derive_key(derive_key(seat_key, deals[i]), decision)


@dataclass(frozen=True)
class SeedSet:
    """An endless row of deals with a name; the name is all that decides about it."""

    name: str

    @property
    def key(self) -> np.uint64:
        """The key that the set's streams derive from: a hash of the name."""
        return np.uint64(int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little"))

    def deals(
        self, game: Game, first: int, count: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Decks int8 [count, cards] and dealers int8 [count] from deal `first` on."""
        decks = np.empty((count, game.NUM_CARDS), np.int8)
        dealers = np.empty(count, np.int8)
        _draw_deals(self.key, first, decks, dealers, game.NUM_SEATS)
        return decks, dealers

    def decision_key(self, deal: int, seat: int, decision: int) -> np.uint64:
        """The key that an agent gets in a seat of a deal, after `decision` actions at the table."""
        keys = np.empty(1, np.uint64)
        seats, rows = np.array([seat], np.int8), np.zeros(1, np.int64)
        _derive_agent_keys(self.key, np.array([deal]), seats, decision, rows, keys)
        return np.uint64(keys[0])

    def fingerprint(self, game: Game, count: int) -> str:
        """Hash of the first `count` deals: for each its dealer, then its deck, a byte a number."""
        digest = hashlib.sha256()
        for first in range(0, count, 4096):
            decks, dealers = self.deals(game, first, min(4096, count - first))
            digest.update(np.column_stack([dealers, decks]).tobytes())
        return digest.hexdigest()[:16]


# -- playing --------------------------------------------------------------------------------------


def rotations(num_seats: int) -> npt.NDArray[np.int64]:
    """int64 [S, S]: seatings X-Y-Y; in seating r the candidate sits in seat r, else the field."""
    return np.where(np.eye(num_seats, dtype=np.bool_), CANDIDATE, FIELD).astype(np.int64)


@dataclass(frozen=True)
class Played:
    """D finished deals in R seatings for S seats; L is the longest deal in actions."""

    first: int  # number of the first deal in its set
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
    """Play the first deals of a set in every seating, some at a time, in order.

    Agents are asked only where two or more actions are legal, each once a step with all its rows.
    An illegal action is counted and replaced by the lowest legal one.

    Args:
        game: the game module.
        rules: the variant.
        agents: the players.
        seatings: int64 [R, S], for each seating and seat an index of `agents`.
        seeds: the deals.
        deals: how many.
        batch_size: deals played at once, each at R tables; if None few at first, then more as long
            as a lot of them takes less than a second.
        workers: processes; agents are copied to each.

    Raises:
        TypeError: an agent returned something else than an integer a row.
        BrokenProcessPool: a worker was killed.
    """
    job = _Job(game, rules, agents, seatings, seeds)
    if workers == 1:
        yield from (job.play(*lot) for lot in _lots(deals, batch_size))
        return
    yield job.play(0, 1)  # what is to be compiled, is now, once
    share = -(-deals // (_LOTS_A_WORKER * workers))
    lots = _lots(deals, min(batch_size or _MOST_AT_ONCE, share), first=1)
    context = multiprocessing.get_context("spawn")  # a fork may copy a lock that is held
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(workers, context, _start_worker, (job,)) as pool:
        try:
            yield from _in_order(pool, lots, 2 * workers)
        except BaseException:  # do not wait for lots that nobody wants any more
            for process in multiprocessing.active_children():
                if process not in others:
                    process.terminate()
            raise


def _in_order(
    pool: ProcessPoolExecutor, lots: Iterator[tuple[int, int]], ahead: int
) -> Iterator[Played]:
    """Finished lots in order, never more than some of them begun ahead."""
    waiting: deque[Future[Played]] = deque()
    for lot in lots:
        waiting.append(pool.submit(_play_in_worker, *lot))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_FEWEST_AT_ONCE, _MOST_AT_ONCE = 16, 512


def _lots(deals: int, batch_size: int | None, first: int = 0) -> Iterator[tuple[int, int]]:
    """First deal and number of deals of each lot; the time to the next lot is that of playing."""
    size = batch_size or _FEWEST_AT_ONCE
    while first < deals:
        begun = time.perf_counter()
        yield first, min(size, deals - first)
        first += size
        if batch_size is None and time.perf_counter() - begun < 1:
            size = min(2 * size, _MOST_AT_ONCE)


_LOTS_A_WORKER = 16
"""Lots of deals that a worker gets one after the other, so that all end at about the same time."""


@dataclass
class _Job:
    """What a process needs to play deals."""

    game: Game
    rules: GameRules
    agents: Sequence[Agent]
    seatings: npt.NDArray[np.int64]
    seeds: SeedSet
    env: VectorEnv | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A module goes to another process by its name.
        return {**vars(self), "game": self.game.__name__, "env": None}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, game=import_module(state["game"]))

    def play(self, first: int, count: int) -> Played:
        num_tables = count * len(self.seatings)
        if self.env is None or self.env.num_envs != num_tables:
            self.env = VectorEnv(self.game, num_tables, self.rules, auto_reset=False)
        return _play_batch(self.env, self.agents, self.seatings, self.seeds, first, count)


_jobs: list[_Job] = []
"""In a worker: what it was started for."""


def _start_worker(job: _Job) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C for all
    threading.Thread(target=_follow_parent, daemon=True).start()
    _jobs.append(job)


def _follow_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_in_worker(first: int, count: int) -> Played:
    return _jobs[0].play(first, count)


def _play_batch(
    env: VectorEnv,
    agents: Sequence[Agent],
    seatings: npt.NDArray[np.int64],
    seeds: SeedSet,
    first: int,
    count: int,
) -> Played:
    num_seatings, num_seats = seatings.shape
    num_tables = env.num_envs
    decks, dealers = seeds.deals(env.game, first, count)
    env.reset(np.repeat(decks, num_seatings, axis=0), np.repeat(dealers, num_seatings))
    numbers = np.repeat(np.arange(first, first + count), num_seatings)
    distinct, seating = _distinct(agents, seatings)
    players = np.tile(seating, (count, 1))
    rows = np.empty((len(distinct), num_tables), np.int64)
    sizes = np.empty(len(distinct), np.int64)
    keys = np.empty(num_tables, np.uint64)
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
            _derive_agent_keys(seeds.key, numbers, env.seats, len(all_actions), asked, keys)
            chosen = ask(
                agent,
                env.tables[asked],
                env.observations[asked],
                env.action_masks[asked],
                keys[: asked.size].copy(),
            )
            checked = _check(agent, chosen, asked.size)
            _accept(env.legal_actions, env.seats, asked, checked, actions, illegal)
        all_seats.append(env.seats.copy())
        all_actions.append(np.where(env.seats < 0, -1, actions).astype(np.int8))
        env.step(actions)
    shape = (count, num_seatings)
    tables = env.tables.copy()
    return Played(
        first=first,
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
    """Each agent once, and the seatings in their indices."""
    distinct = list({id(agent): agent for agent in agents}.values())
    index = np.array([next(i for i, d in enumerate(distinct) if d is agent) for agent in agents])
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


def _check(agent: Agent, chosen: Any, size: int) -> Actions:
    array = np.asarray(chosen)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise TypeError(
            f"agent {agent.name!r} must return {size} integers, not {array.dtype} {array.shape}"
        )
    return np.ascontiguousarray(array, np.int64)


# -- comparing ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What a candidate won a deal against a field: the deal's mean over all rotations."""

    candidate: str
    field: str
    deals: int
    mean: float
    low: float  # 95 % interval
    high: float
    sd: float  # of a deal
    per_seat: tuple[float, ...]  # mean with the candidate in seat 0, 1, ...
    illegal: int  # illegal moves, by anyone
    illegal_candidate: int
    illegal_field: int
    nonzero: int  # games whose payments do not sum to zero
    behaviour: dict[str, behaviour.Shares]  # of `candidate` and `field`


def compare(
    game: Game,
    rules: GameRules,
    candidate: Agent,
    field: Agent,
    seeds: SeedSet,
    deals: int,
    batch_size: int | None = None,
    workers: int = 1,
    on_played: Callable[[Played], None] | None = None,
) -> Comparison:
    """Measure a candidate against copies of a field agent on duplicate deals.

    Args:
        game: the game module.
        rules: the variant.
        candidate: sits in each seat in turn.
        field: sits in all other seats.
        seeds: the deals.
        deals: how many, at least 2; each is played once a seat.
        batch_size: deals played at once; if None as many as take about a second.
        workers: processes.
        on_played: called with each lot of finished deals, in order.
    """
    seatings = rotations(game.NUM_SEATS)
    is_candidate = seatings == CANDIDATE
    won: list[npt.NDArray[np.int64]] = []
    illegal = np.zeros(seatings.shape, np.int64)
    nonzero = 0
    counts: dict[str, behaviour.Counts] = {"candidate": {}, "field": {}}
    for played in play(
        game, rules, [candidate, field], seatings, seeds, deals, batch_size, workers
    ):
        won.append(played.settled_thirds[:, is_candidate])
        illegal += played.illegal.sum(axis=0)
        nonzero += count_nonzero(played)
        for who, is_counted in (("candidate", is_candidate), ("field", ~is_candidate)):
            counts[who] = behaviour.add(counts[who], _behaviour(game, played, is_counted))
        if on_played is not None:
            on_played(played)
    thirds = np.concatenate(won)  # [deals, S], by the candidate's seat
    result = estimate(thirds.sum(axis=1) / (3 * game.NUM_SEATS))
    return Comparison(
        candidate=candidate.name,
        field=field.name,
        deals=deals,
        mean=result.mean,
        low=result.low,
        high=result.high,
        sd=result.sd,
        per_seat=tuple(map(float, thirds.mean(axis=0) / 3)),
        illegal=int(illegal.sum()),
        illegal_candidate=int(illegal[is_candidate].sum()),
        illegal_field=int(illegal[~is_candidate].sum()),
        nonzero=nonzero,
        behaviour={who: behaviour.shares(game.NAME, number) for who, number in counts.items()},
    )


def count_nonzero(played: Played) -> int:
    """Games in which kapikia or settled kapikia do not sum to zero."""
    sums = played.settled_thirds.sum(axis=-1) != 0
    return int((sums | (played.kapikia.sum(axis=-1) != 0)).sum())


def _behaviour(game: Game, played: Played, is_counted: npt.NDArray[np.bool_]) -> behaviour.Counts:
    length = played.actions.shape[-1]
    return behaviour.count(
        game.NAME,
        played.tables.reshape(-1),
        played.actions.reshape(-1, length),
        played.seats.reshape(-1, length),
        np.tile(is_counted, (len(played.tables), 1)),
    )
