"""Open-card solver against known answers, brute force, and its own invariants."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefa_env import solver
from prefa_env.cards import cards_of
from prefa_env.tricks import beats, playable
from prefa_env.words import int64

DATA = json.loads((Path(__file__).parent / "data" / "dd_cases.json").read_text())
DEAL = DATA["deals"][0]["deal"]
MEMORY = solver.Memory()


def brute_force(
    hands: list[int],
    trump: str,
    side: int,
    leader: int,
    trick: list[int],
    fewest: bool,
    must_trump: bool,
    width: int,
) -> int:
    """Plain minimax with the rules of `tricks`, memory of whole positions only."""
    suit = (1 << width) - 1
    strain = solver.STRAINS.index(trump)
    trumps = suit << strain * width if strain < 4 else 0
    seats = len(hands)

    @cache
    def value(hands: tuple[int, ...], leader: int, trick: tuple[int, ...]) -> int:
        if len(trick) == seats:
            led = suit << trick[0] // width * width
            winner, best = leader, 1 << trick[0]
            for i in range(1, seats):
                if beats(int64(1 << trick[i]), int64(best), int64(led), int64(trumps)):
                    winner, best = (leader + i) % seats, 1 << trick[i]
            return (side >> winner & 1) + value(hands, winner, ())
        if not trick and not any(hands):
            return 0
        seat = (leader + len(trick)) % seats
        led = suit << trick[0] // width * width if trick else 0
        legal = playable(int64(hands[seat]), int64(led), int64(trumps if must_trump else 0))
        options = [
            value(
                (*hands[:seat], hands[seat] ^ 1 << card, *hands[seat + 1 :]),
                leader,
                (*trick, card),
            )
            for card in cards_of(legal)
        ]
        return max(options) if (side >> seat & 1) != fewest else min(options)

    return value(tuple(hands), leader, tuple(trick))


def ending(
    rng: np.random.Generator,
    seats: int,
    size: int,
    width: int,
    on_table: int = 0,
    must_trump: bool = True,
) -> tuple[list[int], str, int, int, list[int]]:
    """A random position: `(hands, trump, side, leader, trick)`."""
    # Few suits and gaps in the ranks both occur.
    pack = rng.permutation(4 * width)
    if rng.random() < 0.5:
        low = np.sort(pack)[-max(2 * width, seats * size) :]
        pack = rng.permutation(low)
    hands = [sum(1 << int(c) for c in pack[i * size : (i + 1) * size]) for i in range(seats)]
    trump = str(rng.choice(solver.STRAINS))
    leader = int(rng.integers(seats))
    side = int(rng.integers(1, (1 << seats) - 1))
    trick: list[int] = []
    strain = solver.STRAINS.index(trump)
    suit = (1 << width) - 1
    trumps = suit << strain * width if strain < 4 and must_trump else 0
    for i in range(on_table):
        seat = (leader + i) % seats
        led = suit << trick[0] // width * width if trick else 0
        legal = playable(int64(hands[seat]), int64(led), int64(trumps))
        card = int(rng.choice(cards_of(legal)))
        hands[seat] ^= 1 << card
        trick.append(card)
    return hands, trump, side, leader, trick


def test_known_answers() -> None:
    assert sum(len(deal["cases"]) for deal in DATA["deals"]) == 1800
    for deal in DATA["deals"]:
        hands = solver._hands(deal["deal"])
        for trump, declarer, leader, misere, tricks in deal["cases"]:
            found = solver.solve(
                hands, trump, 1 << declarer, leader, fewest=bool(misere), memory=MEMORY
            )
            assert found == tricks, (deal["deal"], trump, declarer, leader, misere)


def test_declarer_tricks() -> None:
    for trump, declarer, leader, misere, tricks in DATA["deals"][0]["cases"]:
        assert solver.declarer_tricks(DEAL, trump, declarer, leader, bool(misere)) == tricks


@pytest.mark.parametrize("must_trump", [True, False])
@pytest.mark.parametrize("fewest", [False, True])
@pytest.mark.parametrize(
    ("seats", "width", "largest"), [(2, 8, 5), (3, 8, 5), (4, 8, 4), (4, 13, 4)]
)
def test_endings_equal_brute_force(
    seats: int, width: int, largest: int, fewest: bool, must_trump: bool
) -> None:
    rng = np.random.default_rng([seats, width, fewest, must_trump])
    for case in range(60):
        size = int(rng.integers(1, largest + 1)) if case else largest
        on_table = int(rng.integers(seats)) if case % 2 else 0
        position = ending(rng, seats, size, width, on_table, must_trump)
        hands, trump, side, leader, trick = position
        expected = brute_force(*position, fewest, must_trump, width)
        options: dict[str, Any] = {"fewest": fewest, "must_trump": must_trump}
        options |= {"width": width, "memory": MEMORY}
        where = (position, options)
        assert solver.solve(hands, trump, side, leader, trick=trick, **options) == expected, where
        for n in range(size + 2):
            answer = solver.at_least(n, hands, trump, side, leader, trick=trick, **options)
            assert answer == (expected >= n), (n, where)
        seat = (leader + len(trick)) % seats
        values = solver.card_values(hands, trump, side, leader, trick=trick, **options)
        best = max if (side >> seat & 1) != fewest else min
        assert best(values.values()) == expected, where
        if len(trick) < seats - 1:
            for card, value in values.items():
                left = [h ^ (1 << card) if s == seat else h for s, h in enumerate(hands)]
                played = [*trick, card]
                rest = brute_force(left, trump, side, leader, played, fewest, must_trump, width)
                assert value == rest, (card, where)


@pytest.mark.parametrize("fewest", [False, True])
def test_renaming_suits_and_turning_seats(fewest: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        hands, trump, side, leader, _ = ending(rng, 3, 7, 8)
        value = solver.solve(hands, trump, side, leader, fewest=fewest, memory=MEMORY)
        names = rng.permutation(4)
        renamed = [sum((h >> 8 * s & 255) << 8 * int(names[s]) for s in range(4)) for h in hands]
        name = "NT" if trump == "NT" else solver.STRAINS[names[solver.STRAINS.index(trump)]]
        found = solver.solve(renamed, name, side, leader, fewest=fewest, memory=MEMORY)
        assert found == value
        turned = [hands[2], hands[0], hands[1]]
        side = (side << 1 | side >> 2) & 7
        found = solver.solve(turned, trump, side, (leader + 1) % 3, fewest=fewest, memory=MEMORY)
        assert found == value


def test_values_of_a_full_deal() -> None:
    hands = solver._hands(DEAL)
    for trump in solver.STRAINS:
        for leader in range(3):
            values = solver.card_values(hands, trump, 1, leader, memory=MEMORY)
            assert sorted(values) == cards_of(hands[leader])
            best = max(values.values()) if leader == 0 else min(values.values())
            assert best == solver.declarer_tricks(DEAL, trump, 0, leader)


def test_batch_and_table() -> None:
    table = solver.deal_table(DEAL)
    assert table.shape == (5, 3, 3)
    for trump, declarer, leader, misere, tricks in DATA["deals"][0]["cases"]:
        if not misere:
            assert table[solver.STRAINS.index(trump), declarer, leader] == tricks
    memory = solver.Memory()
    hands = [solver._hands(deal["deal"]) for deal in DATA["deals"][:20]]
    many = solver.solve_many(hands, 4, 1, 2, fewest=True, memory=memory)
    assert many.tolist() == [solver.solve(h, "NT", 1, 2, fewest=True) for h in hands]
    assert memory.nodes > 0


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="hand of seat 0 has 9 cards"):
        solver.declarer_tricks(DEAL.replace("AQ87", "AQ8"), "S", 0, 0)
    with pytest.raises(ValueError, match="trump must be one of S, C, D, H, NT, not 'X'"):
        solver.declarer_tricks(DEAL, "X", 0, 0)
    with pytest.raises(ValueError, match="declarer must be a seat, 0 to 2, not 3"):
        solver.declarer_tricks(DEAL, "S", 3, 0)
    with pytest.raises(ValueError, match="leader must be a seat, 0 to 2, not -1"):
        solver.declarer_tricks(DEAL, "S", 0, -1)
    for bad in (True, 1.0, "1", None):
        with pytest.raises(ValueError, match="leader must be an integer"):
            solver.declarer_tricks(DEAL, "S", 0, bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 to 4 hands"):
        solver.solve([1], "S", 1, 0)
    with pytest.raises(ValueError, match="card of another hand"):
        solver.solve([1, 1], "S", 1, 0)
    with pytest.raises(ValueError, match="not of one size"):
        solver.solve([1, 6], "S", 1, 0)
    with pytest.raises(ValueError, match="outside the 32 cards"):
        solver.solve([1, 1 << 32], "S", 1, 0)
    with pytest.raises(ValueError, match="outside the 32 cards"):
        solver.solve([1, 1 << 70], "S", 1, 0)
    with pytest.raises(ValueError, match="side must be"):
        solver.solve([1, 2], "S", 4, 0)
    with pytest.raises(ValueError, match="at most 1 cards"):
        solver.solve([0, 0], "S", 1, 0, trick=[0, 1])
    with pytest.raises(ValueError, match="on the table and in a hand"):
        solver.solve([0, 1], "S", 1, 0, trick=[0])
    with pytest.raises(ValueError, match="seat 1 had no right to play card 8"):
        solver.solve([2, 4, 8 | 16], "NT", 1, 0, trick=[0, 8])
    with pytest.raises(ValueError, match="width must be"):
        solver.solve([1, 2], "S", 1, 0, width=14)
    with pytest.raises(ValueError, match=r"hands must be \[B, 2 to 4\]"):
        solver.solve_many([1, 2], 0, 1, 0)
    with pytest.raises(ValueError, match="trumps must be 0 to 4, not 5"):
        solver.solve_many([[1, 2]], [5], 1, 0)
    with pytest.raises(ValueError, match="position 1: hands of"):
        solver.solve_many([[1, 2], [1, 6]], 0, 1, 0)
