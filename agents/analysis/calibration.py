"""What a declarer names, what he takes, and what he could take if all cards were seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit_called
from prefa_env.game import Game
from prefa_env.prefa import DTYPE, Action, Defence, Phase
from prefa_env.prefa.kernel import deal, step
from prefa_env.solver import Memory
from prefa_env.solver.payment import tricks_to_come
from prefa_env.words import Ints

from ..played import Played
from .games import Counts, Means, games_of, is_analysed, mean

LEVELS = range(6, 11)

_DEFENCE, _PLAY = int(Phase.DEFENCE), int(Phase.PLAY)
_SAY_PLAY = int(Action.PLAY)


@njit_called
def _solve_contracts(
    table: Ints,
    scratch: Ints,
    tables: npt.NDArray[Any],
    options: npt.NDArray[np.int64],
    decks: npt.NDArray[np.int8],
    dealers: npt.NDArray[np.int8],
    actions: npt.NDArray[np.int8],
    tricks: npt.NDArray[np.int64],
) -> None:
    """Write the declarer's tricks with open cards in some games in which a contract was named.

    Args:
        table, scratch: of a solver's `Memory`.
        tables: State records [2], scratch.
        options: int64 [N], of the rules.
        decks, dealers, actions: as in `games.Games`.
        tricks: int64 [N, 2]: against the defence as it was, -1 if nobody defended; against both.
    """
    s, other = tables[0], tables[1]
    for n in range(actions.shape[0]):
        deal(s, options[n], decks[n], dealers[n])
        i = 0
        while s.phase < _DEFENCE:
            step(s, actions[n, i])
            i += 1
        tables[1] = tables[0]
        step(other, _SAY_PLAY)
        step(other, _SAY_PLAY)
        tricks[n, 1] = tricks_to_come(table, scratch, other, other.owner)
        while s.phase < _PLAY:
            step(s, actions[n, i])
            i += 1
        tricks[n, 0] = -1 if s.seat < 0 else tricks_to_come(table, scratch, s, s.owner)


def count(game: Game, played: Played, is_counted: npt.NDArray[np.bool_]) -> Counts:
    """Contracts and tricks at each level named; arguments as in `games.games_of`.

    The hands solved are those after the discards, and first hand leads, or who follows it.
    """
    if not is_analysed(game):
        return {}
    games = games_of(played, is_counted)
    owner, bid = games.tables["owner"], games.tables["bid"]
    rows = np.flatnonzero((owner >= 0) & (bid >= 0))
    rows = rows[games.is_counted[rows, owner[rows]]]
    tables = games.tables[rows]
    memory = Memory()
    solved = np.empty((len(rows), 2), np.int64)
    _solve_contracts(
        memory.table,
        memory.scratch,
        np.zeros(2, DTYPE),
        np.ascontiguousarray(tables["options"]),
        games.decks[rows],
        games.dealers[rows],
        games.actions[rows],
        solved,
    )
    levels = LEVELS[0] + bid[rows] // 5
    taken = tables["tricks"][np.arange(len(rows)), owner[rows]]
    is_played = tables["defence"] != Defence.NOBODY
    counts: Counts = {}
    for level in LEVELS:
        is_named = levels == level
        is_here = is_named & is_played
        counts[f"contracts_{level}"] = int(is_named.sum())
        counts[f"played_{level}"] = int(is_here.sum())
        counts[f"tricks_{level}"] = int(taken[is_here].sum())
        counts[f"made_{level}"] = int((taken[is_here] >= level).sum())
        counts[f"open_{level}"] = int(solved[is_here, 0].sum())
        counts[f"against_two_{level}"] = int(solved[is_named, 1].sum())
    return counts


def levels(counts: Counts) -> list[Means]:
    """Counts as a row for each level from 6 to 10; empty if nothing was counted.

    `contracts` named at the `level`, and how many of them were `played`, that is, defended. Of
    those played: mean `tricks` of the declarer; mean `open` tricks, what he takes with all cards
    seen by everybody, against the same defence; the share `made`. Of all contracts, those that
    nobody defended too: mean tricks with open cards `against_two`.
    """
    return [_level(counts, level) for level in LEVELS] if counts else []


def _level(counts: Counts, level: int) -> Means:
    contracts, played = counts[f"contracts_{level}"], counts[f"played_{level}"]
    return {
        "level": level,
        "contracts": contracts,
        "played": played,
        "tricks": mean(counts[f"tricks_{level}"], played),
        "open": mean(counts[f"open_{level}"], played),
        "made": mean(counts[f"made_{level}"], played),
        "against_two": mean(counts[f"against_two_{level}"], contracts),
    }
