"""One agent measured against others: a row of results, and `compare`, which makes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env.doors import Episode
from prefa_env.game import Game, GameRules

from . import behaviour
from .agent import Agent
from .analysis import roles
from .arena import Arena
from .benchmarks import SeedSet
from .designs import one_against_copies
from .played import Played
from .statistics import anytime_interval, bootstrap, estimate, holm, p_value
from .tally import Tally, summarise

PAIRS = ("xyy", "xxy", "cross")
"""Designs of a candidate and a field."""

_BINS = 40
_BOOTSTRAP_SEED = 0


@dataclass(frozen=True)
class Comparison:
    """What a candidate won a deal, or a match: of each the mean over its seatings."""

    candidate: str
    field: str  # the other agent, or those in the other seats separated by commas
    design: str
    deals: int
    mean: float
    low: float  # 95 % interval
    high: float
    sd: float  # of a deal
    # The rest of the statistics is None where the number of deals was not fixed beforehand.
    bootstrap_low: float | None  # 95 % interval once more, without Student's assumptions
    bootstrap_high: float | None
    p: float | None  # of a mean of 0
    p_holm: float | None  # adjusted for all rows of the table; alone it is p
    per_seat: tuple[float, ...]  # mean with the candidate in seat 0, 1, ...
    illegal: int  # illegal moves, by anyone
    illegal_candidate: int
    illegal_field: int
    nonzero: int  # games whose payments do not sum to zero
    behaviour: dict[str, behaviour.Shares]  # of `candidate` and `field`
    roles: dict[str, dict[str, dict[str, float | int | None]]]  # of `candidate` and `field`
    histogram: dict[str, list[float]]  # `edges` [K + 1] and `counts` [K] of a deal's value
    match: dict[str, float] | None = None  # of matches: who wins, and how long it takes


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
    """Measure a candidate against copies of a field agent on duplicate deals, X-Y-Y.

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

    Raises:
        AgentError: an agent raised, or returned something else than an integer a row.
    """
    matchup = one_against_copies(0, 1, game.NUM_SEATS)
    tally = Tally(matchup)
    with Arena(game, rules, [candidate, field], seeds, workers, batch_size) as arena:
        for played in arena.play(matchup.seatings, np.arange(deals)):
            tally.add(summarise(game, matchup, played, is_examined=False))
            if on_played is not None:
                on_played(played)
    return row(game, tally, 0, [candidate.name, field.name], "xyy")


def row(
    game: Game,
    tally: Tally,
    candidate: int,
    names: Sequence[str],
    design: str,
    is_sequential: bool = False,
    episode: Episode = "deal",
) -> Comparison:
    """The row of one agent of a match-up.

    Args:
        game: the game module.
        tally: of at least 2 deals.
        candidate: index of the agent.
        names: of all agents.
        design: its name.
        is_sequential: whether the number of deals was not fixed beforehand.
        episode: `"match"` if each of the deals is a whole match.
    """
    players = tally.matchup.players
    others = [player for player in players if player != candidate]
    values = tally.values(candidate)
    found = anytime_interval(values) if is_sequential else estimate(values)
    low, high = (None, None) if is_sequential else bootstrap(values, _BOOTSTRAP_SEED)
    p = None if is_sequential else p_value(values)
    counts = {
        "candidate": tally.counts_of([candidate]),
        "field": tally.counts_of(others),
    }
    return Comparison(
        candidate=names[candidate],
        field=_field(tally, candidate, names, design),
        design=design,
        deals=tally.deals,
        mean=found.mean,
        low=found.low,
        high=found.high,
        sd=found.sd,
        bootstrap_low=low,
        bootstrap_high=high,
        p=p,
        p_holm=p,
        per_seat=tally.per_seat(candidate),
        illegal=int(tally.illegal.sum()),
        illegal_candidate=tally.illegal_of(candidate),
        illegal_field=int(tally.illegal.sum()) - tally.illegal_of(candidate),
        nonzero=tally.nonzero,
        behaviour={who: behaviour.shares(game.NAME, c["behaviour"]) for who, c in counts.items()},
        roles={who: roles.shares(c["roles"]) for who, c in counts.items()},
        histogram=_histogram(values),
        match=_match(tally, candidate, is_sequential) if episode == "match" else None,
    )


def _match(tally: Tally, candidate: int, is_sequential: bool) -> dict[str, float]:
    """How often a seat of the candidate wins the most in a match, and how many deals one takes."""
    wins = tally.wins(candidate)
    found = anytime_interval(wins) if is_sequential else estimate(wins)
    lengths = tally.lengths
    return {
        "wins": found.mean,
        "wins_low": found.low,
        "wins_high": found.high,
        "length": float(lengths.mean()),
        "longest": int(lengths.max()),
        "unfinished": tally.unfinished / lengths.size,
    }


def _field(tally: Tally, candidate: int, names: Sequence[str], design: str) -> str:
    """Who the others are: the other of a pair, else an agent a seat."""
    others = [player for player in tally.matchup.players if player != candidate]
    if design in PAIRS:
        return names[others[0]]
    seating = next(row.tolist() for row in tally.matchup.seatings if candidate in row)
    seating.remove(candidate)
    return ",".join(names[player] for player in sorted(seating))


def adjust(rows: Sequence[Comparison]) -> list[Comparison]:
    """The rows with p-values, if they have any, adjusted for being looked at together (Holm)."""
    known = [row.p for row in rows if row.p is not None]
    if len(known) < len(rows):
        return list(rows)
    adjusted = holm(known)
    return [replace(row, p_holm=float(p)) for row, p in zip(rows, adjusted, strict=True)]


def _histogram(values: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Bins of equal width, on both sides of 0."""
    reach = float(np.abs(values).max()) or 1.0
    counts, edges = np.histogram(values, _BINS, (-reach, reach))
    return {"edges": edges.tolist(), "counts": counts.tolist()}
