"""Contracts, tricks and open cards of hand-made deals, against the solver on texts."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from agents import make_agent
from agents.analysis import calibration
from agents.analysis.games import Counts, add
from prefa_env import prefa, solver
from prefa_env.game import Game
from prefa_env.prefa import Rules
from tests import toy
from tests.agents.analysis.lots import CANDIDATE, EXAMPLES, lot, only, played

UNIFORM, PASS_ALWAYS = make_agent("uniform"), make_agent("pass-always")
DEAL = "2:AKQJT9..AKQJ. .AKQJT98.T98. 87.7.7.AKQJT9 ...87 | "
NAMES = ("contracts", "played", "tricks", "made", "open", "against_two")


def at(counts: Counts, level: int) -> tuple[int, ...]:
    return tuple(counts[f"{name}_{level}"] for name in NAMES)


def open_tricks(text: str, is_alone: bool) -> int:
    """Of a game text: the declarer's tricks with all cards seen, from the words alone."""
    deal, _, words = text.partition(" | ")
    names = words.split()
    start = next(i for i, word in enumerate(names) if word in ("play", "pass") and i > 3)
    contract, discards = names[start - 1], names[start - 3 : start - 1]
    first = (int(deal[0]) + 1) % 3
    bidder = names.index("6S")  # in these games the only call that is no pass
    declarer = (first + bidder) % 3
    _, deck = prefa.parse_deal(deal)
    hands = [sum(1 << int(card) for card in deck[i : i + 10]) for i in (0, 10, 20)]
    hands[declarer] |= 1 << int(deck[30]) | 1 << int(deck[31])
    for card in discards:
        hands[declarer] -= 1 << prefa.parse_action(card)
    strain = contract.lstrip("0123456789")
    if not is_alone:
        return solver.solve(hands, strain, 1 << declarer, first)
    right, left = (declarer + 1) % 3, (declarer + 2) % 3
    lone = right if names[start] == "play" else left
    leader = next(seat for i in range(3) if (seat := (first + i) % 3) in (declarer, lone))
    return solver.solve([hands[declarer], hands[lone]], strain, 1, int(leader == lone))


ALONE = [text for text in EXAMPLES if " alone " in text] + [
    DEAL + "pass pass 6S S7 C7 6H play pass alone",  # first hand defends
    DEAL + "pass pass 6S S7 C7 6H pass play alone",  # first hand sits aside
    DEAL + "pass 6S pass C8 D8 6C pass play alone",
]
TOGETHER = [text for text in EXAMPLES if " alone " not in text]


@pytest.mark.parametrize("text", ALONE + TOGETHER)
def test_open_cards(text: str) -> None:
    games = lot([text])
    (owner,), (bid,) = games.deals.tables["owner"], games.deals.tables["bid"]
    level = 6 + bid // 5
    found = at(calibration.count(prefa, games, only(owner)), level)
    taken = int(games.deals.tables[0]["tricks"][owner])
    expected = open_tricks(text, text in ALONE), open_tricks(text, False)
    assert found == (1, 1, taken, int(taken >= level), *expected)
    for seat in {0, 1, 2} - {owner}:
        assert set(calibration.count(prefa, games, only(seat)).values()) == {0}


def test_the_defence_that_was_is_told_from_two() -> None:
    assert [open_tricks(text, True) - open_tricks(text, False) for text in ALONE] != [0] * len(
        ALONE
    )


def test_nobody_defends() -> None:
    text = DEAL + "6S pass pass H7 H8 9H pass pass"
    counts = calibration.count(prefa, lot([text]), only(0))
    assert at(counts, 9) == (1, 0, 0, 0, 0, open_tricks(text, False))
    row = calibration.levels(counts)[3]
    assert row == {
        "level": 9, "contracts": 1, "played": 0, "tricks": None, "open": None, "made": None,
        "against_two": open_tricks(text, False),
    }  # fmt: skip


def test_declined_void_and_misere_are_no_contracts() -> None:
    texts = [DEAL + "pass pass pass", DEAL + "write pass pass H7 H8 write"]
    for rules in (Rules(), Rules(all_pass="misere")):
        for seat in range(3):
            counts = calibration.count(prefa, lot(texts, rules), only(seat))
            assert len(counts) == 30 and set(counts.values()) == {0}


def test_rows() -> None:
    # The examples at 8S, 8D and 8H, all alone: 9, 7 and 10 tricks.
    texts = [EXAMPLES[number] for number in (11, 12, 13)]
    counts: Counts = {}
    for text in texts:
        games = lot([text])
        (owner,) = games.deals.tables["owner"]
        counts = add(counts, calibration.count(prefa, games, only(owner)))
    rows = calibration.levels(counts)
    assert [row["level"] for row in rows] == [6, 7, 8, 9, 10]
    assert rows[2] == {
        "level": 8,
        "contracts": 3,
        "played": 3,
        "tricks": pytest.approx(26 / 3),
        "open": pytest.approx(sum(open_tricks(text, True) for text in texts) / 3),
        "made": pytest.approx(2 / 3),
        "against_two": pytest.approx(sum(open_tricks(text, False) for text in texts) / 3),
    }


def test_lots_add_up() -> None:
    (whole,) = played(UNIFORM, PASS_ALWAYS, 12)
    counts: Counts = {}
    for part in played(UNIFORM, PASS_ALWAYS, 12, batch_size=5):
        counts = add(counts, calibration.count(prefa, part, CANDIDATE))
    assert counts == calibration.count(prefa, whole, CANDIDATE)
    mine = [table for k, table in enumerate(whole.deals.tables) if table["owner"] == k % 3]
    named = sum(counts[f"contracts_{level}"] for level in calibration.LEVELS)
    assert named == sum(table["bid"] >= 0 for table in mine) > 0


def test_other_games_and_no_games() -> None:
    (games,) = played(UNIFORM, PASS_ALWAYS, 2)
    assert calibration.count(cast(Game, toy), games, CANDIDATE) == {}
    assert calibration.levels({}) == []
    rows = calibration.levels(calibration.count(prefa, games, np.zeros((3, 3), np.bool_)))
    assert [row["contracts"] for row in rows] == [0] * 5
