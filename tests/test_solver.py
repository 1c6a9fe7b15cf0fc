"""Open-card solver against known answers, brute force, and its own invariants.

Positions here are `(hands, trump, side, leader, trick)`, the leading arguments of `solve`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefa_env import solver
from prefa_env._jit import IS_COMPILED
from prefa_env.cards import cards_of
from prefa_env.prefa.rules import PACK
from prefa_env.solver import search
from prefa_env.solver.__main__ import main
from prefa_env.tricks import beats, playable
from prefa_env.words import int64
from tests.brute_force import brute_force_values

DATA = json.loads((Path(__file__).parent / "data" / "dd_cases.json").read_text())
DEAL = DATA["deals"][0]["deal"]
MEMORY = solver.Memory()
Position = tuple[list[int], str, int, int, list[int]]

compiled = pytest.mark.skipif(not IS_COMPILED, reason="interpreted, whole deals take too long")
AIMS = pytest.mark.parametrize("fewest", [False, True], ids=["most", "fewest"])
DUTIES = pytest.mark.parametrize("must_trump", [True, False], ids=["must_trump", "may_trump"])
WIDTHS = pytest.mark.parametrize(
    ("seats", "width"), [(2, 8), (2, 13), (3, 8), (4, 8), (4, 13)], ids=lambda n: f"{n}"
)
TABLES = pytest.mark.parametrize(("seats", "width"), [(2, 8), (3, 8), (4, 13)])


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
    """Plain minimax in plain Python, with the rules of `tricks`."""
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
    rng: np.random.Generator, seats: int, size: int, width: int, trump: str | None = None
) -> Position:
    """A random position between tricks."""
    # Few suits and gaps in the ranks both occur.
    pack = rng.permutation(4 * width)
    if rng.random() < 0.5:
        low = np.sort(pack)[-max(2 * width, seats * size) :]
        pack = rng.permutation(low)
    hands = [sum(1 << int(c) for c in pack[i * size : (i + 1) * size]) for i in range(seats)]
    trump = trump or str(rng.choice(solver.STRAINS))
    return hands, trump, int(rng.integers(1 << seats)), int(rng.integers(seats)), []


def start_trick(
    rng: np.random.Generator, position: Position, cards: int, must_trump: bool, width: int
) -> Position:
    """The same position after some random legal cards, fewer than a trick."""
    hands, trump, side, leader, _ = position
    suit = (1 << width) - 1
    trumps = 0 if trump == "NT" or not must_trump else suit << solver.STRAINS.index(trump) * width
    hands, trick = hands.copy(), list[int]()
    for i in range(cards):
        seat = (leader + i) % len(hands)
        led = suit << trick[0] // width * width if trick else 0
        legal = playable(int64(hands[seat]), int64(led), int64(trumps))
        trick.append(int(rng.choice(cards_of(legal))))
        hands[seat] ^= 1 << trick[-1]
    return hands, trump, side, leader, trick


def mapped(position: Position, card: Callable[[int], int], trump: str | None = None) -> Position:
    """A position with every card changed into another."""
    hands, before, side, leader, trick = position
    changed = [sum(1 << card(c) for c in cards_of(hand)) for hand in hands]
    return changed, trump or before, side, leader, [card(c) for c in trick]


def values_of(position: Position, **options: Any) -> dict[int, int]:
    hands, trump, side, leader, trick = position
    return solver.card_values(hands, trump, side, leader, trick=trick, memory=MEMORY, **options)


def value_of(position: Position, **options: Any) -> int:
    hands, trump, side, leader, trick = position
    return solver.solve(hands, trump, side, leader, trick=trick, memory=MEMORY, **options)


def best_of(position: Position, values: Sequence[int], fewest: bool) -> int:
    """What the seat to play makes of the values of its cards."""
    hands, _, side, leader, trick = position
    seat = (leader + len(trick)) % len(hands)
    return max(values) if (side >> seat & 1) != fewest else min(values)


@compiled
def test_known_answers() -> None:
    assert sum(len(deal["cases"]) for deal in DATA["deals"]) == 1800
    for deal in DATA["deals"]:
        hands = solver.deal_hands(deal["deal"])
        for trump, declarer, leader, misere, tricks in deal["cases"]:
            found = solver.solve(
                hands, trump, 1 << declarer, leader, fewest=bool(misere), memory=MEMORY
            )
            assert found == tricks, (deal["deal"], trump, declarer, leader, misere)


@compiled
def test_declarer_tricks() -> None:
    for trump, declarer, leader, misere, tricks in DATA["deals"][0]["cases"]:
        assert solver.declarer_tricks(DEAL, trump, declarer, leader, bool(misere)) == tricks


def test_brute_force_equals_plain_python() -> None:
    rng = np.random.default_rng(2)
    for case in range(120):
        seats, width = [(2, 8), (3, 8), (4, 13)][case % 3]
        fewest, must_trump = case % 2 == 0, case % 4 < 2
        position = ending(rng, seats, 3, width)
        position = start_trick(rng, position, case % seats, must_trump, width)
        hands, trump, side, leader, trick = position
        strain = solver.STRAINS.index(trump)
        values = brute_force_values(hands, strain, side, leader, trick, fewest, must_trump, width)
        expected = brute_force(*position, fewest, must_trump, width)
        assert best_of(position, [*values.values()], fewest) == expected, position


# Most endings of four hands are short: brute force takes 0.2 s for one of six cards.
SHARES = {2: [1, 1, 1, 1], 3: [1, 1, 1, 1], 4: [12, 12, 12, 1]}


@pytest.mark.parametrize("number", [250, pytest.param(2500, marks=pytest.mark.slow)])
@DUTIES
@AIMS
@WIDTHS
def test_endings_equal_brute_force(
    seats: int, width: int, fewest: bool, must_trump: bool, number: int
) -> None:
    """Endings of 3 to 6 cards in every strain, half of them in the middle of a trick."""
    rng = np.random.default_rng([seats, width, fewest, must_trump, number])
    options: dict[str, Any] = {"fewest": fewest, "must_trump": must_trump, "width": width}
    shares = np.array(SHARES[seats]) / sum(SHARES[seats])
    for case in range(number if IS_COMPILED else 3):
        strain = case % 5
        size = int(rng.choice([3, 4, 5, 6], p=shares)) if IS_COMPILED else 3
        position = ending(rng, seats, size, width, solver.STRAINS[strain])
        on_table = case // 5 % (2 * seats)
        if on_table < seats:
            position = start_trick(rng, position, on_table, must_trump, width)
        hands, trump, side, leader, trick = position
        where = (position, fewest, must_trump, width)
        values = brute_force_values(hands, strain, side, leader, trick, fewest, must_trump, width)
        assert values_of(position, **options) == values, where
        expected = best_of(position, [*values.values()], fewest)
        assert value_of(position, **options) == expected, where
        for n in range(-1, size + 2):
            answer = solver.at_least(
                n, hands, trump, side, leader, trick=trick, memory=MEMORY, **options
            )
            assert answer == (expected >= n), (n, where)


def test_one_memory_for_all_rules() -> None:
    """What was found under other rules, for another side or another leader is not believed."""
    rng = np.random.default_rng(3)
    for seats, width in [(3, 8), (4, 13)]:
        hands, *_ = ending(rng, seats, 4 if IS_COMPILED else 2, width)
        memory = solver.Memory()
        for trump, side, leader, fewest, must_trump in product(
            solver.STRAINS, range(1 << seats), range(seats), [False, True], [True, False]
        ):
            options: dict[str, Any] = {"fewest": fewest, "must_trump": must_trump, "width": width}
            found = solver.card_values(hands, trump, side, leader, memory=memory, **options)
            strain = solver.STRAINS.index(trump)
            expected = brute_force_values(
                hands, strain, side, leader, [], fewest, must_trump, width
            )
            assert found == expected, (hands, trump, side, leader, options)


@TABLES
def test_positions_that_meet_in_the_table(
    seats: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a table of 16 entries almost all positions share theirs with others."""
    monkeypatch.setattr(search, "TABLE_WORDS", search.TABLE_WORDS >> 10)
    for name in ("_search", "value", "card_values"):  # interpreted, they read that number
        function = getattr(search, name)
        monkeypatch.setattr(search, name, getattr(function, "py_func", function))
    rng = np.random.default_rng([4, seats])
    memory = solver.Memory()
    for _ in range(50):
        hands, _, _, leader, _ = ending(rng, seats, 3, width)
        values = brute_force_values(hands, 4, 1, leader, [], False, True, width)
        found = solver.card_values(hands, "NT", 1, leader, width=width, memory=memory)
        assert found == values, (hands, leader)
    assert not memory.table[search.TABLE_WORDS :].any()


