"""Means and intervals on synthetic data."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import integrate, optimize, stats

from agents.statistics import (
    Estimate,
    anytime_interval,
    bootstrap,
    deals_until,
    estimate,
    holm,
    p_value,
    paired,
)

Values = npt.NDArray[np.float64]


def draw(key: int, kind: str, shape: tuple[int, ...]) -> Values:
    """Values of mean 0 and deviation 10; heavy ones with tails like those of deals."""
    rng = np.random.default_rng(key)
    if kind == "normal":
        return rng.normal(0, 10, shape)
    return np.asarray(rng.standard_t(5, shape) * 10 * np.sqrt(3 / 5))


def assert_rate(hits: npt.ArrayLike, rate: float) -> None:
    """The share of hits is what chance makes of the rate in 998 of 1,000 cases."""
    array = np.asarray(hits, np.bool_)
    low, high = stats.binom.interval(0.998, array.size, rate)
    assert low <= array.sum() <= high


# -- Student's interval and test ------------------------------------------------------------------


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


def test_paired_sees_through_the_luck_of_the_deals() -> None:
    luck = 5 * draw(3, "heavy", (600, 40))
    arms = np.stack([luck + 1, luck]) + draw(4, "normal", (2, 600, 40)) / 2
    results = [paired(first, second) for first, second in zip(*arms, strict=True)]
    assert_rate([result.low <= 1 <= result.high for result in results], 0.95)
    alone = estimate(arms[0, 0])
    assert results[0].high - results[0].low < (alone.high - alone.low) / 3


def test_paired_by_hand() -> None:
    assert paired([3, 5, 7], [2, 3, 4]) == estimate([1, 2, 3])
    assert paired([1, 2], [1, 2]) == (0, 0, 0, 0)


def test_paired_refuses_other_deals() -> None:
    with pytest.raises(ValueError, match="same deals, not 3 and 2"):
        paired([1, 2, 3], [1, 2])


def test_p_value_agrees_with_scipy_and_the_interval() -> None:
    for sample in draw(5, "heavy", (200, 15)) + 4:
        p = p_value(sample)
        assert p == pytest.approx(stats.ttest_1samp(sample, 0).pvalue)
        result = estimate(sample)
        assert (p < 0.05) == (not result.low <= 0 <= result.high)


def test_p_value_without_deviation() -> None:
    assert p_value([0.0] * 5) == 1
    assert p_value([0.1] * 5) == 0


def test_p_value_refuses_one_value() -> None:
    with pytest.raises(ValueError, match="at least 2 values"):
        p_value([1.0])


# -- Holm -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # Sorted 0.005, 0.01, 0.03, 0.04; times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.001, 0.6], [1, 0.003, 1]),
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.2], [0.2]),
        ([], []),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@pytest.mark.parametrize("p_values", [[0.5, 1.1], [-0.1], [float("nan")], [[0.5]]])
def test_holm_refuses_what_is_no_p_value(p_values: object) -> None:
    with pytest.raises(ValueError, match="p-values"):
        holm(p_values)  # type: ignore[arg-type]


# -- bootstrap ------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bootstrap_covers_as_often_as_it_says(confidence: float) -> None:
    samples = draw(6, "heavy", (300, 150))
    intervals = [bootstrap(v, key, confidence, 399) for key, v in enumerate(samples)]
    assert_rate([low <= 0 <= high for low, high in intervals], confidence)


def test_bootstrap_agrees_with_student_on_many_values() -> None:
    values = draw(7, "heavy", (2000,)) + 3
    result = estimate(values)
    low, high = bootstrap(values, 1)
    assert (low, high) == pytest.approx((result.low, result.high), abs=0.03)
    assert (low, high) == bootstrap(values, 1)
    assert (low, high) != bootstrap(values, 2)


def test_bootstrap_of_equal_values_has_no_width() -> None:
    assert bootstrap([0.1] * 7, 1) == (0.1, 0.1)


def test_bootstrap_keeps_memory_small() -> None:
    values = draw(8, "normal", (100_000,))
    tracemalloc.start()
    try:
        bootstrap(values, 1, resamples=100)  # all at once they would take 160 MB
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


# -- intervals for any time -----------------------------------------------------------------------

TIMES = np.unique(np.geomspace(2, 3000, 40).astype(np.int64))


def ever_misses(interval: Callable[[Values], Estimate], values: Values) -> bool:
    """Whether the interval of some beginning of values of mean 0 leaves 0 out."""
    results = (interval(values[:n]) for n in TIMES)
    return any(not result.low <= 0 <= result.high for result in results)


@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_anytime_intervals_hold_the_mean_all_the_time(kind: str) -> None:
    runs = draw(9, kind, (400, 3000))
    misses = [ever_misses(lambda v: anytime_interval(v, tuned_for=300), v) for v in runs]
    assert 0 < np.sum(misses) <= 0.05 * 400


def test_who_peeks_at_students_interval_is_misled() -> None:
    misses = [ever_misses(estimate, v) for v in draw(9, "normal", (100, 3000))]
    assert np.mean(misses) > 0.3


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", [20, 100])  # scipy fails at large non-central t
def test_anytime_interval_ends_where_the_mixed_density_ratio_is_one_in_alpha(
    n: int, confidence: float
) -> None:
    alpha, tuned_for = 1 - confidence, 100
    # The best nρ² for the boundary of a walk with known deviation, found without the closed form.
    best = optimize.minimize_scalar(
        lambda x: (1 + x) / x * np.log((1 + x) / alpha**2), bounds=(1, 20), method="bounded"
    )
    rho = np.sqrt(best.x / tuned_for)
    result = anytime_interval(draw(10, "normal", (n,)), confidence, tuned_for)
    t = (result.high - result.mean) / result.sd * np.sqrt(n)

    def mixed(effect: float) -> float:
        ratio = stats.nct.pdf(t, n - 1, effect * np.sqrt(n)) / stats.t.pdf(t, n - 1)
        return float(ratio * stats.norm.pdf(effect, 0, rho))

    value, _ = integrate.quad(mixed, -6 * rho, 6 * rho, points=[t / np.sqrt(n)])
    assert value == pytest.approx(1 / alpha, rel=1e-3)


def test_anytime_interval_has_no_end_at_first() -> None:
    values = draw(10, "normal", (88,))
    assert anytime_interval(values[:87])[1:3] == (-np.inf, np.inf)
    assert anytime_interval(values).high < np.inf
    assert anytime_interval([0.1] * 5) == pytest.approx((0.1, 0.1, 0.1, 0))


def test_anytime_interval_is_narrowest_where_it_was_tuned() -> None:
    values = draw(11, "normal", (1000,))
    widths = [
        result.high - result.low
        for result in (anytime_interval(values, tuned_for=n) for n in (900, 1000, 1111))
    ]
    assert widths[1] == min(widths)
    student = estimate(values)
    assert widths[1] / (student.high - student.low) == pytest.approx(1.55, abs=0.01)


@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_stopping_when_narrow_enough_is_fair(kind: str) -> None:
    runs = draw(12, kind, (1000, 2000))
    hits, stops = [], []
    for values in runs:
        n = deals_until(values, 1.5, every=10, first=200, tuned_for=400)
        assert n is not None
        result = anytime_interval(values[:n], tuned_for=400)
        assert result.high - result.low <= 3
        hits.append(result.low <= 0 <= result.high)
        stops.append(n)
    assert np.mean(hits) > 0.98  # more than 95 %, as it would have held at all other times too
    assert 200 < np.min(stops) < 409 < np.max(stops) < 800


def test_stops_at_the_first_multiple_that_is_narrow_enough() -> None:
    values = draw(13, "heavy", (3000,)) + 1e8  # far from 0
    halves = {
        n: (result.high - result.low) / 2
        for n in range(150, 3001, 50)
        for result in [anytime_interval(values[:n])]
    }
    for wanted in (1000.0, 3.0, 1.0, 0.8):
        expected = next((n for n, half in halves.items() if half <= wanted), None)
        assert deals_until(values, wanted, every=50, first=101) == expected
    assert deals_until(values, 0.1) is None
    assert deals_until(values[:10], 100) is None


def test_stopping_does_not_depend_on_what_comes_later() -> None:
    values = draw(14, "normal", (2500,))
    n = deals_until(values, 1)
    assert n is not None
    assert 500 < n < 2500
    changed = np.concatenate([values[:n], 1e6 * values[n:]])
    assert deals_until(changed, 1) == deals_until(values[:n], 1) == n
    assert deals_until(values[: n - 1], 1) is None


def test_equal_values_stop_at_once() -> None:
    assert deals_until([0.1] * 1000, 0.3) == 500
    assert anytime_interval([2.0] * 500) == (2, 2, 2, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"half_width": 0.0}, "half_width"),
        ({"half_width": float("nan")}, "half_width"),
        ({"every": 0}, "every"),
        ({"first": 1}, "first"),
        ({"confidence": 1.0}, "confidence"),
        ({"tuned_for": 0}, "tuned_for"),
    ],
)
def test_refuses_bad_settings(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        deals_until([1.0, 2.0], **{"half_width": 1.0, **settings})  # type: ignore[arg-type]
