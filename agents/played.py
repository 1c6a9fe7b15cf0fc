"""What has been played: results of deals or matches in several seatings, and all their deals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Deals:
    """N finished deals, game by game; L is the longest in actions."""

    games: npt.NDArray[np.int64]  # [N] ascending, d * R + r: which game each deal is of
    decks: npt.NDArray[np.int8]  # [N, cards]
    dealers: npt.NDArray[np.int8]  # [N]
    actions: npt.NDArray[np.int8]  # [N, L], -1 after the end
    seats: npt.NDArray[np.int8]  # [N, L], who did them; -1 after the end
    tables: npt.NDArray[Any]  # game records [N], all over

    def __len__(self) -> int:
        return len(self.games)


@dataclass(frozen=True)
class Played:
    """D finished deals or matches, each as R games: one a seating, with the same cards.

    All numbers of a match are those of the whole match.
    """

    numbers: npt.NDArray[np.int64]  # [D], of the deals or matches in their set
    seatings: npt.NDArray[np.int64]  # [R, S], who sat where
    settled_thirds: npt.NDArray[np.int64]  # [D, R, S], three times what a deal is worth, exact:
    # settled kapikia; of a match kapikia - 10 (kassa - mean) at its end
    kapikia: npt.NDArray[np.int64]  # [D, R, S], changes
    kassa: npt.NDArray[np.int64]  # [D, R, S]
    illegal: npt.NDArray[np.int64]  # [D, R, S], illegal moves
    lengths: npt.NDArray[np.int64]  # [D, R], deals
    is_unfinished: npt.NDArray[np.bool_]  # [D, R], matches that a cap ended
    deals: Deals

    def __len__(self) -> int:
        return len(self.numbers)

    def select(self, which: slice) -> Played:
        """Some of the deals or matches; a slice without a step."""
        first, last, _ = which.indices(len(self))
        num_seatings = len(self.seatings)
        begin, end = np.searchsorted(
            self.deals.games, [first * num_seatings, last * num_seatings]
        ).tolist()
        rows = {name: array[begin:end] for name, array in vars(self.deals).items()}
        rows["games"] = rows["games"] - first * num_seatings
        whole: dict[str, Any] = {"seatings": self.seatings, "deals": Deals(**rows)}
        parts = {name: array[first:last] for name, array in vars(self).items() if name not in whole}
        return Played(**parts, **whole)