# -- invariants, beyond the reach of brute force --------------------------------------------------

SIZES = {(2, 8): 9, (3, 8): 8, (4, 13): 7}


def longer_endings(
    seed: int, seats: int, width: int, number: int = 20
) -> list[tuple[Position, dict[str, Any]]]:
    """Random positions and options, every second one with cards on the table."""
    rng = np.random.default_rng([seed, seats, width])
    found = []
    for case in range(number if IS_COMPILED else 1):
        size = SIZES[seats, width] if IS_COMPILED else 3
        must_trump = case % 4 < 2
        position = ending(rng, seats, size, width)
        if case % 2:
            on_table = int(rng.integers(seats))
            position = start_trick(rng, position, on_table, must_trump, width)
        fewest = bool(rng.integers(2))
        found.append((position, {"fewest": fewest, "must_trump": must_trump, "width": width}))
    return found


@TABLES
def test_renaming_suits(seats: int, width: int) -> None:
    rng = np.random.default_rng(5)
    for position, options in longer_endings(5, seats, width):
        names = rng.permutation(4)

        def rename(card: int, names: Any = names) -> int:
            return int(names[card // width]) * width + card % width

        strain = solver.STRAINS.index(position[1])
        trump = "NT" if strain == 4 else solver.STRAINS[names[strain]]
        values = {rename(card): n for card, n in values_of(position, **options).items()}
        assert values_of(mapped(position, rename, trump), **options) == values, position


@TABLES
def test_turning_seats(seats: int, width: int) -> None:
    for position, options in longer_endings(6, seats, width):
        hands, trump, side, leader, trick = position
        turned = [hands[-1], *hands[:-1]]
        side = (side << 1 | side >> seats - 1) & (1 << seats) - 1
        other = (turned, trump, side, (leader + 1) % seats, trick)
        assert values_of(other, **options) == values_of(position, **options), position


@TABLES
def test_only_the_order_of_ranks_counts(seats: int, width: int) -> None:
    """Cards in play may take any other ranks, in a wider suit too, if their order stays."""
    rng = np.random.default_rng(7)
    for position, options in longer_endings(7, seats, width):
        in_play = sorted(card for hand in position[0] for card in cards_of(hand))
        in_play = sorted([*in_play, *position[4]])
        wider = int(rng.integers(width, 14))
        others: dict[int, int] = {}
        for suit in range(4):
            cards = [card for card in in_play if card // width == suit]
            ranks = np.sort(rng.choice(wider, len(cards), replace=False))
            others |= {c: suit * wider + int(r) for c, r in zip(cards, ranks, strict=True)}
        values = {others[card]: n for card, n in values_of(position, **options).items()}
        other = mapped(position, others.__getitem__)
        assert values_of(other, **options | {"width": wider}) == values, position


@TABLES
def test_neighbours_in_one_hand_are_equal(seats: int, width: int) -> None:
    """Of two cards of one hand without another card in play between them, either will do."""
    pairs = 0
    for position, options in longer_endings(8, seats, width):
        hands, _, _, leader, trick = position
        mine = hands[(leader + len(trick)) % seats]
        in_play = sorted([*trick, *(card for hand in hands for card in cards_of(hand))])
        values = values_of(position, **options)
        for low, high in pairwise(in_play):
            if low // width == high // width and mine >> low & mine >> high & 1 and low in values:
                assert values[low] == values[high], (low, high, position)
                pairs += 1
    assert pairs or not IS_COMPILED


@TABLES
def test_value_is_that_of_the_best_card(seats: int, width: int) -> None:
    for position, options in longer_endings(9, seats, width):
        hands, trump, side, leader, trick = position
        value = value_of(position, **options)
        seat = (leader + len(trick)) % seats
        values = values_of(position, **options)
        assert best_of(position, [*values.values()], options["fewest"]) == value, position
        if len(trick) < seats - 1:
            for card, tricks in values.items():
                rest = [hand & ~(1 << card) for hand in hands]
                after = (rest, trump, side, leader, [*trick, card])
                assert value_of(after, **options) == tricks, (card, seat, position)


@TABLES
def test_both_sides_share_the_tricks(seats: int, width: int) -> None:
    for position, options in longer_endings(10, seats, width):
        hands, trump, side, leader, trick = position
        others = (hands, trump, ~side & (1 << seats) - 1, leader, trick)
        tricks = max(hand.bit_count() for hand in hands)
        assert value_of(position, **options) + value_of(others, **options) == tricks, position


# -- lines of play --------------------------------------------------------------------------------


@TABLES
def test_principal_line(seats: int, width: int) -> None:
    for position, options in longer_endings(11, seats, width, 12):
        hands, trump, side, leader, trick = position
        line = solver.principal_line(
            hands, trump, side, leader, trick=trick, memory=MEMORY, **options
        )
        value = value_of(position, **options)
        assert sum(side >> played.winner & 1 for played in line) == value, position
        assert line[0].cards[: len(trick)] == tuple(trick)
        # Every card may be played and keeps the value.
        left, before, taken = hands.copy(), trick, 0
        for played in line:
            assert played.leader == leader
            for card in played.cards[len(before) :]:
                here = (left, trump, side, leader, before)
                assert values_of(here, **options)[card] == value - taken, (card, here)
                left = [hand & ~(1 << card) for hand in left]
                before = [*before, card]
            leader, before, taken = played.winner, [], taken + (side >> played.winner & 1)
        assert not any(left)


@compiled
def test_line_of_a_deal() -> None:
    hands = solver.deal_hands(DEAL)
    line = solver.principal_line(hands, "S", 1, 1, memory=MEMORY)
    head, *rows = solver.line_text(line).splitlines()
    assert head == "trick  cards as played   winner"
    for number, (row, trick) in enumerate(zip(rows, line, strict=True), 1):
        first, *cards, winner = row.split()
        assert (int(first), int(winner)) == (number, trick.winner)
        seats, texts = zip(*(card.split(":") for card in cards), strict=True)
        assert [int(seat) for seat in seats] == [(trick.leader + i) % 3 for i in range(3)]
        assert [PACK.parse_card(text) for text in texts] == list(trick.cards)
    assert len({*map(len, rows), len(head)}) == 1  # columns are in line
    assert solver.principal_line([0, 0], "NT", 1, 0) == []
    two = solver.line_text([solver.Trick(1, (12, 0), 1)], width=13)
    assert two.splitlines()[1] == "    1  1:SA  0:S2            1"


# -- whole deals ----------------------------------------------------------------------------------


@compiled
def test_values_of_a_full_deal() -> None:
    hands = solver.deal_hands(DEAL)
    for trump in solver.STRAINS:
        for leader in range(3):
            values = solver.card_values(hands, trump, 1, leader, memory=MEMORY)
            assert sorted(values) == cards_of(hands[leader])
            best = max(values.values()) if leader == 0 else min(values.values())
            assert best == solver.declarer_tricks(DEAL, trump, 0, leader)


@compiled
def test_batch_and_table() -> None:
    table = solver.deal_table(DEAL)
    assert table.shape == (5, 3, 3)
    for trump, declarer, leader, misere, tricks in DATA["deals"][0]["cases"]:
        if not misere:
            assert table[solver.STRAINS.index(trump), declarer, leader] == tricks
    memory = solver.Memory()
    hands = [solver.deal_hands(deal["deal"]) for deal in DATA["deals"][:20]]
    many = solver.solve_many(hands, 4, 1, 2, fewest=True, memory=memory)
    assert many.tolist() == [solver.solve(h, "NT", 1, 2, fewest=True) for h in hands]
    assert memory.nodes > 0


@compiled
def test_table_as_text() -> None:
    head, *rows = solver.table_text(DEAL).splitlines()
    assert head.split() == ["declarer", "leader", *solver.STRAINS, "misère"]
    most, fewest = solver.deal_table(DEAL), solver.deal_table(DEAL, fewest=True)
    assert [[int(n) for n in row.split()] for row in rows] == [
        [declarer, leader, *most[:, declarer, leader], fewest[4, declarer, leader]]
        for declarer in range(3)
        for leader in range(3)
    ]


@compiled
def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    main([DEAL])
    assert capsys.readouterr().out == solver.table_text(DEAL) + "\n"
    main([DEAL, "--line", "NT", "2", "1", "--fewest"])
    first, table = capsys.readouterr().out.split("\n", 1)
    tricks = solver.declarer_tricks(DEAL, "NT", 2, 1, fewest=True)
    assert first == f"seat 2 takes {tricks} of 10 tricks"
    assert len(table.splitlines()) == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "DEAL"),
        (["nonsense"], "a deal begins with its dealer"),
        ([DEAL.replace("AQ87", "AQ8")], "hand of seat 0 has 9 cards, not 10"),
        ([DEAL, "--line", "S", "0"], "expected 3 arguments"),
        ([DEAL, "--line", "X", "0", "1"], "trump must be one of S, C, D, H, NT, not 'X'"),
        ([DEAL, "--line", "S", "3", "1"], "declarer must be a seat, 0 to 2, not '3'"),
        ([DEAL, "--line", "S", "0", "x"], "leader must be a seat, 0 to 2, not 'x'"),
        ([DEAL, "--fewest"], "--fewest goes with --line"),
    ],
)
def test_bad_command(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("python -m prefa_env.solver: error: ")
    assert printed.err.count("\n") == 1 and message in printed.err


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
    with pytest.raises(ValueError, match="outside the 32 cards"):
        solver.solve([1 << 70, 2], "S", 1, 0, trick=[0])
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
    with pytest.raises(ValueError, match="position 1: seat 1 holds a card of another hand"):
        solver.solve_many([[1, 2], [3, 3]], 0, 1, 0)
    for bad in (-1, 1 << 32):
        with pytest.raises(ValueError, match="position 0: the hand of seat 1 has bits outside"):
            solver.solve_many([[1, bad], [1, 2]], 0, 1, 0)
