"""Means over deals and how far they can be trusted, on plain arrays.

A value is what one deal was worth; the values of a set of deals are independent of each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import lambertw, stdtr, stdtrit
from scipy.stats import bootstrap as _bootstrap

TUNED_FOR = 10_000
"""Deals at which anytime intervals are narrowest: what ±0.3 takes at a deviation of 10."""

FIRST_LOOK = 500
"""Deals before an interval that may be looked at any time is looked at at all."""

_AT_ONCE = 2**18
"""Values drawn at once by the bootstrap: some MB."""


class Estimate(NamedTuple):
    """A mean, its interval, and the standard deviation of what it is the mean of."""

    mean: float
    low: float
    high: float
    sd: float


# -- a number of deals that was fixed beforehand --------------------------------------------------


def estimate(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of independent values with Student's t-interval.

    Args:
        values: float [N], one a deal (of duplicate deals: the mean over its rotations), N >= 2.
        confidence: share of such intervals that hold the true mean.

    Raises:
        ValueError: fewer than two values, or one that is not finite.
    """
    array = _checked(values)
    _check_confidence(confidence)
    half = float(stdtrit(array.size - 1, (1 + confidence) / 2)) * _standard_error(array)
    return _around(array, half)


def paired(first: npt.ArrayLike, second: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """How much more the first of two arms won on the same deals, with Student's t-interval.

    Args:
        first: float [N], the values of one arm, N >= 2.
        second: float [N], those of the other on the same deals in the same order.
        confidence: share of such intervals that hold the true difference.

    Raises:
        ValueError: the arms differ in length, or as for `estimate`.
    """
    one, other = _checked(first), _checked(second)
    if one.size != other.size:
        raise ValueError(
            f"both arms need the values of the same deals, not {one.size} and {other.size}"
        )
    return estimate(one - other, confidence)


def p_value(values: npt.ArrayLike) -> float:
    """Two-sided p-value of Student's t-test that the mean of float [N >= 2] is 0.

    Equal values have no deviation: 1 if they are 0, else 0.

    Raises:
        ValueError: as for `estimate`.
    """
    array = _checked(values)
    if np.ptp(array) == 0:
        return float(array[0] == 0)
    t = abs(float(array.mean())) / _standard_error(array)
    return 2 * float(stdtr(array.size - 1, -t))


def holm(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Adjusted p-values: those below a level are significant together at that level.

    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979). It holds whatever the tests have to do with each other.

    Args:
        p_values: float [N], 0 to 1.

    Returns:
        float [N], in the order of the input.

    Raises:
        ValueError: something else than a row of numbers from 0 to 1.
    """
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-values must be a row of numbers from 0 to 1, not {p}")
    order = np.argsort(p)
    # The smallest is one of N, the next one of N - 1, ...; none may come before a smaller one.
    ascending = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(ascending, 1)
    return adjusted


def bootstrap(
    values: npt.ArrayLike, seed: int, confidence: float = 0.95, resamples: int = 1_999
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean: the deals are drawn again with replacement.

    A check of Student's interval that assumes no normal mean. BCa is not used: its jackknife takes
    N² steps, and what it corrects, the skew of a mean, fades with 1 / √N. Time grows with
    `resamples` · N, a fifth of a second at 10,000 values; memory does not.

    Args:
        values: float [N], one a deal, N >= 2.
        seed: key of the random stream; the same key gives the same interval.
        confidence: share of such intervals that hold the true mean.
        resamples: how often all deals are drawn again.

    Returns:
        Low and high end; both the mean where all values are equal.

    Raises:
        ValueError: as for `estimate`.
    """
    array = _checked(values)
    _check_confidence(confidence)
    if np.ptp(array) == 0:
        return float(array[0]), float(array[0])
    result = _bootstrap(
        (array,),
        np.mean,
        method="percentile",
        n_resamples=resamples,
        batch=max(1, _AT_ONCE // array.size),
        confidence_level=confidence,
        random_state=np.random.default_rng(seed),
    )
    interval = result.confidence_interval
    return float(interval.low), float(interval.high)


# -- a number of deals that depends on the results ------------------------------------------------


def anytime_interval(
    values: npt.ArrayLike, confidence: float = 0.95, tuned_for: int = TUNED_FOR
) -> Estimate:
    """Mean of independent values with an interval that allows looking at any time.

    With this probability *all* intervals after 2, 3, 4, ... values hold the mean, so one may stop
    whenever one likes, for instance when the interval is narrow enough. Student's interval misses
    far more often then. The price: 1.55 times its width at `tuned_for` deals, for 95 %, and no end
    at all over the first few (87 by default; not where all values are equal).

    A confidence sequence with a normal mixture. With t the statistic of Student's test against the
    true mean after n values, and α = 1 - confidence, the ratio

        (1 + nρ²)^(-1/2) · ((1 + t² / (n - 1)) / (1 + t² / ((n - 1) (1 + nρ²))))^(n/2)

    of its densities if the mean were N(0, ρ²) deviations off, and as it is, is a martingale for
    normal values, and ever reaches 1 / α with probability α at most. Wang and Ramdas, Anytime-valid
    t-tests and confidence sequences for Gaussian means with unknown variance, Sequential Analysis
    44 (2025). For large n its ends become those of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
    Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 52
    (2024), theorem 2.2, which hold whatever the distribution, as long as it has a deviation:

        mean ± deviation · √(2 (nρ² + 1) / (nρ)² · log(√(nρ² + 1) / α))

    alone would miss too often early, as it takes the deviation that was found for the true one.

    ρ must not depend on the values. Here it is the one that is best at n = `tuned_for`, which
    depends on nothing but α: nρ² = -W₋₁(-α² / e) - 1. The default is what ±0.3 takes at a deviation
    of 10; a guess is enough, as the interval is valid with any and at most a tenth wider than it
    could be from a quarter to ten times as many deals.

    Like Student's it needs more values before the first look the more skewed they are; some hundred
    do for deals, but not where nearly all deals are worth the same.

    Args:
        values: float [N], one a deal, N >= 2.
        confidence: probability that the intervals of all times hold the true mean.
        tuned_for: number of deals at which the interval is narrowest; chosen beforehand.

    Raises:
        ValueError: as for `estimate`, or `tuned_for` below 1.
    """
    array = _checked(values)
    quantile = float(_anytime_quantile(np.array([array.size]), confidence, tuned_for)[0])
    return _around(array, quantile * _standard_error(array) if np.ptp(array) > 0 else 0.0)


def deals_until(
    values: npt.ArrayLike,
    half_width: float,
    *,
    every: int = 100,
    first: int = FIRST_LOOK,
    confidence: float = 0.95,
    tuned_for: int = TUNED_FOR,
) -> int | None:
    """Number of deals after which the anytime interval is narrow enough, or None if not yet.

    It depends on the values up to that deal only: more of them, in whatever lots they come, do not
    change it. Report `anytime_interval` of that many values, with the same settings.

    Args:
        values: float [N], one a deal, in the order of the set of deals.
        half_width: half the width of the interval that is wanted, in the unit of the values.
        every: the number of deals is a multiple of this.
        first: the least number of deals, at least 2.
        confidence: as for `anytime_interval`.
        tuned_for: as for `anytime_interval`.

    Raises:
        ValueError: a setting out of range, or a value that is not finite.
    """
    if not half_width > 0:
        raise ValueError(f"half_width must be above 0, not {half_width}")
    if every < 1 or first < 2:
        raise ValueError(f"every must be at least 1 and first at least 2, not {every} and {first}")
    array = np.asarray(values, np.float64)
    n = np.arange(-(-first // every) * every, array.size + 1, every)
    quantiles = _anytime_quantile(n, confidence, tuned_for)
    if n.size == 0:
        return None
    shifted = _checked(array) - array[0]  # sums of squares far from 0 would lose digits
    sums, squares = np.cumsum(shifted)[n - 1], np.cumsum(shifted**2)[n - 1]
    variances = np.maximum(squares - sums**2 / n, 0) / (n - 1)
    is_narrow = np.sqrt(variances / n) <= half_width / quantiles
    return int(n[is_narrow.argmax()]) if is_narrow.any() else None


def _anytime_quantile(
    n: npt.NDArray[np.int64], confidence: float, tuned_for: int
) -> npt.NDArray[np.float64]:
    """Half the width of anytime intervals after n [K] values, in standard errors."""
    _check_confidence(confidence)
    if tuned_for < 1:
        raise ValueError(f"tuned_for must be at least 1 deal, not {tuned_for}")
    alpha = 1 - confidence
    best = -float(lambertw(-(alpha**2) / np.e, -1).real) - 1
    growth = 1 + n * (best / tuned_for)  # 1 + nρ²
    level = (np.log(growth) - 2 * np.log(alpha)) / n
    with np.errstate(divide="ignore"):  # no t is too large to go on with: infinite
        fall = np.maximum(1 - np.exp(level) / growth, 0)
        return np.asarray(np.sqrt((n - 1) * np.expm1(level) / fall))


# -- shared ---------------------------------------------------------------------------------------


def _checked(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or array.size < 2:
        raise ValueError(f"at least 2 values in a row are needed, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("all values must be finite")
    return array


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")


def _standard_error(array: npt.NDArray[np.float64]) -> float:
    return float(array.std(ddof=1)) / float(np.sqrt(array.size))


def _around(array: npt.NDArray[np.float64], half: float) -> Estimate:
    mean = float(array.mean())
    return Estimate(mean, mean - half, mean + half, float(array.std(ddof=1)))
