"""Lots of finished deals as rows of games, and counts that can be added up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefa_env import prefa
from prefa_env.game import Game

from ..played import Played

Counts = dict[str, int]
"""Counts of some of the players in some deals; empty for a game of which nothing is counted."""

Means = dict[str, float | int | None]
"""Numbers, shares and means; None where there was nothing to count."""


class Games(NamedTuple):
    """N games of some deals, those of a deal or match side by side; L is the longest in actions."""

    decks: npt.NDArray[np.int8]  # [N, cards]
    dealers: npt.NDArray[np.int8]  # [N]
    actions: npt.NDArray[np.int8]  # [N, L], -1 after the end
    seats: npt.NDArray[np.int8]  # [N, L], who did them
    tables: npt.NDArray[Any]  # game records [N], all over
    is_counted: npt.NDArray[np.bool_]  # [N, S], the players to look at


def is_analysed(game: Game) -> bool:
    """Whether anything is counted of a game."""
    return game.NAME == prefa.NAME


def games_of(played: Played, is_counted: npt.NDArray[np.bool_]) -> Games:
    """The games of a lot.

    Args:
        played: R seatings of each deal.
        is_counted: bool [R, S], which seats of each seating to look at.

    Raises:
        ValueError: `is_counted` is not of the shape of the seatings.
    """
    if is_counted.shape != played.seatings.shape:
        raise ValueError(
            f"is_counted must be bool {list(played.seatings.shape)}, as the seatings are, "
            f"not {list(is_counted.shape)}"
        )
    rows = {name: array for name, array in vars(played.deals).items() if name != "games"}
    return Games(**rows, is_counted=is_counted[played.deals.games % len(played.seatings)])


def add(first: Counts, second: Counts) -> Counts:
    """Counts over both lots of deals."""
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}


def mean(total: float, number: int) -> float | None:
    """A mean; None of nothing."""
    return total / number if number else None
