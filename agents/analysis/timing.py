"""How long an agent takes for one move, asked alone, and whether it then does the same."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prefa_env import VectorEnv
from prefa_env.game import Game, GameRules
from prefa_env.prefa import Phase

from ..agent import Agent
from ..benchmarks import SeedSet
from ..lots import demand
from ..played import Played
from .games import Means, games_of, is_analysed

PHASES = tuple(phase.name.lower() for phase in Phase if phase != Phase.OVER)


class Times(NamedTuple):
    """What an agent needed for its moves, and in how many it chose another action than before."""

    milliseconds: dict[str, list[float]]  # of each phase that came up
    differing: int


def measure(
    game: Game,
    rules: GameRules,
    agent: Agent,
    seeds: SeedSet,
    played: Played,
    is_counted: npt.NDArray[np.bool_],
) -> Times:
    """Ask an agent once more for each of its decisions in finished deals, one at a time.

    It sees what it saw then and gets the same key. Before the first move of each phase it is asked
    once untimed, for what it compiles or loads.

    Args:
        game: the game module.
        rules: those of the deals.
        agent: who played them.
        seeds: the set that the deals are of.
        played, is_counted: as in `games.games_of`; the seats counted are the agent's.

    Raises:
        AgentError: see `lots.demand`.
    """
    times = Times({}, 0)
    if not is_analysed(game):
        return times
    games = games_of(played, is_counted)
    env = VectorEnv(game, 1, rules, auto_reset=False)
    for n, actions in enumerate(games.actions):
        env.reset(games.decks[n : n + 1], games.dealers[n : n + 1])
        deal = int(played.numbers[n // len(played.seatings)])
        for number, action in enumerate(actions[actions >= 0]):
            seat = int(env.seats[0])
            if games.is_counted[n, seat] and np.count_nonzero(env.action_masks) > 1:
                key = seeds.decision_key(deal, seat, number)
                chosen = _time_move(env, agent, key, times.milliseconds)
                times = times._replace(differing=times.differing + int(chosen != action))
            env.step(np.array([action]))
    return times


def _time_move(
    env: VectorEnv, agent: Agent, key: np.uint64, milliseconds: dict[str, list[float]]
) -> int:
    """The action of an agent at the only table; the time is put with those of its phase."""
    position = env.tables.copy(), env.observations.copy(), env.action_masks.copy()
    phase = PHASES[env.tables[0]["phase"]]
    if phase not in milliseconds:
        milliseconds[phase] = []
        demand(agent, *position, np.array([key]))
    keys = np.array([key])
    begun = time.perf_counter()
    actions = demand(agent, *position, keys)
    milliseconds[phase].append(1e3 * (time.perf_counter() - begun))
    return _as_done(int(actions[0]), env.action_masks[0])


def _as_done(action: int, mask: npt.NDArray[np.int8]) -> int:
    """What the arena does for an agent: its action, the lowest legal one if that is illegal."""
    is_legal = 0 <= action < len(mask) and mask[action] == 1
    return action if is_legal else int(mask.argmax())


def add(first: Times, second: Times) -> Times:
    """Times of both lots of deals."""
    milliseconds = {
        phase: first.milliseconds.get(phase, []) + second.milliseconds.get(phase, [])
        for phase in {**first.milliseconds, **second.milliseconds}
    }
    return Times(milliseconds, first.differing + second.differing)


def percentiles(times: Times) -> dict[str, Means]:
    """Of each phase that came up: how many `moves`, median `p50` and `p95` in milliseconds."""
    result: dict[str, Means] = {}
    for phase in PHASES:
        if phase in times.milliseconds:
            moves = times.milliseconds[phase]
            p50, p95 = np.percentile(moves, [50, 95])
            result[phase] = {"moves": len(moves), "p50": float(p50), "p95": float(p95)}
    return result
