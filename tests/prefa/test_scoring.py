"""Payments, floor and worth of a deal: worked examples, and every case against the reference."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from prefa_env import prefa
from prefa_env.prefa import Defence, Rules, State, floor_kassa, payments
from prefa_env.prefa.kernel import start_match
from prefa_env.prefa.rules import OWED_ALONE, OWED_LEFT, OWED_RIGHT, OWED_TOGETHER, VALUES, Flag
from prefa_env.prefa.scoring import value
from prefa_env.prefa.text import RUNG_TEXTS
from tests import reference
from tests.helpers import deal_table, do, ints, legal_of, new_table, options_of
from tests.reference import LADDER

DATA = Path(__file__).parents[1] / "data"
EXAMPLES: dict[str, Any] = json.loads((DATA / "prefa_examples.json").read_text(encoding="utf-8"))
GAMES: dict[str, Any] = json.loads((DATA / "prefa_games.json").read_text(encoding="utf-8"))
SEATS = [0, 1, 2]
MATCH = int(Flag.MATCH)

DEFENCES = {
    "both": Defence.BOTH,
    "invite_right": Defence.RIGHT_INVITES,
    "alone_right": Defence.RIGHT_ALONE,
}
MIRRORED = {
    Defence.RIGHT_INVITES: Defence.LEFT_INVITES,
    Defence.RIGHT_ALONE: Defence.LEFT_ALONE,
}


def names(prefix: str, number: int) -> list[str]:
    return [f"{prefix} {i}" for i in range(1, number + 1)]


# L2, D4 as they stand in the rule book.
LADDER_TABLE = {
    6: [2, 3, 4, 5, 6],
    7: [7, 7, 7, 7, 8],
    8: [8, 8, 8, 8, 9],
    9: [9, 9, 9, 9, 10],
    10: [10, 10, 10, 10, 11],
}
OWED_TABLE = {6: (2, 2, 4, 2), 7: (2, 1, 3, 2), 8: (1, 1, 2, 1), 9: (1, 0, 1, 1), 10: (0, 0, 0, 0)}


def test_values() -> None:
    assert VALUES.reshape(5, 5).tolist() == list(LADDER_TABLE.values())
    ten = Rules(ten_nt_value=10).flags
    assert [value(0, rung) for rung in range(25)] == VALUES.tolist()
    assert [value(ten, rung) for rung in range(25)] == [*VALUES.tolist()[:-1], 10]


def test_tricks_owed() -> None:
    rows = zip(OWED_RIGHT, OWED_LEFT, OWED_TOGETHER, OWED_ALONE, strict=True)
    assert [tuple(ints(row)) for row in rows] == list(OWED_TABLE.values())


# ------------------------------------------------------------------------ examples (RU, page 10)


@pytest.mark.parametrize("row", EXAMPLES["rows"], ids=names("example", 16))
def test_worked_examples(row: list[Any]) -> None:
    rung, defence = RUNG_TEXTS.index(row[0]), DEFENCES[row[1]]
    declarer, right, left = row[2:5]
    assert payments(0, rung, defence, declarer, right, left, 0) == tuple(row[5:9])


@pytest.mark.parametrize("number", range(16), ids=names("example", 16))
def test_worked_examples_as_whole_deals(number: int) -> None:
    row = EXAMPLES["rows"][number]
    table, _ = prefa.parse_game(GAMES["examples"][number])
    assert (table.seat, table.phase) == (-1, prefa.Phase.OVER)
    assert table.defence == DEFENCES[row[1]]
    assert RUNG_TEXTS[table.bid] == row[0]
    turn = [(table.owner + i) % 3 for i in SEATS]
    assert [table.tricks[seat] for seat in turn] == row[2:5]
    assert [table.kassa_change[seat] for seat in turn] == [row[5], 0, 0]
    assert [table.kapikia_change[seat] for seat in turn] == row[6:9]


def test_score_sheet() -> None:
    # 31 each; C plays 6S, then A plays 7H: 31/31/29 and +60/-66/+6
    table = new_table()
    start_match(table, 31, 0)
    for text in GAMES["score_sheet"]:
        dealer, deck = prefa.parse_deal(text.split(" | ")[0])
        prefa.deal(table, MATCH, deck, dealer)
        do(table, text.split(" | ")[1])
        assert table.phase == prefa.Phase.OVER
    assert ints(table.kassa) == [31, 31, 29]
    assert ints(table.kapikia) == [60, -66, 6]


@pytest.mark.parametrize("row", EXAMPLES["floor"]["rows"], ids=names("floor", 6))
def test_floor(row: list[Any]) -> None:
    own, right, left, points = row[:4]
    *kassas, from_right, from_left = floor_kassa(0, own - points, right, left)
    assert kassas == row[4]
    assert [from_right + from_left, -from_right, -from_left] == row[5:8]


@pytest.mark.parametrize("declarer", SEATS)
@pytest.mark.parametrize("row", EXAMPLES["floor"]["rows"], ids=names("floor", 6))
def test_floor_in_a_whole_deal(row: list[Any], declarer: int) -> None:
    # S4 after two passes (D2), at 9H worth 9
    table = new_table()
    for i in SEATS:
        table.kassa[(declarer + i) % 3] = row[i]
    prefa.deal(table, MATCH, prefa.parse_deal(FIRST_HAND_DECLARES)[1], (declarer + 2) % 3)
    do(table, "6S pass pass")
    for _ in range(2):
        prefa.step(table, legal_of(table)[0])
    do(table, "9H pass pass")
    turn = [(declarer + i) % 3 for i in SEATS]
    assert [table.kassa[seat] for seat in turn] == row[4]
    assert [table.kapikia[seat] for seat in turn] == row[5:8]
    assert [table.kapikia_change[seat] for seat in turn] == row[5:8]
    assert [table.settled_thirds[seat] for seat in turn] == [180, -90, -90]


FIRST_HAND_DECLARES = "2:AKQJT9..AKQJ. .AKQJT98.T98. 87.7.7.AKQJT9 ...87"


@pytest.mark.parametrize(
    ("rules", "after", "kapikia"),
    [
        (Rules(), [0, 4, 5], [50, -30, -20]),
        (Rules(half_rounding="left"), [0, 5, 4], [50, -20, -30]),
    ],
)
def test_the_larger_half(rules: Rules, after: list[int], kapikia: list[int]) -> None:
    *kassas, from_right, from_left = floor_kassa(rules.flags, 4 - 9, 7, 7)
    assert (kassas, [from_right + from_left, -from_right, -from_left]) == (after, kapikia)


@pytest.mark.parametrize("contract", RUNG_TEXTS)
def test_settled_of_a_contract_made_without_tricks(contract: str) -> None:
    # "contract of value v made without tricks paid: +20v/3, -10v/3, -10v/3"
    table = deal_table()
    do(table, f"write pass pass S7 S8 {contract} pass pass")
    v = VALUES[RUNG_TEXTS.index(contract)]
    assert ints(table.settled_thirds) == [20 * v, -10 * v, -10 * v]
    assert ints(table.kassa_change) == [-v, 0, 0]
    assert ints(table.kapikia_change) == [0, 0, 0]


def test_a_writer_who_declines() -> None:
    # T3; "-17 1/3, +8 2/3, +8 2/3"
    table = deal_table()
    do(table, "pass write pass CT CJ write")
    assert table.phase == prefa.Phase.OVER
    assert ints(table.kassa_change) == [0, 2, 0]
    assert ints(table.kapikia_change) == [2, -4, 2]
    assert ints(table.settled_thirds) == [26, -52, 26]
    assert ints(table.kassa) == [0, 0, 0]  # no match


MISERE_532 = (
    "1:AKQ..Q97.AKJ8 J8.KJT.AKJT.9 T97.A987..QT7 .Q.8. | pass pass pass C9 D9 CJ DJ S9 DQ "
    "SK S8 ST D7 DK HT H9 HQ H8 CA HJ CT C8 SA CK SJ S7 SQ HA DT H7 HK DA C7"
)


def test_misere_example() -> None:
    # A5: "tricks 5/3/2 → +3/+1/0"
    table, _ = prefa.parse_game(MISERE_532, Rules(all_pass="misere"))
    assert table.phase == prefa.Phase.OVER
    assert ints(table.tricks) == [5, 3, 2]
    assert ints(table.kassa_change) == [3, 1, 0]
    assert ints(table.kapikia_change) == [0, 0, 0]
    assert ints(table.settled_thirds) == [-50, 10, 40]


def test_misere_of_ten_tricks() -> None:
    # A5: seat 0 has all spades and the two highest clubs
    deck = "2:AKQJT987.AK.. .QJT987.AKQJ. ..T987.AKQJT9 ...87"
    for flag, kassas in [(0, [0, 0, 0]), (MATCH, [10, 0, 0])]:
        table = new_table()
        flags = Rules(all_pass="misere").flags | flag
        prefa.deal(table, flags, prefa.parse_deal(deck)[1], 2)
        do(table, "pass pass pass")
        while legal_of(table):
            prefa.step(table, legal_of(table)[0])
        assert ints(table.tricks) == [10, 0, 0]
        assert ints(table.kassa_change) == [10, 0, 0]
        assert ints(table.kapikia_change) == [0, 0, 0]
        assert ints(table.settled_thirds) == [-200, 100, 100]
        assert ints(table.kassa) == kassas


def four_aces(level: str, defence: str, rules: Rules) -> State:
    """Seat 0 has two aces, finds two in the talon, and lays two away."""
    deck = "2:AKQJT9.AKQJ.. .T987.T987.T9 87..KQJ.KQJ87 ..A.A"
    table = deal_table(2, prefa.parse_deal(deck)[1], rules)
    do(table, f"6S pass pass DA HA {level} {defence}")
    return table


def test_the_aces_bonus() -> None:
    bonus = Rules(aces_bonus=True)
    for level, paid in [("6S", 25), ("7S", 50), ("10S", 50)]:
        table = four_aces(level, "pass pass", bonus)
        assert ints(table.kapikia_change) == [2 * paid, -paid, -paid]
        assert ints(four_aces(level, "pass pass", Rules()).kapikia_change) == [0, 0, 0]


# ------------------------------------------------------------- every case against the reference

ACROSS = [
    Rules(),
    Rules.site(),
    Rules(partner_paid_single=True),
    Rules(invite_penalty="sum_of_individuals"),
    Rules(ten_nt_value=10),
]


@pytest.mark.parametrize("rules", ACROSS, ids=["default", "site", "single", "sum", "ten"])
def test_all_payments(rules: Rules) -> None:
    options = options_of(rules)
    how: dict[Defence, tuple[reference.Defence, int | None]] = {
        Defence.NOBODY: ("none", None),
        Defence.BOTH: ("both", None),
        Defence.RIGHT_ALONE: ("alone", 1),
        Defence.LEFT_ALONE: ("alone", 2),
        Defence.RIGHT_INVITES: ("invite", 1),
        Defence.LEFT_INVITES: ("invite", 2),
    }
    splits = [(10 - r - x, r, x) for r in range(11) for x in range(11 - r)]
    for rung, defence, tricks, aces in product(range(25), Defence, splits, [False, True]):
        if defence == Defence.NOBODY and tricks != (10, 0, 0):
            continue
        if (defence == Defence.RIGHT_ALONE and tricks[2]) or (
            defence == Defence.LEFT_ALONE and tricks[1]
        ):
            continue
        taken = tricks if defence else (0, 0, 0)
        kapikia, kassa = reference.payments(
            LADDER[rung], 0, *how[defence], taken, options, four_aces=aces
        )
        has_aces = aces and rules.aces_bonus
        paid = payments(rules.flags, rung, defence, *taken, int(has_aces))
        assert paid == (kassa[0], *kapikia), (LADDER[rung], defence, tricks, aces)
        assert sum(paid[1:]) == 0


@pytest.mark.parametrize("half", ["right", "left"])
def test_all_floors(half: Any) -> None:
    rules = Rules(half_rounding=half)
    options = options_of(rules)
    for own, points, right, left in product(range(6), range(-22, 12), range(8), range(8)):
        kapikia, kassa = reference.floor([0, 0, 0], [-points, 0, 0], [own, right, left], 0, options)
        *kassas, from_right, from_left = floor_kassa(rules.flags, own - points, right, left)
        assert kassas == [own + kassa[0], right + kassa[1], left + kassa[2]]
        assert [from_right + from_left, -from_right, -from_left] == kapikia


def test_mirrored_defences_pay_the_same() -> None:
    # only who is paid differs between right and left when one plays
    for rung, defence, r in product(range(25), MIRRORED, range(11)):
        kassa, declarer, right, left = payments(0, rung, defence, 10 - r, r, 0, 0)
        mirrored = payments(0, rung, MIRRORED[defence], 10 - r, 0, r, 0)
        assert mirrored == (kassa, declarer, left, right)
