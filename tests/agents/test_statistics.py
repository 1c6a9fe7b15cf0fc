"""Means and intervals on synthetic data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from agents.statistics import estimate


def test_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).normal(3, 5, 40)
    result = estimate(values)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert result == pytest.approx((values.mean(), low, high, np.std(values, ddof=1)))


def test_known_values() -> None:
    # Mean 2, deviation 1; the quantile of t with two degrees of freedom is 4.302653.
    assert estimate([1, 2, 3]) == pytest.approx(
        (2, 2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5, 1)
    )


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_interval_covers_as_often_as_it_says(confidence: float, kind: str) -> None:
    rng = np.random.default_rng(2)
    samples = rng.normal(1, 10, (3000, 12)) if kind == "normal" else rng.laplace(1, 10, (3000, 60))
    results = [estimate(sample, confidence) for sample in samples]
    covered = np.mean([result.low <= 1 <= result.high for result in results])
    assert covered == pytest.approx(confidence, abs=0.02)


def test_equal_values_have_no_width() -> None:
    assert estimate([0.0] * 7) == (0, 0, 0, 0)


@pytest.mark.parametrize("values", [[], [1.0], [[1.0, 2.0]], [1.0, float("nan")]])
def test_refuses_what_has_no_interval(values: object) -> None:
    with pytest.raises(ValueError, match=r"values"):
        estimate(values)  # type: ignore[arg-type]


def test_refuses_bad_confidence() -> None:
    with pytest.raises(ValueError, match="confidence"):
        estimate([1, 2], 1.0)
