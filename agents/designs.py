"""Designs of experiments: which agents meet in which seats, and which deals they play.

Every match-up plays a deal in a set of seatings that treats its agents alike: each of them holds
each hand equally often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations

import numpy as np
import numpy.typing as npt

CANDIDATE, FIELD = 0, 1
"""Entries of `rotations`: the two agents that are compared."""


@dataclass(frozen=True)
class Matchup:
    """Agents that meet, and how."""

    players: tuple[int, ...]  # indices of agents, the one looked at first
    seatings: npt.NDArray[np.int64]  # [R, S], indices of agents


def rotations(num_seats: int) -> npt.NDArray[np.int64]:
    """int64 [S, S]: seatings X-Y-Y; in seating r the candidate sits in seat r, else the field."""
    return np.where(np.eye(num_seats, dtype=np.bool_), CANDIDATE, FIELD).astype(np.int64)


def one_against_copies(candidate: int, field: int, num_seats: int) -> Matchup:
    """X-Y-Y: one candidate among copies of a field agent, in each seat in turn."""
    return Matchup((candidate, field), np.array([candidate, field])[rotations(num_seats)])


def copies_against_one(candidate: int, field: int, num_seats: int) -> Matchup:
    """X-X-Y: copies of a candidate against one field agent, in each seat in turn."""
    return Matchup((candidate, field), np.array([field, candidate])[rotations(num_seats)])


def everyone(players: Sequence[int]) -> Matchup:
    """As many agents as seats, in all different seatings: six of three different ones."""
    seatings = sorted(set(permutations(players)))
    return Matchup(tuple(dict.fromkeys(players)), np.array(seatings, np.int64))


def league(agents: Sequence[int], num_seats: int) -> list[Matchup]:
    """Every choice of agents for the seats, in all seatings; but not of one agent alone.

    Of k agents at three seats that are k (k - 1) (3 seatings) + k (k - 1) (k - 2) / 6 (6 seatings).
    """
    choices = combinations_with_replacement(agents, num_seats)
    return [everyone(choice) for choice in choices if len(set(choice)) > 1]


def balanced_sample(
    num_matchups: int, deals: int, a_deal: int, key: int
) -> list[npt.NDArray[np.int64]]:
    """Which deals each match-up plays if a deal is played by a few match-ups only.

    In each round of deals every match-up plays one of them, drawn anew. The last round may be cut
    short: numbers of deals differ by one at most.

    Args:
        num_matchups: M.
        deals: D.
        a_deal: match-ups that play each deal, about; M or more is all of them.
        key: of the draws.

    Returns:
        M ascending arrays int64, numbers of deals.
    """
    if a_deal >= num_matchups:
        return [np.arange(deals)] * num_matchups
    length = -(-num_matchups // a_deal)
    sampled: list[list[int]] = [[] for _ in range(num_matchups)]
    for first in range(0, deals, length):
        order = np.random.default_rng([key, first]).permutation(num_matchups)
        for deal, matchups in enumerate(np.array_split(order, length), first):
            for matchup in matchups if deal < deals else ():
                sampled[matchup].append(deal)
    return [np.array(numbers, np.int64) for numbers in sampled]
