"""Roles of hand-made deals with known payments; what they contribute adds up."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from agents import make_agent
from agents.analysis import roles
from agents.analysis.games import Counts, add
from agents.analysis.roles import ROLES
from prefa_env import prefa
from prefa_env.game import Game
from prefa_env.prefa import Rules
from tests import toy
from tests.agents.analysis.lots import CANDIDATE, EVERYBODY, EXAMPLES, lot, only, played

UNIFORM, FIRST_LEGAL = make_agent("uniform"), make_agent("first-legal")
DEAL = "2:AKQJT9..AKQJ. .AKQJT98.T98. 87.7.7.AKQJT9 ...87 | "
MISERE = (
    "1:AKQ..Q97.AKJ8 J8.KJT.AKJT.9 T97.A987..QT7 .Q.8. | pass pass pass C9 D9 CJ DJ S9 DQ "
    "SK S8 ST D7 DK HT H9 HQ H8 CA HJ CT C8 SA CK SJ S7 SQ HA DT H7 HK DA C7"
)

# Roles and settled thirds of seats 0, 1, 2. The sums: 3 * kapikia - 30 * kassa + 10 * all kassas.
HAND_MADE: list[tuple[str, str, list[int]]] = [
    (DEAL + "6S pass pass H7 H8 9H pass pass", "declarer conceded conceded", [180, -90, -90]),
    (DEAL + "pass 6S pass H7 H8 6S pass pass", "conceded declarer conceded", [-20, 40, -20]),
    (DEAL + "pass pass write H7 H8 write", "bystander bystander declined", [26, 26, -52]),
    (DEAL + "write pass pass H7 H8 write", "declined bystander bystander", [-52, 26, 26]),
    (DEAL + "pass pass pass", "passed_out passed_out passed_out", [0, 0, 0]),
    (EXAMPLES[0], "declarer both both", [16, -14, -2]),  # 6S: kassa -2, kapikia -8, +2, +6
    (EXAMPLES[7], "declarer inviter invited", [77, -7, -70]),  # 7S: kassa -7, -21, +21, 0
    (EXAMPLES[11], "declarer alone aside", [136, -56, -80]),  # 8S: kassa -8, -8, +8, 0
]
LEFT: list[tuple[str, str]] = [
    (DEAL + "6S pass pass H7 H8 6S pass play alone", "declarer aside alone"),
    (DEAL + "6S pass pass H7 H8 6S pass play invite", "declarer invited inviter"),
    (DEAL + "pass 6S pass H7 H8 6S play pass alone", "aside declarer alone"),
    (DEAL + "pass 6S pass H7 H8 6S play pass invite", "invited declarer inviter"),
]


@pytest.mark.parametrize(("text", "names", "thirds"), HAND_MADE)
def test_hand_made(text: str, names: str, thirds: list[int]) -> None:
    for seat, (name, paid) in enumerate(zip(names.split(), thirds, strict=True)):
        counts = roles.count(prefa, lot([text]), only(seat))
        assert {role: counts[f"{role}_games"] for role in ROLES if counts[f"{role}_games"]} == (
            {name: 1}
        )
        assert counts[f"{name}_thirds"] == paid


@pytest.mark.parametrize(("text", "names"), LEFT)
def test_right_and_left(text: str, names: str) -> None:
    (found,) = roles.roles_of(lot([text]).deals.tables)
    # Of seat 1 as declarer, seat 2 sits at his right and seat 0 at his left.
    assert " ".join(ROLES[role] for role in found) == names


def test_misere() -> None:
    games = lot([MISERE], Rules(all_pass="misere"))
    counts = [roles.count(prefa, games, only(seat)) for seat in range(3)]
    assert [c["misere_games"] for c in counts] == [1, 1, 1]
    assert [c["misere_thirds"] for c in counts] == [-50, 10, 40]


def test_an_invited_hand_is_measured_by_its_inviter() -> None:
    games = lot([EXAMPLES[7], EXAMPLES[11], EXAMPLES[0]])
    guest = roles.shares(roles.count(prefa, games, only(2)))
    assert guest["invited"]["paid_inviter"] == pytest.approx(-7 / 3)
    assert guest["invited"]["mean"] == pytest.approx(-70 / 3)
    host = roles.count(prefa, games, only(1))
    assert host["invited_inviter_thirds"] == 0
    assert roles.shares(host)["invited"]["paid_inviter"] is None


def test_shares() -> None:
    games = lot([text for text, _, _ in HAND_MADE])
    result = roles.shares(roles.count(prefa, games, only(0)))
    assert list(result) == list(ROLES)
    assert result["declarer"] == {
        "games": 4,
        "share": 4 / 8,
        "mean": pytest.approx((180 + 16 + 77 + 136) / 12),
        "contribution": pytest.approx((180 + 16 + 77 + 136) / 24),
    }
    assert result["alone"] == {"games": 0, "share": 0, "mean": None, "contribution": 0}


@pytest.mark.parametrize("rules", [Rules(), Rules(all_pass="misere"), Rules.site()])
@pytest.mark.parametrize("is_counted", [CANDIDATE, ~CANDIDATE])
def test_contributions_add_up(rules: Rules, is_counted: Any) -> None:
    (games,) = played(UNIFORM, FIRST_LEGAL, 150, rules=rules)
    counts = roles.count(prefa, games, is_counted)
    won = games.settled_thirds[:, is_counted]
    assert sum(counts[f"{role}_games"] for role in ROLES) == won.size
    assert sum(counts[f"{role}_thirds"] for role in ROLES) == won.sum() != 0
    result = roles.shares(counts)
    total = sum(cast(float, row["contribution"]) for row in result.values())
    assert total == pytest.approx(won.mean() / 3)


def test_all_players_together_win_nothing() -> None:
    (games,) = played(UNIFORM, UNIFORM, 150)
    counts = roles.count(prefa, games, EVERYBODY)
    assert sum(counts[f"{role}_thirds"] for role in ROLES) == 0
    assert counts["inviter_games"] == counts["invited_games"] > 0
    assert counts["invited_inviter_thirds"] == counts["inviter_thirds"]
    assert counts["alone_games"] == counts["aside_games"] > 0
    assert counts["bystander_games"] == 2 * counts["declined_games"] > 0


def test_lots_add_up() -> None:
    (whole,) = played(UNIFORM, FIRST_LEGAL, 30)
    counts: Counts = {}
    for part in played(UNIFORM, FIRST_LEGAL, 30, batch_size=7):
        counts = add(counts, roles.count(prefa, part, CANDIDATE))
    assert counts == roles.count(prefa, whole, CANDIDATE)


def test_other_games_and_no_games() -> None:
    (games,) = played(UNIFORM, FIRST_LEGAL, 2)
    assert roles.count(cast(Game, toy), games, CANDIDATE) == {}
    assert roles.shares({}) == {}
    nobody = roles.count(prefa, games, np.zeros((3, 3), np.bool_))
    assert set(nobody.values()) == {0}
    assert roles.shares(nobody) == {}


def test_the_players_looked_at_have_a_shape() -> None:
    (games,) = played(UNIFORM, FIRST_LEGAL, 2)
    with pytest.raises(ValueError, match=r"is_counted must be bool \[3, 3\].*not \[1, 3\]"):
        roles.count(prefa, games, only(0))
