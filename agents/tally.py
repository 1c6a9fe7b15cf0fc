"""What has come of a match-up: sums that are added up lot by lot, and each deal's payments.

Where whole matches are played, each of them stands in the place of a deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.game import Game

from . import behaviour
from .analysis import calibration, regret, roles
from .analysis.games import Counts, add, games_of
from .designs import Matchup
from .played import Played

Summary = dict[str, Any]
"""A lot of deals in plain values, for `Tally.add` and for a journal."""


def _count_behaviour(game: Game, played: Played, is_counted: npt.NDArray[np.bool_]) -> Counts:
    games = games_of(played, is_counted)
    return behaviour.count(game.NAME, games.tables, games.actions, games.seats, games.is_counted)


_COUNTERS = {"behaviour": _count_behaviour, "roles": roles.count}
"""What is counted of every deal."""

_EXAMINERS = {"calibration": calibration.count, "regret": regret.count}
"""What is counted of some deals only, since it asks the solver."""


def summarise(game: Game, matchup: Matchup, played: Played, is_examined: bool) -> Summary:
    """A lot of deals in plain values.

    Args:
        game: the game module.
        matchup: who played.
        played: the deals.
        is_examined: whether to ask the solver about them too.
    """
    sums = played.settled_thirds.sum(axis=-1), played.kapikia.sum(axis=-1)
    counters = _COUNTERS | (_EXAMINERS if is_examined else {})
    return {
        "deals": len(played),
        "settled_thirds": played.settled_thirds.tolist(),
        "illegal": played.illegal.sum(axis=0).tolist(),
        "nonzero": int(((sums[0] != 0) | (sums[1] != 0)).sum()),
        "lengths": played.lengths.tolist(),
        "unfinished": int(played.is_unfinished.sum()),
        "counts": [
            {name: count(game, played, matchup.seatings == player)
             for name, count in counters.items()}
            for player in matchup.players
        ],
    }  # fmt: skip


class Tally:
    """Sums over the deals that a match-up has played so far."""

    def __init__(self, matchup: Matchup) -> None:
        self.matchup = matchup
        self.deals = 0
        self.nonzero = 0
        self.unfinished = 0  # matches that a cap ended
        self.illegal = np.zeros(matchup.seatings.shape, np.int64)  # [R, S]
        self.counts: list[dict[str, Counts]] = [{} for _ in matchup.players]
        self._settled: list[npt.NDArray[np.int32]] = []
        self._lengths: list[npt.NDArray[np.int32]] = []

    def add(self, summary: Summary) -> None:
        """Add the next lot."""
        self.deals += summary["deals"]
        self.nonzero += summary["nonzero"]
        self.unfinished += summary["unfinished"]
        self._lengths.append(np.array(summary["lengths"], np.int32))
        self.illegal += np.array(summary["illegal"])
        self._settled.append(np.array(summary["settled_thirds"], np.int32))
        for mine, more in zip(self.counts, summary["counts"], strict=True):
            add_counts(mine, more)

    @property
    def settled_thirds(self) -> npt.NDArray[np.int32]:
        """int32 [D, R, S], settled kapikia times three."""
        return np.concatenate([np.empty((0, *self.illegal.shape), np.int32), *self._settled])

    def values(self, player: int) -> npt.NDArray[np.float64]:
        """What each deal was worth to a seat of the agent `player`, float [D]: its mean."""
        thirds = self.settled_thirds[:, self.matchup.seatings == player]
        values: npt.NDArray[np.float64] = thirds.sum(axis=1) / (3 * thirds.shape[1])
        return values

    @property
    def lengths(self) -> npt.NDArray[np.int32]:
        """int32 [D, R], deals of each game: of a match as many as it took."""
        return np.concatenate([np.empty((0, len(self.illegal)), np.int32), *self._lengths])

    def wins(self, player: int) -> npt.NDArray[np.float64]:
        """How often a seat of an agent has won the most, float [D]; ties count a part each."""
        thirds = self.settled_thirds
        is_most = thirds == thirds.max(axis=-1, keepdims=True)
        shares = is_most / is_most.sum(axis=-1, keepdims=True)
        wins: npt.NDArray[np.float64] = shares[:, self.matchup.seatings == player].mean(axis=1)
        return wins

    def per_seat(self, player: int) -> tuple[float, ...]:
        """Mean with the agent in seat 0, 1, ..."""
        is_player = self.matchup.seatings == player
        sums = np.where(is_player, self.settled_thirds.sum(axis=0, dtype=np.int64), 0).sum(axis=0)
        return tuple((sums / (3 * self.deals * is_player.sum(axis=0))).tolist())

    def illegal_of(self, player: int) -> int:
        """Illegal moves of an agent."""
        return int(self.illegal[self.matchup.seatings == player].sum())

    def counts_of(self, players: Sequence[int]) -> dict[str, Counts]:
        """Counts of some of the agents together."""
        total: dict[str, Counts] = {}
        for player in players:
            add_counts(total, self.counts[self.matchup.players.index(player)])
        return total


def add_counts(total: dict[str, Counts], more: dict[str, Counts]) -> None:
    """Add counts by name to a total."""
    for name, counts in more.items():
        total[name] = add(total.get(name, {}), counts)
