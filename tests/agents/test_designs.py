"""Who meets whom: every agent holds every hand equally often."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from agents.designs import (
    balanced_sample,
    copies_against_one,
    everyone,
    league,
    one_against_copies,
    rotations,
)


def test_rotations_put_the_candidate_in_each_seat() -> None:
    assert rotations(3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert rotations(4).sum() == 12


def test_pairs() -> None:
    assert one_against_copies(5, 2, 3).seatings.tolist() == [[5, 2, 2], [2, 5, 2], [2, 2, 5]]
    assert copies_against_one(5, 2, 3).seatings.tolist() == [[2, 5, 5], [5, 2, 5], [5, 5, 2]]
    assert one_against_copies(5, 2, 3).players == copies_against_one(5, 2, 3).players == (5, 2)


def test_three_in_six_seatings() -> None:
    matchup = everyone([4, 0, 7])
    assert matchup.players == (4, 0, 7)
    assert len(matchup.seatings) == len({tuple(s) for s in matchup.seatings.tolist()}) == 6
    for player, seat in product((4, 0, 7), range(3)):
        assert (matchup.seatings[:, seat] == player).sum() == 2


@pytest.mark.parametrize(("agents", "seats"), [(2, 3), (3, 3), (5, 3), (3, 4)])
def test_a_league_is_the_whole_tensor(agents: int, seats: int) -> None:
    seatings = np.concatenate([matchup.seatings for matchup in league(range(agents), seats)])
    expected = {s for s in product(range(agents), repeat=seats) if len(set(s)) > 1}
    assert len(seatings) == len(expected)
    assert {tuple(s) for s in seatings.tolist()} == expected


def test_a_sample_is_balanced() -> None:
    for matchups, deals, a_deal in ((112, 1000, 10), (7, 50, 3), (12, 5, 2), (4, 100, 1)):
        sampled = balanced_sample(matchups, deals, a_deal, 3)
        sizes = [len(numbers) for numbers in sampled]
        assert len(sampled) == matchups and max(sizes) - min(sizes) <= 1
        number = np.bincount(np.concatenate(sampled), minlength=deals)
        assert number.max() <= a_deal and number.min() >= a_deal - 1 and len(number) == deals
        assert all((np.diff(numbers) > 0).all() for numbers in sampled)
    again = balanced_sample(4, 100, 1, 3)
    assert all((a == b).all() for a, b in zip(sampled, again, strict=True))
    other = balanced_sample(4, 100, 1, 4)
    assert any((a != b).any() for a, b in zip(sampled, other, strict=True))


def test_a_sample_of_all_is_all() -> None:
    for numbers in balanced_sample(3, 10, 3, 0):
        assert numbers.tolist() == list(range(10))
