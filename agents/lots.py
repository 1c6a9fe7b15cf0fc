"""Plays one lot of deals or matches, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env._jit import njit
from prefa_env.bits import popcount

from .agent import Actions, Agent, Keys, Masks, Observations, ask
from .benchmarks import SeedSet
from .played import Deals, Played


class AgentError(RuntimeError):
    """An agent that raised, or that returned no actions at all; it is out of the game."""

    def __init__(self, agent: str, message: str) -> None:
        super().__init__(agent, message)
        self.agent = agent
        self.message = message

    def __str__(self) -> str:
        return f"agent {self.agent!r}: {self.message}"


def play_lot(
    env: VectorEnv,
    agents: Sequence[Agent],
    seatings: npt.NDArray[np.int64],
    seeds: SeedSet,
    numbers: npt.NDArray[np.int64],
) -> Played:
    """Play deals or matches of a set in every seating; arguments as in `Arena.play`.

    Args:
        env: D * R tables that stay over at the end; its kind of episode is played.
    """
    num_seatings, num_seats = seatings.shape
    num_tables = env.num_envs
    games = np.repeat(numbers, num_seatings)
    _deal(env, seeds, games)
    distinct, seating = _distinct(agents, seatings)
    players = np.tile(seating, (len(numbers), 1))
    rows = np.empty((len(distinct), num_tables), np.int64)
    sizes = np.empty(len(distinct), np.int64)
    kapikia, kassa, illegal = np.zeros((3, num_tables, num_seats), np.int64)
    history = _History(env)
    while not env.dones.all():
        actions = np.empty(num_tables, np.int64)
        _plan(env.legal_actions, env.seats, players, rows, sizes, actions)
        for index, agent in enumerate(distinct):
            asked = rows[index, : sizes[index]]
            if asked.size == 0:
                continue
            keys = seeds.agent_keys(games, env.seats, history.num_steps, asked)
            chosen = demand(
                agent, env.tables[asked], env.observations[asked], env.action_masks[asked], keys
            )
            _accept(env.legal_actions, env.seats, asked, chosen, actions, illegal)
        history.step(actions)
        kapikia += env.kapikia
        kassa += env.kassa
    shape = (len(numbers), num_seatings)
    is_match = env.episode == "match"
    thirds = _match_thirds(env) if is_match else env.finished["settled_thirds"].copy()
    is_left = (kassa + env.rules.kassa != 0).any(axis=1) & is_match
    deals = history.deals()
    return Played(
        numbers=numbers,
        seatings=seatings,
        settled_thirds=thirds.reshape(*shape, num_seats),
        kapikia=kapikia.reshape(*shape, num_seats),
        kassa=kassa.reshape(*shape, num_seats),
        illegal=illegal.reshape(*shape, num_seats),
        lengths=np.bincount(deals.games, minlength=num_tables).reshape(shape),
        is_unfinished=is_left.reshape(shape),
        deals=deals,
    )


def _deal(env: VectorEnv, seeds: SeedSet, games: npt.NDArray[np.int64]) -> None:
    """Begin the deals or matches of these numbers, int64 [B]."""
    if env.episode == "match":
        env.reset(seed=int(seeds.match_key), streams=games)
    else:
        env.reset(*seeds.deals(env.game, games))


def _match_thirds(env: VectorEnv) -> npt.NDArray[np.int64]:
    """What the matches that are over have brought each seat, times three."""
    seats = range(env.game.NUM_SEATS)
    return np.array([[env.game.match_thirds(table, s) for s in seats] for table in env.tables])


class _History:
    """Steps the tables, and remembers what was done and each deal that ended."""

    def __init__(self, env: VectorEnv) -> None:
        self._env = env
        self._actions: list[npt.NDArray[np.int8]] = []
        self._seats: list[npt.NDArray[np.int8]] = []
        self._decks = env.decks.copy()  # of the deals going on
        self._dealers = env.dealers.copy()
        self._ended: list[tuple[npt.NDArray[Any], ...]] = []  # tables, steps, decks, ...

    @property
    def num_steps(self) -> int:
        """Steps done so far."""
        return len(self._actions)

    def step(self, actions: npt.NDArray[np.int64]) -> None:
        """Do the actions, int64 [B]."""
        env = self._env
        self._seats.append(env.seats.copy())
        self._actions.append(np.where(env.seats < 0, -1, actions).astype(np.int8))
        env.step(actions)
        ended = np.flatnonzero(env.deal_dones)
        if ended.size:
            steps = np.full(ended.size, self.num_steps)
            decks, dealers = self._decks[ended], self._dealers[ended]
            self._ended.append((ended, steps, decks, dealers, env.finished[ended]))
            self._decks[ended], self._dealers[ended] = env.decks[ended], env.dealers[ended]

    def deals(self) -> Deals:
        """All deals that have ended, table by table."""
        games, ends, decks, dealers, tables = map(np.concatenate, zip(*self._ended, strict=True))
        order = np.lexsort((ends, games))
        games, ends = games[order], ends[order]
        # A table acts in every step until it is over: a deal begins where the one before it ended.
        begins = np.where(games == np.roll(games, 1), np.roll(ends, 1), 0)
        begins[0] = 0
        steps = begins[:, None] + np.arange((ends - begins).max())
        is_in = steps < ends[:, None]
        where = np.minimum(steps, self.num_steps - 1), games[:, None]
        return Deals(
            games=games,
            decks=decks[order],
            dealers=dealers[order],
            actions=np.where(is_in, np.stack(self._actions)[where], np.int8(-1)),
            seats=np.where(is_in, np.stack(self._seats)[where], np.int8(-1)),
            tables=tables[order],
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
