"""Draws the worlds that a search looks at: more than it needs, weighed, then the likelier ones."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from prefa_env._jit import njit
from prefa_env.prefa.state import DTYPE, State
from prefa_env.streams import derive_key, mix, to_unit

from ..heuristic.hand import Style, Tables
from ..heuristic.view import DTYPE as VIEW_DTYPE
from . import model
from .worlds import Cards, draw_worlds, enter_world

Weights = npt.NDArray[np.float64]

Weigh = Callable[[State, npt.NDArray[Any]], Weights]
"""Says how likely worlds are: from the table as seat 0 sees it and the same table with the hidden
cards of each world, State records [N], to float64 [N], not negative. `history.past_actions` and
`history.initial_deck` tell how such a table came about."""

_logger = logging.getLogger(__name__)


class NoWorldError(ValueError):
    """No deal fits what a seat has seen: the observation cannot have come from a game."""


@njit
def resample(weights: Weights, key: np.uint64, counts: npt.NDArray[np.int64], size: int) -> None:
    """Write how often each of N worlds is among `size` that are drawn by weight.

    Systematic resampling (Kitagawa 1996): a world is drawn its expected number of times, rounded
    up or down.
    """
    step = weights.sum() / size
    mark = step * to_unit(mix(key))
    total = 0.0
    counts[:] = 0
    drawn = 0
    for n in range(weights.shape[0]):
        total += weights[n]
        while drawn < size and mark < total:
            counts[n] += 1
            drawn += 1
            mark += step
    counts[np.argmax(weights)] += size - drawn  # what rounding left over


def _sub_key(key: np.uint64, number: int) -> np.uint64:
    return np.uint64(derive_key(key, number))  # compiled functions return plain integers


class Sampler:
    """Draws worlds for a seat."""

    def __init__(
        self,
        tables: Tables,
        style: Style,
        weigh: Weigh | None = None,
        candidates: int = 32,
        *,
        redraw: bool = False,
    ) -> None:
        """Choose how worlds are weighed.

        Args:
            tables, style: the model of the other players.
            weigh: says how likely worlds are; the model if None.
            candidates: worlds drawn and weighed for each one that is kept.
            redraw: whether another declarer's discards are the model's choice before `weigh` is
                asked, and how likely they and his contract are counts, too; without `weigh` always.
        """
        self._tables = tables
        self._style = style
        self._weigh = weigh
        self._candidates = candidates
        self._redraw = redraw
        self._scratch = np.zeros(2, DTYPE)
        self._view = np.zeros(1, VIEW_DTYPE)

    def draw(self, seen: State, key: np.uint64, size: int) -> tuple[Cards, npt.NDArray[np.int64]]:
        """Worlds int64 [K, 4], K <= size, and how often each counts, int64 [K], `size` together.

        Where all weights are 0 or one is no number, all worlds count the same, with a warning in
        the log: only what is merely likely is ever left out of account.

        Args:
            seen: a recalled table.
            key: the only source of chance.
            size: how many worlds.

        Raises:
            NoWorldError: no deal fits what the seat has seen.
        """
        worlds = np.empty((self._candidates * size, 4), np.int64)
        if not draw_worlds(seen, _sub_key(key, 0), worlds):
            raise NoWorldError(
                "no deal fits this observation: cards, hand sizes and suits shown void contradict"
            )
        weights = self._weights(seen, _sub_key(key, 1), worlds)
        counts = np.empty(len(worlds), np.int64)
        resample(weights, _sub_key(key, 2), counts, size)
        kept = counts > 0
        return worlds[kept], counts[kept]

    def _weights(self, seen: State, key: np.uint64, worlds: Cards) -> Weights:
        if self._weigh is None:
            weights = np.empty(len(worlds), np.float64)
            model.weigh(
                self._tables, self._style, seen, key, worlds, weights, self._scratch,
                self._view[0],
            )  # fmt: skip
        else:
            before = np.ones(len(worlds))
            if self._redraw:
                model.redraw_discards(self._tables, seen, key, worlds, before, self._scratch)
            tables = np.empty(len(worlds), DTYPE)
            _enter(seen, worlds, tables)
            weights = np.asarray(self._weigh(seen.copy(), tables), np.float64)
            if weights.shape != (len(worlds),):
                raise ValueError(f"weights must be [{len(worlds)}], not {list(weights.shape)}")
            weights = weights * before
        if not np.isfinite(weights).all() or (weights < 0).any() or weights.max() == 0:
            _logger.warning("no world has a usable weight; all count the same")
            weights = np.ones(len(worlds))
        scaled: Weights = weights / weights.max()
        return scaled


@njit
def _enter(seen: State, worlds: Cards, tables: npt.NDArray[Any]) -> None:
    for n in range(worlds.shape[0]):
        tables[n] = seen
        enter_world(tables[n], worlds[n])
