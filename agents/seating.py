"""Who sits where at the tables of a batch: the learner alone, or with two copies of another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .rollout import LEARNER

Seats = npt.NDArray[np.int64]


def draw_seating(
    rng: np.random.Generator,
    shape: tuple[int, int],
    opponents: int,
    opponent_share: float,
    past_share: float,
) -> Seats:
    """Who sits where, int64 [B, S].

    That is an index of the opponents, their number for the past self, or `LEARNER`.

    Args:
        rng: draws them.
        shape: B tables, S seats.
        opponents: how many fixed opponents there are.
        opponent_share: share of tables at which one of them has all seats but one.
        past_share: share of tables at which the past self has.
    """
    seating = np.full(shape, LEARNER)
    is_alone = np.ones(shape[0], np.bool_)
    if opponents:
        is_alone = rng.random(shape[0]) >= opponent_share
        _seat(rng, seating, ~is_alone, np.arange(opponents))
    if past_share:
        share = past_share / (1 - opponent_share) if opponents else past_share
        is_past = is_alone & (rng.random(shape[0]) < share)
        _seat(rng, seating, is_past, np.array([opponents]))
    return seating


def _seat(
    rng: np.random.Generator, seating: Seats, is_mixed: npt.NDArray[np.bool_], players: Seats
) -> None:
    """Give one drawn seat to the learner, and the others to one drawn player."""
    count = int(is_mixed.sum())
    seating[is_mixed] = players[rng.integers(len(players), size=(count, 1))]
    seating[is_mixed, rng.integers(seating.shape[1], size=count)] = LEARNER
