"""Curves of a training run, read from the TensorBoard events in its folder."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

NAMES = (
    "rollout/ep_rew_mean",
    "rollout/declared",
    "rollout/made",
    "rollout/passed_out",
)
"""What is read unless other names are given."""


def read_curves(
    run_folder: str | os.PathLike[str], names: Sequence[str] = NAMES, points: int = 200
) -> dict[str, list[list[float]]]:
    """Scalars by name as [[decisions, value], ...]; those that the run did not write are left out.

    Values that are not finite are left out too. An empty result where there are no events.

    Args:
        run_folder: folder of a run (`train.py --run`).
        names: which scalars.
        points: most points a curve, at least 2; evenly thinned, the first and last kept.

    Raises:
        ValueError: `points` is below 2.
        ModuleNotFoundError: tensorboard is missing.
    """
    if points < 2:
        raise ValueError(f"points must be at least 2, not {points}")
    folder = Path(run_folder)
    if not any(folder.glob("*tfevents*")):  # the reader would warn, or wait for a folder to appear
        return {}
    try:
        from tensorboard.backend.event_processing.event_accumulator import (
            SCALARS,
            EventAccumulator,
        )
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "learning curves need tensorboard: pip install 'prefa[train]'", name="tensorboard"
        ) from error
    events = EventAccumulator(str(folder), size_guidance={SCALARS: 0})  # 0: all of them
    events.Reload()
    written = set(events.Tags()[SCALARS])
    curves = {}
    for name in names:
        if name in written:
            values = [[e.step, e.value] for e in events.Scalars(name) if math.isfinite(e.value)]
            curves[name] = _thin(values, points)
    return {name: curve for name, curve in curves.items() if curve}


def _thin(values: list[list[float]], points: int) -> list[list[float]]:
    if len(values) <= points:
        return values
    kept = np.linspace(0, len(values) - 1, points).round().astype(int)
    return [values[i] for i in kept]
