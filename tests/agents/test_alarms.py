"""Alarms of the training."""

from __future__ import annotations

from itertools import chain

import pytest

from agents.alarms import Alarms

GOOD = {
    "rollout/passed_out": 0.06, "rollout/two_short": 0.03, "train/approx_kl": 0.01,
    "train/entropy_loss": -0.4, "train/explained_variance": 0.4, "rollout/held": 0.1,
    "rollout/wrote": 0.1, "rollout/alone": 0.9, "rollout/invite": 0.1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("figure", "bad", "iterations", "words"),
    [
        ("rollout/passed_out", 0.97, 5, "stopped bidding"),
        ("rollout/two_short", 0.3, 5, "overbids"),
        ("train/approx_kl", 0.5, 2, "too far"),
        ("train/entropy_loss", -0.001, 5, "no doubts"),
        ("train/explained_variance", -2.0, 5, "critic"),
        ("rollout/held", 0.0, 20, "holds"),
        ("rollout/wrote", 0.0, 20, "writes"),
        ("rollout/alone", 0.0, 20, "alone"),
        ("rollout/invite", 0.0, 20, "invites"),
    ],
)
def test_each_is_raised_once_and_again_after_it_was_good(
    figure: str, bad: float, iterations: int, words: str
) -> None:
    alarms = Alarms()
    for _ in range(2):
        assert alarms.check(GOOD) == []
        raised = [alarms.check(GOOD | {figure: bad}) for _ in range(2 * iterations)]
        (message,) = chain.from_iterable(raised)
        assert raised[iterations - 1] == [message]
        assert words in message and figure in message


def test_a_figure_that_is_missing_neither_raises_nor_clears() -> None:
    alarms = Alarms()
    assert alarms.check({}) == []
    bad = {"train/approx_kl": 1.0}
    assert alarms.check(bad) == []
    assert alarms.check({}) == []
    assert len(alarms.check(bad)) == 1
