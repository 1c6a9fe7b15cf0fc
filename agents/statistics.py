"""Means over deals and how far they can be trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit


class Estimate(NamedTuple):
    """A mean, its 95 % interval, and the standard deviation of what it is the mean of."""

    mean: float
    low: float
    high: float
    sd: float


def estimate(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of independent values with Student's t-interval.

    Args:
        values: float [N], one a deal (of duplicate deals: the mean over its rotations), N >= 2.
        confidence: share of such intervals that hold the true mean.

    Raises:
        ValueError: fewer than two values, or one that is not finite.
    """
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or array.size < 2:
        raise ValueError(f"at least 2 values in a row are needed, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("all values must be finite")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    mean = float(array.mean())
    sd = float(array.std(ddof=1))
    quantile = float(stdtrit(array.size - 1, (1 + confidence) / 2))
    half = quantile * sd / float(np.sqrt(array.size))
    return Estimate(mean, mean - half, mean + half, sd)
