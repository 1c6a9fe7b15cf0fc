"""The object of results of an evaluation: plain values, for JSON, console and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from . import provenance
from .analysis import calibration, regret
from .comparison import PAIRS, Comparison, adjust, row
from .curves import read_curves
from .evaluation import Evaluation
from .ratings import fit, fit_openskill
from .registry import is_checkpoint, parts
from .statistics import FIRST_LOOK, estimate
from .tally import Tally, add_counts

UNITS = {"deal": {"prefa": "settled_kapikia"}, "match": {"prefa": "kapikia"}}
"""What a deal or a match is counted in, by game."""


def results(evaluation: Evaluation) -> dict[str, Any]:
    """Everything found so far (docs/evaluation.md lists it)."""
    config, game, seeds = evaluation.config, evaluation.game, evaluation.seeds
    return {
        "unit": UNITS[config.episode].get(game.NAME, "points"),
        "episode": config.episode,
        "game": game.NAME,
        "rules": config.rules.to_dict(),
        "design": config.design,
        "seeds": {
            "name": seeds.name,
            "hash": seeds.fingerprint(game, config.deals, config.episode),
            "deals": config.deals,
            "benchmark": evaluation.benchmark,
        },
        "config": asdict(config),
        **provenance.run(),
        "commit": ", ".join(dict.fromkeys(filter(None, evaluation.commits))) or None,
        "seconds": evaluation.seconds,
        "rows": [asdict(comparison) for comparison in comparisons(evaluation)],
        "cross": _cross(evaluation),
        "league": _league(evaluation),
        "agents": {name: _agent(evaluation, name) for name in dict.fromkeys(evaluation.names)},
        "failures": [asdict(failure) for failure in evaluation.failures],
    }


def comparisons(evaluation: Evaluation) -> list[Comparison]:
    """A row for each match-up that has played, of trios and leagues one for each agent."""
    config = evaluation.config
    is_pair = config.design in PAIRS
    rows: list[Comparison] = []
    for tally in _played(evaluation):
        players = tally.matchup.players
        rows += [
            row(
                evaluation.game,
                tally,
                player,
                evaluation.names,
                config.design,
                is_sequential=config.until is not None,
                episode=config.episode,
            )
            for player in (players[:1] if is_pair else players)
        ]
    return adjust(rows)


def _played(evaluation: Evaluation) -> list[Tally]:
    """Match-ups with deals enough for an interval."""
    fewest = 2 if evaluation.config.until is None else FIRST_LOOK
    return [tally for tally in evaluation.tallies if tally.deals >= fewest]


def _agent(evaluation: Evaluation, name: str) -> dict[str, Any]:
    """What is known of an agent from all its match-ups."""
    counts: dict[str, Any] = {}
    for tally in evaluation.tallies:
        players = tally.matchup.players
        mine = [player for player in players if evaluation.names[player] == name]
        add_counts(counts, tally.counts_of(mine))
    return {
        "identity": evaluation.identities[name],
        **evaluation.timing.get(name, {}),
        "calibration": calibration.levels(counts.get("calibration", {})),
        "regret": regret.sides(counts.get("regret", {})),
        "curves": read_curves(name) if parts(name) == (name,) and is_checkpoint(name) else {},
    }


def _cross(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What the bidding and the cards win by themselves, and how much they need each other."""
    if evaluation.config.design != "cross":
        return []
    crosses = []
    for first in range(0, len(evaluation.tallies), 3):
        tallies = evaluation.tallies[first : first + 3]
        if not tallies[0].deals == tallies[1].deals == tallies[2].deals > 1:
            continue
        both, bidding, cards = (tally.values(tally.matchup.players[0]) for tally in tallies)
        arms = {
            "both": both,
            "bidding": bidding,
            "cards": cards,
            "interaction": both - bidding - cards,
        }
        candidate, field = evaluation.label(tallies[0])
        found = {name: estimate(values)._asdict() for name, values in arms.items()}
        crosses.append({"candidate": candidate, "field": field, **found})
    return crosses


def _league(evaluation: Evaluation) -> dict[str, Any] | None:
    """Ratings, and what everyone wins in every company."""
    if evaluation.config.design != "league":
        return None
    agents = len(evaluation.names)
    tensor = np.full((agents,) * evaluation.game.NUM_SEATS, np.nan)
    tensor[(np.arange(agents),) * tensor.ndim] = 0  # among copies of oneself
    players, payoffs, deals = [], [], []
    for tally, numbers in zip(evaluation.tallies, evaluation.deals, strict=True):
        if tally.deals < 2:
            continue
        choice = np.sort(tally.matchup.seatings[0])
        values = {player: tally.values(player) for player in tally.matchup.players}
        for seating in tally.matchup.seatings:
            tensor[tuple(seating)] = values[seating[0]].mean()
        players.append(np.tile(choice, (tally.deals, 1)))
        payoffs.append(np.stack([values[player] for player in choice], axis=1))
        deals.append(numbers[: tally.deals])
    rated: list[dict[str, Any]] = []
    if players:
        order = np.argsort(np.concatenate(deals), kind="stable")
        games = np.concatenate(players)[order], np.concatenate(payoffs)[order]
        rated = _rate(*games, np.concatenate(deals)[order], evaluation.names)
    payoffs_or_none = tensor.astype(object)
    payoffs_or_none[np.isnan(tensor)] = None
    return {"agents": evaluation.names, "ratings": rated, "payoffs": payoffs_or_none.tolist()}


def _rate(
    players: npt.NDArray[np.int64],
    payoffs: npt.NDArray[np.float64],
    deals: npt.NDArray[np.int64],
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """Ratings of all agents that have played; see `fit`."""
    present, compact = np.unique(players, return_inverse=True)
    games = compact.reshape(players.shape), payoffs
    ratings = fit(*games, deals, len(present))
    skills = fit_openskill(*games, len(present))
    columns = {**ratings._asdict(), **skills._asdict()}
    return [
        {"agent": names[agent], **{name: float(column[i]) for name, column in columns.items()}}
        for i, agent in enumerate(present)
    ]
